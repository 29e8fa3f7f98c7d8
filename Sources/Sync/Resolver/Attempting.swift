internal import Records
internal import Vault
internal import System

extension Resolver {
    /// Brings an edit upstream while its caller waits.
    ///
    /// Without an earlier change that it was folded into, it goes out as it is, on the revision that
    /// the user saw; a refusal is the caller's to hear and nothing is decided for them. With one, all
    /// of it is resolved as a run would.
    func attempt(_ recorded: Recorded) async throws(StoreError) -> Attempted {
        let change = recorded.change
        guard let kit = kit(.interactive) else {
            return .hindered(.locked, version: change.version)
        }
        var errand = Errand(change, kit, isQueued: recorded.before != nil, hasCaller: true)
        errand.announced = change.attempts.last
        errand.earlier = recorded.before?.change.intent
        do throws(Halt) {
            try await errand.requireSameAccount()
            if recorded.before == nil, errand.lateCallsHavePassed == nil, try !errand.isInTrash {
                return try await .saved(cipherID: errand.bringAsItIs() ?? change.cipherID)
            }
            errand.mayYield = change.attempts.last.map(\.kind.bringsContent) ?? true
            return try await .saved(cipherID: errand.bring() ?? change.cipherID)
        } catch {
            return try await errand.answer(to: error)
        }
    }
}

extension Errand {
    /// Upstream does not answer with the stamp of what it has trashed, so nothing can be sent on that
    /// before it was asked for it.
    fileprivate var isInTrash: Bool {
        get throws(Halt) {
            guard case .update = change.intent else { return false }
            return try known(lane)?.isTrashed ?? false
        }
    }

    /// Not all servers refuse what is sealed under keys of yesterday.
    fileprivate mutating func requireSameAccount() async throws(Halt) {
        do throws(Setback) {
            try await kit.upstream.requireSameAccount(kit.urgency)
        } catch {
            throw unsent(.setback(error))
        }
    }

    /// Sends the only edit there is, without asking first what upstream holds.
    fileprivate mutating func bringAsItIs() async throws(Halt) -> String? {
        try check()
        if case .create = change.intent { return try await goOn(after: create(as: .pushed)) }
        guard let copy = try base() else { throw .doubt(.unconfirmed) }
        if change.intent == .hardDelete { try await requireUnmoved(from: copy) }
        try requireLatest(copy)
        return try await goOn(after: push(over: copy, isCertain: false))
    }

    /// A sync may have brought what others have written since the edit was made. Within the second of what that was
    /// made on, upstream would take it for up to date all the same.
    private mutating func requireLatest(_ copy: Cipher) throws(Halt) {
        guard change.intent.snapshot != nil, let revision = copy.revision,
            let shown = try known(lane), !shown.isDamaged, shown.json != copy.bytes,
            !shown.revision.isEarlier(than: revision), let there = try? Cipher(shown.json),
            !kit.isSame(there, as: copy)
        else { return }
        concludeUnsent()
        throw .overruled
    }

    /// Whoever deletes for good has to have seen what is there.
    private mutating func requireUnmoved(from seen: Cipher) async throws(Halt) {
        let moved: Cipher?
        do throws(Setback) {
            moved = try await kit.moved(change.cipherID, from: seen)
        } catch {
            throw unsent(.setback(error))
        }
        guard let moved else { return }
        if let base = BaseCipher(moved, of: kit.userID) {
            if let shown = try known(lane), base.revision.isEarlier(than: shown.revision) {
                throw unsent(.behind)
            }
            try await putBase(base)
        }
        throw unsent(.setback(.movedBeforeDeletion))
    }

    /// What is written down already has not been sent.
    private mutating func unsent(_ halt: Halt) -> Halt {
        conclude(.refused)
        return halt
    }

    /// What was edited meanwhile is sent, too.
    private mutating func goOn(after turn: Turn) async throws(Halt) -> String? {
        switch turn {
        case .over(let id): id
        case .again: try await bring()
        }
    }

    private func base() throws(Halt) -> Cipher? {
        if let copy = change.baseCopy { return try Self.cipher(copy) }
        return try known(lane).flatMap { try? Cipher($0.json) }
    }

    /// What the caller hears of a failure.
    fileprivate mutating func answer(to halt: Halt) async throws(StoreError) -> Attempted {
        if landed != nil { return try await answerAfterLanding(to: halt) }
        guard hasCaller, !isBegun else { return try await overtaken(by: halt) }
        switch halt {
        case .overtaken: return .overtaken
        case .store(let error): throw error
        case .wait(let moment):
            return try await unanswered(
                Setback(.unreachable(.held(until: moment)), operation: "send")
            )
        case .behind: return try await hindered(by: .behind)
        case .locked: return try await hindered(by: .locked)
        case .overruled:
            try await writeConclusion()
            return .overruled(version: change.version)
        case .doubt(let note), .unfit(let note): return try await hindered(by: note)
        case .setback(let setback), .unlisted(let setback):
            conclude(setback)
            if !mutated(.refusesUnanswered), setback.letsAnEditWait || setback.mayHaveLanded {
                return try await unanswered(setback)
            }
            guard case .stale = setback.reason else {
                try await writeConclusion()
                return .refused(setback, version: change.version)
            }
            return try await outdated(setback)
        }
    }

    /// Whoever hears that their copy is out of date is to find the present one, also while other changes keep all
    /// of upstream from being taken over.
    private mutating func outdated(_ setback: Setback) async throws(StoreError) -> Attempted {
        let copy = try? await kit.upstream.cipher(change.cipherID, kit.urgency)
        if let copy, copy.fingerprint == sent?.fingerprint {
            return try await goOnAfterRepetition(with: copy)
        }
        try await writeConclusion()
        if let base = copy.flatMap({ BaseCipher($0, of: kit.userID) }),
            let shown = try? known(lane), !base.revision.isEarlier(than: shown.revision)
        {
            try? await putBase(base)
        }
        return .refused(setback, version: change.version)
    }

    /// Something on the way has delivered it twice, and upstream has refused the second for the sake of the first.
    private mutating func goOnAfterRepetition(
        with copy: Cipher
    ) async throws(StoreError) -> Attempted {
        conclude(.accepted)
        (fresh, taken, isBegun) = (copy, copy, true)
        do throws(Halt) {
            return try await .saved(cipherID: bring() ?? change.cipherID)
        } catch {
            return try await answer(to: error)
        }
    }

    /// What this began with is upstream. What failed is what was edited since, and whoever did that knows
    /// that it waits.
    private mutating func answerAfterLanding(
        to halt: Halt
    ) async throws(StoreError) -> Attempted {
        switch halt {
        // The caller need not wait for what a run does.
        case .store: return .landed
        case .setback, .unlisted, .wait, .behind, .doubt, .unfit, .locked, .overruled, .overtaken:
            return try await overtaken(by: halt)
        }
    }

    /// What failed is somebody else's edit too by now, or the rest of one that upstream has a part of. To refuse it
    /// would take that back with it, or deny it.
    private mutating func overtaken(by halt: Halt) async throws(StoreError) -> Attempted {
        switch halt {
        case .store(let error): throw error
        case .setback(let setback), .unlisted(let setback): conclude(setback)
        case .wait, .behind, .doubt, .unfit, .locked, .overruled, .overtaken: break
        }
        try await writeConclusion()
        // Without that, a run finds it out again.
        try? await standOnTaken()
        return .overtaken
    }

    private mutating func unanswered(_ setback: Setback) async throws(StoreError) -> Attempted {
        try await writeConclusion()
        return .unanswered(setback, version: change.version)
    }

    private mutating func hindered(by note: FailureNote) async throws(StoreError) -> Attempted {
        try await writeConclusion()
        return .hindered(note, version: change.version)
    }

    private mutating func writeConclusion() async throws(StoreError) {
        guard !word.isEmpty else { return }
        do throws(Halt) {
            try await update { _ in }
        } catch {
            if case .store(let error) = error { throw error }
            try await leaveWord()
        }
    }
}
