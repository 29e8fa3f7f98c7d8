import System

/// So many places, and a line of messages that wait for one, which is not endless either.
final class Backlog<Message: Sendable>: Sendable {
    enum Admission { case now, later, full }

    private struct State {
        var free: Int
        var waiting = Ring<Message>()
    }

    private let state: Lock<State>
    private let most: Int

    init(places: Int, most: Int) {
        state = Lock(State(free: places))
        self.most = most
    }

    func admit(_ message: Message) -> Admission {
        state.withLock { state in
            if state.free > 0 {
                state.free -= 1
                return .now
            }
            guard state.waiting.count < most else { return .full }
            state.waiting.append(message)
            return .later
        }
    }

    /// For whoever has a place and is done with what they had: the next, or nothing, and the place is free.
    func next() -> Message? {
        state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.free += 1 }
            return next
        }
    }
}
