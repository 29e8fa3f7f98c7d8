internal import Records
internal import SQLite
internal import Vault

/// The statements of the pending table, inside somebody's transaction. Their columns are those of
/// the schema, in its order; later migrations add theirs at the end.
enum PendingTable {
    static func find(
        _ lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> StoredChange? {
        try db.first(
            "SELECT * FROM pending_change WHERE user_id = ? AND cipher_id = ?",
            .text(lane.userID),
            .text(lane.cipherID)
        ) { (row) throws(DatabaseError) in try StoredChange(row) }
    }

    static func find(
        id: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> StoredChange? {
        try db.first(
            "SELECT * FROM pending_change WHERE id = ?",
            .text(id)
        ) { (row) throws(DatabaseError) in try StoredChange(row) }
    }

    /// Without the record itself.
    static func summary(
        _ lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> PendingSummary? {
        try db.first(
            "SELECT * FROM pending_change WHERE user_id = ? AND cipher_id = ?",
            .text(lane.userID),
            .text(lane.cipherID)
        ) { (row) throws(DatabaseError) in try PendingSummary(row) }
    }

    static func summary(
        id: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> PendingSummary? {
        try db.first(
            "SELECT * FROM pending_change WHERE id = ?",
            .text(id)
        ) { (row) throws(DatabaseError) in try PendingSummary(row) }
    }

    static func all(
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> [StoredChange] {
        try all(of: userID, db) { $0 }
    }

    static func all<Part>(
        of userID: String,
        _ db: borrowing Connection,
        _ part: (StoredChange) -> Part?
    ) throws(DatabaseError) -> [Part] {
        try db.all(
            "SELECT * FROM pending_change WHERE user_id = ? ORDER BY seq",
            .text(userID)
        ) { (row) throws(DatabaseError) in part(try StoredChange(row)) }.compactMap { $0 }
    }

    /// Inserts the change or, if its cipher has one already, replaces what may be replaced: the id
    /// and the date of the first edit stay, whatever is passed.
    static func upsert(
        _ record: PendingRecord,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        let change = record.change
        try db.execute(
            """
            INSERT INTO pending_change (id, user_id, cipher_id, version, change_type, state,
                due_ticks, created_ticks, updated_ticks, baseline_text, baseline_ticks,
                password_changes, snapshot, base_copy, record)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (user_id, cipher_id) DO UPDATE SET version = version + 1,
                change_type = excluded.change_type, state = excluded.state,
                due_ticks = excluded.due_ticks, updated_ticks = excluded.updated_ticks,
                baseline_text = excluded.baseline_text,
                baseline_ticks = excluded.baseline_ticks,
                password_changes = excluded.password_changes, snapshot = excluded.snapshot,
                base_copy = excluded.base_copy, record = excluded.record
            """,
            .text(change.id),
            .text(change.userID),
            .text(change.cipherID),
            .int(Int(change.version)),
            .text(change.foreignType ?? change.intent.typeText),
            .text(change.state.kind.rawValue),
            Value(change.state.due),
            .moment(change.created),
            .moment(change.updated),
            Value(change.baseline?.text),
            Value(change.baseline.map { Int($0.moment.ticks) }),
            .int(Int(change.passwordChanges)),
            Value(change.intent.snapshot?.json),
            Value(change.baseCopy),
            .blob(record.encoded())
        )
    }

    /// Compare and swap: writes the change over the version that was found, and nothing if that has moved.
    static func replace(
        _ stored: PendingSummary,
        by record: PendingRecord,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        let change = record.change
        let isThere = try db.execute(
            """
            UPDATE pending_change SET version = ?, change_type = ?, state = ?,
                due_ticks = ?, updated_ticks = ?, baseline_text = ?, baseline_ticks = ?,
                password_changes = ?, snapshot = ?, base_copy = ?, record = ?
            WHERE id = ? AND version = ?
            """,
            .int(Int(change.version)),
            .text(change.foreignType ?? change.intent.typeText),
            .text(change.state.kind.rawValue),
            Value(change.state.due),
            .moment(change.updated),
            Value(change.baseline?.text),
            Value(change.baseline.map { Int($0.moment.ticks) }),
            .int(Int(change.passwordChanges)),
            Value(change.intent.snapshot?.json),
            Value(change.baseCopy),
            .blob(record.encoded()),
            .text(change.id),
            .int(Int(stored.version))
        )
        // By itself, because whoever names the column has its index written anew.
        if isThere == 1, change.cipherID != stored.lane.cipherID {
            try db.execute(
                "UPDATE pending_change SET cipher_id = ? WHERE id = ?",
                .text(change.cipherID),
                .text(change.id)
            )
        }
        return isThere == 1
    }

    static func tally(
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> [PendingTally] {
        try db.all(
            """
            SELECT change_type, state, count, bytes FROM pending_tally
            WHERE user_id = ? AND count > 0
            """,
            .text(userID)
        ) { (row) throws(DatabaseError) in try PendingTally(row) }.byWhatIsShown
    }

    /// Writes the tally from what is there.
    static func countAnew(_ db: borrowing Connection) throws(DatabaseError) {
        try db.execute("DELETE FROM pending_tally")
        try db.execute(
            """
            INSERT INTO pending_tally SELECT user_id, change_type, state, count(*),
                sum(length(record) + ifnull(length(snapshot), 0) + ifnull(length(base_copy), 0))
            FROM pending_change GROUP BY user_id, change_type, state
            """
        )
    }

    /// The number of the last change that there ever was.
    static func lastNumber(_ db: borrowing Connection) throws(DatabaseError) -> Int {
        try db.first("SELECT max(seq) FROM sqlite_sequence WHERE name = 'pending_change'") {
            (row) throws(DatabaseError) in try row.int(orNil: 0)
        }.flatMap(\.self) ?? 0
    }

    static func raiseNumber(to number: Int, _ db: borrowing Connection) throws(DatabaseError) {
        guard try lastNumber(db) < number else { return }
        try db.execute("DELETE FROM sqlite_sequence WHERE name = 'pending_change'")
        try db.execute("INSERT INTO sqlite_sequence VALUES ('pending_change', ?)", .int(number))
    }

    static func remove(
        id: String,
        expecting version: Int64,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        try db.execute(
            "DELETE FROM pending_change WHERE id = ? AND version = ?",
            .text(id),
            .int(Int(version))
        ) == 1
    }
}
