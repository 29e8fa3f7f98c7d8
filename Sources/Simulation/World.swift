import EmbeddedUpstream
import Host
import Machine
import Messaging
import System

/// What all hosts of a run have in common: the server and its other device, the time, chance, and
/// who knows everything.
final class World: Sendable {
    let script: Script
    let executor: SeededExecutor
    let history: History
    let oracle: Oracle
    let cloud: Cloud
    /// At the first host, if anybody is.
    let lodger: Lodger?
    let coverage: Coverage
    let dice: Dice
    let cache = SyncCache()
    let background = Mailbox<@Sendable () async -> Void>(name: "background")
    private let state = Lock(State())

    private struct State {
        var isCalm = false
        var poison: Poison?
        var memory: PlainItem?
    }

    init(
        _ script: Script,
        _ executor: SeededExecutor,
        _ coverage: Coverage,
        _ history: History
    ) async throws {
        self.script = script
        self.executor = executor
        self.coverage = coverage
        self.history = history
        oracle = Oracle(Knowledge(hosts: script.hosts), history)
        dice = Dice(seed: script.seed ^ 0xD1CE)
        cloud = try await Cloud(script.profile, executor.time, seed: script.seed)
        let hasLodger = script.hazards.hazards.contains(.lodger)
        lodger = hasLodger ? try await cloud.admitLodger(Dice(seed: script.seed ^ 0x10D6)) : nil
    }

    var time: VirtualTimekeeper { executor.time }

    /// Nothing goes wrong of its own accord any more.
    var isCalm: Bool {
        get { state.withLock(\.isCalm) }
        set { state.withLock { $0.isCalm = newValue } }
    }

    var poison: Poison? {
        get { state.withLock(\.poison) }
        set { state.withLock { $0.poison = newValue } }
    }

    /// What the other device remembers of the item that it looked at last.
    var memory: PlainItem? {
        get { state.withLock(\.memory) }
        set { state.withLock { $0.memory = newValue } }
    }

    /// So many folders there are in the beginning, where anybody keeps order.
    static let folders = 3

    /// Under which the server knows that host.
    static func device(of host: Int) -> Int { 2 + host }

    /// A way to the server for that host on which nothing goes wrong.
    func directUpstream(of host: Int) throws -> Upstream {
        try Cloud.upstream(cloud.directLine, time, executor.chance, device: Self.device(of: host))
    }

    func runBackground() async {
        await withDiscardingTaskGroup { tasks in
            for await body in background { tasks.addTask { await body() } }
            tasks.cancelAll()
        }
    }

    /// Time passes; a process that dies meanwhile comes up again.
    func pass(_ duration: Duration, at sites: [Site]) async {
        let end = time.elapsed + duration
        while time.elapsed < end {
            try? await time.sleep(for: min(end - time.elapsed, .seconds(60)))
            for site in sites { await site.reviveIfDown() }
            if oracle.breach != nil { return }
        }
    }

    func take(_ deed: Deed.Server) async {
        switch deed {
        case .setClock(let seconds):
            noteOddStamps()
            await cloud.setClock(seconds: seconds)
        case .setDigits(let digits):
            noteOddStamps()
            await cloud.server.setStampDigits(digits)
        case .remember: await cloud.remember()
        case .rollBack:
            oracle.with { $0.mayRegress = true }
            try? await elsewhere(by: .rollBack) {
                try await self.cloud.rollBack()
                try await self.lookAtFolders()
            }
            memory = nil
        case .poison(let place):
            let items = oracle.with { Array($0.upstream.values) }.filter { !$0.isBackup }
            poison = items.pick(place).map { Poison($0.id, place) }
        case .endSession:
            try? await elsewhere {
                try await self.cloud.endSessions()
                self.oracle.with { $0.moveOn() }
            }
        }
    }

    private func noteOddStamps() {
        oracle.with { knowledge in
            knowledge.mayRegress = true
            knowledge.hasOddStamps = true
        }
    }
}
