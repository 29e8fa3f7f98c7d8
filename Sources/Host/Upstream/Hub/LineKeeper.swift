import Bitwarden
import Messaging
import System

/// Says to the hub every now and then that the line is still wanted, and ends a line that is too old.
///
/// A task for that would be as large as all else of a line that is quiet.
final class LineKeeper: Sendable {
    private let line: any HubLine
    private let timekeeper: any Timekeeper
    private let alarms: AlarmClock
    private let end: Duration
    private let state = Lock(State())

    private struct State {
        var next: AlarmClock.Alarm?
        var isOver = false
    }

    init(of line: any HubLine, _ timekeeper: any Timekeeper, _ alarms: AlarmClock) {
        (self.line, self.timekeeper, self.alarms) = (line, timekeeper, alarms)
        end = timekeeper.elapsed + HubLife.longestLine
    }

    func begin() {
        state.withLock { state in
            guard !state.isOver else { return }
            state.next = alarms.set(for: HubLife.pingInterval) { self.ring() }
        }
    }

    private func ring() {
        if timekeeper.elapsed >= end { return line.hangUp() }
        line.post(HubMessage.ping.frame())
        begin()
    }

    func stop() {
        let next = state.withLock { state in
            state.isOver = true
            return state.next
        }
        if let next { alarms.cancel(next) }
    }
}
