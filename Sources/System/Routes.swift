import CSystem
import Glibc

/// Tells when a link of this machine, or a way from it to elsewhere, has changed.
///
/// The kernel says so itself (netlink), so nobody has to look. What has changed is not told: whoever
/// wants to know tries the way.
public final class Routes: Sendable {
    /// One for each time that something changed; several that nobody has read yet are one.
    public let changes: AsyncStream<Void>

    private let wake: Int32
    private let thread: Thread.Handle
    private let continuation: AsyncStream<Void>.Continuation

    /// - Throws: Where the system does not let this process listen. Then only traffic and probes tell.
    public init() throws(SystemError) {
        let socket = try system("socket NETLINK_ROUTE") { cs_route_watch() }
        let wake: Int32
        let epoll: Int32
        do throws(SystemError) {
            wake = try system("eventfd") { cs_eventfd() }
        } catch {
            Glibc.close(socket)
            throw error
        }
        do throws(SystemError) {
            epoll = try system("epoll_create1") { cs_epoll() }
        } catch {
            for descriptor in [socket, wake] { Glibc.close(descriptor) }
            throw error
        }
        let (changes, continuation) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let loop = Loop(epoll: epoll, socket: socket, wake: wake)
        do throws(SystemError) {
            try loop.watch()
            thread = try Thread.attempt(name: "routes") { loop.run(continuation) }
        } catch {
            loop.close()
            throw error
        }
        (self.changes, self.continuation, self.wake) = (changes, continuation, wake)
    }

    /// The stream ends. Whoever does not read it to its end still lets go of everything here.
    deinit {
        cs_eventfd_signal(wake)
        thread.join()
        continuation.finish()
        Glibc.close(wake)
    }
}

/// What the thread does.
private struct Loop: Sendable {
    private static let (change, end): (UInt64, UInt64) = (1, 2)

    let epoll: Int32
    let socket: Int32
    let wake: Int32

    func watch() throws(SystemError) {
        let readable = UInt32(CS_READABLE)
        _ = try system("epoll_ctl") { cs_epoll_watch(epoll, socket, readable, Self.change) }
        _ = try system("epoll_ctl") { cs_epoll_watch(epoll, wake, readable, Self.end) }
    }

    func run(_ continuation: AsyncStream<Void>.Continuation) {
        defer {
            for descriptor in [epoll, socket] { Glibc.close(descriptor) }
            continuation.finish()
        }
        var event = cs_event()
        while true {
            guard cs_epoll_wait(epoll, &event, 1, -1) >= 0, event.token != Self.end else { return }
            guard event.token == Self.change else { continue }
            let outcome = cs_route_read(socket)
            if outcome < 0 { return }
            if outcome > 0 { continuation.yield() }
            event = cs_event()
        }
    }

    func close() {
        for descriptor in [epoll, socket, wake] { Glibc.close(descriptor) }
    }
}
