internal import SQLite
public import Vault

/// What an accepted edit is known by afterwards.
public struct Receipt: Hashable, Sendable {
    public enum Status: String, CaseIterable, Hashable, Sendable {
        case queued, sent, observed, merged, backedUp, superseded, restored, discarded
        /// The change is set aside, or damage has left the change or the receipt itself unreadable.
        case quarantined

        /// Whether upstream was asked for something, whatever came of it, unless more is known.
        var meansSent: Bool {
            switch self {
            case .sent, .observed, .merged, .backedUp, .restored, .queued: true
            case .superseded, .discarded, .quarantined: false
            }
        }
    }

    public let id: String
    public let userID: String
    public let pendingID: String
    public let cipherID: String
    public let status: Status
    public let resultCipherID: String?
    public let backupCipherID: String?
    public let queued: Moment
    public let sent: Moment?
    public let observed: Moment?
    public let ended: Moment?
}

/// How the receipts of a change end with it.
public struct ReceiptEnd: Hashable, Sendable {
    public let status: Receipt.Status
    public let at: Moment
    public let resultCipherID: String?
    public let backupCipherID: String?
    public let isSent: Bool

    /// - Parameter isSent: Whether upstream was asked for it; without it, what the status means.
    public init(
        _ status: Receipt.Status,
        at moment: Moment,
        resultCipherID: String? = nil,
        backupCipherID: String? = nil,
        isSent: Bool? = nil
    ) {
        self.status = status
        self.isSent = isSent ?? status.meansSent
        at = moment
        self.resultCipherID = resultCipherID
        self.backupCipherID = backupCipherID
    }
}

enum ReceiptTable {
    /// A receipt for the newest edit of a change.
    ///
    /// - Parameter isFolded: Whether the change may have receipts of earlier edits, which end here.
    static func issue(
        _ id: String,
        for change: PendingChange,
        isFolded: Bool,
        at moment: Moment,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        if isFolded { try end(change.id, ReceiptEnd(.superseded, at: moment), db) }
        try insert(id, for: change, .queued, at: moment, ended: nil, db)
    }

    /// A receipt for an edit of which nothing is left: the one that came after it has its own.
    static func issueSuperseded(
        _ id: String,
        for change: PendingChange,
        at moment: Moment,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try insert(id, for: change, .superseded, at: moment, ended: moment, db)
    }

    private static func insert(
        _ id: String,
        for change: PendingChange,
        _ status: Receipt.Status,
        at moment: Moment,
        ended: Moment?,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            INSERT INTO receipt (id, user_id, pending_id, cipher_id, status, queued_ticks, ended_ticks)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            .text(id),
            .text(change.userID),
            .text(change.id),
            .text(change.cipherID),
            .text(status.rawValue),
            .moment(moment),
            Value(ended.map { Int($0.ticks) })
        )
    }

    /// Whether some receipt still waits for what becomes of the change.
    static func isAwaited(
        _ pendingID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        try db.first(
            "SELECT 1 FROM receipt WHERE pending_id = ? AND status IN ('queued', 'quarantined') LIMIT 1",
            .text(pendingID)
        ) { (row) throws(DatabaseError) in try row.int(0) == 1 } ?? false
    }

    static func end(
        _ pendingID: String,
        _ end: ReceiptEnd,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            UPDATE receipt SET status = ?, result_cipher_id = ?, backup_cipher_id = ?,
                sent_ticks = iif(?, ?, sent_ticks), ended_ticks = ?
            WHERE pending_id = ? AND status IN ('queued', 'quarantined')
            """,
            .text(end.status.rawValue),
            Value(end.resultCipherID),
            Value(end.backupCipherID),
            .int(end.isSent ? 1 : 0),
            .moment(end.at),
            .moment(end.at),
            .text(pendingID)
        )
    }
}

extension ReceiptTable {
    /// Whatever takes a change away ends its receipts. If it is nowhere though they wait, damage has taken it.
    static func endLost(at moment: Moment, _ db: borrowing Connection) throws(DatabaseError) {
        try db.execute(
            """
            UPDATE receipt SET status = 'quarantined', ended_ticks = ?
            WHERE status = 'queued' AND pending_id NOT IN (SELECT id FROM pending_change)
            """,
            .moment(moment)
        )
    }

    static func observe(
        _ id: String,
        at moment: Moment,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            UPDATE receipt SET status = 'observed', observed_ticks = ?
            WHERE id = ? AND status = 'sent'
            """,
            .moment(moment),
            .text(id)
        )
    }

    static func supersede(
        _ id: String,
        at moment: Moment,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            UPDATE receipt SET status = 'superseded', ended_ticks = ?
            WHERE id = ? AND status = 'sent'
            """,
            .moment(moment),
            .text(id)
        )
    }
}

extension ReceiptTable {
    /// When the oldest of those that have ended was issued; of one that was issued before all that is forgotten, when it
    /// ended, because it is kept until then. What cannot be read is of no age.
    static func oldest(
        since reached: Moment?,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Moment? {
        try db.first(
            """
            SELECT min(ticks) FROM (
                SELECT min(queued_ticks) AS ticks FROM receipt WHERE queued_ticks >= ?1
                AND typeof(queued_ticks) = 'integer'
                AND status IN ('sent', 'observed', 'merged', 'backedUp', 'superseded', 'restored',
                    'discarded')
                UNION ALL
                SELECT min(ifnull(ended_ticks, queued_ticks)) FROM receipt WHERE queued_ticks < ?1
                AND status IN ('sent', 'observed', 'merged', 'backedUp', 'superseded', 'restored',
                    'discarded')
            )
            """,
            .moment(reached ?? Moment(ticks: .min))
        ) { (row) throws(DatabaseError) in try row.moment(orNil: 0) } ?? nil
    }

    /// Of an edit that waited for long, the receipt is kept as long after its end as any. What has ended before
    /// the moment was issued before it, which bounds what is looked at.
    static func forget(
        before moment: Moment,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            DELETE FROM receipt WHERE queued_ticks < ?1 AND ifnull(ended_ticks, queued_ticks) < ?1
            AND (status IN ('sent', 'observed', 'merged', 'backedUp', 'superseded', 'restored',
                'discarded') OR status = 'quarantined' AND typeof(ended_ticks) = 'integer')
            """,
            .moment(moment)
        )
    }
}

extension StoreReader {
    public func receipt(_ id: String, of userID: String) throws(StoreError) -> Receipt? {
        try read { (db) throws(DatabaseError) in
            try db.first(
                "SELECT * FROM receipt WHERE id = ? AND user_id = ?",
                .text(id),
                .text(userID)
            ) { (row) throws(DatabaseError) in try ReceiptRow(row) }?.receipt(id, of: userID, db)
        }
    }
}

extension Store {
    /// Forgets the receipts that have ended before the moment, and what was settled before it, a stride
    /// at a time if the clock has leapt; receipts whose end cannot be read stay.
    public func forgetReceipts(before moment: Moment) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in try Aftercare.forget(before: moment, db) }
    }
}
