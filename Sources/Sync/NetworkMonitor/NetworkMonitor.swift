internal import Logging
public import Messaging
internal import System
public import Vault

/// Knows whether one upstream can be reached, and tells those who wait for it.
///
/// Real traffic is heard first, then the kernel, then a probe while something waits. What the
/// evidence means is decided by ``NetworkBelief``.
public final class NetworkMonitor: Service {
    public var address: Address<Message> { mailbox.address }

    /// What is known now; asking costs nothing.
    public var standing: Standing { known.withLock { $0 } }

    let upstream: String
    let probe: @Sendable () async -> Evidence?
    let surroundings: Surroundings
    private let known: Lock<Standing>
    private let mailbox = Mailbox<Message>(name: "network-monitor", capacity: 1_024)

    public struct Standing: Hashable, Sendable {
        public var state: NetworkState
        public var since: Moment
    }

    /// A probe that takes longer has found nobody.
    static let probeTime = Duration.seconds(15)

    /// - Parameters:
    ///   - upstream: Its address, as events name it.
    ///   - probe: Asks the smallest question there is. Nil if it could not be asked.
    public init(
        upstream: String,
        probe: @escaping @Sendable () async -> Evidence?,
        surroundings: Surroundings
    ) {
        self.upstream = upstream
        self.probe = probe
        self.surroundings = surroundings
        known = Lock(Standing(state: .online, since: surroundings.now))
    }

    public func close() { mailbox.close() }

    /// To be asked before what cannot wait: nobody waits for an upstream that is known to be away.
    ///
    /// - Parameter operation: What is not tried then, in a word or two.
    public func requireReach(for operation: String) throws(Setback) {
        guard standing.state == .offline else { return }
        // Else nobody might ask whether it still is.
        try? address.tryTell(.refused)
        throw Setback(.unreachable(.held(until: surroundings.now)), operation: operation)
    }

    public func run() async {
        var watch = Watch()
        await withDiscardingTaskGroup { errands in
            for await message in mailbox {
                take(message, &watch, &errands)
                if watch.belief.takesProbe(at: now) { errands.addTask { await self.sendProbe() } }
                setAlarm(&watch, &errands)
            }
            errands.cancelAll()
        }
    }

    private var now: Duration { surroundings.timekeeper.elapsed }
}

extension NetworkMonitor {
    public enum Message: Sendable {
        /// A call came to an end.
        case heard(Evidence)
        /// Links or routes of this machine have changed.
        case linksChanged
        /// Whether this host is to behave as if every upstream were unreachable.
        /// Answered once it is known again how the network stands, which after a drill a probe tells.
        case drill(Bool, Reply<Void>? = nil)
        /// The scheduler of an account is to hear when the network returns.
        case join(userID: String, Address<SyncScheduler.Message>)
        case leave(userID: String)
        /// Somebody has an account there.
        case reliedOn
        /// Whether the account has something that waits for the network.
        case waits(userID: String, Bool)
        /// Somebody was refused because upstream is out of reach.
        case refused
        /// Shows that messages are read.
        case pulse(Reply<Void>)
        case noted(Note)
    }

    /// What the monitor tells itself.
    public struct Note: Sendable {
        enum Kind {
            case probed(Evidence?)
            case alarm(Duration)
        }

        let kind: Kind
    }
}

/// What the loop of a monitor keeps in mind.
private struct Watch {
    var belief = NetworkBelief()
    var schedulers: [String: Address<SyncScheduler.Message>] = [:]
    var waiting: Set<String> = []
    /// Who wants to know what the probe after a drill finds.
    var askers: [Reply<Void>] = []
    var alarms = Alarms()
}

extension NetworkMonitor {
    private func take(
        _ message: Message,
        _ watch: inout Watch,
        _ errands: inout DiscardingTaskGroup
    ) {
        let chance = surroundings.chance.fraction()
        switch message {
        case .heard(let evidence):
            pass(on: watch.belief.hear(evidence, at: now, chance: chance), watch, &errands)
        case .linksChanged: watch.belief.linksChanged(at: now)
        case .drill(let isOn, let asker):
            pass(on: watch.belief.drill(isOn, at: now), watch, &errands)
            watch.askers += [asker].compactMap(\.self)
            watch.answerAskers()
        case .join(let userID, let scheduler): watch.schedulers[userID] = scheduler
        case .reliedOn: watch.belief.reliedOn(at: now, chance: chance)
        case .leave(let userID):
            watch.schedulers[userID] = nil
            watch.note(userID, waits: false, at: now, chance: chance)
        case .waits(let userID, let something):
            watch.note(userID, waits: something, at: now, chance: chance)
        case .refused: watch.belief.refused(at: now, chance: chance)
        case .pulse(let reply): reply.answer()
        case .noted(let note): take(note.kind, chance, &watch, &errands)
        }
    }

    private func take(
        _ note: Note.Kind,
        _ chance: Double,
        _ watch: inout Watch,
        _ errands: inout DiscardingTaskGroup
    ) {
        switch note {
        case .probed(let evidence):
            pass(on: watch.belief.probed(evidence, at: now, chance: chance), watch, &errands)
            watch.answerAskers()
        case .alarm(let moment): watch.alarms.ring(moment)
        }
    }

    /// Everybody who asks from now on hears of it; then those are told who do not ask.
    private func pass(
        on turn: NetworkBelief.Turn?,
        _ watch: Watch,
        _ errands: inout DiscardingTaskGroup
    ) {
        guard let turn else { return }
        known.withLock { $0 = Standing(state: turn.state, since: surroundings.now) }
        surroundings.metrics.network(became: turn.state)
        surroundings.log.notice(
            "The way to an upstream has changed.",
            ["upstream": upstream, "state": turn.state.rawValue, "drill": watch.belief.isDrill]
        )
        surroundings.announce(.network(upstream: upstream, turn.state))
        guard turn.hasReturned else { return }
        let trigger: SyncScheduler.Trigger = turn.wasAway ? .networkReturned : .recovered
        for (_, scheduler) in watch.schedulers.sorted(by: { $0.key < $1.key }) {
            tell(scheduler, trigger, &errands)
        }
    }

    /// Waits for nobody: a scheduler whose mailbox is full hears it when there is room.
    private func tell(
        _ scheduler: Address<SyncScheduler.Message>,
        _ trigger: SyncScheduler.Trigger,
        _ errands: inout DiscardingTaskGroup
    ) {
        do {
            try scheduler.tryTell(.trigger(trigger))
        } catch .full {
            errands.addTask { try? await scheduler.tell(.trigger(trigger)) }
        } catch {
            // One that reads no more needs no news either.
        }
    }

    private func sendProbe() async {
        let evidence = await withTaskGroup(of: Evidence?.self) { race in
            race.addTask { await self.probe() }
            race.addTask {
                try? await self.surroundings.timekeeper.sleep(for: Self.probeTime)
                return .unreachable
            }
            let first: Evidence? = await race.next() ?? .unreachable
            race.cancelAll()
            return first
        }
        try? await address.tell(.noted(Note(kind: .probed(evidence))))
    }

    private func setAlarm(_ watch: inout Watch, _ errands: inout DiscardingTaskGroup) {
        guard let moment = watch.belief.nextProbe, !watch.belief.isProbing,
            watch.alarms.set(for: moment)
        else { return }
        errands.addTask {
            try? await self.surroundings.timekeeper.sleep(until: moment)
            try? await self.address.tell(.noted(Note(kind: .alarm(moment))))
        }
    }
}

extension Watch {
    /// Unless a probe is to tell, or is on its way.
    mutating func answerAskers() {
        guard belief.isKnown else { return }
        for asker in askers { asker.answer() }
        askers = []
    }

    mutating func note(_ userID: String, waits: Bool, at now: Duration, chance: Double) {
        if waits { waiting.insert(userID) } else { waiting.remove(userID) }
        belief.wait(!waiting.isEmpty, at: now, chance: chance)
    }
}
