public import FoundationEssentials
public import System

/// Time that passes when a story says so, and a calendar that may be wrong.
public final class WorldTime: Timekeeper {
    private typealias Continuation = CheckedContinuation<Bool, Never>

    private struct State {
        var elapsed = Duration.zero
        var error = Duration.zero
        var lastTicket = 0
        var sleepers: [Int: (until: Duration, continuation: Continuation)] = [:]

        /// Whoever wakes next, if that is before the end.
        mutating func next(until end: Duration) -> Continuation? {
            let due = sleepers.filter { $0.value.until <= end }
            guard let first = due.min(by: { ($0.value.until, $0.key) < ($1.value.until, $1.key) })
            else {
                elapsed = max(elapsed, end)
                return nil
            }
            elapsed = max(elapsed, first.value.until)
            return sleepers.removeValue(forKey: first.key)?.continuation
        }
    }

    private let origin: Date
    private let state = Lock(State())

    /// Within a second, as nearly every moment is: servers write no fraction of a whole one.
    public init(origin: Date = Date(timeIntervalSince1970: 1_768_000_000.25)) {
        self.origin = origin
    }

    public var elapsed: Duration { state.withLock(\.elapsed) }

    /// What this host believes the time to be.
    public var now: Date {
        let (elapsed, error) = state.withLock { ($0.elapsed, $0.error) }
        return origin.addingTimeInterval((elapsed + error) / .seconds(1))
    }

    /// The clock of everybody else, which ``step(_:)`` does not touch.
    public var elsewhere: any Timekeeper { TrueTime(host: self) }

    fileprivate var trueNow: Date { origin.addingTimeInterval(elapsed / .seconds(1)) }

    /// Lets time pass. Those who sleep wake in their order, each at its own moment.
    public func pass(_ duration: Duration) {
        let end = elapsed + duration
        while let sleeper = state.withLock({ $0.next(until: end) }) {
            sleeper.resume(returning: true)
        }
    }

    /// Sets this host's calendar forward, or back.
    public func step(_ duration: Duration) { state.withLock { $0.error += duration } }

    /// When the next of those who sleep wakes.
    public var nextAlarm: Duration? { state.withLock { $0.sleepers.values.map(\.until).min() } }

    public func hasAlarm(at moment: Duration) -> Bool {
        state.withLock { $0.sleepers.values.contains { $0.until == moment } }
    }

    public func sleep(for duration: Duration) async throws(CancellationError) {
        try await sleep(until: elapsed + duration)
    }

    /// Time may pass between somebody's look at it and their falling asleep; they do not sleep longer for that.
    public func sleep(until moment: Duration) async throws(CancellationError) {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        let hasSlept = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasSlept: Bool? = state.withLock { state in
                    if moment <= state.elapsed { return true }
                    if Task.isCancelled { return false }
                    state.sleepers[ticket] = (moment, continuation)
                    return nil
                }
                if let hasSlept { continuation.resume(returning: hasSlept) }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: ticket) }?.continuation
                .resume(returning: false)
        }
        if !hasSlept { throw CancellationError() }
    }
}

private struct TrueTime: Timekeeper {
    let host: WorldTime

    var now: Date { host.trueNow }
    var elapsed: Duration { host.elapsed }

    func sleep(for duration: Duration) async throws(CancellationError) {
        try await host.sleep(for: duration)
    }

    func sleep(until moment: Duration) async throws(CancellationError) {
        try await host.sleep(until: moment)
    }
}
