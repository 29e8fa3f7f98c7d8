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
    let limits: Limits
    /// Bytes of a body or an answer that lie here while the other side is behind.
    let patience = 65_536
    let census = Census()

    private(set) var now: Duration
    /// Handlers that have not ended yet.
    var handlers = 0 { didSet { census.handlers.store(handlers, ordering: .relaxed) } }
    /// The library has something to do, whatever its descriptors say.
    var mustRun = false

    private let timekeeper: any Timekeeper
    private let bell: Bell
    private let orders = Lock(Orders())
    private let poll: Poll
    private var daemon: OpaquePointer?
    private var listeners: [UInt64: ListeningSocket] = [:]
    private var connections: [UInt64: Connection] = [:]
    private var halfClosed: [UInt64: Connection] = [:]
    /// Exchanges that have nothing to say in this run of the library's.
    private var restless: [Exchange] = []
    private var lingering = Lingering()
    private var nextIdentity: UInt64 = 1_000
    private var nextLook: Duration?
    private var arriving: Arrival?
    private var isAccepting = true
    private var drain = Drain.none
    private var report = DrainReport()
    private var patienceWithLibrary = 0
    /// How often the library has called, ever.
    var calls = 0

    private enum Token {
        static let bell: UInt64 = 0
        static let daemon: UInt64 = 1
        static let firstListener: UInt64 = 2
    }

    private struct Arrival {
        let door: Door
        let peer: Peer
    }

    struct Orders {
        var roused: [Exchange] = []
        var drainTime: Duration?
        var waitingForEnd: [CheckedContinuation<DrainReport, Never>] = []
        var waitingForQuiet: [CheckedContinuation<Void, Never>] = []
        var end: DrainReport?
    }

    init(
        sockets: [ListeningSocket],
        limits: Limits,
        timekeeper: any Timekeeper,
        handler: @escaping Handler
    ) throws(SystemError) {
        let bell = try Bell()
        self.bell = bell
        self.limits = limits
        self.timekeeper = timekeeper
        self.handler = handler
        now = timekeeper.elapsed
        executor = LoopExecutor { bell.ring() }
        poll = try Poll()
        for (index, socket) in sockets.enumerated() {
            listeners[Token.firstListener + UInt64(index)] = socket
        }
    }
}

// MARK: Around

extension ServerLoop {
    /// The thread's whole life.
    func run() {
        executor.adoptThread()
        guard open() else { return finish() }
        while !isOver { turn() }
        finish()
    }

    private func open() -> Bool {
        var callbacks = Callbacks.all
        let context = Unmanaged.passUnretained(self).toOpaque()
        // Room for the head, for the library's records of its fields, and for the answer's head.
        let memory = limits.head + limits.fields * 64 + 4_096
        daemon = cm_start(memory, &callbacks, context)
        guard let daemon else { return false }
        poll.watch(bell.descriptor, CS_READABLE, as: Token.bell)
        poll.watch(cm_epoll(daemon), CS_READABLE, as: Token.daemon)
        for (token, socket) in listeners { poll.watch(socket.descriptor, CS_READABLE, as: token) }
        return true
    }

    private func turn() {
        let events = poll.wait(atMost: wait)
        // First, so that whoever rings after a look at the time has the loop look again.
        if events.contains(where: { $0.token == Token.bell }) { bell.quieten() }
        now = timekeeper.elapsed
        for event in events { take(event) }
        obeyOrders()
        lookAtDeadlines()
        runLibrary()
        partFromSilent()
        executor.runJobs()
        rouseAll()
        census.update(connections: connections.count, lingering: lingering.count)
        goOnDraining()
        answerQuiet()
    }

    /// Milliseconds the loop may sleep for.
    private var wait: Int32 {
        if mustRun { return 0 }
        if patienceWithLibrary > 0 { return patienceWithLibrary < Self.hurry ? 0 : 1 }
        guard let nextLook else { return -1 }
        let left = nextLook - now
        return left <= .zero ? 0 : Int32(clamping: left.wholeMilliseconds + 1)
    }

    private func take(_ event: Poll.Event) {
        switch event.token {
        case Token.bell: break
        case Token.daemon: mustRun = true
        case _ where listeners[event.token] != nil: accept(event.token)
        case _ where lingering.read(event.token): break
        default: connections[event.token].map { peerMoved($0, event) }
        }
    }

    private func finish() {
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

// MARK: Letting in

extension ServerLoop {
    private static let acceptedAtOnce = 64

    private func accept(_ token: UInt64) {
        guard let socket = listeners[token] else { return }
        for _ in 0..<Self.acceptedAtOnce {
            let descriptor = cm_accept(socket.descriptor)
            guard descriptor >= 0 else { return rest(after: errno) }
            welcome(descriptor, at: socket.listener.door)
        }
    }

    /// Out of descriptors or memory: to ask again at once would be for nothing, and without end.
    private func rest(after code: Int32) {
        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code), isAccepting else { return }
        isAccepting = false
        for socket in listeners.values { poll.forget(socket.descriptor) }
        lookAgain(at: now + .milliseconds(100))
    }

    private func acceptAgain() {
        guard !isAccepting else { return }
        isAccepting = true
        for (token, socket) in listeners { poll.watch(socket.descriptor, CS_READABLE, as: token) }
    }

    private func welcome(_ descriptor: Int32, at door: Door) {
        guard connections.count < limits.connections else { return turnAway(descriptor) }
        guard let daemon, let peer = Peer(of: descriptor, door.kind) else {
            close(descriptor)
            return
        }
        arriving = Arrival(door: door, peer: peer)
        cm_add(daemon, descriptor)
        arriving = nil
        mustRun = true
    }

    private func turnAway(_ descriptor: Int32) {
        let bytes = Refusal.tooManyConnections.response.wholeForm
        cm_say(descriptor, bytes, bytes.count)
        linger(descriptor)
    }

    /// Takes the descriptor over.
    private func linger(_ descriptor: Int32) {
        guard descriptor >= 0 else { return }
        guard !lingering.isFull else {
            close(descriptor)
            return
        }
        let identity = newIdentity()
        lingering.add(descriptor, as: identity, until: now + limits.lingerTime)
        poll.watch(descriptor, CS_READABLE, as: identity)
        lookAgain(at: now + limits.lingerTime)
    }

    private func newIdentity() -> UInt64 {
        nextIdentity += 1
        return nextIdentity
    }
}

// MARK: What the library says

extension ServerLoop {
    func opened(_ descriptor: Int32) -> Connection {
        let connection = Connection(
            identity: newIdentity(),
            descriptor: descriptor,
            door: arriving?.door ?? .memory,
            peer: arriving?.peer ?? .memory
        )
        connections[connection.identity] = connection
        poll.watchDeparture(descriptor, as: connection.identity)
        connection.enter(.head, until: now + limits.headTime)
        look(at: connection)
        return connection
    }

    func closed(_ connection: Connection) {
        poll.forget(connection.descriptor)
        connections[connection.identity] = nil
        halfClosed[connection.identity] = nil
        if connection.mustLinger { linger(cm_duplicate(connection.descriptor)) }
    }

    func targeted(_ connection: Connection, _ target: [UInt8]) -> Exchange {
        let exchange = Exchange(loop: self, connection: connection, target: target)
        connection.exchange = exchange
        census.exchangesBegan()
        connection.enter(.head, until: now + limits.headTime)
        look(at: connection)
        return exchange
    }

    func completed(_ exchange: Exchange) {
        let connection = exchange.connection
        exchange.completed()
        connection.exchange = nil
        census.exchangesEnded()
        connection.enter(.idle, until: now + limits.idleTime)
        look(at: connection)
        if isDraining { cutIfIdle(connection) }
    }

    private func runLibrary() {
        guard let daemon, mustRun || patienceWithLibrary > 0 else { return }
        let callsBefore = calls
        mustRun = false
        cm_run(daemon)
        for exchange in restless { exchange.rest() }
        restless.removeAll(keepingCapacity: true)
        guard cm_is_pending(daemon) != 0 else {
            patienceWithLibrary = 0
            return
        }
        patienceWithLibrary = calls == callsBefore ? patienceWithLibrary + 1 : 1
        if patienceWithLibrary == Self.hurry { cutStuck() }
    }

    /// Turns in which the library wants to run but calls nobody, before it is helped.
    ///
    /// A chunk extension that fills its whole buffer leaves it wanting to run for ever, without
    /// reading on. Nothing else needs more than a few turns.
    private static var hurry: Int { 1_000 }

    private func cutStuck() {
        for connection in connections.values where connection.phase == .body {
            guard cm_unread(connection.descriptor) > 0 else { continue }
            connection.say(Refusal.malformed("The chunks cannot be told apart.").response)
            connection.cut()
        }
    }
}

// MARK: Clients that move, or do not

extension ServerLoop {
    /// Has the exchange rest once the library's run is over, unless there is something to do by then.
    func restAfterRun(_ exchange: Exchange) { restless.append(exchange) }

    /// Gives a handler time; as much as it takes, but not for a client that may have left.
    func leaveAlone(_ connection: Connection) {
        guard connection.isHalfClosed else { return connection.enter(.handling, until: nil) }
        connection.enter(.waning, until: now + limits.halfClosedTime)
        look(at: connection)
    }

    /// Has the connection's deadline looked at when it is due.
    func look(at connection: Connection) {
        if let deadline = connection.deadline { lookAgain(at: deadline) }
    }

    private func lookAgain(at moment: Duration) {
        nextLook = min(nextLook ?? moment, moment)
    }

    private func peerMoved(_ connection: Connection, _ event: Poll.Event) {
        if event.hasHungUp {
            connection.exchange?.doom()
            return
        }
        connection.isHalfClosed = true
        halfClosed[connection.identity] = connection
        if connection.phase == .handling { leaveAlone(connection) }
    }

    /// Ends connections whose clients owe the next word and will not say it. The library does not
    /// notice when the end came together with the last bytes.
    private func partFromSilent() {
        guard !mustRun, patienceWithLibrary == 0 else { return }
        for connection in halfClosed.values
        where connection.isClientsTurn && cm_unread(connection.descriptor) <= 0 {
            connection.cut()
        }
    }

    private static let shortestRest = Duration.milliseconds(100)

    private func lookAtDeadlines() {
        guard let due = nextLook, due <= now else { return }
        acceptAgain()
        lingering.endAll(before: now)
        nextLook = [lingering.nextDeadline, drainDeadline].compactMap(\.self).min()
        for connection in connections.values {
            guard let deadline = connection.deadline else { continue }
            if deadline <= now { expire(connection) } else { lookAgain(at: deadline) }
        }
        // Thousands of deadlines close to each other are looked at together.
        nextLook = nextLook.map { max($0, now + Self.shortestRest) }
    }

    private func expire(_ connection: Connection) {
        switch connection.phase {
        case .waning: connection.exchange?.doom()
        case .head where connection.exchange == nil: connection.cut()
        case .head, .body:
            connection.dismiss(with: Refusal.tooSlow.response, until: now + limits.lingerTime)
            look(at: connection)
            connection.exchange?.doom()
        case .idle, .answering, .dismissed:
            connection.exchange?.doom()
            connection.cut()
        case .handling, .cut: break
        }
    }
}

// MARK: Orders from elsewhere

extension ServerLoop {
    /// Has a parked exchange looked at again. From any thread.
    func rouse(_ exchange: Exchange) {
        orders.withLock { $0.roused.append(exchange) }
        if !executor.isOnLoop { bell.ring() }
    }

    private func rouseAll() {
        while true {
            let roused = orders.withLock { orders in
                defer { orders.roused.removeAll(keepingCapacity: true) }
                return orders.roused
            }
            if roused.isEmpty { return }
            for exchange in roused { exchange.wake() }
        }
    }

    /// Stops the loop, and returns when that is done.
    func stop(within time: Duration) async -> DrainReport {
        await withCheckedContinuation { continuation in
            let end = orders.withLock { orders -> DrainReport? in
                if orders.end == nil { orders.waitingForEnd.append(continuation) }
                orders.drainTime = orders.drainTime ?? time
                return orders.end
            }
            if let end { continuation.resume(returning: end) } else { bell.ring() }
        }
    }

    /// Has the loop look at the time.
    func nudge() { bell.ring() }

    /// Returns once there is no connection and no handler.
    func quiet() async {
        await withCheckedContinuation { continuation in
            let isOver = orders.withLock { orders in
                if orders.end == nil { orders.waitingForQuiet.append(continuation) }
                return orders.end != nil
            }
            if isOver { continuation.resume() } else { bell.ring() }
        }
    }

    /// Whether its thread is through with it. From any thread.
    var hasEnded: Bool { orders.withLock { $0.end != nil } }

    private func answerQuiet() {
        guard connections.isEmpty, handlers == 0, lingering.isEmpty else { return }
        let waiting = orders.withLock { orders in
            defer { orders.waitingForQuiet = [] }
            return orders.waitingForQuiet
        }
        for continuation in waiting { continuation.resume() }
    }

    private func obeyOrders() {
        guard case .none = drain, let time = orders.withLock(\.drainTime) else { return }
        drain = .finishing(until: now + time)
        lookAgain(at: now + time)
        for socket in listeners.values {
            poll.forget(socket.descriptor)
            socket.close()
        }
        listeners = [:]
        for connection in connections.values { cutIfIdle(connection) }
    }
}

// MARK: The end

extension ServerLoop {
    var isDraining: Bool {
        if case .none = drain { false } else { true }
    }

    private var isOver: Bool {
        isDraining && connections.isEmpty && handlers == 0
    }

    private var drainDeadline: Duration? {
        switch drain {
        case .finishing(let until), .cutting(let until): until
        case .none, .reported: nil
        }
    }

    /// A request that is on its way already is still answered.
    private func cutIfIdle(_ connection: Connection) {
        guard connection.exchange == nil, cm_unread(connection.descriptor) <= 0 else { return }
        connection.cut()
    }

    private func goOnDraining() {
        guard let deadline = drainDeadline, deadline <= now else { return }
        switch drain {
        case .finishing: cutAll()
        case .cutting: reportStillRunning()
        case .none, .reported: break
        }
    }

    private func cutAll() {
        for connection in connections.values {
            if let exchange = connection.exchange {
                report.cut += 1
                exchange.doom()
            }
            connection.cut()
        }
        drain = .cutting(until: now + .seconds(1))
        lookAgain(at: now + .seconds(1))
    }

    private func reportStillRunning() {
        drain = .reported
        report.stillRunning = handlers
        let waiting = orders.withLock { orders in
            defer { orders.waitingForEnd = [] }
            return orders.waitingForEnd
        }
        for continuation in waiting { continuation.resume(returning: report) }
    }
}

extension Duration {
    /// Rounded down.
    var wholeMilliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
