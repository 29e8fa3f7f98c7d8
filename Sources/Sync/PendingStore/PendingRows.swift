internal import Glibc
internal import SQLite
internal import System

/// A row of the pending table as it stands, understood or not.
struct PendingRow: Sendable {
    private let values: [Value]

    init(_ row: borrowing Row) throws(DatabaseError) {
        values = [
            .int(try row.int(0)), .text(try row.text(1)), .text(try row.text(2)),
            .text(try row.text(3)), .int(try row.int(4)), .text(try row.text(5)),
            .text(try row.text(6)), Value(try row.int(orNil: 7)), .int(try row.int(8)),
            .int(try row.int(9)), Value(try row.text(orNil: 10)), Value(try row.int(orNil: 11)),
            .int(try row.int(12)), Value(try row.bytes(orNil: 13)), Value(try row.bytes(orNil: 14)),
            .blob(try row.bytes(15)),
        ]
    }

    var sequence: Int { if case .int(let number) = values[0] { number } else { 0 } }

    /// With its number, so that the order stays. A cipher that has a row keeps that, and a number
    /// that is taken by another change sends this one to the end.
    ///
    /// - Returns: Whether it was taken in.
    @discardableResult
    func insert(_ db: borrowing Connection) throws(DatabaseError) -> Bool {
        if try insert(as: values[0], db) == 1 { return true }
        return try insert(as: .null, db) == 1
    }

    private func insert(
        as sequence: Value,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Int {
        try db.execute(
            """
            INSERT OR IGNORE INTO pending_change (seq, id, user_id, cipher_id, version, change_type,
                state, due_ticks, created_ticks, updated_ticks, baseline_text, baseline_ticks,
                password_changes, snapshot, base_copy, record)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            sequence,
            values[1],
            values[2],
            values[3],
            values[4],
            values[5],
            values[6],
            values[7],
            values[8],
            values[9],
            values[10],
            values[11],
            values[12],
            values[13],
            values[14],
            values[15]
        )
    }
}

/// The pending table of a file that may be damaged anywhere.
enum PendingRows {
    /// The numbers of all rows that can be found: by way of the table and of its indexes, from
    /// either end.
    ///
    /// - Returns: Them, in order, and whether every way led to its end.
    static func sequences(in source: Database) -> (found: [Int], isComplete: Bool) {
        var found: Set<Int> = []
        var isComplete = true
        for way in ways {
            do throws(DatabaseError) {
                try source.read { (db) throws(DatabaseError) in
                    try db.forEach(way) { (row) throws(DatabaseError) in
                        found.insert(try row.int(0))
                    }
                }
            } catch {
                isComplete = false
            }
        }
        return (found.sorted(), isComplete)
    }

    private static let ways: [StaticString] = [
        "SELECT seq FROM pending_change NOT INDEXED ORDER BY seq",
        "SELECT seq FROM pending_change NOT INDEXED ORDER BY seq DESC",
        "SELECT seq FROM pending_change INDEXED BY pending_of_user ORDER BY user_id, seq",
        "SELECT seq FROM pending_change INDEXED BY pending_of_user ORDER BY user_id DESC, seq DESC",
    ]

    static func row(_ sequence: Int, in source: Database) -> PendingRow? {
        try? source.read { (db) throws(DatabaseError) in
            try db.first("SELECT * FROM pending_change WHERE seq = ?", .int(sequence)) {
                (row) throws(DatabaseError) in try PendingRow(row)
            }
        }
    }
}

enum StoreFile {
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func size(of path: String) throws(SystemError) -> Int {
        var status = stat()
        try system("stat \(path)") { stat(path, &status) }
        return Int(status.st_size)
    }

    static func replace(_ path: String, by draft: String) throws(SystemError) {
        try system("rename \(draft)") { rename(draft, path) }
        let directory = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        try File(
            path: directory.joined(separator: "/") + "/",
            flags: O_RDONLY | O_DIRECTORY
        ).flush()
    }

    static func remove(_ path: String) {
        for ending in ["", "-wal", "-shm"] { unlink(path + ending) }
    }
}

extension Store {
    private static let rowsPerStep = 500

    /// Copies what is pending into a file of its own, for the day on which this one is damaged.
    /// The copy of last time is replaced, whole or not at all.
    public func copyPending() async throws(StoreError) {
        guard let directory else { return }
        try await copyPending(to: directory.file(Self.copyName))
    }

    func copyPending(to path: String) async throws(StoreError) {
        let draft = path + ".draft"
        StoreFile.remove(draft)
        // Whatever comes of it: on a full disk its room is needed.
        defer { StoreFile.remove(draft) }
        try await Self.wrapping { () async throws(DatabaseError) in
            let copy = try await Database.open(draft, migrations: Schema.migrations)
            do throws(DatabaseError) {
                try await copyRows(to: copy)
            } catch {
                // The rows that did not arrive are the news, not that the copy cannot be closed.
                try? await copy.close()
                throw error
            }
            try await copy.close()
        }
        do throws(SystemError) {
            try StoreFile.replace(path, by: draft)
        } catch {
            throw .system(error)
        }
    }

    private func copyRows(to copy: Database) async throws(DatabaseError) {
        var last = 0
        while true {
            let (after, count) = (last, Self.rowsPerStep)
            let rows = try await database.scan { (db) throws(DatabaseError) in
                try db.all(
                    "SELECT * FROM pending_change WHERE seq > ? ORDER BY seq LIMIT ?",
                    .int(after),
                    .int(count)
                ) { (row) throws(DatabaseError) in try PendingRow(row) }
            }
            guard let newest = rows.last else { return }
            last = newest.sequence
            try await copy.write { (db) throws(DatabaseError) in
                for row in rows { try row.insert(db) }
            }
        }
    }
}
