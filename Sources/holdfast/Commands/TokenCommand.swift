import HTTP
import Host
import JSON

extension Command {
    static let token = Command(
        name: "token",
        summary: "makes, lists and takes back tokens of the API",
        operands: "create|list|revoke [ID]",
        choices: TokenDeed.allCases.map(\.rawValue),
        flags: HostLine.flags + [
            Flag(
                name: "scope",
                value: "SCOPE",
                choices: Caller.Scope.allCases.map(\.rawValue),
                help: "create: admin, write or read"
            ),
            Flag(name: "account", value: "ID", help: "create: the only account that it opens"),
        ],
        run: { invocation, console throws(Failure) in
            guard !invocation.operands.isEmpty else {
                throw Failure(
                    status: .usage,
                    message: "Say what to do: holdfast token create, list or revoke ID."
                )
            }
            let line = try HostLine(invocation)
            let showing = Showing(invocation, console)
            switch try invocation.word(TokenDeed.list) {
            case .create: try await create(invocation, line, showing)
            case .list: try await list(invocation, line, showing)
            case .revoke: try await revoke(invocation, line, showing)
            }
        }
    )

    private static func create(
        _ invocation: Invocation,
        _ line: HostLine,
        _ showing: Showing
    ) async throws(Failure) {
        try invocation.allow(1)
        let text = invocation.value("scope")
        guard let text, let scope = Caller.Scope(rawValue: text) else {
            let found = text.map { ", not '\($0)'" } ?? ""
            throw Failure(status: .usage, message: "--scope wants admin, write or read\(found).")
        }
        let body = JSON.Raw.object { json in
            json.add("scope", scope.rawValue)
            json.add("account", invocation.value("account"))
        }
        let answer = try await line.askHost(.post, "/tokens", body: Array(body.bytes))
        let token = answer.data
        let json = JSON.Raw.object { json in
            for name in ["token", "id", "scope", "account"] {
                json.add(name, token?[name]?.raw ?? .null)
            }
        }
        showing.words(token?.shown("token") ?? "", json)
    }

    private static func list(
        _ invocation: Invocation,
        _ line: HostLine,
        _ showing: Showing
    ) async throws(Failure) {
        try invocation.allow(1)
        let answer = try await line.askHost(.get, "/tokens")
        showing.table(answer.list, none: "There is no token.") {
            Table(
                headings: ["ID", "SCOPE", "ACCOUNT", "CREATED"],
                rows: (answer.data?.listed ?? []).map { token in
                    ["id", "scope", "account", "created"].map { token.shown($0) }
                }
            )
        }
    }

    private static func revoke(
        _ invocation: Invocation,
        _ line: HostLine,
        _ showing: Showing
    ) async throws(Failure) {
        try invocation.allow(2)
        guard invocation.operands.count == 2, !invocation.operands[1].isEmpty else {
            throw Failure(status: .usage, message: "Say which token: holdfast token revoke ID.")
        }
        let path = "/tokens/\(Percent.encode(invocation.operands[1]))"
        let answer = try await line.askHost(.delete, path)
        showing.outcome(answer.json) { "Taken back." }
    }
}

private enum TokenDeed: String, CaseIterable {
    case create, list, revoke
}
