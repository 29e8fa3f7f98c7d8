import Synchronization

/// How a quantity is spread: how long commits take, how many rows they have.
///
/// The sum is kept as a whole number of the quantity's ticks (nanoseconds for a duration) and not
/// as a floating-point number: one addition that never has to be repeated when two threads meet,
/// and none that is too small to move a large sum.
public struct Histogram<Amount: Quantity>: Sendable {
    let row: Row
    /// The upper bounds in ticks, ascending; a value that equals a bound belongs below it.
    let bounds: [UInt64]

    /// A negative amount (a clock that was set back) counts as 0.
    public func observe(_ amount: Amount) {
        let ticks = amount.ticks
        var index = 0
        while index < bounds.count, ticks > bounds[index] { index += 1 }
        row.words[1 + index].wrappingAdd(1, ordering: .relaxed)
        // Last and releasing, so that whoever reads the sum finds the observation in its bucket.
        row.words[0].wrappingAdd(ticks, ordering: .releasing)
    }

    /// What has been observed so far.
    ///
    /// The count is the sum of the buckets, so the two never disagree. Of an observation that
    /// another thread is just making, the bucket may be there and the sum not yet.
    public var snapshot: HistogramSnapshot {
        let sum = row.words[0].load(ordering: .acquiring)
        let buckets = (0...bounds.count).map { row.words[1 + $0].load(ordering: .relaxed) }
        return HistogramSnapshot(buckets: buckets, ticks: sum)
    }
}

public struct HistogramSnapshot: Equatable, Sendable {
    /// How many fell into each bucket, the last being what exceeds all bounds.
    public let buckets: [UInt64]
    /// The sum of all that was observed, in ticks of the quantity.
    public let ticks: UInt64

    public var count: UInt64 { buckets.reduce(0, +) }
}
