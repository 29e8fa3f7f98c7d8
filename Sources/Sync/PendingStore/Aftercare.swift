internal import SQLite
internal import Vault

/// What is remembered of changes that are settled, for a week: upstream may forget what it has
/// taken, and may carry out late what it never answered.
enum Aftercare {
    /// Whether somebody may write over what came from here who has not seen it: servers take what is based
    /// on a revision of the same second for up to date, whenever it comes.
    enum Exposure: Int {
        case none = 0
        /// As far as stamps tell, one within two seconds of ours is of such a one.
        case dated = 1
        /// It was put into the trash or the archive since, so what is there has the stamp of that.
        case undated = 2
        /// Upstream had gone back before it was written over, so nobody need have seen anything of it. Earlier builds
        /// had a third kind.
        case forgotten = 4

        /// Whether that is so of something still once others have given its item another stamp: by another place or
        /// state, or by an edit that keeps its password and comes so soon that those who have seen neither may write
        /// over both.
        func stays(of known: BaseCipher, in now: BaseCipher, by judge: Judge) -> Bool {
            if self == .none { return false }
            if known.hasContent(of: now) { return true }
            let isSoon = now.revision.moment - known.revision.moment < .seconds(2)
            guard isSoon || self == .undated, let former = try? Cipher(known.json),
                let there = try? Cipher(now.json)
            else { return false }
            return judge.isLost(former, in: there) == false
        }
    }

    /// To be called once base has taken upstream's answer; the account has to be there.
    ///
    /// - Parameters:
    ///   - before: The revision that base had until then.
    ///   - exposed: What was exposed until then.
    static func begin(
        _ settlement: Settlement,
        _ lane: Lane,
        _ settled: PendingSummary,
        before: Revision?,
        exposed: Offering.Exposed?,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try note(settlement.strays, of: lane.userID, settlement.receipts.at, db)
        let moment = try youngEnough(settlement.receipts.at, db)
        let (cipherID, isGone, known): (String, Bool, Moment?)
        switch settlement.upstream {
        case .holds(let base):
            (cipherID, isGone, known) = (base.lane.cipherID, false, base.revision.moment)
        case .lacks where settled.type == .hardDelete && settlement.receipts.status == .sent:
            let stamps = [before?.moment, settled.baseline?.moment]
            (cipherID, isGone, known) = (lane.cipherID, true, stamps.compactMap(\.self).max())
        case .lacks, .untouched: return
        }
        let exposure = exposure(settlement, known, exposed)
        try db.execute(
            """
            INSERT OR REPLACE INTO brought_up (user_id, cipher_id, is_gone, settled_ticks,
                key_fingerprint, revision_ticks, is_exposed, made)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, coalesce(?8, (
                SELECT made FROM brought_up WHERE user_id = ?1 AND cipher_id = ?2)))
            """,
            .text(lane.userID),
            .text(cipherID),
            .int(isGone ? 1 : 0),
            .moment(moment),
            .blob(settlement.keyFingerprint),
            .moment(known),
            .int(exposure.rawValue),
            Value(settlement.made)
        )
    }

    /// Of content that brings a password, or still has one that was exposed before; whose doing it is that it lies in
    /// the trash does not matter. Stamps have whole seconds on some servers, and who wrote what was there before has
    /// one of it that may be nearly a second later.
    private static func exposure(
        _ settlement: Settlement,
        _ known: Moment?,
        _ exposed: Offering.Exposed?
    ) -> Exposure {
        guard case .holds(let base) = settlement.upstream else { return .none }
        guard let brought = settlement.brought else {
            return exposed?.staysExposed(in: base, by: settlement.judge) == true ? .undated : .none
        }
        guard brought.isPasswordNew || exposed != nil, brought.lasts(in: base), let known
        else { return .none }
        // Where upstream has taken it without an answer, anything may have been there right before.
        if let over = brought.over,
            known - over.moment >= .seconds(over.moment.isWholeSecond ? 3 : 2)
        {
            return .none
        }
        return base.isTrashed == brought.base.isTrashed ? .dated : .undated
    }

    /// What came from here is known by the stamp that it has: a store may keep another than it has answered with.
    /// What is exposed stays so under the stamp of another place or state, and is dated by it: upstream does not
    /// say which one something has that was put into the trash from here, and others may do that as well.
    static func follow(
        _ known: BaseCipher,
        to listed: BaseCipher,
        by judge: Judge,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        guard known.revision.moment != listed.revision.moment,
            !listed.revision.isEarlier(than: known.revision),
            let exposure = try exposure(of: known, db),
            exposure.stays(of: known, in: listed, by: judge) || known.hasContent(of: listed)
        else { return }
        try db.execute(
            """
            UPDATE brought_up SET revision_ticks = ?, is_exposed = ?
            WHERE user_id = ? AND cipher_id = ?
            """,
            .moment(listed.revision.moment),
            .int((exposure == .none ? Exposure.none : .dated).rawValue),
            .text(known.lane.userID),
            .text(known.lane.cipherID)
        )
    }

    /// Nil of what did not come from here.
    private static func exposure(
        of known: BaseCipher,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Exposure? {
        let exposure = try db.first(
            """
            SELECT is_exposed FROM brought_up
            WHERE user_id = ? AND cipher_id = ? AND is_gone = 0 AND revision_ticks = ?
            """,
            .text(known.lane.userID),
            .text(known.lane.cipherID),
            .moment(known.revision.moment)
        ) { (row) throws(DatabaseError) in Exposure(rawValue: try row.int(0)) ?? .dated }
        // What has been written over it may have the same stamp.
        let held = exposure == nil ? nil : try leftOut(known.lane, db)
        return held?.hasContent(of: known) == false ? nil : exposure
    }

    static func watch(
        _ strays: [Stray],
        of userID: String,
        _ moment: Moment,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        guard try AccountTable.contains(userID, db) else { return }
        try note(strays, of: userID, moment, db)
    }

    private static func note(
        _ strays: [Stray],
        of userID: String,
        _ moment: Moment,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        guard !strays.isEmpty else { return }
        let moment = try youngEnough(moment, db)
        for stray in strays {
            try db.execute(
                """
                INSERT INTO stray VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET
                    settled_ticks = excluded.settled_ticks,
                    keeper_id = CASE WHEN excluded.keeper_id = '' THEN keeper_id
                        ELSE excluded.keeper_id END
                """,
                .text(userID),
                .blob(stray.fingerprint),
                .text(stray.keeper.word),
                .moment(moment)
            )
        }
    }

    /// To be called before base forgets what a list has left out. The list may lie; and what a slow upstream
    /// has undone by then, or somebody has written over, is known nowhere else. What an old list has put back
    /// meanwhile takes no place.
    static func keepLeftOut(_ lane: Lane, _ db: borrowing Connection) throws(DatabaseError) {
        try db.execute(
            """
            UPDATE brought_up SET left_out = base.json, left_out_digest = base.digest
            FROM base_cipher AS base
            WHERE brought_up.user_id = ?1 AND brought_up.cipher_id = ?2 AND is_gone = 0
                AND left_out IS NULL AND base.user_id = ?1 AND base.cipher_id = ?2
                AND (is_exposed > 0
                    OR EXISTS (SELECT 1 FROM stray WHERE user_id = ?1 AND keeper_id = ?2))
            """,
            .text(lane.userID),
            .text(lane.cipherID)
        )
    }

    static func expose(
        _ lane: Lane,
        as exposure: Exposure,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            UPDATE brought_up SET is_exposed = max(is_exposed, ?)
            WHERE user_id = ? AND cipher_id = ? AND is_gone = 0
            """,
            .int(exposure.rawValue),
            .text(lane.userID),
            .text(lane.cipherID)
        )
    }

    /// What has been written over is still to be kept, once nothing else is pending there.
    static func hold(
        _ lost: BaseCipher,
        as exposure: Exposure,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            UPDATE brought_up SET left_out = ?, left_out_digest = ?, revision_ticks = ?,
                is_exposed = max(is_exposed, ?)
            WHERE user_id = ? AND cipher_id = ? AND is_gone = 0
            """,
            .blob(lost.json),
            .blob(lost.digest),
            .moment(lost.revision.moment),
            .int(exposure.rawValue),
            .text(lost.lane.userID),
            .text(lost.lane.cipherID)
        )
    }

    /// What has been written over is pending, to be kept as a copy.
    static func release(_ lane: Lane, _ db: borrowing Connection) throws(DatabaseError) {
        try db.execute(
            """
            UPDATE brought_up SET left_out = NULL, left_out_digest = NULL,
                is_exposed = min(is_exposed, ?)
            WHERE user_id = ? AND cipher_id = ?
            """,
            .int(Exposure.undated.rawValue),
            .text(lane.userID),
            .text(lane.cipherID)
        )
    }

    /// What base had said before a list left it out, or somebody wrote over it; nil if the disk gives back something else.
    static func leftOut(
        _ lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> BaseCipher? {
        let kept = try db.first(
            """
            SELECT left_out, left_out_digest FROM brought_up
            WHERE user_id = ? AND cipher_id = ? AND left_out IS NOT NULL
            """,
            .text(lane.userID),
            .text(lane.cipherID)
        ) { (row) throws(DatabaseError) in
            (json: try row.bytes(0), digest: try row.bytes(1))
        }
        guard let kept, let copy = try? Cipher(kept.json),
            let base = BaseCipher(copy, of: lane.userID), base.digest == kept.digest
        else { return nil }
        return base
    }

    /// Of which items there is such a thing, as far as the disk tells.
    static func lanesLeftOut(
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> [Lane] {
        try db.all(
            "SELECT cipher_id FROM brought_up WHERE user_id = ? AND left_out IS NOT NULL",
            .text(userID)
        ) { (row) throws(DatabaseError) in Lane(userID: userID, cipherID: try row.text(0)) }
    }

    /// To be called once base has taken a list: what is in it is left out no more, unless the list is an
    /// old one, or knows less than base did.
    ///
    /// - Parameters:
    ///   - written: By which base has taken it.
    ///   - mark: Where base was when it was asked for.
    static func forgetLeftOut(
        of userID: String,
        _ written: Int,
        since mark: RefreshMark,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        let rows = try db.all(
            "SELECT cipher_id, revision_ticks FROM brought_up WHERE user_id = ? AND left_out IS NOT NULL",
            .text(userID)
        ) { (row) throws(DatabaseError) in
            (lane: Lane(userID: userID, cipherID: try row.text(0)), known: try row.moment(orNil: 1))
        }
        for row in rows {
            guard let base = try BaseTable.footing(row.lane, db),
                row.known.map(base.revision.moment.isEarlierStamp) != true,
                let last = try BaseTable.writing(of: row.lane, db),
                last <= mark.written || last == written
            else { continue }
            try db.execute(
                """
                UPDATE brought_up SET left_out = NULL, left_out_digest = NULL
                WHERE user_id = ? AND cipher_id = ?
                """,
                .text(userID),
                .text(row.lane.cipherID)
            )
        }
    }

    /// A clock that leaps makes nothing old at once: each time, the past moves on by a stride at most, or
    /// to where still nothing is forgotten.
    static func forget(before moment: Moment, _ db: borrowing Connection) throws(DatabaseError) {
        let reached = try reached(db)
        let next = [
            reached?.advanced(bySeconds: stride),
            try oldest(since: reached, db)?.advanced(bySeconds: -Chore.secondsOfReceipts),
        ].compactMap(\.self).max()
        let moment = min(moment, next ?? moment)
        try SettingTable.put("forgotten", moment.ticks.description, db)
        for table: StaticString in [
            // What is held until something else is decided about is held as long as that takes.
            """
            DELETE FROM brought_up WHERE settled_ticks < ? AND (left_out IS NULL OR NOT EXISTS (
                SELECT 1 FROM pending_change AS pending WHERE pending.user_id = brought_up.user_id
                    AND pending.cipher_id = brought_up.cipher_id
            ))
            """,
            "DELETE FROM stray WHERE settled_ticks < ?",
            "DELETE FROM late_call WHERE sent_ticks < ?",
        ] { try db.execute(table, .moment(moment)) }
        try ReceiptTable.forget(before: moment, db)
        try OwnHistory.sweep(db)
    }

    /// In seconds. A host that is up for an hour a day still forgets as fast as it learns.
    private static let stride: Int64 = 12 * 3_600

    private static func oldest(
        since reached: Moment?,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Moment? {
        let settled = try db.first(
            """
            SELECT min(ticks) FROM (SELECT min(settled_ticks) AS ticks FROM brought_up
                UNION ALL SELECT min(settled_ticks) FROM stray)
            """
        ) { (row) throws(DatabaseError) in try row.moment(orNil: 0) }
        return [settled ?? nil, try ReceiptTable.oldest(since: reached, db)].compactMap(\.self)
            .min()
    }

    /// Up to when everything was forgotten.
    private static func reached(_ db: borrowing Connection) throws(DatabaseError) -> Moment? {
        try SettingTable.find("forgotten", db).flatMap { Int64($0) }.map(Moment.init(ticks:))
    }

    /// A clock that was set back would have what is new be forgotten at once.
    private static func youngEnough(
        _ moment: Moment,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Moment {
        max(moment, try reached(db)?.advanced(bySeconds: Chore.secondsOfReceipts) ?? moment)
    }
}

extension Store {
    func watch(
        _ strays: [Stray],
        of userID: String,
        at moment: Moment
    ) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            try Aftercare.watch(strays, of: userID, moment, db)
        }
    }
}

extension StoreReader {
    /// The ciphers of which upstream has taken something from here lately, and all backup copies.
    func broughtUp(of userID: String) throws(StoreError) -> Set<String> {
        try read { (db) throws(DatabaseError) in
            Set(
                try db.all(
                    """
                    SELECT cipher_id FROM brought_up WHERE user_id = ?1 AND is_gone = 0
                    UNION ALL SELECT backup_cipher_id FROM resolution
                    WHERE user_id = ?1 AND backup_cipher_id IS NOT NULL
                    """,
                    .text(userID)
                ) { (row) throws(DatabaseError) in try row.text(0) }
            )
        }
    }

    /// What was sent to be made lately, as it was sent, and what became of it.
    func made(of userID: String) throws(StoreError) -> [Stray] {
        try read { (db) throws(DatabaseError) in
            try db.all(
                """
                SELECT made, cipher_id, is_gone FROM brought_up
                WHERE user_id = ? AND made IS NOT NULL
                """,
                .text(userID)
            ) { (row) throws(DatabaseError) in
                let isGone = try row.int(2) == 1
                return Stray(try row.bytes(0), keeper: isGone ? .none : .item(try row.text(1)))
            }
        }
    }

    /// Whether upstream has taken that from here lately, and nobody has written it since.
    func hasBroughtUp(_ base: BaseCipher) throws(StoreError) -> Bool {
        try read { (db) throws(DatabaseError) in
            try db.first(
                """
                SELECT 1 FROM brought_up
                WHERE user_id = ? AND cipher_id = ? AND is_gone = 0 AND revision_ticks = ?
                """,
                .text(base.lane.userID),
                .text(base.lane.cipherID),
                .moment(base.revision.moment)
            ) { (_) throws(DatabaseError) in true } ?? false
        }
    }

    public func strays(of userID: String) throws(StoreError) -> [Stray] {
        try read { (db) throws(DatabaseError) in try Aftercare.strays(of: userID, db) }
    }
}
