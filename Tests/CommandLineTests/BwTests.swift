import System
import TestSupport
import Testing

/// What stands in for `bw`, with a host's command that only says what it was asked.
struct BwTests {
    private static let program =
        #filePath.split(separator: "/").dropLast(3).reduce("") {
            "\($0)/\($1)"
        } + "/packaging/bw"

    /// Runs what follows with a host's command before all others.
    private static let script = "PATH=\"$0:$PATH\" exec env \"$@\""

    /// - Parameter answer: The shell commands that answer in place of `holdfast`.
    private static func host(answering answer: String) throws -> Scratch {
        let scratch = try Scratch()
        let holdfast = scratch.file("holdfast")
        try Files.replace(holdfast, with: Array("#!/bin/sh\n\(answer)\n".utf8), mode: 0o700)
        return scratch
    }

    /// - Parameter variables: Those of its environment, as `NAME=VALUE`.
    private func bw(
        _ words: [String],
        _ variables: [String] = [],
        input: String = "",
        answer: String
    ) throws -> Child {
        let host = try Self.host(answering: answer)
        let all = ["-c", Self.script, host.path] + variables + [Self.program] + words
        return try Child.run("/bin/sh", all, input: input)
    }

    @Test func `a value comes without a line's end`() throws {
        let child = try bw(["get", "password", "mail"], answer: "echo \"$*\"")
        #expect(child.status == 0)
        #expect(child.output == "get password -- mail")
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
        (["get", "item", "mail", "--session", "any"], "get item --json -- mail\n"),
        (["get", "folder", "work"], "get folder --json -- work\n"),
        (["get", "collection", "work"], "get collection --json -- work\n"),
        (["get", "organization", "work"], "get organization --json -- work\n"),
        (["get", "template", "item.login"], "get template --json -- item.login\n"),
        (["delete", "--permanent", "item", "7"], "delete item --permanent -- 7\n"),
        (["delete", "-p", "item", "7"], "delete item --permanent -- 7\n"),
        (["delete", "folder", "7"], "delete folder -- 7\n"),
        (["restore", "item", "7"], "restore -- 7\n"),
        (["sync", "-f"], "sync --force\n"),
        (["get", "item", "--", "-x"], "get item --json -- -x\n"),
        (["get", "item", "--", "--raw=1"], "get item --json -- --raw=1\n"),
        (["--", "get", "item", "--"], "get item --json -- --\n"),
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
        (["edit", "item", "7"], "edit item --json -- 7"),
        (["edit", "folder", "7"], "edit folder --json -- 7"),
        (["edit", "item-collections", "7"], "edit item-collections --json -- 7"),
        (["move", "7", "8"], "move --json -- 7 8"), (["share", "7", "8"], "move --json -- 7 8"),
    ])
    func `what is encoded is handed on as it was before`(
        _ words: [String],
        _ asked: String
    ) throws {
        let child = try bw(words + ["WyIxIl0="], answer: "echo \"$*\"; cat")
        #expect(child.status == 0)
        #expect(child.output == "\(asked)\n[\"1\"]")
    }

    @Test(arguments: ["WyIxIl0=!!!", "[\"1\"]", "WyIxIl0=\nrubbish"])
    func `nothing is made of what is encoded in part only`(_ sent: String) throws {
        for (words, input) in [([sent], ""), ([], sent)] {
            let child = try bw(["create", "item"] + words, input: input, answer: "echo \"$*\"")
            #expect(child.status == 1)
            #expect(child.output.isEmpty)
            #expect(
                child.complaint == "bw: what is sent is not encoded as 'bw encode' does it\n"
            )
        }
    }

    @Test(arguments: [0, 1, 69, 77] as [Int32])
    func `what is sent ends as the host's command does`(_ status: Int32) throws {
        let answer = "cat > /dev/null; echo 'Why.' >&2; exit \(status)"
        for words in [["create", "item"], ["edit", "item", "7"], ["move", "7", "8"]] {
            let child = try bw(words + ["eA=="], answer: answer)
            #expect(child.status == status)
            #expect(child.complaint == "Why.\n")
        }
    }

    @Test func `at a terminal nobody is waited for to type what is to be sent`() throws {
        let host = try Self.host(answering: "echo \"$*\"")
        let terminal = try Terminal()
        let running = try Running(
            "/bin/sh",
            ["-c", Self.script, host.path, Self.program, "create", "item"],
            environment: ["PATH": "/usr/bin:/bin"],
            terminal: terminal.path
        )
        terminal.type("\u{4}")
        #expect(running.wait() == 1)
        #expect(try running.complaint == "bw: create wants what it is to send, encoded\n")
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

    @Test(arguments: [
        ["login", "--check"], ["unlock", "--check"], ["config", "server"], ["sync", "--last"],
    ])
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

    @Test func `without an account there is no server to tell, and no sync`() throws {
        let answer = #"echo '{"serverUrl":null,"status":"unauthenticated"}'"#
        let complaint = "bw: no server is known before: holdfast login ADDRESS --server URL\n"
        for words in [["config", "server"], ["config", "server", "https://x.example"]] {
            let child = try bw(words, answer: answer)
            #expect(child.status == 1)
            #expect(child.output.isEmpty && child.complaint == complaint)
        }
        let child = try bw(["sync", "--last"], answer: answer)
        #expect(child.status == 1)
        #expect(child.output.isEmpty && child.complaint == "bw: You are not logged in.\n")
    }

    @Test func `the last sync is told, and there may be none`() throws {
        let never = #"echo '{"serverUrl":"https://x.example","status":"locked"}'"#
        #expect(try bw(["sync", "--last"], answer: never).output.isEmpty)
        #expect(try bw(["sync", "--last"], answer: never).status == 0)
        let once = #"echo '{"lastSync":"2026-01-05T08:12:44.901Z","status":"locked"}'"#
        let child = try bw(["sync", "--last"], answer: once)
        #expect(child.status == 0)
        #expect(child.output == "2026-01-05T08:12:44.901Z")
    }

    @Test(
        arguments: [
            (["--nointeraction"], []), ([], ["BW_NOINTERACTION=true"]),
            (["--nointeraction", ""], []),
        ] as [([String], [String])]
    )
    func `where nobody may be asked, a password has to be given`(
        _ words: [String],
        _ variables: [String]
    ) throws {
        let child = try bw(["unlock", "--raw"] + words, variables, answer: "echo \"$*\" >&2")
        #expect(child.status == 1)
        #expect(child.output.isEmpty)
        #expect(child.complaint.hasPrefix("bw: Master password is required."))
    }

    @Test func `a password that is given opens the vault, whoever may be asked`() throws {
        let answer = "echo \"$*\" >&2"
        let scratch = try Scratch()
        try Files.replace(scratch.file("holdfast.password"), with: Array("secret\n".utf8))
        for (words, variables, asked) in [
            (["secret"], [], "unlock --password-env HOLDFAST_SHIM_PASSWORD\n"),
            (["--passwordenv", "SECRET"], [], "unlock --password-env SECRET\n"),
            (["--passwordfile=/secret"], [], "unlock --password-file /secret\n"),
            ([], ["CREDENTIALS_DIRECTORY=\(scratch.path)"], "unlock\n"),
        ] as [([String], [String], String)] {
            let said = ["unlock", "--raw", "--nointeraction"] + words
            let child = try bw(said, variables, answer: answer)
            #expect(child.status == 0)
            #expect(child.output == "holdfast\n")
            #expect(child.complaint == asked)
        }
        #expect(try bw(["unlock", "secret"], ["BW_RAW=true"], answer: "").output == "holdfast\n")
    }

    @Test(arguments: [
        ["list", "items"], ["get", "password", "mail"], ["login", "--check"], ["unlock", "secret"],
        ["create", "item", "e30="], ["--version"], ["help"],
    ])
    func `nothing is said to whoever wants to hear nothing`(_ words: [String]) throws {
        let answer = "cat > /dev/null; echo '{\"status\":\"unlocked\"}'"
        for (words, variables) in [(words + ["--quiet"], []), (words, ["BW_QUIET=true"])] {
            let child = try bw(words, variables, answer: answer)
            #expect(child.status == 0)
            #expect(child.output.isEmpty && child.complaint.isEmpty)
        }
        let refused = try bw(["--quiet"] + words, answer: "cat > /dev/null; exit 77")
        #expect([0, 77].contains(refused.status))
        #expect(refused.output.isEmpty)
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
        (["list", "items", "--response"], "--response is not known here with list"),
    ])
    func `a flag that says nothing here is refused`(_ words: [String], _ complaint: String) throws {
        try expectComplaint(complaint, about: words)
    }

    private func expectComplaint(_ complaint: String, about words: [String]) throws {
        let child = try bw(words, answer: "echo \"$*\"")
        #expect(child.status == 1)
        #expect(child.output.isEmpty)
        #expect(child.complaint == "bw: \(complaint)\n")
    }

    @Test func `answers in another shape are refused, however they are asked for`() throws {
        let child = try bw(["list", "items"], ["BW_RESPONSE=true"], answer: "echo \"$*\"")
        #expect(child.status == 1)
        #expect(child.output.isEmpty)
        #expect(child.complaint == "bw: BW_RESPONSE is not known here\n")
    }

    @Test(arguments: [
        (["get"], "get wants to know what"),
        (["get", "item"], "get wants to know which item"),
        (["get", "totp"], "get wants to know of which item"),
        (["create"], "create wants to know what"),
        (["edit"], "edit wants to know what"),
        (["edit", "item"], "edit wants to know which one"),
        (["move"], "move wants to know which item"),
        (["move", "7"], "move wants to know to which organization"),
        (["delete"], "delete wants to know what"),
        (["delete", "folder"], "delete wants to know which folder"),
        (["restore", "item"], "restore wants to know which item"),
    ])
    func `a command that lacks a word says which`(
        _ words: [String],
        _ complaint: String
    ) throws {
        try expectComplaint(complaint, about: words)
    }

    @Test func `only items have a trash`() throws {
        let child = try bw(["list", "folders", "--trash"], answer: "echo \"$*\"")
        #expect(child.status == 1)
        #expect(child.complaint == "bw: --trash goes with items only\n")
    }
}
