extension Database {
    /// Writes over what lies on free pages, and empties the log: what was deleted is then nowhere in the file.
    ///
    /// What is deleted from a page that stays in use is overwritten there at once. A page that becomes free keeps
    /// its content until it is used again, so all of them are used once.
    public func scrub() async throws(DatabaseError) {
        // One may be left of a time that was ended in between.
        try await execute("DROP TABLE IF EXISTS scrub")
        try await write { (db) throws(DatabaseError) in
            try db.execute("CREATE TABLE scrub (filling BLOB NOT NULL) STRICT")
            let free = try db.number("PRAGMA freelist_count")
            let size = try db.number("PRAGMA page_size")
            // Each page of a long blob has the number of the next one; the last one, which is not filled, is new.
            var left = (free + 1) * (size - 4)
            while left > 0 {
                let count = min(left, Self.largestFilling)
                try db.execute("INSERT INTO scrub VALUES (zeroblob(?))", .int(count))
                left -= count
            }
        }
        try await execute("DROP TABLE scrub")
        try await checkpoint()
    }

    private static let largestFilling = 256 << 20
}

extension Connection {
    fileprivate func number(_ pragma: StaticString) throws(DatabaseError) -> Int {
        try first(pragma) { (row) throws(DatabaseError) in try row.int(0) } ?? 0
    }
}
