public import Crypto
public import HTTP
public import JSON
public import Messaging
public import System

/// A server that speaks like Bitwarden's or like Vaultwarden, for demos, tests and load.
///
/// ```swift
/// let upstream = try await EmbeddedUpstream.start(Settings(.vaultwarden))
/// await withDiscardingTaskGroup { services in
///     services.addTask { await upstream.run() }
///     …                       // upstream.url
///     upstream.close()
/// }
/// ```
///
/// It keeps what it is given and opens nothing: items stay encrypted, as they came. Whatever can go
/// wrong with a server can be ordered, with ``inject(_:)`` or under `/_faults`.
public final class EmbeddedUpstream: Service {
    public struct Settings: Sendable {
        public var personality: Personality
        /// `nil` for one that is only reached without a socket.
        public var address: SocketAddress?
        /// Where accounts are kept; in memory, if `nil`.
        public var directory: String?

        public init(
            _ personality: Personality,
            address: SocketAddress? = SocketAddress(host: "127.0.0.1", port: 0),
            directory: String? = nil
        ) {
            self.personality = personality
            self.address = address
            self.directory = directory
        }
    }

    public let personality: Personality
    private let ledger: Ledger
    private let router: Router
    private let late: LateCommits
    private let absences: Absences
    private let entrance: Entrance?
    private let archive: Archive?
    private let hub: Hub?

    private init(
        _ settings: Settings,
        _ world: World,
        _ archive: Archive?,
        _ time: any Timekeeper,
        _ chance: any Entropy
    ) throws(UpstreamError) {
        let hub = try settings.address.map { _ throws(UpstreamError) in
            try Self.openHub(settings.personality, time)
        }
        self.hub = hub
        personality = settings.personality
        self.archive = archive
        late = LateCommits(time: time)
        absences = Absences(time: time)
        ledger = Ledger(world, time: time, chance: chance, archive: archive) { hub?.tell($0) }
        router = Self.router(
            ledger,
            personality,
            (late, absences.address),
            hub,
            time,
            chance
        )
        let handler = Self.handler(router, personality)
        do throws(ServerError) {
            entrance = try settings.address.map { address throws(ServerError) in
                try Entrance(address, time: time, handler: handler)
            }
        } catch {
            hub?.close()
            throw .cannotListen(error)
        }
    }

    private static func openHub(
        _ personality: Personality,
        _ time: any Timekeeper
    ) throws(UpstreamError) -> Hub {
        do throws(SystemError) {
            return try Hub(personality.hub, time)
        } catch {
            throw .cannotListen(.unusable(reason: error.description))
        }
    }

    /// Opens the door. What the calls leave for later is done while ``run()`` lasts.
    public static func start(
        _ settings: Settings,
        time: any Timekeeper = SystemTimekeeper(),
        chance: any Entropy = SystemEntropy()
    ) async throws(UpstreamError) -> EmbeddedUpstream {
        let archive = try await settings.directory.asyncMap { path throws(UpstreamError) in
            try await Archive.open(path, settings.personality)
        }
        var world = World(settings.personality)
        if let archive { try await archive.restore(&world) }
        do {
            return try EmbeddedUpstream(settings, world, archive, time, chance)
        } catch {
            try? await archive?.close()
            throw error
        }
    }

    /// Serves what comes, and does late what is to be late, until it is closed.
    public func run() async {
        await withDiscardingTaskGroup { services in
            services.addTask { await self.late.run(for: self.ledger) }
            services.addTask { await self.absences.run(at: self.entrance) }
        }
    }

    /// Whether a call that is to be carried out late is due, and not carried out yet.
    public var isBehind: Bool { late.isBehind }

    public func close() {
        late.close()
        absences.close()
        hub?.close()
    }

    /// Lets nobody in any more, finishes what is under way within that time, and lets go of the disk.
    public func stop(within time: Duration) async {
        await entrance?.close(within: time)
        close()
        try? await archive?.close()
    }
}

// MARK: Reaching it

extension EmbeddedUpstream {
    /// The address that clients are told. Without a socket there is a name that nobody can reach.
    public var url: String {
        entrance.map { "http://\($0.address)" } ?? "http://localhost"
    }

    public var address: SocketAddress? { entrance?.address }

    /// Answers a request that has not come over a socket.
    public var handler: Handler { Self.handler(router, personality) }

    /// Closes the door: whoever comes is refused, whoever is there is cut off.
    public func goAway() async {
        await entrance?.close(within: .zero)
    }

    /// Opens it again, at the same address.
    public func comeBack() throws(UpstreamError) {
        do throws(ServerError) {
            try entrance?.open()
        } catch {
            throw .cannotListen(error)
        }
    }
}

// MARK: What is to go wrong

extension EmbeddedUpstream {
    /// Orders a fault.
    ///
    /// - Returns: Its number.
    @discardableResult
    public func inject(_ fault: Fault) async -> Int { await ledger.order(fault) }

    public func withdraw(_ number: Int) async { _ = await ledger.withdraw(number) }

    public func withdrawAll() async { await ledger.withdrawAll() }

    /// How often a fault has hit a call.
    public func hits(_ number: Int) async -> Int {
        await ledger.orders.first { $0.number == number }?.hits ?? 0
    }

    /// Whether clients are held to the limits that the server would hold them to. At first they are not.
    public func setLimits(_ isOn: Bool) async { await ledger.setLimits(isOn) }

    /// How many calls the server takes in a second from all its clients together; nil means all. More
    /// are answered with 429.
    public func setTrafficLimit(_ perSecond: Int?) async { await ledger.setTrafficLimit(perSecond) }

    /// What it was asked since it began, or since ``forgetTraffic()``.
    public var traffic: Traffic { get async { await ledger.traffic } }

    public func forgetTraffic() async { await ledger.forgetTraffic() }

    /// Keeps the world as it is, for ``rollBack()`` and for answers that are out of date.
    public func remember() async { await ledger.remember() }

    public func rollBack() async { await ledger.rollBack() }

    public func shiftClock(seconds: Int64) async { await ledger.shiftClock(seconds: seconds) }

    public func setStampDigits(_ digits: Int) async { await ledger.setStampDigits(digits) }

    /// From now on, answers to writes have other stamps than what is read later.
    public func keepStamps(in store: StampStore) async { await ledger.keepStamps(in: store) }

    /// Sets one of the switches that the server tells its clients; `nil` takes it away.
    public func setFeature(_ name: String, _ value: JSON.Raw?) async {
        await ledger.setFeature(name, value)
    }

    /// The user's id at this server.
    public func userID(of email: String) async -> String? { await ledger.userID(ofEmail: email) }

    public var accountCount: Int { get async { await ledger.accountCount } }
}

// MARK: Wiring

extension EmbeddedUpstream {
    private static func handler(_ router: Router, _ personality: Personality) -> Handler {
        { request in
            guard router.finds(request) else {
                let isAPI = ["api", "identity"].contains(request.target.segments.first ?? "")
                return personality.wording.answer(.noRoute(isAPI: isAPI)).response
            }
            return await router.respond(to: request)
        }
    }

    private static func router(
        _ ledger: Ledger,
        _ personality: Personality,
        _ services: (late: LateCommits, absences: Address<Duration>),
        _ hub: Hub?,
        _ time: any Timekeeper,
        _ chance: any Entropy
    ) -> Router {
        let routes = Routes(personality).all
        let front = Front(
            ledger: ledger,
            personality: personality,
            time: time,
            chance: chance,
            late: services.late,
            absences: services.absences,
            passingPlace: PassingPlace(),
            backdoor: backdoor(routes, ledger, personality, hub, chance)
        )
        var router = Router()
        for route in routes where route.operation != .hub {
            router.on(route.method, route.template) { await front.serve($0, route) }
        }
        if let hub, let route = routes.first(where: { $0.operation == .hub }) {
            router.on(route.method, route.template) { request in
                let response = await front.serve(request, route)
                let token = Call.hubToken(request.target, request.headers)
                return hub.answer(response, await ledger.session(ofToken: token))
            }
        }
        ControlRoutes(ledger: ledger, hub: hub).add(to: &router)
        return router
    }

    /// For another device of the user whose call is under way, and for what is done to the world while
    /// that call waits.
    private static func backdoor(
        _ routes: [Routes.Route],
        _ ledger: Ledger,
        _ personality: Personality,
        _ hub: Hub?,
        _ chance: any Entropy
    ) -> Router {
        var router = Router()
        ControlRoutes(ledger: ledger, hub: hub).add(to: &router)
        for route in routes where route.operation != .hub {
            router.on(route.method, route.template) { request in
                guard let call = await Front.call(request, personality, chance) else {
                    return .cut
                }
                return await ledger.carryOutForAnother(call, route).response
            }
        }
        return router
    }
}

extension Optional where Wrapped: Sendable {
    fileprivate func asyncMap<Result, Failure: Error>(
        _ transform: (Wrapped) async throws(Failure) -> Result
    ) async throws(Failure) -> Result? {
        guard let self else { return nil }
        return try await transform(self)
    }
}
