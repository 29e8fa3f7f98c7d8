internal import SQLite
internal import Vault

/// Carries what is pending from a damaged file into a fresh one.
///
/// Row by row, because a damaged page takes only its own rows along. Where rows are missing, the
/// hourly copy may have them; a change that had been settled since then is pending once more, which
/// costs a question to upstream and loses nothing.
///
/// Receipts come along, for their owners ask for them, and so do accounts, settings and aliases.
///
/// Only what is damaged itself may be passed over. A disk that fails or is full passes, and what was
/// left behind on its account would be gone for good: such an error ends the salvage, and the next
/// start begins it anew.
struct Salvage {
    private let store: Store
    private let damaged: String?
    private let copy: String?
    private let configuration: Configuration

    /// - Parameters:
    ///   - damaged: Nil if nothing is left of it.
    ///   - copy: The hourly copy, if there is one.
    init(
        into store: Store,
        from damaged: String?,
        copy: String?,
        _ configuration: Configuration
    ) {
        self.store = store
        self.damaged = damaged
        self.copy = copy
        var configuration = configuration
        configuration.isCheckedAtOpen = false
        // A migration would stumble over the damage, and nothing would be carried over.
        configuration.isMigratedAtOpen = false
        self.configuration = configuration
    }

    func carryOver() async throws(StoreError) {
        if let damaged, try await carryOver(from: damaged, { $0 }) { return }
        guard let copy else { return }
        let now = store.now
        _ = try await carryOver(from: copy) { $0.doubted(at: now) }
    }

    /// - Returns: Whether every row of the pending table could be read.
    private func carryOver(
        from path: String,
        _ changed: @Sendable (PendingRow) -> PendingRow
    ) async throws(StoreError) -> Bool {
        guard let source = try await open(path) else { return false }
        do throws(StoreError) {
            let isWhole = try await carryChanges(from: source, changed)
            try await carryReceipts(from: source)
            try await carryRest(from: source)
            // The damaged file is kept as it is; that its log cannot be emptied is no news.
            try? await source.close()
            return isWhole
        } catch {
            try? await source.close()
            throw error
        }
    }

    private func open(_ path: String) async throws(StoreError) -> Database? {
        do throws(DatabaseError) {
            return try await Database.open(
                path,
                migrations: Schema.migrations,
                configuration: configuration
            )
        } catch {
            return try error.passedOver(nil)
        }
    }

    private func carryChanges(
        from source: Database,
        _ changed: @Sendable (PendingRow) -> PendingRow
    ) async throws(StoreError) -> Bool {
        let (sequences, isComplete) = try PendingRows.sequences(in: source)
        var isWhole = isComplete
        for sequence in sequences {
            guard let row = try PendingRows.row(sequence, in: source).map(changed) else {
                isWhole = false
                continue
            }
            let isTaken = try await store.write { (db) throws(DatabaseError) in
                try row.insert(db)
            }
            isWhole = isWhole && isTaken
        }
        return isWhole
    }

    /// From either end, so that a damaged page hides no more than what lies on it.
    private func carryReceipts(from source: Database) async throws(StoreError) {
        for way in ReceiptRow.ways {
            let rows = try ReceiptRow.all(by: way, in: source)
            for start in stride(from: 0, to: rows.count, by: Self.receiptsPerStep) {
                try await store.write { (db) throws(DatabaseError) in
                    for row in rows[start...].prefix(Self.receiptsPerStep) { try row.insert(db) }
                }
            }
        }
    }

    private static let receiptsPerStep = 500

    /// Accounts, settings and aliases: small, and asked for only as long as they answer.
    private func carryRest(from source: Database) async throws(StoreError) {
        for table in Self.rest {
            for values in try rows(of: table, in: source) {
                try await store.write { (db) throws(DatabaseError) in
                    try table.insert(values, db)
                }
            }
        }
    }

    private func rows(of table: Table, in source: Database) throws(StoreError) -> [[Value]] {
        do throws(DatabaseError) {
            return try source.read { (db) throws(DatabaseError) in
                try db.all(table.select) { (row) throws(DatabaseError) in try table.values(row) }
            }
        } catch {
            return try error.passedOver([])
        }
    }
}

extension DatabaseError {
    var isDamage: Bool { [.damaged, .notADatabase].contains(trouble) }

    /// What stands for that which a damaged file does not tell; any other error is thrown.
    ///
    /// Damage also shows as a column of another kind, as text of a senseless length, or as a table
    /// that is not there: SQLite refuses that, and the disk has no part in it.
    func passedOver<Answer>(_ answer: Answer) throws(StoreError) -> Answer {
        guard isDamage || trouble == .refused && code != nil else { throw .database(self) }
        return answer
    }
}

extension Salvage {
    private struct Table: Sendable {
        let select: StaticString
        let values: @Sendable (borrowing Row) throws(DatabaseError) -> [Value]
        let insert: @Sendable ([Value], borrowing Connection) throws(DatabaseError) -> Void
    }

    private static let rest = [
        Table(
            select: "SELECT id, record FROM account",
            values: { (row) throws(DatabaseError) in
                [.text(try row.text(0)), .blob(try row.bytes(1))]
            },
            insert: { (values, db) throws(DatabaseError) in
                try db.execute(
                    "INSERT OR IGNORE INTO account (id, record) VALUES (?, ?)",
                    values[0],
                    values[1]
                )
            }
        ),
        Table(
            select: "SELECT name, value FROM setting",
            values: { (row) throws(DatabaseError) in
                [.text(try row.text(0)), .text(try row.text(1))]
            },
            insert: { (values, db) throws(DatabaseError) in
                try db.execute("INSERT OR IGNORE INTO setting VALUES (?, ?)", values[0], values[1])
            }
        ),
        Table(
            select: "SELECT user_id, made_id, cipher_id FROM alias",
            values: { (row) throws(DatabaseError) in
                [.text(try row.text(0)), .text(try row.text(1)), .text(try row.text(2))]
            },
            insert: { (values, db) throws(DatabaseError) in
                try db.execute(
                    "INSERT OR IGNORE INTO alias VALUES (?, ?, ?)",
                    values[0],
                    values[1],
                    values[2]
                )
            }
        ),
    ]
}
