import Glibc
import HTTP
import Host
import JSON
import System
import TestSupport
import Testing

@testable import holdfast

/// The commands that talk to a running host.
struct ClientCommandTests {
    /// What a command said and how it ended.
    private final class Said: Sendable {
        let answers = Lock<[String]>([])
        let complaints = Lock<[String]>([])
        var answer: String { answers.withLock { $0.joined(separator: "\n") } }
        var complaint: String { complaints.withLock { $0.joined(separator: "\n") } }
    }

    private func run(
        _ words: [String],
        input: String = ""
    ) async -> (status: holdfast.ExitStatus, said: Said) {
        let said = Said()
        let console = Console(
            answer: { text in said.answers.withLock { $0.append(text) } },
            complain: { text in said.complaints.withLock { $0.append(text) } },
            input: { () throws(SystemError) in Array(input.utf8) }
        )
        return (await Holdfast(commands: Holdfast.commands, console: console).run(words), said)
    }

    private func withPassword(_ body: (String) async throws -> Void) async throws {
        let scratch = try Scratch()
        try Files.replace(scratch.file("password"), with: Array("s3cret\nmore\n".utf8))
        try await body(scratch.file("password"))
    }

    @Test(arguments: [
        ("lock", "POST /lock", "{}"), ("status", "GET /status", ""),
        ("sync", "POST /sync", "{}"), ("sync --force", "POST /sync?force=true", "{}"),
        ("accounts", "GET /accounts", ""),
        ("list", "GET /list/object/items", ""),
        ("list trash", "GET /list/object/items?trash=true", ""),
        ("list sends", "GET /list/object/send", ""),
        ("list folders --search a&b", "GET /list/object/folders?search=a%26b", ""),
        ("list --account X/Y", "GET /accounts/X%2FY/list/object/items", ""),
        ("lock --account ..", "POST /accounts/../lock", "{}"),
        ("list --url http://x", "GET /list/object/items?url=http%3A%2F%2Fx", ""),
        (
            "list trash --organization-id 3 --collection-id null --folder-id 1",
            "GET /list/object/items?trash=true&folderid=1&collectionid=null&organizationid=3", ""
        ),
        (
            "list collections --organization-id 3",
            "GET /list/object/collections?organizationid=3", ""
        ),
        ("get Mail", "GET /object/item/Mail", ""),
        ("get password café?", "GET /object/password/caf%C3%A9%3F", ""),
        ("get folder Work", "GET /object/folder/Work", ""),
        ("get folder", "GET /object/item/folder", ""),
        ("get template item.login", "GET /object/template/item.login", ""),
        ("generate", "GET /generate", ""),
        (
            "generate --special --min-number 2 --length 20",
            "GET /generate?length=20&special=true&minNumber=2", ""
        ),
        (
            "generate --passphrase --separator= --include-number",
            "GET /generate?passphrase=true&separator=empty&includeNumber=true", ""
        ),
        ("delete 7", "DELETE /object/item/7", ""),
        ("delete folder 7", "DELETE /object/folder/7", ""),
        ("delete folder", "DELETE /object/item/folder", ""),
        ("delete 7 --permanent", "DELETE /object/item/7?permanent=true", ""),
        ("restore 7", "POST /restore/item/7", "{}"),
        ("pending", "GET /pending", ""), ("pending show 7", "GET /pending/7", ""),
        ("pending retry 7", "POST /pending/7/retry", "{}"),
        ("pending discard 7", "DELETE /pending/7", ""),
        ("pending save-copy 7", "POST /pending/7/save-copy", "{}"),
        ("token list", "GET /tokens", ""), ("token revoke 7", "DELETE /tokens/7", ""),
        (
            "token create --scope read --account 7", "POST /tokens",
            #"{"scope":"read","account":"7"}"#
        ),
        ("logout --account 7", "DELETE /accounts/7", ""),
        ("logout --account 7 --discard-pending", "DELETE /accounts/7?discardPending=true", ""),
    ])
    func `a command asks the host one thing`(
        _ words: String,
        _ line: String,
        _ body: String
    ) async throws {
        let host = try ScriptedHost()
        let words = words.split(separator: " ").map(String.init) + ["--socket", host.socket]
        #expect(await run(words).status == .success)
        #expect(host.asked == [.init(line: line, body: body)])
        await host.close()
    }

    @Test func `items are made and replaced by what is on standard input`() async throws {
        let host = try ScriptedHost()
        let state = ["--state", host.state]
        let item = #"{"name":"Mail"}"#
        #expect(await run(["create"] + state, input: item).status == .success)
        #expect(await run(["create", "folder"] + state, input: item).status == .success)
        #expect(await run(["edit", "7"] + state, input: item).status == .success)
        #expect(
            host.asked.map(\.line)
                == ["POST /object/item", "POST /object/folder", "PUT /object/item/7"]
        )
        #expect(host.asked.allSatisfy { $0.body == item })
        for input in ["", "[]", "{", "7", "null"] {
            #expect(await run(["create"] + state, input: input).status == .failure)
        }
        #expect(host.asked.count == 3)
        await host.close()
    }

    @Test func `folders are renamed, and items put into collections, by standard input`()
        async throws
    {
        let host = try ScriptedHost()
        let state = ["--state", host.state]
        let (folder, collections) = (#"{"name":"Work"}"#, #"["1","2"]"#)
        #expect(await run(["edit", "folder", "7"] + state, input: folder).status == .success)
        let placing = ["edit", "item-collections", "7"] + state
        #expect(await run(placing, input: collections).status == .success)
        let moving = ["move", "7", "8"] + state
        #expect(await run(moving, input: collections).status == .success)
        #expect(
            host.asked == [
                .init(line: "PUT /object/folder/7", body: folder),
                .init(line: "PUT /object/item-collections/7", body: collections),
                .init(line: "POST /move/7/8", body: collections),
            ]
        )
        for words in [placing, moving] {
            #expect(await run(words, input: folder).status == .failure)
        }
        #expect(host.asked.count == 3)
        await host.close()
    }

    @Test(arguments: ["unlock", "login a@x.example", "create", "edit 7", "move 7 8"])
    func `without a host nobody is asked for anything`(_ words: String) async throws {
        let scratch = try Scratch()
        let words = words.split(separator: " ").map(String.init) + ["--state", scratch.path]
        let (status, said) = await run(words, input: "not JSON")
        #expect(status == .hostNotRunning)
        #expect(said.complaint.contains("No host is running"))
    }

    @Test func `an edit tells in JSON, too, whether it waits, and its receipt`() async throws {
        let host = try ScriptedHost { question in
            var answer = Response.envelope(
                question.line.hasPrefix("DELETE") ? "" : #"{"id":"7","name":"Mail"}"#
            )
            answer.headers["Holdfast-Disposition"] = "queued"
            answer.headers["Holdfast-Receipt"] = "r1"
            return answer
        }
        let state = ["--state", host.state, "--json"]
        let made = await run(["create"] + state, input: "{}").said.answer
        #expect(made == #"{"id":"7","name":"Mail","disposition":"queued","receipt":"r1"}"#)
        let deleted = await run(["delete", "7"] + state).said.answer
        #expect(deleted == #"{"success":true,"disposition":"queued","receipt":"r1"}"#)
        await host.close()
    }

    @Test(arguments: [
        ("", "Tried again; the server has it."),
        (
            #"{"attempts":0,"lastError":null}"#,
            "It is tried as soon as the vault is open, the server answers, and resolution is switched on."
        ),
        (
            #"{"attempts":2,"lastError":{"kind":"rejected","message":"no"}}"#,
            "Tried again; it is still pending: rejected: no"
        ),
    ])
    func `what came of trying a change again is told`(
        _ left: String,
        _ sentence: String
    ) async throws {
        let host = try ScriptedHost { _ in .envelope(left) }
        let words = ["pending", "retry", "7", "--socket", host.socket]
        #expect(await run(words).said.answer == sentence)
        await host.close()
    }

    @Test func `a shell offers files wherever one is wanted`() async throws {
        let text = await run(["completions", "bash"]).said.answer
        let line = text.split(separator: "\n").first { $0.contains("--html|") } ?? ""
        for flag in ["--report", "--html", "--corpus", "--state", "--config", "--ready-file"] {
            #expect(line.contains(flag), "\(flag)")
        }
        #expect(!line.contains("--search"))
    }

    @Test func `passwords come from a file or a variable, never from the command line`()
        async throws
    {
        let host = try ScriptedHost()
        try await withPassword { file in
            let words = ["unlock", "--socket", host.socket, "--password-file", file]
            #expect(await run(words).status == .success)
            let login = [
                "login", "ada@x.example", "--socket", host.socket, "--password-file", file,
                "--server", "https://x.example", "--two-factor-token", "123456",
                "--two-factor-provider", "0", "--default",
            ]
            #expect(await run(login).status == .success)
        }
        #expect(
            host.asked == [
                .init(line: "POST /unlock", body: #"{"password":"s3cret"}"#),
                .init(
                    line: "POST /accounts",
                    body: #"{"email":"ada@x.example","password":"s3cret","#
                        + #""server":"https://x.example","twoFactorToken":"123456","#
                        + #""twoFactorProvider":0,"default":true}"#
                ),
            ]
        )
        #expect(Holdfast.commands.allSatisfy { $0.flag(named: "password") == nil })
        await host.close()
    }

    @Test(arguments: ["unlock", "login"])
    func `the help names every place that a password can come from`(_ command: String) async {
        let text = await run(["help", command]).said.answer
        for place in ["--password-file", "--password-env", "credential holdfast.password"] {
            #expect(text.contains(place))
        }
    }

    @Test(arguments: [["unlock", "s3cret"], ["login", "ada@x.example", "s3cret"]])
    func `a password that stands on the command line is not repeated`(_ words: [String]) async {
        let (status, said) = await run(words)
        #expect(status == .usage)
        #expect(said.complaint.contains("--password-file") && !said.complaint.contains("s3cret"))
    }

    @Test func `a credential of the service manager's is taken before anybody is asked`() throws {
        let scratch = try Scratch()
        try Files.replace(scratch.file("holdfast.password"), with: Array("kept".utf8))
        let environment = ["CREDENTIALS_DIRECTORY": scratch.path, "P": "told"]
        var invocation = Invocation(command: "unlock")
        let credential = try PasswordSource(invocation, prompt: "", environment: environment)
        #expect(try credential.read(environment: environment) == "kept")
        invocation.values["password-env"] = ["P"]
        let variable = try PasswordSource(invocation, prompt: "", environment: environment)
        #expect(try variable.read(environment: environment) == "told")
        #expect(throws: Failure.self) { try variable.read(environment: [:]) }
        invocation.values["password-file"] = ["/x"]
        #expect(throws: Failure.self) {
            try PasswordSource(invocation, prompt: "", environment: environment)
        }
        let none = try PasswordSource(Invocation(command: "unlock"), prompt: "P", environment: [:])
        #expect(none == .prompt("P"))
    }

    @Test(arguments: [
        (400, "Vault is locked.", 1), (401, "A token is needed.", 77), (403, "Not yours.", 77),
        (507, "The disk is full.", 1),
    ])
    func `what the host refuses is told in its own words`(
        _ code: Int,
        _ message: String,
        _ status: Int32
    ) async throws {
        let host = try ScriptedHost { _ in .refusal(code, message) }
        let outcome = await run(["list", "--socket", host.socket])
        #expect(outcome.status.rawValue == status)
        #expect(outcome.said.complaint == "holdfast: \(message)")
        #expect(outcome.said.answer.isEmpty)
        await host.close()
    }

    @Test func `where no host is, that is what is said`() async throws {
        let scratch = try Scratch()
        for words in [["status"], ["token", "list"], ["logout", "--account", "7"]] {
            let outcome = await run(words + ["--state", scratch.path])
            #expect(outcome.status == .hostNotRunning)
            #expect(outcome.said.complaint.contains(scratch.file("holdfast.sock")))
        }
    }

    @Test func `a host that lets nobody in is none that does not run`() throws {
        var invocation = Invocation(command: "status")
        invocation.values["socket"] = ["/holdfast.sock"]
        let line = try HostLine(invocation)
        for code in [ENOENT, ENOTDIR, ECONNREFUSED] {
            #expect(line.failure(toReach: code).status == .hostNotRunning)
        }
        for code in [0, ECONNRESET] {
            #expect(line.failure(toReach: code).status == .failure)
        }
    }

    /// The health check of a container is one of them.
    @Test func `whoever looks something up gives up on a host that says nothing`() async throws {
        let host = try ScriptedHost { question in
            let silence = AsyncStream<Never> { _ in }
            if question.line.hasPrefix("GET") { for await _ in silence {} }
            return .envelope("")
        }
        var invocation = Invocation(command: "status")
        invocation.values["socket"] = [host.socket]
        let line = try HostLine(invocation, patience: .seconds(1))
        await #expect(throws: Failure(status: .failure, message: "The host does not answer.")) {
            try await line.ask(.get, "/status")
        }
        _ = try await line.ask(.post, "/sync")
        await host.close()
    }

    @Test(arguments: ["status", "unlock", "create"])
    func `where the name is too long for a socket, no host can be`(_ command: String) async {
        let socket = "/tmp/" + String(repeating: "x", count: 120)
        let outcome = await run([command, "--socket", socket], input: "{}")
        #expect(outcome.status == .hostNotRunning)
        #expect(outcome.said.complaint.contains("No host can be there"))
        for length in [92, 93, 200] {
            let state = "/" + String(repeating: "x", count: length)
            let outcome = await run([command, "--state", state], input: "{}")
            #expect(outcome.status == .hostNotRunning, "\(length)")
            #expect(outcome.said.complaint.contains("No host is running at \(state)/holdfast.sock"))
        }
    }

    @Test(arguments: [
        ["list", "things"], ["list", "items", "more"], ["list", "folders", "--url", "x"],
        ["list", "collections", "--folder-id", "1"], ["get"], ["get", ""],
        ["get", "password", ""], ["get", "things", "x"], ["get", "item", "x", "y"],
        ["create", "thing"], ["edit"], ["edit", "a", "b"],
        ["edit", "folder", ""], ["edit", "folder", "7", "8"], ["delete"], ["delete", ""],
        ["delete", "a", "b"], ["move"], ["move", "7"], ["move", "7", ""], ["move", "7", "8", "9"],
        ["generate", "x"], ["generate", "--length", "x"], ["restore"], ["pending", "burn"],
        ["pending", "retry"],
        ["pending", "list", "x"], ["token"], ["token", "make"], ["token", "create"],
        ["token", "create", "--scope", "king"], ["token", "revoke"],
        ["token", "revoke", ""], ["login"],
        ["login", "a", "b", "--password-env", "P"],
        ["login", "a", "--two-factor-provider", "x", "--password-env", "P"],
        ["login", "a", "--client-id", "x", "--password-env", "P"], ["lock", "x"],
        ["unlock", "--password-env", "NOBODY_SETS_THIS"], ["status", "--nonsense"],
        ["completions"], ["completions", "csh"], ["manual", "x"],
    ])
    func `what makes no sense is refused before the host is asked`(_ words: [String]) async throws {
        let host = try ScriptedHost()
        let isLocal = ["completions", "manual"].contains(words[0])
        let outcome = await run(words + (isLocal ? [] : ["--socket", host.socket]))
        #expect(outcome.status == .usage)
        #expect(outcome.said.complaint.split(separator: "\n").count == 1)
        #expect(host.asked.isEmpty)
        await host.close()
    }

    @Test func `a table is shown wherever it goes, and JSON to whoever asks for it`() async throws {
        let host = try ScriptedHost { _ in
            .envelope(
                #"{"object":"list","data":[{"id":"1","name":"Mail \u001b[2J","#
                    + #""login":{"username":"ada"},"sync":{"state":"pending"}}]}"#
            )
        }
        let words = ["list", "--socket", host.socket]
        let shown = await run(words).said.answer
        #expect(shown.hasPrefix("NAME"))
        #expect(shown.contains("ada") && shown.contains("pending"))
        #expect(!shown.contains("\u{1B}"), "A name must not steer the terminal.")
        let asked = await run(words + ["--json"]).said.answer
        #expect(try JSON.Document(Array(asked.utf8)).root[0]?["id"]?.string == "1")
        await host.close()
    }

    @Test func `whoever may not sign out is told the flag, not what programs add`() async throws {
        let host = try ScriptedHost { _ in
            .refusal(400, "1 change would be lost. Add ?discardPending=true to erase it too.")
        }
        let outcome = await run(["logout", "--account", "7", "--socket", host.socket])
        #expect(outcome.status == .failure)
        #expect(outcome.said.complaint.contains("Add --discard-pending to erase"))
        await host.close()
    }

    @Test func `why a change waits is in the list of what waits`() async throws {
        let host = try ScriptedHost { _ in
            .envelope(
                #"{"object":"list","data":[{"id":"7","changeType":"update","state":"backingOff","#
                    + #""lastError":{"kind":"serverError","message":"upstream is ill"}},"#
                    + #"{"id":"8","changeType":"create","state":"ready","lastError":null}]}"#
            )
        }
        let lines = await run(["pending", "--socket", host.socket])
            .said.answer.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0].hasSuffix("LAST ERROR"))
        #expect(lines[1].hasSuffix("7   serverError: upstream is ill"))
        #expect(lines[2].hasSuffix("8"))
        await host.close()
    }

    @Test(arguments: [("deferred", "Not all is synced. Soon."), ("completed", "Done. Soon.")])
    func `a sync that left something does not call itself complete`(
        _ outcome: String,
        _ sentence: String
    ) async throws {
        let host = try ScriptedHost { _ in
            .envelope(#"{"title":"Done.","outcome":"\#(outcome)","reason":"Soon."}"#)
        }
        #expect(await run(["sync", "--socket", host.socket]).said.answer == sentence)
        await host.close()
    }

    @Test func `a value is printed as it is, unless JSON is asked for`() async throws {
        let host = try ScriptedHost { _ in .envelope(#"{"object":"string","data":"pa\"ss"}"#) }
        let words = ["get", "password", "Mail", "--socket", host.socket]
        #expect(await run(words).said.answer == #"pa"ss"#)
        #expect(
            await run(words + ["--json"]).said.answer == #"{"object":"string","data":"pa\"ss"}"#
        )
        await host.close()
    }

    @Test func `a template is printed as it is to be filled in`() async throws {
        let host = try ScriptedHost { _ in
            .envelope(#"{"object":"template","template":{"name":"Folder name"}}"#)
        }
        let words = ["get", "template", "folder", "--socket", host.socket]
        for words in [words, words + ["--json"]] {
            #expect(await run(words).said.answer == #"{"name":"Folder name"}"#)
        }
        await host.close()
    }

    @Test func `a new token is printed once and alone`() async throws {
        let data = #"{"object":"token","token":"hf_x","id":"1","scope":"read","account":null}"#
        let host = try ScriptedHost { _ in .envelope(data) }
        let words = ["token", "create", "--scope", "read", "--socket", host.socket]
        #expect(await run(words).said.answer == "hf_x")
        #expect(
            await run(words + ["--json"]).said.answer
                == #"{"token":"hf_x","id":"1","scope":"read","account":null}"#
        )
        await host.close()
    }

    @Test func `whoever edits is told whether it waits`() async throws {
        let host = try ScriptedHost { _ in
            var response = Response.envelope(#"{"object":"item","id":"1","name":"Mail"}"#)
            response.headers["Holdfast-Disposition"] = "queued"
            response.headers["Holdfast-Receipt"] = "r-9"
            return response
        }
        let words = ["create", "--socket", host.socket]
        let shown = await run(words, input: "{}").said.answer
        #expect(shown == "Mail (1): kept here until the server can be reached, receipt r-9.")
        await host.close()
    }

    @Test func `without a name the default account is signed out, and never a guessed one`()
        async throws
    {
        let accounts = Lock(#"[{"id":"1","default":false},{"id":"2","default":true}]"#)
        let host = try ScriptedHost { question in
            let list = accounts.withLock { $0 }
            return question.line == "GET /accounts"
                ? .envelope(#"{"object":"list","data":\#(list)}"#) : .envelope("")
        }
        let words = ["logout", "--socket", host.socket]
        #expect(await run(words).status == .success)
        #expect(host.asked.last?.line == "DELETE /accounts/2")
        accounts.withLock { $0 = #"[{"id":"1","default":false},{"id":"2","default":false}]"# }
        #expect(await run(words).status == .usage)
        #expect(host.asked.last?.line == "GET /accounts")
        await host.close()
    }

    private static func hostWithoutDefault() throws -> ScriptedHost {
        try ScriptedHost { question in
            switch question.line {
            case "GET /accounts":
                .envelope(
                    #"{"object":"list","data":[{"id":"1","default":false},{"id":"2","default":false}]}"#
                )
            case "GET /status":
                .envelope(#"{"template":{"serverUrl":null,"status":"unauthenticated"}}"#)
            default: .refusal(400, DeskRefusal.noDefaultAccount.description)
            }
        }
    }

    @Test func `where no account is the default one, every command says how to name one`()
        async throws
    {
        let host = try Self.hostWithoutDefault()
        for command in ["list", "get mail", "sync", "pending", "lock", "status", "logout"] {
            let words = command.split(separator: " ").map(String.init)
            let outcome = await run(words + ["--socket", host.socket])
            #expect(outcome.status != .success)
            #expect(outcome.said.complaint.hasSuffix("Say which account: --account ID."))
            #expect(!outcome.said.complaint.contains("/accounts/ID"))
        }
        // Those who answer for `bw` know what that means.
        let status = await run(["status", "--json", "--socket", host.socket])
        #expect(status.said.answer.contains("unauthenticated"))
        await host.close()
    }

    @Test func `a container is well also where no account is the default one`() async throws {
        let check = try Self.recipe("HEALTHCHECK CMD ")
        let words = try #require(JSON.Document(Array(check.utf8)).root.array).compactMap(\.string)
        #expect(words.first == "holdfast")
        let host = try Self.hostWithoutDefault()
        #expect(await run(words.dropFirst() + ["--socket", host.socket]).status == .success)
        await host.close()
    }

    @Test func `a container that is given flags listens where people come in from outside`() throws
    {
        let pairs = try Self.recipe("ENV ").split(separator: " ").map { $0.split(separator: "=") }
        let environment = Dictionary(
            uniqueKeysWithValues: pairs.map { (String($0[0]), String($0[1])) }
        )
        // They take the place of all that stands there.
        #expect(try Self.recipe("CMD ") == #"["serve"]"#)
        let settings = try HostSettings(
            flags: ["upstream": ["https://vault.example.org"]],
            environment: environment,
            isTerminal: false
        )
        let state = "/var/lib/holdfast"
        #expect(settings.state == state)
        #expect(
            settings.listen == [
                .tcp(host: "0.0.0.0", port: 8087), .unix(path: "\(state)/holdfast.sock"),
            ]
        )
        #expect(settings.opsListen == .tcp(host: "0.0.0.0", port: 9187))
    }

    /// What stands behind that word in the recipe of a container.
    private static func recipe(_ word: String) throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
        let bytes = try Files.read("\(root)/packaging/Containerfile")
        let lines = String(decoding: bytes, as: UTF8.self).replacing("\\\n\t", with: "")
            .split(separator: "\n")
        return String(try #require(lines.first { $0.hasPrefix(word) }).dropFirst(word.count))
    }

    @Test func `what takes longer than a second is shown to take its time`() async throws {
        let shown = Lock<[String]>([])
        let timekeeper = VirtualTimekeeper()
        let console = Console(
            answer: { _ in },
            complain: { _ in },
            showProgress: { text in shown.withLock { $0.append(text) } }
        )
        let (releases, release) = AsyncStream.makeStream(of: Void.self)
        async let result = console.waiting(for: "Syncing…", timekeeper) { () throws(Failure) in
            for await _ in releases { break }
            return 7
        }
        while !timekeeper.advance() { await Task.yield() }
        while shown.withLock({ $0.isEmpty }) { await Task.yield() }
        release.yield()
        #expect(try await result == 7)
        #expect(shown.withLock { $0.first } == "Syncing… 1 s")
        #expect(shown.withLock { $0.last } == "")
    }

    @Test func `a line that is typed can be mended and given up`() {
        func type(_ keys: [UInt8]) -> Entry.State {
            var entry = Entry()
            var state = Entry.State.more
            for key in keys { state = entry.press(key) }
            return state
        }
        #expect(type(Array("ab".utf8) + [0x7F] + Array("c\n".utf8)) == .entered("ac"))
        #expect(type(Array("aé".utf8) + [0x08, 0x0D]) == .entered("a"))
        #expect(type(Array("ab".utf8) + [0x15] + Array("c\r".utf8)) == .entered("c"))
        #expect(type([0x7F] + Array("c\r".utf8)) == .entered("c"))
        #expect(type(Array("ab".utf8) + [0x03]) == .givenUp)
        #expect(type([0x04]) == .givenUp && type([0x0A]) == .givenUp)
        #expect(type(Array("ab".utf8) + [0x04]) == .more)
    }
}
