import Bitwarden
import EmbeddedUpstream
import FoundationEssentials
import Glibc
import HTTP
import JSON
import Metrics
import System
import Testing
import Vault

@testable import Host

/// What calls leave behind that come to nothing.
///
/// Nobody counts a process's tasks, continuations and objects, so the heap is weighed. Four bytes for each
/// call are what a server keeps that has given out tokens; a task that stayed behind the calls of a single
/// kind would come to ``leastWeight`` twice.
/// Descriptors and threads can be counted: both ends are in this process, and both let go of all.
@Suite(.serialized) struct UpstreamLeakTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let name: String
        let effect: Fault.Effect
        var deadline: Duration?
        let ends: Set<String>

        init(
            _ name: String,
            _ effect: Fault.Effect,
            _ ends: Set<String>,
            within deadline: Duration? = nil
        ) {
            (self.name, self.effect, self.ends, self.deadline) = (name, effect, ends, deadline)
        }

        var testDescription: String { name }
    }

    private static let short = Duration.milliseconds(60)

    static let kinds: [Kind] = [
        Kind("cut before", .drop, ["unreachable"]),
        Kind("answer lost", .loseAnswer, ["unreachable"]),
        Kind("commit late", .commitLate(.milliseconds(1)), ["unreachable"]),
        Kind("delay", .delay(.milliseconds(2)), ["done"]),
        Kind("too late", .delayAnswer(.seconds(30)), ["unreachable"], within: short),
        Kind("hang", .hang, ["unreachable"], within: short),
        Kind("stall", .stall(after: 40, .seconds(30)), ["unreachable"], within: short),
        Kind("truncated", .truncate(40), ["unreachable"]),
        Kind("wrong length", .wrongLength(100), ["unreachable"], within: short),
        Kind("bomb", .bomb(256 << 10), ["malformed"]),
        Kind("twice", .twice, ["done"]),
        Kind("500", .answer(.refusal(500, "x"), isCarriedOut: true), ["unavailable"]),
        Kind("502 page", .answer(.badGateway, isCarriedOut: false), ["unavailable"]),
        Kind("400", .answer(.refusal(400, "No."), isCarriedOut: false), ["rejected"]),
        Kind("stale", .stale, ["stale"]),
        Kind("401", .unauthorized, ["unauthorised"]),
        Kind("ban", .answer(.ban, isCarriedOut: false), ["foreign"]),
        Kind("portal", .answer(.captivePortal, isCarriedOut: false), ["foreign"]),
        Kind("redirect", .answer(.redirect(302, to: "/"), isCarriedOut: false), ["foreign"]),
        Kind("reshaped", .reshape([Reshaping(["id"], .remove)]), ["malformed"]),
        Kind(
            "429",
            .answer(.tooManyRequests(retryAfter: "3600"), isCarriedOut: false),
            ["throttled"]
        ),
    ]

    /// Ten thousand in all; with `HOLDFAST_LONG=1`, of each kind.
    private static var callsOfEach: Int {
        getenv("HOLDFAST_LONG") == nil ? 10_000 / kinds.count + 1 : 10_000
    }

    /// In bytes, for each call.
    private static let leastWeight = 48

    @Test func `ten thousand calls, with every fault there is, leave nothing behind`() async throws
    {
        let traces = ErrorTraces()
        defer { traces.putBack() }
        try await Site.open(.vaultwarden, time: EndlessTimekeeper()) { site in
            let account = try await site.account()
            let id = try #require(try await account.create(loginRequest(1)).id)
            let sockets = try WebSocketClient()
            func pass(_ count: Int) async throws {
                var configuration = Client.Configuration()
                configuration.bodyLimit = 64 << 10
                let client = try Client(configuration: configuration)
                for kind in Self.kinds {
                    let upstream = anew(site, client, sockets)
                    let session = upstream.session(account.session.tokens) { _ in }
                    try await storm(site, UpstreamAccount(upstream, session), id, kind, count)
                    #expect(upstream.load.underWay == 0 && upstream.load.waiting == 0, "\(kind)")
                }
                let load = await client.load()
                #expect(load.underWay == 0 && load.waiting == 0)
                // Which connections it keeps for reuse is for the client to decide.
                await client.close()
            }
            // What is made once and kept is there after the first half.
            try await pass(Self.callsOfEach / 2)
            let before = try await possessions(site) { try await pass(32) }
            try await pass(Self.callsOfEach / 2)
            let calls = Self.callsOfEach / 2 * Self.kinds.count
            let after = try await possessions(site) { try await pass(32) }
            #expect(after.bytes - before.bytes < calls * Self.leastWeight, "\(before) \(after)")
            #expect(after.descriptors - before.descriptors <= 8, "\(before) \(after)")
            #expect(after.threads <= before.threads + 2, "\(before) \(after)")
            await sockets.close()
        }
    }

    /// What there is when the server, which is in the same process, has let go of all its clients: it
    /// hears of their leaving later than they leave.
    ///
    /// The least of some times between which a little more happens, for a thread that is about to end
    /// still has its share of the heap.
    private func possessions(
        _ site: Site,
        between little: () async throws -> Void
    ) async throws -> Possessions {
        var all: [Possessions] = []
        for number in 0..<3 {
            if number > 0 { try await little() }
            await site.server.goAway()
            all.append(Possessions())
            try site.server.comeBack()
        }
        return Possessions(least: all)
    }

    /// One that knows of no earlier failure.
    private func anew(_ site: Site, _ client: Client, _ sockets: WebSocketClient) -> Upstream {
        Upstream(
            site.upstream.bases,
            identity: site.upstream.identity,
            world: Upstream.World(
                network: RealNetwork(client: client, sockets: sockets),
                timekeeper: SystemTimekeeper(),
                chance: SystemChance()
            ),
            metrics: UpstreamMetrics(Registry(timekeeper: SystemTimekeeper()))
        )
    }

    private func storm(
        _ site: Site,
        _ account: UpstreamAccount,
        _ id: String,
        _ kind: Kind,
        _ count: Int
    ) async throws {
        var fault = Fault(kind.effect, on: .placeCipher)
        fault.times = nil
        await site.server.inject(fault)
        let insistent = account.asking {
            $0.isForced = true
            $0.patience = .zero
            $0.deadline = kind.deadline
        }
        let ends = await withTaskGroup(of: Set<String>.self) { callers in
            for caller in 0..<32 {
                let share = (count + caller) / 32
                callers.addTask { await outcomes(of: share, insistent, id) }
            }
            return await callers.reduce(into: Set()) { $0.formUnion($1) }
        }
        await site.server.withdrawAll()
        #expect(ends == kind.ends, "\(kind.name)")
    }

    private func outcomes(
        of count: Int,
        _ account: UpstreamAccount,
        _ id: String
    ) async -> Set<String> {
        var ends: Set<String> = []
        for number in 0..<count {
            let request = PartialRequest(folderID: nil, isFavorite: number % 2 == 0)
            let setback = await setback { () async throws(Setback) in
                try await account.update(id, request)
            }
            ends.insert(setback?.reason.kind ?? "done")
        }
        return ends
    }
}

/// The test library remembers of every error where it was thrown, in some 300 bytes, until the test is
/// over. As long as this is taken away, it does not.
private struct ErrorTraces {
    private typealias Slot = UnsafeMutablePointer<UnsafeRawPointer?>

    private let taken: [(slot: Slot, hook: UnsafeRawPointer?)]

    init() {
        taken = ["_swift_willThrow", "_swift_willThrowTypedImpl"].compactMap { name in
            guard let symbol = dlsym(nil, name) else { return nil }
            let slot = symbol.assumingMemoryBound(to: UnsafeRawPointer?.self)
            defer { slot.pointee = nil }
            return (slot, slot.pointee)
        }
    }

    func putBack() {
        for (slot, hook) in taken { slot.pointee = hook }
    }
}

/// Time in which no wait of a second or more comes to its end.
///
/// A real one would be weighed too: the runtime keeps the timer of a wait that was broken off until it
/// is due, some 700 bytes for each.
private struct EndlessTimekeeper: Timekeeper {
    private let time = SystemTimekeeper()

    var now: Date { time.now }
    var elapsed: Duration { time.elapsed }

    func sleep(for duration: Duration) async throws(CancellationError) {
        guard duration >= .seconds(1) else { return try await time.sleep(for: duration) }
        let nothing = AsyncStream<Never> { _ in }
        for await _ in nothing {}
        throw CancellationError()
    }
}

/// What this process has.
private struct Possessions {
    let bytes: Int
    let descriptors: Int
    let threads: Int

    init(least all: [Possessions]) {
        bytes = all.map(\.bytes).min() ?? 0
        descriptors = all.map(\.descriptors).min() ?? 0
        threads = all.map(\.threads).min() ?? 0
    }

    init() {
        bytes = heapInUse()
        descriptors = Self.count("/proc/self/fd")
        threads = Self.count("/proc/self/task")
    }

    private static func count(_ path: String) -> Int {
        guard let directory = opendir(path) else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }
}

/// How many bytes of the heap are in use, in all its arenas, as the allocator itself reports.
private func heapInUse() -> Int {
    typealias Report = @convention(c) (Int32, UnsafeMutablePointer<FILE>?) -> Int32
    guard let symbol = dlsym(nil, "malloc_info") else { return 0 }
    var (text, size) = (nil as UnsafeMutablePointer<CChar>?, 0)
    let stream = open_memstream(&text, &size)
    _ = unsafeBitCast(symbol, to: Report.self)(0, stream)
    fclose(stream)
    defer { free(text) }
    guard let text else { return 0 }
    let totals = String(cString: text).split(separator: "</heap>").last ?? ""
    func total(_ line: String) -> Int {
        let found = totals.split(separator: "\n").first { $0.hasPrefix("<\(line)") }
        let words = found?.split(separator: "size=\"").dropFirst().first
        return words.flatMap { Int($0.prefix { $0 != "\"" }) } ?? 0
    }
    return total("system type=\"current\"") - total("total type=\"fast\"")
        - total("total type=\"rest\"") + total("total type=\"mmap\"")
}
