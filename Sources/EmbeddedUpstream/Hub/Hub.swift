import HTTP
import System

/// Where devices listen for what happens. At a port of its own, which the configuration tells.
final class Hub: Sendable {
    /// A loop and the thread that runs it.
    private struct Running: Sendable {
        let loop: HubLoop
        let thread: Thread.Handle
    }

    let address: SocketAddress
    private let running: Lock<Running?>
    /// How often the hub has been opened.
    private let openings = Lock<UInt64>(1)
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
        let loop = try Self.open(wish, 1, habits, time, door)
        address = SocketAddress(host: host, port: loop.port)
        running = Lock(Self.start(loop))
    }

    private static func open(
        _ address: SocketAddress,
        _ generation: UInt64,
        _ habits: HubHabits,
        _ time: any Timekeeper,
        _ door: AsyncStream<(UInt64, String)>.Continuation
    ) throws(SystemError) -> HubLoop {
        try HubLoop(address, generation: generation, habits, time) { connection, token in
            door.yield((connection, token))
        }
    }

    private static func start(_ loop: HubLoop) -> Running {
        Running(loop: loop, thread: Thread.start(name: "hub") { loop.run() })
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

    private func post(_ order: HubLoop.Order) { running.withLock { $0 }?.loop.post(order) }

    /// Nobody is let in any more, and nobody stays. Blocks for the moment that takes, so that the
    /// address is free afterwards.
    func shut() {
        guard let running = running.withLock({ $0.take() }) else { return }
        running.loop.post(.end)
        running.thread.join()
    }

    /// At the same address as before.
    func reopen() throws(SystemError) {
        guard running.withLock({ $0 == nil }) else { return }
        let generation = openings.withLock { openings in
            openings += 1
            return openings
        }
        let opened = Self.start(try Self.open(address, generation, habits, time, door))
        running.withLock { $0 = opened }
    }

    func close() {
        shut()
        door.finish()
    }
}
