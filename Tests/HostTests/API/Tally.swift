import System

/// Adds up what several threads tell.
final class Tally: Sendable {
    private let total = Lock(0)

    var sum: Int { total.withLock(\.self) }

    func add(_ number: Int) { total.withLock { $0 += number } }
}
