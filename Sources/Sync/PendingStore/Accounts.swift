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

/// What became of the wish to erase an account.
public enum Erasure: Hashable, Sendable {
    /// - Parameters:
    ///   - discarded: What waited in its name.
    ///   - left: The files that were set aside and may have rows of it all the same. They are damaged and
    ///     may be all that is left of other accounts, so a person has to decide.
    case erased(discarded: [PendingTally], left: [String])
    /// So much waits in its name, and nothing was erased.
    case pending(Int)
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

    /// Erases everything of an account in one transaction, then makes the copy anew, and takes it out of
    /// the files that a salvage or a migration set aside.
    ///
    /// - Parameter evenIfPending: Also what waits in its name.
    @discardableResult
    public func erase(
        _ userID: String,
        evenIfPending: Bool = true
    ) async throws(StoreError) -> Erasure {
        // What the copy has of it is not to come back afterwards.
        try await catchUpLate()
        let waiting = try await eraseRows(of: userID, evenIfPending: evenIfPending)
        if !evenIfPending, !waiting.isEmpty { return .pending(waiting.map(\.count).reduce(0, +)) }
        guard let directory else { return .erased(discarded: waiting, left: []) }
        await emptyLog()
        await eraseCopy(directory)
        var left: [String] = []
        // The account is gone, whatever becomes of these.
        for file in (try? SetAside.all(beside: directory.file(Self.fileName))) ?? [] {
            let isErased = (try? await file.erase(userID)) ?? false
            if !isErased { left.append(file.path) }
        }
        return .erased(discarded: waiting, left: left)
    }

    /// What was erased is in the log as it was before. Where a reader is in the way, it goes with the next start at
    /// the latest.
    private func emptyLog() async { try? await database.checkpoint() }

    /// Takes back that an account came, unless something waits in its name.
    ///
    /// - Returns: Whether nothing of it is left.
    public func eraseNewcomer(_ userID: String) async throws(StoreError) -> Bool {
        try await eraseRows(of: userID, evenIfPending: false).isEmpty
    }

    /// - Returns: What waits in the account's name, which keeps everything from being erased, or waited.
    private func eraseRows(
        of userID: String,
        evenIfPending: Bool
    ) async throws(StoreError) -> [PendingTally] {
        try await write { (db) throws(DatabaseError) in
            let waiting = try PendingTable.tally(of: userID, db)
            guard evenIfPending || waiting.isEmpty else { return waiting }
            try db.overwriting { () throws(DatabaseError) in try AccountTable.erase(userID, db) }
            return waiting
        }
    }

    /// A copy that was under way may have rows of the account, and so may the old one if no other can
    /// be made. The next chore makes one.
    private func eraseCopy(_ directory: StateDirectory) async {
        do throws(StoreError) {
            while try await !copyPending() {}
        } catch {
            StoreFile.remove(directory.file(Self.copyName))
        }
    }

    public func set(_ name: String, to value: String) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in try SettingTable.put(name, value, db) }
    }
}
