internal import Records
internal import SQLite
internal import System
internal import Vault

/// What upstream took from here and has forgotten, because it went back in time: it becomes pending
/// once more, in the transaction in which base follows upstream.
struct Offering {
    let userID: String
    let answer: [BaseCipher]
    /// Where the refresh began: what was written since, the answer cannot know of.
    let mark: RefreshMark
    let judge: Judge
    let now: Moment
    let chance: any Chance
    /// Nil until somebody asks for so many of them that all are read at once.
    private var taken: ReceiptTable.Taken?

    init(
        userID: String,
        fetched: [BaseCipher],
        mark: RefreshMark,
        judge: Judge,
        now: Moment,
        chance: any Chance
    ) {
        (self.userID, answer, self.mark, self.judge) = (userID, fetched, mark, judge)
        (self.now, self.chance) = (now, chance)
    }

    /// Without an answer, of what base has by now.
    init(of userID: String, now: Moment, chance: any Chance) {
        self.init(
            userID: userID,
            fetched: [],
            mark: RefreshMark(written: .max),
            judge: .locked,
            now: now,
            chance: chance
        )
    }

    /// To be called before base is replaced, because base has the content.
    ///
    /// - Returns: How many changes are pending because of that.
    func make(_ db: borrowing Connection) throws(DatabaseError) -> Int {
        if mutated(.forgetsAtOnce) { return 0 }
        let fetched = Dictionary(answer.map { ($0.lane.cipherID, $0) }) { _, last in last }
        var offering = self
        offering.taken = try ReceiptTable.taken(of: userID, db)
        var count = 0
        for row in try rows(db) {
            if try isYounger(row, db) { continue }
            if try offering.offer(row, over: fetched[row.lane.cipherID], db) { count += 1 }
        }
        return count
    }

    func isYounger(
        _ row: Row,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        let written =
            row.isGone
            ? try BaseTable.removal(of: row.lane, db) : try BaseTable.writing(of: row.lane, db)
        return written.map { $0 > mark.written && !mutated(.offersYounger) } ?? false
    }

    private func offer(
        _ row: Row,
        over now: BaseCipher?,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        guard !row.isGone else {
            // Whoever has written it since upstream went back has not seen that it was deleted.
            guard let now, row.wasDeleted(after: now.revision.moment) else { return false }
            return try put(
                .hardDelete,
                in: row.lane,
                on: now.footing,
                at: row.settled,
                over: now,
                db
            )
        }
        guard let lost = try BaseTable.find(row.lane, db), !lost.isDamaged else { return false }
        if let now, now.mayHaveFollowed(lost) {
            if !lost.hasContent(of: now) { try expose(lost, row, db) }
            return false
        }
        guard let intent = Intent(of: lost, over: now, keyFingerprint: row.keyFingerprint) else {
            return false
        }
        let ground = try ground(of: lost, over: now, db)
        let isAwaited = try PendingTable.summary(row.lane, db) != nil
        let edited = lost.revision.moment
        let isPending = try put(intent, in: row.lane, on: ground, at: edited, over: now, db)
        if isAwaited { try keep(lost, row, on: ground, db) }
        return isPending
    }

    /// An edit that waits was made on what came from here, and has its password.
    private func expose(
        _ lost: BaseCipher,
        _ row: Row,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        let waiting = try PendingTable.find(row.lane, db)?.reading.value?.change.withoutIdleContent
        guard waiting?.intent.snapshot != nil else {
            return try Aftercare.expose(row.lane, as: .forgotten, db)
        }
        try Aftercare.expose(row.lane, as: .undated, db)
        try keep(lost, row, on: nil, db)
    }

    /// With the change that waited there already, until that is brought up or discarded. A deletion goes on from what
    /// is there now, which was seen here.
    private func keep(
        _ lost: BaseCipher,
        _ row: Row,
        on ground: Footing?,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        guard !mutated(.forgetsBeneath), let stored = try PendingTable.find(row.lane, db),
            var record = stored.reading.value, record.change.forgotten == nil
        else { return }
        record.change.forgotten = Snapshot(json: lost.json, keyFingerprint: row.keyFingerprint)
        if let ground, record.change.intent == .hardDelete {
            record.change.rebase(onto: ground, cipherID: row.lane.cipherID)
        }
        record.change.version += 1
        _ = try PendingTable.replace(stored.summary, by: record, db)
    }

    /// What was forgotten beneath a change that goes without having been brought up is wished once more.
    func makeOfForgotten(
        beneath gone: PendingChange,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        guard let snapshot = gone.forgotten, let content = try? Cipher(snapshot.json),
            content.organizationID == nil, let lost = BaseCipher(content, of: userID)
        else { return }
        let now = try BaseTable.find(lost.lane, db)
        // Of what the disk has damaged nobody can tell what it was.
        if let now, now.isDamaged || now.mayHaveFollowed(lost) {
            if !now.isDamaged, lost.hasContent(of: now) { return }
            guard try PendingTable.summary(lost.lane, db) == nil else {
                return try Aftercare.hold(lost, as: .forgotten, db)
            }
            try begin(keeping: snapshot, of: lost, over: now, Row.find(lost.lane, db)?.settled, db)
        } else if let intent = Intent(
            of: lost,
            over: now,
            keyFingerprint: snapshot.keyFingerprint
        ) {
            let ground = try ground(of: lost, over: now, db)
            let edited = lost.revision.moment
            _ = try put(intent, in: lost.lane, on: ground, at: edited, over: now, db)
        }
        try Aftercare.release(lost.lane, db)
    }

    private func ground(
        of lost: BaseCipher,
        over now: BaseCipher?,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Footing? {
        guard let now else { return nil }
        return try isOurs(now, before: lost, db) ? now.footing : lost.footing(placedLike: now)
    }

    /// Whether upstream is back at what was written here, or at what this was written on. A stamp without
    /// a fraction of its second is no proof.
    private func isOurs(
        _ now: BaseCipher,
        before lost: BaseCipher,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        guard !now.revision.moment.isWholeSecond,
            let since = try OwnHistory.find(lost.lane, at: lost.revision, db)
        else { return false }
        if now.revision.moment.mayStampSame(as: since), !since.isWholeSecond { return true }
        return try OwnHistory.find(now.lane, at: now.revision, db) == since
    }

    func put(
        _ intent: Intent,
        in lane: Lane,
        on ground: Footing?,
        at edited: Moment,
        over present: BaseCipher?,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        if let stored = try PendingTable.find(lane, db) {
            let isThere = present != nil
            if try complete(stored, with: intent, on: ground, isThere: isThere, db) { return true }
            // What waits brings it, unless it is taken back.
            if isThere { try Aftercare.expose(lane, as: .undated, db) }
            return false
        }
        try begin(intent, lane, on: ground, at: edited, reopening: sent(after: present), db)
        return true
    }

    /// What upstream has now is dated by its clock.
    private func sent(after present: BaseCipher?) -> ClosedRange<Moment> {
        let since = present?.revision.moment ?? Moment(ticks: .min)
        return Moment(ticks: since.ticks + 1)...Moment(ticks: .max)
    }

    /// What has been written over is to be kept as a copy, as if it had never got there.
    ///
    /// - Parameter settled: When this host wrote down that it had got there.
    func begin(
        keeping lost: Snapshot,
        of base: BaseCipher,
        over now: BaseCipher,
        _ settled: Moment?,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try begin(
            .update(lost, trash: nil, .none),
            base.lane,
            on: base.footing,
            // However upstream has rounded its stamp, what is there came later.
            at: min(base.revision.moment, now.revision.moment),
            // Receipts are dated by this host's clock, as the settling is. What was wished beside it is done.
            reopening: settled.map { $0...$0 },
            db
        )
    }

    /// - Parameter sent: Receipts of what upstream took then are open again.
    func begin(
        _ intent: Intent,
        _ lane: Lane,
        on ground: Footing?,
        at edited: Moment,
        reopening sent: ClosedRange<Moment>?,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        var change = PendingChange(
            id: chance.identifier(at: now),
            userID: userID,
            cipherID: lane.cipherID,
            version: 1,
            intent: intent,
            baseline: ground?.revision,
            baseCopy: ground?.copy,
            created: now,
            updated: edited
        )
        change.expect(try LateCallTable.all(of: lane, at: now, db))
        try PendingTable.upsert(PendingRecord(change), db)
        // What is made anew because upstream denies it may be there all along, and is then there twice.
        if case .create(let snapshot, _) = intent, let content = try? Cipher(snapshot.json) {
            let stray = Stray(content.fingerprint, keeper: .whichever)
            try Aftercare.watch([stray], of: lane.userID, now, db)
        }
        if let sent {
            let receipts =
                if let taken { taken[lane.cipherID, default: []] } else {
                    try ReceiptTable.taken(by: lane, db)
                }
            try ReceiptTable.reopen(receipts, for: change, sent: sent, db)
        }
    }

    /// What the user wants meanwhile comes on top; if that has no content, or none but what was there, it gets
    /// what was lost. If that was set aside, or waits for its time, nothing of what was lost had to do with it.
    private func complete(
        _ stored: StoredChange,
        with intent: Intent,
        on ground: Footing?,
        isThere: Bool,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        guard var record = stored.reading.value else { return false }
        record.change = record.change.withoutIdleContent
        guard let completed = record.change.intent.completed(by: intent, isThere: isThere)
        else { return false }
        if let ground = ground ?? intent.snapshot?.footing, record.change.hidesNothing {
            record.change.rebase(onto: ground, cipherID: stored.summary.lane.cipherID)
        }
        record.change.intent = completed
        record.change.version += 1
        (record.change.state, record.change.failures) = (.ready, 0)
        record.change.lastFailure = nil
        return try PendingTable.replace(stored.summary, by: record, db)
    }
}

extension BaseCipher {
    /// Whether somebody may have written it after that.
    fileprivate func mayHaveFollowed(_ lost: BaseCipher) -> Bool {
        guard revision.isSame(as: lost.revision) else {
            return revision.moment > lost.revision.moment
        }
        return revision.moment != lost.revision.moment && !lost.hasContent(of: self)
    }

    /// Of content that is offered again the place is what it brings, too. On a ground that had the same place, it
    /// would follow upstream there.
    fileprivate func footing(placedLike now: BaseCipher) -> Footing {
        guard let content = try? Cipher(json), let copy = try? Cipher(now.json) else {
            return footing
        }
        return Footing(
            revision: revision,
            isTrashed: isTrashed,
            isArchived: now.isArchived,
            copy: content.placed(like: copy, since: content).bytes
        )
    }
}

extension Snapshot {
    /// What is to be made anew stands on itself.
    fileprivate var footing: Footing? {
        revision.map { Footing(revision: $0, copy: json) }
    }
}

extension Intent {
    /// What makes of the state upstream fell back to what it was before; nil if nothing is missing.
    fileprivate init?(of lost: BaseCipher, over now: BaseCipher?, keyFingerprint: [UInt8]) {
        // What was an organisation's is for that to bring back.
        guard let content = try? Cipher(lost.json), content.organizationID == nil else {
            return nil
        }
        let snapshot = Snapshot(json: lost.json, keyFingerprint: keyFingerprint)
        guard let now else {
            self = lost.isTrashed ? .softDelete(snapshot, .none) : .create(snapshot, .none)
            return
        }
        guard let copy = try? Cipher(now.json) else { return nil }
        let isSame =
            content.fingerprint == copy.fingerprint && lost.isArchived == now.isArchived
        let isUnarchived = now.isArchived && !lost.isArchived
        let adjustments = Adjustments(isArchived: isUnarchived ? false : nil)
        switch (lost.isTrashed, now.isTrashed) {
        case (true, false): self = .softDelete(isSame ? nil : snapshot, adjustments)
        case (true, true) where !isSame: self = .softDelete(snapshot, adjustments)
        case (false, let isTrashed) where !isSame:
            self = .update(snapshot, trash: isTrashed ? .restored : nil, adjustments)
        case (_, let isTrashed):
            self = .other(restores: isTrashed && !lost.isTrashed, adjustments)
            if self == .nothing { return nil }
        }
    }

    fileprivate func completed(by lost: Intent, isThere: Bool) -> Intent? {
        switch self {
        case .create, .hardDelete, .update, .softDelete(.some, _): return nil
        case .softDelete(nil, _):
            return lost.snapshot.map { .softDelete($0, wished(over: lost)) }
        // What was in the trash goes there again, unless it was restored since.
        case .other(restores: false, _) where lost.trash == .trashed:
            return .softDelete(lost.snapshot, wished(over: lost))
        case .other(let restores, _):
            guard let snapshot = lost.snapshot else {
                return lost.trash == .restored ? .other(restores: true, wished(over: lost)) : nil
            }
            // Of what is not there any more, the content makes it anew.
            return .update(
                snapshot,
                trash: restores && isThere ? .restored : nil,
                wished(over: lost)
            )
        }
    }

    /// What was lost is out of the archive, unless somebody has put it there since.
    private func wished(over lost: Intent) -> Adjustments {
        var wished = adjustments
        wished.isArchived = wished.isArchived ?? lost.adjustments.isArchived
        return wished
    }
}

extension ReceiptTable {
    fileprivate typealias TakenReceipt = (id: String, sent: Moment)
    /// Receipts of what upstream has taken, by its item.
    fileprivate typealias Taken = [String: [TakenReceipt]]

    fileprivate static func taken(
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Taken {
        var taken: Taken = [:]
        try db.forEach(
            """
            SELECT id, ifnull(result_cipher_id, cipher_id), sent_ticks FROM receipt
            WHERE user_id = ? AND status IN ('sent', 'observed') AND typeof(sent_ticks) = 'integer'
            """,
            .text(userID)
        ) { (row) throws(DatabaseError) in
            taken[try row.text(1), default: []].append((try row.text(0), try row.moment(2)))
        }
        return taken
    }

    fileprivate static func taken(
        by lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> [TakenReceipt] {
        try db.all(
            """
            SELECT id, sent_ticks FROM receipt
            WHERE user_id = ? AND ifnull(result_cipher_id, cipher_id) = ?
                AND status IN ('sent', 'observed') AND typeof(sent_ticks) = 'integer'
            """,
            .text(lane.userID),
            .text(lane.cipherID)
        ) { (row) throws(DatabaseError) in (try row.text(0), try row.moment(1)) }
    }

    /// What these stand for is to be sent once more.
    fileprivate static func reopen(
        _ taken: [TakenReceipt],
        for change: PendingChange,
        sent: ClosedRange<Moment>,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        for receipt in taken where sent.contains(receipt.sent) {
            try db.execute(
                """
                UPDATE receipt SET status = 'queued', pending_id = ?, result_cipher_id = NULL,
                    sent_ticks = NULL, observed_ticks = NULL, ended_ticks = NULL
                WHERE id = ? AND status IN ('sent', 'observed')
                """,
                .text(change.id),
                .text(receipt.id)
            )
        }
    }
}
