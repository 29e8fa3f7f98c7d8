import System
import TestSupport
import Testing

/// What stands in for `bw`, with a host's command that only says what it was asked.
struct BwTests {
    private static let program =
        #filePath.split(separator: "/").dropLast(3).reduce("") {
            "\($0)/\($1)"
        } + "/packaging/bw"

    /// - Parameter answer: The shell commands that answer in place of `holdfast`.
    private func bw(_ words: [String], answer: String) throws -> Child {
        let scratch = try Scratch()
        let holdfast = scratch.file("holdfast")
        try Files.replace(holdfast, with: Array("#!/bin/sh\n\(answer)\n".utf8), mode: 0o700)
        let script = "PATH=\"$0:$PATH\" exec \"$@\""
        return try Child.run("/bin/sh", ["-c", script, scratch.path, Self.program] + words)
    }

    @Test func `a value comes without a line's end`() throws {
        let child = try bw(["get", "password", "mail"], answer: "echo \"$*\"")
        #expect(child.status == 0)
        #expect(child.output == "get password mail")
    }

    @Test(arguments: ["key\n", "key", "\n\n", ""])
    func `the lines' ends of the value itself stay`(_ value: String) throws {
        let child = try bw(["get", "notes", "mail"], answer: "printf '%s\\n' '\(value)'")
        #expect(child.status == 0)
        #expect(child.output == value)
    }

    @Test func `a value that there is not ends with the status of the host's command`() throws {
        let child = try bw(
            ["get", "password", "mail"],
            answer: "echo 'No such item.' >&2; exit 77"
        )
        #expect(child.status == 77)
        #expect(child.output.isEmpty)
        #expect(child.complaint == "No such item.\n")
    }

    @Test(arguments: [
        (["list", "items"], "list items --json\n"),
        (["list", "items", "--trash"], "list trash --json\n"),
        (["list", "items", "--trash", "--search", "a"], "list trash --search a --json\n"),
    ])
    func `lists are asked for by the host's own names`(_ words: [String], _ asked: String) throws {
        let child = try bw(words, answer: "echo \"$*\"")
        #expect(child.status == 0)
        #expect(child.output == asked)
    }

    @Test func `only items have a trash`() throws {
        let child = try bw(["list", "folders", "--trash"], answer: "echo \"$*\"")
        #expect(child.status == 1)
        #expect(child.complaint == "bw: --trash goes with items only\n")
    }
}
