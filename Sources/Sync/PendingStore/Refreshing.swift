internal import Records
internal import SQLite
internal import System
internal import Vault

/// Where base stands: what is written to it after this is younger than what was asked for then.
public struct RefreshMark: Hashable, Sendable {
    let written: Int

    init(written: Int) { self.written = written }

    init?(text: String) {
        guard let written = Int(text) else { return nil }
        self.written = written
    }

    var text: String { "\(written)" }
}

/// What a refresh has come to.
public struct Refreshed: Hashable, Sendable {
    /// How many ciphers are other than they were, and how many are gone.
    public var changed = 0
    public var removed = 0
    /// How many stayed as they are because they are younger than the answer, which shows them
    /// otherwise or not at all. Something in it may be younger still.
    public var kept = 0
    /// How many changes are offered to upstream again.
    public var offered = 0
    /// Where base is now.
    public var mark = RefreshMark(written: 0)
}

extension StoreReader {
    /// To be taken before the request goes out.
    public func refreshMark(of userID: String) throws(StoreError) -> RefreshMark {
        RefreshMark(
            written: try read { (db) throws(DatabaseError) in
                try BaseTable.clock(of: userID, db)
            }
        )
    }
}

extension Store {
    /// Takes over all that upstream holds of an account, in one transaction. What was written since the mark stays, and
    /// so does what is pending; what upstream has lost is offered to it again. An account that was erased meanwhile
    /// stays so, here and wherever else base is written.
    ///
    /// - Parameters:
    ///   - isFallback: Upstream went back in time. What it took from here since then is to be offered to
    ///     it again.
    ///   - judge: Of what others have written over.
    public func refresh(
        _ userID: String,
        ciphers: [BaseCipher],
        slices: [BaseSlice],
        since mark: RefreshMark,
        isFallback: Bool = false,
        judge: Judge = .locked
    ) async throws(StoreError) -> Refreshed {
        let offering = Offering(
            userID: userID,
            fetched: ciphers,
            mark: mark,
            judge: judge,
            now: now,
            chance: chance
        )
        return try await write { (db) throws(DatabaseError) in
            var refreshed = Refreshed()
            guard try AccountTable.contains(userID, db) else { return refreshed }
            // Whether it has gone back or not, it may have carried out late what it never answered.
            if isFallback { refreshed.offered = try offering.make(db) }
            let undone = try offering.makeOfUndone(db)
            let overwritten = try offering.makeOfOverwritten(db)
            refreshed.offered += undone.count + overwritten.count
            let written = try BaseTable.advanceClock(of: userID, db)
            refreshed.mark = RefreshMark(written: written)
            try Self.take(ciphers, of: userID, written, since: mark, by: judge, &refreshed, db)
            let kept = Set(ciphers.map(\.lane.cipherID))
            if mutated(.refreshForgetsPending) {
                try db.execute("DELETE FROM pending_change WHERE state = 'backingOff'")
                try PendingTable.countAnew(db)
            }
            try Self.removeAbsent(of: userID, keeping: kept, since: mark, &refreshed, db)
            try Aftercare.forgetLeftOut(of: userID, written, since: mark, db)
            for lost in undone.held { try Aftercare.hold(lost, as: .none, db) }
            for lost in overwritten.held {
                try Aftercare.hold(lost.base, as: lost.row.exposure, db)
            }
            refreshed.kept += try Self.replace(slices, of: userID, written, since: mark, db)
            try db.execute(
                "DELETE FROM base_removed WHERE user_id = ? AND written <= ?",
                .text(userID),
                .int(mark.written)
            )
            return refreshed
        }
    }

    private static func take(
        _ ciphers: [BaseCipher],
        of userID: String,
        _ written: Int,
        since mark: RefreshMark,
        by judge: Judge,
        _ refreshed: inout Refreshed,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        let removed = Set(
            try db.all(
                "SELECT cipher_id FROM base_removed WHERE user_id = ? AND written > ?",
                .text(userID),
                .int(mark.written)
            ) { (row) throws(DatabaseError) in try row.text(0) }
        )
        for cipher in ciphers {
            let known = try known(cipher.lane, db)
            if let known, !known.cipher.isDamaged, known.cipher == cipher { continue }
            let isYounger = known.map { !$0.cipher.isDamaged && $0.written > mark.written }
            if isYounger == true && !mutated(.refreshOverwritesYounger)
                || removed.contains(cipher.lane.cipherID)
            {
                refreshed.kept += 1
                continue
            }
            if let known {
                try OwnHistory.follow(known.cipher, to: cipher, db)
                try Aftercare.follow(known.cipher, to: cipher, by: judge, db)
            }
            try BaseTable.put(cipher, written: written, db)
            refreshed.changed += 1
        }
    }

    private struct Known {
        let written: Int
        let cipher: BaseCipher
    }

    private static func known(
        _ lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Known? {
        try db.first(
            "SELECT * FROM base_cipher WHERE user_id = ? AND cipher_id = ?",
            .text(lane.userID),
            .text(lane.cipherID)
        ) { (row) throws(DatabaseError) in
            Known(written: try row.int(7), cipher: try BaseCipher(row))
        }
    }

    private static func removeAbsent(
        of userID: String,
        keeping kept: Set<String>,
        since mark: RefreshMark,
        _ refreshed: inout Refreshed,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        let absent = try db.all(
            "SELECT rowid, cipher_id, written FROM base_cipher WHERE user_id = ?",
            .text(userID)
        ) { (row) throws(DatabaseError) in
            (number: try row.int(0), id: try row.text(1), written: try row.int(2))
        }.filter { !kept.contains($0.id) }
        for row in absent {
            if row.written > mark.written, !mutated(.refreshRemovesYounger),
                try !isDamaged(row.number, db)
            {
                refreshed.kept += 1
                continue
            }
            try Aftercare.keepLeftOut(Lane(userID: userID, cipherID: row.id), db)
            refreshed.removed += try db.execute(
                "DELETE FROM base_cipher WHERE rowid = ?",
                .int(row.number)
            )
        }
    }

    /// Whether the row is one that nobody wrote so: when it was written cannot be told either.
    private static func isDamaged(
        _ number: Int,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        try db.first("SELECT * FROM base_cipher WHERE rowid = ?", .int(number)) {
            (row) throws(DatabaseError) in try BaseCipher(row).isDamaged
        } ?? false
    }

    /// - Returns: How many stayed as they are because they are younger than the answer.
    private static func replace(
        _ slices: [BaseSlice],
        of userID: String,
        _ written: Int,
        since mark: RefreshMark,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Int {
        let younger = try BaseTable.slicesYounger(than: mark.written, of: userID, db)
        for table: StaticString in [
            // A list has no domains; they are asked for apart.
            "DELETE FROM base_slice WHERE user_id = ? AND written <= ? AND kind <> 'domains'",
            "DELETE FROM slice_removed WHERE user_id = ? AND written <= ?",
        ] { try db.execute(table, .text(userID), .int(mark.written)) }
        for slice in slices where !younger.contains([slice.kind.rawValue, slice.id]) {
            try BaseTable.put(slice, of: userID, written: written, db)
        }
        return younger.count
    }
}

extension Store {
    /// One cipher as upstream says it is now.
    ///
    /// - Parameter judge: Of what others have written over.
    public func putBase(
        _ cipher: BaseCipher,
        by judge: Judge = .locked
    ) async throws(StoreError) {
        let offering = self.offering(of: cipher, by: judge)
        try await write { (db) throws(DatabaseError) in
            try Self.put(cipher, sentOver: nil, offering, db)
        }
    }

    /// The same, unless base has moved on since the answer was asked for.
    ///
    /// - Parameters:
    ///   - ground: The revision over which it was sent, where it has just been sent from here.
    ///   - mark: Where base was then. Without it, nobody but a refresh can have written since, which may
    ///     have read upstream earlier: the later stamp counts.
    ///   - judge: Of what others have written over.
    /// - Returns: Whether base follows it.
    func followBase(
        _ cipher: BaseCipher,
        over ground: Revision?,
        since mark: RefreshMark?,
        by judge: Judge
    ) async throws(StoreError) -> Bool {
        let offering = self.offering(of: cipher, by: judge)
        return try await write { (db) throws(DatabaseError) in
            let lane = cipher.lane
            if let mark {
                let last = [
                    try BaseTable.writing(of: lane, db), try BaseTable.removal(of: lane, db),
                ]
                if last.contains(where: { $0 ?? 0 > mark.written }) { return false }
            } else if let before = try BaseTable.footing(lane, db)?.revision {
                if cipher.revision.isEarlier(than: before) { return false }
            }
            try Self.put(cipher, sentOver: ground, offering, db)
            return true
        }
    }

    private static func put(
        _ cipher: BaseCipher,
        sentOver ground: Revision?,
        _ offering: Offering,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        guard try AccountTable.contains(cipher.lane.userID, db) else { return }
        let exposed = try Offering.Exposed.find(cipher.lane, db)
        let undone = try Offering.undone(by: cipher, db)
        let known = try BaseTable.find(cipher.lane, db)
        if let ground {
            let before = known?.revision
            try OwnHistory.extend(by: cipher, over: ground, before: before, db)
        } else if let known {
            try OwnHistory.follow(known, to: cipher, db)
        }
        try BaseTable.put(
            cipher,
            written: BaseTable.advanceClock(of: cipher.lane.userID, db),
            db
        )
        if let followed = exposed?.base ?? known {
            try Aftercare.follow(followed, to: cipher, by: offering.judge, db)
        }
        // What was sent over what was there is nobody else's.
        if let exposed, ground == nil { try offering.keepLost(exposed, to: cipher, db) }
        if let undone { try offering.redoOrHold(undone, db) }
    }

    /// A folder, a send, as upstream says it is now.
    public func putSlice(_ slice: BaseSlice, of userID: String) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            guard try AccountTable.contains(userID, db) else { return }
            try BaseTable.put(
                slice,
                of: userID,
                written: BaseTable.advanceClock(of: userID, db),
                db
            )
        }
    }

    public func removeSlice(
        _ kind: BaseSlice.Kind,
        id: String,
        of userID: String
    ) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            guard try AccountTable.contains(userID, db) else { return }
            try BaseTable.remove(kind, id: id, of: userID, db)
        }
    }

    /// A folder is gone, and its items are in none. Upstream says nothing about each of them.
    public func removeFolder(_ id: String, of userID: String) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            guard try AccountTable.contains(userID, db) else { return }
            try BaseTable.remove(.folder, id: id, of: userID, db)
            let written = try BaseTable.clock(of: userID, db)
            let mayBeInside = try db.all(
                "SELECT * FROM base_cipher WHERE user_id = ? AND instr(json, ?) > 0",
                .text(userID),
                .blob(Array(id.utf8))
            ) { (row) throws(DatabaseError) in try BaseCipher(row) }
            for base in mayBeInside where !base.isDamaged {
                guard let emptied = base.outside(id) else { continue }
                try BaseTable.put(emptied, written: written, db)
            }
            try Self.leaveFolder(id, of: userID, db)
        }
    }

    /// What waits would bring its items into a folder that is not there.
    private static func leaveFolder(
        _ id: String,
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        let mayMention = try db.all(
            """
            SELECT id FROM pending_change
            WHERE user_id = ?1 AND (instr(snapshot, ?2) > 0 OR instr(record, ?2) > 0)
            """,
            .text(userID),
            .blob(Array(id.utf8))
        ) { (row) throws(DatabaseError) in try row.text(0) }
        for changeID in mayMention {
            guard let stored = try PendingTable.find(id: changeID, db),
                var record = stored.reading.value, record.change.leaveFolder(id)
            else { continue }
            record.change.version += 1
            _ = try PendingTable.replace(stored.summary, by: record, db)
        }
    }

    /// Upstream no longer has it.
    public func removeBase(_ lane: Lane) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            guard try AccountTable.contains(lane.userID, db) else { return }
            try BaseTable.remove(lane, db)
        }
    }
}

extension BaseCipher {
    /// The same in no folder; nil if it is not in that one.
    fileprivate func outside(_ folderID: String) -> BaseCipher? {
        guard let cipher = try? Cipher(json), cipher.folderID == folderID else { return nil }
        return BaseCipher(
            lane: lane,
            revision: revision,
            isTrashed: isTrashed,
            isArchived: isArchived,
            organizationID: organizationID,
            json: cipher.withoutFolder.bytes
        )
    }
}

extension StoreReader {
    /// The same lane under the id that the cipher has now.
    func resolve(_ lane: Lane) throws(StoreError) -> Lane {
        try read { (db) throws(DatabaseError) in try AliasTable.resolve(lane, db) }
    }

    public func base(_ lane: Lane) throws(StoreError) -> BaseCipher? {
        try read { (db) throws(DatabaseError) in
            // What is there under the id that was asked for leads nowhere else.
            if let base = try BaseTable.find(lane, db) { return base }
            let now = try AliasTable.resolve(lane, db)
            return now == lane ? nil : try BaseTable.find(now, db)
        }
    }

    /// All that upstream said of an account's items.
    public func bases(of userID: String) throws(StoreError) -> [BaseCipher] {
        try read { (db) throws(DatabaseError) in try BaseTable.all(of: userID, db) }
    }

    public func slices(
        of userID: String,
        _ kind: BaseSlice.Kind
    ) throws(StoreError) -> [BaseSlice] {
        try read { (db) throws(DatabaseError) in try BaseTable.slices(of: userID, kind, db) }
    }

    /// Both layers of an account as they were at one moment: the view is made of these.
    public func layers(
        of userID: String
    ) throws(StoreError) -> (base: [BaseCipher], pending: [StoredChange]) {
        try read { (db) throws(DatabaseError) in
            (try BaseTable.all(of: userID, db), try PendingTable.all(of: userID, db))
        }
    }

    /// Both layers of one cipher, under whichever of its ids.
    package func layers(of lane: Lane) throws(StoreError) -> Layers {
        try read { (db) throws(DatabaseError) in
            let lane = try AliasTable.resolve(lane, db)
            return Layers(
                lane,
                base: try BaseTable.find(lane, db),
                pending: try PendingTable.find(lane, db)
            )
        }
    }
}
