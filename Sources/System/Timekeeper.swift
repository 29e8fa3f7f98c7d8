public import FoundationEssentials
import Glibc

/// Time as the host sees it. One of the world's edges: real in the host, virtual in a test.
public protocol Timekeeper: Sendable {
    /// What the calendar says. May jump either way.
    var now: Date { get }
    /// What has passed since some fixed moment. Never goes back.
    var elapsed: Duration { get }
    /// Waits for that long; cancellation ends the wait at once.
    func sleep(for duration: Duration) async throws(CancellationError)
    /// Waits until so much has ``elapsed``; cancellation ends the wait at once.
    func sleep(until moment: Duration) async throws(CancellationError)
}

extension Timekeeper {
    public func sleep(until moment: Duration) async throws(CancellationError) {
        try await sleep(for: moment - elapsed)
    }
}

/// The machine's own clocks.
public struct SystemTimekeeper: Timekeeper {
    public init() {}

    public var now: Date { Date() }

    /// Since the machine was booted, the time it slept counted: the same for every process of it.
    public var elapsed: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    public func sleep(for duration: Duration) async throws(CancellationError) {
        do {
            try await ContinuousClock().sleep(for: duration)
        } catch {
            throw CancellationError()
        }
    }
}
