internal import Records
internal import SQLite
public import Vault
internal import System

/// What a run found upstream and did, to be written down in one transaction.
public struct Settlement: Sendable {
    public enum Upstream: Sendable {
        /// As it answered last. The id may be one that the cipher got only now.
        case holds(BaseCipher)
        case lacks
        /// Nothing was learnt.
        case untouched
    }

    public let upstream: Upstream
    public let receipts: ReceiptEnd
    /// Whether the last edit's caller hears that it is saved. Those before it, which have receipts, have
    /// given way to it.
    public let supersedesEarlier: Bool
    /// A row of the history; an edit that was saved inside its caller's request has none.
    public let resolution: ResolutionNote?
    /// The key under which it was sent.
    public let keyFingerprint: [UInt8]
    public let strays: [Stray]
    /// How its item was sent to be made; nil where it was not.
    public let made: [UInt8]?
    /// Whether what upstream holds came from here, or is what the change was made on. If others had a
    /// hand in it, whoever edited meanwhile has not seen that, and stays on the ground that they saw.
    public let isSeen: Bool
    /// What came from here, if others have written it since: whoever edited meanwhile has seen no more
    /// than that.
    public let ground: Footing?
    /// What became of the last attempt; of interest if the user went on editing.
    public let concluded: Attempt?
    /// What upstream never answered and may carry out yet, though it was sent again since.
    public let late: [Attempt]
    /// The content that came from here; nil where none did.
    public let brought: Brought?
    /// Whether others had written what it was written over.
    public let overwritesOthers: Bool
    /// What goes on as a change of its own, if the record is over.
    public let rest: PendingChange?
    public let judge: Judge

    public init(
        upstream: Upstream,
        receipts: ReceiptEnd,
        supersedesEarlier: Bool = false,
        resolution: ResolutionNote? = nil,
        keyFingerprint: [UInt8] = [],
        strays: [Stray] = [],
        made: [UInt8]? = nil,
        isSeen: Bool = true,
        ground: Footing? = nil,
        concluded: Attempt? = nil,
        late: [Attempt] = [],
        brought: Brought? = nil,
        overwritesOthers: Bool = false,
        rest: PendingChange? = nil,
        judge: Judge = .locked
    ) {
        self.upstream = upstream
        self.receipts = receipts
        self.supersedesEarlier = supersedesEarlier
        self.resolution = resolution
        self.keyFingerprint = keyFingerprint
        (self.strays, self.made) = (strays, made)
        self.isSeen = isSeen
        self.ground = ground
        self.concluded = concluded
        self.late = late
        self.brought = brought
        self.overwritesOthers = overwritesOthers
        self.rest = rest
        self.judge = judge
    }
}

/// Content that came from here, as upstream has taken it.
public struct Brought: Hashable, Sendable {
    public let base: BaseCipher
    /// What upstream held right before; nil where that is not known.
    public let over: Revision?
    /// Whether its password was not there before, so that it would be nowhere if this were written over.
    public let isPasswordNew: Bool
    /// Whether it is not where it was shown here while it waited: others have put it elsewhere.
    public let isMoved: Bool

    public init(_ base: BaseCipher, over: Revision?, isPasswordNew: Bool, isMoved: Bool) {
        self.base = base
        self.over = over
        self.isPasswordNew = isPasswordNew
        self.isMoved = isMoved
    }

    /// Whether it is there still, in another place or state perhaps.
    func lasts(in now: BaseCipher) -> Bool { base.hasContent(of: now) }
}

/// What became of a settlement.
public enum Settled: Sendable {
    /// The record is gone.
    case settled
    /// The record is gone, and the rest of it is pending in its place.
    case left(PendingChange)
    /// The user went on editing meanwhile. The record stays, with what upstream holds now for its
    /// baseline, and is still to be sent.
    case rebased(PendingChange)
    /// The record was gone already; what upstream holds has been noted.
    case missing
    /// The record that is there now cannot be read, and stays as it is.
    case unreadable
    /// The record is still to be sent, and something else is pending under the id that it would have
    /// from now on. Nothing was written.
    case occupied(by: PendingChange.State)
}

/// What became of a compare-and-swap.
public enum Swap: Sendable {
    case done(PendingChange)
    case moved(to: Int64)
    case missing
    case unreadable
}

extension Store {
    /// Forgets a change because nothing is left to do about it. Base takes upstream's answer, an id
    /// that we made learns what became of it, receipts end: all of it or nothing.
    public func settle(
        _ id: String,
        in lane: Lane,
        expecting version: Int64,
        _ settlement: Settlement
    ) async throws(StoreError) -> Settled {
        let offering = settlement.answered.map { self.offering(of: $0, by: settlement.judge) }
        let unasked = Offering(of: lane.userID, now: now, chance: chance)
        return try await write { (db) throws(DatabaseError) in
            guard let summary = try PendingTable.summary(id: id, db) else {
                if try AccountTable.contains(lane.userID, db) {
                    try settlement.followHistory(db)
                    try settlement.writeBase(lane, db)
                }
                return .missing
            }
            // Erasing an account takes its records along, so this one's is there.
            if summary.version != version,
                let occupant = try settlement.occupant(besides: summary, db)
            {
                return .occupied(by: occupant.state)
            }
            let before = try BaseTable.footing(lane, db)?.revision
            let exposed = try Offering.Exposed.find(lane, db)
            let undone = try settlement.undone(db)
            try settlement.extendHistory(lane, summary, before: before, db)
            try settlement.writeBase(lane, db)
            try Aftercare.begin(
                settlement,
                lane,
                summary,
                before: before,
                exposed: exposed,
                db
            )
            let isOver = summary.version == version || mutated(.forgetsByName)
            let lost = try settlement.mayBeLost(exposed, isOver: isOver, id, db)
            if isOver, let exposed, try settlement.keepsHeld(exposed, of: id, db) {
                try Aftercare.release(lane, db)
            }
            let given = isOver ? try settlement.givenWay(id, db) : nil
            let settled = isOver ? try settlement.end(summary, in: lane, db) : nil
            if let given { try unasked.makeOfForgotten(beneath: given, db) }
            if let offering, let now = settlement.answered {
                for lost in lost { try offering.keepLost(lost, to: now, db) }
                if let undone { try offering.redoOrHold(undone, db) }
            }
            if let settled { return settled }
            return try settlement.rebase(id, db)
        }
    }

    /// For what an answer about one cipher may lose.
    func offering(of answered: BaseCipher, by judge: Judge) -> Offering {
        Offering(
            userID: answered.lane.userID,
            fetched: [answered],
            mark: RefreshMark(written: .max),
            judge: judge,
            now: now,
            chance: chance
        )
    }

    /// Changes a record by compare-and-swap: an attempt, a wait, a quarantine, a backup note. The
    /// closure cannot wait, so neither does the transaction.
    public func update(
        _ id: String,
        expecting version: Int64,
        _ body: @Sendable (inout PendingChange) -> Void
    ) async throws(StoreError) -> Swap {
        try await write { (db) throws(DatabaseError) in
            try Self.swap(id, expecting: version, db, body)
        }
    }

    /// A change that was in flight waits after all: its caller gets a receipt.
    ///
    /// - Parameters:
    ///   - needsRoom: It is refused where no place is left for it, and stays as it is.
    ///   - isEditedOver: A later edit that has a receipt stands there in its place.
    public func queue(
        _ id: String,
        expecting version: Int64,
        at moment: Moment,
        needsRoom: Bool = false,
        isEditedOver: Bool = false,
        _ body: @Sendable (inout PendingChange) -> Void
    ) async throws(StoreError) -> (swap: Swap, receiptID: String?) {
        let (receiptID, limits) = (chance.identifier(at: moment), limits)
        let outcome = try await write { (db) throws(DatabaseError) -> Queueing in
            if needsRoom, let limit = try Self.limitReached(limits, besides: id, db) {
                return .full(limit: limit)
            }
            let swap = try Self.swap(id, expecting: version, db, body)
            guard case .done(let change) = swap else { return .tried(swap, receiptID: nil) }
            if isEditedOver, try ReceiptTable.isAwaited(change.id, db) {
                try ReceiptTable.issueSuperseded(receiptID, for: change, at: moment, db)
            } else {
                try ReceiptTable.issue(receiptID, for: change, isFolded: true, at: moment, db)
            }
            return .tried(swap, receiptID: receiptID)
        }
        switch outcome {
        case .tried(let swap, let receiptID): return (swap, receiptID)
        case .full(let limit): throw .queueFull(limit: limit)
        }
    }

    private enum Queueing: Sendable {
        case tried(Swap, receiptID: String?)
        case full(limit: Int)
    }

    /// The limit that leaves no room for this record among the others.
    private static func limitReached(
        _ limits: Limits,
        besides id: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Int? {
        guard let own = try PendingTable.summary(id: id, db) else { return nil }
        return try limits.reached(by: own.lane.userID, besides: 1, db)
    }

    private static func swap(
        _ id: String,
        expecting version: Int64,
        _ db: borrowing Connection,
        _ body: (inout PendingChange) -> Void
    ) throws(DatabaseError) -> Swap {
        guard let stored = try PendingTable.find(id: id, db) else { return .missing }
        guard stored.summary.version == version else { return .moved(to: stored.summary.version) }
        guard var record = stored.reading.value else { return .unreadable }
        body(&record.change)
        record.change.version = version + 1
        _ = try PendingTable.replace(stored.summary, by: record, db)
        return .done(record.change)
    }

    /// Sets a record aside that cannot be read, without touching its bytes.
    public func quarantineUnreadable(
        _ id: String,
        expecting version: Int64
    ) async throws(StoreError) -> Bool {
        try await write { (db) throws(DatabaseError) in
            try db.execute(
                """
                UPDATE pending_change
                SET state = 'quarantined', due_ticks = NULL, version = version + 1
                WHERE id = ? AND version = ?
                """,
                .text(id),
                .int(Int(version))
            ) == 1
        }
    }
}

extension Settlement {
    fileprivate var answered: BaseCipher? {
        if case .holds(let cipher) = upstream { cipher } else { nil }
    }

    /// What came from here, if others have written over it before that could be written down.
    fileprivate var overwritten: Offering.Exposed? {
        guard let brought, let answered, brought.isPasswordNew, !brought.lasts(in: answered)
        else { return nil }
        return Offering.Exposed(brought, settled: receipts.at, keyFingerprint: keyFingerprint)
    }

    /// With new content, whether anything else would be lost was decided before it was sent, but not of what had been
    /// written over by then. A copy of what was edited here has what that was made on.
    fileprivate func mayBeLost(
        _ exposed: Offering.Exposed?,
        isOver: Bool,
        _ id: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> [Offering.Exposed] {
        var lost = isOver ? [overwritten].compactMap(\.self) : []
        guard let exposed, brought == nil || exposed.isHeld else { return lost }
        if isOver, try isInCopy(exposed, of: id, db) { return lost }
        lost.append(exposed)
        return lost
    }

    /// What upstream has undone by the time that this was carried out, unless content was sent over that.
    fileprivate func undone(
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Offering.Undone? {
        guard let answered, brought == nil else { return nil }
        var undone = try Offering.undone(by: answered, db)
        undone?.isTrashedHere = true
        return undone
    }

    /// What gives way without a copy, with all that was forgotten beneath it.
    fileprivate func givenWay(
        _ id: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> PendingChange? {
        guard receipts.status == .restored else { return nil }
        return try PendingTable.find(id: id, db)?.reading.value?.change
    }

    /// Whether what is held until this has been decided about is in the copy that was made of it. What upstream had
    /// forgotten is more than a password.
    fileprivate func keepsHeld(
        _ exposed: Offering.Exposed,
        of id: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        guard case .untouched = upstream, exposed.isHeld, exposed.row.exposure != .forgotten
        else { return false }
        return try isInCopy(exposed, of: id, db)
    }

    private func isInCopy(
        _ exposed: Offering.Exposed,
        of id: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        guard receipts.status == .backedUp else { return false }
        let copied = try PendingTable.find(id: id, db)?.reading.value?.change.intent.snapshot
        return exposed.isKept(in: copied, by: judge)
    }

    /// Under which id the cipher is known from now on.
    fileprivate func lane(after lane: Lane) -> Lane { answered?.lane ?? lane }

    /// How the receipts that there are end.
    fileprivate var receiptsOfEarlier: ReceiptEnd {
        supersedesEarlier ? ReceiptEnd(.superseded, at: receipts.at) : receipts
    }

    fileprivate func occupant(
        besides stored: PendingSummary,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> PendingSummary? {
        guard case .holds(let cipher) = upstream else { return nil }
        let summary = try PendingTable.summary(cipher.lane, db)
        return summary?.id == stored.id ? nil : summary
    }

    /// Whether upstream holds what came from here.
    var isOwn: Bool {
        receipts.status == .sent && ((isSeen && ground == nil) || mutated(.claimsAdopted))
    }

    fileprivate func extendHistory(
        _ lane: Lane,
        _ pushed: PendingSummary,
        before: Revision?,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        guard let cipher = answered else { return }
        guard isOwn, !overwritesOthers else { return try followHistory(db) }
        // Whoever saves what was shown until now has not seen where others have put it.
        if brought?.isMoved == true { return try OwnHistory.begin(with: cipher, from: lane, db) }
        try OwnHistory.extend(
            by: cipher,
            from: lane,
            pushed,
            over: brought?.over,
            before: before,
            db
        )
    }

    /// What others had a hand in may have the stamp that was known, and would pass for what came from here.
    fileprivate func followHistory(_ db: borrowing Connection) throws(DatabaseError) {
        guard let answered, let known = try BaseTable.find(answered.lane, db), known != answered
        else { return }
        try OwnHistory.follow(known, to: answered, db)
    }

    fileprivate func writeBase(
        _ lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        switch upstream {
        case .holds(let cipher):
            let written = try BaseTable.advanceClock(of: lane.userID, db)
            try BaseTable.put(cipher, written: written, db)
            if cipher.lane.cipherID != lane.cipherID {
                try BaseTable.remove(lane, written: written, db)
                if !mutated(.dropsAlias) {
                    try AliasTable.point(lane, to: cipher.lane.cipherID, db)
                }
            }
        case .lacks:
            let written = try BaseTable.advanceClock(of: lane.userID, db)
            try BaseTable.remove(lane, written: written, db)
        case .untouched: break
        }
    }

    /// Forgets the record. What is left of it fears what was sent for the whole.
    fileprivate func end(
        _ summary: PendingSummary,
        in lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Settled {
        _ = try PendingTable.remove(id: summary.id, expecting: summary.version, db)
        try ReceiptTable.end(summary.id, receiptsOfEarlier, db)
        try resolution?.write(summary, db)
        let lane = self.lane(after: lane)
        try LateCallTable.note(late, of: lane, db)
        guard var rest else { return .settled }
        rest.expect(try LateCallTable.all(of: lane, at: receipts.at, db))
        try PendingTable.upsert(PendingRecord(rest), db)
        return .left(rest)
    }

    fileprivate func rebase(
        _ id: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Settled {
        guard let stored = try PendingTable.find(id: id, db), var record = stored.reading.value
        else { return .unreadable }
        var isMadeAnew = false
        if isSeen, case .holds(let cipher) = upstream {
            // What is there in its place stands for all that it was.
            isMadeAnew = cipher.lane.cipherID != record.change.cipherID
            let ground = ground ?? cipher.footing
            record.change.follow(ground)
            record.change.rebase(onto: ground, cipherID: cipher.lane.cipherID)
        }
        if let concluded { record.change.conclude(concluded) }
        if brought != nil || isMadeAnew { record.change.forgotten = nil }
        if mutated(.rebaseForgets) { record.change.intent = .nothing }
        record.change.version += 1
        _ = try PendingTable.replace(stored.summary, by: record, db)
        return .rebased(record.change)
    }
}
