/// How long things took: counted in steps of less than two parts in a hundred, whatever the size.
///
/// Sixty-four steps for every doubling, from a microsecond up; what took longer than an hour counts as
/// an hour. Histograms add up, which percentiles do not.
struct LatencyHistogram: Hashable, Sendable {
    private static let bits = 6
    private static let steps = 1 << bits
    private static let longest = 3_600_000_000

    private var counts: [Int] = []
    private(set) var count = 0
    private(set) var largest = Duration.zero
    private var sum = Duration.zero

    init() {}

    mutating func add(_ duration: Duration) {
        let index = Self.index(of: min(max(duration.microseconds, 0), Self.longest))
        if index >= counts.count {
            counts += repeatElement(0, count: index + 1 - counts.count)
        }
        counts[index] += 1
        count += 1
        sum += duration
        largest = max(largest, duration)
    }

    mutating func add(_ other: LatencyHistogram) {
        if other.counts.count > counts.count {
            counts += repeatElement(0, count: other.counts.count - counts.count)
        }
        for (index, count) in other.counts.enumerated() { counts[index] += count }
        count += other.count
        sum += other.sum
        largest = max(largest, other.largest)
    }

    /// What came after those; the largest is not known any more, so it stays.
    func removing(_ earlier: LatencyHistogram) -> LatencyHistogram {
        var rest = self
        for (index, count) in earlier.counts.enumerated() { rest.counts[index] -= count }
        rest.count -= earlier.count
        rest.sum -= earlier.sum
        return rest
    }

    var mean: Duration { count == 0 ? .zero : sum / count }

    /// A time that this share of all, from 0 to 1, did not exceed.
    func percentile(_ share: Double) -> Duration {
        guard count > 0 else { return .zero }
        let wanted = max(1, Int((share * Double(count)).rounded(.up)))
        var passed = 0
        for (index, count) in counts.enumerated() {
            passed += count
            if passed >= wanted {
                return min(.microseconds(Self.upperEdge(of: index)), largest)
            }
        }
        return largest
    }

    /// Below sixty-four each microsecond has a step of its own.
    private static func index(of value: Int) -> Int {
        let exponent = Int.bitWidth - value.leadingZeroBitCount - 1
        guard exponent >= bits else { return value }
        let shift = exponent - bits
        return (shift + 1) * steps + (value >> shift) - steps
    }

    private static func upperEdge(of index: Int) -> Int {
        let (doubling, step) = index.quotientAndRemainder(dividingBy: steps)
        guard doubling > 0 else { return step }
        return (step + steps + 1) << (doubling - 1) - 1
    }
}

extension Duration {
    var microseconds: Int {
        let (seconds, attoseconds) = components
        return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
    }

    public var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    public var milliseconds: Double { inSeconds * 1_000 }
}
