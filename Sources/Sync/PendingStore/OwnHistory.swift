internal import SQLite
public import Vault

/// Since when all that upstream holds of a cipher came from this host.
///
/// A client that edits an older copy overwrites nothing that it has not seen if only its own host has
/// written since; it just has not fetched the item again.
enum OwnHistory {
    /// To be called before base takes upstream's answer to a push.
    static func extend(
        by cipher: BaseCipher,
        from lane: Lane,
        _ pushed: PendingSummary,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        let start = try start(of: pushed, lane, db)
        try db.execute(
            "DELETE FROM own_history WHERE user_id = ? AND cipher_id IN (?, ?)",
            .text(lane.userID),
            .text(lane.cipherID),
            .text(cipher.lane.cipherID)
        )
        guard let start else { return }
        try db.execute(
            "INSERT INTO own_history VALUES (?, ?, ?, ?)",
            .text(lane.userID),
            .text(cipher.lane.cipherID),
            .text(cipher.revision.text),
            .int(Int(start.ticks))
        )
    }

    /// Nil if somebody else has written in between.
    private static func start(
        of pushed: PendingSummary,
        _ lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Moment? {
        guard let base = try BaseTable.find(lane, db) else {
            return pushed.type == .create ? Moment(ticks: .min) : nil
        }
        guard let baseline = pushed.baseline, baseline.isSame(as: base.revision) else { return nil }
        return try find(lane, at: base.revision, db) ?? baseline.moment
    }

    /// Files that were set aside by an earlier version have no such table.
    static func erase(_ userID: String, _ db: borrowing Connection) throws(DatabaseError) {
        let isThere = try db.first("SELECT 1 FROM sqlite_master WHERE name = 'own_history'") {
            (row) throws(DatabaseError) in try row.int(0) == 1
        }
        guard isThere == true else { return }
        try db.execute("DELETE FROM own_history WHERE user_id = ?", .text(userID))
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
        ) { (row) throws(DatabaseError) in Moment(ticks: Int64(try row.int(0))) }
    }
}

extension StoreReader {
    /// Since which stamp upstream holds nothing of the cipher but what came from here; nil if the last
    /// that came is somebody else's.
    public func ownHistory(of cipher: BaseCipher) throws(StoreError) -> Moment? {
        try read { (db) throws(DatabaseError) in
            try OwnHistory.find(cipher.lane, at: cipher.revision, db)
        }
    }
}
