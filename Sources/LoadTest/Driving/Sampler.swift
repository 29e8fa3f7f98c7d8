import System

/// Looks at everything at regular intervals while the test runs.
final class Sampler: Sendable {
    private let meter: Meter
    private let ops: OpsSide?
    private let memory: @Sendable () -> Int?
    private let timekeeper: any Timekeeper
    private let start: Duration
    private let interval: Duration
    private let taken = Lock<[Sample]>([])
    private let narrate: @Sendable (Sample) -> Void

    init(
        _ meter: Meter,
        _ ops: OpsSide?,
        every interval: Duration,
        since start: Duration,
        _ timekeeper: any Timekeeper,
        memory: @escaping @Sendable () -> Int?,
        narrate: @escaping @Sendable (Sample) -> Void
    ) {
        self.meter = meter
        self.ops = ops
        self.interval = interval
        self.start = start
        self.timekeeper = timekeeper
        self.memory = memory
        self.narrate = narrate
    }

    var samples: [Sample] { taken.withLock(\.self) }

    /// Until it is cancelled.
    func run() async {
        var begun = timekeeper.elapsed
        while (try? await timekeeper.sleep(for: interval)) != nil {
            // To read the figures of a host that stands still takes long, and meanwhile edits are counted
            // for the next sample already.
            let now = timekeeper.elapsed
            let sample = await take(at: now, since: begun)
            begun = now
            taken.withLock { $0.append(sample) }
            narrate(sample)
        }
    }

    private func take(at now: Duration, since begun: Duration) async -> Sample {
        let counted = meter.takeInterval()
        var sample = Sample(seconds: (now - start).inSeconds)
        sample.acceptedPerSecond =
            Double(counted.acknowledged) / max(0.001, (now - begun).inSeconds)
        if counted.latencies.count > 0 {
            sample.median = counted.latencies.percentile(0.5).milliseconds
            sample.p99 = counted.latencies.percentile(0.99).milliseconds
        }
        if let page = await ops?.page() {
            sample.pending = page.sum("holdfast_pending_changes")
            sample.conflicts = page.sum("holdfast_conflicts_total")
            sample.backups = page.sum("holdfast_backups_total")
            sample.resolved = page.sum("holdfast_resolutions_total")
            sample.retries = page.sum("holdfast_retries_scheduled_total")
            sample.memory = page.sum("process_resident_memory_bytes")
        }
        if let memory = memory() { sample.memory = memory }
        return sample
    }
}
