import Bitwarden
import Crypto
import EmbeddedUpstream
import HTTP
import JSON
import Metrics
import System
import Testing
import Vault

@testable import Host

/// An upstream that serves over a real socket, and a client that talks to it over the real network.
struct Site: Sendable {
    let server: EmbeddedUpstream
    let client: Client
    let upstream: Upstream
    let registry: Registry

    static let device = Device(
        type: 25,
        identifier: "1d9f5a0c-7b51-4f0e-9d0b-0c6f0a6f1c11",
        name: "tests"
    )
    static let hash = Base64.text(of: [UInt8](repeating: 7, count: 32))

    /// Runs the story with all services up, and takes them down after it.
    ///
    /// - Parameter time: The server's.
    static func open<Result: Sendable>(
        _ personality: Personality.Name,
        time: any Timekeeper = SystemTimekeeper(),
        _ configure: (inout Client.Configuration) -> Void = { _ in },
        story: @Sendable (Site) async throws -> Result
    ) async throws -> Result {
        let server = try await EmbeddedUpstream.start(
            .init(Personality(personality)),
            time: time
        )
        var configuration = Client.Configuration()
        configuration.deadlines.total = .seconds(20)
        configure(&configuration)
        let client = try Client(configuration: configuration)
        let sockets = try WebSocketClient()
        let registry = Registry(timekeeper: SystemTimekeeper())
        let upstream = Upstream(
            try Bases(server.url),
            identity: ClientIdentity(device: device),
            world: Upstream.World(
                network: RealNetwork(client: client, sockets: sockets),
                timekeeper: SystemTimekeeper(),
                chance: SystemChance()
            ),
            metrics: UpstreamMetrics(registry)
        )
        let site = Site(server: server, client: client, upstream: upstream, registry: registry)
        return try await withThrowingTaskGroup { services in
            services.addTask { await server.run() }
            services.addTask { await upstream.run() }
            let result = await Swift.Result { try await story(site) }
            services.cancelAll()
            await client.close()
            await sockets.close()
            await server.stop(within: .seconds(1))
            return try result.get()
        }
    }

    // MARK: Accounts

    /// Makes an account, as a web vault would.
    func register(_ email: String) async throws {
        let registration = Registration(
            email: email,
            masterPasswordHash: Site.hash,
            settings: .usual,
            wrappedUserKey: sealed(1, bytes: 80),
            keys: AccountKeys(
                publicKey: Base64.text(of: [UInt8](repeating: 3, count: 294)),
                wrappedPrivateKey: sealed(2, bytes: 1_232)
            )
        )
        var request = Client.Request(.post, server.url + "/identity/accounts/register/finish")
        request.headers["Content-Type"] = "application/json"
        var json = JSON.Edit(try JSON.Document(JSON.Raw(registration)))
        try json.set([.member("emailVerificationToken")], to: JSON.Raw("any"))
        request.body = .bytes(json.bytes)
        let response = try await client.send(request)
        let text = String(decoding: response.body, as: UTF8.self)
        try #require(response.status == .ok, "\(text)")
    }

    func signIn(_ email: String) async throws -> UpstreamAccount {
        let grant = PasswordGrant(email: email, masterPasswordHash: Site.hash)
        guard case .signedIn(let signedIn) = try await upstream.signIn(grant) else {
            throw Unexpected("not signed in")
        }
        return UpstreamAccount(upstream, upstream.session(signedIn.tokens) { _ in })
    }

    func account(_ email: String = "a@example.com") async throws -> UpstreamAccount {
        try await register(email)
        return try await signIn(email)
    }

    /// A call that the client has no business to make.
    func post(_ path: String, _ body: String, _ account: UpstreamAccount) async throws
        -> JSON.Document
    {
        var request = Client.Request(.post, server.url + path)
        request.headers["Content-Type"] = "application/json"
        request.headers["Authorization"] = "Bearer \(account.session.tokens.access)"
        request.body = .bytes(Array(body.utf8))
        let response = try await client.send(request)
        let text = String(decoding: response.body, as: UTF8.self)
        try #require(response.status.isSuccess, "\(path): \(text)")
        return try JSON.Document(response.body)
    }
}

/// An account at an upstream that is anywhere, with a client of its own while the story lasts.
func withAccount(
    at address: String,
    tokens: Tokens = .unquestioned,
    device: Device = Site.device,
    _ configuration: Client.Configuration = Client.Configuration(),
    _ socketConfiguration: WebSocketClient.Configuration = WebSocketClient.Configuration(),
    story: (UpstreamAccount) async throws -> Void
) async throws {
    let client = try Client(configuration: configuration)
    let sockets = try WebSocketClient(configuration: socketConfiguration)
    let upstream = Upstream(
        try Bases(address),
        identity: ClientIdentity(device: device),
        world: Upstream.World(
            network: RealNetwork(client: client, sockets: sockets),
            timekeeper: SystemTimekeeper(),
            chance: SystemChance()
        ),
        metrics: UpstreamMetrics(Registry(timekeeper: SystemTimekeeper()))
    )
    let account = UpstreamAccount(upstream, upstream.session(tokens) { _ in })
    let result = await Swift.Result { try await story(account) }
    await client.close()
    await sockets.close()
    try result.get()
}

extension Tokens {
    /// Those of an account at a server that asks for none.
    static let unquestioned = Tokens(
        userID: "u",
        access: "token",
        expires: Moment(ticks: .max / 2),
        renewal: .none
    )
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}

/// A text that looks like an encrypted string of so many encrypted bytes; another one for each seed.
func sealed(_ seed: Int, bytes count: Int = 16) -> String {
    let chance = SeededChance(seed: UInt64(seed))
    func text(_ count: Int) -> String {
        Base64.text(of: (0..<count).map { _ in UInt8(truncatingIfNeeded: chance.next()) })
    }
    return "2.\(text(16))|\(text(count))|\(text(32))"
}

/// A login as it is sent.
func loginRequest(_ seed: Int, baseline: String? = nil, organization: String? = nil) -> [UInt8] {
    let request = JSON.Raw.object { object in
        object.add("type", 1)
        object.add("organizationId", organization)
        object.add("name", sealed(seed))
        object.add("favorite", false)
        object.object("login") {
            $0.add("username", sealed(seed + 1))
            $0.add("password", sealed(seed + 2))
        }
        object.add("lastKnownRevisionDate", baseline)
    }
    return Array(request.bytes)
}

/// What kept it from succeeding.
func setback<Value>(_ body: () async throws(Setback) -> Value) async -> Setback? {
    do throws(Setback) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}

extension Setback.Reason {
    /// The case without what it carries.
    var kind: String {
        switch self {
        case .rejected: "rejected"
        case .stale: "stale"
        case .missing: "missing"
        case .unauthorised: "unauthorised"
        case .signedOut: "signedOut"
        case .throttled: "throttled"
        case .unavailable: "unavailable"
        case .unreachable: "unreachable"
        case .foreign: "foreign"
        case .malformed: "malformed"
        case .cancelled: "cancelled"
        }
    }
}
