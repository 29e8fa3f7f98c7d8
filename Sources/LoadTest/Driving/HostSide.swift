import HTTP
import JSON

/// The host as its clients reach it, over sockets.
final class HostSide: Sendable {
    /// What an edit came to.
    struct Reply: Sendable {
        let outcome: Outcome
        /// The id of what was made.
        var madeID: String?
        var isQueued = false
    }

    let url: String
    private let token: String
    private let client: Client

    init(url: String, token: String, concurrency: Int) throws(ClientError) {
        self.url = url
        self.token = token
        var configuration = Client.Configuration()
        configuration.requestsPerHost = concurrency + 2
        configuration.keptConnections = concurrency + 2
        configuration.bodyLimit = 1 << 30
        configuration.deadlines.total = .seconds(300)
        configuration.deadlines.stall = .seconds(240)
        client = try Client(configuration: configuration)
    }

    func close() async { await client.close() }

    // MARK: Accounts

    /// - Returns: The account's id.
    func signIn(_ email: String, _ password: String, server: String) async throws -> String {
        let body = JSON.Raw.object {
            $0.add("email", email)
            $0.add("password", password)
            $0.add("server", server)
        }
        let json = try await answer(.post, "/accounts", body)
        guard let id = json.root["data"]?["id"]?.string else {
            throw LoadFailure("The host does not say which account it has made.")
        }
        return id
    }

    /// All accounts of the host, also those of others.
    func accounts() async throws -> [(id: String, email: String)] {
        let json = try await answer(.get, "/accounts", nil)
        let accounts = json.root["data"]?["data"]?.array.map(Array.init) ?? []
        return accounts.compactMap { account in
            guard let id = account["id"]?.string, let email = account["email"]?.string else {
                return nil
            }
            return (id, email)
        }
    }

    /// Also if changes are lost with it.
    func erase(_ account: String) async throws {
        _ = try await answer(.delete, "/accounts/\(account)?discardPending=true", nil)
    }

    func unlock(_ account: String, _ password: String) async throws {
        let body = JSON.Raw.object { $0.add("password", password) }
        _ = try await answer(.post, "/accounts/\(account)/unlock", body)
    }

    func sync(_ account: String) async throws {
        _ = try await answer(.post, "/accounts/\(account)/sync", nil)
    }

    /// How many changes wait, and how many of them were set aside.
    func pending(_ account: String) async throws -> (total: Int, quarantined: Int) {
        let json = try await answer(.get, "/accounts/\(account)", nil)
        guard let pending = json.root["data"]?["pending"] else {
            throw LoadFailure("The host does not say what is pending.")
        }
        return (pending["total"]?.int ?? 0, pending["quarantined"]?.int ?? 0)
    }

    /// What waits in these accounts and was not set aside. The host may have others, and people who edit.
    func pendingChanges(of own: Set<String>) async throws -> Int {
        let json = try await answer(.get, "/accounts", nil)
        let accounts = json.root["data"]?["data"]?.array.map(Array.init) ?? []
        return accounts.reduce(0) { sum, account in
            guard let id = account["id"]?.string, own.contains(id) else { return sum }
            let pending = account["pending"]
            return sum + (pending?["total"]?.int ?? 0) - (pending?["quarantined"]?.int ?? 0)
        }
    }

    /// What the host shows outside the trash: the marks, by id.
    func items(_ account: String) async throws -> [String: String] {
        let json = try await answer(.get, "/accounts/\(account)/list/object/items", nil)
        var marks: [String: String] = [:]
        for item in json.root["data"]?["data"]?.array.map(Array.init) ?? [] {
            guard let id = item["id"]?.string else { continue }
            marks[id] = item["notes"]?.string ?? ""
        }
        return marks
    }

    // MARK: Edits

    func carryOut(_ edit: UserPlan.Edit, of account: String, id: String?) async -> Reply {
        let path = "/accounts/\(account)/object/item"
        switch edit {
        case .create(_, let content):
            return await send(.post, path, content.body)
        case .update(_, let content):
            return await send(.put, "\(path)/\(id ?? "")", content.body)
        case .trash:
            return await send(.delete, "\(path)/\(id ?? "")", nil)
        case .delete:
            return await send(.delete, "\(path)/\(id ?? "")?permanent=true", nil)
        }
    }

    private func send(_ method: Method, _ path: String, _ body: [UInt8]?) async -> Reply {
        let response: Client.Response
        do throws(ClientError) {
            response = try await client.send(request(method, path, body))
        } catch {
            return Reply(outcome: error.isOutcomeUnknown ? .unknown : .untried)
        }
        guard response.status.isSuccess else {
            let text = String(decoding: response.body.prefix(300), as: UTF8.self)
            return Reply(outcome: Outcome(status: response.status.rawValue, text))
        }
        var reply = Reply(outcome: .acknowledged)
        reply.isQueued = response.headers["Holdfast-Disposition"] == "queued"
        if method == .post {
            reply.madeID = (try? JSON.Document(response.body))?.root["data"]?["id"]?.string
        }
        return reply
    }

    // MARK: Requests

    private func request(_ method: Method, _ path: String, _ body: [UInt8]?) -> Client.Request {
        var request = Client.Request(method, url + path, operation: "load")
        request.headers["Authorization"] = "Bearer \(token)"
        if let body {
            request.headers["Content-Type"] = "application/json"
            request.body = .bytes(body)
        }
        return request
    }

    private func answer(
        _ method: Method,
        _ path: String,
        _ body: JSON.Raw?
    ) async throws -> JSON.Document {
        let response: Client.Response
        do throws(ClientError) {
            response = try await client.send(request(method, path, body.map { Array($0.bytes) }))
        } catch {
            throw LoadFailure(error)
        }
        guard response.status.isSuccess else {
            let text = String(decoding: response.body.prefix(300), as: UTF8.self)
            throw LoadFailure(
                "\(method) \(path): \(response.status) \(text)",
                [.unauthorized, .forbidden].contains(response.status) ? .notAllowed : .other
            )
        }
        return try JSON.Document(response.body)
    }
}

extension Outcome {
    /// Of what was not answered with success. With 500 the host says that it does not know itself, because
    /// the disk did not.
    init(status: Int, _ text: String) {
        self = status == Status.internalError.rawValue ? .unknown : .refused(status: status, text)
    }
}

extension LoadFailure {
    /// The host was asked, and there was no answer.
    init(_ error: ClientError) {
        let obstacle: LoadReport.Obstacle =
            switch error.reason {
            case .unresolvable, .unreachable, .connectionLost, .timedOut(.connect): .hostIsAway
            default: .other
            }
        self.init(
            String(describing: error),
            obstacle,
            isOutcomeUnknown: error.isOutcomeUnknown
        )
    }
}

extension Content {
    /// The item as a client of the host sends it.
    var body: [UInt8] {
        let json = JSON.Raw.object(capacity: 384) { item in
            item.add("type", 1)
            item.add("name", name)
            item.add("notes", notes)
            item.object("login") { login in
                login.add("username", username)
                login.add("password", password)
                login.array("uris") { uris in
                    uris.object { $0.add("uri", "https://load.example/login") }
                }
            }
        }
        return Array(json.bytes)
    }
}
