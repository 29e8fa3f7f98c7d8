internal import SQLite
internal import System

/// The pending table of a file that may be damaged anywhere.
enum PendingRows {
    /// The numbers of all rows that can be found: by way of the table and of its indexes, from
    /// either end.
    ///
    /// - Returns: Them, in order, and whether every way led to its end.
    static func sequences(
        in source: Database
    ) throws(StoreError) -> (found: [Int], isComplete: Bool) {
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
                isComplete = try error.passedOver(false)
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

    /// The version of each change, by its number; none if they cannot be read.
    static func versions(in source: Database) throws(StoreError) -> [Int: Int] {
        do throws(DatabaseError) {
            return try source.read { (db) throws(DatabaseError) in
                var versions: [Int: Int] = [:]
                try db.forEach("SELECT seq, version FROM pending_change") {
                    (row) throws(DatabaseError) in versions[try row.int(0)] = try row.int(1)
                }
                return versions
            }
        } catch {
            return try error.passedOver([:])
        }
    }

    /// - Returns: Nothing if the row cannot be read.
    static func row(_ sequence: Int, in source: Database) throws(StoreError) -> PendingRow? {
        do throws(DatabaseError) {
            return try source.read { (db) throws(DatabaseError) in
                try db.first("SELECT * FROM pending_change WHERE seq = ?", .int(sequence)) {
                    (row) throws(DatabaseError) in try PendingRow(row)
                }
            }
        } catch {
            return try error.passedOver(nil)
        }
    }
}

extension Store {
    private static let rowsPerStep = 500

    /// Copies what is pending into a file of its own, for the day on which this one is damaged.
    /// The copy of last time is replaced, whole or not at all; but what cannot be read here any more is taken
    /// from it. Whoever asks while a copy is being made hears what becomes of that one.
    ///
    /// - Returns: Whether it was made for this caller, of all that was written before.
    @discardableResult
    public func copyPending() async throws(StoreError) -> Bool {
        guard let directory else { return true }
        let path = directory.file(Self.copyName)
        return try await copying.join { () async throws(StoreError) in
            try await copyPending(to: path)
        }
    }

    func copyPending(to path: String) async throws(StoreError) {
        let draft = path + ".draft"
        StoreFile.remove(draft)
        try await catchUpLate()
        // Whatever comes of it: on a full disk its room is needed.
        defer { StoreFile.remove(draft) }
        try await writeDraft(draft, after: path)
        do throws(SystemError) {
            try StoreFile.flush(draft)
            // A log that a salvage left behind would be read as that of the new file.
            StoreFile.removeLog(of: path)
            try StoreFile.replace(path, by: draft)
        } catch {
            throw .system(error)
        }
    }

    /// Every step of the schema is a commit, and a host that is told to end has no time for a flush of each
    /// on a slow disk.
    static var draftConfiguration: Configuration {
        var configuration = Configuration()
        configuration.isFlushedAtCommit = false
        return configuration
    }

    /// Writes the copy, without a flush.
    ///
    /// - Parameter former: Where the copy of last time is.
    func writeDraft(
        _ draft: String,
        after former: String,
        _ configuration: Configuration = Store.draftConfiguration
    ) async throws(StoreError) {
        try await Self.wrapping { () async throws(DatabaseError) in
            let copy = try await Database.open(
                draft,
                migrations: Schema.migrations,
                configuration: configuration
            )
            do throws(DatabaseError) {
                try await copyRows(to: copy, FormerCopy(former))
            } catch {
                // The rows that did not arrive are the news, not that the copy cannot be closed.
                try? await copy.close()
                throw error
            }
            try await copy.close()
        }
    }

    private func copyRows(
        to copy: Database,
        _ former: FormerCopy
    ) async throws(DatabaseError) {
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
            let whole = try await mended(rows, by: former)
            let now = now
            // Since the step before, a change may have been settled and another may wait for its cipher.
            try await copy.write { (db) throws(DatabaseError) in
                for row in whole { try row.insertOverEarlier(at: now, db) }
            }
        }
    }

    /// A page that was spoilt takes the rows on it along, and the copy of last time may be all that is left of
    /// them.
    private func mended(
        _ rows: [PendingRow],
        by former: FormerCopy
    ) async throws(DatabaseError) -> [PendingRow] {
        let damaged = rows.filter { !$0.isUnderstood }
        guard !damaged.isEmpty else { return rows }
        let kept = await former.rows(of: damaged)
        var whole: [PendingRow] = []
        for row in rows {
            // What a newer version means by it stands, unless it is the very same that was understood before.
            guard let older = kept[row.sequence], older.isUnderstood,
                !row.isReadable || row.isAsOld(as: older)
            else {
                whole.append(row)
                continue
            }
            whole.append(older)
            guard let mended = row.mended(by: older, at: now) else { continue }
            try await database.write { (db) throws(DatabaseError) in try mended.replace(row, db) }
        }
        return whole
    }
}

/// The copy of last time. What cannot be read of it is not there.
private struct FormerCopy {
    private let path: String

    init(_ path: String) { self.path = path }

    /// - Returns: What it has of them, by their numbers.
    func rows(of damaged: [PendingRow]) async -> [Int: PendingRow] {
        guard (try? StoreFile.exists(path)) == true else { return [:] }
        var configuration = Configuration()
        configuration.isMigratedAtOpen = false
        configuration.isCheckedAtOpen = false
        let opened = try? await Database.open(
            path,
            migrations: Schema.migrations,
            configuration: configuration
        )
        guard let source = opened else { return [:] }
        var rows: [Int: PendingRow] = [:]
        for row in damaged {
            rows[row.sequence] = try? source.read { (db) throws(DatabaseError) in
                try db.first(
                    "SELECT * FROM pending_change WHERE id = ?1 OR seq = ?2 ORDER BY id = ?1 DESC",
                    .text(row.id),
                    .int(row.sequence)
                ) { (row) throws(DatabaseError) in try PendingRow(row) }
            }.flatMap { $0.isSame(as: row) ? $0 : nil }
        }
        try? await source.close()
        return rows
    }
}
