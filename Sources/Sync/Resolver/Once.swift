internal import System

/// Something that is asked for once, by whoever needs it first.
final class Once<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private enum State {
        case nothing
        case underWay([Waiter])
        case there(Value)
    }

    private let state = Lock(State.nothing)

    /// What is there already.
    var value: Value? {
        state.withLock { if case .there(let value) = $0 { value } else { nil } }
    }

    /// What is there already, or is fetched now. A failure is the caller's alone; whoever waited for it
    /// tries for itself.
    func value(from fetch: () async throws(Halt) -> Value) async throws(Halt) -> Value {
        while true {
            if let value { return value }
            guard begins() else {
                await withCheckedContinuation { wait($0) }
                continue
            }
            do throws(Halt) {
                let value = try await fetch()
                end(.there(value))
                return value
            } catch {
                end(.nothing)
                throw error
            }
        }
    }

    private func begins() -> Bool {
        state.withLock { state in
            guard case .nothing = state else { return false }
            state = .underWay([])
            return true
        }
    }

    private func wait(_ waiter: Waiter) {
        let isOver = state.withLock { state in
            guard case .underWay(let waiters) = state else { return true }
            state = .underWay(waiters + [waiter])
            return false
        }
        if isOver { waiter.resume() }
    }

    private func end(_ new: State) {
        let waiters = state.withLock { state -> [Waiter] in
            defer { state = new }
            guard case .underWay(let waiters) = state else { return [] }
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
