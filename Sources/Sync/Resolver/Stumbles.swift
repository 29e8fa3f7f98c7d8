internal import System

/// Which of an account's changes have failed for what is most often the network's or the server's trouble,
/// how often each of them has waited by itself for that, and whether upstream has taken anything since. The next process
/// begins anew.
final class Stumbles: Sendable {
    private struct Stumble {
        var waits: Int64 = 0
        /// How many calls that change something upstream had taken when this failed last.
        var taken: Int64
    }

    private struct State {
        var taken: Int64 = 0
        var stumbles: [String: Stumble] = [:]
    }

    private let state = Lock(State())

    var changeIDs: Set<String> { state.withLock { Set($0.stumbles.keys) } }

    func add(_ changeID: String) {
        state.withLock { state in
            state.stumbles[changeID, default: Stumble(taken: 0)].taken = state.taken
        }
    }

    func noteTaken() { state.withLock { $0.taken += 1 } }

    /// Whether upstream has taken something since that failed last. To be asked when it fails again.
    func sawAnythingTaken(since changeID: String) -> Bool {
        state.withLock { state in
            let before = state.stumbles[changeID]?.taken ?? state.taken
            state.stumbles[changeID, default: Stumble(taken: before)].taken = state.taken
            return before < state.taken
        }
    }

    /// Counts one more wait.
    ///
    /// - Returns: Which it is, from 1 on.
    func countWait(of changeID: String) -> Int64 {
        state.withLock { state in
            state.stumbles[changeID, default: Stumble(taken: state.taken)].waits += 1
            return state.stumbles[changeID]?.waits ?? 1
        }
    }

    func forgetAll(but pending: Set<String>) {
        state.withLock { state in
            state.stumbles = state.stumbles.filter { pending.contains($0.key) }
        }
    }
}
