import Bitwarden
import FoundationEssentials
import HTTP
import JSON
import Logging
import Sync
import System
import Testing
import Vault

@testable import Host

/// A host that is asked over real HTTP. The same stories are told at each.
enum Venue: CaseIterable, Sendable {
    /// The API over an account in memory.
    case still
    /// A whole host with a server behind it.
    case host

    /// Serves while the story runs: one account, unlocked, with an empty vault.
    func open(_ story: @Sendable (Guest) async throws -> Void) async throws {
        switch self {
        case .still: try await StillVenue().open(story)
        case .host: try await HostVenue().open(story)
        }
    }
}

/// What a story needs beyond the API: the world outside the host.
protocol Stage: Sendable {
    /// The account's master password.
    var password: String { get }
    var userID: String { get }
    /// The host's clock, since 1970.
    var seconds: Int64 { get }
    /// Another device renames the item, and this host has heard of it.
    func renameElsewhere(_ id: String, to name: String) async throws
    /// An organization with a collection, of which the account is a member.
    func addOrganization() async throws -> (organization: String, collection: String)
}

/// Somebody who talks to a host.
struct Guest: Sendable {
    let client: Client
    let base: String
    var headers: Headers = [:]
    let stage: any Stage
    /// The accounts themselves, of a whole host.
    var accounts: Accounts?
    /// All that is answered at the gate.
    var routes: [(method: HTTP.Method, template: String, name: String)] = []

    struct Reply {
        let status: Status
        let headers: Headers
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        var json: JSON.Value? { (try? JSON.Document(body))?.root }
        var data: JSON.Value? { json?["data"] }
        var message: String? { json?["message"]?.string }
        var isSuccess: Bool { status == .ok && json?["success"]?.bool == true }
        /// Of a list.
        var elements: [JSON.Value] { data?["data"]?.array.map(Array.init) ?? [] }
        var names: [String] { elements.compactMap { $0["name"]?.string } }
        /// Of a string.
        var string: String? { data?["data"]?.string }
    }

    func send(
        _ method: HTTP.Method,
        _ path: String,
        _ body: String? = nil,
        type: String? = "application/json",
        headers more: Headers = [:]
    ) async throws -> Reply {
        var request = Client.Request(method, base + path)
        request.headers = headers
        for (name, value) in more.fields { request.headers[name] = value }
        if let body {
            request.body = .bytes(Array(body.utf8))
            if let type { request.headers["Content-Type"] = type }
        }
        let response = try await client.send(request)
        return Reply(status: response.status, headers: response.headers, body: response.body)
    }

    func get(_ path: String) async throws -> Reply { try await send(.get, path) }
    func post(_ path: String, _ body: String? = nil) async throws -> Reply {
        try await send(.post, path, body)
    }
    func put(_ path: String, _ body: String) async throws -> Reply {
        try await send(.put, path, body)
    }
    func delete(_ path: String) async throws -> Reply { try await send(.delete, path) }

    /// Makes an item and returns its id.
    @discardableResult
    func make(_ item: String) async throws -> String {
        let reply = try await post("/object/item", item)
        return try #require(reply.data?["id"]?.string, "\(reply.text)")
    }

    /// Makes a login with that name and what belongs into `login`.
    @discardableResult
    func login(_ name: String, _ login: String = "", more: String = "") async throws -> String {
        try await make(#"{"type":1,"name":"\#(name)","login":{\#(login)}\#(more)}"#)
    }
}

/// The API alone, on a free port of the loopback, for a caller who may do everything.
struct StillVenue: Stage {
    let household = StillHousehold()
    let desk: StillDesk
    let breaches = StillBreaches()
    var caller = Caller(.admin)

    var password: String { "correct horse" }
    var userID: String { desk.id }
    var seconds: Int64 { Int64(desk.clock.now.timeIntervalSince1970) }

    init() throws {
        desk = try household.add("7f0e7f0e-0000-4000-8000-000000000001", "ada@example.test")
    }

    func open(_ story: @Sendable (Guest) async throws -> Void) async throws {
        let api = VaultAPI(
            household: household,
            timekeeper: household.clock,
            entropy: desk.entropy,
            breaches: breaches,
            verify: { () async throws(StoreError) in throw .noAccount },
            log: Logger(Logbook(sink: NoSink(), timekeeper: household.clock))
        )
        var limits = Limits()
        limits.body = VaultAPI.uploadLimit
        let caller = caller
        let server = try Server.start(
            [Listener(name: "api", .tcp(SocketAddress(host: "127.0.0.1", port: 0)))],
            limits: limits
        ) { await api.answer($0, on: VaultAPI.way(of: $0), from: caller) }
        let client = try Client()
        let result = await Result {
            guard case .tcp(let address) = server.listeners.first?.address else { return }
            try await story(Guest(client: client, base: "http://\(address)", stage: self))
        }
        household.endEvents()
        await client.close()
        await server.stop(within: .seconds(1))
        try result.get()
    }

    func renameElsewhere(_ id: String, to name: String) async throws {
        let item = try #require(desk.viewed(id)?.item)
        let body = try ItemBody(Array(#"{"type":1,"name":"\#(name)"}"#.utf8))
        let moment = desk.clock.moment()
        let edited = try item.edited(by: body, at: moment, keys: desk.keys, entropy: desk.entropy)
        desk.change { state in
            state.ciphers[id] = edited.cipher.with("revisionDate", moment.text)
            state.movedElsewhere[id] = moment
        }
    }

    func addOrganization() async throws -> (organization: String, collection: String) {
        let organization = "0a0a0a0a-0000-4000-8000-00000000000a"
        let collection = "0c0c0c0c-0000-4000-8000-00000000000c"
        let text = #"{"id":"\#(organization)","name":"Acme","status":2,"type":0,"enabled":true}"#
        let membership = try Membership(json: JSON.Document(Array(text.utf8)).root)
        desk.change { state in
            state.memberships = [membership]
            state.collections = [
                ViewedCollection(
                    id: collection,
                    organizationID: organization,
                    name: "Ops/Prod",
                    externalID: nil
                )
            ]
        }
        return (organization, collection)
    }
}

/// Says of one password that it has leaked, as long as there is a network.
final class StillBreaches: BreachRange {
    let isAway = Lock(false)
    let asked = Lock<[String]>([])

    /// SHA-1 of `password`: 5BAA6 1E4C9B93F3F0682250B6CF8331B7EE68FD8.
    func lines(behind prefix: String) async throws(BreachesUnknown) -> String {
        asked.withLock { $0.append(prefix) }
        guard !isAway.withLock(\.self) else { throw BreachesUnknown("nobody answers") }
        guard prefix == "5BAA6" else { return "0000000000000000000000000000000000A:0\r\n" }
        return "003D68EB55068C33ACE09247EE4C639306B:3\r\n1E4C9B93F3F0682250B6CF8331B7EE68FD8:42\r\n"
    }
}

/// Nobody reads along.
private struct NoSink: LogSink {
    func write(_ bytes: [UInt8]) -> Bool { true }
}
