import HTTP
import System

/// Where devices are told what happens.
final class Hub: Sendable {
    private let loop: HubLoop
    private let thread: Thread.Handle

    init(_ habits: HubHabits, _ time: any Timekeeper) throws(SystemError) {
        let loop = try HubLoop(habits, time)
        self.loop = loop
        thread = Thread.start(name: "hub") { loop.run() }
    }

    /// Tells the device at the other end what concerns its user. Returns when one of the two has hung
    /// up; then nothing is done with the connection any more.
    func serve(_ connection: UpgradedConnection, _ session: Session) async {
        await withCheckedContinuation { departure in
            if !loop.post(.adopt(connection, session, departure)) { departure.resume() }
        }
    }

    func tell(_ announcements: [Announcement]) { loop.post(.tell(announcements)) }

    func cut(_ cutting: HubSession.Cutting) { loop.post(.cut(cutting)) }

    /// All connections break.
    func hangUp() { loop.post(.hangUp) }

    /// Nobody is served any more. Blocks for the moment that takes.
    func close() {
        loop.post(.end)
        thread.join()
    }
}
