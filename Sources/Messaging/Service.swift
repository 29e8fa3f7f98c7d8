/// A part of the host that runs.
///
/// A service has one door: its initializer, the address of its ``Mailbox``, and these two. What it
/// starts are child tasks of ``run()``; nothing outlives that.
public protocol Service: Sendable {
    /// Runs until the service has been closed and has finished what it had accepted, until the task
    /// is cancelled, or until it cannot go on: then it throws.
    func run() async throws

    /// Asks the service to end in its own time. May come before ``run()``, and more than once.
    ///
    /// A service with a mailbox closes that: what is queued is still handled, then its loop ends.
    func close()
}
