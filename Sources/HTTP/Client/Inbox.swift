import System

/// How all threads reach the one that drives a C library: commands in their order, a nudge when it
/// sleeps, and the word that it has ended.
final class Inbox<Command: Sendable>: Sendable {
    enum Refusal { case cancelled, closed }

    private struct State {
        var commands: [Command] = []
        var isAsleep = false
        var isClosed = false
        var hasEnded = false
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []

        /// - Returns: Whether the loop must be woken; one nudge does for all that comes until then.
        mutating func post(_ command: Command) -> Bool {
            guard !isClosed else { return false }
            commands.append(command)
            defer { isAsleep = false }
            return isAsleep
        }
    }

    private let state = Lock(State())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: Gets the loop out of its sleep, whether it sleeps or not, and does nothing
    ///   after the loop has ended.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    // MARK: From any thread

    /// A command that a loop which has ended need not hear.
    func post(_ command: Command) {
        if state.withLock({ $0.post(command) }) { wake() }
    }

    /// - Returns: Why the command is not taken over, if it is not. A task that is cancelled already
    ///   is refused under the lock, so a cancellation either is seen here or comes after.
    func submit(_ command: Command) -> Refusal? {
        let (refusal, mustWake) = state.withLock { state -> (Refusal?, Bool) in
            if Task.isCancelled { return (.cancelled, false) }
            if state.isClosed { return (.closed, false) }
            return (nil, state.post(command))
        }
        if mustWake { wake() }
        return refusal
    }

    /// Asks the loop something; `nil` if it hears nothing any more.
    func ask<Answer: Sendable>(
        _ command: (CheckedContinuation<Answer?, Never>) -> Command
    ) async -> Answer? {
        await withCheckedContinuation { answer in
            let (isTaken, mustWake) = state.withLock { state in
                (!state.isClosed, state.post(command(answer)))
            }
            if mustWake { wake() }
            if !isTaken { answer.resume(returning: nil) }
        }
    }

    /// The last command; only the first last one counts.
    func close(with command: Command) {
        let mustWake = state.withLock { state in
            defer { state.isClosed = true }
            return state.post(command)
        }
        if mustWake { wake() }
    }

    /// Returns when the loop has ended.
    func ended() async {
        await withCheckedContinuation { waiting in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waitingForEnd.append(waiting) }
                return state.hasEnded
            }
            if hasEnded { waiting.resume() }
        }
    }

    // MARK: From the loop's own thread

    /// The commands that have come in, exchanged for the emptied `spare`.
    func exchange(_ spare: inout [Command]) {
        state.withLock { state in
            state.isAsleep = false
            swap(&state.commands, &spare)
        }
    }

    /// Whether nothing has come in, so that the loop may sleep; it will be woken if something does.
    func maySleep() -> Bool {
        state.withLock { state in
            state.isAsleep = state.commands.isEmpty
            return state.isAsleep
        }
    }

    /// Whether nothing has come in so far.
    // A closure: in generic code a key path is made anew each time, which costs more than the lock.
    var isEmpty: Bool { state.withLock { $0.commands.isEmpty } }

    /// The loop has ended. Nobody hears of it before this.
    func end() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waitingForEnd = [] }
            return state.waitingForEnd
        }
        for continuation in waiting { continuation.resume() }
    }
}
