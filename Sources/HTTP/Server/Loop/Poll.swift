import CSystem
import Glibc
import System

/// The set of descriptors that the loop sleeps on.
// @unchecked because only the loop's thread waits, and the kernel takes changes from anywhere.
final class Poll: @unchecked Sendable {
    struct Event {
        let token: UInt64
        fileprivate let flags: UInt32

        /// Both directions are closed, or the connection was reset.
        var hasHungUp: Bool { flags & UInt32(CS_HANGUP | CS_ERROR) != 0 }
    }

    private let descriptor: Int32
    private var buffer = [cs_event](repeating: cs_event(), count: 128)

    init() throws(SystemError) {
        descriptor = try system("epoll") { cs_epoll() }
    }

    func watch(_ watched: Int32, _ events: Int, as token: UInt64) {
        cs_epoll_watch(descriptor, watched, UInt32(events), token)
    }

    /// Tells when the other end closes its sending side and when it is gone, once each.
    func watchDeparture(_ watched: Int32, as token: UInt64) {
        cs_epoll_watch_departure(descriptor, watched, token)
    }

    func forget(_ watched: Int32) {
        cs_epoll_forget(descriptor, watched)
    }

    func wait(atMost milliseconds: Int32) -> [Event] {
        let count = cs_epoll_wait(descriptor, &buffer, Int32(buffer.count), milliseconds)
        return buffer.prefix(Int(max(0, count))).map { Event(token: $0.token, flags: $0.events) }
    }

    deinit { close(descriptor) }
}
