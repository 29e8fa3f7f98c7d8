import Synchronization
public import System

/// Serves HTTP/1.1 on any number of listeners, on one thread of its own.
///
/// Handlers run on that thread as well, and so do the plain actors they call. Whoever else waits for
/// such an actor may go on there too, up to its next wait: so what takes long (cryptography, a
/// database) belongs into an actor with an executor of its own, and nothing blocks.
///
/// ```swift
/// let server = try Server.start([Listener(name: "api", .tcp(address))], timekeeper: clock) { _ in
///     .text("Good day.")
/// }
/// …
/// await server.stop(within: .seconds(10))
/// ```
public final class Server: Sendable {
    /// With the addresses they really have.
    public let listeners: [OpenListener]
    let loop: ServerLoop

    /// Opens all listeners, or none, and begins to serve. The server serves until ``stop(within:)``,
    /// whether anybody holds it or not.
    ///
    /// - Parameter refused: Hears of every answer to somebody whom no handler has seen, on the server's thread.
    public static func start(
        _ listeners: [Listener],
        limits: Limits = Limits(),
        timekeeper: any Timekeeper = SystemTimekeeper(),
        refused: @escaping @Sendable (Status) -> Void = { _ in },
        handler: @escaping Handler
    ) throws(ServerError) -> Server {
        let sockets = try open(listeners)
        do {
            let loop = try ServerLoop(
                sockets: sockets,
                limits: limits,
                timekeeper: timekeeper,
                refused: refused,
                handler: handler
            )
            try Thread.attempt(name: "http") { loop.run() }
            return Server(listeners: sockets.map(\.listener), loop: loop)
        } catch {
            for socket in sockets { socket.close() }
            throw .unusable(reason: error.description)
        }
    }

    private init(listeners: [OpenListener], loop: ServerLoop) {
        self.listeners = listeners
        self.loop = loop
    }

    private static func open(_ listeners: [Listener]) throws(ServerError) -> [ListeningSocket] {
        var sockets: [ListeningSocket] = []
        for listener in listeners {
            do {
                sockets.append(try ListeningSocket(listener))
            } catch {
                for socket in sockets { socket.close() }
                throw error
            }
        }
        return sockets
    }

    /// Lets nobody in any more, lets what is under way finish within `time`, then cuts the rest and
    /// cancels its handlers. Returns when all connections are closed and the handlers have ended;
    /// handlers that do not heed their cancellation are waited for a second and then reported.
    @discardableResult
    public func stop(within time: Duration) async -> DrainReport {
        await loop.stop(within: time)
    }

    /// Connections that are open at this moment.
    public var connections: Int { loop.census.connections.load(ordering: .relaxed) }

    /// Requests that are being read, handled or answered at this moment.
    public var exchanges: Int { loop.census.exchanges.load(ordering: .relaxed) }
}

extension Peer {
    init?(of descriptor: Int32, _ kind: Door.Kind) {
        switch kind {
        case .memory: return nil
        case .tcp:
            guard let address = try? SocketAddress(of: descriptor, isPeer: true) else { return nil }
            self = .tcp(address)
        case .unix:
            guard let credentials = Credentials(of: descriptor) else { return nil }
            self = .unix(credentials)
        }
    }
}
