import EmbeddedUpstream
import Host
import Machine
import Messaging
import Sync
import System
import Vault

extension Stage {
    func take(_ step: Step) async {
        if let phase = step.awaits { await ambush(phase) }
        for _ in 0..<step.turns { await Task.yield() }
        await reviveIfDown()
        history.note("[\(step.number)] \(step.deed)\(step.isAside ? ", aside" : "")")
        if let hazard = step.deed.hazard, let house { coverage.note(hazard, house.line.phase) }
        switch step.deed {
        case .create, .edit, .trash, .restore, .delete, .favour, .archive, .saveCopy, .sync,
            .discard, .retry:
            await takeOwn(step)
        case .otherCreate, .otherEdit, .otherTrash, .otherRestore, .otherDelete, .otherFavour,
            .otherShare, .rotateKeys:
            await takeElsewhere(step.deed)
        case .kill, .cutPower, .restart, .fillDisk, .freeDisk, .breakDisk:
            await takeMachine(step.deed)
        default: await takeWorld(step.deed)
        }
        await reviveIfDown()
        inspect()
        if script.hazards.hazards.contains(.scene), case .wait = step.deed { await look("while") }
    }

    private func takeWorld(_ deed: Deed) async {
        switch deed {
        case .wait(let duration): await pass(duration)
        case .cut: setCut(true)
        case .mend: setCut(false)
        case .drill(let isOn):
            state.withLock { $0.isDrill = isOn }
            if let house { await drill(isOn, house) }
        case .strike(let mishap, let times): house?.line.order(mishap, times: times)
        case .strikeAt(let mishap, let kind): house?.line.order(mishap, on: kind, times: 1)
        case .lock:
            state.withLock { $0.isLocked = true }
            house?.lock()
        case .unlock: await unlock()
        case .signIn: await signInAgain()
        case .setHostClock(let step):
            state.withLock { $0.hadWrongClock = true }
            clock.step(step)
        case .setUpstreamClock(let seconds):
            noteOddStamps()
            await cloud.setClock(seconds: seconds)
        case .setDigits(let digits):
            noteOddStamps()
            await cloud.server.setStampDigits(digits)
        case .remember: await cloud.remember()
        case .rollBack:
            oracle.with { $0.mayRegress = true }
            try? await elsewhere(by: .rollBack) { try await self.cloud.rollBack() }
        case .poison(let place):
            let items = oracle.with { Array($0.upstream.values) }.filter { !$0.isBackup }
            state.withLock { $0.poisoned = items.pick(place)?.id }
        case .endSession: try? await elsewhere { try await self.cloud.endSessions() }
        default: break
        }
    }

    private func takeMachine(_ deed: Deed) async {
        switch deed {
        case .kill(let turns):
            for _ in 0..<turns { await Task.yield() }
            await kill()
        case .cutPower(let call):
            disk.cut(at: call)
            // Somebody may have to write before it comes to that.
            await pass(.seconds(2))
            if !disk.isCut { disk.cut() }
        case .restart: await restart()
        case .fillDisk: disk.fail([.write], at: 1, error: 28)
        case .freeDisk: disk.heal()
        case .breakDisk(let times):
            disk.fail([.write, .sync, .truncate], at: 1, times: times, error: 5)
        default: break
        }
    }

    /// Lies in wait for the host, but not for ever.
    private func ambush(_ phase: Phase) async {
        guard let house, house.line.phase != phase else { return }
        let latch = Latch()
        house.line.wait(for: phase, latch)
        if script.hazards.hazards.contains(.scene), dice.happens(70) { await provoke(phase, house) }
        await withTaskGroup(of: Void.self) { race in
            race.addTask { await latch.wait() }
            race.addTask { try? await self.time.sleep(for: .seconds(60)) }
            await race.next()
            latch.open()
            race.cancelAll()
        }
    }

    /// Sees to it that the host comes into that phase soon.
    private func provoke(_ phase: Phase, _ house: House) async {
        let place = dice.number(in: 0..<6)
        switch phase {
        case .resting: break
        case .reading, .taking: await takeOwnAside(.sync)
        case .pushing, .settling: await takeOwnAside(.edit(place, .notes))
        case .comparing, .backingUp:
            guard !state.withLock(\.isDrill) else { return }
            await drill(true, house)
            await takeOwn(Step(number: -1, deed: .edit(place, .notes), isAside: false, turns: 0))
            await takeElsewhere(.otherEdit(place, .username))
            await drill(false, house)
            await takeOwnAside(.sync)
        }
    }

    private func takeOwnAside(_ deed: Deed) async {
        await takeOwn(Step(number: -1, deed: deed, isAside: true, turns: 0))
    }

    /// Time passes; a process that dies meanwhile comes up again.
    func pass(_ duration: Duration) async {
        let end = time.elapsed + duration
        while time.elapsed < end {
            try? await time.sleep(for: min(end - time.elapsed, .seconds(60)))
            if disk.isCut || state.withLock(\.isDown) { await reviveIfDown() }
            if oracle.breach != nil { return }
        }
    }

    private func noteOddStamps() {
        oracle.with { knowledge in
            knowledge.mayRegress = true
            knowledge.hasOddStamps = true
        }
    }

    /// It is in force when this returns.
    func drill(_ isOn: Bool, _ house: House) async {
        try? await house.monitor.address.tell(.drill(isOn))
        try? await house.monitor.address.ask { .pulse($0) }
    }

    func setCut(_ isCut: Bool) {
        state.withLock { $0.isCut = isCut }
        house?.line.isCut = isCut
    }

    /// With the key that this host knows of.
    func unlock() async {
        let known = state.withLock { state in
            state.isLocked = false
            return state.keysKnown
        }
        guard let house, house.keys.isLocked else { return }
        house.unlock(cloud.rings[known])
        await reseal(house)
    }

    /// What is still under keys from before is brought under the present one.
    func reseal(_ house: House) async {
        let known = state.withLock(\.keysKnown)
        for former in cloud.rings.prefix(known) {
            let count = try? await house.resolver.address.ask { .reseal(from: former, $0) }.get()
            if let count, count > 0 {
                try? house.scheduler.address.tryTell(.trigger(.queued))
            }
        }
    }

    /// What is here is looked at from outside.
    func inspect() {
        guard let house, !house.line.isDead, let userID = Optional(cloud.userID) else { return }
        guard let layers = try? house.store.reader.layers(of: userID) else { return }
        var base: [String: Int64] = [:]
        for row in layers.base { base[row.lane.cipherID] = row.revision.moment.ticks }
        oracle.look(atBase: base)
        if state.withLock(\.isDrill), house.monitor.standing.state != .offline {
            oracle.say("I19", "in a drill the network is \(house.monitor.standing.state)")
        }
        if let ended = house.line.sessionEnded, time.elapsed - ended > .seconds(60),
            !state.withLock(\.isSignedOut)
        {
            oracle.say("I19", "the session is over, and nobody is told")
        }
        let waiting = layers.pending.count { $0.change?.state != .inFlight }
        if layers.pending.isEmpty { oracle.with { $0.doubts = 0 } }
        // What upstream may have taken nobody can be refused any more, but there is an end to that too.
        let mayWait = min(script.limit + oracle.with(\.doubts), 2 * script.limit)
        if waiting > mayWait + state.withLock(\.underWay) {
            oracle.say("I20", "\(waiting) changes wait, and \(mayWait) may")
        }
    }
}

// MARK: - Another device

extension Stage {
    private func takeElsewhere(_ deed: Deed) async {
        do {
            switch deed {
            case .otherCreate: try await addElsewhere()
            case .otherEdit(let place, let field):
                try await changeElsewhere(place) { stage, item in
                    guard let origin = item.origin else { return }
                    var edited = item
                    if field == .password, let old = item.values[.password] {
                        edited.history = [old] + item.history
                        edited.sealedHistory =
                            [item.sealed[.password] ?? ""] + item.sealedHistory
                    }
                    edited.values[field] = stage.oracle.with {
                        $0.newWord(field, of: origin, isOwn: false)
                    }
                    edited.sealed[field] = nil
                    try await stage.cloud.write(edited)
                }
            case .otherTrash(let place):
                try await changeElsewhere(place) { try await $0.cloud.account.trash($1.id) }
            case .otherRestore(let place):
                try await changeElsewhere(place) { _ = try await $0.cloud.account.restore($1.id) }
            case .otherDelete(let place):
                try await changeElsewhere(place) { try await $0.cloud.account.delete($1.id) }
            case .rotateKeys:
                oracle.with { $0.hasRotated = true }
                try await elsewhere { try await self.cloud.rotateKeys() }
            case .otherShare(let place):
                try await changeElsewhere(place) { stage, item in
                    guard !item.isShared else { return }
                    try await stage.cloud.share(item.id)
                    if let origin = item.origin {
                        stage.oracle.with { $0.origins[origin]?.isShared = true }
                    }
                }
            case .otherFavour(let place):
                try await changeElsewhere(place) { stage, item in
                    var edited = item
                    edited.isFavourite.toggle()
                    try await stage.cloud.write(edited)
                }
            default: break
            }
        } catch {
            history.note("another device could not: \(Self.short(error))")
        }
    }

    private func changeElsewhere(
        _ place: Int,
        _ body: @Sendable @escaping (Stage, PlainItem) async throws -> Void
    ) async throws {
        // Devices that act within a second of each other are not told apart by any stamp.
        try? await time.sleep(for: .milliseconds(dice.pick([5, 400, 1_500, 3_000])))
        try await elsewhere {
            let items = try await self.cloud.look().values.filter { !$0.isBackup && !$0.isShared }
            guard let item = items.pick(place) else { return }
            try await body(self, item)
        }
    }

    /// Another device is faster.
    func interlude(_ id: String) async {
        do {
            try await elsewhere {
                guard let item = try await self.cloud.look()[id], let origin = item.origin,
                    !item.isShared
                else { return }
                var edited = item
                edited.values[.notes] = self.oracle.with {
                    $0.newWord(.notes, of: origin, isOwn: false)
                }
                edited.sealed[.notes] = nil
                try await self.cloud.write(edited)
            }
        } catch {
            history.note("another device could not: \(Self.short(error))")
        }
    }

    static func short(_ error: any Error) -> String {
        switch error {
        case let setback as Setback: "\(setback.operation), \(word(setback.reason))"
        case is CancellationError: "cancelled"
        case let refusal as Repository.Refusal: word(refusal)
        case let error as Undelivered: "\(error)"
        default: "\(type(of: error))"
        }
    }

    static func word(_ reason: Setback.Reason) -> String {
        switch reason {
        case .rejected(let words): "rejected with \(words.status)"
        case .stale: "stale"
        case .missing: "missing"
        case .unauthorised: "unauthorised"
        case .signedOut: "signed out"
        case .throttled: "throttled"
        case .unavailable(let status): "unavailable, \(status)"
        case .unreachable: "unreachable"
        case .foreign: "foreign"
        case .malformed: "malformed"
        case .cancelled: "cancelled"
        }
    }

    static func word(_ refusal: Repository.Refusal) -> String {
        switch refusal {
        case .locked: "locked"
        case .notFound: "not found"
        case .inTrash: "in the trash"
        case .unfit: "unfit"
        case .outOfDate: "out of date"
        case .unreadable: "unreadable"
        case .upstream(let setback): "upstream: \(word(setback.reason))"
        case .store(let error): "store: \(kind(error))"
        case .closing: "closing"
        }
    }

    private static func kind(_ error: StoreError) -> String {
        switch error {
        case .database: "database"
        case .system: "system"
        case .held: "held"
        case .queueFull: "full"
        case .noAccount: "no account"
        case .notAccepting: "not accepting"
        }
    }
}
