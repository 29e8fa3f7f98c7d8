import EmbeddedUpstream
import FoundationEssentials
import Host
import JSON
import Machine
import Messaging
import Sync
import System
import Vault

/// One run: a script, the world that it plays in, and what is to be said of it.
public final class Stage: Sendable {
    let script: Script
    let executor: SeededExecutor
    let time: VirtualTimekeeper
    let clock: HouseClock
    let history: History
    let oracle: Oracle
    let cloud: Cloud
    let disk: FaultyDisk
    let coverage: Coverage
    let dice: Dice
    private let cache = SyncCache()
    let background = Mailbox<@Sendable () async -> Void>(name: "background")
    let state: Lock<State>

    struct State {
        var house: House?
        var boot = 0
        var tokens: Tokens
        var isSignedOut = false
        var isCalm = false
        var isCut = false
        var isLocked = false
        /// How often the account had got a new key when this host was signed in last.
        var keysKnown = 0
        var isDrill = false
        var effects = 0
        /// The item that upstream refuses to change.
        var poisoned: String?
        /// Whether the process has to be brought up again.
        var isDown = false
        var upSince = Duration.zero
        /// Whether this host's clock was ever wrong.
        var hadWrongClock = false
        /// Edits under way, and the items that they are about.
        var busy: Set<String> = []
        var underWay = 0
        var pledged: [String: Int] = [:]
        var counts: [SyncMetrics.Disposition: Int] = [:]
    }

    private init(
        _ script: Script,
        _ executor: SeededExecutor,
        _ coverage: Coverage,
        _ history: History
    ) async throws {
        self.script = script
        self.executor = executor
        self.coverage = coverage
        self.history = history
        time = executor.time
        clock = HouseClock(time)
        oracle = Oracle(script.profile.rawValue, history)
        dice = Dice(seed: script.seed ^ 0xD1CE)
        disk = FaultyDisk(seed: script.seed)
        cloud = try await Cloud(script.profile, time, seed: script.seed)
        let tokens = try await Cloud.signIn(
            Cloud.upstream(cloud.directLine, time, executor.chance, device: 2)
        )
        state = Lock(State(tokens: tokens))
    }

    /// Plays the script to its end.
    ///
    /// - Returns: What was breached, if anything was.
    public static func play(
        _ script: Script,
        _ coverage: Coverage = Coverage(),
        jobLimit: Int = 30_000_000
    ) -> Performance {
        let executor = SeededExecutor(seed: script.seed, jobLimit: jobLimit)
        let history = History(executor.time)
        var breach: Breach?
        do {
            breach = try executor.run { executor, _ in
                let stage = try await Stage(script, executor, coverage, history)
                return await stage.play()
            }
        } catch let failure as SimulationFailure {
            let invariant = failure.reason == .strayJob ? "determinism" : "I3"
            breach = Breach(invariant, "\(failure)")
            history.note("BREACH \(failure)")
        } catch {
            breach = Breach("simulator", "\(error)")
            history.note("BREACH \(error)")
        }
        return Performance(
            script: script,
            breach: breach,
            history: history.lines,
            digest: history.digest ^ executor.history,
            jobs: executor.jobCount,
            elapsed: executor.time.elapsed,
            effects: history.tally.effects,
            flushes: history.tally.flushes
        )
    }

    private func play() async -> Breach? {
        await withTaskGroup(of: Void.self) { services in
            services.addTask { await self.cloud.server.run() }
            services.addTask { await self.runBackground() }
            do {
                try await perform()
            } catch {
                oracle.say("simulator", "\(error)")
            }
            await bringDown()
            services.cancelAll()
            await cloud.server.stop(within: .seconds(1))
        }
        return oracle.breach
    }

    private func runBackground() async {
        await withDiscardingTaskGroup { tasks in
            for await body in background { tasks.addTask { await body() } }
            tasks.cancelAll()
        }
    }

    private func perform() async throws {
        try await furnish()
        try await bringUp("start")
        try? await time.sleep(for: .seconds(3))
        begin()
        for step in script.steps {
            guard oracle.breach == nil else { return }
            await take(step)
        }
        history.tally = History.Tally(
            effects: state.withLock(\.effects),
            flushes: disk.calls
        )
        guard oracle.breach == nil else { return }
        await settle()
    }

    /// From here on it counts.
    private func begin() {
        state.withLock { $0.effects = 0 }
        if case .atFlush(let flush) = script.dies {
            disk.cut(at: flush, of: .sync)
        } else {
            disk.count(.sync)
        }
    }

    /// What is there before the story begins.
    private func furnish() async throws {
        for _ in 0..<script.itemCount { try await addElsewhere() }
    }

    func addElsewhere() async throws {
        let item = oracle.with { knowledge in
            let origin = knowledge.newOrigin(isOwn: false)
            var item = PlainItem(id: "", revision: "")
            item.origin = origin
            for field in PlainField.allCases {
                item.values[field] = knowledge.newWord(field, of: origin, isOwn: false)
            }
            return item
        }
        try await elsewhere { try await self.cloud.add(item) }
    }

    /// Somebody else acts at the server, and the oracle looks.
    func elsewhere(
        by author: Knowledge.Author = .other,
        _ body: @Sendable @escaping () async throws -> Void
    ) async rethrows {
        try await cloud.turns.hold("") {
            try await body()
            if let items = try? await cloud.look() { oracle.observe(items, by: author) }
        }
    }

    // MARK: The process

    var house: House? { state.withLock(\.house) }

    private func bringUp(_ occasion: String) async throws {
        var house: House?
        for attempt in 0..<5 {
            let ground = ground()
            do throws(StoreError) {
                house = try await House.open(ground)
                break
            } catch {
                history.note("the store does not open")
                // Whatever ails the disk, a person mends it.
                disk.heal()
                if disk.isCut { disk.powerOn() }
                if attempt == 4 { throw Unforeseen("the store does not open: \(error)") }
                try? await time.sleep(for: .seconds(5))
            }
        }
        guard let house else { return }
        let (isLocked, isCut, isDrill, keysKnown) = state.withLock { state in
            state.house = house
            state.isDown = false
            state.counts = [:]
            state.upSince = time.elapsed
            return (state.isLocked, state.isCut, state.isDrill, state.keysKnown)
        }
        house.line.isCut = isCut
        history.note("the host is up after a \(occasion)")
        try? await background.address.tell { await house.run() }
        if isDrill { await drill(true, house) }
        if state.withLock(\.isSignedOut) { house.session.signOut() }
        if !isLocked {
            house.unlock(cloud.rings[keysKnown])
            await reseal(house)
            await look("restart")
        }
        if occasion == "start" { try? await house.scheduler.address.tell(.trigger(.signedIn)) }
    }

    private func ground() -> House.Ground {
        let boot = state.withLock { state in
            state.boot += 1
            return state.boot
        }
        let tokens = state.withLock(\.tokens)
        return House.Ground(
            cloud: cloud,
            disk: disk,
            executor: executor,
            clock: clock,
            line: line(),
            limit: script.limit,
            policy: SyncPolicy(
                interval: .seconds(script.interval),
                abort: script.isWhole ? .whole : .item
            ),
            boot: boot,
            tokens: tokens,
            keep: { [self] tokens in state.withLock { $0.tokens = tokens } },
            signedOut: { [self] in
                history.note("the session is over")
                state.withLock { $0.isSignedOut = true }
            }
        )
    }

    private func line() -> Line {
        Line(
            Line.Ends(
                cloud: cloud,
                oracle: oracle,
                history: history,
                time: time,
                clock: clock,
                dice: dice,
                faults: script.faults,
                rate: { [self] in state.withLock { $0.isCalm ? 0 : script.faultRate } },
                coverage: coverage,
                background: background.address,
                passEffect: { [self] in passEffect() },
                interlude: { [self] id in await interlude(id) },
                isPoisoned: { [self] call in
                    call.isWrite && call.cipherID.map { $0 == state.withLock(\.poisoned) } ?? false
                },
                cache: cache
            )
        )
    }

    /// Whether the process dies at this effect.
    private func passEffect() -> Bool {
        let effect = state.withLock { state in
            state.effects += 1
            return state.effects
        }
        guard script.dies == .atRequest(effect), !state.withLock(\.isCalm), let house else {
            return false
        }
        history.note("the process is killed at effect \(effect)")
        stop(house)
        state.withLock { $0.isDown = true }
        return true
    }

    /// Nothing that it does has an effect any more.
    private func stop(_ house: House) {
        house.line.die()
        disk.kill()
        house.kill()
    }

    func kill() async {
        guard let house else { return }
        history.note("the process is killed")
        stop(house)
        await bury(house, "kill")
    }

    /// Waits until it is gone, and brings up the next.
    func bury(_ house: House, _ occasion: String) async {
        if occasion != "restart" { await expectEnd(of: house) }
        oracle.with { knowledge in
            for (text, word) in knowledge.words where word.fate == .begun && word.isOwn {
                knowledge.words[text]?.fate = .unknown
            }
            // Whether the host had written down how long it is to wait cannot be known.
            knowledge.holds = [:]
            knowledge.base = [:]
        }
        if disk.isCut { disk.powerOn() }
        state.withLock { $0.house = nil }
        do {
            try await bringUp(occasion)
        } catch {
            oracle.say("I8", "\(error)")
        }
    }

    func expectEnd(of house: House) async {
        let isOver = house.isOver
        await withTaskGroup(of: Void.self) { race in
            race.addTask { await isOver.wait() }
            race.addTask { try? await self.time.sleep(for: .seconds(20)) }
            await race.next()
            if !isOver.isOpen {
                oracle.say("I22", "the host was told to end and did not within 20 s")
                isOver.open()
            }
            race.cancelAll()
        }
    }

    /// In order: what was accepted is finished.
    func restart() async {
        guard let house else { return }
        history.note("the host is told to end")
        house.close()
        await expectEnd(of: house)
        house.line.die()
        await bury(house, "restart")
    }

    private func bringDown() async {
        guard let house else { return }
        // It knows the stage, so it would keep all of this in memory for ever.
        defer { state.withLock { $0.house = nil } }
        house.line.die()
        house.close()
        await house.isOver.wait()
        for line in house.log.breaches {
            oracle.say("I16", "a log line says what it must not: \(line)")
        }
    }

    func reviveIfDown() async {
        guard let house else { return }
        if disk.isCut || state.withLock(\.isDown) {
            history.note(disk.isCut ? "the power is gone" : "the process is gone")
            stop(house)
            await bury(house, disk.isCut ? "power cut" : "kill")
        }
    }
}
