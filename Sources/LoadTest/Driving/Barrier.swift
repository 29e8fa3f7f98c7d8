import System

/// Holds everybody back while the host is being started again.
final class Barrier: Sendable {
    private let isOpen = Lock(true)
    private let timekeeper: any Timekeeper

    init(_ timekeeper: any Timekeeper) {
        self.timekeeper = timekeeper
    }

    var isClosed: Bool { isOpen.withLock { !$0 } }
    func close() { isOpen.withLock { $0 = false } }
    func open() { isOpen.withLock { $0 = true } }

    func pass() async throws(CancellationError) {
        while isClosed { try await timekeeper.sleep(for: .milliseconds(20)) }
    }
}
