import Bitwarden
import HTTP
import JSON
import System
import Vault

/// Keeps the world, and lets one call after the other change it.
actor Ledger {
    /// What is to be done with a call.
    enum Admission: Sendable {
        case done(Reply)
        /// Something is to go wrong; the call is not carried out yet.
        case faulty(Fault.Effect, Call)
    }

    private var world: World
    private var desk = FaultDesk()
    private var limits = RateLimits()
    private(set) var traffic = Traffic()
    /// The world as it was when it was last remembered.
    private var remembered: World?
    private nonisolated let clockShift = Lock<Int64>(0)
    private var store = StampStore.exact
    private let time: any Timekeeper
    /// Decides which calls a fault hits.
    private var chance: any Chance
    private let events: @Sendable ([Announcement]) -> Void
    private let archive: Archive?
    /// How many states of the world were given to the archive.
    private var states = 0

    init(
        _ world: World,
        time: any Timekeeper,
        chance: any Chance,
        archive: Archive?,
        events: @escaping @Sendable ([Announcement]) -> Void
    ) {
        self.world = world
        self.time = time
        self.chance = chance
        self.archive = archive
        self.events = events
    }

    /// Answers a call, unless a fault has been ordered that it meets.
    func admit(_ call: Call, _ route: Routes.Route) async -> Admission {
        var call = call
        call.now = now
        guard traffic.admit(route.operation, at: call.now) else {
            return .done(world.personality.tooMuchTraffic)
        }
        if let breach = limits.breach(by: call, world.personality) {
            let (rule, seconds) = breach
            return .done(world.personality.refusal(of: rule, secondsLeft: seconds))
        }
        if route.wantsSession {
            call.session = session(of: call, route.operation)
        }
        if !desk.orders.isEmpty,
            let effect = desk.effect(on: route.operation, of: account(of: call, route), chance)
        {
            return .faulty(effect, call)
        }
        return .done(await carryOut(call, route))
    }

    /// Carries the call out and answers when that is kept.
    func carryOut(_ call: Call, _ route: Routes.Route, isHeard: Bool = true) async -> Reply {
        var call = call
        call.now = now
        let reply = answer(call, route, &world)
        let (announcements, changes) = (world.announcements, world.changes)
        world.announcements = []
        world.changes = []
        world.keep(changes, in: store)
        if let archive, !changes.isEmpty {
            states += 1
            do {
                try await archive.keep(changes, of: world, number: states)
            } catch {
                return Reply(.insufficientStorage)
            }
        }
        if isHeard, !announcements.isEmpty { events(announcements) }
        return reply
    }

    /// Carries out a call that another device of the same user might have made.
    func carryOutForAnother(_ call: Call, _ route: Routes.Route) async -> Reply {
        var call = call
        call.now = now
        call.session = session(of: call, route.operation)?.ofAnotherDevice
        return await carryOut(call, route)
    }

    /// Answers from the world as it was remembered, and changes nothing.
    func answerOutdated(_ call: Call, _ route: Routes.Route) -> Reply {
        var past = remembered ?? world
        // Tokens are not what is out of date.
        past.sessions = world.sessions
        return answer(call, route, &past)
    }

    /// The answer and the events that the call would bring, without carrying it out.
    func foresee(_ call: Call, _ route: Routes.Route) {
        var future = world
        _ = answer(call, route, &future)
        events(future.announcements)
    }

    private func answer(_ call: Call, _ route: Routes.Route, _ world: inout World) -> Reply {
        do throws(Refusal) {
            if route.wantsSession, call.session == nil { throw .unauthorized }
            return try route.deed(call, &world)
        } catch {
            return world.personality.wording.answer(error)
        }
    }

    private var now: Moment {
        Moment(ticks: Moment(time.now).ticks + clockShift.withLock(\.self))
    }

    /// What its answers are dated by; nil while its clock is that of the machine.
    nonisolated var date: String? {
        let shift = clockShift.withLock(\.self)
        if shift == 0 { return nil }
        return httpDate((Moment(time.now).ticks + shift) / Moment.ticksPerSecond)
    }

    private func session(of call: Call, _ operation: Operation) -> Session? {
        guard
            let header = call.headers["Authorization"], header.hasPrefix("Bearer "),
            let session = world.session(ofToken: String(header.dropFirst(7)), at: call.now)
        else { return nil }
        guard let account = world.accounts[session.userID] else {
            let isTold = world.personality.toldByNegativeRevision && operation == .revisionDate
            return isTold ? session : nil
        }
        if world.personality.checksStampAlways, session.stamp != account.securityStamp {
            return nil
        }
        return session
    }

    /// Whom a call is about, also before anybody is logged in.
    private func account(
        of call: Call,
        _ route: Routes.Route
    ) -> (id: String, email: String)? {
        var id = call.session?.userID
        switch route.operation {
        case .token:
            let form = Form(call.body)
            id = form?["username"].flatMap { world.idsByEmail[Account.plain($0)] }
            id = id ?? form?["refresh_token"].flatMap { world.renewals[$0]?.userID }
            id = id ?? form?["client_id"].map { String($0.dropFirst(5)) }
        case .prelogin:
            let email = (try? call.read(PreloginRequest.self))?.email
            id = email.flatMap { world.idsByEmail[Account.plain($0)] }
        case .downloadFile:
            let cipherID = call.parameters.first?.lowercased() ?? ""
            id = world.accounts.first { $0.value.ciphers[cipherID] != nil }?.key
        case .hub: id = session(ofToken: call.hubToken)?.userID
        default: break
        }
        guard let id, let account = world.accounts[id] else { return nil }
        return (id, account.email)
    }
}

// MARK: What whoever tests with it can do

extension Ledger {
    func order(_ fault: Fault) -> Int { desk.add(fault) }
    func withdraw(_ number: Int) -> Bool { desk.remove(number) }
    func withdrawAll() { desk.removeAll() }

    var orders: [FaultDesk.Order] { desk.orders }

    /// From now on, the same calls meet the same faults whenever the seed is the same.
    func setSeed(_ seed: UInt64) { chance = SeededChance(seed: seed) }

    /// Whether clients are held to the limits that the server would hold them to.
    func setLimits(_ isOn: Bool) {
        limits = RateLimits()
        limits.isOn = isOn
    }

    func setTrafficLimit(_ perSecond: Int?) { traffic.limit = perSecond }

    func forgetTraffic() { traffic.forget() }

    func remember() { remembered = world }

    /// Everything is as it was when it was remembered, as after a restored backup. Whoever is logged in
    /// stays so.
    func rollBack() {
        guard var past = remembered else { return }
        past.sessions = world.sessions
        past.renewals = world.renewals
        past.lastStamp = world.lastStamp
        past.changes = world.allParts.union(past.allParts)
        world = past
    }

    func shiftClock(seconds: Int64) {
        clockShift.withLock { $0 = seconds * Moment.ticksPerSecond }
        world.lastStamp = Moment(ticks: 0)
    }

    func setStampDigits(_ digits: Int) { world.setStampDigits(digits) }

    /// What is there already is kept as if it had always been.
    func keepStamps(in store: StampStore) {
        self.store = store
        world.keep(world.allParts, in: store)
        world.changes.formUnion(world.allParts)
    }

    func setFeature(_ name: String, _ value: JSON.Raw?) { world.featureStates[name] = value }

    func setMember(_ member: Organization.Member?, _ userID: String, in organizationID: String) {
        world.setMember(member, userID, in: organizationID, at: now)
    }

    func session(ofToken token: String) -> Session? { world.session(ofToken: token, at: now) }

    func userID(ofEmail email: String) -> String? { world.idsByEmail[Account.plain(email)] }

    /// The code that was mailed to the owner of the address, who alone should know it.
    func mailedCode(_ email: String) -> String? {
        userID(ofEmail: email).flatMap { world.accounts[$0]?.mailedCode }
    }

    var accountCount: Int { world.accounts.count }
}
