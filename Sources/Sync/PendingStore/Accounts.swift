internal import SQLite

/// An account as it lies in the store; what its record says is for others to know.
public struct StoredAccount: Hashable, Sendable {
    public let id: String
    public let record: [UInt8]

    public init(id: String, record: [UInt8]) {
        self.id = id
        self.record = record
    }
}

extension StoreReader {
    public func accounts() throws(StoreError) -> [StoredAccount] {
        try read { (db) throws(DatabaseError) in try AccountTable.all(db) }
    }

    public func setting(_ name: String) throws(StoreError) -> String? {
        try read { (db) throws(DatabaseError) in try SettingTable.find(name, db) }
    }
}

enum SettingTable {
    static func find(_ name: String, _ db: borrowing Connection) throws(DatabaseError) -> String? {
        try db.first("SELECT value FROM setting WHERE name = ?", .text(name)) {
            (row) throws(DatabaseError) in try row.text(0)
        }
    }

    static func put(
        _ name: String,
        _ value: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            INSERT INTO setting VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """,
            .text(name),
            .text(value)
        )
    }

    static func remove(_ name: String, _ db: borrowing Connection) throws(DatabaseError) {
        try db.execute("DELETE FROM setting WHERE name = ?", .text(name))
    }
}

enum AccountTable {
    static func all(_ db: borrowing Connection) throws(DatabaseError) -> [StoredAccount] {
        try db.all("SELECT id, record FROM account ORDER BY id") { (row) throws(DatabaseError) in
            StoredAccount(id: try row.text(0), record: try row.bytes(1))
        }
    }

    static func contains(
        _ userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        try db.first("SELECT 1 FROM account WHERE id = ?", .text(userID)) {
            (row) throws(DatabaseError) in try row.int(0) == 1
        } ?? false
    }

    /// Removes every row of the account, whatever the table.
    static func erase(_ userID: String, _ db: borrowing Connection) throws(DatabaseError) {
        try BaseTable.keepClock(of: userID, db)
        // Files that were set aside by an earlier version do not have all of them.
        let tables = Set(
            try db.all("SELECT name FROM sqlite_schema WHERE type = 'table'") {
                (row) throws(DatabaseError) in try row.text(0)
            }
        )
        for (table, erase) in ofAnAccount where tables.contains(table) {
            try db.execute(erase, .text(userID))
        }
        try SyncNotes.erase(userID, db)
        try db.execute("DELETE FROM account WHERE id = ?", .text(userID))
    }

    /// The tables that tell whose their rows are.
    static let ofAnAccount: [(table: String, erase: StaticString)] = [
        ("pending_change", "DELETE FROM pending_change WHERE user_id = ?"),
        ("pending_tally", "DELETE FROM pending_tally WHERE user_id = ?"),
        ("base_cipher", "DELETE FROM base_cipher WHERE user_id = ?"),
        ("base_removed", "DELETE FROM base_removed WHERE user_id = ?"),
        ("base_slice", "DELETE FROM base_slice WHERE user_id = ?"),
        ("slice_removed", "DELETE FROM slice_removed WHERE user_id = ?"),
        ("base_clock", "DELETE FROM base_clock WHERE user_id = ?"),
        ("own_history", "DELETE FROM own_history WHERE user_id = ?"),
        ("brought_up", "DELETE FROM brought_up WHERE user_id = ?"),
        ("stray", "DELETE FROM stray WHERE user_id = ?"),
        ("late_call", "DELETE FROM late_call WHERE user_id = ?"),
        ("backup_file", "DELETE FROM backup_file WHERE user_id = ?"),
        ("alias", "DELETE FROM alias WHERE user_id = ?"),
        ("receipt", "DELETE FROM receipt WHERE user_id = ?"),
        ("resolution", "DELETE FROM resolution WHERE user_id = ?"),
    ]
}

extension Store {
    public func put(_ account: StoredAccount) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            try db.execute(
                """
                INSERT INTO account (id, record) VALUES (?, ?)
                ON CONFLICT (id) DO UPDATE SET record = excluded.record
                """,
                .text(account.id),
                .blob(account.record)
            )
        }
    }

    public func set(_ name: String, to value: String) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in try SettingTable.put(name, value, db) }
    }
}
