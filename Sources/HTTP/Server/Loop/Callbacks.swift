import CMicrohttpd

/// What the library calls. Static members, because closure literals written in isolated code would
/// inherit that isolation and trap.
///
/// The loop lives as long as its thread, the library's calls happen on it. A connection and an
/// exchange are held by what is handed to the library, until it says that they are over.
enum Callbacks {
    static let all = cm_callbacks(
        opened: opened,
        closed: closed,
        targeted: targeted,
        called: called,
        completed: completed,
        upgraded: upgraded
    )

    private static let opened:
        @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, Int32)
            -> UnsafeMutableRawPointer? = { server, handle, descriptor in
                guard let loop = loop(server), let handle else { return nil }
                return Unmanaged.passRetained(loop.opened(handle, descriptor)).toOpaque()
            }

    private static let closed:
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = {
            server,
            connection in
            guard let loop = loop(server), let connection else { return }
            loop.closed(Unmanaged<Connection>.fromOpaque(connection).takeRetainedValue())
        }

    private static let targeted:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int
        ) -> UnsafeMutableRawPointer? = { server, connection, target, length in
            guard let loop = loop(server), let connection else { return nil }
            let bytes = UnsafeRawBufferPointer(start: target, count: length)
            let exchange = loop.targeted(
                Unmanaged<Connection>.fromOpaque(connection).takeUnretainedValue(),
                Array(bytes)
            )
            return Unmanaged.passRetained(exchange).toOpaque()
        }

    private static let called:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, OpaquePointer?,
            UnsafePointer<CChar>?, UnsafeMutablePointer<Int>?
        ) -> Int32 = { server, exchange, handle, bytes, count in
            guard let loop = loop(server), let exchange, let handle, let count else { return 0 }
            loop.calls &+= 1
            let piece = UnsafeRawBufferPointer(start: bytes, count: count.pointee)
            count.pointee = 0
            let exchangeObject = Unmanaged<Exchange>.fromOpaque(exchange).takeUnretainedValue()
            exchangeObject.connection.lastCall = loop.now
            return exchangeObject.called(handle, piece) ? 1 : 0
        }

    private static let completed:
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int32) -> Void = {
            server,
            exchange,
            isDelivered in
            guard let loop = loop(server), let exchange else { return }
            let over = Unmanaged<Exchange>.fromOpaque(exchange).takeRetainedValue()
            loop.completed(over, isDelivered: isDelivered != 0)
        }

    private static let upgraded:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int,
            OpaquePointer?
        ) -> Void = { server, exchange, bytes, count, line in
            guard let loop = loop(server), let exchange, let line else { return }
            let received = Array(UnsafeRawBufferPointer(start: bytes, count: count))
            let exchangeObject = Unmanaged<Exchange>.fromOpaque(exchange).takeUnretainedValue()
            loop.upgraded(exchangeObject, line, received)
        }

    private static func loop(_ server: UnsafeMutableRawPointer?) -> ServerLoop? {
        server.map { Unmanaged<ServerLoop>.fromOpaque($0).takeUnretainedValue() }
    }
}
