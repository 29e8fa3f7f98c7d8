import System

/// So many places, which are taken by one and given back by many.
final class Places: Sendable {
    fileprivate struct State {
        var free: Int
        /// Whoever takes places, while none is free.
        var waiter: UnsafeContinuation<Void, Never>?
    }

    private let state: Lock<State>

    init(_ count: Int) {
        state = Lock(State(free: count))
    }

    /// Waits until there is one. Only one task takes places, and what holds one gives it back in the
    /// end, so that a cancelled wait needs no ending of its own.
    func take() async {
        if state.withLock({ $0.takeFree() }) { return }
        await withUnsafeContinuation { waiter in
            let isFree = state.withLock { state in
                if state.takeFree() { return true }
                state.waiter = waiter
                return false
            }
            if isFree { waiter.resume() }
        }
    }

    /// Goes to whoever waits, if anybody does.
    func giveBack() {
        let waiter = state.withLock { state in
            let waiter = state.waiter.take()
            if waiter == nil { state.free += 1 }
            return waiter
        }
        waiter?.resume()
    }
}

extension Places.State {
    fileprivate mutating func takeFree() -> Bool {
        guard free > 0 else { return false }
        free -= 1
        return true
    }
}
