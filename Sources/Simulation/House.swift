import Host
import Logging
import Machine
import Messaging
import Metrics
import SQLite
import Sync
import System

/// A mesh, from the start of a process to its end.
final class House: Sendable {
    let store: Store
    let pendingStore: PendingStore
    let registry: Registry
    let surroundings: Surroundings
    /// The account that the story is about.
    let owner: Tenant
    let lodger: Tenant?
    let monitor: NetworkMonitor
    let line: Line
    /// It has ended, one way or the other.
    let isOver = Latch()
    private let services: ServiceGroup
    /// Letting go of it ends everything at once.
    private let leash = Mailbox<Never>(name: "process", capacity: 1)

    static let file = "/state/holdfast.db"

    struct Ground {
        let disk: FaultyDisk
        let executor: SeededExecutor
        let device: Int
        let clock: HouseClock
        let line: Line
        let log: LogEar
        let limit: Int
        let policy: SyncPolicy
        let boot: Int
        let owner: Tenant.Lease
        let lodger: Tenant.Lease?
    }

    static func open(_ ground: Ground) async throws(StoreError) -> House {
        var options = Store.Options()
        options.database.vfs = ground.disk.vfs
        options.database.executor = ground.executor
        options.limits.changes = ground.limit
        let store = try await Store.open(
            file,
            nil,
            options,
            time: ground.clock,
            chance: ground.executor.chance
        )
        for lease in [ground.owner, ground.lodger].compactMap(\.self) {
            try await store.put(StoredAccount(id: lease.tokens.userID, record: [1]))
        }
        do {
            return try House(ground, store)
        } catch {
            preconditionFailure("The address of the server is a right one.")
        }
    }

    private init(_ ground: Ground, _ store: Store) throws {
        let (chance, clock) = (ground.executor.chance, ground.clock)
        self.store = store
        line = ground.line
        pendingStore = PendingStore(store) { _ in }
        registry = Registry(timekeeper: clock)
        surroundings = Surroundings(
            timekeeper: clock,
            chance: chance,
            entropy: chance,
            bootID: "boot \(ground.boot)",
            metrics: SyncMetrics(registry),
            log: Logger(Logbook(level: .debug, sink: ground.log, timekeeper: clock))
        )
        let upstream = try Cloud.upstream(line, clock, chance, device: ground.device)
        monitor = NetworkMonitor(
            upstream: "upstream",
            probe: { await upstream.probeNetwork() },
            surroundings: surroundings
        )
        let holds = KeptHolds(upstream, pendingStore, surroundings)
        let premises = Tenant.Premises(
            store: store.reader,
            pendingStore: pendingStore.address,
            upstream: upstream,
            monitor: monitor,
            policy: ground.policy,
            surroundings: surroundings,
            keepHolds: { await holds.keep() }
        )
        owner = Tenant(ground.owner, in: premises)
        lodger = ground.lodger.map { Tenant($0, in: premises) }
        services = ServiceGroup(
            [pendingStore, surroundings.alarms, UpstreamService(upstream), monitor]
                + [owner, lodger].compactMap(\.self).flatMap(\.services),
            patience: .seconds(10),
            time: clock
        )
        if holds.restore() { try? monitor.address.tryTell(.heard(.troubled)) }
    }

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await self.services.run() }
            group.addTask { for await _ in self.leash {} }
            await group.next()
            group.cancelAll()
        }
        try? await store.close()
        isOver.open()
    }

    /// Ends it in order.
    func close() { services.close() }

    /// Ends it where it stands: nothing that it does from now on has an effect.
    func kill() { leash.close() }
}

/// Wakes those who wait for their turn at the server.
private final class UpstreamService: Service {
    private let upstream: Upstream
    private let requests = Mailbox<Never>(name: "upstream", capacity: 1)

    init(_ upstream: Upstream) { self.upstream = upstream }

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.upstream.run() }
            group.addTask { for await _ in self.requests {} }
            await group.next()
            group.cancelAll()
        }
    }

    func close() { requests.close() }
}

/// Hears what is logged, and whether anything is said that must not be.
final class LogEar: LogSink {
    private let secrets = Lock<[String]>([])

    /// Lines in which something stood that only the user may read.
    var breaches: [String] { secrets.withLock { $0 } }

    func write(_ line: [UInt8]) -> Bool {
        if line.contains(UInt8(ascii: "~")) {
            secrets.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        }
        return true
    }
}
