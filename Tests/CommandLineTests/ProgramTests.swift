import TestSupport
import Testing

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

    @Test(arguments: ["", "--frobnicate", "frobnicate"])
    func `a misuse is one clear line on standard error and status 64`(_ word: String) throws {
        let child = word.isEmpty ? try holdfast() : try holdfast(word)
        #expect(child.status == 64)
        #expect(child.output.isEmpty)
        #expect(child.complaint.hasPrefix("holdfast: "))
        #expect(child.complaint.filter { $0 == "\n" }.count == 1)
    }
}
