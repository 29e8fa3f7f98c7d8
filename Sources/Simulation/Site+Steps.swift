import Glibc
import Machine
import Messaging
import Sync
import System
import Vault

extension Site {
    func take(_ step: Step) async {
        if let phase = step.awaits { await ambush(phase) }
        for _ in 0..<step.turns { await Task.yield() }
        await reviveIfDown()
        await letLodgerAct()
        note("[\(step.number)] \(step.deed)\(step.isAside ? ", aside" : "")")
        if let hazard = step.deed.hazard, let house {
            world.coverage.note(hazard, house.line.phase)
        }
        await carryOut(step)
        await reviveIfDown()
        inspect()
        if script.hazards.hazards.contains(.scene), case .wait = step.deed { await look("while") }
    }

    private func carryOut(_ step: Step) async {
        switch step.deed {
        case .create, .edit, .trash, .restore, .delete, .favour, .archive, .move, .resave,
            .saveCopy,
            .sync, .discard, .retry:
            await takeOwn(step)
        case .lock:
            state.withLock { $0.isLocked = true }
            house?.owner.lock()
        case .unlock: await unlock()
        case .signIn: await signInAgain()
        case .wait(let duration): await pass(duration)
        case .setHostClock(let step): setClock(by: step)
        case .cut: setCut(true)
        case .mend: setCut(false)
        case .drill(let isOn):
            state.withLock { $0.isDrill = isOn }
            if let house { await drill(isOn, house) }
        case .strike(let mishap, let times): house?.line.order(mishap, times: times)
        case .strikeAt(let mishap, let kind): house?.line.order(mishap, on: kind, times: 1)
        case .elsewhere(let deed): await world.take(deed)
        case .server(let deed): await world.take(deed)
        case .machine(let deed): await take(deed)
        }
    }

    private func setClock(by step: Duration) {
        state.withLock { $0.hadWrongClock = true }
        oracle.with { $0.hasRightClocks = false }
        clock.step(step)
        state.withLock { $0.clockSet = time.elapsed }
    }

    private func take(_ deed: Deed.Machine) async {
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
        case .fillDisk: disk.fail([.write], at: 1, error: ENOSPC)
        case .freeDisk: disk.heal()
        case .breakDisk(let times):
            disk.fail([.write, .sync, .truncate], at: 1, times: times, error: EIO)
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
            await takeOwn(.unscripted(.edit(place, .notes), isAside: false))
            await world.take(Deed.Elsewhere.edit(place, .username))
            await drill(false, house)
            await takeOwnAside(.sync)
        }
    }

    private func takeOwnAside(_ deed: Deed) async {
        await takeOwn(.unscripted(deed, isAside: true))
    }

    private func pass(_ duration: Duration) async { await world.pass(duration, at: [self]) }

    /// It is in force when this returns.
    func drill(_ isOn: Bool, _ house: House) async {
        try? await house.monitor.address.tell(.drill(isOn))
        try? await house.monitor.address.ask { .pulse($0) }
    }

    func setCut(_ isCut: Bool) {
        state.withLock { state in
            state.cutSince = isCut ? state.cutSince ?? time.elapsed : nil
            state.isCut = isCut
        }
        house?.line.isCut = isCut
    }

    /// With the key that this host knows of.
    func unlock() async {
        let known = state.withLock { state in
            state.isLocked = false
            return state.keysKnown
        }
        guard let house, house.owner.keys.isLocked else { return }
        await reseal(house)
        house.owner.unlock(cloud.rings[known])
    }

    /// What is still under keys from before is brought under the present one.
    func reseal(_ house: House) async {
        let known = state.withLock(\.keysKnown)
        for former in cloud.rings.prefix(known) {
            let count = try? await house.owner.resolver.address.ask {
                .reseal(from: former, to: cloud.rings[known], $0)
            }.get()
            if let count, count > 0 {
                try? house.owner.scheduler.address.tryTell(.trigger(.queued))
            }
        }
    }

    /// What is here is looked at from outside.
    func inspect() {
        guard let house, !house.line.isDead,
            let layers = try? house.store.reader.layers(of: cloud.userID)
        else { return }
        var base: [String: Knowledge.Stamp] = [:]
        for row in layers.base {
            let ticks = row.revision.moment.ticks
            base[row.lane.cipherID] = Knowledge.Stamp(text: row.revision.text, ticks: ticks)
        }
        oracle.look(atBase: base, of: number, isReading: house.line.isReading)
        inspectLodger(house)
        if state.withLock(\.isDrill), house.monitor.standing.state != .offline {
            oracle.say(.toldTruly, "in a drill the network is \(house.monitor.standing.state)")
        }
        if let ended = house.line.sessionEnded, time.elapsed - ended > .seconds(60),
            !state.withLock(\.isSignedOut)
        {
            oracle.say(.toldTruly, "the session is over, and nobody is told")
        }
        let waiting = layers.pending.count { $0.change?.state != .inFlight }
        if layers.pending.isEmpty { oracle.with { [number] in $0.doubts[number] = 0 } }
        // What upstream may have taken nobody can be refused any more. There is an end to that, too, but
        // no script is long enough for it.
        let doubts = oracle.with { [number] in $0.doubts[number] ?? 0 }
        let mayWait = script.limit + doubts
        // Nor can what upstream has taken and forgotten, or seems to, while its clock goes back.
        let isSteady = oracle.with { !$0.hasFallenBack && !$0.hasOddStamps }
        if waiting > mayWait + state.withLock(\.underWay), isSteady {
            oracle.say(.bounded, "\(waiting) changes wait, and \(mayWait) may")
        }
    }
}
