import FoundationEssentials
import Machine
import System

/// A clock of the simulation: time passes for everybody alike, and what it is called may be wrong.
final class HouseClock: Timekeeper {
    private let time: VirtualTimekeeper
    private let error = Lock(Duration.zero)

    init(_ time: VirtualTimekeeper) { self.time = time }

    var elapsed: Duration { time.elapsed }

    var now: Date { time.now.addingTimeInterval(error.withLock { $0 } / .seconds(1)) }

    /// Sets the calendar, not the time.
    func step(_ duration: Duration) { error.withLock { $0 += duration } }
    func setRight() { error.withLock { $0 = .zero } }

    func sleep(for duration: Duration) async throws(CancellationError) {
        try await time.sleep(for: duration)
    }

    func sleep(until moment: Duration) async throws(CancellationError) {
        try await time.sleep(until: moment)
    }
}

/// Something that happens once, and that several may wait for.
final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    var isOpen: Bool { state.withLock(\.isOpen) }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { waiter in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(waiter) }
                return state.isOpen
            }
            if isOpen { waiter.resume() }
        }
    }
}
