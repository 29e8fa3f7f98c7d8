import Synchronization

/// A number that only ever goes up: requests, edits, bytes sent.
///
/// Counting is one atomic addition, from any thread. What can also go down (a depth, a number of
/// accounts) is a ``Gauge``; what is asked "how long" or "how many at once" is a ``Histogram``.
public struct Counter: Sendable {
    let row: Row

    /// A negative amount stops the program: a counter that went down would read as a restart.
    public func increment(by amount: Int = 1) {
        row.words[0].wrappingAdd(UInt64(amount), ordering: .relaxed)
    }

    public var value: UInt64 { row.words[0].load(ordering: .relaxed) }
}
