internal import Logging
internal import Messaging
internal import System
internal import Vault

extension SyncScheduler {
    /// Upstream may have changed without saying so; so long its word for it is taken.
    static let longestTrust = Duration.seconds(24 * 3_600)

    /// Reads how the switches stand, where upstream decides. What it cannot say now stays as it said
    /// last; if it is away altogether, the run is over.
    func learnSwitches(_ urgency: Urgency) async throws(Finding) {
        guard switches.asksUpstream else { return }
        do throws(Setback) {
            let told = try await upstream.switches(urgency)
            switches.learn(told)
            state.withLock { $0.memory.switches = told }
        } catch {
            guard error.endsRun else { return }
            throw finding(error, live: (try? reader.liveCount(of: userID)) ?? 0)
        }
    }

    /// Takes over what upstream holds.
    func refresh(
        isFull: Bool,
        _ urgency: Urgency,
        leaving left: Leftovers
    ) async throws(Finding) -> Finding {
        let now = surroundings.timekeeper.elapsed
        state.withLock { $0.docket.looksAtUpstream(at: now) }
        let offered: Int
        do throws(Obstacle) {
            let news = try await news(isFull: isFull, urgency, leaving: left)
            if news == .nothing {
                state.withLock { $0.memory.lastSync = surroundings.now }
                return Finding(outcome: .notNeeded, ending: .done, hasMoved: left.hasMoved)
            }
            let start = try start()
            let fetched = try await fetch(news, urgency)
            if mutated(.advancesEarly) {
                state.withLock {
                    $0.memory.accountRevision = fetched.picture.accountRevision
                    $0.memory.lastFetch = start.moment
                }
                if Task.isCancelled {
                    throw Obstacle.setback(Setback(.cancelled, operation: "sync"))
                }
            }
            // Before base has them, and they are no newcomers any more.
            await noteTwins(among: fetched, on: start.footing)
            offered = try await take(fetched, since: start, urgency)
            await sweep(fetched, urgency)
        } catch {
            switch error {
            case .setback(let setback):
                throw finding(setback, live: left.live, hasMoved: left.hasMoved)
            case .finding(var finding):
                (finding.live, finding.hasMoved) = (left.live, left.hasMoved)
                // Nothing of what waits is lost because what is new is not kept, or not believed.
                if left.live > 0 {
                    finding.outcome = .deferred
                    finding.reason = [Self.stillPending(left.live), finding.reason]
                        .compactMap(\.self).joined(separator: " ")
                }
                // What is due and cannot be tried would otherwise be tried at once.
                if left.trouble != nil { finding.ending = .failed(nil) }
                throw finding
            }
        }
        return completed(leaving: left, offered: offered)
    }

    private func completed(leaving left: Leftovers, offered: Int) -> Finding {
        if let trouble = left.trouble {
            return Finding(
                outcome: left.live > 0 ? .deferred : .failed,
                reason: "What is pending cannot be read. \(trouble)",
                trouble: trouble,
                ending: .failed(nil),
                hasMoved: left.hasMoved,
                live: left.live
            )
        }
        state.withLock { $0.memory.lastSync = surroundings.now }
        return Finding(
            // Base is new; what waits for what it says still waits.
            outcome: left.live > 0 ? .deferred : .completed,
            reason: left.live > 0
                ? [Self.stillPending(left.live), obstacle].compactMap(\.self).joined(separator: " ")
                : nil,
            // What is offered again was not there to be tried, so that it is due is no failure.
            ending: ending(leaving: left.live, hasAdvanced: offered > 0),
            hasMoved: left.hasMoved,
            live: left.live
        )
    }

    private enum Obstacle: Error {
        case setback(Setback)
        case finding(Finding)

        static func store(_ error: StoreError) -> Obstacle {
            .finding(
                Finding(
                    outcome: .failed,
                    reason: error.description,
                    trouble: error,
                    ending: .failed(nil)
                )
            )
        }
    }

    /// What was here when the request went out.
    private struct Start {
        let moment: Moment
        let mark: RefreshMark
        /// The receipts of what was sent before. Clocks are set back, so their moments do not tell.
        let sent: Set<String>
        var footing: SyncFooting
    }

    private enum News: Hashable {
        case nothing
        /// There may be some. Upstream was not asked.
        case unknown
        /// As its number says, if it has told one.
        case something(asOf: Int64?)
    }

    private func news(
        isFull: Bool,
        _ urgency: Urgency,
        leaving left: Leftovers
    ) async throws(Obstacle) -> News {
        let memory = state.withLock { $0.memory }
        guard !isFull, !left.hasMoved, left.live == 0, left.trouble == nil, memory.doubt == nil,
            let known = memory.accountRevision, let last = memory.lastFetch,
            surroundings.now - last < Self.longestTrust, surroundings.now >= last
        else { return .unknown }
        do throws(StoreError) {
            // What could not be judged before can be now, though upstream is as it was.
            let isToBeJudged = keys.isLocked ? false : try reader.holdsOverwritten(of: userID)
            guard try reader.hasBase(of: userID), try reader.refreshMark(of: userID) == memory.base,
                !isToBeJudged
            else { return .unknown }
        } catch {
            throw .store(error)
        }
        do throws(Setback) {
            let told = try await upstream.revision(urgency)
            return told == known ? .nothing : .something(asOf: told)
        } catch {
            throw .setback(error)
        }
    }

    private func start() throws(Obstacle) -> Start {
        let memory = state.withLock { $0.memory }
        do throws(StoreError) {
            return Start(
                moment: surroundings.now,
                mark: try reader.refreshMark(of: userID),
                sent: try reader.sentReceiptIDs(of: userID),
                footing: SyncFooting(
                    userID: userID,
                    ciphers: try reader.stamps(of: userID),
                    deleted: try reader.deleted(of: userID),
                    accountRevision: memory.accountRevision,
                    doubt: memory.doubt
                )
            )
        } catch {
            throw .store(error)
        }
    }

    private func fetch(
        _ news: News,
        _ urgency: Urgency
    ) async throws(Obstacle) -> Fetched {
        let fetched: Fetched
        do throws(Setback) {
            fetched =
                switch news {
                case .nothing, .unknown: try await upstream.fetch(urgency)
                case .something(let revision): try await upstream.fetch(urgency, asOf: revision)
                }
        } catch {
            throw .setback(error)
        }
        return fetched.isWhole ? fetched : try completed(fetched)
    }

    private func completed(_ fetched: Fetched) throws(Obstacle) -> Fetched {
        surroundings.log.warning(
            "Something in upstream's list of items is none, and was left out.",
            ["account": userID]
        )
        do throws(StoreError) {
            return fetched.completed(by: try reader.bases(of: userID).filter { !$0.isDamaged })
        } catch {
            throw .store(error)
        }
    }

    /// - Returns: How many changes are offered to upstream again.
    private func take(
        _ fetched: Fetched,
        since start: Start,
        _ urgency: Urgency,
        isSecondLook: Bool = false
    ) async throws(Obstacle) -> Int {
        var isFallback = false
        switch Belief(in: fetched.picture, on: start.footing, at: surroundings.now) {
        case .believed: break
        case .confirmed(let kind):
            if try await isDisproved(fetched.picture, on: start.footing, urgency) {
                throw .finding(Finding(doubting: kind))
            }
            isFallback = kind == .regression
        case .doubted(var doubt):
            if doubt.kind == .regression {
                let known = doubt.fallen
                let ids = await fallen(in: fetched.picture, on: start.footing, known, urgency)
                doubt.note(fallen: ids)
            }
            state.withLock { [doubt] in $0.memory.doubt = doubt }
            guard doubt.kind == .shrink, start.footing.isOfFew, !isSecondLook else {
                throw .finding(Finding(doubting: doubt.kind))
            }
            var again = start
            again.footing.doubt = doubt
            return try await take(
                fetch(.unknown, urgency),
                since: again,
                urgency,
                isSecondLook: true
            )
        case .refused(let flaw): throw .finding(Finding(refusing: flaw))
        }
        let taken = try await replaceBase(
            with: fetched,
            since: start.mark,
            isFallback: isFallback
        )
        state.withLock {
            $0.memory.doubt = nil
            $0.memory.accountRevision = fetched.picture.accountRevision
            $0.memory.base = taken.mark
            // The number stands for all of the answer. What was not taken of it is asked for again.
            $0.memory.lastFetch = taken.kept > 0 || !fetched.isWhole ? nil : start.moment
        }
        try await observe(fetched, since: start)
        return taken.offered
    }

    /// Whether upstream, asked for single ciphers, still says what its list denies. What nobody can say
    /// of one disproves nothing, and keeps nobody from asking for the next; where it says nothing of any
    /// because something fails, nothing is confirmed.
    private func isDisproved(
        _ picture: SyncPicture,
        on footing: SyncFooting,
        _ urgency: Urgency
    ) async throws(Obstacle) -> Bool {
        if mutated(.hearsNoWitness) { return false }
        var (isHeard, trouble): (Bool, Setback?) = (false, nil)
        for witness in SyncWitness.those(against: picture, on: footing) {
            switch await testimony(of: witness, urgency) {
            case .disproves: return true
            case .bearsOut: isHeard = true
            case .tells(let setback): trouble = setback ?? trouble
            case .ends(let setback): throw .setback(setback)
            }
        }
        if let trouble, !isHeard { throw .setback(trouble) }
        return false
    }

    /// What came from here and is set back: whoever writes or deletes it before that is believed hides that. An old
    /// answer is not borne out.
    private func fallen(
        in picture: SyncPicture,
        on footing: SyncFooting,
        _ known: Set<String>,
        _ urgency: Urgency
    ) async -> Set<String> {
        guard let own = try? reader.broughtUp(of: userID) else { return [] }
        var ids: Set<String> = []
        for witness in SyncWitness.those(against: picture, on: footing)
        where witness.hasFallen && own.contains(witness.cipherID)
            && !known.contains(witness.cipherID)
        {
            switch await testimony(of: witness, urgency) {
            case .bearsOut: ids.insert(witness.cipherID)
            case .disproves, .tells: break
            case .ends: return ids
            }
        }
        return ids
    }

    private func testimony(of witness: SyncWitness, _ urgency: Urgency) async -> Testimony {
        do throws(Setback) {
            let shown = try await upstream.cipher(witness.cipherID, urgency)
            guard let revision = shown.revision else { return .tells(nil) }
            return Testimony(witness.word(showing: revision.moment), instead: nil)
        } catch {
            return Testimony(witness, error)
        }
    }

    private func replaceBase(
        with fetched: Fetched,
        since mark: RefreshMark,
        isFallback: Bool
    ) async throws(Obstacle) -> Refreshed {
        let taken = try await asking { (reply: PendingStore.Answer<Refreshed>) in
            .base(
                .refresh(
                    userID,
                    ciphers: fetched.ciphers,
                    slices: fetched.slices,
                    since: mark,
                    isFallback: isFallback,
                    by: Judge(keys.keys),
                    reply
                )
            )
        }
        guard taken.offered > 0 else { return taken }
        surroundings.log.warning(
            "What upstream took from here, and does not show any more, is pending again.",
            ["account": userID, "changes": taken.offered]
        )
        try? address.tryTell(.trigger(.queued))
        return taken
    }

    /// Ends the receipts of what the answer shows, and of what is gone since upstream took it.
    private func observe(_ fetched: Fetched, since start: Start) async throws(Obstacle) {
        guard let ciphers = fetched.picture.ciphers else { return }
        var (shown, gone): ([Receipt], [Receipt]) = ([], [])
        do throws(StoreError) {
            let sent = try reader.sentReceipts(of: userID)
            for receipt in sent where start.sent.contains(receipt.id) {
                switch receipt.sight(of: ciphers) {
                case .shown: shown.append(receipt)
                case .gone: gone.append(receipt)
                case .nothing: break
                }
            }
        } catch {
            throw .store(error)
        }
        guard !shown.isEmpty || !gone.isEmpty else { return }
        let now = surroundings.now
        let (observed, superseded) = (shown.map(\.id), gone.map(\.id))
        try await asking { (reply: PendingStore.Answer<Void>) in
            .observe(observed, superseded: superseded, at: now, reply)
        }
        let way = wayIsFreeSince
        for receipt in shown {
            surroundings.metrics.observed(
                after: now - receipt.queued,
                delivery: now - max(receipt.queued, min(way, now))
            )
        }
    }

    /// Since when upstream is as near as it is now and the vault is open.
    private var wayIsFreeSince: Moment {
        let opened = state.withLock(\.opened)
        return max(monitor.standing.since, opened ?? monitor.standing.since)
    }

    @discardableResult
    private func asking<Value: Sendable>(
        _ message: (PendingStore.Answer<Value>) -> PendingStore.Message
    ) async throws(Obstacle) -> Value {
        let answer: Result<Value, StoreError>
        do throws(Undelivered) {
            answer = try await store.ask(message)
        } catch {
            throw .finding(
                Finding(outcome: .failed, reason: error.description, ending: .untouched)
            )
        }
        do throws(StoreError) { return try answer.get() } catch { throw .store(error) }
    }
}

extension Finding {
    fileprivate init(doubting kind: SyncDoubt.Kind) {
        let reason =
            switch kind {
            case .shrink: "Upstream shows nearly nothing of what is held here."
            case .regression: "Upstream shows an earlier state than it did before."
            }
        self.init(
            outcome: .failed,
            reason: reason + " Nothing was taken over; it is asked once more.",
            abort: kind == .shrink ? .shrink : .regression,
            ending: .doubted
        )
    }

    fileprivate init(refusing flaw: Belief.Flaw) {
        let reason =
            switch flaw {
            case .wrongAccount: "Upstream sent the vault of another account."
            case .noCiphers: "Upstream's answer has no list of ciphers."
            }
        self.init(
            outcome: .failed,
            reason: reason + " Nothing was taken over.",
            abort: .decode,
            ending: .failed(nil)
        )
    }
}

extension Receipt {
    fileprivate enum Sight {
        case shown
        /// Somebody has deleted it since.
        case gone
        case nothing
    }

    /// What an answer that was asked for after it was sent shows of what it stands for: the cipher, or, of a deletion,
    /// that it is gone.
    fileprivate func sight(of ciphers: [String: Moment?]) -> Sight {
        guard let resultCipherID else { return ciphers[cipherID] == nil ? .shown : .nothing }
        return ciphers[resultCipherID] == nil ? .gone : .shown
    }
}

extension Setback {
    /// Whether whatever is asked next would fail likewise.
    fileprivate var endsRun: Bool {
        switch reason {
        case .unauthorised, .signedOut, .throttled, .unavailable, .unreachable, .cancelled: true
        case .rejected, .stale, .missing, .foreign, .malformed: false
        }
    }
}

/// What asking for a single cipher says of an answer that denies what is known of it.
private enum Testimony {
    case disproves, bearsOut
    /// Nothing of the answer, and perhaps of a trouble.
    case tells(Setback?)
    /// Nobody else need be asked.
    case ends(Setback)

    init(_ word: SyncWitness.Word, instead setback: Setback?) {
        self =
            switch word {
            case .disproves: .disproves
            case .bearsOut: .bearsOut
            case .meansNothing: .tells(setback)
            }
    }

    init(_ witness: SyncWitness, _ setback: Setback) {
        switch setback.reason {
        case .missing: self.init(witness.word(showing: nil), instead: setback)
        case .malformed, .unavailable(500): self = .tells(setback)
        // Somebody on the way lets nobody through; what no client may read says nothing.
        case .rejected(let words): self = .tells(words.status == 403 ? setback : nil)
        case .stale: self = .tells(nil)
        case .unauthorised, .signedOut, .throttled, .unavailable, .unreachable, .foreign,
            .cancelled:
            self = .ends(setback)
        }
    }
}
