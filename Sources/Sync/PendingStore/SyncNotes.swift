internal import SQLite
public import Vault

/// What the schedulers and the runs need to know, and to have kept.
extension StoreReader {
    /// What was kept of an account's syncs, in its scheduler's own words.
    func syncNote(of userID: String) throws(StoreError) -> String? {
        try setting(SyncNotes.name(of: userID))
    }

    /// How many changes are pending and not set aside.
    public func liveCount(of userID: String) throws(StoreError) -> Int {
        try read { (db) throws(DatabaseError) in
            try db.first(
                """
                SELECT ifnull(sum(count), 0) FROM pending_tally
                WHERE user_id = ? AND state <> 'quarantined'
                """,
                .text(userID)
            ) { (row) throws(DatabaseError) in try row.int(0) } ?? 0
        }
    }

    /// The stamps of what upstream last said. What the disk has damaged says nothing.
    func stamps(of userID: String) throws(StoreError) -> [String: Moment?] {
        let base = try read { (db) throws(DatabaseError) in try BaseTable.all(of: userID, db) }
        let sound = base.lazy.filter { !$0.isDamaged }
        // A damaged index may let in two of one cipher.
        return Dictionary(sound.map { ($0.lane.cipherID, $0.revision.moment) }) { $1 }
    }

    /// What was deleted for good from here, and is remembered. What upstream was believed to have all the same is
    /// not: that it goes on to show it is no news.
    func deleted(of userID: String) throws(StoreError) -> Set<String> {
        try read { (db) throws(DatabaseError) in
            Set(
                try db.all(
                    """
                    SELECT cipher_id FROM brought_up WHERE user_id = ? AND is_gone = 1
                        AND NOT EXISTS (SELECT 1 FROM base_cipher AS base
                            WHERE base.user_id = brought_up.user_id
                                AND base.cipher_id = brought_up.cipher_id)
                    """,
                    .text(userID)
                ) { (row) throws(DatabaseError) in try row.text(0) }
            )
        }
    }

    /// Whether everything was taken over at some time, and is here still.
    func hasBase(of userID: String) throws(StoreError) -> Bool {
        try read { (db) throws(DatabaseError) in
            try db.first(
                "SELECT 1 FROM base_slice WHERE user_id = ? AND kind = 'profile'",
                .text(userID)
            ) { (row) throws(DatabaseError) in try row.int(0) == 1 } ?? false
        }
    }

    /// Whether something that was written over is held, and nothing is pending there that goes first. What is there
    /// in an earlier state has not been written over it, however often one looks.
    func holdsOverwritten(of userID: String) throws(StoreError) -> Bool {
        try read { (db) throws(DatabaseError) in
            try db.first(
                """
                SELECT 1 FROM brought_up AS brought INDEXED BY brought_up_left_out
                WHERE user_id = ?1 AND left_out IS NOT NULL AND is_exposed > 0
                    AND EXISTS (SELECT 1 FROM base_cipher AS base
                        WHERE base.user_id = ?1 AND base.cipher_id = brought.cipher_id
                        AND (is_exposed > 1 OR base.revision_ticks + ?2 > brought.revision_ticks))
                    AND NOT EXISTS (SELECT 1 FROM pending_change
                        WHERE user_id = ?1 AND cipher_id = brought.cipher_id)
                """,
                .text(userID),
                .int(Int(Moment.ticksPerSecond))
            ) { (_) throws(DatabaseError) in true } ?? false
        }
    }

    /// Of what was sent and not yet seen in a refresh.
    func sentReceiptIDs(of userID: String) throws(StoreError) -> Set<String> {
        try read { (db) throws(DatabaseError) in
            // The status is said twice, because an index is known by its own words.
            let ids = try db.all(
                """
                SELECT id FROM receipt WHERE user_id = ? AND status = 'sent'
                    AND status IN ('sent', 'observed')
                """,
                .text(userID)
            ) { (row) throws(DatabaseError) in try row.text(0) }
            return Set(ids)
        }
    }

    /// The receipts of what was sent and not yet seen in a refresh, as far as they can be read.
    func sentReceipts(of userID: String) throws(StoreError) -> [Receipt] {
        try read { (db) throws(DatabaseError) in
            let rows = try db.all(
                """
                SELECT * FROM receipt WHERE user_id = ? AND status = 'sent'
                    AND status IN ('sent', 'observed')
                """,
                .text(userID)
            ) { (row) throws(DatabaseError) in (id: try row.text(0), row: try ReceiptRow(row)) }
            var receipts: [Receipt] = []
            for found in rows {
                let receipt = try found.row.receipt(found.id, of: userID, db)
                if receipt.status == .sent { receipts.append(receipt) }
            }
            return receipts
        }
    }
}

enum SyncNotes {
    static func name(of userID: String) -> String { "sync \(userID)" }

    static func erase(_ userID: String, _ db: borrowing Connection) throws(DatabaseError) {
        try SettingTable.remove(name(of: userID), db)
    }
}

extension Store {
    /// Keeps what is to be known of an account's syncs; of one that was erased meanwhile nothing.
    func noteSync(_ text: String, of userID: String) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            guard try AccountTable.contains(userID, db) else { return }
            try SettingTable.put(SyncNotes.name(of: userID), text, db)
        }
    }

    /// A later refresh showed what was sent.
    public func observe(
        _ ids: [String],
        superseded: [String] = [],
        at moment: Moment
    ) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            for id in ids { try ReceiptTable.observe(id, at: moment, db) }
            for id in superseded { try ReceiptTable.supersede(id, at: moment, db) }
        }
    }
}
