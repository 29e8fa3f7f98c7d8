internal import SQLite
internal import System
internal import Vault

// MARK: - What a slow upstream has undone

extension Offering {
    /// What came from here, and upstream holds something earlier in its place that it has carried out late, as
    /// servers do that do not tell two edits of the same second apart.
    struct Undone {
        let row: Row
        let lost: BaseCipher
        let now: BaseCipher
        /// Whether it was put elsewhere since.
        let isMoved: Bool
        /// Whether it came from here, too, that it is in the trash.
        var isTrashedHere = false

        /// Nil if it is not that.
        fileprivate init?<Failure: Error>(
            _ row: Row,
            to now: BaseCipher,
            of lost: BaseCipher,
            among sent: (Cipher) throws(Failure) -> Bool
        ) throws(Failure) {
            guard let there = try? Cipher(now.json), let former = try? Cipher(lost.json) else {
                return nil
            }
            isMoved = try !sent(there)
            if isMoved, try !sent(there.placed(like: former, since: there)) { return nil }
            (self.row, self.lost, self.now) = (row, lost, now)
        }

        fileprivate var intent: Intent {
            let snapshot = Snapshot(
                json: isMoved ? placed : lost.json,
                keyFingerprint: row.keyFingerprint
            )
            return isTrashedHere && now.isTrashed
                ? .softDelete(snapshot, .none) : .update(snapshot, trash: nil, .none)
        }

        private var placed: [UInt8] {
            guard let content = try? Cipher(lost.json), let there = try? Cipher(now.json) else {
                return lost.json
            }
            return content.placed(like: there, since: content).bytes
        }
    }

    /// To be asked before base follows, because base has the content.
    private func undone(_ db: borrowing Connection) throws(DatabaseError) -> [Undone] {
        let strays = try Aftercare.strays(of: userID, db)
        guard !strays.isEmpty, !mutated(.leavesUndone) else { return [] }
        let kept = strays.compactMap { stray in
            if case .item(let id) = stray.keeper { (id, [stray.fingerprint]) } else { nil }
        }
        let sent = Dictionary(kept, uniquingKeysWith: +)
        let strayed = answer.filter { sent[$0.lane.cipherID] != nil }
        let fetched = Dictionary(strayed.map { ($0.lane.cipherID, $0) }) { _, last in last }
        var undone: [Undone] = []
        for row in try rows(db) {
            guard let now = fetched[row.lane.cipherID], let sent = sent[row.lane.cipherID],
                try !isYounger(row, db), let lost = try Self.lost(row, to: now, db),
                let one = Undone(row, to: now, of: lost, among: { sent.contains($0.fingerprint) })
            else { continue }
            undone.append(one)
        }
        return undone
    }

    /// The same of an answer about one cipher.
    static func undone(
        by now: BaseCipher,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Undone? {
        guard !mutated(.leavesUndone), let row = try Row.find(now.lane, db),
            let lost = try lost(row, to: now, db)
        else { return nil }
        return try Undone(row, to: now, of: lost) { (content) throws(DatabaseError) in
            try Aftercare.keeper(of: content.fingerprint, of: now.lane.userID, db)
                == .item(now.lane.cipherID)
        }
    }

    /// - Returns: How many changes are pending because of that, and what has to be held until something else is not
    ///   pending any more.
    func makeOfUndone(
        _ db: borrowing Connection
    ) throws(DatabaseError) -> (count: Int, held: [BaseCipher]) {
        var (count, held) = (0, [BaseCipher]())
        for undone in try undone(db) {
            if try redo(undone, db) {
                count += 1
            } else if try isHindered(undone, db) {
                held.append(undone.lost)
            }
        }
        return (count, held)
    }

    /// - Returns: Whether it is pending. What waits there brings it, unless that is taken back.
    private func redo(_ undone: Undone, _ db: borrowing Connection) throws(DatabaseError) -> Bool {
        let isPending = try put(
            undone.intent,
            in: undone.row.lane,
            on: undone.now.footing,
            at: undone.lost.revision.moment,
            over: undone.now,
            db
        )
        if isPending { try Aftercare.release(undone.row.lane, db) }
        return isPending
    }

    /// The same of an answer about one cipher. To be called once base has followed, and nothing is left to do about
    /// what was pending.
    func redoOrHold(_ undone: Undone, _ db: borrowing Connection) throws(DatabaseError) {
        guard try !redo(undone, db), try isHindered(undone, db) else { return }
        try Aftercare.hold(undone.lost, as: .none, db)
    }

    /// Whether something else is pending there, which may be taken back.
    private func isHindered(_ undone: Undone, _ db: borrowing Connection) throws(DatabaseError)
        -> Bool
    {
        guard let content = try? Cipher(undone.lost.json) else { return false }
        return try isHindered(content, in: undone.row.lane, db)
    }

    private static func lost(
        _ row: Row,
        to now: BaseCipher,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> BaseCipher? {
        guard !row.isGone, let lost = try held(row, besides: now, db), !lost.isDamaged,
            let content = try? Cipher(lost.json), let there = try? Cipher(now.json),
            content.organizationID == nil, content.hasOtherContent(than: there),
            !row.hasOvertaken(lost)
        else { return nil }
        return lost
    }

    /// What upstream said last before this answer. A list in between may have left it out, an old one may have put
    /// back what was there before, and base may have followed already while something else was pending.
    private static func held(
        _ row: Row,
        besides now: BaseCipher,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> BaseCipher? {
        let base = try BaseTable.find(row.lane, db)
        if let base, !row.hasOvertaken(base), !base.hasContent(of: now) { return base }
        return try Aftercare.leftOut(row.lane, db) ?? base
    }
}
