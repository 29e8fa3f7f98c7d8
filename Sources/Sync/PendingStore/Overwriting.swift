internal import Records
internal import SQLite
internal import System
internal import Vault

// MARK: - What is written over unseen

extension Offering {
    /// What somebody has written over who has not seen it, as servers let them within the second: its
    /// password would be nowhere. That is kept as a copy, as if it had never got there.
    ///
    /// - Returns: How many changes are pending because of that, and what has to be held until something else is
    ///   not pending any more.
    func makeOfOverwritten(
        _ db: borrowing Connection
    ) throws(DatabaseError) -> (count: Int, held: [Exposed]) {
        let exposed = try exposed(db).map { ($0.lane.cipherID, $0) }
        let wanted = Dictionary(exposed) { _, last in last }
        guard !wanted.isEmpty else { return (0, []) }
        var (count, held) = (0, [Exposed]())
        for now in answer {
            guard let row = wanted[now.lane.cipherID], try !isYounger(row, db),
                let exposed = try Exposed(row, db), try isLost(exposed, to: now, db)
            else { continue }
            if isToBeJudged(exposed, over: now) {
                held.append(exposed)
            } else if try keep(exposed, over: now, db) {
                count += 1
            } else if try isHindered(exposed.content, in: exposed.row.lane, db) {
                held.append(exposed)
            }
        }
        return (count, held)
    }

    /// Whether its password is nowhere in what upstream says now.
    private func isLost(
        _ exposed: Exposed,
        to now: BaseCipher,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        if mutated(.leavesOverwritten) { return false }
        let moment = now.revision.moment
        guard let there = try? Cipher(now.json), exposed.content.organizationID == nil,
            there.organizationID == nil, exposed.row.isEarlier(than: moment),
            isMissing(exposed, from: there, at: moment)
        else { return false }
        return try !isStray(there, db)
    }

    /// Whoever has written since upstream went back may have seen nothing of what came from here before.
    private func isMissing(_ exposed: Exposed, from there: Cipher, at moment: Moment) -> Bool {
        exposed.row.exposure == .forgotten
            ? exposed.content.hasOtherContent(than: there)
            : lacksPassword(there, of: exposed, at: moment) && !isKept(exposed)
    }

    /// Whether the password that is exposed is not in what has that stamp, or may not be, as far as anybody can tell.
    private func lacksPassword(_ there: Cipher, of exposed: Exposed, at moment: Moment) -> Bool {
        let (row, content) = (exposed.row, exposed.content)
        let isLost = judge.isLost(content, in: there)
        // How long a history is tells nothing of what is in it, so that is left to whoever can read it.
        if isLost == nil, judge.isLocked { return true }
        let isGuessed =
            row.isBlind(moment)
            || !judge.isForeign(row.keyFingerprint) && !there.seemsToHaveSeen(content)
        // What was seen by others may have been changed by them many times since.
        return (isLost ?? isGuessed) && (row.mayBeBlind(moment) || !there.hasOutgrown(content))
    }

    /// Whether another host of the account has left a copy of it, before it wrote something over it.
    private func isKept(_ exposed: Exposed) -> Bool {
        answer.contains { other in
            guard other.lane != exposed.base.lane, !other.isTrashed, other.organizationID == nil,
                exposed.row.known.map({ !other.revision.moment.isEarlierStamp(than: $0) }) == true,
                let copy = try? Cipher(other.json)
            else { return false }
            return judge.isKept(exposed.content, in: copy)
        }
    }

    /// Whether it is something of our own that upstream has carried out late.
    private func isStray(_ there: Cipher, _ db: borrowing Connection) throws(DatabaseError) -> Bool
    {
        try Aftercare.keeper(of: there.fingerprint, of: userID, db) != nil
    }

    /// To be called once base has followed, and nothing is left to do about what was pending.
    func keepLost(
        _ exposed: Exposed,
        to now: BaseCipher,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        guard try isLost(exposed, to: now, db) else { return }
        if !isToBeJudged(exposed, over: now) {
            guard try !keep(exposed, over: now, db),
                try isHindered(exposed.content, in: exposed.row.lane, db)
            else { return }
        }
        try Aftercare.hold(exposed.base, as: exposed.row.exposure, db)
    }

    /// While the account is locked nobody can tell whether an edit has a password that is sealed anew, so what others
    /// may have seen is held until somebody can.
    private func isToBeJudged(_ exposed: Exposed, over now: BaseCipher) -> Bool {
        judge.isLocked && !exposed.row.isBlind(now.revision.moment)
            && exposed.row.exposure != .forgotten
    }

    /// Whether something else is pending there, which may be taken back, and the password would be nowhere then.
    func isHindered(
        _ lost: Cipher,
        in lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        guard let stored = try PendingTable.find(lane, db) else { return false }
        let snapshot = stored.reading.value?.change.withoutIdleContent.intent.snapshot
        guard let content = snapshot.flatMap({ try? Cipher($0.json) }) else { return true }
        return content.fingerprint != lost.fingerprint
    }

    /// What waits there goes first: it would be written over what stands, or give way with what is to be kept.
    private func keep(
        _ exposed: Exposed,
        over now: BaseCipher,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Bool {
        let (row, lost) = (exposed.row, exposed.base)
        guard try PendingTable.summary(row.lane, db) == nil else { return false }
        let snapshot = Snapshot(json: lost.json, keyFingerprint: row.keyFingerprint)
        try begin(keeping: snapshot, of: lost, over: now, row.settled, db)
        try Aftercare.release(row.lane, db)
        return true
    }

    /// What came from here and may be written over by somebody who has not seen it.
    struct Exposed {
        let row: Row
        let base: BaseCipher
        /// Whether base has something else, or nothing.
        let isHeld: Bool
        let content: Cipher

        /// What of that cipher is exposed. To be asked before base follows an answer that is about it alone.
        static func find(
            _ lane: Lane,
            _ db: borrowing Connection
        ) throws(DatabaseError) -> Exposed? {
            guard let row = try Row.find(lane, db), row.exposure != .none else { return nil }
            return try Exposed(row, db)
        }

        init?(_ row: Row, _ db: borrowing Connection) throws(DatabaseError) {
            guard !row.isGone, let (base, isHeld) = try Self.base(row, db), !base.isDamaged,
                let content = try? Cipher(base.json)
            else { return nil }
            (self.row, self.base, self.isHeld, self.content) = (row, base, isHeld, content)
        }

        /// A list may have left it out since, and an old one may have put back what was there before.
        private static func base(
            _ row: Row,
            _ db: borrowing Connection
        ) throws(DatabaseError) -> (BaseCipher, isHeld: Bool)? {
            let base = try BaseTable.find(row.lane, db)
            // What has been written over it may have the same stamp.
            if let leftOut = try Aftercare.leftOut(row.lane, db),
                row.known == leftOut.revision.moment, base?.hasContent(of: leftOut) != true
            {
                return (leftOut, true)
            }
            guard let base, row.known == base.revision.moment else { return nil }
            return (base, false)
        }

        /// What nobody has written down as exposed yet.
        init?(_ brought: Brought, settled: Moment, keyFingerprint: [UInt8]) {
            guard let content = try? Cipher(brought.base.json) else { return nil }
            row = Row(brought.base, settled: settled, keyFingerprint: keyFingerprint)
            (base, isHeld, self.content) = (brought.base, false, content)
        }

        /// Whether it may still be written over unseen.
        func staysExposed(in now: BaseCipher, by judge: Judge) -> Bool {
            row.exposure.stays(of: base, in: now, by: judge)
        }

        /// Whether such content still has its password.
        func isKept(in snapshot: Snapshot?, by judge: Judge) -> Bool {
            guard let copied = snapshot.flatMap({ try? Cipher($0.json) }) else { return false }
            return judge.isLost(content, in: copied) == false
        }
    }
}
