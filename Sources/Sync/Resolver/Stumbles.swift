internal import System

/// Which of an account's changes have failed for what is most often the network's or the server's trouble,
/// and what upstream has taken since.
///
/// Whoever fails again although something else was taken in between has a trouble of its own. What only
/// this process knows is enough: after a restart there is no more than one failure too few.
final class Stumbles: Sendable {
    private struct State {
        /// How many writes upstream has taken.
        var taken = 0
        var failures: [String: Failure] = [:]
    }

    private struct Failure {
        /// How many writes had been taken when it failed last.
        var taken: Int
        var isItsOwn = false
    }

    enum Verdict {
        /// Nothing else has got through since it failed last, if it did.
        case open
        /// It was its own trouble before; whether it still is, nobody knows.
        case known
        /// Something else has got through.
        case proven
    }

    private let state = Lock(State())

    /// Upstream has taken a write.
    func took() { state.withLock { $0.taken += 1 } }

    /// Notes that it has failed.
    func failed(_ changeID: String) -> Verdict {
        state.withLock { state in
            var failure = state.failures[changeID] ?? Failure(taken: state.taken)
            defer { state.failures[changeID] = failure }
            let isProven = failure.taken < state.taken
            failure.taken = state.taken
            failure.isItsOwn = failure.isItsOwn || isProven
            return isProven ? .proven : failure.isItsOwn ? .known : .open
        }
    }

    /// Those that have failed.
    var changeIDs: Set<String> { state.withLock { Set($0.failures.keys) } }

    func forgetAll(but pending: Set<String>) {
        state.withLock { state in
            state.failures = state.failures.filter { pending.contains($0.key) }
        }
    }
}
