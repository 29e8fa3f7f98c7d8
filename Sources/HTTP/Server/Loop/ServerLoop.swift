import CMicrohttpd
import CSystem
import Glibc
import Synchronization
import System

/// The thread on which a server lives: it waits for sockets, runs the library and the handlers.
///
/// What happens on other threads reaches it through the executor and through orders.
// @unchecked because everything that can change is touched on the loop's own thread only, except
// for the orders, which have a lock.
final class ServerLoop: @unchecked Sendable {
    let executor: LoopExecutor
    let handler: Handler
    let refused: @Sendable (Status) -> Void
    let limits: Limits
    /// Bytes of a body or an answer that lie here while the other side is behind.
    let patience = 65_536
    let census = Census()

    private(set) var now: Duration
    /// Handlers that have not ended yet.
    var handlers = 0 { didSet { census.handlers.store(handlers, ordering: .relaxed) } }
    /// The library has something to do, whatever its descriptors say.
    var mustRun = false

    let timekeeper: any Timekeeper
    let bell: Bell
    let orders = Lock(Orders())
    let poll: Poll
    var daemon: OpaquePointer?
    /// Bytes of answers that the library fetches piece by piece.
    var answering = 0
    var listeners: [UInt64: ListeningSocket] = [:]
    var connections: [UInt64: Connection] = [:]
    var halfClosed: [UInt64: Connection] = [:]
    /// Exchanges that have nothing to say in this run of the library's.
    var restless: [Exchange] = []
    /// Connections that were cut, of which the library has to be told.
    var leaving: [Connection] = []
    var lingering: Lingering
    var nextIdentity: UInt64 = 1_000
    var nextLook: Duration?
    var arriving: Arrival?
    var isAccepting = true
    var drain = Drain.none
    var report = DrainReport()
    var patienceWithLibrary = 0
    /// Since when the library has wanted to run without a pause.
    var pendingSince: Duration?
    /// How often the library has called, ever.
    var calls = 0

    enum Token {
        static let bell: UInt64 = 0
        static let daemon: UInt64 = 1
        static let firstListener: UInt64 = 2
    }

    struct Arrival {
        let door: Door
        let peer: Peer
    }

    struct Orders {
        var roused: [Exchange] = []
        var drainTime: Duration?
        var waitingForEnd: [CheckedContinuation<DrainReport, Never>] = []
        var waitingForQuiet: [CheckedContinuation<Void, Never>] = []
        /// What has been reported already, although handlers still run.
        var told: DrainReport?
        var end: DrainReport?
    }

    init(
        sockets: [ListeningSocket],
        limits: Limits,
        timekeeper: any Timekeeper,
        refused: @escaping @Sendable (Status) -> Void,
        handler: @escaping Handler
    ) throws(SystemError) {
        let bell = try Bell()
        self.bell = bell
        self.limits = limits
        lingering = Lingering(capacity: limits.leavers)
        self.timekeeper = timekeeper
        self.refused = refused
        self.handler = handler
        now = timekeeper.elapsed
        executor = LoopExecutor { bell.ring() }
        poll = try Poll()
        for (index, socket) in sockets.enumerated() {
            listeners[Token.firstListener + UInt64(index)] = socket
        }
        try open()
    }
}

// MARK: Around

extension ServerLoop {
    /// The thread's whole life.
    func run() {
        executor.adoptThread()
        for socket in listeners.values where socket.listener.door.isHandedDown {
            welcome(socket.descriptor, at: socket.listener.door)
        }
        while !isOver { turn() }
        finish()
    }

    /// Opens the library and all that the loop sleeps on.
    private func open() throws(SystemError) {
        var callbacks = Callbacks.all
        let context = Unmanaged.passUnretained(self).toOpaque()
        guard let opened = cm_start(limits.connectionMemory, &callbacks, context) else {
            throw SystemError("start the library", code: ENOMEM)
        }
        daemon = opened
        poll.watch(bell.descriptor, CS_READABLE, as: Token.bell)
        poll.watch(cm_epoll(opened), CS_READABLE, as: Token.daemon)
        watchListeners()
    }

    /// A few rounds of what waits for this thread; what goes on for ever is not to stop the rest.
    func runJobs() { executor.runJobs(rounds: 8) }

    func turn() {
        let events = poll.wait(atMost: wait)
        // First, so that whoever rings after a look at the time has the loop look again.
        if events.contains(where: { $0.token == Token.bell }) { bell.quieten() }
        now = timekeeper.elapsed
        for event in events { take(event) }
        obeyOrders()
        lookAtDeadlines()
        seeOff()
        runLibrary()
        partFromSilent()
        runJobs()
        rouseAll()
        census.update(connections: connections.count, lingering: lingering.count)
        goOnDraining()
        answerQuiet()
    }

    /// Milliseconds the loop may sleep for.
    var wait: Int32 {
        if mustRun || !leaving.isEmpty || executor.hasJobs { return 0 }
        if patienceWithLibrary > 0 { return patienceWithLibrary < Self.hurry ? 0 : 1 }
        guard let nextLook else { return -1 }
        let left = nextLook - now
        return left <= .zero ? 0 : Int32(clamping: left.wholeMilliseconds + 1)
    }

    func take(_ event: Poll.Event) {
        switch event.token {
        case Token.bell: break
        case Token.daemon: mustRun = true
        case _ where listeners[event.token] != nil: accept(event.token)
        case _ where lingering.read(event.token): break
        default: connections[event.token].map { peerMoved($0, event) }
        }
    }

    func finish() {
        for socket in listeners.values { socket.close() }
        listeners = [:]
        lingering.endAll()
        if let daemon { cm_stop(daemon) }
        daemon = nil
        let (waiting, quiet) = orders.withLock { orders in
            orders.end = report
            defer { orders.waitingForEnd = [] }
            return (orders.waitingForEnd, orders.waitingForQuiet)
        }
        census.update(connections: 0, lingering: 0)
        for continuation in waiting { continuation.resume(returning: report) }
        for continuation in quiet { continuation.resume() }
    }
}

extension Duration {
    /// Rounded down.
    var wholeMilliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
