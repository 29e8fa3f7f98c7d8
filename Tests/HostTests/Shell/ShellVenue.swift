import HTTP
import Logging
import Metrics
import Sync
import System
import TestSupport
import Vault

@testable import Host

/// A host's doors with scripted rooms behind them, on real sockets.
final class ShellVenue: Sendable {
    let scratch: Scratch
    let server: HostServer
    let tokens: TokenCabinet
    let registry: Registry
    let log: ShellLog
    let household: ShellHousehold

    static func routes(
        _ answer: @escaping @Sendable (Request, Caller) async -> Response
    ) -> Host.Gate.Inside {
        let names = [
            "GET /status": "/status", "POST /object": "/object/{kind}",
            "POST /accounts": "/accounts",
        ]
        return Host.Gate.Inside(
            routes: [
                (.get, "/status", "/status"), (.post, "/object/{kind}", "/object/{kind}"),
                (.post, "/accounts", "/accounts"),
                (.get, "/accounts/{account}/status", "/status"),
            ]
        ) { request in
            let segments = request.target.segments
            let isBelowAccount = segments.first == "accounts" && segments.count > 2
            let word = isBelowAccount ? segments.last : segments.first
            let scope: Caller.Scope =
                switch (request.method, segments.first) {
                case (.post, "accounts"): .admin
                case (.post, _): .write
                default: .read
                }
            let name = names["\(request.method) /\(word ?? "")"]
            return Host.Gate.Passage(name: name, scope: scope) { await answer(request, $0) }
        }
    }

    static let plainAnswer: @Sendable (Request, Caller) async -> Response = { request, caller in
        .text("\(request.target.raw) for \(caller.scope) of \(caller.accountID ?? "all")")
    }

    init(
        flags: [String: [String]] = [:],
        environment: [String: String] = [:],
        activation: Activation? = nil,
        household: ShellHousehold = ShellHousehold(),
        tally: @escaping HouseholdMetrics.Tally = { [] },
        answer: @escaping @Sendable (Request, Caller) async -> Response = plainAnswer
    ) async throws {
        scratch = try Scratch()
        var flags = flags
        flags["state"] = flags["state"] ?? [scratch.path]
        // Where the service manager has opened something, the host may keep to that.
        if activation?.api.isEmpty != false {
            flags["listen"] = flags["listen"] ?? ["127.0.0.1:0"]
        }
        flags["ops-listen"] = flags["ops-listen"] ?? ["127.0.0.1:0"]
        let settings = try HostSettings(flags: flags, environment: environment, isTerminal: false)
        tokens = try TokenCabinet(state: scratch.path, timekeeper: SystemTimekeeper())
        registry = Registry(timekeeper: SystemTimekeeper())
        log = ShellLog()
        self.household = household
        let premises = HostServer.Premises(
            registry: registry,
            log: Logger(Logbook(format: .json, sink: log, timekeeper: SystemTimekeeper())),
            timekeeper: SystemTimekeeper(),
            manager: Supervisor(environment: environment),
            activation: activation ?? Activation(environment: environment)
        )
        server = try await HostServer.open(
            settings,
            household: household,
            inside: Self.routes(answer),
            tokens: tokens,
            tally: tally,
            premises: premises
        )
        do {
            try server.announce(readyFile: settings.readyFile)
        } catch {
            await server.close(HostServer.Closing(within: .zero), hangUp: {})
            throw error
        }
    }

    var api: SocketAddress { server.addresses.api! }
    var ops: SocketAddress { server.addresses.ops! }
    var host: String { "Host: \(api)" }
    var opsHost: String { "Host: \(ops)" }

    var adminToken: String {
        get throws {
            let bytes = try Files.read(scratch.file("admin.token"))
            return String(decoding: bytes.dropLast(), as: UTF8.self)
        }
    }

    func close() async {
        await server.close(HostServer.Closing(), hangUp: {})
    }
}

/// Lines of a log, kept.
final class ShellLog: LogSink {
    private let kept = Lock<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    func write(_ line: [UInt8]) -> Bool {
        kept.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        return true
    }
}

/// Accounts that stand as the test says.
final class ShellHousehold: Household {
    private let standings: Lock<[AccountStanding]>
    let network: NetworkStanding
    private let strangers: [String: Int]

    /// - Parameter strangers: What waits of accounts that are not here.
    init(
        _ standings: [AccountStanding] = [],
        network: NetworkState = .online,
        strangers: [String: Int] = [:]
    ) {
        self.strangers = strangers
        self.standings = Lock(standings)
        self.network = NetworkStanding(isDrill: false, state: network, since: Moment(ticks: 0))
    }

    var summary: HouseholdSummary {
        get async {
            var summary = await eachAsked
            summary.count(strangers)
            return summary
        }
    }

    func replace(_ new: [AccountStanding]) { standings.withLock { $0 = new } }

    var desks: [any AccountDesk] { standings.withLock { $0 }.map(ShellDesk.init) }
    func desk(_ id: String) -> (any AccountDesk)? { desks.first { $0.id == id } }
    var defaultDesk: (any AccountDesk)? { desks.first }
    func signIn(_ request: SignInRequest) async throws(DeskRefusal) -> any AccountDesk {
        throw .busy
    }
    func makeDefault(_ id: String) async throws(DeskRefusal) { throw .busy }
    func setServer(_ address: String, of id: String) async throws(DeskRefusal) { throw .busy }
    func remove(_ id: String, discardingPending: Bool) async throws(DeskRefusal) { throw .busy }
    func setDrill(_ isOn: Bool) async -> NetworkStanding { network }
    func listen(
        after number: Int?,
        where isHeard: (MeshEvent) -> Bool,
        _ body: (AsyncStream<NumberedEvent>) async throws -> Void
    ) async throws {
        try await body(AsyncStream { $0.finish() })
    }
}
