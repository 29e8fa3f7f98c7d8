internal import SQLite
internal import Vault

/// Since when all that upstream holds of a cipher came from this host.
///
/// A client that edits an older copy overwrites nothing that it has not seen if only its own host has
/// written since; it just has not fetched the item again.
enum OwnHistory {
    /// How many revisions of a cipher are known as this host's own.
    static let depth = 16

    /// What came from here, if nobody else has written in between.
    ///
    /// - Parameters:
    ///   - ground: The revision that content was sent over; nil where none was sent, or that is not known.
    ///   - before: The revision that base had until this push.
    static func extend(
        by cipher: BaseCipher,
        from lane: Lane,
        _ pushed: PendingSummary,
        over ground: Revision?,
        before: Revision?,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        // A list may have shown it before it was answered, and what it was sent over is noted since.
        let isListed = before?.text == cipher.revision.text
        let ground = isListed ? cipher.revision : ground ?? cipher.revision
        let start = try start(of: pushed, lane, over: ground, before: before, db)
        if lane != cipher.lane { try forget(lane, but: nil, db) }
        try note(cipher, since: start, db)
    }

    /// What came from here, but not all of it.
    static func begin(
        with cipher: BaseCipher,
        from lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        if lane != cipher.lane { try forget(lane, but: nil, db) }
        try note(cipher, since: cipher.revision.moment, db)
    }

    /// The same of what was written down nowhere.
    ///
    /// - Parameter ground: The revision that it was sent over.
    static func extend(
        by cipher: BaseCipher,
        over ground: Revision,
        before: Revision?,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        let start = try start(on: ground, cipher.lane, before: before, db)
        try note(cipher, since: start, db)
    }

    /// Upstream may keep another stamp than the one it has answered with. If nothing else about it is new, that
    /// is it; and under one that lies near, somebody else may have written.
    static func follow(
        _ known: BaseCipher,
        to listed: BaseCipher,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        if let since = try startUnheard(of: listed, over: known, db) {
            return try note(listed, since: since, db)
        }
        guard !known.isDamaged, known.revision.isSame(as: listed.revision) else {
            return try followTrash(known, to: listed, db)
        }
        guard known.hasContent(of: listed) else { return try forget(known.lane, but: nil, db) }
        guard known.revision.text != listed.revision.text else { return }
        let since = try find(known.lane, at: known.revision, db) ?? known.revision.moment
        try note(listed, since: min(since, listed.revision.moment), db)
    }

    /// Upstream does not say which stamp something has that it has put into the trash from here. If nothing
    /// else about it is new in a list, that is it.
    private static func followTrash(
        _ known: BaseCipher,
        to listed: BaseCipher,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        guard known.isTrashed, listed.isTrashed, known.revision.isEarlier(than: listed.revision),
            let since = try find(known.lane, at: known.revision, db),
            let before = try? Cipher(known.json), let now = try? Cipher(listed.json),
            before.fingerprint == now.fingerprint
        else { return }
        try note(listed, since: since, db)
    }

    /// What is pending here may have got there though nobody has answered. Nobody else can have sealed it so, and if
    /// it was made on what was known until now, nobody else has written in between.
    ///
    /// - Returns: Nil if it is not that.
    private static func startUnheard(
        of listed: BaseCipher,
        over known: BaseCipher,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Moment? {
        guard !known.isDamaged, known.isTrashed == listed.isTrashed,
            known.isArchived == listed.isArchived,
            let change = try PendingTable.find(known.lane, db)?.change,
            !change.overwritesOthers, let baseline = change.baseline,
            let agreed = change.agreed,
            let before = try? Cipher(known.json), let now = try? Cipher(listed.json),
            change.hasSealed(now), !agreed.hasOtherContent(than: before)
        else { return nil }
        return try start(on: baseline, known.lane, before: known.revision, db)
    }

    private static func note(
        _ cipher: BaseCipher,
        since start: Moment?,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try forget(cipher.lane, but: start, db)
        guard let start else { return }
        try db.execute(
            """
            INSERT INTO own_history
            SELECT ?1, ?2, ifnull(max(number), 0) + 1, ?3, ?4 FROM own_history
            WHERE user_id = ?1 AND cipher_id = ?2
            """,
            .text(cipher.lane.userID),
            .text(cipher.lane.cipherID),
            .text(cipher.revision.text),
            .moment(start)
        )
    }

    /// Forgets what is too old, and what came before the start.
    private static func forget(
        _ lane: Lane,
        but start: Moment?,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            DELETE FROM own_history WHERE user_id = ?1 AND cipher_id = ?2
                AND (since_ticks IS NOT ?3 OR number <= 1 - ?4 + (
                    SELECT max(number) FROM own_history WHERE user_id = ?1 AND cipher_id = ?2
                ))
            """,
            .text(lane.userID),
            .text(lane.cipherID),
            .moment(start),
            .int(depth)
        )
    }

    /// Nil if somebody else has written in between.
    ///
    /// - Parameter ground: What it was sent over, or what upstream had of it already. A list may have brought that.
    private static func start(
        of pushed: PendingSummary,
        _ lane: Lane,
        over ground: Revision,
        before: Revision?,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Moment? {
        guard let before else { return pushed.type == .create ? Moment(ticks: .min) : nil }
        if ground.text == before.text, let since = try find(lane, at: before, db) { return since }
        guard let baseline = pushed.baseline else { return nil }
        return try start(on: baseline, lane, before: before, db)
    }

    /// - Parameter ground: What it was sent over.
    private static func start(
        on ground: Revision,
        _ lane: Lane,
        before: Revision?,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Moment? {
        guard let before, ground.isSame(as: before) else { return nil }
        let isCertain = ground.isWritten(like: before)
        return try find(lane, at: before, db) ?? (isCertain ? ground.moment : nil)
    }

    /// Forgets the history of what is gone.
    static func sweep(_ db: borrowing Connection) throws(DatabaseError) {
        try db.execute(
            """
            DELETE FROM own_history WHERE NOT EXISTS (
                SELECT 1 FROM base_cipher WHERE user_id = own_history.user_id
                    AND cipher_id = own_history.cipher_id
            )
            """
        )
    }

    static func find(
        _ lane: Lane,
        at revision: Revision,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Moment? {
        try db.first(
            """
            SELECT since_ticks FROM own_history
            WHERE user_id = ? AND cipher_id = ? AND revision_text = ?
            """,
            .text(lane.userID),
            .text(lane.cipherID),
            .text(revision.text)
        ) { (row) throws(DatabaseError) in try row.moment(0) }
    }
}

extension PendingChange {
    /// Whether others had written what gave way to it, or may have.
    fileprivate var overwritesOthers: Bool { backup.map { $0.conflict != .soft } ?? false }
}

extension StoreReader {
    /// Since which stamp upstream holds nothing of the cipher but what came from here; nil if the last
    /// that came is somebody else's.
    func ownHistory(of cipher: BaseCipher) throws(StoreError) -> Moment? {
        try read { (db) throws(DatabaseError) in
            try OwnHistory.find(cipher.lane, at: cipher.revision, db)
        }
    }
}
