import HTTP
import System

/// The door at which clients come in. It can be closed and opened again at the same address.
final class Entrance: Sendable {
    let address: SocketAddress
    private let server: Lock<Server?>
    private let time: any Timekeeper
    private let handler: Handler

    init(
        _ wish: SocketAddress,
        time: any Timekeeper,
        handler: @escaping Handler
    ) throws(ServerError) {
        let server = try Self.start(wish, time, handler)
        guard case .tcp(let address)? = server.listeners.first?.address else {
            throw .unusable(reason: "it listens at no address")
        }
        self.address = address
        self.server = Lock(server)
        self.time = time
        self.handler = handler
    }

    func close(within duration: Duration) async {
        let server = server.withLock { $0.take() }
        await server?.stop(within: duration)
    }

    func open() throws(ServerError) {
        guard server.withLock({ $0 == nil }) else { return }
        let opened = try Self.start(address, time, handler)
        server.withLock { $0 = opened }
    }

    private static func start(
        _ address: SocketAddress,
        _ time: any Timekeeper,
        _ handler: @escaping Handler
    ) throws(ServerError) -> Server {
        var limits = Limits()
        limits.body = Front.bodyLimit
        limits.connections = 8_192
        let listener = Listener(name: "upstream", .tcp(address))
        return try Server.start([listener], limits: limits, timekeeper: time, handler: handler)
    }
}
