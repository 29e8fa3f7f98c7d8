import EmbeddedUpstream
import HTTP
import System

/// The test itself, one step after the other.
struct Course: Sendable {
    let settings: LoadRun.Settings
    let upstream: EmbeddedUpstream
    let host: Lodgings
    let landlord: Landlord?
    /// The host's figures before the test.
    private var earlier: MetricsPage?
    let guests: Guests
    let journal: Journal
    let timekeeper: any Timekeeper
    let meter = Meter()
    let barrier: Barrier
    let plan: Plan

    init(
        _ settings: LoadRun.Settings,
        _ upstream: EmbeddedUpstream,
        _ host: Lodgings,
        _ landlord: Landlord?,
        _ guests: Guests,
        _ journal: Journal,
        _ timekeeper: any Timekeeper
    ) {
        self.settings = settings
        self.upstream = upstream
        self.host = host
        self.landlord = landlord
        self.guests = guests
        self.journal = journal
        self.timekeeper = timekeeper
        barrier = Barrier(timekeeper)
        plan = Plan(settings.profile)
    }

    var profile: LoadProfile { settings.profile }

    /// How often the host is looked at. To show its figures it asks every account, so with thousands of
    /// them the looking would become the load.
    private var glance: Duration {
        profile.isBrief ? .milliseconds(100) : .seconds(max(1, profile.users / 500))
    }

    /// Longer than any wait between two attempts, which is a quarter of an hour at most.
    private static let patience = Duration.seconds(1_000)
    /// So often the server is looked at until nobody asks it anything.
    private static let looks = 60

    /// The handler of the server in this process: the other devices need no socket, and are not cut
    /// off by the outage.
    var backDoor: any Transport {
        var limits = Limits()
        limits.body = 1 << 28
        return MemoryTransport(limits: limits, handler: upstream.handler)
    }

    func run() async {
        let sampler = Sampler(
            meter,
            host.ops,
            every: glance,
            since: journal.start,
            timekeeper,
            memory: { [landlord] in landlord?.ownMemory },
            narrate: { [journal, meter] sample in
                journal.tell(Self.words(for: sample, done: meter.done))
            }
        )
        let before = await host.ops?.page()
        if let ops = host.ops, before == nil {
            return journal.end(because: ops.absence)
        }
        let course = since(before)
        journal.write {
            $0.memory.atStart = memory(before)
            $0.memory.includesFiles = landlord == nil
        }
        await withTaskGroup { watching in
            watching.addTask { await sampler.run() }
            do {
                try await course.play()
            } catch {
                journal.end(because: error)
            }
            watching.cancelAll()
        }
        await closeBooks(sampler)
    }

    private static func words(for sample: Sample, done: Int) -> String {
        var words = ["\(done) edits"]
        if sample.acceptedPerSecond > 0 { words.append("\(Int(sample.acceptedPerSecond))/s") }
        if let p99 = sample.p99 { words.append("p99 \(p99.brief) ms") }
        if let pending = sample.pending { words.append("\(pending) waiting") }
        if let memory = sample.memory { words.append("\(memory >> 20) MiB") }
        return words.joined(separator: ", ")
    }

    private func play() async throws {
        journal.begin("sign-in")
        let residents = try await moveIn()
        let signedIn = memory(await host.ops?.page())
        journal.write {
            $0.memory.signedIn = signedIn
            $0.signInSeconds =
                $0.phases.last.map { (timekeeper.elapsed - journal.start).inSeconds - $0.begin }
        }
        var contents = residents.map { Set(plan.furniture(of: $0.user)) }
        for round in 0..<profile.rounds {
            let ledgers = try await self.round(round, Array(zip(residents, contents)))
            contents = try await judge(ledgers)
        }
        try await compareFigures()
        if profile.measuresCeilings {
            try await Ceilings(course: self).measure(residents)
        }
    }

    private func since(_ page: MetricsPage?) -> Course {
        var course = self
        course.earlier = page
        return course
    }

    /// A host that runs already has figures of others, too. One that was killed counts anew.
    func sinceStart(_ page: MetricsPage) -> MetricsPage {
        settings.killsHost ? page : page.since(earlier)
    }

    func memory(_ page: MetricsPage?) -> Int {
        landlord?.ownMemory ?? page?.sum("process_resident_memory_bytes") ?? 0
    }

    // MARK: Signing in

    private func moveIn() async throws -> [Resident] {
        let pair = try KeyPair()
        let (door, url, side) = (backDoor, upstream.url, host.side)
        return try await inTurn(0..<profile.users, atOnce: 16) { user in
            let email = guests.address(of: user)
            let device = try await OtherDevice.join(email, door, pair, timekeeper)
            try await device.fill(with: plan.furniture(of: user))
            let account = try await guests.signIn(email, at: side, server: url)
            return Resident(user: user, account: account, device: device)
        }
    }

    // MARK: One round

    /// - Parameter residents: Each with what was there when it was looked at last.
    private func round(
        _ round: Int,
        _ residents: [(Resident, Set<Content>)]
    ) async throws -> [UserLedger] {
        let suffix = profile.rounds > 1 ? " \(round + 1)" : ""
        journal.begin("preparation" + suffix)
        let ledgers = try await inTurn(residents, atOnce: 4) { resident, contents in
            try await ledger(of: resident, round, after: contents)
        }
        journal.begin("outage" + suffix)
        await upstream.goAway()
        let edited = try await drive(ledgers)
        if profile.expiresTokens {
            // Every token was good for two hours at most.
            await upstream.shiftClock(seconds: Int64(round + 1) * 3 * 3_600)
        }
        await upstream.setTrafficLimit(profile.requestsPerSecond)
        await upstream.forgetTraffic()
        let own = Set(ledgers.map(\.resident.account))
        let waiting = try await pendingChanges(of: own)
        let removals = await host.ops?.page().map { sinceStart($0).pendingRemovals } ?? 0
        journal.begin("drain" + suffix)
        try upstream.comeBack()
        try await drain(waiting, removals, of: own)
        try await noteTraffic()
        await upstream.setTrafficLimit(nil)
        return edited
    }

    /// Waits until nobody asks the server any more, for what is asked after the last change counts, too.
    private func noteTraffic() async throws {
        var traffic = await upstream.traffic
        for _ in 0..<Self.looks {
            let before = traffic.total
            try await timekeeper.sleep(for: .milliseconds(profile.isBrief ? 100 : 1_000))
            traffic = await upstream.traffic
            if traffic.total == before { break }
        }
        journal.write { report in
            for (name, count) in traffic.calls { report.upstreamCalls[name, default: 0] += count }
            report.refusedCalls += traffic.refused
            report.busiestSecond = max(report.busiestSecond, traffic.busiestSecond)
        }
    }

    /// Begins with the items that upstream has, those of earlier rounds included.
    private func ledger(
        of resident: Resident,
        _ round: Int,
        after contents: Set<Content>
    ) async throws -> UserLedger {
        let items = try await resident.device.everything().items
        journal.write { $0.verdict.add(Verdict(onRestOf: resident.user, contents, items)) }
        let present = items.filter { !$0.isInTrash }.sorted { $0.content.notes < $1.content.notes }
        let gone = items.filter(\.isInTrash) + present.dropFirst(profile.items * 2)
        try await resident.device.remove(gone.map(\.id))
        let kept = Array(present.prefix(profile.items * 2))
        if !gone.isEmpty { try await host.side.sync(resident.account) }
        let plan = plan.user(resident.user, round: round, base: kept.map(\.content))
        return UserLedger(resident, plan, kept)
    }

    private func drive(_ ledgers: [UserLedger]) async throws -> [UserLedger] {
        let driver = Driver(
            host: host.side,
            meter: meter,
            barrier: barrier,
            timekeeper: timekeeper,
            concurrency: profile.concurrency
        )
        let begun = timekeeper.elapsed
        let busy = landlord?.processorSeconds
        let edited = try await withThrowingTaskGroup(of: [Foreign].self) { others in
            others.addTask { try await driveForeign(ledgers, over: profile.offline) }
            if settings.killsHost {
                others.addTask {
                    try await killHalfway(ledgers)
                    return []
                }
            }
            let edited = await makeEdits(driver, ledgers, over: profile.offline)
            // For how long the other devices go on is no matter of the host's.
            noteEdits(since: begun, busy)
            var taken: [Foreign] = []
            for try await some in others { taken += some }
            return edited.noting(taken)
        }
        try Task.checkCancellation()
        return edited
    }

    /// - Parameter busy: For how long the host had kept processors busy before.
    private func noteEdits(since begun: Duration, _ busy: Double?) {
        let seconds = (timekeeper.elapsed - begun).inSeconds
        let stillBusy = landlord?.processorSeconds
        journal.write { report in
            report.editSeconds += seconds
            if let busy, let stillBusy, stillBusy > busy {
                report.editProcessorSeconds += stillBusy - busy
            }
        }
    }

    /// Beside the ceilings, the second half of the edits comes at half the rate of the first.
    private func makeEdits(
        _ driver: Driver,
        _ ledgers: [UserLedger],
        over duration: Duration
    ) async -> [UserLedger] {
        guard profile.measuresCeilings, profile.edits > 1 else {
            return await driver.drive(ledgers, 0..<profile.edits, over: duration)
        }
        let half = profile.edits / 2
        let begun = timekeeper.elapsed
        let rushed = await driver.drive(ledgers, 0..<half, over: .zero)
        // What was broken off has no rate.
        guard !Task.isCancelled else { return rushed }
        let rush = (timekeeper.elapsed - begun).inSeconds
        let rate = Double(half * ledgers.count) / max(rush, 0.001)
        let before = meter.all
        let rest = (profile.edits - half) * ledgers.count
        let done = await driver.drive(
            rushed,
            half..<profile.edits,
            over: .seconds(Double(rest) / (rate / 2))
        )
        let paced = meter.all.removing(before).percentile(0.99).milliseconds
        journal.write { report in
            report.ceilings = LoadReport.Ceilings(
                hostPerSecond: rate,
                pacedPerSecond: rate / 2,
                hostPaced99: Task.isCancelled ? nil : paced
            )
        }
        return done
    }

    // MARK: The other devices

    struct Foreign: Sendable {
        let place: Int
        let number: Int
        let isTaken: Bool
    }

    private func driveForeign(
        _ ledgers: [UserLedger],
        over duration: Duration
    ) async throws -> [Foreign] {
        let all = ledgers.indices.flatMap { place in
            ledgers[place].plan.foreign.indices.map { (place, $0) }
        }
        let edits = all.sorted {
            ledgers[$0.0].plan.foreign[$0.1].moment < ledgers[$1.0].plan.foreign[$1.1].moment
        }
        let begun = timekeeper.elapsed
        return try await inTurn(edits, atOnce: 2) { place, number in
            let ledger = ledgers[place]
            let edit = ledger.plan.foreign[number]
            let rest = begun + duration * edit.moment - timekeeper.elapsed
            if rest > .zero { try await timekeeper.sleep(for: rest) }
            guard let id = ledger.ids[edit.thing] else {
                return Foreign(place: place, number: number, isTaken: false)
            }
            let isTaken = try await ledger.resident.device.replace(id, with: edit.content)
            return Foreign(place: place, number: number, isTaken: isTaken)
        }
    }

    // MARK: A power cut

    private func killHalfway(_ ledgers: [UserLedger]) async throws {
        guard let landlord, let places = host.places else { return }
        let half = meter.done + profile.edits * ledgers.count / 2
        while meter.done < half { try await timekeeper.sleep(for: .milliseconds(10)) }
        // Not between the two steps that follow: edits are to be under way.
        let page = await host.ops?.page()
        barrier.close()
        do {
            await landlord.kill(page)
            _ = try await landlord.start(at: places)
            _ = try await inTurn(ledgers, atOnce: 16) { ledger in
                try await host.side.unlock(ledger.resident.account, OtherDevice.password)
            }
            barrier.open()
        } catch {
            barrier.giveUp()
            throw error
        }
    }

    // MARK: The queue

    /// By the page of a host of its own, else account by account: what others have waiting there counts on
    /// that page, too.
    private func pendingChanges(of own: Set<String>) async throws -> Int {
        guard let landlord, let ops = host.ops else {
            return try await host.side.pendingChanges(of: own)
        }
        // A host that was killed may not have opened it yet.
        for _ in 0..<60 {
            if let page = await ops.page() { return max(0, sinceStart(page).livePending) }
            try landlord.requireHost()
            try await timekeeper.sleep(for: .milliseconds(500))
        }
        throw ops.absence
    }

    private func drain(_ waiting: Int, _ removals: Int, of own: Set<String>) async throws {
        var watch = DrainWatch(waiting, at: timekeeper.elapsed)
        while watch.last > 0 {
            try await timekeeper.sleep(for: glance / 2)
            watch.note(try await pendingChanges(of: own), at: timekeeper.elapsed)
            let rest = watch.restedSince(timekeeper.elapsed)
            guard rest < Self.patience else {
                throw LoadFailure(
                    "\(watch.last) changes wait, and none has gone for \(Int(rest.inSeconds)) s."
                )
            }
        }
        var drain = watch.drain
        drain.removals = removals
        journal.write { $0.drain = $0.drain?.adding(drain) ?? drain }
    }
}

extension [UserLedger] {
    fileprivate func noting(_ foreign: [Course.Foreign]) -> [UserLedger] {
        var ledgers = self
        for edit in foreign where edit.isTaken { ledgers[edit.place].noteForeign(edit.number) }
        return ledgers
    }
}
