/// What became of the exchanges that were under way when a server was stopped.
public struct DrainReport: Sendable, Equatable {
    /// Exchanges that took too long and were cut off.
    public internal(set) var cut = 0
    /// Handlers that have not heeded their cancellation. They keep the server's thread until they
    /// do.
    public internal(set) var stillRunning = 0
}

/// How a server comes to its end.
enum Drain {
    case none
    /// Nobody is let in; what is under way may finish.
    case finishing(until: Duration)
    /// What is still there has been cut off; its handlers get a moment to notice.
    case cutting(until: Duration)
    case reported
}
