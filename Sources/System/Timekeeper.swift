public import FoundationEssentials

/// Time as the host sees it. One of the world's edges: real in the host, virtual in a test.
public protocol Timekeeper: Sendable {
    /// What the calendar says. May jump either way.
    var now: Date { get }
    /// What has passed since some fixed moment. Never goes back.
    var elapsed: Duration { get }
    /// Waits for that long; cancellation ends the wait at once.
    func sleep(for duration: Duration) async throws(CancellationError)
}

/// The machine's own clocks.
public struct SystemTimekeeper: Timekeeper {
    private let origin = ContinuousClock.now

    public init() {}

    public var now: Date { Date() }
    public var elapsed: Duration { origin.duration(to: .now) }

    public func sleep(for duration: Duration) async throws(CancellationError) {
        do {
            try await ContinuousClock().sleep(for: duration)
        } catch {
            throw CancellationError()
        }
    }
}
