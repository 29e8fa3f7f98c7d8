public import Metrics
internal import SQLite
public import System

/// What the store's commits cost.
public final class StoreMetrics: Sendable {
    private let seconds: Histogram<Duration>
    private let rows: Histogram<Int>

    public init(_ registry: Registry) {
        seconds = registry.register(
            .histogram(
                "holdfast_store_commit_seconds",
                "How long commits took until they were on stable storage.",
                bounds: [
                    .microseconds(100), .microseconds(250), .microseconds(500), .milliseconds(1),
                    .milliseconds(2), .milliseconds(5), .milliseconds(10), .milliseconds(25),
                    .milliseconds(50), .milliseconds(100), .milliseconds(250), .milliseconds(500),
                    .seconds(1), .seconds(5),
                ]
            )
        )
        rows = registry.register(
            .histogram(
                "holdfast_store_commit_rows",
                "How many rows shared a commit.",
                bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 4_096, 16_384]
            )
        )
    }
}

extension Store.Options {
    public mutating func measure(by metrics: StoreMetrics, _ timekeeper: any Timekeeper) {
        database.observer = Observer(
            timekeeper: timekeeper,
            committed: { report in metrics.note(rows: report.rows, after: report.duration) }
        )
    }
}

extension StoreMetrics {
    fileprivate func note(rows count: Int, after duration: Duration) {
        seconds.observe(duration)
        rows.observe(count)
    }
}
