public import FoundationEssentials
import Synchronization

/// A number that goes up and down.
///
/// Of an event in time a gauge keeps the moment, never the age: an age stands still together with
/// the program that should have counted it up.
public struct Gauge: Sendable {
    let row: Row

    public func set(_ value: Double) {
        row.words[0].store(value.bitPattern, ordering: .relaxed)
    }

    public func set(_ value: Int) {
        set(Double(value))
    }

    /// For the metrics that end in `_timestamp_seconds`.
    public func set(_ moment: Date) {
        set(moment.timeIntervalSince1970)
    }

    public func add(_ amount: Double) {
        var current = row.words[0].load(ordering: .relaxed)
        while true {
            let sum = Double(bitPattern: current) + amount
            let (isExchanged, found) = row.words[0].weakCompareExchange(
                expected: current,
                desired: sum.bitPattern,
                ordering: .relaxed
            )
            if isExchanged { return }
            current = found
        }
    }

    public func increment() { add(1) }
    public func decrement() { add(-1) }

    public var value: Double { Double(bitPattern: row.words[0].load(ordering: .relaxed)) }
}
