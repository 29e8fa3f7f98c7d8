internal import CSQLite

extension Session {
    private static let pagesBetweenLooks: Int32 = 1_024

    /// Copies the database as it is now, while others go on writing.
    ///
    /// What was there before goes first. The copy is written in one transaction of its own: after a
    /// crash there is nothing in it, or it is whole and on stable storage.
    func copy(to place: Place) throws(DatabaseError) {
        place.removeFile()
        place.makePrivateFile()
        let copy = try Session(place, .write, statements: 4)
        // Its own transaction keeps the copy at one moment; without it, it would have to start
        // over with every commit.
        try reading { (connection) throws(DatabaseError) in
            try connection.session.control("SELECT 1 FROM sqlite_schema LIMIT 1", "copy")
            try connection.session.copyPages(to: copy, at: place.path)
        }
    }

    private func copyPages(to copy: Session, at path: String) throws(DatabaseError) {
        let operation = "copy to \(path)"
        guard let backup = sqlite3_backup_init(copy.handle, "main", handle, "main") else {
            throw DatabaseError(sqlite3_errcode(copy.handle), of: copy.handle, during: operation)
        }
        var code = SQLITE_OK
        while code == SQLITE_OK && !Task.isCancelled {
            code = sqlite3_backup_step(backup, Self.pagesBetweenLooks)
        }
        let ended = sqlite3_backup_finish(backup)
        if code == SQLITE_OK { throw .cancelled(during: operation) }
        guard code == SQLITE_DONE, ended == SQLITE_OK else {
            throw DatabaseError(
                ended == SQLITE_OK ? code : ended,
                of: copy.handle,
                during: operation
            )
        }
    }
}
