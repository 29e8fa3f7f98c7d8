public import HTTP
import System

/// The network that there is, by the authorities that are trusted now.
///
/// Whoever has a connection keeps it when they are read anew, and whoever comes then gets one by the new ones.
public final class TrustingNetwork: Network {
    private struct Way {
        let path: String?
        let authorities: [UInt8]?
        let client: Client
        let sockets: WebSocketClient
    }

    private struct NoAuthorities: Error, CustomStringConvertible {
        let path: String

        var description: String { "No PEM certificate can be read from \(path)." }
    }

    /// There for as long as somebody is on it.
    private struct FormerWay {
        weak var client: Client?
        weak var sockets: WebSocketClient?

        var isOver: Bool { client == nil && sockets == nil }
    }

    private struct State {
        var present: Way
        var former: [FormerWay] = []
    }

    private let requests: Client.Configuration
    private let lines: WebSocketClient.Configuration
    private let state: Lock<State>

    /// - Parameter path: Of a file with authorities that are trusted besides the system's.
    public init(
        requests: Client.Configuration,
        lines: WebSocketClient.Configuration,
        trusting path: String?
    ) throws {
        (self.requests, self.lines) = (requests, lines)
        state = Lock(State(present: try Self.way(requests, lines, path, path.map(Files.read))))
    }

    private static func way(
        _ requests: Client.Configuration,
        _ lines: WebSocketClient.Configuration,
        _ path: String?,
        _ authorities: [UInt8]?
    ) throws -> Way {
        if let path, !Client.canTrust(authoritiesAt: path) { throw NoAuthorities(path: path) }
        var (requests, lines) = (requests, lines)
        (requests.extraAuthoritiesPath, lines.extraAuthoritiesPath) = (path, path)
        return Way(
            path: path,
            authorities: authorities,
            client: try Client(configuration: requests),
            sockets: try WebSocketClient(configuration: lines)
        )
    }

    /// Reads anew who is trusted; if that cannot be read, it stays as it was.
    ///
    /// - Returns: Whether it is somebody else than before.
    public func trust(_ path: String?) throws -> Bool {
        let authorities = try path.map(Files.read)
        let known = state.withLock { $0.present }
        guard known.path != path || known.authorities != authorities else { return false }
        let next = try Self.way(requests, lines, path, authorities)
        state.withLock { state in
            let former = FormerWay(client: state.present.client, sockets: state.present.sockets)
            state.former = state.former.filter { !$0.isOver } + [former]
            state.present = next
        }
        return true
    }

    public var client: Client { state.withLock { $0.present.client } }

    private var present: RealNetwork {
        let way = state.withLock { $0.present }
        return RealNetwork(client: way.client, sockets: way.sockets)
    }

    public func send(_ request: Client.Request) async throws(NetworkFailure) -> NetworkAnswer {
        try await present.send(request)
    }

    public func open(_ request: Client.Request) async throws(NetworkFailure) -> StreamedAnswer {
        try await present.open(request)
    }

    public func openLine(
        _ url: String,
        headers: Headers
    ) async throws(NetworkFailure) -> any HubLine {
        try await present.openLine(url, headers: headers)
    }

    /// Ends all that is under way. May be asked for again.
    public func close() async {
        let (present, former) = state.withLock { ($0.present, $0.former) }
        for client in [present.client] + former.compactMap(\.client) { await client.close() }
        for sockets in [present.sockets] + former.compactMap(\.sockets) { await sockets.close() }
    }
}
