import EmbeddedUpstream
import FoundationEssentials
import HTTP
import Metrics
import Sync
import System
import TestSupport
import Testing
import Vault

@testable import Host

/// The client under a seeded executor, in virtual time, against an upstream that counts.
@Suite struct UpstreamSimulationTests {
    /// An upstream that takes so many in a minute from everybody together, and tells the others when
    /// to come again.
    private final class Counting: Sendable {
        private struct State {
            var start = Duration.zero
            var count = 0
            var served: [String: Int] = [:]
            var refused = 0
        }

        private let state = Lock(State())
        private let limit: Int
        private let time: VirtualTimekeeper

        init(perMinute limit: Int, _ time: VirtualTimekeeper) {
            self.limit = limit
            self.time = time
        }

        var served: [String: Int] { state.withLock(\.served) }
        var refused: Int { state.withLock(\.refused) }

        func answer(_ request: Client.Request) async -> NetworkAnswer {
            try? await time.sleep(for: .milliseconds(50))
            let now = time.elapsed
            let caller = request.headers["Authorization"] ?? ""
            return state.withLock { state in
                if now - state.start >= .seconds(60) { (state.start, state.count) = (now, 0) }
                state.count += 1
                guard state.count <= limit else {
                    state.refused += 1
                    let left = Int((state.start + .seconds(60) - now) / .seconds(1)) + 1
                    return NetworkAnswer(status: 429, headers: ["Retry-After": "\(left)"])
                }
                state.served[caller, default: 0] += 1
                let type: Headers = ["Content-Type": "application/json"]
                return NetworkAnswer(status: 200, headers: type, body: Array("1".utf8))
            }
        }
    }

    private static func account(_ name: String, _ upstream: Upstream) -> UpstreamAccount {
        let tokens = Tokens(
            userID: name,
            access: name,
            expires: Moment(ticks: .max / 2),
            renewal: .none
        )
        return UpstreamAccount(upstream, upstream.session(tokens) { _ in })
            .asking { $0.patience = .seconds(1_000_000) }
    }

    private static func upstream(
        _ executor: SeededExecutor,
        _ network: ScriptedNetwork
    ) throws -> Upstream {
        Upstream(
            try Bases("https://vault.example"),
            identity: ClientIdentity(device: Site.device),
            world: .init(
                network: network,
                timekeeper: executor.time,
                chance: executor.chance
            ),
            metrics: UpstreamMetrics(Registry(timekeeper: executor.time))
        )
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func `a limited upstream serves all accounts alike and refuses few`(_ seed: UInt64) throws {
        let (history, elapsed) = try Self.play(seed)
        #expect(try Self.play(seed).history == history, "The same seed tells the same story.")
        // 200 requests at 20 in a minute take ten minutes at best.
        #expect((540...1_500).contains(elapsed / .seconds(1)), "seed \(seed): \(elapsed)")
    }

    private static func play(_ seed: UInt64) throws -> (history: UInt64, elapsed: Duration) {
        let executor = SeededExecutor(seed: seed)
        let elapsed = try executor.run { executor, time in
            let counting = Counting(perMinute: 20, time)
            let network = ScriptedNetwork { await counting.answer($0) }
            let upstream = try Self.upstream(executor, network)
            await withTaskGroup { services in
                services.addTask { await upstream.run() }
                await withDiscardingTaskGroup { callers in
                    // One asks for 160 at once, two others for twenty.
                    for (name, count) in [("busy", 160), ("b", 20), ("c", 20)] {
                        let account = Self.account(name, upstream)
                        for _ in 0..<count {
                            callers.addTask { await Self.persist(account) }
                        }
                    }
                }
                services.cancelAll()
            }
            #expect(counting.served.values.reduce(0, +) == 200, "seed \(seed)")
            #expect(counting.refused <= 80, "seed \(seed): \(counting.refused)")
            #expect(upstream.load == (0, 0))
            return time.elapsed
        }
        return (executor.history, elapsed)
    }

    /// Asks until there is an answer; a refusal for coming too early is waited out by the budget.
    private static func persist(_ account: UpstreamAccount) async {
        while await setback({ () async throws(Setback) in _ = try await account.revision() }) != nil
        {}
    }

    @Test(arguments: 0..<30 as Range<UInt64>)
    func `whatever is cancelled, everybody ends and no place is lost`(_ seed: UInt64) throws {
        try SeededExecutor.run(seed: seed) { executor, time in
            let network = ScriptedNetwork { request async throws(NetworkFailure) in
                try? await time.sleep(for: .milliseconds(executor.chance.number(in: 1..<3_000)))
                if Task.isCancelled { throw .scripted(.cancelled) }
                switch executor.chance.number(in: 0..<8) {
                case 0: throw .scripted(.lost, isOutcomeUnknown: true)
                case 1: return NetworkAnswer(status: 503)
                case 2: return NetworkAnswer(status: 429)
                default:
                    let type: Headers = ["Content-Type": "application/json"]
                    return NetworkAnswer(status: 200, headers: type, body: Array("1".utf8))
                }
            }
            let upstream = try Self.upstream(executor, network)
            await withTaskGroup { services in
                services.addTask { await upstream.run() }
                await withTaskGroup { callers in
                    for number in 0..<300 {
                        let account = Self.account("\(number % 7)", upstream).asking {
                            $0.patience = .seconds(executor.chance.number(in: 0..<100))
                            $0.isForced = number % 20 == 0
                        }
                        callers.addTask { _ = try? await account.revision() }
                        if number % 50 == 49 {
                            try? await time.sleep(for: .milliseconds(700))
                            if executor.chance.number(in: 0..<2) == 0 { callers.cancelAll() }
                        }
                    }
                }
                #expect(upstream.load == (0, 0), "seed \(seed)")
                services.cancelAll()
            }
        }
    }

    /// Else a busy moment here would count as an outage there.
    @Test func `a host that has no descriptor left learns nothing of its upstream by that`() throws
    {
        try SeededExecutor.run(seed: 1) { executor, _ in
            let network = ScriptedNetwork { (_: Client.Request) throws(NetworkFailure) in
                throw .scripted(.exhausted)
            }
            let upstream = try Self.upstream(executor, network)
            await withTaskGroup { services in
                services.addTask { await upstream.run() }
                let account = Self.account("a", upstream)
                for _ in 0..<8 {
                    let setback = await setback { () async throws(Setback) in
                        _ = try await account.revision()
                    }
                    #expect(setback?.reason == .unreachable(.exhausted("scripted")))
                    #expect(setback?.letsAnEditWait == true)
                    #expect(setback.map { Evidence($0) == nil } == true)
                }
                #expect(await upstream.probeNetwork() == nil)
                #expect(network.requests.count == 9, "Each was tried.")
                services.cancelAll()
            }
        }
    }

    @Test func `T-43 a request to wait is kept over a restart`() throws {
        try SeededExecutor.run(seed: 1) { executor, time in
            let network = ScriptedNetwork { _ in
                NetworkAnswer(status: 429, headers: ["Retry-After": "600"])
            }
            let first = try Self.upstream(executor, network)
            _ = await setback { () async throws(Setback) in
                _ = try await Self.account("a", first).asking { $0.patience = .zero }.revision()
            }
            let holds = first.holds
            let until = try #require(holds.api)
            #expect(holds.identity == nil)
            let second = try Self.upstream(executor, network)
            second.holds = holds
            try? await time.sleep(for: .seconds(300))
            let setback = await setback { () async throws(Setback) in
                _ = try await Self.account("a", second).asking { $0.patience = .zero }.revision()
            }
            guard case .throttled(let told, _) = setback?.reason else {
                throw Unexpected("it was asked again: \(setback as Any)")
            }
            #expect(abs(told.ticks - until.ticks) < Moment.ticksPerMillisecond)
            #expect(network.requests.count == 1)
        }
    }
}
