public import Messaging
internal import System
public import Vault

/// Decides when an account is synced, and syncs it: what is pending first, then what upstream holds.
///
/// One run at a time; whoever asks meanwhile hears of the next. When a run is due is decided by
/// ``Vault/Agenda``, and what comes first by ``Docket``; here it is carried out.
public final class SyncScheduler: Service {
    public var address: Address<Message> { mailbox.address }

    /// What came of the last run; asking costs nothing, and it outlives the process.
    public var lastReport: SyncReport? { state.withLock { $0.memory.lastReport } }

    /// What comes next; asking costs nothing.
    public var plan: Plan { plan(at: surroundings.timekeeper.elapsed) }

    /// What lasts of this until a run ends; ``MeshEvent/sync(userID:_:)`` says when that was.
    public var outlook: Outlook {
        state.withLock {
            Outlook(
                lastSync: $0.memory.lastSync,
                wait: $0.docket.agenda.wait,
                due: $0.due,
                waits: $0.waits
            )
        }
    }

    /// Whether nothing is under way, and nobody waits for anything.
    public var isIdle: Bool { state.withLock { $0.docket.isIdle } }

    let userID: String
    let store: Address<PendingStore.Message>
    let reader: StoreReader
    let resolver: Address<Resolver.Message>
    let upstream: any VaultUpstream
    let keys: Keyholder
    let switches: SwitchBoard
    let monitor: NetworkMonitor
    let policy: SyncPolicy
    let surroundings: Surroundings
    let state: Lock<State>
    private let mailbox = Mailbox<Message>(name: "sync-scheduler")

    struct State: Sendable {
        var docket: Docket
        var memory: SyncMemory
        /// When the next change may be tried on its own account, as of the last run.
        var due: Moment?
        var waits = Waits()
        /// When the vault was opened last, as far as this process knows.
        var opened: Moment?
        /// What the monitor was told last: whether anything waits.
        var told: Bool?
        /// Letting go of it ends the run that is under way.
        var leash: Mailbox<Never>?
    }

    /// What was kept of earlier syncs is known from here on; what cannot be read of it is not.
    public init(
        userID: String,
        store: Address<PendingStore.Message>,
        reader: StoreReader,
        resolver: Address<Resolver.Message>,
        upstream: any VaultUpstream,
        keys: Keyholder,
        switches: SwitchBoard,
        monitor: NetworkMonitor,
        policy: SyncPolicy,
        surroundings: Surroundings
    ) {
        self.userID = userID
        self.store = store
        self.reader = reader
        self.resolver = resolver
        self.upstream = upstream
        self.keys = keys
        self.switches = switches
        self.monitor = monitor
        self.policy = policy
        self.surroundings = surroundings
        let memory = SyncMemory(text: (try? reader.syncNote(of: userID)) ?? "")
        let docket = Docket(interval: policy.interval, at: surroundings.timekeeper.elapsed)
        state = Lock(State(docket: docket, memory: memory))
        if let told = memory.switches { switches.learn(told) }
        restore(memory)
    }

    /// What is under way is finished; nothing else is begun.
    public func close() {
        state.withLock { $0.docket.close() }
        mailbox.close()
        surroundings.runs.hurry(userID)
    }

    public func run() async {
        try? await monitor.address.tell(.join(userID: userID, address))
        await withDiscardingTaskGroup { runs in
            var waking: Waking?
            advance(&waking, &runs)
            for await message in mailbox {
                take(message, &waking)
                advance(&waking, &runs)
            }
            if let waking { surroundings.alarms.cancel(waking.alarm) }
            refuseTheRest()
        }
        try? await monitor.address.tell(.leave(userID: userID))
    }
}

/// What the operator chose about syncing.
public struct SyncPolicy: Hashable, Sendable {
    /// What still pending changes keep from being taken over.
    public enum Abort: String, CaseIterable, Hashable, Sendable {
        /// Everything.
        case whole
        /// Their own items.
        case item
    }

    public var interval: Duration
    public var abort: Abort

    public init(interval: Duration = .seconds(1_800), abort: Abort = .whole) {
        self.interval = interval
        self.abort = abort
    }
}

extension SyncScheduler {
    public enum Message: Sendable {
        /// Somebody asked for a sync and waits for it: `POST /sync`. It is tried in spite of backoff and
        /// of a known outage.
        ///
        /// - `isFull`: Also if upstream says that nothing has changed.
        case sync(isFull: Bool, Reply<SyncReport>)
        /// One change is to be tried now, in spite of backoff and quarantine; its record has been made
        /// ready for that. The answer comes when it was tried.
        case retry(changeID: String, Reply<SyncReport>)
        case trigger(Trigger)
        /// An edit was sent in vain and is queued. When it is tried again, is counted here.
        case hindered(SyncMetrics.RetryCause)
        /// Shows that messages are read.
        case pulse(Reply<Void>)
        case noted(Note)
    }

    /// What the scheduler tells itself.
    public struct Note: Sendable {
        enum Kind {
            case ended
            case alarm(Duration)
            /// Somebody has waited for so long, since so many changes were pending.
            case late(Docket.Asker, live: Int)
        }

        let kind: Kind
    }

    /// Why a run may be due.
    public enum Trigger: String, CaseIterable, Hashable, Sendable {
        case signedIn, unlocked, networkReturned
        /// Upstream was troubled, and is not any more. It was within reach all the time, so there is no
        /// news for whoever has nothing to catch up with; a server that refuses what is too much is asked
        /// by nobody else each time it takes something again.
        case recovered
        /// An edit has been queued.
        case queued
        /// Upstream told that something has changed there.
        case upstreamChanged
        /// The line on which it tells is back.
        case reconnected
        /// The account is on another server now. What waits does so for that one, of which nothing is known yet.
        case moved
        /// The disk has not kept what upstream said, so all of it is fetched.
        case baseDamaged
    }

    /// What is known of an account's syncs at any later moment, without asking again.
    public struct Outlook: Hashable, Sendable {
        /// When all that is held here was upstream's latest word last.
        public var lastSync: Moment?
        /// The wait that the last failure has brought.
        public var wait: Agenda.Wait?
        /// When the next change may be tried on its own account.
        public var due: Moment?
        /// Of single changes.
        public var waits: Waits

        public init(
            lastSync: Moment? = nil,
            wait: Agenda.Wait? = nil,
            due: Moment? = nil,
            waits: Waits = Waits()
        ) {
            self.lastSync = lastSync
            self.wait = wait
            self.due = due
            self.waits = waits
        }

        /// When the next try of something that failed is planned, be it a change or a run, and the
        /// longest wait that is in force because of failures; nil if nothing has to wait.
        public func backoff(
            at now: Moment,
            _ elapsed: Duration
        ) -> (retry: Moment, longest: Duration)? {
            var (retry, longest): (Moment?, Duration) = (nil, .zero)
            if let wait, wait.until > elapsed {
                (retry, longest) = (now + (wait.until - elapsed), wait.length)
            }
            if let due, due > now {
                retry = min(retry ?? due, due)
                longest = max(longest, waits.longest(at: now) ?? due - now)
            }
            return retry.map { ($0, longest) }
        }
    }

    /// What an account is to do next of its own accord.
    public struct Plan: Hashable, Sendable {
        /// When the next run begins, if nothing else happens; nil while one is under way.
        public let next: Moment?
        /// Before this nothing is sent, because of a failure or because upstream asked for it.
        public let heldUntil: Moment?
    }
}

// MARK: - The loop

extension SyncScheduler {
    private func take(_ message: Message, _ waking: inout Waking?) {
        switch message {
        case .sync(let isFull, let asker):
            state.withLock { $0.docket.ask(isFull: isFull, asker) }
            surroundings.runs.hurry(userID)
            bound(asker, live: liveCount)
        case .retry(let changeID, let asker):
            state.withLock { $0.docket.ask(retryOf: changeID, asker) }
            surroundings.runs.hurry(userID)
            bound(asker, live: liveCount)
        case .trigger(let trigger): note(trigger)
        case .hindered(let cause):
            note(.queued)
            countRetry(because: cause)
        case .pulse(let reply): reply.answer()
        case .noted(let note):
            switch note.kind {
            case .ended: break
            case .alarm(let moment):
                if waking?.moment == moment { waking = nil }
                lookForStandstill()
            case .late(let asker, let live): satisfy(asker, live)
            }
        }
    }

    /// For so long whoever asks is left waiting while what is pending does not get less.
    static let patience = Duration.seconds(30)

    private var liveCount: Int { (try? reader.liveCount(of: userID)) ?? 0 }

    private func bound(_ asker: Docket.Asker, live: Int) {
        surroundings.alarms.set(for: Self.patience) { self.tell(.late(asker, live: live)) }
    }

    /// That something is pending still is as true now as it would be later, and the sync goes on.
    private func satisfy(_ asker: Docket.Asker, _ former: Int) {
        if asker.isAnswered { return }
        let live = liveCount
        guard live > 0, live >= former else { return bound(asker, live: live) }
        asker.answer(
            SyncReport(
                .deferred,
                reason: "\(Self.stillPending(live)) Upstream has not answered yet.",
                ended: surroundings.now
            )
        )
    }

    private func note(_ trigger: Trigger) {
        let (now, chance) = (surroundings.timekeeper.elapsed, surroundings.chance.fraction())
        let isOnline = monitor.standing.state != .offline
        if mutated(.ignoresUnlock), trigger == .unlocked { return }
        if mutated(.losesNetworkReturn), trigger == .networkReturned { return }
        if trigger == .recovered, !hasToCatchUp { return }
        let occasion = Agenda.Occasion(trigger)
        state.withLock {
            $0.docket.note(occasion, at: now, isOnline: isOnline, chance: chance)
            if trigger == .baseDamaged { $0.memory.lastFetch = nil }
            if trigger == .signedIn || trigger == .unlocked { $0.opened = surroundings.now }
        }
        if trigger.mayHaveMissedNews { upstream.doubtAccount() }
        switch trigger {
        case .unlocked, .moved: tellWhetherWaiting()
        case .queued where !isKnownToWait: tellWhetherWaiting()
        case .signedIn, .networkReturned, .recovered, .queued, .upstreamChanged, .reconnected,
            .baseDamaged:
            break
        }
    }

    private func countRetry(because cause: SyncMetrics.RetryCause) {
        let now = surroundings.timekeeper.elapsed
        guard let next = state.withLock(\.docket.agenda.nextQueued) else { return }
        surroundings.metrics.scheduledRetry(cause, in: max(next - now, .zero))
    }

    private var hasToCatchUp: Bool {
        if state.withLock({ $0.told == true || $0.docket.agenda.failures > 0 }) { return true }
        // Files of backup copies are looked after when a run has ended.
        return (try? reader.backupFiles(of: userID).isEmpty) == false
    }

    private func advance(_ waking: inout Waking?, _ runs: inout DiscardingTaskGroup) {
        let now = surroundings.timekeeper.elapsed
        var step = state.withLock { $0.docket.step(at: now) }
        if case .run(let job) = step {
            runs.addTask { await self.carryOut(job) }
            step = state.withLock { $0.docket.step(at: now) }
        }
        guard case .sleep(let moment) = step, moment != waking?.moment else { return }
        if let waking { surroundings.alarms.cancel(waking.alarm) }
        let alarm = surroundings.alarms.set(for: moment - now) {
            self.tell(.alarm(moment))
        }
        waking = Waking(moment: moment, alarm: alarm)
    }

    /// When the scheduler wakes by itself.
    private struct Waking {
        let moment: Duration
        let alarm: AlarmClock.Alarm
    }

    /// An alarm waits for nobody; it comes again where there is no room for it.
    private func tell(_ kind: Note.Kind) {
        do {
            try address.tryTell(.noted(Note(kind: kind)))
        } catch .full {
            surroundings.alarms.set(for: .seconds(1)) { self.tell(kind) }
        } catch {
            // One that reads no more has no need to wake.
        }
    }

    private func refuseTheRest() {
        let report = SyncReport(.failed, reason: "The host is stopping.", ended: surroundings.now)
        for asker in state.withLock({ $0.docket.takeAskers() }) { asker.answer(report) }
    }
}

extension SyncScheduler.Trigger {
    /// Whether upstream may have told something while nobody listened.
    fileprivate var mayHaveMissedNews: Bool {
        switch self {
        case .unlocked, .networkReturned, .upstreamChanged, .reconnected: true
        case .signedIn, .recovered, .queued, .moved, .baseDamaged: false
        }
    }
}

extension Agenda.Occasion {
    fileprivate init(_ trigger: SyncScheduler.Trigger) {
        switch trigger {
        case .signedIn: self = .signedIn
        case .unlocked: self = .unlocked
        case .networkReturned, .recovered: self = .networkReturned
        case .queued: self = .queued
        case .upstreamChanged, .baseDamaged: self = .upstreamChanged
        case .reconnected: self = .reconnected
        case .moved: self = .moved
        }
    }
}
