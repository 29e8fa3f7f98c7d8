import System

/// Something that tasks wait at until a test opens it, and that knows how many do.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, watcher: CheckedContinuation<Void, Never>)] = []
        var arrived = 0

        mutating func arrive() -> [CheckedContinuation<Void, Never>] {
            arrived += 1
            defer { watchers.removeAll { $0.count <= arrived } }
            return watchers.filter { $0.count <= arrived }.map(\.watcher)
        }
    }

    private let state = Lock(State())

    func pass() async {
        for watcher in state.withLock({ $0.arrive() }) { watcher.resume() }
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when so many have come.
    func arrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.arrived < count { state.watchers.append((count, continuation)) }
                return state.arrived >= count
            }
            if isDone { continuation.resume() }
        }
    }
}
