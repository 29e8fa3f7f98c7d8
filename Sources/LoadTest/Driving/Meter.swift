import System

/// Takes note of every edit while the test runs; one for all who make them.
final class Meter: Sendable {
    /// What has been counted since somebody last looked.
    struct Interval: Sendable {
        var latencies = LatencyHistogram()
        var acknowledged = 0
    }

    private struct State {
        var figures: [Operation: OperationFigures] = [:]
        var interval = Interval()
        var done = 0
        var queued = 0
        var saved = 0
    }

    private let state = Lock(State())

    func note(_ reply: HostSide.Reply, of operation: Operation, after latency: Duration) {
        state.withLock { state in
            state.done += 1
            state.figures[operation, default: OperationFigures()].note(reply.outcome, latency)
            guard reply.outcome == .acknowledged else { return }
            state.interval.latencies.add(latency)
            state.interval.acknowledged += 1
            if reply.isQueued { state.queued += 1 } else { state.saved += 1 }
        }
    }

    /// There is no item to edit, because its create was not answered.
    func noteSkipped() { state.withLock { $0.done += 1 } }

    func takeInterval() -> Interval {
        state.withLock { state in
            defer { state.interval = Interval() }
            return state.interval
        }
    }

    var figures: [Operation: OperationFigures] { state.withLock { $0.figures } }
    /// The latencies of all edits so far.
    var all: LatencyHistogram {
        figures.values.reduce(into: LatencyHistogram()) { $0.add($1.latencies) }
    }
    /// Edits that were answered, in whatever way, or had nothing to edit.
    var done: Int { state.withLock { $0.done } }
    var queued: Int { state.withLock { $0.queued } }
    var saved: Int { state.withLock { $0.saved } }
}
