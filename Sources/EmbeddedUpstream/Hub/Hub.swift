import HTTP
import System

/// Where devices listen for what happens. At a port of its own, which the configuration tells.
final class Hub: Sendable {
    let address: SocketAddress
    private let loop: Lock<HubLoop?>
    private let habits: HubHabits
    private let time: any Timekeeper
    private let knocks: AsyncStream<(UInt64, String)>
    private let door: AsyncStream<(UInt64, String)>.Continuation

    init(
        _ host: String,
        _ habits: HubHabits,
        _ time: any Timekeeper
    ) throws(SystemError) {
        (knocks, door) = AsyncStream.makeStream(of: (UInt64, String).self)
        self.habits = habits
        self.time = time
        let wish = SocketAddress(host: host, port: 0)
        let loop = try Self.start(wish, habits, time, door)
        address = SocketAddress(host: host, port: loop.port)
        self.loop = Lock(loop)
    }

    private static func start(
        _ address: SocketAddress,
        _ habits: HubHabits,
        _ time: any Timekeeper,
        _ door: AsyncStream<(UInt64, String)>.Continuation
    ) throws(SystemError) -> HubLoop {
        let loop = try HubLoop(address, habits, time) { connection, token in
            door.yield((connection, token))
        }
        Thread.start(name: "hub") { loop.run() }
        return loop
    }

    /// Lets in whoever the ledger knows, until the hub is closed.
    func run(for ledger: Ledger) async {
        for await (connection, token) in knocks {
            let session = await ledger.session(ofToken: token)
            post(.admit(connection: connection, session))
        }
    }

    func tell(_ announcements: [Announcement]) { post(.tell(announcements)) }

    func cut(_ cutting: HubSession.Cutting) { post(.cut(cutting)) }

    /// All connections break.
    func hangUp() { post(.hangUp) }

    private func post(_ order: HubLoop.Order) { loop.withLock { $0 }?.post(order) }

    /// Nobody is let in any more, and nobody stays.
    func shut() {
        loop.withLock { $0.take() }?.post(.end)
    }

    /// At the same address as before.
    func reopen() throws(SystemError) {
        guard loop.withLock({ $0 == nil }) else { return }
        let opened = try Self.start(address, habits, time, door)
        loop.withLock { $0 = opened }
    }

    func close() {
        shut()
        door.finish()
    }
}
