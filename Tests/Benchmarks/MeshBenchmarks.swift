import Bitwarden
import Crypto
import EmbeddedUpstream
import FoundationEssentials
import HTTP
import Host
import Logging
import MeshSupport
import Messaging
import Metrics
import Sync
import System
import Vault

/// What the mesh costs beside what it stands on: edits beside the store alone, and a run beside the
/// client's own calls.
enum MeshBenchmarks {
    static func run(_ bench: Bench) async throws {
        try await offlineEdits(bench)
        try await runOfMany(bench)
    }

    private static let callers = 64

    private static func offlineEdits(_ bench: Bench) async throws {
        let each = bench.count(100, quick: 2)
        try await bench.compare(
            "offline edits, \(callers) callers; the store alone",
            .rate("/s"),
            aim: 0.6,
            ours: {
                try await Bed.open { bed in
                    try await bed.goOffline()
                    return try await bed.rate(of: callers, each) { try await bed.add() }
                }
            },
            ceiling: {
                try await Bed.open { bed in
                    let snapshot = try bed.snapshot()
                    return try await bed.rate(of: callers, each) {
                        try await bed.record(snapshot)
                    }
                }
            }
        )
    }

    /// As many lanes as a run has at most.
    private static let lanes = 48

    private static func runOfMany(_ bench: Bench) async throws {
        let count = bench.count(10_000, quick: 40)
        let memory = Lock(0.0)
        try await bench.compare(
            "a run of \(count) changes; the client's calls alone",
            .rate("/s"),
            aim: 0.5,
            ours: {
                try await Bed.open { bed in
                    let snapshot = try bed.snapshot()
                    for _ in 0..<count / callers + 1 {
                        try await bed.inTurn(of: callers, 1) { try await bed.record(snapshot) }
                    }
                    let waiting = (count / callers + 1) * callers
                    let before = residentMegabytes()
                    let time = try await seconds { try await bed.bringUp(waiting) }
                    memory.withLock { $0 = max($0, residentMegabytes() - before) }
                    return Double(waiting) / time
                }
            },
            ceiling: {
                try await Bed.open { bed in
                    let request = try bed.request()
                    return try await bed.rate(of: lanes, count / lanes) {
                        _ = try await bed.account.create(request)
                    }
                }
            }
        )
        bench.note("  memory that the run took at most", "\(Int(memory.withLock { $0 })) MB")
    }
}

/// A repository and a resolver on a real disk, and the embedded server behind a real socket.
private struct Bed: Sendable {
    let userID: String
    let account: UpstreamAccount
    let ring: KeyRing
    let store: Store
    let resolver: Resolver
    let repository: Repository
    let monitor: NetworkMonitor
    let surroundings: Surroundings

    private static let body = Array(
        """
        {"type":1,"name":"mail","notes":"\(String(repeating: "note ", count: 24))","login":{\
        "username":"ada@example.com","password":"correct horse battery staple",\
        "uris":[{"uri":"https://mail.example.com/login","match":null}]}}
        """.utf8
    )

    static func open<Value: Sendable>(
        _ body: @escaping @Sendable (Bed) async throws -> Value
    ) async throws -> Value {
        let directory =
            FileManager.default.temporaryDirectory.path + "/bench-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let server = try await EmbeddedUpstream.start(.init(.vaultwarden))
        let (client, sockets) = (try Client(), try WebSocketClient())
        let upstream = try UpstreamBenchmarks.upstream(at: server.url, client, sockets)
        let resident = try await Resident("mesh@example.com", at: server)
        var options = Store.Options()
        options.limits.changes = .max
        let (store, _) = try await Store.open(
            in: StateDirectory(directory),
            options: options,
            time: SystemTimekeeper(),
            chance: SystemChance()
        )
        let pendingStore = PendingStore(store) { _ in }
        let bed = try await Bed(resident, upstream, pendingStore, store)
        let answer = try await withThrowingTaskGroup(of: Value?.self) { group in
            for service in bed.services + [pendingStore] {
                group.addTask {
                    try await service.run()
                    return nil
                }
            }
            group.addTask { try await body(bed) }
            defer { group.cancelAll() }
            while let ended = try await group.next() {
                if let ended { return ended }
            }
            throw UsageError(description: "The services have ended too early.")
        }
        try await store.close()
        await client.close()
        await sockets.close()
        await server.stop(within: .seconds(1))
        return answer
    }

    private init(
        _ resident: Resident,
        _ upstream: Upstream,
        _ pendingStore: PendingStore,
        _ store: Store
    ) async throws {
        userID = try await resident.userID()
        let tokens = Tokens(
            userID: userID,
            access: resident.token,
            expires: Moment(ticks: .max / 2),
            renewal: .none
        )
        account = UpstreamAccount(upstream, upstream.session(tokens) { _ in })
        let (chance, entropy) = (SystemChance(), SystemEntropy())
        ring = try KeyRing(
            user: SymmetricKey(from: entropy),
            account: WrappedKeys(privateKey: nil),
            entropy: entropy
        )
        let time = SystemTimekeeper()
        surroundings = Surroundings(
            timekeeper: time,
            chance: chance,
            bootID: "boot",
            metrics: SyncMetrics(Registry(timekeeper: time)),
            log: Logger(Logbook(level: .error, sink: Silence(), timekeeper: time)),
            announce: { _ in }
        )
        let (keys, lanes) = (Keyholder(), Lanes())
        keys.unlock(ring)
        self.store = store
        resolver = Resolver(
            userID: userID,
            store: pendingStore.address,
            reader: store.reader,
            upstream: WorldUpstream(account: account, patience: .seconds(10)),
            keys: keys,
            lanes: lanes,
            surroundings: surroundings
        )
        monitor = NetworkMonitor(
            upstream: "upstream",
            probe: { .answered },
            surroundings: surroundings
        )
        repository = Repository(
            userID: userID,
            neighbours: Repository.Neighbours(
                store: pendingStore.address,
                reader: store.reader,
                resolver: resolver.address,
                scheduler: Mailbox<SyncScheduler.Message>(name: "sync-scheduler").address,
                monitor: monitor
            ),
            keys: keys,
            lanes: lanes,
            switches: SwitchBoard(offlineChanges: .on, resolution: .on),
            leastClockOffset: { nil },
            surroundings: surroundings
        )
        try await store.put(StoredAccount(id: userID, record: [1]))
    }

    private var services: [any Service] { [resolver, repository, monitor] }
}

extension Bed {
    func goOffline() async throws {
        try await monitor.address.tell(.drill(true))
        while monitor.standing.state != .offline { await Task.yield() }
    }

    /// An edit as a client sends it.
    func add() async throws {
        let wish = Repository.Wish.add(try ItemBody(Self.body))
        let written = try await repository.address.ask { .edit(wish, $0) }.get()
        guard case .queued = written.disposition else {
            throw UsageError(description: "An edit was not queued.")
        }
    }

    private func cipher() throws -> Cipher {
        try Cipher(
            creating: ItemBody(Self.body),
            id: surroundings.chance.identifier(at: surroundings.now),
            at: surroundings.now,
            keys: ring,
            entropy: surroundings.entropy
        )
    }

    func snapshot() throws -> Snapshot { Snapshot(try cipher(), keys: ring) }

    func request() throws -> [UInt8] { try cipher().request() }

    /// An edit that is ready to be kept.
    func record(_ snapshot: Snapshot) async throws {
        let now = surroundings.now
        let lane = Lane(userID: userID, cipherID: surroundings.chance.identifier(at: now))
        _ = try await store.record(
            Edit(.add(snapshot), at: now),
            in: lane,
            as: .queued
        )
    }

    func bringUp(_ count: Int) async throws {
        let run = Resolver.Run(.due, .patient)
        let report = try await resolver.address.ask { .run(run, $0) }.get()
        guard report.settled == count else {
            let stop = report.stop.map { "\($0)" } ?? "nothing stopped it"
            throw UsageError(
                description: "Of \(count) changes \(report.settled) were brought up: \(stop)"
            )
        }
    }

    func rate(
        of callers: Int,
        _ each: Int,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> Double {
        let time = try await seconds { try await inTurn(of: callers, each, body) }
        return Double(callers * each) / time
    }

    func inTurn(
        of callers: Int,
        _ each: Int,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<callers {
                group.addTask { for _ in 0..<each { try await body() } }
            }
            try await group.waitForAll()
        }
    }
}

private struct Silence: LogSink {
    func write(_ line: [UInt8]) -> Bool { true }
}
