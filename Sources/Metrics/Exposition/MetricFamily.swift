import System

/// A metric with all its series.
final class MetricFamily: Sendable {
    let metric: Metric
    private let prometheusHead: [UInt8]
    private let openMetricsHead: [UInt8]
    private let series = Lock<[any Series]>([])

    init(_ metric: Metric) {
        self.metric = metric
        prometheusHead = Array(metric.head(in: .prometheus).utf8)
        openMetricsHead = Array(metric.head(in: .openMetrics).utf8)
    }

    func add(_ new: [any Series]) {
        series.withLock { $0 += new }
    }

    func write(to page: inout Page) {
        page.write(page.format == .openMetrics ? openMetricsHead : prometheusHead)
        for series in series.withLock({ $0 }) {
            series.write(to: &page)
        }
    }
}

extension Metric {
    fileprivate func head(in format: ExpositionFormat) -> String {
        let name = format == .openMetrics ? familyName : name
        var head = "# HELP \(name) \(Escape.help(help, in: format))\n"
        head += "# TYPE \(name) \(kind.rawValue)\n"
        if format == .openMetrics, let unit { head += "# UNIT \(name) \(unit.rawValue)\n" }
        return head
    }
}
