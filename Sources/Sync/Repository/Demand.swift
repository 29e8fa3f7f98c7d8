internal import Crypto
internal import System
internal import Vault

/// What an edit asks for, on the ground that it finds.
enum Demand: Sendable {
    /// There is nothing to be done, and nothing is wrong with that.
    case nothing
    case personal(Edit.Wish)
    /// What belongs to an organisation is never kept for later.
    case shared(Edit.Wish)
}

extension Repository {
    func demand(
        of draft: Draft,
        on layers: Layers,
        _ keys: KeyRing
    ) throws(Refusal) -> Demand {
        let isReadable = layers.pending.map { $0.change != nil } ?? !layers.isDamaged
        guard isReadable else { throw .unreadable }
        let shown = layers.cipher
        try draft.expectation.require(shown)
        // Something that is to be deleted for good can still be edited by those who have it open.
        let ground = shown ?? layers.foundation
        func required() throws(Refusal) -> Cipher {
            guard let ground else { throw .notFound }
            return ground
        }
        switch draft.wish {
        case .add(let body):
            return try adding(body, draft, keys)
        case .addCopy(let copy):
            let cipher = copy.withID(draft.lane.cipherID)
            return Demand(.add(Snapshot(cipher, keys: keys)), cipher)
        case .update(_, let body):
            return try updating(required(), by: body, draft, layers, keys)
        case .trash:
            guard let ground else { return .nothing }
            return Demand(.trash, ground)
        case .delete:
            guard let ground else { return .nothing }
            if let seen = draft.seen(over: layers.pending) { try refuseStale(seen, draft, layers) }
            return Demand(.hardDelete, ground)
        case .restore: return Demand(.restore, try required())
        case .archive: return Demand(.archive, try required())
        case .unarchive: return Demand(.unarchive, try required())
        case .move(_, let folder): return Demand(.move(folder), try required())
        case .favour(_, let isFavourite): return Demand(.favour(isFavourite), try required())
        }
    }

    private func adding(
        _ body: ItemBody,
        _ draft: Draft,
        _ keys: KeyRing
    ) throws(Refusal) -> Demand {
        let cipher = try mend { () throws(EditRefusal) in
            try Cipher(
                creating: body,
                id: draft.lane.cipherID,
                at: draft.moment,
                keys: keys,
                entropy: surroundings.entropy
            )
        }
        return Demand(.add(Snapshot(cipher, keys: keys)), cipher)
    }

    private func updating(
        _ cipher: Cipher,
        by body: ItemBody,
        _ draft: Draft,
        _ layers: Layers,
        _ keys: KeyRing
    ) throws(Refusal) -> Demand {
        try requireSeen(body, draft, layers)
        let edited = try mend { () throws(EditRefusal) in
            try Item(cipher, keys: keys).edited(
                by: body,
                over: layers.pending == nil ? nil : layers.foundation.map { Item($0, keys: keys) },
                at: draft.moment,
                keys: keys,
                entropy: surroundings.entropy
            )
        }
        let waiting = layers.waiting
        let hasContent = waiting?.intent.snapshot != nil
        if let waiting, edited.cipher.isUnchanged(from: cipher) {
            // Sent back as it is shown, it takes nothing from what waits.
            if waiting.standsOnItself || waiting.intent == .hardDelete { return .nothing }
            if !hasContent, let again = waiting.intent.again { return Demand(again, cipher) }
        }
        if !hasContent, let wish = try placing(edited.cipher, from: cipher) { return wish }
        let snapshot = Snapshot(edited.cipher, keys: keys)
        return Demand(.update(snapshot, changesPassword: edited.changesPassword), cipher)
    }

    /// Where its owner wants to find an item is their own affair, and says nothing of what is in it: sent along,
    /// the content would be written over what others have made of it. What is pending goes on as it is.
    ///
    /// - Returns: Nil if more is wanted.
    private func placing(
        _ wanted: Cipher,
        from cipher: Cipher
    ) throws(Refusal) -> Demand? {
        guard wanted.isElsewhere(than: cipher) else { return nil }
        let isMoved = wanted.folderID != cipher.folderID
        guard isMoved else { return Demand(.favour(wanted.isFavorite), cipher) }
        guard let folder = try folder(wanted.folderID) else { return nil }
        guard wanted.isFavorite != cipher.isFavorite else { return Demand(.move(folder), cipher) }
        return Demand(.place(folder, isFavourite: wanted.isFavorite), cipher)
    }

    /// - Returns: Nil if nobody has heard of it, so that upstream has to say what becomes of the item.
    private func folder(_ id: String?) throws(Refusal) -> Adjustments.Folder? {
        guard let id = id?.lowercased() else { return Adjustments.Folder.none }
        let known = try read { () throws(StoreError) in
            try neighbours.reader.slices(of: userID, .folder)
        }
        return known.first { $0.id.lowercased() == id }.map { .id($0.id) }
    }

    /// Who names no stamp has seen at most what was shown when the edit came in, and not what arrived while it waited
    /// for its turn.
    private func requireSeen(
        _ body: ItemBody,
        _ draft: Draft,
        _ layers: Layers
    ) throws(Refusal) {
        if let named = body.revision {
            if !layers.shows(named) { try refuseStale(named, draft, layers) }
        } else if let seen = draft.seen(over: layers.pending), !layers.stand(on: seen) {
            try refuseStale(seen, draft, layers)
        }
    }

    /// Whoever edits a copy that is older than upstream's, or deletes one while upstream's arrives, would
    /// take away what they have not seen. Upstream may keep another stamp than it answers with, so one that only
    /// lies near is of what is there now if that came from here, and of nothing else.
    private func refuseStale(
        _ copy: Revision,
        _ draft: Draft,
        _ layers: Layers
    ) throws(Refusal) {
        guard let base = layers.base else { return }
        // A client has seen three digits of the stamp.
        let seen = Moment(ticks: copy.moment.ticks + Moment.ticksPerMillisecond)
        let isOlder = seen < base.revision.moment
        // What was shown before it had an id was dated by this clock, which is not upstream's.
        let isMade = draft.lane != layers.lane
        let isForeign = isMade && copy.moment > base.revision.moment
        // What is cut off is not later, unless upstream keeps still less.
        let shown = Moment(ticks: base.revision.moment.ticks + Moment.ticksPerMillisecond)
        let isInDoubt = shown <= copy.moment && copy.isSame(as: base.revision)
        guard isOlder || isForeign || isInDoubt else { return }
        if isMade, try lastYield(of: draft.lane) != draft.yield { throw .outOfDate }
        let own = try read { () throws(StoreError) in try neighbours.reader.ownHistory(of: base) }
        guard mutated(.acceptsStaleCopy) || own.map({ $0 <= seen }) == true else {
            throw .outOfDate
        }
    }

    /// What was shown under that id until then is a copy by now, and what is there instead was not shown before.
    func lastYield(of made: Lane) throws(Refusal) -> Int? {
        try read { () throws(StoreError) in try neighbours.reader.lastYield(of: made) }
    }

    private func mend<Value>(_ body: () throws(EditRefusal) -> Value) throws(Refusal) -> Value {
        do throws(EditRefusal) { return try body() } catch { throw .unfit(error) }
    }
}

extension Repository.Expectation {
    /// - Parameter cipher: What its owner sees; nil if that is nothing.
    fileprivate func require(_ cipher: Cipher?) throws(Repository.Refusal) {
        guard self != .anything else { return }
        guard let cipher else { throw .notFound }
        if self == .isLive, cipher.isInTrash { throw .inTrash }
    }
}

extension Layers {
    /// Whether content that is pending is shown under that stamp. Whoever edits that goes on with what
    /// is pending, and what others have written under it meanwhile is found out when it is sent.
    fileprivate func shows(_ revision: Revision) -> Bool {
        guard let stamp = waiting?.intent.snapshot?.revision else { return false }
        return stamp.isWritten(like: revision)
    }

    /// Whether content that is pending was made on that, or on what came before it. What others have written since
    /// is found out when it is sent.
    fileprivate func stand(on revision: Revision) -> Bool {
        guard let waiting, waiting.intent.snapshot != nil else { return false }
        return waiting.baseline.map { !revision.isEarlier(than: $0) } ?? true
    }
}

extension Demand {
    fileprivate init(_ wish: Edit.Wish, _ cipher: Cipher) {
        self = cipher.organizationID == nil ? .personal(wish) : .shared(wish)
    }
}
