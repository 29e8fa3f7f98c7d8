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
            // Of what upstream has never had, nothing else is left under its id.
            if let backupID, stored.change?.isUnborn == true {
                try AliasTable.point(stored.summary.lane, to: backupID, db)
            }
            return true
        }
    }

    /// Removes a record, unless it was edited since that version: a later wish of the same user has
    /// reached upstream another way. A younger record of the same cipher has another id and stays.
    public func clear(_ id: String, upTo version: Int64) async throws(StoreError) {
        let discard = Discard(status: .superseded, at: now)
        try await write { (db) throws(DatabaseError) in
            guard
                let stored = try PendingTable.find(id: id, db),
                stored.summary.version <= version
            else { return }
            try discard.carryOut(stored, db)
        }
    }

    /// Removes a record by its own id. Nothing happens if there is none.
    public func remove(_ id: String) async throws(StoreError) {
        let discard = Discard(status: .discarded, at: now)
        try await write { (db) throws(DatabaseError) in
            guard let stored = try PendingTable.find(id: id, db) else { return }
            try discard.carryOut(stored, db)
        }
    }

    /// Removes whatever is pending for a cipher.
    public func remove(_ lane: Lane) async throws(StoreError) {
        let discard = Discard(status: .discarded, at: now)
        try await write { (db) throws(DatabaseError) in
            guard let stored = try PendingTable.find(AliasTable.resolve(lane, db), db) else {
                return
            }
            try discard.carryOut(stored, db)
        }
    }

    /// Removes everything that is pending for an account, and nothing else of it.
    public func removeAll(of userID: String) async throws(StoreError) {
        let discard = Discard(status: .discarded, at: now)
        try await write { (db) throws(DatabaseError) in
            for stored in try PendingTable.all(of: userID, db) {
                try discard.carryOut(stored, db)
            }
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

    init(status: Receipt.Status, at moment: Moment) {
        self.init(ReceiptEnd(status, at: moment))
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
