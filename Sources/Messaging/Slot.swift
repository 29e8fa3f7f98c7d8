import System

/// Where an answer and the task that waits for it meet, whichever comes first.
final class Slot<Answer: Sendable>: Sendable {
    typealias Outcome = Result<Answer, Undelivered>
    typealias Asker = UnsafeContinuation<Outcome, Never>

    private let state = Lock(SlotState<Outcome, Asker>.open)

    /// The first outcome counts.
    func settle(_ outcome: Outcome) {
        let asker = state.withLock { $0.settle(outcome) }
        asker?.resume(returning: outcome)
    }

    var isSettled: Bool { state.withLock { $0.isSettled } }

    /// Waits for the outcome. Being cancelled is one, too.
    func answer() async throws(Undelivered) -> Answer {
        try await withTaskCancellationHandler {
            await outcome()
        } onCancel: {
            settle(.failure(.cancelled))
        }.get()
    }

    /// Waits for the outcome, and being cancelled is none.
    func answerRegardless() async throws(Undelivered) -> Answer { try await outcome().get() }

    private func outcome() async -> Outcome {
        await withUnsafeContinuation { asker in
            let outcome = state.withLock { $0.wait(asker) }
            if let outcome { asker.resume(returning: outcome) }
        }
    }
}

/// Whether there is an outcome yet, and whether somebody waits for it.
enum SlotState<Outcome, Asker> {
    case open
    case waiting(Asker)
    case settled(Outcome)
    case done

    var isSettled: Bool {
        switch self {
        case .open, .waiting: false
        case .settled, .done: true
        }
    }

    /// Takes the first outcome and returns whom to tell of it. There are no others.
    mutating func settle(_ outcome: Outcome) -> Asker? {
        switch self {
        case .open:
            self = .settled(outcome)
            return nil
        case .waiting(let asker):
            self = .done
            return asker
        case .settled, .done:
            return nil
        }
    }

    /// Returns the outcome if it is there already. Otherwise the asker waits.
    mutating func wait(_ asker: Asker) -> Outcome? {
        guard case .settled(let outcome) = self else {
            self = .waiting(asker)
            return nil
        }
        self = .done
        return outcome
    }
}

extension SlotState: Sendable where Outcome: Sendable, Asker: Sendable {}
