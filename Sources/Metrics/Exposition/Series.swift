import Synchronization

/// What can write its own lines onto a page.
protocol Series: Sendable {
    func write(to page: inout Page)
}

/// All that never changes about a line: name and labels, and the blank before the number.
struct LineStart: Sendable {
    let bytes: [UInt8]

    init(_ name: String, _ labels: [(name: String, value: String)]) {
        var text = name
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.name)=\"\(Escape.labelValue($0.value))\"" }
            text += "{" + pairs.joined(separator: ",") + "}"
        }
        bytes = Array((text + " ").utf8)
    }
}

/// The line that tells OpenMetrics since when there has been such a series.
struct CreatedLine: Sendable {
    private let bytes: [UInt8]

    init(_ metric: Metric, _ labels: [(name: String, value: String)], since seconds: Double) {
        var page = Page(.openMetrics)
        page.write(LineStart(metric.familyName + "_created", labels).bytes)
        page.write(seconds)
        page.endLine()
        bytes = page.bytes
    }

    func write(to page: inout Page) {
        if page.format == .openMetrics { page.write(bytes) }
    }
}

struct CounterSeries: Series {
    let row: Row
    let start: LineStart
    let created: CreatedLine

    func write(to page: inout Page) {
        page.write(start.bytes)
        page.write(row.words[0].load(ordering: .relaxed))
        page.endLine()
        created.write(to: &page)
    }
}

struct GaugeSeries: Series {
    let row: Row
    let start: LineStart

    func write(to page: inout Page) {
        page.write(start.bytes)
        page.write(Double(bitPattern: row.words[0].load(ordering: .relaxed)))
        page.endLine()
    }
}

/// A figure that lives elsewhere and is asked for when somebody scrapes.
struct ReadingSeries: Series {
    let start: LineStart
    /// Only a counter has one. What a counter cannot be (negative, or not a number) is not written.
    let created: CreatedLine?
    let read: @Sendable () -> Double?

    private var isCounter: Bool { created != nil }

    func write(to page: inout Page) {
        guard let value = read(), isCounter ? value >= 0 : true else { return }
        page.write(start.bytes)
        page.write(value)
        page.endLine()
        created?.write(to: &page)
    }
}

struct HistogramSeries<Amount: Quantity>: Series {
    private let histogram: Histogram<Amount>
    private let bucketStarts: [LineStart]
    private let sumStart: LineStart
    private let countStart: LineStart
    private let created: CreatedLine

    init(
        _ histogram: Histogram<Amount>,
        _ metric: Metric,
        _ labels: [(name: String, value: String)],
        created: CreatedLine
    ) {
        self.histogram = histogram
        self.created = created
        let bounds = histogram.bounds.map(Self.text) + ["+Inf"]
        bucketStarts = bounds.map { LineStart(metric.name + "_bucket", labels + [("le", $0)]) }
        sumStart = LineStart(metric.name + "_sum", labels)
        countStart = LineStart(metric.name + "_count", labels)
    }

    /// Always with a point, as OpenMetrics wants it: the same in both formats, because for
    /// Prometheus `1` and `1.0` would be two series.
    private static func text(of bound: UInt64) -> String {
        var page = Page(.openMetrics)
        page.write(ticks: bound, per: Amount.ticksPerUnit)
        let text = String(decoding: page.bytes, as: UTF8.self)
        return text.contains(".") ? text : text + ".0"
    }

    func write(to page: inout Page) {
        let snapshot = histogram.snapshot
        var count: UInt64 = 0
        for (start, bucket) in zip(bucketStarts, snapshot.buckets) {
            count += bucket
            page.write(start.bytes)
            page.write(count)
            page.endLine()
        }
        page.write(sumStart.bytes)
        page.write(ticks: snapshot.ticks, per: Amount.ticksPerUnit)
        page.endLine()
        page.write(countStart.bytes)
        page.write(count)
        page.endLine()
        created.write(to: &page)
    }
}
