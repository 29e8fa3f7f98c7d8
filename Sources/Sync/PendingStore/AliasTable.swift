internal import SQLite

/// What became of the ids that we made, for ever.
enum AliasTable {
    /// By which id the cipher is known now. One that upstream has had back since it was set back to an
    /// earlier state means that again.
    static func resolve(_ lane: Lane, _ db: borrowing Connection) throws(DatabaseError) -> Lane {
        let id = try db.first(
            """
            SELECT cipher_id FROM alias WHERE user_id = ? AND made_id = ? AND NOT EXISTS (
                SELECT 1 FROM base_cipher AS base
                WHERE base.user_id = alias.user_id AND base.cipher_id = alias.made_id)
            """,
            .text(lane.userID),
            .text(lane.cipherID)
        ) { (row) throws(DatabaseError) in try row.text(0) }
        return Lane(userID: lane.userID, cipherID: id ?? lane.cipherID)
    }

    /// From now on the old id answers with the new cipher, and so does whatever led to the old one.
    static func point(
        _ lane: Lane,
        to cipherID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        guard lane.cipherID != cipherID else { return }
        // What is a cipher's own id now leads nowhere else any more.
        try db.execute(
            "DELETE FROM alias WHERE user_id = ? AND made_id = ?",
            .text(lane.userID),
            .text(cipherID)
        )
        try db.execute(
            "UPDATE alias SET cipher_id = ? WHERE user_id = ? AND cipher_id = ?",
            .text(cipherID),
            .text(lane.userID),
            .text(lane.cipherID)
        )
        try db.execute(
            "INSERT OR REPLACE INTO alias VALUES (?, ?, ?)",
            .text(lane.userID),
            .text(lane.cipherID),
            .text(cipherID)
        )
    }
}
