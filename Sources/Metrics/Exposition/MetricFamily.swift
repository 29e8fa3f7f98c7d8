import System

/// A metric with all its series.
///
/// What never changes about their lines is written when somebody looks for the first time: a program
/// has thousands of them, and starts faster without.
final class MetricFamily: Sendable {
    typealias Making = @Sendable () -> [any Series]

    private struct State {
        var series: [any Series] = []
        var unmade: [Making] = []

        mutating func all() -> [any Series] {
            for make in unmade { series += make() }
            unmade = []
            return series
        }
    }

    let metric: Metric
    private let state = Lock(State())

    init(_ metric: Metric) {
        self.metric = metric
    }

    func add(_ making: @escaping Making) {
        state.withLock { $0.unmade.append(making) }
    }

    func write(to page: inout Page) {
        page.write(metric.head(in: page.format))
        for series in state.withLock({ $0.all() }) {
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
