internal import SQLite
public import Vault

extension Store {
    /// Drops a change because a person said so; the history keeps that it was.
    ///
    /// - Parameter backupID: The item that has its content now.
    public func discard(
        _ id: String,
        expecting version: Int64,
        at moment: Moment,
        keptAs backupID: String? = nil
    ) async throws(StoreError) -> Bool {
        let (now, chance) = (now, chance)
        let note = ResolutionNote(.discarded, at: moment, backupCipherID: backupID)
        let discard = Discard(
            ReceiptEnd(
                backupID == nil ? .discarded : .backedUp,
                at: moment,
                backupCipherID: backupID,
                isSent: false
            ),
            keptAs: backupID
        )
        return try await write { (db) throws(DatabaseError) in
            guard
                let stored = try PendingTable.find(id: id, db),
                stored.summary.version == version
            else { return false }
            try discard.carryOut(stored, db)
            try note.write(stored.summary, db)
            if let change = stored.change {
                let offering = Offering(of: change.userID, now: now, chance: chance)
                try offering.makeOfForgotten(beneath: change, db)
            }
            // Of what upstream has never had, nothing else is left under its id.
            if let backupID, stored.change?.isUnborn == true {
                try AliasTable.point(stored.summary.lane, to: backupID, db)
            }
            return true
        }
    }
}

/// A change that goes without having been sent.
struct Discard: Sendable {
    let end: ReceiptEnd
    /// The item that has its content now.
    let backupID: String?

    init(_ end: ReceiptEnd, keptAs backupID: String? = nil) {
        (self.end, self.backupID) = (end, backupID)
    }

    func carryOut(
        _ stored: StoredChange,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        let summary = stored.summary
        if let change = stored.change {
            let copies = change.strayCopies(keeping: backupID)
            try Aftercare.watch(copies, of: summary.lane.userID, end.at, db)
            try LateCallTable.note(change.unansweredCalls, of: summary.lane, db)
        }
        _ = try PendingTable.remove(id: summary.id, expecting: summary.version, db)
        try ReceiptTable.end(summary.id, end, db)
    }
}
