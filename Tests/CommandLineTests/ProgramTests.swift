import Glibc
import System
import TestSupport
import Testing

@testable import holdfast

/// The program itself, started as its user would.
struct ProgramTests {
    private func holdfast(_ words: String...) throws -> Child {
        try Child.run(Child.productsDirectory + "/holdfast", words)
    }

    @Test func `the version is one line on standard output`() throws {
        let child = try holdfast("--version")
        #expect(child.status == 0)
        #expect(child.output.wholeMatch(of: /holdfast \d+\.\d+\.\d+\n/) != nil)
        #expect(child.complaint.isEmpty)
    }

    @Test(arguments: ["help", "--help", "-h"])
    func `help is an answer, not a complaint`(_ word: String) throws {
        let child = try holdfast(word)
        #expect(child.status == 0)
        #expect(child.output.contains("Usage: holdfast COMMAND"))
        #expect(child.complaint.isEmpty)
    }

    @Test func `an answer that cannot be written is a failure, and one that nobody reads is none`()
        throws
    {
        let program = Child.productsDirectory + "/holdfast"
        let full = try Child.run("/bin/sh", ["-c", "'\(program)' --version > /dev/full"])
        #expect(full.status == 1)
        #expect(full.complaint == "holdfast: standard output: No space left on device\n")
        // The reader is gone before there is anything to read.
        let script = """
            set -o pipefail; mkfifo "$1/gone"
            { read < "$1/gone"; '\(program)' help; } | { exec <&-; echo > "$1/gone"; }
            """
        let scratch = try Scratch()
        let unread = try Child.run("/bin/bash", ["-c", script, "bash", scratch.path])
        #expect(unread.status == 0 && unread.complaint.isEmpty)
    }

    @Test func `an answer waits for whoever reads slowly, also where nobody is to wait`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        let count = Lock(0)
        let reader = Thread.start(name: "reader") { [end = ends[0]] in
            var chunk = [UInt8](repeating: 0, count: 4_096)
            while true {
                let got = Glibc.read(end, &chunk, chunk.count)
                if got <= 0 { return }
                count.withLock { $0 += got }
            }
        }
        #expect(Console.write(String(repeating: "x", count: 1_000_000), to: ends[1]) == nil)
        close(ends[1])
        reader.join()
        close(ends[0])
        #expect(count.withLock { $0 } == 1_000_000)
    }

    @Test(arguments: ["", "--frobnicate", "frobnicate"])
    func `a misuse is one clear line on standard error and status 64`(_ word: String) throws {
        let child = word.isEmpty ? try holdfast() : try holdfast(word)
        #expect(child.status == 64)
        #expect(child.output.isEmpty)
        #expect(child.complaint.hasPrefix("holdfast: "))
        #expect(child.complaint.filter { $0 == "\n" }.count == 1)
    }
}
