import Bitwarden
public import Crypto
public import EmbeddedUpstream
import FoundationEssentials
import HTTP
import Host
import JSON
public import Logging
public import Messaging
public import Metrics
public import Sync
public import System
import Vault

/// The world around one host: a stateful upstream in this process that holds everybody to the real
/// rules, a store on a real disk, accounts with real keys, and time that a story lets pass.
///
/// ```swift
/// try await World.open(.bitwarden) { world in
///     let ada = try await world.person()
///     let id = try await ada.elsewhere.add(#"{"type":1,"name":"mail"}"#)   // on another device
///     try await ada.refresh()                                             // base has it
///     try await ada.edit(id, #"{"name":"post"}"#)                         // recorded, not sent
///     world.wire.isCut = true                                             // offline
///     await world.server.inject(Fault(.loseAnswer, on: .updateCipher))
///     let report = try await ada.run()                                    // the resolver's run
///     world.time.pass(.seconds(60))
///     #expect(world.wire.requests == ["GET /api/ciphers/\(id)/details"])
/// }
/// ```
///
/// Everything that happens elsewhere or is recorded here lets ten seconds pass before, so that no two
/// changes have one stamp. Faults hit every device alike: order them after what others do.
public final class World: Sendable {
    public let server: EmbeddedUpstream
    /// Between this host and upstream.
    public let wire: Wire
    /// This host's clocks; upstream's own is right.
    public let time: WorldTime
    public let chance: SeededChance
    public let store: Store
    public let pendingStore: PendingStore
    public let registry: Registry
    public let metrics: SyncMetrics
    public let log = LogLines()
    public let surroundings: Surroundings
    public let events = Events()

    let scratch: Ground
    let upstream: Upstream
    let otherUpstream: Upstream
    /// Services that came later.
    private let arrivals = Mailbox<any Service>(name: "arrivals")

    private init(_ server: EmbeddedUpstream, _ time: WorldTime, seed: UInt64) async throws {
        self.server = server
        self.time = time
        chance = SeededChance(seed: seed)
        scratch = try Ground()
        (store, _) = try await Store.open(
            in: StateDirectory(scratch.path),
            time: time,
            chance: chance
        )
        pendingStore = PendingStore(store) { _ in }
        registry = Registry(timekeeper: time)
        metrics = SyncMetrics(registry)
        let events = self.events
        surroundings = Surroundings(
            timekeeper: time,
            chance: chance,
            bootID: "boot",
            metrics: metrics,
            log: Logger(Logbook(level: .debug, sink: log, timekeeper: time)),
            announce: { events.add($0) }
        )
        wire = Wire(server.handler, time.elsewhere)
        upstream = try Self.upstream(wire, time, chance)
        otherUpstream = try Self.upstream(
            Wire(server.handler, time.elsewhere),
            time.elsewhere,
            chance
        )
    }

    private static func upstream(
        _ wire: Wire,
        _ time: any Timekeeper,
        _ chance: any Chance
    ) throws -> Upstream {
        Upstream(
            try Bases("http://localhost"),
            identity: ClientIdentity(
                device: Device(
                    type: 25,
                    identifier: "1d9f5a0c-7b51-4f0e-9d0b-0c6f0a6f1c11",
                    name: "tests"
                )
            ),
            world: .init(network: wire, timekeeper: time, chance: chance),
            metrics: UpstreamMetrics(Registry(timekeeper: time))
        )
    }

    /// Runs a story with all services up, and takes them down after it.
    public static func open<Value: Sendable>(
        _ personality: Personality.Name = .bitwarden,
        seed: UInt64 = 1,
        story: @Sendable (World) async throws -> Value
    ) async throws -> Value {
        let time = WorldTime()
        let server = try await EmbeddedUpstream.start(
            .init(Personality(personality), address: nil),
            time: time.elsewhere,
            chance: SeededChance(seed: seed)
        )
        let world = try await World(server, time, seed: seed)
        return try await withThrowingTaskGroup { services in
            services.addTask { await server.run() }
            services.addTask { await world.upstream.run() }
            services.addTask { await world.otherUpstream.run() }
            services.addTask { await world.pendingStore.run() }
            services.addTask { await world.surroundings.alarms.run() }
            services.addTask { await world.runArrivals() }
            let result: Result<Value, any Error>
            do {
                result = .success(try await story(world))
            } catch {
                result = .failure(error)
            }
            services.cancelAll()
            await server.stop(within: .seconds(1))
            while let _ = try? await services.next() {}
            try? await world.store.close()
            return try result.get()
        }
    }

    /// Runs a service until the story is over.
    public func start(_ service: any Service) async throws {
        try await arrivals.address.tell(service)
    }

    private func runArrivals() async {
        await withDiscardingTaskGroup { services in
            for await service in arrivals {
                services.addTask { try? await service.run() }
            }
            services.cancelAll()
        }
    }

    // MARK: People

    /// The keys of an account, made by chance.
    public func newRing() throws -> KeyRing {
        try KeyRing(
            user: SymmetricKey(from: chance),
            account: WrappedKeys(privateKey: nil),
            entropy: chance
        )
    }

    /// Makes an account upstream, signs in on this host, unlocks, and starts a resolver.
    public func person(_ email: String = "ada@example.com") async throws -> Person {
        try await register(email)
        let grant = PasswordGrant(email: email, masterPasswordHash: Self.hash)
        guard case .signedIn(let signedIn) = try await upstream.signIn(grant) else {
            throw Unexpected("not signed in")
        }
        let session = upstream.session(signedIn.tokens) { _ in }
        let userID = signedIn.tokens.userID
        try await store.put(StoredAccount(id: userID, record: [1]))
        let keys = try newRing()
        let person = Person(
            self,
            userID: userID,
            upstream: WorldUpstream(account: UpstreamAccount(upstream, session), wire: wire),
            elsewhere: UpstreamAccount(otherUpstream, session),
            keys: keys
        )
        try await start(person.resolver)
        return person
    }

    private static let hash = Base64.text(of: [UInt8](repeating: 7, count: 32))

    private func register(_ email: String) async throws {
        func sealed(bytes count: Int) -> String {
            let parts = [16, count, 32].map { count in
                Base64.text(of: (0..<count).map { _ in UInt8(truncatingIfNeeded: chance.next()) })
            }
            return "2." + parts.joined(separator: "|")
        }
        let registration = Registration(
            email: email,
            masterPasswordHash: Self.hash,
            settings: .usual,
            wrappedUserKey: sealed(bytes: 80),
            keys: AccountKeys(
                publicKey: Base64.text(of: [UInt8](repeating: 3, count: 294)),
                wrappedPrivateKey: sealed(bytes: 1_232)
            )
        )
        var json = JSON.Edit(try JSON.Document(JSON.Raw(registration)))
        try json.set([.member("emailVerificationToken")], to: JSON.Raw("any"))
        let answer = try await MemoryTransport(handler: server.handler).send(
            .post,
            "/identity/accounts/register/finish",
            headers: ["Content-Type": "application/json"],
            body: json.bytes
        )
        guard answer.status == .ok else { throw Unexpected(answer.text) }
    }
}

public struct Unexpected: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}

/// A directory that is gone with the world; in memory, where the machine has such a place, since no
/// story here pulls the plug.
final class Ground: Sendable {
    let path: String

    init() throws {
        let memory = "/dev/shm"
        let files = FileManager.default
        let parent =
            files.isWritableFile(atPath: memory) ? memory : files.temporaryDirectory.path
        path = parent + "/holdfast-" + UUID().uuidString
        try files.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// What clients that listen were told.
public final class Events: Sendable {
    private let told = Lock<[MeshEvent]>([])

    public var all: [MeshEvent] { told.withLock { $0 } }

    func add(_ event: MeshEvent) { told.withLock { $0.append(event) } }
}

/// The lines that were logged.
public final class LogLines: LogSink {
    private let written = Lock<[String]>([])

    public var lines: [String] { written.withLock { $0 } }

    public func write(_ line: [UInt8]) -> Bool {
        written.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        return true
    }
}

extension Registry {
    /// A figure of the page, by its name and labels as they stand there; nil if it is not there.
    public func figure(_ series: String) async -> Double? {
        let page = String(decoding: await page(.prometheus), as: UTF8.self)
        for line in page.split(separator: "\n") where line.hasPrefix(series + " ") {
            return Double(line.dropFirst(series.count + 1).prefix { $0 != " " })
        }
        return nil
    }
}
