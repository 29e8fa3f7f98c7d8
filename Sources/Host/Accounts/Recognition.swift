import Sync
import System
import Vault

/// Since when upstream is known to have the account as it is known here.
///
/// The hub tells of new keys. While nobody listens to it, only what is asked after somebody wanted to know
/// says anything.
final class Recognition: Sendable {
    /// What is found out is true of the moment at which it was asked.
    struct Question {
        let asked: Duration
        fileprivate let doubts: Int
    }

    private struct State {
        var last: Duration?
        var doubts = 0
        var isListening = false
        var failure: (setback: Setback, ended: Duration)?
    }

    /// For so long the hub is relied on.
    static let interval = Duration.seconds(300)
    static let deadline = Duration.seconds(5)

    private let state = Lock(State())
    private let turn = Lanes()

    /// Whether it need not be asked for whoever has come at that moment.
    func isKnown(to arrival: Duration, at now: Duration) -> Bool {
        state.withLock { state in
            guard let last = state.last else { return false }
            return last >= arrival || (state.isListening && now - last < Self.interval)
        }
    }

    /// One at a time: of those who wait meanwhile, whoever came before the next is asked need not ask. Whoever is
    /// waited for does not stand behind one that has time.
    func inTurn<Answer: Sendable>(
        _ urgency: Urgency,
        _ look: () async throws(Setback) -> Answer
    ) async throws(Setback) -> Answer {
        let line = urgency == .patient ? "patient" : "waitedFor"
        return try await turn.hold(line) { () async throws(Setback) in try await look() }
    }

    /// What somebody has met who asked after that moment, or was about to.
    func failure(since arrival: Duration) -> Setback? {
        state.withLock { state in
            state.failure.flatMap { $0.ended >= arrival ? $0.setback : nil }
        }
    }

    /// Whoever gave up has met nothing, and the next in line asks.
    func fail(_ setback: Setback, at now: Duration) {
        guard setback.reason != .cancelled else { return }
        state.withLock { $0.failure = (setback, now) }
    }

    func question(at now: Duration) -> Question {
        state.withLock { Question(asked: now, doubts: $0.doubts) }
    }

    /// - Parameter question: One that was asked before the last doubt answers nothing.
    func confirm(_ question: Question) {
        state.withLock { state in
            guard state.doubts == question.doubts else { return }
            state.last = max(state.last ?? question.asked, question.asked)
        }
    }

    func doubt() {
        state.withLock { state in
            state.last = nil
            state.doubts += 1
        }
    }

    func listens(_ isListening: Bool) { state.withLock { $0.isListening = isListening } }
}
