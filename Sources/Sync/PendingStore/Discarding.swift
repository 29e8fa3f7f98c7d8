internal import SQLite
public import Vault

extension Store {
    /// Drops a change because a person said so; the history keeps that it was.
    public func discard(
        _ id: String,
        expecting version: Int64,
        at moment: Moment
    ) async throws(StoreError) -> Bool {
        try await write { (db) throws(DatabaseError) in
            guard
                let stored = try PendingTable.find(id: id, db),
                stored.summary.version == version
            else { return false }
            try Discard(status: .discarded, at: moment).carryOut(stored.summary, db)
            try ResolutionNote(.discarded, at: moment).write(stored.summary, db)
            return true
        }
    }

    /// Removes the record of a cipher, unless it was edited since that version.
    public func clear(_ lane: Lane, upTo version: Int64) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            let lane = try AliasTable.resolve(lane, db)
            try db.execute(
                "DELETE FROM pending_change WHERE user_id = ? AND cipher_id = ? AND version <= ?",
                .text(lane.userID),
                .text(lane.cipherID),
                .int(Int(version))
            )
        }
    }

    /// Removes a record by its own id. Nothing happens if there is none.
    public func remove(_ id: String) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            try db.execute("DELETE FROM pending_change WHERE id = ?", .text(id))
        }
    }

    /// Removes whatever is pending for a cipher.
    public func remove(_ lane: Lane) async throws(StoreError) {
        try await clear(lane, upTo: .max)
    }

    /// Removes everything that is pending for an account, and nothing else of it.
    public func removeAll(of userID: String) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            try db.execute("DELETE FROM pending_change WHERE user_id = ?", .text(userID))
        }
    }
}

/// A change that goes without having been sent.
struct Discard {
    let status: Receipt.Status
    let moment: Moment

    init(status: Receipt.Status, at moment: Moment) {
        self.status = status
        self.moment = moment
    }

    func carryOut(
        _ summary: PendingSummary,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        _ = try PendingTable.remove(id: summary.id, expecting: summary.version, db)
        try ReceiptTable.end(summary.id, ReceiptEnd(status, at: moment), db)
    }
}
