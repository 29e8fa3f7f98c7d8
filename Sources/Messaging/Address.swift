public import System

/// Where a service can be reached.
///
/// Addresses are cheap to copy and safe to share. Holding one is the only way to talk to a service,
/// so the initializers in the wiring show who can talk to whom.
public struct Address<Message: Sendable>: Sendable {
    let channel: Channel<Message>

    /// Whether the service stands at its mailbox, and would read at once what is sent now.
    public var isAwaited: Bool { channel.isAwaited }

    /// Tells the service something, without waiting for it to be handled.
    ///
    /// Waits only while the mailbox is full, and then behind those who waited before. Without a wait
    /// the message is delivered even if the task has been cancelled, so that a cancelled step can
    /// still report its end.
    public func tell(_ message: Message) async throws(Undelivered) {
        switch channel.offer(message) {
        case .accepted: return
        case .closed: throw .closed
        case .full(let ticket): try await channel.wait(with: message, ticket: ticket)
        }
    }

    /// Tells the service something, or throws ``Undelivered/full`` where ``tell(_:)`` would wait.
    public func tryTell(_ message: Message) throws(Undelivered) {
        switch channel.offer(message) {
        case .accepted: return
        case .closed: throw .closed
        case .full: throw .full
        }
    }

    /// Asks the service something, and waits for the answer.
    ///
    /// The closure puts the ``Reply`` into the message:
    ///
    /// ```swift
    /// let count = try await pendingStore.ask { .count($0) }
    /// ```
    ///
    /// A task that has been cancelled asks nothing.
    public func ask<Answer: Sendable>(
        _ message: (Reply<Answer>) -> Message
    ) async throws(Undelivered) -> Answer {
        if Task.isCancelled { throw .cancelled }
        let slot = Slot<Answer>()
        try await tell(message(Reply(into: slot)))
        return try await slot.answer()
    }

    /// Asks also if the task has been cancelled, and then waits for room and for the answer all the
    /// same: for bookkeeping about what has happened already. The service must be one that answers soon.
    public func askRegardless<Answer: Sendable>(
        _ message: (Reply<Answer>) -> Message
    ) async throws(Undelivered) -> Answer {
        let slot = Slot<Answer>()
        try await tellRegardless(message(Reply(into: slot)))
        return try await slot.answerRegardless()
    }

    private func tellRegardless(_ message: Message) async throws(Undelivered) {
        switch channel.offer(message) {
        case .accepted: return
        case .closed: throw .closed
        case .full(let ticket): try await channel.waitRegardless(with: message, ticket: ticket)
        }
    }

    /// Asks the service something, or throws ``Undelivered/full`` where the message would have to
    /// wait for room. The answer is waited for.
    public func tryAsk<Answer: Sendable>(
        _ message: (Reply<Answer>) -> Message
    ) async throws(Undelivered) -> Answer {
        if Task.isCancelled { throw .cancelled }
        let slot = Slot<Answer>()
        try tryTell(message(Reply(into: slot)))
        return try await slot.answer()
    }
}

extension Address: Line {
    public var traffic: Traffic { channel.traffic }

    public func observe(
        by time: any Timekeeper,
        waited: @escaping @Sendable (Duration) -> Void,
        deepened: @escaping @Sendable (Int) -> Void
    ) {
        channel.observe(LineObserver(time: time, waited: waited, deepened: deepened))
    }
}
