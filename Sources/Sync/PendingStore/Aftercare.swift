internal import SQLite
internal import Vault

/// What is remembered of changes that are settled, for a week: upstream may forget what it has
/// taken, and may carry out late what it never answered.
enum Aftercare {
    /// To be called once base has taken upstream's answer.
    ///
    /// - Parameter before: What base had said.
    static func begin(
        _ settlement: Settlement,
        _ lane: Lane,
        _ settled: PendingSummary,
        before: BaseCipher?,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        guard try AccountTable.contains(lane.userID, db) else { return }
        let moment = try youngEnough(settlement.receipts.at, db)
        try watch(settlement, lane, moment, db)
        let (cipherID, isGone): (String, Bool)
        switch settlement.upstream {
        case .holds(let base): (cipherID, isGone) = (base.lane.cipherID, false)
        case .lacks where settled.type == .hardDelete && settlement.receipts.status == .sent:
            (cipherID, isGone) = (lane.cipherID, true)
        case .lacks, .untouched: return
        }
        let known = [before?.revision.moment, settled.baseline?.moment].compactMap(\.self).max()
        try db.execute(
            "INSERT OR REPLACE INTO brought_up VALUES (?, ?, ?, ?, ?, ?)",
            .text(lane.userID),
            .text(cipherID),
            .int(isGone ? 1 : 0),
            .int(Int(moment.ticks)),
            .blob(settlement.keyFingerprint),
            known.map { .int(Int($0.ticks)) } ?? .null
        )
    }

    private static func watch(
        _ settlement: Settlement,
        _ lane: Lane,
        _ moment: Moment,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        for stray in settlement.strays {
            try db.execute(
                "INSERT OR REPLACE INTO stray VALUES (?, ?, ?, ?)",
                .text(lane.userID),
                .blob(stray.fingerprint),
                .text(stray.keeperID),
                .int(Int(moment.ticks))
            )
        }
    }

    /// A clock that leaps makes nothing old at once: each time, the past moves on by a stride at most, or
    /// to where still nothing is forgotten.
    static func forget(before moment: Moment, _ db: borrowing Connection) throws(DatabaseError) {
        let next = [
            try reached(db)?.advanced(bySeconds: stride),
            try oldest(db)?.advanced(bySeconds: -Chore.secondsOfReceipts),
        ].compactMap(\.self).max()
        let moment = min(moment, next ?? moment)
        try db.execute(
            """
            INSERT INTO setting VALUES ('forgotten', ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """,
            .text(moment.ticks.description)
        )
        for table: StaticString in [
            "DELETE FROM brought_up WHERE settled_ticks < ?",
            "DELETE FROM stray WHERE settled_ticks < ?",
        ] { try db.execute(table, .int(Int(moment.ticks))) }
        try OwnHistory.sweep(db)
    }

    /// In seconds. A host that is up for an hour a day still forgets as fast as it learns.
    private static let stride: Int64 = 12 * 3_600

    private static func oldest(_ db: borrowing Connection) throws(DatabaseError) -> Moment? {
        let ticks = try db.first(
            """
            SELECT min(ticks) FROM (SELECT min(settled_ticks) AS ticks FROM brought_up
                UNION ALL SELECT min(settled_ticks) FROM stray)
            """
        ) { (row) throws(DatabaseError) in try row.int(orNil: 0) }
        return (ticks ?? nil).map { Moment(ticks: Int64($0)) }
    }

    /// Up to when everything was forgotten.
    private static func reached(_ db: borrowing Connection) throws(DatabaseError) -> Moment? {
        let ticks = try db.first("SELECT value FROM setting WHERE name = 'forgotten'") {
            (row) throws(DatabaseError) in Int64(try row.text(0))
        }
        return (ticks ?? nil).map { Moment(ticks: $0) }
    }

    /// A clock that was set back would have what is new be forgotten at once.
    private static func youngEnough(
        _ moment: Moment,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Moment {
        max(moment, try reached(db)?.advanced(bySeconds: Chore.secondsOfReceipts) ?? moment)
    }

    /// Files that were set aside by an earlier version have no such tables.
    static func erase(_ userID: String, _ db: borrowing Connection) throws(DatabaseError) {
        let isThere = try db.first("SELECT 1 FROM sqlite_master WHERE name = 'brought_up'") {
            (row) throws(DatabaseError) in try row.int(0) == 1
        }
        guard isThere == true else { return }
        for table: StaticString in [
            "DELETE FROM brought_up WHERE user_id = ?", "DELETE FROM stray WHERE user_id = ?",
            "DELETE FROM backup_file WHERE user_id = ?",
        ] { try db.execute(table, .text(userID)) }
    }
}

/// Something that was sent more than once, because nobody knows what became of the first time.
public struct Stray: Hashable, Sendable {
    /// Of the content as it was sent.
    public let fingerprint: [UInt8]
    /// Which of the copies is the one.
    public let keeperID: String

    public init(_ fingerprint: [UInt8], keeperID: String) {
        self.fingerprint = fingerprint
        self.keeperID = keeperID
    }
}

extension Aftercare {
    static func strays(
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> [Stray] {
        try db.all("SELECT fingerprint, keeper_id FROM stray WHERE user_id = ?", .text(userID)) {
            (row) throws(DatabaseError) in Stray(try row.bytes(0), keeperID: try row.text(1))
        }
    }
}

extension StoreReader {
    public func strays(of userID: String) throws(StoreError) -> [Stray] {
        try read { (db) throws(DatabaseError) in try Aftercare.strays(of: userID, db) }
    }
}
