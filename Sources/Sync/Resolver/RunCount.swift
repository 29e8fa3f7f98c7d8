internal import System

/// How many runs are under way in a host: one that is alone may try more side by side than one of many,
/// whose changes would only wait in memory for a place.
final class RunCount: Sendable {
    static let fewestLanes = 4
    private static let mostLanes = 16
    /// What all runs together get, as long as each has the fewest.
    private static let lanesOfAll = 64

    private let count = Lock(0)

    func begin() { count.withLock { $0 += 1 } }
    func end() { count.withLock { $0 -= 1 } }

    /// So many changes a run tries side by side.
    var lanes: Int {
        let share = Self.lanesOfAll / max(count.withLock(\.self), 1)
        return min(max(share, Self.fewestLanes), Self.mostLanes)
    }
}
