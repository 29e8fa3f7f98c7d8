import FoundationEssentials
import System

/// Keeps the report while the test runs, so that there is one at whatever moment it ends.
final class Journal: Sendable {
    let start: Duration
    private let report: Lock<LoadReport>
    private let timekeeper: any Timekeeper
    private let listener: @Sendable (LoadRun.Progress) -> Void

    init(
        _ profile: LoadProfile,
        _ timekeeper: any Timekeeper,
        _ listener: @escaping @Sendable (LoadRun.Progress) -> Void
    ) {
        start = timekeeper.elapsed
        self.timekeeper = timekeeper
        self.listener = listener
        report = Lock(LoadReport(profile, startedAt: timekeeper.now.ISO8601Format()))
    }

    private var seconds: Double { (timekeeper.elapsed - start).inSeconds }

    /// Ends the phase before it.
    func begin(_ phase: String) {
        let now = seconds
        report.withLock { report in
            if let last = report.phases.indices.last { report.phases[last].end = now }
            report.phases.append(LoadReport.Phase(name: phase, begin: now, end: now))
        }
        tell("")
    }

    func tell(_ text: String) {
        let phase = report.withLock { $0.phases.last?.name ?? "start" }
        listener(LoadRun.Progress(phase: phase, text: text))
    }

    func write(_ change: (inout LoadReport) -> Void) {
        report.withLock { change(&$0) }
    }

    func end(because error: any Error) {
        let isInterrupted = error is CancellationError || Task.isCancelled
        report.withLock {
            $0.ending =
                isInterrupted
                ? .interrupted
                : .failed(
                    String(describing: error),
                    (error as? LoadFailure)?.obstacle ?? .other
                )
        }
    }

    var finished: LoadReport {
        let now = seconds
        return report.withLock { report in
            report.seconds = now
            if let last = report.phases.indices.last { report.phases[last].end = now }
            return report
        }
    }
}
