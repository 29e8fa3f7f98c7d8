import Host
import Machine
import Messaging
import Sync
import System

/// A host where it stands, from one process to the next: its disk, its clock, its way to the server,
/// and what the person at it has done.
final class Site: Sendable {
    let number: Int
    let world: World
    let clock: HouseClock
    let disk: FaultyDisk
    /// Hears all of its processes.
    let log = LogEar()
    let state: Lock<State>

    struct State {
        var house: House?
        var boot = 0
        var tokens: Tokens
        var lodgerTokens: Tokens?
        var isSignedOut = false
        var isCut = false
        var cutSince: Duration?
        /// When something is to be on its way again at the latest.
        var dueBy: Duration?
        var isLocked = false
        /// How often the account had got a new key when this host was signed in last.
        var keysKnown = 0
        var isDrill = false
        var effects = 0
        /// Whether the process has to be brought up again.
        var isDown = false
        var upSince = Duration.zero
        /// Whether this host's clock was ever wrong, and when it was set last.
        var hadWrongClock = false
        var clockSet = Duration.zero
        /// Edits under way, and the items that they are about.
        var busy: Set<String> = []
        var underWay = 0
        var counts: [SyncMetrics.Disposition: Int] = [:]
    }

    init(_ number: Int, in world: World) async throws {
        self.number = number
        self.world = world
        clock = HouseClock(world.time)
        disk = FaultyDisk(seed: world.script.seed ^ UInt64(number) << 32)
        let tokens = try await Cloud.signIn(world.directUpstream(of: number))
        state = Lock(State(tokens: tokens))
        guard lodger != nil else { return }
        let upstream = try world.directUpstream(of: number)
        let lodgerTokens = try await Cloud.signIn(upstream, as: Lodger.email)
        state.withLock { $0.lodgerTokens = lodgerTokens }
    }

    var lodger: Lodger? { number == 0 ? world.lodger : nil }

    var script: Script { world.script }
    var time: VirtualTimekeeper { world.time }
    var history: History { world.history }
    var oracle: Oracle { world.oracle }
    var cloud: Cloud { world.cloud }
    var dice: Dice { world.dice }

    func note(_ line: @autoclosure () -> String) { history.note(line(), of: number) }

    // MARK: The process

    var house: House? { state.withLock(\.house) }

    func bringUp(_ occasion: String) async throws {
        var house: House?
        for attempt in 0..<5 {
            let ground = ground()
            do throws(StoreError) {
                house = try await House.open(ground)
                break
            } catch {
                note("the store does not open")
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
        note("the host is up after a \(occasion)")
        try? await world.background.address.tell { await house.run() }
        if isDrill { await drill(true, house) }
        if state.withLock(\.isSignedOut) { house.owner.session.signOut() }
        if let lodger { house.lodger?.unlock(lodger.ring) }
        if !isLocked {
            house.owner.unlock(cloud.rings[keysKnown])
            await reseal(house)
            await look("restart")
        }
        if occasion == "start" {
            try? await house.owner.scheduler.address.tell(.trigger(.signedIn))
        }
    }

    private func ground() -> House.Ground {
        let boot = state.withLock { state in
            state.boot += 1
            return state.boot
        }
        let (tokens, lodgerTokens) = state.withLock { ($0.tokens, $0.lodgerTokens) }
        return House.Ground(
            disk: disk,
            executor: world.executor,
            device: World.device(of: number),
            clock: clock,
            line: line(),
            log: log,
            limit: script.limit,
            policy: SyncPolicy(
                interval: .seconds(script.interval),
                abort: script.isWhole ? .whole : .item
            ),
            boot: boot,
            owner: Tenant.Lease(
                tokens: tokens,
                keep: { [self] tokens in state.withLock { $0.tokens = tokens } },
                signedOut: { [self] in
                    note("the session is over")
                    state.withLock { $0.isSignedOut = true }
                }
            ),
            lodger: lodgerTokens.map { tokens in
                Tenant.Lease(
                    tokens: tokens,
                    keep: { [self] tokens in state.withLock { $0.lodgerTokens = tokens } },
                    signedOut: { [self] in note("the lodger's session is over") }
                )
            }
        )
    }

    private func line() -> Line {
        Line(
            Line.Ends(
                host: number,
                cloud: cloud,
                oracle: oracle,
                history: history,
                time: time,
                dice: dice,
                faults: script.faults,
                rate: { [world] in world.isCalm ? 0 : world.script.faultRate },
                coverage: world.coverage,
                background: world.background.address,
                passEffect: { [self] in passEffect() },
                interlude: { [world] id in await world.interlude(id) },
                poison: { [world] call in
                    guard call.isWrite, let poison = world.poison, poison.id == call.cipherID
                    else { return nil }
                    return poison.mishap
                },
                isLodgers: { [self] call in isLodgers(call) },
                cache: world.cache
            )
        )
    }

    /// Whether the process dies at this effect.
    private func passEffect() -> Bool {
        let effect = state.withLock { state in
            state.effects += 1
            return state.effects
        }
        guard number == 0, script.dies == .atRequest(effect), !world.isCalm, let house else {
            return false
        }
        note("the process is killed at effect \(effect)")
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
        note("the process is killed")
        stop(house)
        await bury(house, "kill")
    }

    /// Waits until it is gone, and brings up the next.
    func bury(_ house: House, _ occasion: String) async {
        if occasion != "restart" { await expectEnd(of: house) }
        // What was on its way may have to wait now, and nobody can be refused it any more.
        let underWay = state.withLock(\.underWay)
        oracle.with { [number] knowledge in
            knowledge.bury(number)
            knowledge.doubts[number, default: 0] += underWay
        }
        if disk.isCut { disk.powerOn() }
        state.withLock { $0.house = nil }
        do {
            try await bringUp(occasion)
        } catch {
            oracle.say(.keptOnceAccepted, "\(error)")
        }
    }

    func expectEnd(of house: House) async {
        let isOver = house.isOver
        await withTaskGroup(of: Void.self) { race in
            race.addTask { await isOver.wait() }
            race.addTask { try? await self.time.sleep(for: .seconds(20)) }
            await race.next()
            if !isOver.isOpen {
                oracle.say(.endsInTime, "the host was told to end and did not within 20 s")
                isOver.open()
            }
            race.cancelAll()
        }
    }

    /// In order: what was accepted is finished.
    func restart() async {
        guard let house else { return }
        note("the host is told to end")
        house.close()
        await expectEnd(of: house)
        house.line.die()
        await bury(house, "restart")
    }

    /// From here on it counts.
    func begin() {
        state.withLock { $0.effects = 0 }
        if number == 0, case .atFlush(let flush) = script.dies {
            disk.cut(at: flush, of: .sync)
        } else {
            disk.count(.sync)
        }
    }

    var tally: History.Tally {
        History.Tally(effects: state.withLock(\.effects), flushes: disk.calls)
    }

    func bringDown() async {
        guard let house else { return }
        // It knows the stage, so it would keep all of this in memory for ever.
        defer { state.withLock { $0.house = nil } }
        house.line.die()
        house.close()
        await house.isOver.wait()
        for line in log.breaches {
            oracle.say(.nothingOpen, "a log line says what it must not: \(line)")
        }
    }

    func reviveIfDown() async {
        guard let house, disk.isCut || state.withLock(\.isDown) else { return }
        note(disk.isCut ? "the power is gone" : "the process is gone")
        stop(house)
        await bury(house, disk.isCut ? "power cut" : "kill")
    }
}
