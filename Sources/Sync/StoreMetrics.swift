public import Logging
public import Metrics
internal import SQLite
public import System

/// What the store's commits cost, and how often its disk failed it.
public final class StoreMetrics: Sendable {
    /// What of the store's work can fail for want of a disk.
    enum Work: String, CaseIterable, Hashable, Sendable {
        case commit, checkpoint, read
    }

    private let errors: Labelled<Work, Counter>
    private let seconds: Histogram<Duration>
    private let rows: Histogram<Int>
    let underWay: Gauge

    public init(_ registry: Registry) {
        errors = registry.register(
            .counter(
                "holdfast_store_errors_total",
                "Commits and checkpoints that the disk did not take, and what could not be read of it."
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
        underWay = registry.register(
            .gauge(
                "holdfast_store_flush_started_timestamp_seconds",
                "When the commit or checkpoint that is under way began; 0 if none is."
            )
        )
    }
}

extension Store.Options {
    /// - Parameter log: Is told what the disk did not take.
    public mutating func measure(
        by metrics: StoreMetrics,
        _ timekeeper: any Timekeeper,
        _ log: Logger? = nil
    ) {
        database.observer = Observer(
            timekeeper: timekeeper,
            committed: { report in
                metrics.note(report)
                guard let error = report.error else { return }
                log?.error("The disk did not take a commit.", because: error)
            },
            checkpointed: { report in
                metrics.note(report)
                guard let error = report.error else { return }
                log?.error("The disk did not take a checkpoint.", because: error)
            },
            began: { metrics.underWay.set(timekeeper.now) },
            failed: { error in
                guard StoreError.endsAcceptance(error) else { return }
                metrics.noteFailedRead()
                log?.error("The disk failed a read, or an edit before its commit.", because: error)
            }
        )
    }
}

extension StoreMetrics {
    fileprivate func noteFailedRead() { errors[.read].increment() }

    fileprivate func note(_ report: CommitReport) {
        seconds.observe(report.duration)
        rows.observe(report.rows)
        underWay.set(0)
        if report.error != nil { errors[.commit].increment() }
    }

    fileprivate func note(_ report: CheckpointReport) {
        underWay.set(0)
        if report.error != nil { errors[.checkpoint].increment() }
    }
}
