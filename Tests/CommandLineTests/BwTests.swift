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
        (["list", "items", "--url", "http://x"], "list items --url http://x --json\n"),
        (
            ["list", "--collectionid=2", "items", "--organizationid", "3", "--folderid", "null"],
            "list items --folder-id null --collection-id 2 --organization-id 3 --json\n"
        ),
        (
            ["list", "collections", "--organizationid", "3"],
            "list collections --organization-id 3 --json\n"
        ),
        (["get", "item", "mail", "--session", "any"], "get item mail --json\n"),
        (["get", "folder", "work"], "get folder work --json\n"),
        (["get", "collection", "work"], "get collection work --json\n"),
        (["get", "organization", "work"], "get organization work --json\n"),
        (["get", "template", "item.login"], "get template item.login --json\n"),
        (["delete", "--permanent", "item", "7"], "delete item 7 --permanent\n"),
        (["delete", "-p", "item", "7"], "delete item 7 --permanent\n"),
        (["delete", "folder", "7"], "delete folder 7\n"),
        (["restore", "item", "7"], "restore 7\n"),
        (["sync", "-f"], "sync --force\n"),
    ])
    func `things are asked for by the host's own names`(_ words: [String], _ asked: String) throws {
        let child = try bw(words, answer: "echo \"$*\"")
        #expect(child.status == 0)
        #expect(child.output == asked)
    }

    @Test(arguments: [
        (["generate"], "<generate>"),
        (
            ["generate", "-lusn", "--length", "18"],
            "<generate><--lowercase><--uppercase><--special><--number><--length><18>"
        ),
        (
            ["generate", "--minNumber=2", "--minSpecial", "3", "--ambiguous"],
            "<generate><--ambiguous><--min-number><2><--min-special><3>"
        ),
        (
            ["generate", "-pc", "--words", "4", "--separator", " ", "--includeNumber"],
            "<generate><--passphrase><--capitalize><--include-number><--words><4><--separator>< >"
        ),
    ])
    func `a password is asked for in the host's own words`(
        _ words: [String],
        _ asked: String
    ) throws {
        let child = try bw(words, answer: "printf '<%s>' \"$@\"; echo")
        #expect(child.status == 0)
        #expect(child.output == asked)
    }

    @Test(arguments: [
        (["create", "folder"], "create folder --json"),
        (["edit", "item", "7"], "edit item 7 --json"),
        (["edit", "folder", "7"], "edit folder 7 --json"),
        (["edit", "item-collections", "7"], "edit item-collections 7 --json"),
        (["move", "7", "8"], "move 7 8 --json"), (["share", "7", "8"], "move 7 8 --json"),
    ])
    func `what is encoded is handed on as it was before`(
        _ words: [String],
        _ asked: String
    ) throws {
        let child = try bw(words + ["WyIxIl0="], answer: "echo \"$*\"; cat")
        #expect(child.status == 0)
        #expect(child.output == "\(asked)\n[\"1\"]")
    }

    @Test(arguments: [
        ("login", "unlocked", "You are logged in!", ""),
        ("login", "locked", "You are logged in!", ""),
        ("login", "unauthenticated", "", "You are not logged in."),
        ("unlock", "unlocked", "Vault is unlocked!", ""),
        ("unlock", "locked", "", "Vault is locked."),
        ("unlock", "unauthenticated", "", "You are not logged in."),
    ])
    func `whether somebody is signed in, and the vault open, is told by the status`(
        _ command: String,
        _ state: String,
        _ answer: String,
        _ complaint: String
    ) throws {
        let child = try bw([command, "--check"], answer: "echo '{\"status\":\"\(state)\"}'")
        #expect(child.status == (complaint.isEmpty ? 0 : 1))
        #expect(child.output == (answer.isEmpty ? "" : answer + "\n"))
        #expect(child.complaint == (complaint.isEmpty ? "" : "bw: \(complaint)\n"))
    }

    @Test(arguments: [["login", "--check"], ["unlock", "--check"], ["config", "server"]])
    func `where no host runs, there is no status to tell`(_ words: [String]) throws {
        let child = try bw(words, answer: "echo 'No host.' >&2; exit 69")
        #expect(child.status == 69)
        #expect(child.output.isEmpty)
        #expect(child.complaint == "No host.\n")
    }

    @Test func `the server is told, and none but that is taken`() throws {
        let answer = #"echo '{"serverUrl":"https://x.example","status":"locked"}'"#
        #expect(try bw(["config", "server"], answer: answer).output == "https://x.example")
        #expect(try bw(["config", "server", "https://x.example/"], answer: answer).status == 0)
        #expect(try bw(["config", "server", "https://y.example"], answer: answer).status == 1)
    }

    @Test(arguments: ["--version", "-v"])
    func `the version is a bare number`(_ word: String) throws {
        let child = try bw([word], answer: "echo holdfast 0.1.0")
        #expect(child.status == 0)
        #expect(child.output.wholeMatch(of: /\d{4}\.\d+\.\d+\n/) != nil)
    }

    @Test(arguments: [
        (["list", "items", "--nonsense"], "--nonsense is not known here with list"),
        (["lock", "-p"], "-p is not known here with lock"),
        (["list", "items", "--search"], "--search wants a value"),
    ])
    func `a flag that says nothing here is refused`(_ words: [String], _ complaint: String) throws {
        let child = try bw(words, answer: "echo \"$*\"")
        #expect(child.status == 1)
        #expect(child.output.isEmpty)
        #expect(child.complaint == "bw: \(complaint)\n")
    }

    @Test func `only items have a trash`() throws {
        let child = try bw(["list", "folders", "--trash"], answer: "echo \"$*\"")
        #expect(child.status == 1)
        #expect(child.complaint == "bw: --trash goes with items only\n")
    }
}
