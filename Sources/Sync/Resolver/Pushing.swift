internal import Vault
internal import System

extension Errand {
    /// Does what the table says.
    mutating func carryOut(
        _ situation: Situation,
        _ copy: Cipher?
    ) async throws(Halt) -> Turn {
        try refuseToYield(situation.resolution)
        conflict = situation.conflict ?? conflict
        switch (situation.resolution, copy) {
        case (.recreate, _) where mutated(.dropsWhatIsMissing):
            return try await settle(.lacks, .cleanedUp, .sent)
        case (.recreate, _):
            if let found = try await seek() { return try await adopt(found) }
            if let twin = try await twin() {
                isAdopted = true
                return try await settle(.holds(twin), outcome, .sent)
            }
            return try await create(as: .recreated)
        case (.settle, _):
            // It may have been made anew before that was taken back.
            if change.mayHaveLanded(.create), let found = try await seek() {
                return try await adopt(found)
            }
            // What was to be restored or moved is gone, so nobody can be told that it was.
            let isDone = situation.wish != .touch
            return try await settle(.lacks, .cleanedUp, isDone ? .sent : .discarded)
        case (.create, _):
            // What was trashed since may be wanted back, so it is brought up and then trashed; of what
            // was deleted for good nothing is left to bring.
            return try await create(as: .pushed)
        case (.adopt, let copy?):
            return try await adopt(copy)
        case (.push, let copy?):
            return try await push(over: copy, holdsContent: situation.wish == .touch)
        case (.complete, let copy?):
            return try await push(over: copy, holdsContent: true)
        case (.pushKeepingUpstream, let copy?):
            try await keepLoser(of: situation, copy)
            return try await push(over: copy)
        case (.yieldKeepingLocal, let copy?):
            try await keepLoser(of: situation, copy)
            return try await yield(to: copy, .backedUpLocal, .backedUp, leaving: rest(over: copy))
        case (.yield, let copy?) where mutated(.deletesMoved):
            return try await push(over: copy)
        // Nobody is told that what is in the trash was spared.
        case (.yield, let copy?) where isTrashedAsWished(copy):
            conflict = nil
            return try await push(over: copy)
        case (.yield, let copy?):
            return try await yield(to: copy, .restoredServer, .restored, leaving: rest(over: copy))
        case (.adopt, nil), (.push, nil), (.complete, nil), (.pushKeepingUpstream, nil),
            (.yieldKeepingLocal, nil), (.yield, nil):
            // The table has no such line. If it ever had, nothing would be forgotten for it.
            throw .doubt(.unconfirmed)
        }
    }

    private func rest(over copy: Cipher) -> PendingChange? {
        change.rest(over: copy, id: kit.surroundings.chance.identifier(at: kit.now))
    }

    /// Whether upstream has carried out already what would be withdrawn because others have edited the item.
    private func isTrashedAsWished(_ copy: Cipher) -> Bool {
        change.intent == .softDelete(nil, .none) && copy.isInTrash
    }

    /// Whoever would give way unasked, and has a caller, is refused instead.
    mutating func refuseToYield(_ resolution: Resolution) throws(Halt) {
        guard hasCaller, !mayYield else { return }
        switch resolution {
        case .yield, .yieldKeepingLocal:
            concludeUnsent()
            throw .overruled
        case .pushKeepingUpstream, .create, .adopt, .recreate, .settle, .push, .complete: return
        }
    }

    /// The same item, made anew by somebody who wanted the same of what is gone.
    private func twin() async throws(Halt) -> BaseCipher? {
        guard case .update(let snapshot, let trash, .none) = change.intent, trash != .trashed,
            !mutated(.blindCreate)
        else { return nil }
        let wanted = try Self.cipher(snapshot.json)
        let list = try await kit.list()
        // It has the item's own key still, as what is made anew here would.
        let twin =
            wanted.key == nil
            ? list.listed.find(wanted, since: change.created, openedWith: kit.keys)
            : list.listed.find(wanted, fingerprints: [])
        guard list.isBelieved, let twin, !twin.isInTrash, twin.organizationID == nil,
            twin.folderID == wanted.folderID, twin.isFavorite == wanted.isFavorite,
            twin.isArchived == wanted.isArchived,
            kit.isSame(twin, as: wanted),
            let base = BaseCipher(twin, of: kit.userID)
        else { return nil }
        return try isPending(base.lane) ? nil : base
    }

    /// Keeps what is to give way.
    mutating func keepLoser(of situation: Situation, _ copy: Cipher) async throws(Halt) {
        switch situation.resolution {
        case .pushKeepingUpstream where !mutated(.overwritesWithoutBackup):
            try await keep(copy, for: situation.conflict?.kind ?? .hard)
        case .yieldKeepingLocal where !mutated(.yieldsWithoutBackup):
            try await keepLocal(beside: copy)
        case .pushKeepingUpstream, .yieldKeepingLocal, .create, .adopt, .recreate, .settle, .push,
            .complete, .yield:
            break
        }
    }

    // MARK: Sending

    /// Sends what is still missing of the wish, step by step.
    ///
    /// - Parameter isCertain: Whether the copy is what upstream has just said.
    mutating func push(
        over copy: Cipher,
        holdsContent: Bool = false,
        isCertain: Bool = true
    ) async throws(Halt) -> Turn {
        if !holdsContent, try isOvertaken(copy, isCertain: isCertain) {
            (fresh, distrustsList) = (nil, true)
            return .again
        }
        let ground = copy
        let agreed = change.agreed
        var (copy, state) = (copy, ItemState(copy, isCertain: isCertain))
        var holdsContent = holdsContent
        if holdsContent, brought == nil { brought = brought(ground, over: nil, since: agreed) }
        while let deed = change.intent.nextDeed(
            over: state,
            holdsContent: holdsContent,
            wasArchived: agreed?.isArchived == true,
            done: done
        ) {
            let former = earlier?.nextDeed(
                over: state,
                holdsContent: holdsContent,
                wasArchived: agreed?.isArchived == true,
                done: done
            )
            let isNew = isNew(deed, beside: former)
            let conflict = conflict(by: deed)
            let content = deed == .content ? try await content(over: copy, since: ground) : nil
            try await note(deed.attempt, content, for: conflict)
            guard let answer = try await carryOut(deed, over: copy, content) else {
                return try await settle(.lacks, .deleted, .sent)
            }
            if isNew { isBegun = true }
            if let conflict { self.conflict = self.conflict ?? (conflict, .local) }
            // Somebody was faster, so what was decided about is not what would be overwritten.
            if change.intent.snapshot != nil, !holdsContent, deed != .content,
                !kit.isSame(answer, as: copy) || !answer.isPlaced(as: copy),
                !mutated(.decidesOnce)
            {
                fresh = answer
                return .again
            }
            if deed == .content {
                brought = brought(answer, over: copy, since: agreed)
                holdsContent = true
            }
            copy = deed == .trash ? try latest(answer) : answer
            state = ItemState(copy, isCertain: true)
        }
        let base = try kit.base(copy, answering: "update cipher")
        fresh = copy
        return try await settle(
            .holds(base),
            outcome,
            .sent,
            isSeen: isOwn(copy, since: agreed ?? ground)
        )
    }

    /// Whether a sync, or this run's list, shows that somebody may have written it again since it was read. What is sent
    /// over the former within that second, upstream takes for up to date; and stamps may be of whole seconds.
    private func isOvertaken(_ copy: Cipher, isCertain: Bool) throws(Halt) -> Bool {
        guard let revision = copy.revision else { return false }
        if isCertain, let shown = try known(lane), !shown.isDamaged,
            revision.isEarlier(than: shown.revision)
        {
            return true
        }
        guard !distrustsList,
            let listed = kit.listing.content?.listed.ciphers[change.cipherID],
            listed.json != copy.bytes, !listed.revision.isEarlier(than: revision),
            let shown = try? Cipher(listed.json)
        else { return false }
        return revision.isEarlier(than: listed.revision) || !kit.isSame(shown, as: copy)
    }

    /// In which conflict what others have done gives way by that: what the user has put into the trash is nobody
    /// else's.
    private func conflict(by deed: Deed) -> Situation.Conflict? {
        deed == .restore && change.intent.trash != .restored && !mayHaveTrashed ? .delete : nil
    }

    /// Whether that is done for the edit whose caller waits.
    ///
    /// - Parameter former: What would be done for what had waited before.
    private func isNew(_ deed: Deed, beside former: Deed?) -> Bool {
        deed != former || deed == .content && earlier?.snapshot != change.intent.snapshot
    }

    /// Writes down what upstream has taken of it though it does not take the rest: base says so, and what is left
    /// is an edit of that.
    mutating func standOnTaken() async throws(Halt) {
        guard let taken, let base = BaseCipher(taken, of: kit.userID), base.lane == lane,
            let shown = try known(lane), !base.revision.isEarlier(than: shown.revision)
        else { return }
        let agreed = try Self.cipher(change.baseCopy ?? shown.json)
        try await move(to: base, ground: nil, isSeen: isOwn(taken, since: agreed))
    }

    /// Whether others had no hand in what upstream has now.
    private func isOwn(_ copy: Cipher, since ground: Cipher) -> Bool {
        (brought?.base.json == copy.bytes || isKnown(copy))
            && (copy.isInTrash == ground.isInTrash || mayHaveSwitched)
    }

    /// Whether it came from here that the item is in the trash, or is not any more.
    private var mayHaveSwitched: Bool {
        mayHaveTrashed || done.contains(.restore) || change.mayHaveLanded(.restore)
    }

    private var mayHaveTrashed: Bool { done.contains(.trash) || change.mayHaveLanded(.trash) }

    /// Upstream does not say how something looks that it has put into the trash. What a list has said
    /// of it meanwhile stands if it is younger than what was put together from the copy before: it may
    /// have been asked for before the content went out.
    private func latest(_ trashed: Cipher) throws(Halt) -> Cipher {
        guard let put = BaseCipher(trashed, of: kit.userID), let now = try known(put.lane),
            isOutdated(put, beside: now), let listed = try? Cipher(now.json)
        else { return trashed }
        return listed.isInTrash ? listed : listed.trashed(at: kit.now)
    }

    /// What base says.
    func known(_ lane: Lane) throws(Halt) -> BaseCipher? {
        try kit.read { (reader) throws(StoreError) in try reader.base(lane) }
    }

    /// Whether the content is what was sent, or, where none was, what the wish was made on.
    private func isKnown(_ copy: Cipher) -> Bool {
        let known = change.intent.snapshot?.json ?? change.baseCopy
        guard let known = known.flatMap({ try? Cipher($0) }) else { return false }
        return kit.isSame(copy, as: known)
    }

    /// - Parameter former: What was there right before; nil if that is not known.
    private func brought(
        _ taken: Cipher,
        over former: Cipher?,
        since agreed: Cipher?
    ) -> Brought? {
        guard let shown = change.intent.snapshot.flatMap({ try? Cipher($0.json) }), isKnown(taken),
            let base = BaseCipher(taken, of: kit.userID)
        else { return nil }
        let isPasswordNew = [former, agreed].compactMap(\.self).contains {
            $0.losesPassword(of: taken, in: kit.keys) != false
        }
        return Brought(
            base,
            over: former?.revision,
            isPasswordNew: isPasswordNew,
            isMoved: isMoved(taken, from: shown)
        )
    }

    /// Whether others have put it elsewhere than it is shown here. What is wished here is brought about yet.
    private func isMoved(_ taken: Cipher, from shown: Cipher) -> Bool {
        let wished = change.intent.adjustments
        return wished.folder == nil && (taken.folderID ?? "") != (shown.folderID ?? "")
            || wished.isFavourite == nil && taken.isFavorite != shown.isFavorite
            || wished.isArchived == nil && taken.isArchived != shown.isArchived
    }

    private mutating func carryOut(
        _ deed: Deed,
        over copy: Cipher,
        _ content: Cipher?
    ) async throws(Halt) -> Cipher? {
        do throws(Setback) {
            let known = mutated(.staleRevision) ? change.agreed : nil
            let answer = try await kit.carryOut(
                deed,
                on: change.cipherID,
                over: known ?? copy,
                content: content
            )
            conclude(.accepted)
            taken = answer
            done.insert(deed)
            return answer
        } catch {
            if mutated(.takesSilenceForSuccess), error.mayHaveLanded {
                done.insert(deed)
                return copy
            }
            guard mayLoseFolder, let folderID = content?.folderID ?? deed.folderID,
                try await isLost(folderID, error)
            else { throw .setback(error) }
            conclude(error)
            try await update { _ = $0.leaveFolder(folderID) }
            let there = copy.folderID == folderID ? nil : copy.folderID
            let content = content?.inFolder(there)
            return try await carryOut(deed.inFolder(there), over: copy, content)
        }
    }

    /// What the history says of it.
    private var outcome: ResolutionNote.Outcome {
        if keptID != nil { return .backedUpServer }
        if hasRecreated { return .recreated }
        if done.contains(.trash) || done.contains(.delete) { return .deleted }
        if !done.isEmpty { return .pushed }
        return formerOutcome ?? (isAdopted ? .adopted : .alreadyApplied)
    }

    /// The content as it is sent over what upstream holds: under upstream's key for the item, because
    /// its files are under that, and where upstream keeps the item.
    private mutating func content(
        over copy: Cipher,
        since ground: Cipher
    ) async throws(Halt) -> Cipher? {
        guard let snapshot = change.intent.snapshot else { return nil }
        var content = try Self.cipher(snapshot.json)
        if content.key != copy.key {
            do throws(Flaw) {
                content = try content.resealed(
                    like: copy,
                    keys: kit.keys,
                    entropy: kit.surroundings.entropy
                )
            } catch {
                throw .unfit(.undecryptable(error))
            }
            try await freeze(content)
        }
        let made = isWhereItWasMade ? content : nil
        if let agreed = change.agreed ?? made {
            content = content.placed(like: ground, since: agreed)
        }
        return content
    }

    /// Whether nobody here has wanted it in another place since it was sent to be made.
    private var isWhereItWasMade: Bool {
        let wished = change.intent.adjustments
        return change.mayHaveLanded(.create) && wished.folder == nil && wished.isFavourite == nil
    }

    /// What is sent from now on; the same bytes at every attempt.
    private mutating func freeze(_ content: Cipher) async throws(Halt) {
        let snapshot = Snapshot(content, keys: kit.keys)
        try await update { $0.intent = $0.intent.replacing(snapshot) }
    }

    /// Creates the cipher. Whoever has nothing else to do for it is done with that.
    mutating func create(as outcome: ResolutionNote.Outcome) async throws(Halt) -> Turn {
        guard let snapshot = change.intent.snapshot else {
            return try await settle(.lacks, .cleanedUp, .sent)
        }
        let content = try Self.cipher(snapshot.json)
        let isAgain = outcome == .recreated
        let answer = try await post(content, for: isAgain ? .delete : nil)
        if earlier?.snapshot != snapshot { isBegun = true }
        let base = try kit.base(answer, answering: "create cipher", mayHaveLanded: true)
        if isAgain {
            let json = try known(lane)?.json ?? change.baseCopy
            denied = json.flatMap { try? Cipher($0) }
        }
        fresh = answer
        let state = ItemState(answer, isCertain: true)
        if change.intent.nextDeed(over: state, holdsContent: true, done: done) == nil {
            return try await settle(.holds(base), outcome, .sent)
        }
        let posted = change.intent.snapshot
        let left = try await enter(base)
        try await move(to: left, ground: left == base ? nil : base.footing)
        // What was edited meanwhile is in none of what upstream has.
        let isPosted = change.intent.snapshot == posted || mutated(.forgetsMeanwhile)
        guard left == base, isPosted else { return .again }
        done.insert(.content)
        return try await push(over: answer, holdsContent: true)
    }

    /// - Parameter conflict: In which what others have done gives way by it.
    private mutating func post(
        _ content: Cipher,
        for conflict: Situation.Conflict?
    ) async throws(Halt) -> Cipher {
        try await note(.create, content, for: conflict)
        do throws(Setback) {
            let answer = try await kit.create(content)
            conclude(.accepted)
            taken = answer
            return answer
        } catch {
            guard mayLoseFolder, let folderID = content.folderID,
                try await isLost(folderID, error)
            else { throw .setback(error) }
        }
        conclude(.refused)
        try await freeze(content.withoutFolder)
        return try await post(content.withoutFolder, for: conflict)
    }

    /// Whoever waits for an answer to the only edit there is hears that there is no such folder.
    private var mayLoseFolder: Bool { isQueued || !hasCaller }

    /// Not all servers refuse what goes into a folder that is gone.
    mutating func leaveLostFolders() async throws(Halt) {
        guard mayLoseFolder else { return }
        for folderID in change.folderIDs {
            guard try await kit.lacksFolder(folderID) else { continue }
            try await update { _ = $0.leaveFolder(folderID) }
        }
    }

    /// Whether it was refused because its folder is gone.
    func isLost(_ folderID: String, _ setback: Setback) async throws(Halt) -> Bool {
        guard let words = setback.rejection, words.says("folder") else { return false }
        return try await !kit.list().folderIDs.contains(folderID)
    }

    // MARK: Giving way

    /// Upstream's copy stands. If the user went on editing meanwhile, that is decided about anew, so
    /// the record's own ground must not move.
    ///
    /// - Parameter rest: What of it stands in nobody's way. The wish that does is withdrawn before that is tried,
    ///   for upstream may refuse it.
    private mutating func yield(
        to copy: Cipher,
        _ outcome: ResolutionNote.Outcome,
        _ status: Receipt.Status,
        leaving rest: PendingChange? = nil
    ) async throws(Halt) -> Turn {
        fresh = copy
        if let base = BaseCipher(copy, of: kit.userID), try await enter(base) == base {
            try await putBase(base)
        }
        return try await settle(.untouched, outcome, status, leaving: rest)
    }

    func putBase(_ base: BaseCipher) async throws(Halt) {
        try await write { ledger throws(StoreError) in
            try await ledger.insist { .base(.put(base, by: Judge(kit.keys), $0)) }
        }
    }
}

extension Deed {
    fileprivate var folderID: String? {
        if case .place(let folderID, _) = self { folderID } else { nil }
    }

    fileprivate func inFolder(_ id: String?) -> Deed {
        if case .place(_, let isFavourite) = self {
            .place(folderID: id, isFavourite: isFavourite)
        } else {
            self
        }
    }
}
