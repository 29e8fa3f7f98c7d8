internal import Crypto
internal import Vault
internal import System

/// One change on its way upstream. Whoever has it has the lane of its cipher.
struct Errand {
    let kit: Kit
    /// By this id its cipher was known when the lane was entered.
    let heldID: String
    var change: PendingChange
    /// The change as it was when this began.
    let before: PendingChange

    // MARK: For whom

    /// Whether it has waited before, and so has a place in the history.
    let isQueued: Bool
    /// Whether the caller of all that is pending waits for it. What is edited meanwhile has a caller of its
    /// own, and whatever becomes of that is none of this one's.
    var hasCaller = false
    /// What had waited before the edit of that caller.
    var earlier: Intent?
    /// Whether it may give way to what others have written. Content does, and its caller finds it in a copy; of a
    /// deletion nothing would be left, and what had waited before it would go with it.
    var mayYield = true

    // MARK: The last attempt

    /// What is known of it, and written down with whatever is written next.
    var word = Word()
    /// The content that was sent with it.
    var sent: Cipher?
    /// Whether it is this errand's own, and nothing is known of it yet. An earlier one is concluded by
    /// nobody who only asked.
    var isUnderWay = false
    /// The one that is written down already, before the first request.
    var announced: Attempt?
    /// What base said when something was last sent for what is upstream.
    var knownBefore: BaseCipher?

    // MARK: What was found out

    /// The item itself is read, not the list.
    var distrustsList = false
    /// What upstream has just said that it holds.
    var fresh: Cipher?
    var conflict: (kind: Situation.Conflict, winner: Side)?
    /// What upstream had, before it denied that and it was made again.
    var denied: Cipher?

    // MARK: What was done

    var done: Set<Deed> = []
    /// The content that upstream has got from here.
    var brought: Brought?
    var isAdopted = false
    var backupID: String?
    /// Whose files the backup copy is to have besides its text.
    var fileSource: Cipher?
    /// As what it was pending, before it got upstream's id and so became an edit of what is there.
    private(set) var formerType: ChangeType?
    /// What had come of it before it was edited on its way.
    private(set) var formerOutcome: ResolutionNote.Outcome?
    /// Under which id upstream has what was wanted when this began, written down or not.
    var landed: String?
    /// What upstream said last when it took something of this, unless base says so too.
    var taken: Cipher?
    /// Whether that was something of the caller's edit, so that nobody can tell them that nothing has happened.
    var isBegun = false

    init(
        _ change: PendingChange,
        _ kit: Kit,
        in heldID: String? = nil,
        isQueued: Bool,
        hasCaller: Bool = false
    ) {
        (self.change, before) = (change, change)
        self.heldID = heldID ?? change.cipherID
        self.kit = kit
        self.isQueued = isQueued
        self.hasCaller = hasCaller
    }

    var lane: Lane { kit.lane(change.cipherID) }

    enum Turn {
        /// Nothing is pending any more; the cipher is known by this id, if it is still there.
        case over(cipherID: String?)
        /// What is pending has another ground now.
        case again
    }

    /// Goes on until nothing of the change is pending, also if it is edited meanwhile.
    mutating func bring() async throws(Halt) -> String? {
        var refusals = 0
        for _ in 0..<Self.turns {
            do throws(Halt) {
                if case .over(let id) = try await turn() { return id }
            } catch .setback(let setback) where setback.isOutdated && refusals < Self.rereadings {
                refusals += 1
                conclude(setback)
                distrustsList = true
                forgetProgress()
            } catch .overtaken {
                try reload()
            }
        }
        throw .wait(until: kit.now.advanced(bySeconds: 5))
    }

    private static let turns = 16
    /// So often a stale refusal leads to another look.
    private static let rereadings = 3

    private mutating func turn() async throws(Halt) -> Turn {
        try check()
        try letLateCallsPass()
        let copy = try await upstreamCopy()
        if kit.isShut { throw .locked }
        try await leaveLostFolders()
        fresh = nil
        return try await carryOut(situation(of: change, upstream: copy), copy)
    }

    private mutating func upstreamCopy() async throws(Halt) -> Cipher? {
        if change.isUnborn { return try await seek() }
        if let fresh { return fresh }
        return try await readTrusted()
    }

    private func situation(
        of change: PendingChange,
        upstream copy: Cipher?
    ) throws(Halt) -> Situation {
        var situation = Situation(of: change, upstream: copy, keys: kit.keys, by: kit.clocks)
        // That upstream's stamp is the later one by now may be our own doing.
        if let copy, try hasKept(copy) { situation.later = .local }
        return situation
    }

    func check() throws(Halt) {
        guard change.foreignType == nil else { throw .unfit(.foreign) }
        guard let snapshot = change.intent.snapshot else { return }
        let isPresent = snapshot.keyFingerprint == Snapshot.fingerprint(of: kit.keys.user)
        guard isPresent || mutated(.sendsOldKeys) else {
            throw .unfit(.keyChanged)
        }
        _ = try Self.cipher(snapshot.json)
    }

    mutating func reload() throws(Halt) {
        let stored = try kit.read { (reader) throws(StoreError) in try reader.change(change.id) }
        guard let edited = stored?.change else { throw .overtaken }
        goOn(with: edited)
        fresh = nil
    }

    /// What is pending now is another change than this has worked on so far. What became of the last attempt is
    /// true of it, too, and nobody else knows.
    mutating func goOn(with edited: PendingChange) {
        noteEdits(of: edited)
        word.keep(from: change)
        change = edited
        word.write(into: &change)
        (announced, isUnderWay) = (nil, false)
        (done, brought) = ([], nil)
    }

    /// The same of what upstream has a part of already.
    mutating func goOn(with edited: PendingChange, after outcome: ResolutionNote.Outcome) {
        formerType = formerType ?? change.type
        formerOutcome = outcome
        taken = nil
        goOn(with: edited)
    }

    /// A folder that is gone is no edit. What is edited while it is made has been made so.
    private mutating func noteEdits(of edited: PendingChange) {
        guard edited.updated != change.updated else { return }
        hasCaller = false
        if formerType != .create || edited.type != .update { formerType = nil }
    }

    private mutating func forgetProgress() {
        done = []
        (announced, fresh) = (nil, nil)
    }

    // MARK: What upstream has never confirmed

    /// What an earlier create of this change may have left upstream.
    mutating func seek() async throws(Halt) -> Cipher? {
        guard !mutated(.blindCreate) else { return nil }
        if change.mayHaveLanded(.create) { return try await seekSent() }
        // No caller is kept waiting for it. Nothing says that it was sent, so without a list it is taken for new.
        guard isFromBefore, kit.urgency != .interactive else { return nil }
        do throws(Halt) {
            return try await seekSent()
        } catch .unlisted, .behind {
            return nil
        }
    }

    private mutating func seekSent() async throws(Halt) -> Cipher? {
        try beLateEnough(for: .create)
        let list = try await kit.list()
        let sent = change.attempts.filter { $0.kind == .create }.map(\.fingerprint)
        let snapshot = try change.intent.snapshot.map { snapshot throws(Halt) in
            try Self.cipher(snapshot.json)
        }
        let base = change.agreed
        return try await find(.create, in: list) { shelf in
            shelf.find(snapshot, madeOf: base, fingerprints: sent)
                ?? snapshot.flatMap { snapshot in
                    guard snapshot.key == nil else { return nil }
                    return shelf.find(snapshot, since: change.created, openedWith: kit.keys)
                }
        }
    }

    /// Whether it was recorded before this host was started. Somebody may have put back an older state, which knows
    /// nothing of what was sent since.
    private var isFromBefore: Bool { change.created < kit.surroundings.began }

    /// What was made of something that we sent; nil if there is certainly nothing. What a list misses is
    /// asked for by itself, because the list may be an old one.
    func find(
        _ kind: Attempt.Kind,
        in list: Listing.Content,
        by look: (Listing.Shelf) -> Cipher?
    ) async throws(Halt) -> Cipher? {
        if let found = look(list.listed) { return found }
        if let id = look(list.missed)?.id {
            do throws(Setback) {
                return try await kit.upstream.cipher(id, kit.urgency)
            } catch {
                guard case .missing = error.reason else { throw .setback(error) }
            }
        }
        try list.confirmAbsence()
        try beLateEnough(for: kind, at: list.asked)
        return nil
    }

    /// A slow server may carry out what it never answered, so nothing is taken for lost too early.
    ///
    /// - Parameter moment: When upstream was asked; without it, that is yet to come.
    func beLateEnough(for kind: Attempt.Kind, at moment: Moment? = nil) throws(Halt) {
        guard let last = change.attempts.last(where: { $0.kind == kind && $0.outcome != .refused })
        else { return }
        guard last.mayComeLate(at: moment ?? kit.now), !mutated(.earlyCreate) else { return }
        throw .wait(until: last.deadline)
    }

    /// The same of what would undo what is wished by now: it may be seen to be as it is wished, and not stay
    /// so. Whoever wishes what was sent need not wait.
    private mutating func letLateCallsPass() throws(Halt) {
        guard let earliest = lateCallsHavePassed else { return }
        // What was announced is no late call itself.
        concludeUnsent()
        throw .wait(until: earliest)
    }

    /// When that is; nil if nothing may come late.
    var lateCallsHavePassed: Moment? {
        // What became of the last is written down only with the next.
        let isOwn = word.conclusion != nil || announced != nil
        let attempts = isOwn ? change.attempts.dropLast() : change.attempts[...]
        let late = attempts.last {
            $0.outcome == .unknown && change.intent.isUndone(by: $0.kind)
                && ($0.kind != .partial || $0.moment < change.updated)
        }
        guard let late, late.mayComeLate(at: kit.now) else { return nil }
        return late.deadline
    }

    /// From now on the change is an edit of what was found.
    ///
    /// What was found may have been edited by somebody else already. If all that is pending was in
    /// what landed, theirs is the newer and stands; else both have moved away from what was sent.
    mutating func adopt(_ found: Cipher) async throws(Halt) -> Turn {
        guard let listed = BaseCipher(found, of: kit.userID) else { throw .doubt(.unconfirmed) }
        let base = try await enter(listed, isListed: true)
        let found = base == listed ? found : try Self.cipher(base.json)
        isAdopted = true
        let wanted = try change.intent.snapshot.map { snapshot throws(Halt) in
            try Self.cipher(snapshot.json)
        }
        let creates = change.attempts.filter { $0.kind == .create }
        let isEdited = !creates.contains { $0.fingerprint == found.fingerprint }
        // Where more than one may have landed, nobody knows which of them others have edited.
        let landed = Set(creates.filter { $0.outcome != .refused }.map(\.fingerprint))
        let isOurs = wanted.map { self.isOurs(found, $0) } ?? true
        let ground = isEdited ? Footing(revision: isOurs ? created(found) : former) : nil
        // So does what was edited here under upstream's id.
        let isPending = try isPending(base.lane)
        if isEdited || isPending, isOurs, let wanted, landed == [wanted.fingerprint],
            change.intent.adjustments == .none,
            change.intent.trash != .trashed
        {
            return try await settle(.holds(base), .adopted, .sent, ground: ground)
        }
        if let ground, !isPending, let turn = try await keepFirst(to: base, found, since: ground) {
            return turn
        }
        try await move(to: base, ground: ground)
        fresh = base == listed ? found : nil
        return .again
    }

    /// Both may have been edited here, so both are shown until that which gives way is kept.
    private mutating func keepFirst(
        to base: BaseCipher,
        _ found: Cipher,
        since ground: Footing
    ) async throws(Halt) -> Turn? {
        var moved = change
        moved.rebase(onto: ground, cipherID: base.lane.cipherID)
        let situation = try situation(of: moved, upstream: found)
        try refuseToYield(situation.resolution)
        try await keepLoser(of: situation, found)
        guard situation.resolution == .yieldKeepingLocal else { return nil }
        conflict = situation.conflict ?? conflict
        fresh = found
        return try await settle(.holds(base), .backedUpLocal, .backedUp, ground: ground)
    }

    func isPending(_ lane: Lane) throws(Halt) -> Bool {
        let pending = try kit.read { (reader) throws(StoreError) in
            try reader.layers(of: lane).pending
        }
        return pending.map { $0.summary.id != change.id } ?? false
    }

    /// Takes the lane under upstream's id, too. What somebody has left there is younger than what was
    /// listed or answered; and what is known there already may be, where the list is an old one.
    ///
    /// - Parameter isListed: Nothing was sent. Then it waits where upstream itself is back at an earlier state:
    ///   who took that over would hide that, and with it what else is forgotten.
    mutating func enter(
        _ answered: BaseCipher,
        isListed: Bool = false
    ) async throws(Halt) -> BaseCipher {
        let wasHeld = await kit.lanes.join(answered.lane.cipherID, to: heldID)
        guard let left = try known(answered.lane), left != answered,
            wasHeld || isOutdated(answered, beside: left)
        else { return answered }
        let last = wasHeld ? left : await askedAgain(answered, beside: left)
        if isListed, !left.isDamaged, last.revision.isEarlier(than: left.revision) { throw .behind }
        if last == answered { return answered }
        (fresh, distrustsList) = (nil, true)
        return last
    }

    /// By their stamps a list that came in the meantime is younger than the answer. Where upstream's clock was
    /// set back in between it is the other way around, which only upstream can tell.
    private func askedAgain(
        _ answered: BaseCipher,
        beside left: BaseCipher
    ) async -> BaseCipher {
        let shown = try? await kit.upstream.cipher(answered.lane.cipherID, kit.urgency)
        return shown.flatMap { BaseCipher($0, of: kit.userID) } ?? left
    }

    /// Of what it answers to a request upstream knows best, whatever its clock says, unless a list has come
    /// while that answer was on its way; not so of what it has under an id that is new to this change.
    func isOutdated(_ answered: BaseCipher, beside left: BaseCipher) -> Bool {
        let isNews = answered.lane.cipherID != change.cipherID || left != knownBefore
        return isNews && !left.isDamaged && answered.revision.isEarlier(than: left.revision)
    }

    /// The revision that it had when it was made of what we sent, unless its stamps do not tell.
    private func created(_ found: Cipher) -> Revision {
        guard let made = found.creation,
            let revised = found.revision, !made.isSame(as: revised)
        else { return former }
        return made
    }

    /// The revision of what was there before; older, at any rate, than whatever is there now.
    private var former: Revision {
        change.baseline ?? .beforeAll
    }

    /// Whether what we sent is what this was made of. Others may have brought back the same item, with
    /// all that was in it before.
    private func isOurs(_ found: Cipher, _ wanted: Cipher) -> Bool {
        guard let base = change.agreed, !mutated(.adoptsKin) else {
            return true
        }
        return !Set(wanted.seals).subtracting(base.seals).isDisjoint(with: found.seals)
    }

    /// Gives the record the id under which upstream has the cipher.
    ///
    /// - Parameters:
    ///   - ground: What came from here, if others have written it since.
    ///   - isSeen: Whether others had no hand in it; else the record stays on its ground.
    mutating func move(
        to base: BaseCipher,
        ground: Footing?,
        isSeen: Bool = true
    ) async throws(Halt) {
        let settlement = Settlement(
            upstream: .holds(base),
            receipts: end(.sent),
            keyFingerprint: Snapshot.fingerprint(of: kit.keys.user),
            made: change.made,
            isSeen: isSeen,
            ground: ground,
            brought: brought,
            judge: Judge(kit.keys)
        )
        let (lane, id) = (lane, change.id)
        // No record has that version, so this one is not forgotten but set on its new ground.
        let settled = try await write { ledger throws(StoreError) in
            try await ledger.insist {
                .change(.settle(id, in: lane, expecting: -1, settlement, $0))
            }
        }
        if case .occupied(let state) = settled { throw occupied(by: state) }
        guard case .rebased(let moved) = settled else { throw .overtaken }
        formerType = formerType ?? change.type
        taken = nil
        noteEdits(of: moved)
        change = moved
    }

    // MARK: What upstream holds

    /// Reads the cipher: from the list, if there is one that is believed, and a deletion from upstream
    /// itself.
    ///
    /// - Returns: Nil if it is certainly gone.
    private mutating func read() async throws(Halt) -> Cipher? {
        if !distrustsList, change.intent.trash != .trashed, change.intent != .hardDelete,
            let list = kit.listing.content, list.isBelieved,
            let listed = list.listed.ciphers[change.cipherID]
        {
            return try Self.cipher(listed.json)
        }
        do throws(Setback) {
            return try await kit.upstream.cipher(change.cipherID, kit.urgency)
        } catch {
            guard case .missing = error.reason else { throw .setback(error) }
        }
        if mutated(.trustsOneRefusal) { return nil }
        let list = try await kit.list()
        try list.confirmAbsence(isSaid: true)
        if list.listed.ciphers[change.cipherID] != nil { throw .doubt(.unconfirmed) }
        return nil
    }

    /// What is sent over an earlier state than upstream has shown hides that it went back in time, and with
    /// that, what else it has forgotten. So the list is asked first.
    private mutating func readTrusted() async throws(Halt) -> Cipher? {
        guard let copy = try await read() else { return nil }
        guard let shown = try known(lane), !shown.isDamaged, let revision = copy.revision
        else { return copy }
        if revision.isEarlier(than: shown.revision) { throw .behind }
        try await requireSeen(shown, by: copy)
        return copy
    }

    static func cipher(_ json: [UInt8]) throws(Halt) -> Cipher {
        do throws(NotACipher) {
            return try Cipher(json)
        } catch {
            throw .unfit(.unreadable)
        }
    }
}

extension Setback {
    /// Whether the decision rested on something that is not so any more.
    var isOutdated: Bool {
        switch reason {
        case .stale, .missing: true
        case .rejected(let words): words.says("organization mismatch")
        case .unauthorised, .signedOut, .throttled, .unavailable, .unreachable, .foreign,
            .malformed, .cancelled:
            false
        }
    }
}
