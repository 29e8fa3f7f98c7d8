internal import System

/// Whose turn it is, of all the runs of accounts on one server.
///
/// So many have their turn at once, and the others wait for theirs in the order in which they came:
/// when the server is back, thousands want to, and each holds what upstream said in memory. One that is
/// alone may try more side by side than one of many, whose changes would only wait for a place.
public final class RunTurns: Sendable {
    static let fewestWorkers = 4
    /// What all runs together get, as long as each has the fewest. Upstream is asked a few more things at
    /// once, so somebody who waits for an answer has a place.
    private static let workersOfAll = 48
    static let mostAtOnce = 64

    /// What a run has while it is under way.
    enum Place: Sendable {
        /// Of those that are counted.
        case counted
        /// Somebody waits for it, so it takes nobody's.
        case extra
    }

    private typealias Turn = CheckedContinuation<Place, Never>

    private struct State {
        var count = 0
        /// By the number of their coming.
        var waiting: [Int: (account: String, turn: Turn)] = [:]
        var numbers: [String: Int] = [:]
        var first = 0
        var next = 0
        /// How many runs bring changes upstream.
        var sharing = 0

        mutating func wait(_ account: String, _ turn: Turn) {
            waiting[next] = (account, turn)
            numbers[account] = next
            next += 1
        }

        /// Who comes next, if there is a place.
        mutating func pass() -> Turn? {
            while count < RunTurns.mostAtOnce, first < next {
                defer { first += 1 }
                guard let turn = remove(first) else { continue }
                count += 1
                return turn
            }
            return nil
        }

        mutating func remove(_ number: Int) -> Turn? {
            guard let (account, turn) = waiting.removeValue(forKey: number) else { return nil }
            // Whoever has left the host and come back may stand in line twice.
            if numbers[account] == number { numbers[account] = nil }
            return turn
        }
    }

    private let state = Lock(State())

    public init() {}

    /// Comes back when the account's run has its turn. Somebody waits for one that is insistent, so that
    /// does not.
    ///
    /// Whoever is cancelled meanwhile gets their turn all the same, and finds out themselves.
    func begin(_ account: String, isInsistent: @autoclosure () -> Bool) async -> Place {
        if isInsistent() { return .extra }
        return await withCheckedContinuation { turn in
            let place: Place? = state.withLock { state in
                guard state.count < Self.mostAtOnce else {
                    state.wait(account, turn)
                    return nil
                }
                state.count += 1
                return .counted
            }
            if let place { return turn.resume(returning: place) }
            // Whoever insists from now on finds it in line. Not asked under the lock, which is everybody's.
            if isInsistent() { hurry(account) }
        }
    }

    /// The account's run waits no more: somebody waits for it, or it is to end.
    ///
    /// - Returns: Whether it stood in line.
    @discardableResult
    func hurry(_ account: String) -> Bool {
        let turn = state.withLock { state in
            state.numbers[account].flatMap { state.remove($0) }
        }
        turn?.resume(returning: .extra)
        return turn != nil
    }

    func end(_ place: Place) {
        guard place == .counted else { return }
        let turn = state.withLock { state in
            state.count -= 1
            return state.pass()
        }
        turn?.resume(returning: .counted)
    }

    // MARK: Workers

    /// A run begins to bring changes upstream, until it leaves.
    func join() { state.withLock { $0.sharing += 1 } }

    func leave() { state.withLock { $0.sharing -= 1 } }

    /// So many changes a run tries side by side.
    var workers: Int {
        let share = Self.workersOfAll / max(state.withLock(\.sharing), 1)
        return max(share, Self.fewestWorkers)
    }
}
