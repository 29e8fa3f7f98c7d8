internal import SQLite
internal import Vault

/// A row of the receipt table as it stands, understood or not.
struct ReceiptRow: Sendable {
    private let id: String?
    private let userID: String?
    private let pendingID: String?
    private let cipherID: String?
    private let word: String?
    private let resultCipherID: String?
    private let backupCipherID: String?
    private let queued: Int?
    private let sent: Int?
    private let observed: Int?
    private let ended: Int?
    /// Whether every column held what the table promises.
    private let isSound: Bool

    /// A column that holds something of another kind counts as empty: the rest is worth keeping.
    init(_ row: borrowing Row) throws(DatabaseError) {
        (id, userID) = (try? row.text(0), try? row.text(1))
        (pendingID, cipherID) = (try? row.text(2), try? row.text(3))
        word = try? row.text(4)
        (resultCipherID, backupCipherID) = (try? row.text(5), try? row.text(6))
        (queued, sent) = (try? row.int(7), try? row.int(8))
        (observed, ended) = (try? row.int(9), try? row.int(10))
        isSound =
            id != nil && userID != nil && pendingID != nil && cipherID != nil && word != nil
            && queued != nil && row.isNull(5) == (resultCipherID == nil)
            && row.isNull(6) == (backupCipherID == nil) && row.isNull(8) == (sent == nil)
            && row.isNull(9) == (observed == nil) && row.isNull(10) == (ended == nil)
    }
}

extension ReceiptRow {
    /// What its owner is told of it.
    func receipt(
        _ id: String,
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Receipt {
        Receipt(
            id: id,
            userID: userID,
            pendingID: pendingID ?? "",
            cipherID: cipherID ?? "",
            status: try status(db),
            resultCipherID: resultCipherID,
            backupCipherID: try backupCipherID.map { (id) throws(DatabaseError) in
                try AliasTable.resolve(Lane(userID: userID, cipherID: id), db).cipherID
            },
            queued: Moment(ticks: Int64(queued ?? 0)),
            sent: sent.map { Moment(ticks: Int64($0)) },
            observed: observed.map { Moment(ticks: Int64($0)) },
            ended: ended.map { Moment(ticks: Int64($0)) }
        )
    }

    /// A word that is none of ours is a later program's, or damaged.
    private func status(_ db: borrowing Connection) throws(DatabaseError) -> Receipt.Status {
        let status = word.flatMap(Receipt.Status.init)
        guard isSound, let status else { return .quarantined }
        guard status == .queued else { return status }
        let state = try db.first(
            "SELECT state FROM pending_change WHERE id = ?",
            Value(pendingID)
        ) { (row) throws(DatabaseError) in try row.text(0) }
        // Whatever takes a change away ends its receipts, so one that is gone was lost to damage.
        return state == nil || state == "quarantined" ? .quarantined : .queued
    }
}

extension ReceiptRow {
    /// From either end.
    static let ways: [StaticString] = [
        "SELECT * FROM receipt ORDER BY id",
        "SELECT * FROM receipt ORDER BY id DESC",
    ]

    /// What is found up to the first damage.
    static func all(by way: StaticString, in source: Database) throws(StoreError) -> [ReceiptRow] {
        var rows: [ReceiptRow] = []
        do throws(DatabaseError) {
            try source.read { (db) throws(DatabaseError) in
                try db.forEach(way) { (row) throws(DatabaseError) in
                    rows.append(try ReceiptRow(row))
                }
            }
        } catch {
            try error.passedOver(())
        }
        return rows
    }

    /// What the table would refuse is set aside in it; without an id or an owner, nobody could ask for
    /// it.
    func insert(_ db: borrowing Connection) throws(DatabaseError) {
        guard let id, let userID else { return }
        do throws(DatabaseError) {
            try insert(id, userID, as: isSound ? word ?? "" : Self.aside, db)
        } catch {
            guard error.code?.primary == .constraint else { throw error }
            guard id.unicodeScalars.count == 36, !id.contains("\0"), !userID.isEmpty else { return }
            try insert(id, userID, as: Self.aside, db)
        }
    }

    private static let aside = Receipt.Status.quarantined.rawValue

    private func insert(
        _ id: String,
        _ userID: String,
        as word: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            INSERT INTO receipt (id, user_id, pending_id, cipher_id, status, result_cipher_id,
                backup_cipher_id, queued_ticks, sent_ticks, observed_ticks, ended_ticks)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            .text(id),
            .text(userID),
            .text(pendingID ?? ""),
            .text(cipherID ?? ""),
            .text(word),
            Value(resultCipherID),
            Value(backupCipherID),
            .int(queued ?? 0),
            Value(sent),
            Value(observed),
            Value(ended)
        )
    }
}
