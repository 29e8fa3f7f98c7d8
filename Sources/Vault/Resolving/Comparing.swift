public import Crypto
internal import System

extension Situation {
    /// Compares a change with what upstream holds.
    ///
    /// - Parameters:
    ///   - copy: Upstream's; nil if it certainly has none.
    ///   - reading: The clocks now.
    public init(
        of change: PendingChange,
        upstream copy: Cipher?,
        keys: KeyRing,
        by reading: ClockReading
    ) {
        let wish: Wish =
            change.isUnborn ? .create : change.bringsNothing ? .touch : Wish(change.intent)
        guard let copy else {
            self.init(wish, .missing)
            return
        }
        let comparison = Comparison(change, copy, keys)
        let revised = copy.revision?.moment
        let later = revised.map { change.later(than: $0, by: reading) } ?? .upstream
        self.init(
            wish,
            comparison.standing,
            later: later,
            outgrowsHistory: comparison.outgrowsHistory
        )
    }

    /// After so many changes the oldest password is about to leave the history.
    static let passwordsKept: Int64 = 4
}

/// One change beside one copy.
private struct Comparison {
    let change: PendingChange
    let copy: Cipher
    let wanted: Cipher?
    let keys: KeyRing

    init(_ change: PendingChange, _ copy: Cipher, _ keys: KeyRing) {
        self.change = change
        self.copy = copy
        self.keys = keys
        wanted = change.intent.snapshot.flatMap { try? Cipher($0.json) }
    }

    var standing: Situation.Standing {
        if copy.organizationID != nil { return isGivenAway ? .landed : .shared }
        if mutated(.skipsCompare) { return .unmoved }
        if hasUnseenFiles { return .moved }
        let isUnmoved = isUnmoved
        if let wanted, !isUnmoved || change.mayHaveSent(wanted) {
            if copy.fingerprint == wanted.fingerprint { return .landed }
            if isPlacedAlike(wanted), isSame(wanted) { return .landed }
        }
        if isUnmoved { return .unmoved }
        if isOurs { return .ours }
        if mutated(.datesOnly) { return .moved }
        if let wanted, isSame(wanted) { return .touched }
        if let base = change.agreed,
            isSame(base) || copy.isSealedAlike(base)
        {
            return .touched
        }
        return change.baseline == nil ? .unproven : .moved
    }

    /// Whether all that is wanted went into the organisation with it.
    private var isGivenAway: Bool {
        guard case .update(_, nil, .none) = change.intent, let wanted, isPlacedAlike(wanted),
            copy.isArchived == wanted.isArchived
        else { return false }
        return isSame(wanted)
    }

    /// The changes of the password do not count if upstream's content came from here: its history has them all.
    var outgrowsHistory: Bool {
        losesPassword || change.passwordChanges >= Situation.passwordsKept && !isOurs
    }

    /// Whether upstream has this content from here.
    private var isOurs: Bool { change.mayHaveSent(copy) || change.hasSealed(copy) }

    private var losesPassword: Bool {
        guard let wanted, wanted.password != copy.password else { return false }
        return Item(wanted, keys: keys).losesPassword(of: Item(copy, keys: keys))
    }

    /// A stamp alone does not tell: some servers stamp what is written within a second alike.
    private var isUnmoved: Bool {
        guard let revision = copy.revision, let baseline = change.baseline,
            baseline.isSame(as: revision)
        else { return false }
        if change.baseCopy == copy.bytes { return true }
        guard let base = change.agreed else {
            return baseline.isWritten(like: revision)
        }
        return base.fingerprint == copy.fingerprint
    }

    /// Whether what is to be deleted for ever has files that its owner did not know of. Some servers do not
    /// even stamp an item anew when it gets one.
    private var hasUnseenFiles: Bool {
        guard case .hardDelete = change.intent,
            let base = change.agreed
        else { return false }
        return !Set(copy.attachmentIDs).isSubset(of: base.attachmentIDs)
    }

    private func isPlacedAlike(_ wanted: Cipher) -> Bool {
        copy.folderID == wanted.folderID && copy.isFavorite == wanted.isFavorite
    }

    private func isSame(_ other: Cipher) -> Bool {
        copy.saysTheSame(as: other, in: keys)
    }
}

extension PendingChange {
    /// Whether upstream may have got this content from us.
    fileprivate func mayHaveSent(_ content: Cipher) -> Bool {
        let sent = attempts.filter { [.create, .update].contains($0.kind) && $0.mayHaveLanded }
        guard !sent.isEmpty else { return false }
        let (fingerprint, core) = (content.fingerprint, content.core)
        return sent.contains {
            $0.fingerprint == fingerprint || !$0.core.isEmpty && $0.core == core
        }
    }

    /// Whether it was ever sent, letter for letter. Nobody else can have sealed it so: upstream has taken it, though
    /// it may have refused it as well, having been asked twice.
    public func hasSealed(_ content: Cipher) -> Bool {
        let fingerprint = content.fingerprint
        return attempts.contains { $0.kind.bringsContent && $0.fingerprint == fingerprint }
    }
}
