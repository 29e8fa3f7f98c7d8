internal import Records
internal import SQLite
internal import Vault

/// A row of the pending table as it stands, understood or not.
struct PendingRow: Sendable {
    let sequence: Int
    private(set) var id: String
    private(set) var userID: String
    private(set) var cipherID: String
    private(set) var version: Int
    private(set) var type: String
    private var state: String
    private var due: Int?
    let created: Int
    let updated: Int
    private var baseline: (text: String?, ticks: Int?)
    private var passwordChanges: Int
    private var snapshot: [UInt8]?
    private let baseCopy: [UInt8]?
    private var record: [UInt8]
    /// Whether every column held what the table promises.
    private let isSound: Bool

    /// A column that holds something of another kind counts as empty: the rest is worth keeping.
    init(_ row: borrowing Row) throws(DatabaseError) {
        sequence = try row.int(0)
        let (id, user, cipher) = (try? row.text(1), try? row.text(2), try? row.text(3))
        let (version, type, state) = (try? row.int(4), try? row.text(5), try? row.text(6))
        let (due, created, updated) = (try? row.int(orNil: 7), try? row.int(8), try? row.int(9))
        let (text, ticks) = (try? row.text(orNil: 10), try? row.int(orNil: 11))
        let passwordChanges = try? row.int(12)
        let (snapshot, copy) = (try? row.bytes(orNil: 13), try? row.bytes(orNil: 14))
        let record = try? row.bytes(15)
        isSound =
            id != nil && user != nil && cipher != nil && version != nil && type != nil
            && state != nil && created != nil && updated != nil && passwordChanges != nil
            && record != nil && row.isNull(7) == (due == nil) && row.isNull(10) == (text == nil)
            && row.isNull(11) == (ticks == nil) && row.isNull(13) == (snapshot == nil)
            && row.isNull(14) == (copy == nil)
        (self.id, userID, cipherID) = (id ?? "", user ?? "", cipher ?? "")
        (self.version, self.type, self.state) = (version ?? 1, type ?? "", state ?? "")
        (self.due, self.created, self.updated) = (due, created ?? 0, updated ?? 0)
        baseline = (text, ticks)
        self.passwordChanges = passwordChanges ?? 0
        (self.snapshot, baseCopy, self.record) = (snapshot, copy, record ?? [])
    }
}

extension PendingRow {
    /// Makes room for it. Who waits for what was there waits for this from now on.
    func clear(at moment: Moment, _ db: borrowing Connection) throws(DatabaseError) {
        let lane = Lane(userID: userID, cipherID: cipherID)
        guard let earlier = try PendingTable.summary(lane, db) else { return }
        try ReceiptTable.end(earlier.id, ReceiptEnd(.superseded, at: moment), db)
        try db.execute("DELETE FROM pending_change WHERE id = ?", .text(earlier.id))
    }

    /// With its number, so that the order stays. A cipher that has a row keeps that, and a number
    /// that is taken by another change sends this one to the end. What the table would refuse is
    /// set aside in it.
    ///
    /// - Returns: Whether it was taken in.
    @discardableResult
    func insert(_ db: borrowing Connection) throws(DatabaseError) -> Bool {
        guard isSound else { return try bent.insertAnywhere(db) }
        do throws(DatabaseError) {
            return try insertAnywhere(db)
        } catch {
            guard error.code?.primary == .constraint else { throw error }
            return try bent.insertAnywhere(db)
        }
    }

    /// The same, but in the place of what its cipher has: that came before.
    func insertOverEarlier(
        at moment: Moment,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        if try insert(db) { return }
        try clear(at: moment, db)
        try insert(db)
    }

    private func insertAnywhere(_ db: borrowing Connection) throws(DatabaseError) -> Bool {
        if try insert(as: .int(sequence), db) == 1 { return true }
        return try insert(as: .null, db) == 1
    }

    private func insert(
        as sequence: Value,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Int {
        try db.execute(
            """
            INSERT INTO pending_change (seq, id, user_id, cipher_id, version, change_type, state,
                due_ticks, created_ticks, updated_ticks, baseline_text, baseline_ticks,
                password_changes, snapshot, base_copy, record)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """,
            sequence,
            .text(id),
            .text(userID),
            .text(cipherID),
            .int(version),
            .text(type),
            .text(state),
            Value(due),
            .int(created),
            .int(updated),
            Value(baseline.text),
            Value(baseline.ticks),
            .int(passwordChanges),
            Value(snapshot),
            Value(baseCopy),
            .blob(record)
        )
    }

    /// As the table takes it: set aside, until a person decides. The content stays as it is.
    private var bent: PendingRow {
        var row = quarantined
        let number = String(sequence.magnitude, radix: 16).suffix(12)
        let padded = String(repeating: "0", count: 12 - number.count) + number
        // Characters are counted as SQLite does, up to the first that is none.
        if id.unicodeScalars.count != 36 || id.contains("\0") {
            row.id = "00000000-0000-4000-8000-\(padded)"
        }
        if userID.isEmpty || userID.hasPrefix("\0") { row.userID = "unknown" }
        if cipherID.isEmpty || cipherID.hasPrefix("\0") { row.cipherID = "unknown-\(padded)" }
        row.version = max(version, 1)
        row.passwordChanges = max(passwordChanges, 0)
        // The record has them, too.
        if type == "create" || (baseline.text == nil) != (baseline.ticks == nil) {
            row.baseline = (nil, nil)
        }
        if ["create", "update"].contains(type) { row.snapshot = snapshot ?? [] }
        if type == "hardDelete", snapshot != nil { row.type = "unknown" }
        return row
    }

    private var quarantined: PendingRow {
        var row = self
        (row.state, row.due) = (PendingChange.State.quarantined.kind.rawValue, nil)
        return row
    }
}

extension PendingRow {
    private var understood: PendingRecord? {
        let columns = PendingRecord.Columns(
            id: id,
            userID: userID,
            cipherID: cipherID,
            version: Int64(version),
            changeType: type,
            state: PendingChange.State(PendingChange.State.Kind(word: state), due: due),
            updated: Moment(ticks: Int64(updated)),
            snapshot: snapshot,
            baseCopy: baseCopy
        )
        return PendingRecord.read(record, columns).value
    }

    var isReadable: Bool { understood != nil }

    /// Whether this version knows what it is, besides.
    var isUnderstood: Bool { understood.map { $0.change.foreignType == nil } ?? false }

    /// Whether both are about one change, of which a damaged one may have lost its id.
    func isSame(as other: PendingRow) -> Bool {
        id == other.id
            || sequence == other.sequence && userID == other.userID && cipherID == other.cipherID
    }

    /// Whether nothing has been done to it since but that it was set aside.
    func isAsOld(as kept: PendingRow) -> Bool {
        let isSetAside = state == PendingChange.State.quarantined.kind.rawValue
        return kept.version == version || isSetAside && kept.version + 1 == version
    }

    /// The same with what a copy has kept of it, if that is no older; nil if it is, or cannot be read either.
    func mended(by kept: PendingRow, at moment: Moment) -> PendingRow? {
        guard isSame(as: kept), isAsOld(as: kept), kept.isUnderstood else { return nil }
        var row = kept.doubted(at: moment)
        row.version = version + 1
        if row.state == PendingChange.State.inFlight.kind.rawValue {
            (row.state, row.due) = (PendingChange.State.ready.kind.rawValue, 0)
        }
        return row
    }

    /// Takes the place of what it was made of, unless that has changed.
    func replace(_ damaged: PendingRow, _ db: borrowing Connection) throws(DatabaseError) {
        let isThere = try PendingTable.remove(
            id: damaged.id,
            expecting: Int64(damaged.version),
            db
        )
        if isThere { try insert(db) }
    }

    /// As it is to be when it comes out of a copy: what was sent since that was made nobody knows, so
    /// upstream is asked before anything is sent. What cannot be read is set aside.
    func doubted(at moment: Moment) -> PendingRow {
        guard var record = understood, record.change.foreignType == nil else { return quarantined }
        record.change.noteDoubt(at: moment)
        var row = self
        row.record = record.encoded()
        return row
    }
}

extension PendingChange {
    /// What may have been sent, unless the like of it is known.
    fileprivate mutating func noteDoubt(at moment: Moment) {
        for attempt in intent.attempts(at: moment) {
            let isKnown = attempts.contains { $0.isSame(as: attempt) && $0.outcome == .unknown }
            if !isKnown { note(attempt) }
        }
    }
}

extension Intent {
    /// All that is sent for it, as it is written down before that.
    fileprivate func attempts(at moment: Moment) -> [Attempt] {
        let content = snapshot.flatMap { try? Cipher($0.json) }
        return kinds.map { kind in
            Attempt(kind, at: moment, of: kind.bringsContent ? content : nil)
        }
    }

    private var kinds: [Attempt.Kind] {
        switch self {
        case .create: [.create]
        case .update: [.update]
        case .softDelete(let content, _): content == nil ? [.trash] : [.update, .trash]
        case .hardDelete: [.hardDelete]
        case .other(let restores, _): [restores ? .restore : .partial]
        }
    }
}
