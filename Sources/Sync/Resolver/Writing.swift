internal import Crypto
internal import Vault

/// What an errand writes down.
extension Errand {
    /// Writes down that something is about to be sent, unless that was done before.
    ///
    /// - Parameter conflict: In which what others have done gives way by it.
    mutating func note(
        _ kind: Attempt.Kind,
        _ content: Cipher?,
        for conflict: Situation.Conflict? = nil,
        _ body: @escaping @Sendable (inout PendingChange) -> Void = { _ in }
    ) async throws(Halt) {
        if kit.isShut { throw .locked }
        let attempt = Attempt(kind, at: kit.now, of: content, for: conflict)
        defer { announced = nil }
        if announced?.isSame(as: attempt) == true {
            guard try mayStillBeSent(attempt) else { throw .overtaken }
        } else {
            // Something else goes first.
            concludeUnsent()
            try await update {
                body(&$0)
                $0.note(attempt)
                $0.state = .inFlight
            }
        }
        // What is made has no base yet; and what was put together from the answer to an earlier step is no
        // younger than that.
        if kind != .create, kind != .backup, kind != .trash || done.isEmpty {
            knownBefore = try known(lane)
        }
        (isUnderWay, sent) = (true, content)
    }

    /// Whether nobody has taken the edit back since it was written down. What comes on top of a first edit is
    /// sent after that, but nothing comes after a deletion.
    private func mayStillBeSent(_ attempt: Attempt) throws(Halt) -> Bool {
        let stored = try kit.read { (reader) throws(StoreError) in try reader.change(change.id) }
        guard let stored else { return false }
        let isOnlyTheBeginning = !isQueued && attempt.kind != .hardDelete
        return isOnlyTheBeginning || stored.summary.version == change.version
    }

    /// Remembers that what is written down already has not been sent.
    mutating func concludeUnsent() {
        if announced != nil { conclude(.refused) }
    }

    mutating func conclude(_ outcome: Attempt.Outcome) {
        if outcome == .accepted { kit.stumbles.noteTaken() }
        word.conclude(outcome, of: sent)
        isUnderWay = false
    }

    /// Remembers what became of the attempt that is under way, as far as the failure tells. What fails
    /// before one, or between two, says nothing of any.
    mutating func conclude(_ setback: Setback) {
        guard isUnderWay else { return }
        guard setback.mayHaveLanded else { return conclude(.refused) }
        word.silence = change.attempts.last.map { Silence(of: $0, until: kit.now, content: sent) }
        isUnderWay = false
    }

    /// Changes the record by compare-and-swap, and writes down what became of the last attempt.
    mutating func update(
        _ body: @escaping @Sendable (inout PendingChange) -> Void
    ) async throws(Halt) {
        let (id, version) = (change.id, change.version)
        let word = word
        let swap = try await write { ledger throws(StoreError) in
            try await ledger.ask {
                .change(
                    .update(
                        id,
                        expecting: version,
                        { change in
                            word.write(into: &change)
                            body(&change)
                        },
                        $0
                    )
                )
            }
        }
        guard case .done(let fresh) = swap else { throw .overtaken }
        change = fresh
        self.word = Word()
    }

    /// Writes down what is known of an attempt although somebody has edited the change meanwhile: it is true of theirs,
    /// too, and nobody else knows. What is to become of it is not this one's to say.
    func leaveWord() async throws(StoreError) {
        guard !word.isEmpty else { return }
        var after = self
        // Whoever edits it so often writes something down themselves.
        for _ in 0..<3 {
            do throws(Halt) {
                try after.reload()
                return try await after.update { if $0.state == .inFlight { $0.state = .ready } }
            } catch {
                if case .store(let error) = error { throw error }
            }
        }
    }

    func write<Value: Sendable>(
        _ body: (Ledger) async throws(StoreError) -> Value
    ) async throws(Halt) -> Value {
        do throws(StoreError) {
            return try await body(kit.ledger)
        } catch {
            throw .store(error)
        }
    }

    func end(_ status: Receipt.Status, cipherID: String? = nil) -> ReceiptEnd {
        ReceiptEnd(
            status,
            at: kit.now,
            resultCipherID: cipherID,
            backupCipherID: keptID
        )
    }

    /// Forgets the change, or goes on with what the user edited meanwhile.
    mutating func settle(
        _ upstream: Settlement.Upstream,
        _ outcome: ResolutionNote.Outcome,
        _ status: Receipt.Status,
        isSeen: Bool = true,
        ground: Footing? = nil,
        leaving rest: PendingChange? = nil
    ) async throws(Halt) -> Turn {
        var (upstream, ground) = (upstream, ground)
        if case .holds(let answered) = upstream {
            let left = try await enter(answered)
            if left != answered { (upstream, ground) = (.holds(left), ground ?? answered.footing) }
        }
        let note = ResolutionNote(
            outcome,
            at: kit.now,
            winner: decided?.winner,
            backupCipherID: keptID,
            type: formerType
        )
        let cipherID = upstream.cipherID(or: change.cipherID)
        landed = cipherID ?? change.cipherID
        let settlement = Settlement(
            upstream: upstream,
            receipts: end(status, cipherID: cipherID),
            supersedesEarlier: status == .sent && isPlainlySaved,
            resolution: isQueued ? note : nil,
            keyFingerprint: Snapshot.fingerprint(of: kit.keys.user),
            strays: strays(keeping: status == .sent ? cipherID : nil),
            made: change.made,
            isSeen: isSeen,
            ground: ground,
            concluded: latest.flatMap { change.lastAttempt(concluded: $0) } ?? word.concluded,
            late: lateCalls,
            brought: status == .sent ? brought : nil,
            overwritesOthers: overwritesOthers,
            rest: rest,
            judge: Judge(kit.keys)
        )
        return try await settle(settlement, telling: note, cipherID)
    }

    private mutating func settle(
        _ settlement: Settlement,
        telling note: ResolutionNote,
        _ cipherID: String?
    ) async throws(Halt) -> Turn {
        let (lane, id, version) = (lane, change.id, change.version)
        let settled = try await write { ledger throws(StoreError) in
            try await ledger.insist {
                .change(.settle(id, in: lane, expecting: version, settlement, $0))
            }
        }
        switch settled {
        case .settled:
            tell(note, cipherID ?? change.cipherID)
            return .over(cipherID: cipherID)
        case .left(let rest):
            tell(note, cipherID ?? change.cipherID)
            begin(rest)
            return .again
        case .rebased(let edited):
            goOn(with: edited, after: note.outcome)
            return .again
        case .missing: return .over(cipherID: cipherID)
        case .unreadable: throw .overtaken
        case .occupied(let state): throw occupied(by: state)
        }
    }

    /// Begins another errand in the same lane. All that this one leaves to it is what upstream has just said.
    private mutating func begin(_ rest: PendingChange) {
        let shown = fresh
        self = Errand(rest, kit, in: heldID, isQueued: true)
        (fresh, distrustsList) = (shown, true)
        kit.surroundings.announce(.pending(lane, changeID: rest.id))
    }

    /// Which conflict it was, and for whom it was decided: by this errand, or by one before it that nobody has been
    /// told of. That one's copy is upstream, and its push may have been done unheard.
    private var decided: (kind: Situation.Conflict, winner: Side)? {
        conflict ?? untold.map { ($0.conflict, .local) }
            ?? (hasRestored || hasRecreated ? (.delete, .local) : nil)
    }

    /// The backup copy that there is to tell of.
    var keptID: String? {
        backupID ?? (conflict?.winner == .upstream ? nil : untold?.backupID)
    }

    /// Whether an errand before this one has taken out of the trash, for its content, what somebody else had put there.
    private var hasRestored: Bool {
        guard case .update(_, trash: nil, _) = change.intent else { return false }
        return change.mayHaveLanded(.restore, for: .delete)
    }

    /// Whether this one, or an errand before it, has made its content anew, because somebody else had deleted the item.
    var hasRecreated: Bool {
        change.intent.snapshot != nil && change.mayHaveLanded(.create, for: .delete)
    }

    /// What an errand before this one has kept, so that upstream's version may give way.
    private var untold: (conflict: Situation.Conflict, backupID: String)? {
        guard let note = change.backup, let conflict = note.conflict, let id = note.cipherID
        else { return nil }
        return (conflict, id)
    }

    /// Whether upstream had something that this side had not seen.
    private var overwritesOthers: Bool {
        switch (decided?.kind, decided?.winner) {
        case (.hard, _), (.delete, .upstream): true
        case (.soft, _), (.delete, _), (nil, _): false
        }
    }

    /// Whether its caller hears that it is saved, and nothing had to be decided: edits that had waited have
    /// given way to it, as if they had been edited over offline.
    private var isPlainlySaved: Bool {
        switch (decided?.kind, decided?.winner) {
        // What was gone is back with the edit, and there is no copy to tell of.
        case (nil, _), (.delete, .local): hasCaller && keptID == nil
        case (.hard, _), (.soft, _), (.delete, _): false
        }
    }

    /// Somebody has edited what upstream had made of this already; that comes first. If it was set aside, both
    /// wait for a person.
    func occupied(by state: PendingChange.State) -> Halt {
        let soon = kit.now.advanced(bySeconds: Attempt.patience)
        switch state {
        case .quarantined: return .unfit(.occupied)
        case .backingOff(let moment) where !moment.hasCome(at: kit.now):
            return .wait(until: max(soon, moment))
        case .backingOff, .ready, .inFlight: return .wait(until: soon)
        }
    }

    /// What is known of the last attempt and not written down yet. One that is written down already may turn out to
    /// be needless, and is not sent then.
    private var latest: Attempt.Outcome? { word.conclusion ?? (announced == nil ? nil : .refused) }

    /// What nobody ever answered, as far as may still come of it.
    private var unanswered: [Attempt] {
        let attempts = latest == nil ? change.attempts[...] : change.attempts.dropLast()
        return attempts.filter { $0.outcome == .unknown }
    }

    /// Those that bring no content, so that nothing tells a late one from what is wished by then.
    private var lateCalls: [Attempt] {
        unanswered.filter { !$0.kind.bringsContent && $0.mayComeLate(at: kit.now) }
    }

    /// What upstream may make yet of attempts that it never answered, or has and denies.
    private func strays(keeping cipherID: String?) -> [Stray] {
        let unanswered = unanswered.compactMap { attempt -> Stray? in
            switch attempt.kind {
            case .create where change.intent == .hardDelete:
                return Stray(attempt.fingerprint, keeper: .none)
            case .create, .update:
                return cipherID.map { Stray(attempt.fingerprint, keeper: .item($0)) }
            case .backup:
                return Stray(
                    attempt.fingerprint,
                    keeper: Stray.Keeper(change.copy(madeBy: attempt))
                )
            case .trash, .restore, .archive, .unarchive, .partial, .hardDelete, .share:
                return nil
            }
        }
        guard let denied else { return unanswered }
        return unanswered + [Stray(denied.fingerprint, keeper: Stray.Keeper(cipherID))]
    }

    private func tell(_ note: ResolutionNote, _ cipherID: String) {
        let surroundings = kit.surroundings
        let lane = kit.lane(cipherID)
        if let decided {
            surroundings.metrics.decided(
                SyncMetrics.ConflictKind(decided.kind),
                for: decided.winner
            )
        }
        if isQueued {
            surroundings.metrics.resolved(note.type ?? change.type, note.outcome)
            // By the name that it has in the history.
            let own = kit.lane(change.cipherID)
            surroundings.announce(.resolution(own, changeID: change.id, note))
        }
        surroundings.announce(.pending(lane, changeID: change.id))
    }
}

extension Settlement.Upstream {
    fileprivate func cipherID(or id: String) -> String? {
        switch self {
        case .holds(let base): base.lane.cipherID
        case .lacks: nil
        case .untouched: id
        }
    }
}

extension SyncMetrics.ConflictKind {
    fileprivate init(_ conflict: Situation.Conflict) {
        self =
            switch conflict {
            case .hard: .hard
            case .soft: .soft
            case .delete: .delete
            }
    }
}
