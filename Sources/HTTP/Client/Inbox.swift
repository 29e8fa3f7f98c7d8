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
        /// There while the loop can be woken. Called under the lock, so that what it wakes is not
        /// freed meanwhile.
        var wake: (@Sendable () -> Void)?
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []

        mutating func post(_ command: Command) {
            commands.append(command)
            guard isAsleep, let wake else { return }
            isAsleep = false
            wake()
        }
    }

    private let state = Lock(State())

    // MARK: From any thread

    /// A command that a loop which has ended need not hear.
    func post(_ command: Command) {
        state.withLock { state in
            if !state.isClosed { state.post(command) }
        }
    }

    /// - Returns: Why the command is not taken over, if it is not. A task that is cancelled already
    ///   is refused under the lock, so a cancellation either is seen here or comes after.
    func submit(_ command: Command) -> Refusal? {
        state.withLock { state in
            if Task.isCancelled { return .cancelled }
            if state.isClosed { return .closed }
            state.post(command)
            return nil
        }
    }

    /// Asks the loop something; `nil` if it hears nothing any more.
    func ask<Answer: Sendable>(
        _ command: (CheckedContinuation<Answer?, Never>) -> Command
    ) async -> Answer? {
        await withCheckedContinuation { answer in
            let isTaken = state.withLock { state in
                if !state.isClosed { state.post(command(answer)) }
                return !state.isClosed
            }
            if !isTaken { answer.resume(returning: nil) }
        }
    }

    /// The last command; only the first last one counts.
    func close(with command: Command) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.post(command)
            state.isClosed = true
        }
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

    /// Gets the loop out of its sleep, for a reason that is not in here.
    func nudge() {
        state.withLock { $0.wake?() }
    }

    // MARK: From the loop's own thread

    /// From now on the loop can be woken in that way, or (`nil`) no more.
    func setWake(_ wake: (@Sendable () -> Void)?) {
        state.withLock { $0.wake = wake }
    }

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

/// How a thread is begun: for real, or (in a test of what happens then) not.
typealias ThreadStart =
    @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> Void

let systemThread: ThreadStart = { (name, body) throws(SystemError) in
    try Thread.attempt(name: name, body)
}
