import System

/// Holds everybody back while the host is being started again.
final class Barrier: Sendable {
    private enum State {
        case open, closed
        /// There is nothing behind it any more.
        case givenUp
    }

    private let state = Lock(State.open)
    private let timekeeper: any Timekeeper

    init(_ timekeeper: any Timekeeper) {
        self.timekeeper = timekeeper
    }

    var isClosed: Bool { state.withLock { $0 == .closed } }
    func close() { state.withLock { $0 = .closed } }
    func open() { state.withLock { $0 = .open } }

    /// The host does not come up again: whoever waits for it need not.
    func giveUp() { state.withLock { $0 = .givenUp } }

    func pass() async throws(CancellationError) {
        while isClosed { try await timekeeper.sleep(for: .milliseconds(20)) }
        if state.withLock({ $0 == .givenUp }) { throw CancellationError() }
    }
}
