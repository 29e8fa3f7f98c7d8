public import Metrics
internal import SQLite
public import System

/// What the store's commits cost, and how often its disk failed it.
public final class StoreMetrics: Sendable {
    /// What of the store's work can fail for want of a disk.
    enum Work: String, CaseIterable, Hashable, Sendable {
        case commit, checkpoint
    }

    private let errors: Labelled<Work, Counter>
    private let seconds: Histogram<Duration>
    private let rows: Histogram<Int>

    public init(_ registry: Registry) {
        errors = registry.register(
            .counter(
                "holdfast_store_errors_total",
                "Commits and checkpoints that the disk did not take."
            ),
            by: Label("work")
        )
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
            committed: { metrics.note($0) },
            checkpointed: { metrics.note($0) }
        )
    }
}

extension StoreMetrics {
    fileprivate func note(_ report: CommitReport) {
        seconds.observe(report.duration)
        rows.observe(report.rows)
        if report.error != nil { errors[.commit].increment() }
    }

    fileprivate func note(_ report: CheckpointReport) {
        if report.error != nil { errors[.checkpoint].increment() }
    }
}
