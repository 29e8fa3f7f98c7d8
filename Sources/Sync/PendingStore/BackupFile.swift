internal import SQLite
public import Vault

/// A file that a backup copy is to have as well as the item that it was made of. Nobody waits for that:
/// the copy of the text comes first, and stands whatever becomes of its files.
public struct BackupFile: Hashable, Sendable {
    public let userID: String
    public let backupID: String
    public let attachmentID: String
    /// The item that has the file.
    public let sourceID: String
    public let failures: Int
    public let due: Moment

    public init(
        userID: String,
        backupID: String,
        attachmentID: String,
        sourceID: String,
        failures: Int = 0,
        due: Moment
    ) {
        self.userID = userID
        self.backupID = backupID
        self.attachmentID = attachmentID
        self.sourceID = sourceID
        self.failures = failures
        self.due = due
    }
}

extension Store {
    /// What is there already stays as it is.
    func note(_ files: [BackupFile]) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            for file in files where try AccountTable.contains(file.userID, db) {
                try db.execute(
                    "INSERT OR IGNORE INTO backup_file VALUES (?, ?, ?, ?, ?, ?)",
                    .text(file.userID),
                    .text(file.backupID),
                    .text(file.attachmentID),
                    .text(file.sourceID),
                    .int(file.failures),
                    .moment(file.due)
                )
            }
        }
    }

    /// The copy has the file, or never will.
    func forget(_ file: BackupFile) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            try db.execute(
                """
                DELETE FROM backup_file
                WHERE user_id = ? AND backup_id = ? AND attachment_id = ?
                """,
                .text(file.userID),
                .text(file.backupID),
                .text(file.attachmentID)
            )
        }
    }

    func postpone(_ file: BackupFile, until due: Moment) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            try db.execute(
                """
                UPDATE backup_file SET failures = failures + 1, due_ticks = ?
                WHERE user_id = ? AND backup_id = ? AND attachment_id = ?
                """,
                .moment(due),
                .text(file.userID),
                .text(file.backupID),
                .text(file.attachmentID)
            )
        }
    }
}

extension StoreReader {
    /// What backup copies still lack.
    public func backupFiles(of userID: String) throws(StoreError) -> [BackupFile] {
        try read { (db) throws(DatabaseError) in
            try db.all(
                """
                SELECT backup_id, attachment_id, source_id, failures, due_ticks FROM backup_file
                WHERE user_id = ? ORDER BY due_ticks, backup_id, attachment_id
                """,
                .text(userID)
            ) { (row) throws(DatabaseError) in
                BackupFile(
                    userID: userID,
                    backupID: try row.text(0),
                    attachmentID: try row.text(1),
                    sourceID: try row.text(2),
                    failures: try row.int(3),
                    due: try row.moment(4)
                )
            }
        }
    }
}
