import Glibc
public import HTTP
import JSON
public import Logging
public import Metrics
public import System

/// The doors of a host: the API and the operators' side, from opening to closing.
///
/// ```swift
/// let server = try HostServer.open(settings, gate, ops, premises)
/// await server.serve(until: Signals.stream(), …)
/// ```
public final class HostServer: Sendable {
    /// What surrounds a host besides its own rooms.
    public struct Premises: Sendable {
        public var registry: Registry
        public var log: Logger
        public var timekeeper: any Timekeeper
        public var manager: Supervisor
        public var activation: Activation

        public init(
            registry: Registry,
            log: Logger,
            timekeeper: any Timekeeper,
            manager: Supervisor,
            activation: Activation
        ) {
            self.registry = registry
            self.log = log
            self.timekeeper = timekeeper
            self.manager = manager
            self.activation = activation
        }
    }

    private let api: Server
    private let ops: Server
    private let readiness: Readiness
    private let premises: Premises

    private init(api: Server, ops: Server, readiness: Readiness, premises: Premises) {
        self.api = api
        self.ops = ops
        self.readiness = readiness
        self.premises = premises
    }

    /// Opens all listeners, or none. From then on requests are answered.
    ///
    /// - Parameter tally: What is pending, counted; nil if the store cannot say.
    static func open(
        _ settings: HostSettings,
        household: any Household,
        inside: Gate.Inside,
        tokens: TokenCabinet,
        tally: @escaping HouseholdMetrics.Tally,
        premises: Premises
    ) async throws(ShellError) -> HostServer {
        let (registry, timekeeper) = (premises.registry, premises.timekeeper)
        HouseholdMetrics(registry, household: household, tally: tally)
        let gate = Gate(
            inside,
            tokens: tokens,
            isOpen: settings.isOpen,
            registry: registry,
            log: premises.log,
            timekeeper: timekeeper
        )
        let readiness = Readiness()
        let routes = OpsRoutes(
            registry: registry,
            readiness: readiness,
            isStoreReadable: { tally() != nil },
            status: StatusBoard(household, readiness, timekeeper)
        )
        let ops = try await open(settings.opsPlaces(premises.activation), .ops, timekeeper) {
            await routes.respond(to: $0, at: $1)
        }
        do {
            let places = settings.apiPlaces(premises.activation)
            let api = try await open(
                places,
                .api,
                timekeeper,
                isOpen: settings.isOpen,
                refused: { gate.noteRefused($0) }
            ) {
                await gate.respond(to: $0, at: $1)
            }
            return HostServer(api: api, ops: ops, readiness: readiness, premises: premises)
        } catch {
            await ops.stop(within: .zero)
            throw error
        }
    }

    private static func open(
        _ places: [ListenPlace],
        _ limits: Limits,
        _ timekeeper: any Timekeeper,
        isOpen: Bool = false,
        refused: @escaping @Sendable (Status) -> Void = { _ in },
        _ answer: @escaping @Sendable (Request, HostNames) async -> Response
    ) async throws(ShellError) -> Server {
        let listening = try Listening(places)
        let names = NameBoard()
        let server: Server
        do throws(ServerError) {
            server = try Server.start(
                listening.listeners,
                limits: limits,
                timekeeper: timekeeper,
                refused: refused
            ) { request in
                // Whoever comes before the names are known is nobody's guest yet.
                guard let names = names[request.door] else { return .starting }
                return await answer(request, names)
            }
        } catch {
            throw .listener(error.description)
        }
        if isOpen, let address = server.listeners.compactMap(\.tcp).first(where: { !$0.isLoopback })
        {
            await server.stop(within: .zero)
            throw .openToAll(address.description)
        }
        names.write(listening.names(server.listeners))
        return server
    }
}

// MARK: Serving

extension HostServer {
    /// The addresses that the listeners really have.
    public var addresses: Addresses {
        Addresses(
            api: api.listeners.compactMap(\.tcp).first,
            ops: ops.listeners.compactMap(\.tcp).first,
            opsSocket: ops.socket,
            socket: api.socket
        )
    }

    public struct Addresses: Hashable, Sendable {
        public let api: SocketAddress?
        public let ops: SocketAddress?
        /// Absolute paths, for whoever reads them may be in another directory.
        public let opsSocket: String?
        public let socket: String?

        var json: JSON.Raw {
            .object { json in
                if let api { json.add("api", api.description) }
                if let ops = ops?.description ?? opsSocket.map({ "unix:\($0)" }) {
                    json.add("ops", ops)
                }
                if let socket { json.add("socket", socket) }
            }
        }
    }

    /// Says to everybody who waits for it that all listeners accept.
    public func announce(readyFile: String?) throws(ShellError) {
        for listener in api.listeners + ops.listeners {
            premises.log.notice("Listening.", ["address": listener.text])
        }
        readiness.move(to: .ready)
        if let readyFile {
            do {
                let bytes = Array(addresses.json.bytes) + [UInt8(ascii: "\n")]
                try Files.deliver(bytes, to: readyFile)
            } catch {
                throw .readyFile(path: readyFile, reason: error.description)
            }
        }
        premises.manager.tell(.ready("Serving."))
    }

    /// Serves until a signal to end comes; a hang-up has `reload` called. The supervisor hears that the
    /// host is alive for as long as `isAlive` says so.
    func serve(
        until signals: AsyncStream<Signal>,
        isAlive: @escaping @Sendable () -> Bool,
        reload: () async -> Void
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.keepWatch(isAlive) }
            group.addTask { [premises] in await Self.tidyUp(premises.timekeeper) }
            for await signal in signals {
                guard signal == .hangUp else { break }
                await carryOut(reload)
            }
            group.cancelAll()
        }
    }

    private func keepWatch(_ isAlive: () -> Bool) async {
        var wasAlive = true
        await premises.manager.keepWatch(premises.timekeeper) {
            let isAlive = isAlive()
            if wasAlive, !isAlive {
                premises.log.error(
                    "A service does not answer any more; if that lasts, the supervisor ends the host."
                )
            }
            wasAlive = isAlive
            return isAlive
        }
    }

    /// In calm moments only: to look for what can be given back holds up everybody who is at work.
    private static func tidyUp(_ timekeeper: any Timekeeper) async {
        var tidying = Memory.Tidying(beyond: 4 << 20)
        var spent = Processor.timeSpent
        while (try? await timekeeper.sleep(for: .seconds(2))) != nil {
            let now = Processor.timeSpent
            if now - spent < .milliseconds(200) { tidying.tidy() }
            spent = now
        }
    }

    private func carryOut(_ reload: () async -> Void) async {
        premises.manager.tell(.reloading)
        await reload()
        premises.manager.tell(.ready("Serving."))
    }

    /// How long requests that are under way may take when the host is told to end. They are over
    /// within ten seconds, and the accounts and the last flush have as long again.
    public struct Closing: Sendable {
        var within: Duration
        /// What requests need of that to be answered once nobody is waited for any more.
        var answering: Duration
        /// What the accounts and the last flush may take after that. Service managers kill whoever takes longer than
        /// they like, and say less about it.
        var leaving: Duration

        public init(
            within: Duration = .seconds(8),
            answering: Duration = .seconds(2),
            leaving: Duration = .seconds(10)
        ) {
            (self.within, self.answering, self.leaving) = (within, answering, leaving)
        }

        /// Nobody has come in yet.
        var atOnce: Closing {
            Closing(within: .zero, answering: answering, leaving: leaving)
        }
    }

    /// Lets nobody in any more and lets what is under way finish. The operators' side goes last, and
    /// says meanwhile that the host is stopping.
    ///
    /// - Parameters:
    ///   - hangUp: Ends what would never finish by itself, such as streams of events.
    ///   - giveUp: Comes when time is running out, and has requests answered that wait for others.
    ///   - flush: Comes when no request is under way any more.
    public func close(
        _ closing: Closing,
        hangUp: () async -> Void,
        giveUp: @escaping @Sendable () async -> Void = {},
        flush: () async -> Void = {}
    ) async {
        readiness.move(to: .stopping)
        premises.manager.tell(.stopping)
        premises.log.notice("Stopping.")
        await hangUp()
        await withDiscardingTaskGroup { group in
            group.addTask { [premises] in
                let wait = max(.zero, closing.within - closing.answering)
                if (try? await premises.timekeeper.sleep(for: wait)) != nil { await giveUp() }
            }
            await api.stop(within: closing.within)
            group.cancelAll()
        }
        await flush()
        await ops.stop(within: .milliseconds(100))
        premises.log.notice("Stopped.")
    }
}

/// The names of the listeners by their doors, written once they are open.
private final class NameBoard: Sendable {
    private let names = Lock<[String: HostNames]>([:])

    subscript(door: Door) -> HostNames? { names.withLock { $0[door.name] } }

    func write(_ names: [String: HostNames]) { self.names.withLock { $0 = names } }
}

extension Limits {
    /// Files come in whole; all else has a limit of its own, which is lower.
    fileprivate static var api: Limits {
        var limits = Limits()
        limits.body = 128 << 20
        limits.connections = Allotment().callers
        return limits
    }

    fileprivate static var ops: Limits {
        var limits = Limits()
        limits.body = 4_096
        limits.connections = Allotment().operators
        return limits
    }
}

extension HostSettings {
    /// To be called before the host opens anything, for a number may be a socket of its own by then.
    func requireListeners(_ activation: Activation) throws(ShellError) {
        for place in apiPlaces(activation) + opsPlaces(activation) { try place.requireListener() }
    }

    fileprivate func apiPlaces(_ activation: Activation) -> [ListenPlace] {
        let given = unnamed(activation.api)
        let handed = activation.sockets.map(\.place)
        let own = listen.filter { place in !handed.contains { $0.isBound(to: place) } }
        guard !given.isEmpty, !isListenChosen else { return own + given }
        return given + own.filter { if case .unix = $0 { true } else { false } }
    }

    fileprivate func opsPlaces(_ activation: Activation) -> [ListenPlace] {
        let given = unnamed(activation.ops)
        if case .inherited = opsListen { return [opsListen] + given }
        return given.isEmpty ? [opsListen] : given
    }

    /// Without what the operator has named by its number: that is for what it was named, and only for that.
    private func unnamed(_ sockets: [Activation.Socket]) -> [ListenPlace] {
        sockets.map(\.place).filter { $0 != opsListen && !listen.contains($0) }
    }
}

extension Server {
    /// The path of the first of its Unix sockets that has one.
    fileprivate var socket: String? {
        listeners.compactMap(\.path).first { !$0.isEmpty }.map(Files.absolute)
    }
}

extension OpenListener {
    fileprivate var tcp: SocketAddress? {
        if case .tcp(let address) = address { address } else { nil }
    }

    fileprivate var path: String? {
        if case .unix(let path) = address { path } else { nil }
    }

    fileprivate var text: String {
        tcp?.description ?? path.flatMap { $0.isEmpty ? nil : $0 } ?? "a socket without a name"
    }
}

extension Response {
    fileprivate static var starting: Response {
        var response = text("The host is starting.", status: .unavailable)
        response.headers["Retry-After"] = "1"
        return response
    }
}
