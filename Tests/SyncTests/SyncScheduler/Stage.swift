import Crypto
import Logging
import Messaging
import Metrics
import SQLite
import System
import TestSupport
import Vault

@testable import Sync

/// A scheduler among a scripted resolver, a scripted upstream, a real store and a real monitor, in
/// virtual time.
final class Stage: Sendable {
    let time: VirtualTimekeeper
    let store: Store
    let pendingStore: PendingStore
    let upstream: ScriptedUpstream
    let resolver: ScriptedResolver
    let monitor: NetworkMonitor
    let keys = Keyholder()
    let switches: SwitchBoard
    let policy: SyncPolicy
    let registry: Registry
    let surroundings: Surroundings
    let lines: Lines
    let announced = Announced()
    private let current: Lock<SyncScheduler>
    private let arrivals = Mailbox<any Service>(name: "arrivals")
    private let ended = Gate()
    private let scratch: Scratch

    var scheduler: SyncScheduler { current.withLock { $0 } }

    /// Runs a story with everything in place: an unlocked account of which upstream holds one cipher,
    /// and nothing pending.
    static func play(
        seed: UInt64 = 1,
        policy: SyncPolicy = SyncPolicy(),
        switches: SwitchBoard = SwitchBoard(offlineChanges: .on, resolution: .on),
        _ story: @escaping @Sendable (Stage) async throws -> Void
    ) throws {
        try SeededExecutor.run(seed: seed) { executor, time in
            let stage = try await Stage(executor, time, policy, switches)
            try await stage.play(story)
        }
    }

    private init(
        _ executor: SeededExecutor,
        _ time: VirtualTimekeeper,
        _ policy: SyncPolicy,
        _ switches: SwitchBoard
    ) async throws {
        self.time = time
        self.policy = policy
        self.switches = switches
        scratch = try Scratch()
        var options = Store.Options()
        options.database.executor = executor
        // Without a directory there is no copy of what is pending, which is made on other threads.
        store = try await Store.open(
            scratch.file("holdfast.db"),
            nil,
            options,
            time: time,
            chance: executor.chance
        )
        pendingStore = PendingStore(store) { _ in }
        upstream = ScriptedUpstream(time: time)
        resolver = ScriptedResolver(store, upstream, time: time)
        registry = Registry(timekeeper: time)
        lines = Lines()
        let announced = announced
        surroundings = Surroundings(
            timekeeper: time,
            chance: executor.chance,
            bootID: "boot",
            metrics: SyncMetrics(registry),
            log: Logger(Logbook(sink: lines, timekeeper: time)),
            announce: { event in
                announced.note(event)
            }
        )
        let upstream = upstream
        monitor = NetworkMonitor(
            upstream: "https://upstream.example",
            probe: { await upstream.probe() },
            surroundings: surroundings
        )
        upstream.monitor.withLock { [monitor] in $0 = monitor.address }
        try await store.put(StoredAccount(id: Shelf.user, record: [1]))
        try await Self.unlock(keys)
        current = Lock(
            Self.scheduler(
                store,
                pendingStore,
                resolver,
                upstream,
                keys,
                switches,
                monitor,
                policy,
                surroundings
            )
        )
    }

    static func unlock(_ keys: Keyholder) async throws {
        let entropy = SeededChance(seed: 5)
        let user = SymmetricKey(from: entropy)
        keys.unlock(
            try KeyRing(user: user, account: WrappedKeys(privateKey: nil), entropy: entropy)
        )
    }

    private static func scheduler(
        _ store: Store,
        _ pendingStore: PendingStore,
        _ resolver: ScriptedResolver,
        _ upstream: ScriptedUpstream,
        _ keys: Keyholder,
        _ switches: SwitchBoard,
        _ monitor: NetworkMonitor,
        _ policy: SyncPolicy,
        _ surroundings: Surroundings
    ) -> SyncScheduler {
        SyncScheduler(
            userID: Shelf.user,
            store: pendingStore.address,
            reader: store.reader,
            resolver: resolver.address,
            upstream: upstream,
            keys: keys,
            switches: switches,
            monitor: monitor,
            policy: policy,
            surroundings: surroundings
        )
    }

    private func play(_ story: @escaping @Sendable (Stage) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.pendingStore.run() }
            group.addTask { await self.surroundings.alarms.run() }
            group.addTask { await self.monitor.run() }
            group.addTask { await self.resolver.run() }
            group.addTask {
                await withDiscardingTaskGroup { schedulers in
                    for await service in self.arrivals {
                        schedulers.addTask {
                            try? await service.run()
                            self.ended.open(service)
                        }
                    }
                }
            }
            try await arrivals.address.tell(scheduler)
            defer { group.cancelAll() }
            try await story(self)
            scheduler.close()
            arrivals.close()
            monitor.close()
            resolver.close()
            pendingStore.close()
        }
    }
}

// MARK: - What happens in stories

extension Stage {
    /// The host stops in an orderly way, and another begins with what is on the disk.
    func restart(switches: SwitchBoard? = nil) async throws {
        scheduler.close()
        await ended.wait(for: scheduler)
        let next = newScheduler(switches: switches)
        current.withLock { $0 = next }
        try await arrivals.address.tell(next)
    }

    /// Another one, for whoever runs it.
    func newScheduler(switches: SwitchBoard? = nil) -> SyncScheduler {
        Self.scheduler(
            store,
            pendingStore,
            resolver,
            upstream,
            keys,
            switches ?? self.switches,
            monitor,
            policy,
            surroundings
        )
    }

    @discardableResult
    func sync(isFull: Bool = false) async throws -> SyncReport {
        try await scheduler.address.ask { .sync(isFull: isFull, $0) }
    }

    func retry(_ changeID: String) async throws -> SyncReport {
        try await scheduler.address.ask { .retry(changeID: changeID, $0) }
    }

    func trigger(_ trigger: SyncScheduler.Trigger) async throws {
        try await scheduler.address.tell(.trigger(trigger))
    }

    func pass(_ duration: Duration) async throws { try await time.sleep(for: duration) }

    /// An edit that was recorded while nobody could be asked.
    @discardableResult
    func edit(_ cipher: String = "a", number: Int = 100) async throws -> Recorded {
        if try store.reader.base(Shelf.lane(cipher)) == nil {
            try await store.putBase(Shelf.base(cipher))
        }
        let wish = Edit.Wish.update(Shelf.snapshot("new \(number)"), changesPassword: true)
        return try await store.record(
            Edit(wish, at: Moment(time.now)),
            in: Shelf.lane(cipher),
            as: .queued,
            expecting: nil
        ).made
    }

    /// Upstream has carried it out.
    func delete(_ cipher: String) async throws {
        let (lane, now) = (Shelf.lane(cipher), Moment(time.now))
        let deletion = Edit(.hardDelete, at: now)
        let made = try await store.record(deletion, in: lane, as: .queued, expecting: nil).made
        let settlement = Settlement(upstream: .lacks, receipts: ReceiptEnd(.sent, at: now))
        let version = made.change.version
        _ = try await store.settle(made.change.id, in: lane, expecting: version, settlement)
    }

    /// When something that failed is tried next, and the longest wait; nil if nothing has to wait.
    var backoff: (retry: Moment, longest: Duration)? {
        scheduler.outlook.backoff(at: surroundings.now, time.elapsed)
    }

    var live: Int { get throws { try store.reader.liveCount(of: Shelf.user) } }

    func baseTicks(_ cipher: String = "a") throws -> Int64? {
        try store.reader.base(Shelf.lane(cipher))?.revision.moment.ticks
    }

    /// The figure of a series, by its line.
    func figure(_ series: String) async -> Double? {
        let page = String(decoding: await registry.page(.prometheus), as: UTF8.self)
        let line = page.split(separator: "\n").first { $0.hasPrefix(series + " ") }
        return line?.split(separator: " ").last.flatMap { Double($0) }
    }
}

/// Where somebody waits until a service has ended.
private final class Gate: Sendable {
    private struct State {
        var ended: Set<ObjectIdentifier> = []
        var waiting: [ObjectIdentifier: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Lock(State())

    func open(_ service: any Service) {
        let id = ObjectIdentifier(service as AnyObject)
        state.withLock {
            $0.ended.insert(id)
            return $0.waiting.removeValue(forKey: id)
        }?.resume()
    }

    func wait(for service: any Service) async {
        let id = ObjectIdentifier(service as AnyObject)
        await withCheckedContinuation { waiter in
            let isOver = state.withLock {
                if !$0.ended.contains(id) { $0.waiting[id] = waiter }
                return $0.ended.contains(id)
            }
            if isOver { waiter.resume() }
        }
    }
}

/// Keeps what clients that listen are told.
final class Announced: Sendable {
    private let kept = Lock<[MeshEvent]>([])

    func note(_ event: MeshEvent) { kept.withLock { $0.append(event) } }

    var reports: [SyncReport] {
        kept.withLock { events in
            events.compactMap { if case .sync(_, let report) = $0 { report } else { nil } }
        }
    }

    var states: [NetworkState] {
        kept.withLock { events in
            events.compactMap { if case .network(_, let state) = $0 { state } else { nil } }
        }
    }
}

/// Keeps what is logged.
final class Lines: LogSink {
    private let kept = Lock<[String]>([])

    func write(_ line: [UInt8]) -> Bool {
        kept.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        return true
    }

    func count(_ text: String) -> Int { kept.withLock { $0.count { $0.contains(text) } } }
}
