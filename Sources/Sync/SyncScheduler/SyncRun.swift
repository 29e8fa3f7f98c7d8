internal import Logging
internal import Messaging
internal import System
internal import Vault

extension SyncScheduler {
    /// Carries out one run when it has its turn, and tells everybody of it. Of thousands that wait for
    /// theirs, nothing else is there yet.
    func carryOut(_ job: Docket.Job) async {
        guard await hasRun(job), let wait = await surroundings.afterSync() else { return }
        surroundings.alarms.set(for: wait) {
            // If it has too much to do, it runs anyway.
            try? self.address.tryTell(.trigger(.upstreamChanged))
        }
    }

    /// - Returns: Whether it came to that.
    private func hasRun(_ job: Docket.Job) async -> Bool {
        let runs = surroundings.runs
        let place = await runs.begin(userID, isInsistent: job.isInsistent || mayNotWait)
        defer { runs.end(place) }
        guard takesTurn(job) else { return false }
        let began = surroundings.timekeeper.elapsed
        let finding = await onLeash { await self.work(job) }
        await conclude(job, finding, after: surroundings.timekeeper.elapsed - began)
        return true
    }

    /// Somebody waits for what comes after it, or nothing is begun any more.
    private var mayNotWait: Bool {
        state.withLock { $0.docket.isAsked || $0.docket.isClosing }
    }

    var isClosing: Bool { state.withLock { $0.docket.isClosing } }

    /// - Returns: Whether the run begins. One that nobody asked for does not, once nothing is begun.
    private func takesTurn(_ job: Docket.Job) -> Bool {
        let now = surroundings.timekeeper.elapsed
        return state.withLock { $0.docket.takesTurn(job, at: now) }
    }

    private func work(_ job: Docket.Job) async -> Finding {
        do throws(Finding) {
            if !mutated(.ignoresRetryAfter) { try heedHold() }
            switch job.work {
            case .sync(let isFull, let isInsistent):
                let urgency: Urgency = isInsistent ? .insistent : .patient
                try await learnSwitches(urgency)
                try await renewOutlivedBase(urgency)
                let left = try await resolvePending(isInsistent: isInsistent)
                return try await refresh(isFull: isFull, urgency, leaving: left)
            case .retry(let changeID):
                let left = try await retry(changeID)
                return try await refresh(isFull: false, .insistent, leaving: left)
            }
        } catch {
            return error
        }
    }

    /// What upstream has asked for holds for everybody, however much they insist.
    private func heedHold() throws(Finding) {
        let now = surroundings.timekeeper.elapsed
        guard let hold = state.withLock({ $0.docket.agenda.hold(at: now) }) else { return }
        let setback = Setback(.throttled(until: moment(of: hold)), operation: "sync")
        var finding = finding(setback, live: (try? reader.liveCount(of: userID)) ?? 0)
        finding.ending = .untouched
        throw finding
    }

    /// Runs the body until it ends or somebody lets go of the leash; then it is cancelled, and what
    /// it makes of that counts.
    private func onLeash(_ body: @escaping @Sendable () async -> Finding) async -> Finding {
        let leash = Mailbox<Never>(name: "leash", capacity: 1)
        state.withLock { $0.leash = leash }
        defer { state.withLock { $0.leash = nil } }
        return await withTaskGroup(of: Finding?.self) { group in
            group.addTask { await body() }
            group.addTask {
                for await _ in leash {}
                return nil
            }
            var finding: Finding?
            for await end in group {
                finding = finding ?? end
                group.cancelAll()
            }
            return finding ?? Finding(outcome: .failed, ending: .untouched)
        }
    }

    /// Gives up the run that is under way, if one is, and wants another.
    func beginAnew(at now: Duration) {
        let leash = state.withLock {
            $0.docket.note(.standstill, at: now, isOnline: true, chance: 0)
            return $0.leash
        }
        leash?.close()
    }
}

// MARK: - The end of a run

extension SyncScheduler {
    private func conclude(_ job: Docket.Job, _ finding: Finding, after time: Duration) async {
        let report = SyncReport(
            finding.outcome,
            reason: finding.reason,
            setback: finding.setback,
            trouble: finding.trouble,
            ended: surroundings.now
        )
        let waiting = waitingCount()
        let wait = plan(after: finding, report, waiting: waiting)
        if !finding.isPutOff { measure(finding, wait, after: time) }
        log(job, finding, wait)
        await keepMemory()
        tellWhetherWaiting(isCertain: waiting > 0)
        if !mutated(.neverReleases) || finding.outcome != .failed {
            state.withLock { $0.docket.release() }
        }
        if !finding.isPutOff { surroundings.announce(.sync(userID: userID, report)) }
        for asker in job.askers { asker.answer(report) }
        try? await address.tell(.noted(Note(kind: .ended)))
    }

    private func plan(
        after finding: Finding,
        _ report: SyncReport,
        waiting: Int
    ) -> Agenda.Wait? {
        let (now, chance) = (surroundings.timekeeper.elapsed, surroundings.chance.fraction())
        let hasMoved = finding.hasMoved || waiting == 0
        let (due, latest, calendar) = (nextDue(), latestDue(), surroundings.now)
        let dueElapsed = due.map { elapsed(of: $0) }
        let (agenda, wait) = state.withLock {
            let wait = $0.docket.end(
                finding.ending,
                due: dueElapsed,
                waitsForDue: policy.abort == .whole,
                hasMoved: hasMoved,
                at: now,
                chance: chance
            )
            $0.due = due
            $0.waits.see(latest, at: calendar)
            return ($0.docket.agenda, wait)
        }
        let (hold, retry) = (agenda.hold.map(moment), agenda.wait.map { moment(of: $0.until) })
        state.withLock {
            if !finding.isPutOff { $0.memory.lastReport = report }
            $0.memory.failures = agenda.failures
            ($0.memory.hold, $0.memory.retry) = (hold, retry)
            $0.memory.wait = agenda.wait?.length
        }
        return wait
    }

    private func measure(_ finding: Finding, _ wait: Agenda.Wait?, after time: Duration) {
        let metrics = surroundings.metrics
        metrics.synced(finding.outcome, after: time)
        if let abort = finding.abort { metrics.aborted(abort) }
        if let wait {
            metrics.scheduledRetry(finding.setback?.reason.retryCause ?? .other, in: wait.length)
        }
    }

    private func log(_ job: Docket.Job, _ finding: Finding, _ wait: Agenda.Wait?) {
        surroundings.log.info(
            "A sync has ended.",
            [
                "account": userID, "occasion": job.occasion.rawValue,
                "outcome": finding.outcome.rawValue, "pending": finding.live,
                "reason": finding.reason, "retryIn": wait?.length,
            ]
        )
    }

    /// A run looks up there whether upstream may have fallen back. What else cannot be kept is only missing after a
    /// restart; then more is asked than needed.
    private func keepMemory() async {
        let text = state.withLock { $0.memory.text }
        do {
            try await store.ask { .account(.noteSync(text, of: userID, $0)) }.get()
        } catch {
            surroundings.log.warning("How syncing stands could not be kept.", because: error)
        }
    }
}
