import CSystem
import Glibc
import System

/// Gets the loop out of its sleep. It stays whole for as long as anybody may ring it.
final class Bell: Sendable {
    let descriptor: Int32

    init() throws(SystemError) {
        descriptor = try system("eventfd") { cs_eventfd() }
    }

    func ring() { cs_eventfd_signal(descriptor) }
    func quieten() { cs_eventfd_clear(descriptor) }

    deinit { close(descriptor) }
}
