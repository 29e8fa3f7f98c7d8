public import System

/// Alarms for many who wait for a moment.
///
/// One sleeper does for all of them, where a task for each would keep some kilobytes until it rings.
/// ``run()`` has to run for as long as any is to ring.
public final class AlarmClock: Service {
    public struct Alarm: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private struct State {
        var last: UInt64 = 0
        var moments = Ranking<UInt64, Duration>()
        var bells: [UInt64: @Sendable () -> Void] = [:]
        var isOver = false
    }

    private let timekeeper: any Timekeeper
    private let state = Lock(State())
    /// When a sleeper has woken, or that an alarm is earlier than all others.
    private let mailbox = Mailbox<Signal>(name: "alarms", capacity: 1)

    private enum Signal {
        case isEarlier
        case woke(Duration)
    }

    public init(timekeeper: any Timekeeper) {
        self.timekeeper = timekeeper
    }

    /// - Parameter bell: Rung once, by the clock, for which nothing else rings meanwhile: it must not wait.
    @discardableResult
    public func set(
        for wait: Duration,
        _ bell: @escaping @Sendable () -> Void
    ) -> Alarm {
        let moment = timekeeper.elapsed + max(wait, .zero)
        let (alarm, isNext) = state.withLock { state in
            state.last += 1
            let alarm = Alarm(number: state.last)
            if state.isOver { return (alarm, false) }
            state.bells[state.last] = bell
            state.moments.set(state.last, at: moment)
            return (alarm, state.moments.first?.id == state.last)
        }
        // If there is no room, somebody is about to look anyway.
        if isNext { try? mailbox.address.tryTell(.isEarlier) }
        return alarm
    }

    /// It does not ring, unless it is ringing just now.
    public func cancel(_ alarm: Alarm) {
        let bell = state.withLock { state in
            state.moments.remove(alarm.number)
            return state.bells.removeValue(forKey: alarm.number)
        }
        // What it holds is let go of outside the lock.
        _ = consume bell
    }

    public func close() { mailbox.close() }

    public func run() async {
        await withDiscardingTaskGroup { sleepers in
            var sleeping = Alarms()
            wake(&sleeping, &sleepers)
            for await signal in mailbox {
                if case .woke(let moment) = signal { sleeping.ring(moment) }
                wake(&sleeping, &sleepers)
            }
            sleepers.cancelAll()
        }
        // Nothing rings any more, so nobody is held for it.
        let silent = state.withLock { state in
            defer { (state.bells, state.moments) = ([:], Ranking()) }
            state.isOver = true
            return state.bells
        }
        _ = consume silent
    }

    /// Rings what is due, and sees to it that somebody wakes for what is next.
    private func wake(_ sleeping: inout Alarms, _ sleepers: inout DiscardingTaskGroup) {
        while let bell = takeDue() { bell() }
        guard let next = state.withLock({ $0.moments.first?.rank }), sleeping.set(for: next)
        else { return }
        sleepers.addTask {
            try? await self.timekeeper.sleep(until: next)
            try? await self.mailbox.address.tell(.woke(next))
        }
    }

    private func takeDue() -> (@Sendable () -> Void)? {
        let now = timekeeper.elapsed
        return state.withLock { state in
            state.moments.takeFirst(upTo: now).flatMap { state.bells.removeValue(forKey: $0) }
        }
    }
}
