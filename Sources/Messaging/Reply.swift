/// The answer that somebody waits for.
///
/// A reply that is let go of without an answer answers for itself: the asker hears
/// ``Undelivered/unanswered``. So nobody waits forever for a service that failed. Only the first
/// answer counts; an asker that was cancelled hears none, and neither does harm.
public final class Reply<Answer: Sendable>: Sendable {
    private let slot: Slot<Answer>

    init(into slot: Slot<Answer>) {
        self.slot = slot
    }

    public func answer(_ answer: Answer) {
        slot.settle(.success(answer))
    }

    /// Whether there is an answer, or nobody waits for one any more.
    public var isAnswered: Bool { slot.isSettled }

    deinit { slot.settle(.failure(.unanswered)) }
}

extension Reply where Answer == Void {
    public func answer() {
        answer(())
    }
}

extension Reply {
    /// Answers with what the body returns or throws.
    ///
    /// ```swift
    /// case .record(let edit, let reply): await reply.answer { try await record(edit) }
    /// …
    /// let receipt = try await pendingStore.ask { .record(edit, $0) }.get()
    /// ```
    public func answer<Success, Failure>(
        _ body: () async throws(Failure) -> Success
    ) async where Answer == Result<Success, Failure> {
        do {
            answer(.success(try await body()))
        } catch {
            answer(.failure(error))
        }
    }
}
