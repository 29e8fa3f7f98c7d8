internal import SQLite

/// Carries what is pending from a damaged file into a fresh one.
///
/// Row by row, because a damaged page takes only its own rows along. Where rows are missing, the
/// hourly copy may have them; a change that had been settled since then is pending once more, which
/// costs a question to upstream and loses nothing.
struct Salvage {
    private let store: Store
    private let damaged: String
    private let copy: String

    init(into store: Store, from damaged: String, copy: String) {
        self.store = store
        self.damaged = damaged
        self.copy = copy
    }

    func carryOver() async {
        let isWhole = await carryOver(from: damaged)
        if !isWhole { _ = await carryOver(from: copy) }
    }

    /// - Returns: Whether every row of the pending table could be read.
    private func carryOver(from path: String) async -> Bool {
        var configuration = Configuration()
        configuration.isCheckedAtOpen = false
        guard
            Salvage.exists(path),
            let source = try? await Database.open(
                path,
                migrations: Schema.migrations,
                configuration: configuration
            )
        else { return false }
        let isWhole = await carryChanges(from: source)
        await carryRest(from: source)
        // The damaged file is kept as it is; that its log cannot be emptied is no news.
        try? await source.close()
        return isWhole
    }

    private func carryChanges(from source: Database) async -> Bool {
        let (sequences, isComplete) = PendingRows.sequences(in: source)
        var isWhole = isComplete
        for sequence in sequences {
            guard
                let row = PendingRows.row(sequence, in: source),
                (try? await store.write { (db) throws(DatabaseError) in try row.insert(db) })
                    == true
            else {
                isWhole = false
                continue
            }
        }
        return isWhole
    }

    /// Accounts, settings and aliases: small, and asked for only as long as they answer.
    private func carryRest(from source: Database) async {
        for table in Self.rest {
            let rows =
                try? source.read { (db) throws(DatabaseError) in
                    try db.all(table.select) { (row) throws(DatabaseError) in
                        try table.values(row)
                    }
                }
            for values in rows ?? [] {
                _ = try? await store.write { (db) throws(DatabaseError) in
                    try table.insert(values, db)
                }
            }
        }
    }

    private static func exists(_ path: String) -> Bool {
        (try? StoreFile.size(of: path)) ?? 0 > 0
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
