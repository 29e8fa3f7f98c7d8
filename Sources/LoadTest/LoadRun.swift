import EmbeddedUpstream
import HTTP
public import System

/// A load test from beginning to end: a server of its own, a host, users, an outage, and what became
/// of every edit.
public struct LoadRun: Sendable {
    /// Which host is put to the test.
    public enum Host: Hashable, Sendable {
        /// One of its own, started from this program, with its state below the test's directory.
        case embedded(program: String)
        /// One that runs already on this machine, with a token that may do everything. Without the
        /// address of its metrics, queue and memory are not seen while the test runs.
        case running(url: String, token: String, ops: String?)
    }

    public struct Settings: Sendable {
        public var profile: LoadProfile
        public var host: Host
        /// For whatever has to be written; must be there.
        public var directory: String
        /// Whether the host is killed in the middle of the edits, and started again. Embedded only.
        public var killsHost = false

        public init(_ profile: LoadProfile, _ host: Host, directory: String) {
            self.profile = profile
            self.host = host
            self.directory = directory
        }
    }

    private let settings: Settings
    private let timekeeper: any Timekeeper
    private let narrate: @Sendable (Progress) -> Void
    private let guests: Guests

    /// - Parameter narrate: Hears where the test is, about once a second.
    public init(
        _ settings: Settings,
        timekeeper: any Timekeeper = SystemTimekeeper(),
        narrate: @escaping @Sendable (Progress) -> Void
    ) {
        self.settings = settings
        self.timekeeper = timekeeper
        self.narrate = narrate
        guests = Guests(at: timekeeper.elapsed)
    }

    /// What there is to tell while the test runs.
    public struct Progress: Hashable, Sendable {
        public var phase: String
        public var text: String
    }

    /// Always returns; when cancelled, with what is known by then.
    public func run() async -> LoadReport {
        let journal = Journal(settings.profile, timekeeper, narrate)
        do {
            let upstream = try await EmbeddedUpstream.start(
                EmbeddedUpstream.Settings(Personality(.vaultwarden))
            )
            await withTaskGroup { services in
                services.addTask { await upstream.run() }
                await play(upstream, journal)
                await upstream.stop(within: .seconds(2))
                services.cancelAll()
            }
        } catch {
            journal.end(because: error)
        }
        return journal.finished
    }

    /// Takes the accounts of this test out of a host that goes on without it: the server that they
    /// belong to is gone, and the host would ask for it for ever. Comes after ``run()``, however that
    /// has ended.
    ///
    /// - Returns: What hindered that, in a sentence, if anything did.
    public func clear() async -> String? {
        guard case .running(let url, let token, _) = settings.host else { return nil }
        do {
            let host = try HostSide(
                url: url.withoutSlash,
                token: token,
                concurrency: settings.profile.concurrency
            )
            let hindrance = await guests.depart(from: host) { [narrate] count in
                narrate(Progress(phase: "departure", text: "\(count) accounts"))
            }
            await host.close()
            return hindrance
        } catch {
            return "The accounts of the test are still at \(url): \(error)"
        }
    }

    private func play(_ upstream: EmbeddedUpstream, _ journal: Journal) async {
        let landlord: Landlord? =
            if case .embedded(let program) = settings.host {
                Landlord(program: program, directory: settings.directory, timekeeper: timekeeper)
            } else {
                nil
            }
        do {
            let host = try await openHost(landlord)
            let course = Course(settings, upstream, host, landlord, guests, journal, timekeeper)
            await course.run()
            await host.close()
        } catch {
            journal.end(because: error)
        }
        await landlord?.end()
    }

    private func openHost(_ landlord: Landlord?) async throws -> Lodgings {
        let concurrency = settings.profile.concurrency
        if case .running(let url, let token, let ops) = settings.host {
            return try Lodgings(url: url, token: token, ops: ops, concurrency: concurrency)
        }
        guard let places = try await landlord?.start() else {
            throw LoadFailure("There is no host.")
        }
        return try Lodgings(
            url: "http://\(places.api)",
            token: places.token,
            ops: "http://\(places.ops)",
            concurrency: concurrency,
            places: places
        )
    }
}

/// The host under test, and where its figures are read.
struct Lodgings: Sendable {
    let side: HostSide
    let ops: OpsSide?
    let places: Landlord.Addresses?
    private let client: Client

    init(
        url: String,
        token: String,
        ops: String?,
        concurrency: Int,
        places: Landlord.Addresses? = nil
    ) throws {
        side = try HostSide(url: url.withoutSlash, token: token, concurrency: concurrency)
        let client = try Client()
        self.client = client
        self.ops = ops.map { OpsSide(url: $0.withoutSlash, client: client) }
        self.places = places
    }

    func close() async {
        await side.close()
        await client.close()
    }
}

extension String {
    /// So that a path can follow.
    fileprivate var withoutSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
