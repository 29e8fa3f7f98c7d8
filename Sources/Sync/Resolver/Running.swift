internal import Logging
internal import System
internal import Vault

extension Resolver {
    /// Tries what is pending, in the order in which it was recorded and some of it side by side.
    ///
    /// With a locked vault nothing is tried: what would have to be compared cannot be read.
    func carryOut(_ run: Run) async throws(StoreError) -> RunReport {
        surroundings.runs.join()
        defer { surroundings.runs.leave() }
        guard let kit = kit(run.urgency) else { return RunReport() }
        let due = try candidates(run.reach)
        if let setback = await lookAround(before: run, kit, due) { return stopped(by: setback) }
        let timekeeper = surroundings.timekeeper
        let end = run.limit.map { timekeeper.elapsed + $0 }
        let state = RunState(due) { kit.isShut || end.map { timekeeper.elapsed >= $0 } ?? false }
        try await workOff(state, kit, run.reach)
        for suspect in state.acquitted() { try await acquit(suspect) }
        let report = state.report
        if let stop = report.stop {
            surroundings.log.warning(
                "The run was ended before everything was tried.",
                because: stop
            )
        }
        return report
    }

    /// Finds out what has to be known before anything is sent. A list may be one of yesterday, so it vouches for no
    /// account.
    ///
    /// - Returns: What speaks against sending anything.
    private func lookAround(
        before run: Run,
        _ kit: Kit,
        _ due: [Candidate]
    ) async -> Setback? {
        do throws(Setback) {
            switch run.unknown {
            case .nothing: break
            case .account: try await kit.upstream.requireSameAccount(run.urgency)
            case .presence:
                if try await kit.upstream.requireSameAccount(run.urgency) { break }
                try await knock(kit.upstream, run.urgency)
            }
        } catch {
            return error
        }
        guard due.count(where: \.isCompared) > Self.readOneByOne else { return nil }
        do throws(Halt) {
            _ = try await kit.list()
            return nil
        } catch {
            // What the store cannot read, each of them finds out for itself. Where upstream fails over the list alone,
            // each of them is read by itself.
            guard case .unlisted(let setback) = error else { return nil }
            return await kit.upstreamAnswers(others: setback) ? nil : setback
        }
    }

    /// A small question goes ahead. Otherwise every run of an outage would write down of several changes that
    /// they are tried, and then that they were not; and what was tried in vain waits longer when upstream is back.
    private func knock(
        _ upstream: any VaultUpstream,
        _ urgency: Urgency
    ) async throws(Setback) {
        do throws(Setback) {
            _ = try await upstream.revision(urgency)
        } catch {
            if error.failureClass == .batch { throw error }
        }
    }

    /// Whoever has stumbled comes last, and keeps nobody else.
    private func candidates(_ reach: Run.Reach) throws(StoreError) -> [Candidate] {
        let stumblers = stumbles.changeIDs
        var pending: Set<String> = []
        let due = try reader.summaries(of: userID) { summary in
            if stumblers.contains(summary.id) { pending.insert(summary.id) }
            return isDue(summary, reach) ? Candidate(summary) : nil
        }
        if stumblers.isEmpty { return due }
        stumbles.forgetAll(but: pending)
        return due.filter { !pending.contains($0.id) } + due.filter { pending.contains($0.id) }
    }

    /// With more to compare, one list is cheaper than reading each of them.
    private static let readOneByOne = 2

    /// How many changes a run tries side by side: few until upstream is seen to take them, so that little
    /// is tried in vain, and then as many as help.
    private enum Breadth: CaseIterable {
        case narrow
        case wide

        func workers(among runs: RunTurns) -> Int {
            self == .narrow ? RunTurns.fewestWorkers : runs.workers
        }

        /// With so many settled, it is over.
        var enough: Int { self == .narrow ? 8 : .max }
    }

    /// Nil while the vault is locked.
    func kit(_ urgency: Urgency) -> Kit? {
        // Before the keys, so that these are never older than what it is sent with.
        let upstream = upstream.ofThisSession
        guard let keys = keyholder.keys else { return nil }
        return Kit(
            userID: userID,
            ledger: Ledger(store: store, timekeeper: surroundings.timekeeper),
            reader: reader,
            upstream: upstream,
            keys: keys,
            keyholder: keyholder,
            surroundings: surroundings,
            urgency: urgency,
            listing: Listing(),
            lanes: lanes,
            stumbles: stumbles
        )
    }

    private func stopped(by setback: Setback) -> RunReport {
        surroundings.log.warning("The run was ended before anything was tried.", because: setback)
        var report = RunReport()
        report.stop = setback
        return report
    }

    private func isDue(_ summary: PendingSummary, _ reach: Run.Reach) -> Bool {
        if case .only(let id) = reach, id != summary.id { return false }
        switch summary.state {
        case .quarantined: return false
        case .backingOff(let moment): return reach != .due || moment.hasCome(at: surroundings.now)
        case .ready, .inFlight: return true
        }
    }

    private func workOff(
        _ state: RunState,
        _ kit: Kit,
        _ reach: Run.Reach
    ) async throws(StoreError) {
        let runs = surroundings.runs
        for breadth in Breadth.allCases where state.hasMore {
            let failure = await withTaskGroup(of: StoreError?.self) { workers in
                for _ in 0..<breadth.workers(among: runs) {
                    workers.addTask { await self.work(state, kit, reach, breadth) }
                }
                return await workers.reduce(nil) { $0 ?? $1 }
            }
            if let failure { throw failure }
        }
    }

    private func work(
        _ state: RunState,
        _ kit: Kit,
        _ reach: Run.Reach,
        _ breadth: Breadth
    ) async -> StoreError? {
        while let next = state.next(unlessSettled: breadth.enough) {
            do throws(StoreError) {
                try await bring(next.id, in: next.cipherID, state, kit, reach)
            } catch {
                return error
            }
        }
        return nil
    }

    /// In its lane; another one, if the cipher has got another id meanwhile.
    private func bring(
        _ id: String,
        in cipherID: String,
        _ state: RunState,
        _ kit: Kit,
        _ reach: Run.Reach
    ) async throws(StoreError) {
        var cipherID = cipherID
        while true {
            let other = try await lanes.hold(cipherID) { () async throws(StoreError) -> String? in
                guard let stored = try reader.change(id), isDue(stored.summary, reach)
                else { return nil }
                let present = stored.summary.lane.cipherID
                guard present == cipherID else { return present }
                try await bring(stored, state, kit)
                return nil
            }
            guard let other else { return }
            cipherID = other
        }
    }

    private func bring(
        _ stored: StoredChange,
        _ state: RunState,
        _ kit: Kit
    ) async throws(StoreError) {
        guard let change = stored.change else {
            state.tried()
            return try await setAside(stored, kit)
        }
        var errand = Errand(change, kit, isQueued: true)
        do throws(Halt) {
            _ = try await errand.bring()
            state.settled()
        } catch {
            state.tried()
            if error.isAnsweredByList { state.doubted() }
            try await fail(&errand, error, state)
        }
    }

    private func fail(
        _ errand: inout Errand,
        _ halt: Halt,
        _ state: RunState
    ) async throws(StoreError) {
        let failure = try await errand.fail(halt, mayWaitAlone: state.takesLonersPlace)
        switch (failure, halt) {
        case (.ofTheRun(let setback), _):
            state.stop(setback)
            guard case .unavailable = setback.reason else { return }
            for other in state.serverFailed() { try await acquit(other) }
        case (.ofTheChange, .setback(let setback)) where setback.failureClass != .batch:
            switch setback.reason {
            case .unavailable:
                for other in state.suspectServer(errand, setback) {
                    // If it was one of these alone after all, the others come before it the next time.
                    other.kit.stumbles.add(other.change.id)
                    try await acquit(other)
                }
            case .rejected(let words) where words.mayMeanEverybody:
                state.suspectRefusal(errand, setback)
            case .rejected, .stale, .missing, .unauthorised, .signedOut, .throttled,
                .unreachable, .foreign, .malformed, .cancelled:
                break
            }
        case (.ofTheChange, _), (.none, _): break
        }
    }

    private func acquit(_ suspect: Errand) async throws(StoreError) {
        var errand = suspect
        try await errand.uncount()
    }

    /// A record that cannot be read keeps its bytes.
    private func setAside(_ stored: StoredChange, _ kit: Kit) async throws(StoreError) {
        let summary = stored.summary
        surroundings.log.error(
            "A pending change cannot be read and was set aside.",
            ["cipher": summary.lane.cipherID, "type": summary.typeText]
        )
        _ = try await kit.ledger.ask {
            .change(.quarantineUnreadable(summary.id, expecting: summary.version, $0))
        }
        surroundings.announce(.pending(summary.lane, changeID: summary.id))
    }
}

/// A change that a run may try. The change itself is read when its turn has come: thousands may wait.
struct Candidate: Sendable {
    let id: String
    let cipherID: String
    /// Whether upstream's copy has to be known, and need not be read right before.
    let isCompared: Bool

    init(_ summary: PendingSummary) {
        id = summary.id
        cipherID = summary.lane.cipherID
        isCompared =
            switch summary.type {
            case .update, .other: true
            case .create, .softDelete, .hardDelete: false
            }
    }
}
