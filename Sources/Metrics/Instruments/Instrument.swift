/// A metric and what its series are made of: what is handed to ``Registry`` to be registered.
public struct Instrument<Member: Sendable>: Sendable {
    typealias Labels = [(name: String, value: String)]

    var metric: Metric
    /// How many numbers a series has.
    let width: Int
    let make: @Sendable (Row) -> Member
    let show: @Sendable (Row, Metric, Labels, CreatedLine) -> any Series
    /// What the metric's own rules do not cover.
    let check: @Sendable (Metric) throws(Refusal) -> Void
}

extension Instrument<Counter> {
    public static func counter(_ name: String, _ help: String) -> Instrument {
        Instrument(metric: Metric(.counter, name, help), width: 1) { row in
            Counter(row: row)
        } show: { row, metric, labels, created in
            CounterSeries(row: row, start: LineStart(metric.name, labels), created: created)
        } check: { (_) throws(Refusal) in
        }
    }
}

extension Instrument<Gauge> {
    public static func gauge(_ name: String, _ help: String) -> Instrument {
        Instrument(metric: Metric(.gauge, name, help), width: 1) { row in
            Gauge(row: row)
        } show: { row, metric, labels, _ in
            GaugeSeries(row: row, start: LineStart(metric.name, labels))
        } check: { (_) throws(Refusal) in
        }
    }
}

extension Instrument<Histogram<Duration>> {
    /// - Parameter bounds: The upper bounds of the buckets, above 0 and ascending; what exceeds
    ///   the last has a bucket of its own.
    public static func histogram(
        _ name: String,
        _ help: String,
        bounds: [Duration]
    ) -> Instrument {
        spread(over: bounds, Metric(.histogram, name, help))
    }
}

extension Instrument<Histogram<Int>> {
    /// - Parameter bounds: The upper bounds of the buckets, above 0 and ascending; what exceeds
    ///   the last has a bucket of its own.
    public static func histogram(_ name: String, _ help: String, bounds: [Int]) -> Instrument {
        spread(over: bounds, Metric(.histogram, name, help))
    }
}

extension Instrument {
    private static func spread<Amount>(
        over bounds: [Amount],
        _ metric: Metric
    ) -> Instrument where Member == Histogram<Amount> {
        let ticks = bounds.map(\.ticks)
        return Instrument(metric: metric, width: ticks.count + 2) { row in
            Histogram<Amount>(row: row, bounds: ticks)
        } show: { row, metric, labels, created in
            let histogram = Histogram<Amount>(row: row, bounds: ticks)
            return HistogramSeries(histogram, metric, labels, created: created)
        } check: { (metric) throws(Refusal) in
            try Amount.check(unitOf: metric)
            guard ticks.first ?? 0 > 0, zip(ticks, ticks.dropFirst()).allSatisfy(<) else {
                throw .bounds(metric.name)
            }
        }
    }
}

extension Quantity {
    /// A metric in seconds is observed in durations, and durations are in seconds.
    fileprivate static func check(unitOf metric: Metric) throws(Refusal) {
        if let unit, unit != metric.unit { throw .unitMissing(metric.name, unit: unit) }
        if unit == nil, metric.unit == .seconds {
            throw .unitMisplaced(metric.name, unit: .seconds)
        }
    }
}

/// What is one number, so that it can also be kept elsewhere and read when somebody scrapes.
public protocol Figure: Sendable {}

extension Counter: Figure {}
extension Gauge: Figure {}
