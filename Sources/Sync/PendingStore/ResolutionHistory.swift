internal import SQLite
public import Vault

/// How a pending change was resolved, for the history.
public struct ResolutionNote: Hashable, Sendable {
    public enum Outcome: String, CaseIterable, Hashable, Sendable {
        case pushed, alreadyApplied, recreated, backedUpServer, backedUpLocal, restoredServer,
            deleted, cleanedUp, adopted, discarded
    }

    public let outcome: Outcome
    public let moment: Moment
    public let winner: Side?
    public internal(set) var backupCipherID: String?
    /// As what the change was pending, if it is something else by now.
    public let type: ChangeType?

    public init(
        _ outcome: Outcome,
        at moment: Moment,
        winner: Side? = nil,
        backupCipherID: String? = nil,
        type: ChangeType? = nil
    ) {
        self.outcome = outcome
        self.moment = moment
        self.winner = winner
        self.backupCipherID = backupCipherID
        self.type = type
    }
}

/// A row of the history.
public struct ResolutionEntry: Hashable, Sendable {
    public let sequence: Int
    public let pendingID: String
    public let cipherID: String
    public let type: ChangeType
    /// The backup copy is called what it is called now.
    public internal(set) var note: ResolutionNote
    public let recorded: Moment
}

extension ResolutionNote {
    func write(_ summary: PendingSummary, _ db: borrowing Connection) throws(DatabaseError) {
        try db.execute(
            """
            INSERT INTO resolution (user_id, pending_id, cipher_id, change_type, outcome, winner,
                backup_cipher_id, recorded_ticks, resolved_ticks)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .text(summary.lane.userID),
            .text(summary.id),
            .text(summary.lane.cipherID),
            .text(type?.rawValue ?? summary.typeText),
            .text(outcome.rawValue),
            Value(winner?.word),
            Value(backupCipherID),
            .moment(summary.created),
            .moment(moment)
        )
    }
}

extension StoreReader {
    /// Newest first.
    public func resolutions(
        of userID: String,
        since moment: Moment = Moment(ticks: .min),
        limit: Int
    ) throws(StoreError) -> [ResolutionEntry] {
        try read { (db) throws(DatabaseError) in
            let entries = try db.all(
                """
                SELECT * FROM resolution WHERE user_id = ? AND resolved_ticks >= ?
                ORDER BY seq DESC LIMIT ?
                """,
                .text(userID),
                .moment(moment),
                .int(max(limit, 0))
            ) { (row) throws(DatabaseError) in try ResolutionEntry(row) }
            return try entries.map { (entry) throws(DatabaseError) in
                guard let backup = entry.note.backupCipherID else { return entry }
                var known = entry
                let lane = Lane(userID: userID, cipherID: backup)
                known.note.backupCipherID = try AliasTable.resolve(lane, db).cipherID
                return known
            }
        }
    }

    /// Whether an earlier change of the cipher may have left a backup copy. One that was discarded may
    /// have been sending it.
    func mayHaveBackup(_ lane: Lane) throws(StoreError) -> Bool {
        try read { (db) throws(DatabaseError) in
            try db.first(
                """
                SELECT 1 FROM resolution
                WHERE user_id = ?1
                    AND (cipher_id = ?2 OR cipher_id IN (
                        SELECT made_id FROM alias WHERE user_id = ?1 AND cipher_id = ?2))
                    AND (backup_cipher_id IS NOT NULL OR outcome = 'discarded')
                LIMIT 1
                """,
                .text(lane.userID),
                .text(lane.cipherID)
            ) { (row) throws(DatabaseError) in try row.int(0) == 1 } ?? false
        }
    }
}

extension StoreReader {
    /// When what was made under that id has last given way to what upstream had already, as entries are numbered.
    func lastYield(of made: Lane) throws(StoreError) -> Int? {
        try read { (db) throws(DatabaseError) in
            try db.first(
                """
                SELECT seq FROM resolution
                WHERE user_id = ? AND cipher_id = ? AND outcome = 'backedUpLocal'
                    AND backup_cipher_id IS NOT NULL
                ORDER BY seq DESC LIMIT 1
                """,
                .text(made.userID),
                .text(made.cipherID)
            ) { (row) throws(DatabaseError) in try row.int(0) }
        }
    }
}

extension ResolutionEntry {
    fileprivate init(_ row: borrowing Row) throws(DatabaseError) {
        sequence = try row.int(0)
        pendingID = try row.text(2)
        cipherID = try row.text(3)
        type = ChangeType.shown(for: try row.text(4))
        recorded = try row.moment(8)
        note = ResolutionNote(
            // The table's CHECK lets no other word in.
            ResolutionNote.Outcome(rawValue: try row.text(5)) ?? .cleanedUp,
            at: try row.moment(9),
            winner: try row.text(orNil: 6).flatMap { Side(word: $0) },
            backupCipherID: try row.text(orNil: 7)
        )
    }
}
