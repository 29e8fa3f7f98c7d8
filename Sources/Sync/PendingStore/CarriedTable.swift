internal import SQLite

/// A table of which a salvage takes over what can be read, as it stands.
struct CarriedTable: Sendable {
    private enum Column {
        case text, number, bytes
    }

    /// In whatever order its rows may lie, from either end: a damaged page hides no more than what lies on it.
    let ways: [StaticString]
    private let columns: [Column]
    private let insertion: StaticString

    /// What is found up to the first damage. A row that holds something of another kind is passed over.
    func rows(by way: StaticString, in source: Database) throws(StoreError) -> [[Value]] {
        var rows: [[Value]] = []
        do throws(DatabaseError) {
            try source.read { (db) throws(DatabaseError) in
                try db.forEach(way) { (row) throws(DatabaseError) in
                    if let values = try? values(of: row) { rows.append(values) }
                }
            }
        } catch {
            try error.passedOver(())
        }
        return rows
    }

    private func values(of row: borrowing Row) throws(DatabaseError) -> [Value] {
        var values: [Value] = []
        for (index, column) in columns.enumerated() {
            switch column {
            case .text: values.append(Value(try row.text(orNil: index)))
            case .number: values.append(Value(try row.int(orNil: index)))
            case .bytes: values.append(Value(try row.bytes(orNil: index)))
            }
        }
        return values
    }

    /// What is there already stays, and what the table would refuse is left out.
    func insert(_ values: [Value], _ db: borrowing Connection) throws(DatabaseError) {
        try db.execute(insertion, values)
    }
}

extension CarriedTable {
    static let all = [
        accounts, settings, aliases, broughtUp, strays, lateCalls, backupFiles,
    ]

    private static let accounts = CarriedTable(
        ways: [
            "SELECT id, record FROM account ORDER BY id",
            "SELECT id, record FROM account ORDER BY id DESC",
            // Files of earlier versions have no such order.
            "SELECT id, record FROM account NOT INDEXED ORDER BY rowid",
            "SELECT id, record FROM account NOT INDEXED ORDER BY rowid DESC",
        ],
        columns: [.text, .bytes],
        insertion: "INSERT OR IGNORE INTO account (id, record) VALUES (?, ?)"
    )

    private static let settings = CarriedTable(
        ways: [
            "SELECT name, value FROM setting ORDER BY name",
            "SELECT name, value FROM setting ORDER BY name DESC",
        ],
        columns: [.text, .text],
        insertion: "INSERT OR IGNORE INTO setting VALUES (?, ?)"
    )

    private static let aliases = CarriedTable(
        ways: [
            "SELECT user_id, made_id, cipher_id FROM alias ORDER BY user_id, made_id",
            "SELECT user_id, made_id, cipher_id FROM alias ORDER BY user_id DESC, made_id DESC",
        ],
        columns: [.text, .text, .text],
        insertion: "INSERT OR IGNORE INTO alias VALUES (?, ?, ?)"
    )

    /// Some of them hold what somebody has written over, and it is nowhere else.
    private static let broughtUp = CarriedTable(
        ways: [
            """
            SELECT user_id, cipher_id, is_gone, settled_ticks, key_fingerprint, revision_ticks,
                left_out, left_out_digest, is_exposed
            FROM brought_up ORDER BY user_id, cipher_id
            """,
            """
            SELECT user_id, cipher_id, is_gone, settled_ticks, key_fingerprint, revision_ticks,
                left_out, left_out_digest, is_exposed
            FROM brought_up ORDER BY user_id DESC, cipher_id DESC
            """,
        ],
        columns: [
            .text, .text, .number, .number, .bytes, .number, .bytes, .bytes, .number,
        ],
        insertion: """
            INSERT OR IGNORE INTO brought_up (user_id, cipher_id, is_gone, settled_ticks,
                key_fingerprint, revision_ticks, left_out, left_out_digest, is_exposed)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
    )

    private static let strays = CarriedTable(
        ways: [
            """
            SELECT user_id, fingerprint, keeper_id, settled_ticks FROM stray
            ORDER BY user_id, fingerprint
            """,
            """
            SELECT user_id, fingerprint, keeper_id, settled_ticks FROM stray
            ORDER BY user_id DESC, fingerprint DESC
            """,
        ],
        columns: [.text, .bytes, .text, .number],
        insertion: "INSERT OR IGNORE INTO stray VALUES (?, ?, ?, ?)"
    )

    private static let lateCalls = CarriedTable(
        ways: [
            """
            SELECT user_id, cipher_id, kind, sent_ticks FROM late_call
            ORDER BY user_id, cipher_id, kind
            """,
            """
            SELECT user_id, cipher_id, kind, sent_ticks FROM late_call
            ORDER BY user_id DESC, cipher_id DESC, kind DESC
            """,
        ],
        columns: [.text, .text, .text, .number],
        insertion: "INSERT OR IGNORE INTO late_call VALUES (?, ?, ?, ?)"
    )

    private static let backupFiles = CarriedTable(
        ways: [
            """
            SELECT user_id, backup_id, attachment_id, source_id, failures, due_ticks
            FROM backup_file ORDER BY user_id, backup_id, attachment_id
            """,
            """
            SELECT user_id, backup_id, attachment_id, source_id, failures, due_ticks
            FROM backup_file ORDER BY user_id DESC, backup_id DESC, attachment_id DESC
            """,
        ],
        columns: [.text, .text, .text, .text, .number, .number],
        insertion: "INSERT OR IGNORE INTO backup_file VALUES (?, ?, ?, ?, ?, ?)"
    )
}
