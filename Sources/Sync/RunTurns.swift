internal import System

/// Whose turn it is, of all the runs of a host.
///
/// So many have their turn at once, and the others wait for theirs in the order in which they came:
/// when the server is back, thousands want to, and each holds what upstream said in memory. One that is
/// alone may try more side by side than one of many, whose changes would only wait for a place.
final class RunTurns: Sendable {
    static let fewestLanes = 4
    /// What all runs together get, as long as each has the fewest. Upstream is asked a few more things at
    /// once, so somebody who waits for an answer has a place.
    private static let lanesOfAll = 48
    static let mostAtOnce = 64

    private typealias Turn = CheckedContinuation<Void, Never>

    private struct State {
        var count = 0
        /// By the number of their coming.
        var waiting: [Int: Turn] = [:]
        var first = 0
        var next = 0

        mutating func wait(_ turn: Turn) -> Bool {
            if count < RunTurns.mostAtOnce { return false }
            waiting[next] = turn
            next += 1
            return true
        }

        mutating func pass() -> Turn? {
            if count < RunTurns.mostAtOnce, let turn = waiting.removeValue(forKey: first) {
                first += 1
                count += 1
                return turn
            }
            return nil
        }
    }

    private let state = Lock(State())

    /// Comes back when the run has its turn. Somebody waits for one that is insistent, so that does not.
    ///
    /// Who is cancelled meanwhile gets their turn all the same, and finds out themselves.
    func begin(isInsistent: Bool) async {
        if isInsistent { return state.withLock { $0.count += 1 } }
        await withCheckedContinuation { turn in
            let isIn = state.withLock { state in
                if state.wait(turn) { return false }
                state.count += 1
                return true
            }
            if isIn { turn.resume() }
        }
    }

    func end() {
        let turn = state.withLock { state in
            state.count -= 1
            return state.pass()
        }
        turn?.resume()
    }

    /// So many changes a run tries side by side.
    var lanes: Int {
        let share = Self.lanesOfAll / max(state.withLock(\.count), 1)
        return max(share, Self.fewestLanes)
    }
}
