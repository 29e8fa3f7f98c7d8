internal import Records
internal import SQLite
public import Vault
internal import System

/// How an edit that was recorded begins.
public enum Beginning: Sendable {
    /// It is pushed right away; the attempt is written down with it. Where upstream is troubled, it is likely to
    /// wait in the end, and needs room for that.
    case inFlight(Attempt, needsRoom: Bool = false)
    /// It waits, and gets a receipt.
    case queued
}

/// What a caller has seen of a cipher.
public struct Seen: Hashable, Sendable {
    /// What was pending. The id belongs to it, because the versions of each record begin anew.
    enum Pending: Hashable, Sendable {
        case nothing
        case record(String, version: Int64)

        init(_ summary: PendingSummary?) {
            self = summary.map { .record($0.id, version: $0.version) } ?? .nothing
        }
    }

    let pending: Pending
    /// What upstream was said to have. Where content that was pending hid that, nobody asks for it.
    let base: BaseCipher?

    /// Neither upstream nor here.
    public static let nothing = Seen(nil, base: nil)

    init(_ summary: PendingSummary?, base: BaseCipher?) {
        (pending, self.base) = (Pending(summary), base)
    }
}

/// What became of an edit in the store.
public enum Recording: Sendable {
    case recorded(Recorded)
    /// Nothing is left to be sent, and the record that was there is gone.
    case gone
    /// There was nothing to do.
    case unchanged
    case refused(Folding.Refusal)
    /// Something else was recorded since the caller looked: look again.
    case moved(to: Int64)
    /// The record that is there cannot be read, or is of a type that this build does not know; or
    /// there is none and base is damaged. It stays as it is.
    case unreadable
}

public struct Recorded: Sendable {
    public let change: PendingChange
    public let receiptID: String?
    /// As it was before this edit.
    let before: PendingRecord?
}

extension Store {
    /// Makes an edit durable, folding it into what is pending for its cipher. One that comes after its
    /// account was erased is refused.
    ///
    /// - Parameter seen: What the caller has seen; without it, the edit folds into whatever is there.
    public func record(
        _ edit: Edit,
        in lane: Lane,
        as beginning: Beginning,
        expecting seen: Seen? = nil
    ) async throws(StoreError) -> Recording {
        try await requireAcceptance()
        let ids = (
            change: chance.identifier(at: edit.moment),
            receipt: chance.identifier(at: edit.moment)
        )
        let limits = limits
        let entry = Entry(edit: edit, lane: lane, beginning: beginning, seen: seen, ids: ids)
        let outcome = try await write { (db) throws(DatabaseError) in
            try entry.make(limits, db)
        }
        switch outcome {
        case .made(let recording): return recording
        case .full(let limit): throw .queueFull(limit: limit)
        case .noAccount: throw .noAccount
        }
    }

    /// Takes an edit back that upstream refused; what it was folded into is wanted as before. What
    /// was sent meanwhile stays written down.
    ///
    /// - Parameter version: Of the record as the caller left it.
    /// - Returns: Whether nobody else has edited it since; if somebody has, nothing was done.
    @discardableResult
    public func withdraw(
        _ recorded: Recorded,
        expecting version: Int64
    ) async throws(StoreError) -> Bool {
        let id = recorded.change.id
        let offering = Offering(of: recorded.change.userID, now: now, chance: chance)
        return try await write { (db) throws(DatabaseError) in
            guard
                let stored = try PendingTable.find(id: id, db), var record = stored.reading.value
            else { return false }
            let isUntouched = stored.summary.version == version
            // Whoever has had it tried has not changed what is wished. The same wish once more is another
            // edit, with a receipt of its own.
            guard isUntouched || record.change.isSameEdit(as: recorded.change) else {
                return false
            }
            guard let before = mutated(.withdrawsAll) ? nil : recorded.before?.change else {
                let version = stored.summary.version
                let isGone = try PendingTable.remove(id: id, expecting: version, db)
                if isGone { try offering.makeOfForgotten(beneath: record.change, db) }
                return isGone
            }
            record.change.takeBack(recorded.change, to: before)
            if isUntouched { record.change.standAgain(as: before) }
            return try PendingTable.replace(stored.summary, by: record, db)
        }
    }
}

extension PendingChange {
    /// Whether nobody has edited it since, though it may have been tried, and its folder may be gone.
    func isSameEdit(as other: PendingChange) -> Bool {
        guard updated == other.updated else { return false }
        return intent == other.intent || intent == other.outsideFolders.intent
    }

    /// Wishes what was wished before; where both sides agreed meanwhile and what was sent stays.
    fileprivate mutating func takeBack(_ edited: PendingChange, to before: PendingChange) {
        // The ground that the edit had brought along goes with it.
        if let former = before.baseline, baseline == edited.baseline {
            let ground = Footing(revision: former, copy: before.baseCopy)
            rebase(onto: ground, cipherID: cipherID)
        }
        intent = before.intent
        if case .create(let snapshot, let adjustments) = intent, baseline != nil {
            intent = .update(snapshot, trash: nil, adjustments)
        }
        // A copy of what is not wished any more is not made after all.
        if attempts.last(where: { $0.kind == .backup })?.outcome == .refused,
            backup?.cipherID == nil
        {
            backup = before.backup
        } else if backup?.source != before.backup?.source {
            // Nothing of what is left has made upstream's version give way.
            backup?.conflict = nil
        }
        foreignType = before.foreignType
        updated = before.updated
        clock = before.clock
        passwordChanges = before.passwordChanges
        version += 1
    }

    fileprivate mutating func standAgain(as before: PendingChange) {
        state = before.state
        failures = before.failures
        lastFailure = before.lastFailure
        countAttempts(as: before)
    }
}

/// One edit on its way into the store.
private struct Entry: Sendable {
    let edit: Edit
    let lane: Lane
    let beginning: Beginning
    let seen: Seen?
    let ids: (change: String, receipt: String)

    enum Outcome: Sendable {
        case made(Recording)
        case full(limit: Int)
        case noAccount
    }

    func make(
        _ limits: Store.Limits,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Outcome {
        let lane = try AliasTable.resolve(lane, db)
        let stored = try PendingTable.find(lane, db)
        // Erasing takes the records along, so where there is one the account need not be looked up.
        if stored == nil, try !AccountTable.contains(lane.userID, db) { return .noAccount }
        if let seen, seen.pending != Seen.Pending(stored?.summary) { return moved(stored) }
        // What a newer build meant by a type of its own is not for an edit to decide.
        if let stored, stored.change?.foreignType != nil || stored.change == nil {
            return .made(.unreadable)
        }
        let waiting = stored?.change?.withoutIdleContent
        let folding: Folding
        if let waiting, !waiting.hidesNothing {
            folding = waiting.fold(edit, footing: try BaseTable.footing(lane, db))
        } else {
            let base = try BaseTable.find(lane, db)
            // The edit was made on one copy; it must not be taken for one of a newer.
            if let seen, base?.isDamaged != true, seen.base != base, !mutated(.ignoresMovedGround) {
                return moved(stored)
            }
            if let waiting {
                folding = waiting.fold(edit, footing: try footing(base, lane, db))
            } else {
                // Nothing begins on a ground that is not what upstream said.
                if base?.isDamaged == true { return .made(.unreadable) }
                folding = begin(lane, base?.footing)
            }
        }
        if stored == nil, folding.change != nil,
            let limit = try limits.reached(by: lane.userID, isSent: !beginning.takesPlace, db)
        {
            return .full(limit: limit)
        }
        return .made(try keep(folding, stored, db))
    }

    private func moved(_ stored: StoredChange?) -> Outcome {
        .made(.moved(to: stored?.summary.version ?? 0))
    }

    /// With what upstream says of it, if that can be read.
    private func footing(
        _ base: BaseCipher?,
        _ lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Footing? {
        if let base, !base.isDamaged { return base.footing }
        return try BaseTable.footing(lane, db)
    }

    private func begin(_ lane: Lane, _ footing: Footing?) -> Folding {
        PendingChange.begin(
            edit,
            id: ids.change,
            userID: lane.userID,
            cipherID: lane.cipherID,
            footing: footing
        )
    }

    private func keep(
        _ folding: Folding,
        _ stored: StoredChange?,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Recording {
        switch folding {
        case .recorded(let change), .resurrected(let change):
            return try keep(change, stored, db)
        case .gone:
            guard let stored else { return .unchanged }
            try Discard(ReceiptEnd(.superseded, at: edit.moment)).carryOut(stored, db)
            return .gone
        case .unchanged: return .unchanged
        case .refused(let refusal): return .refused(refusal)
        }
    }

    private func keep(
        _ folded: PendingChange,
        _ stored: StoredChange?,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Recording {
        let before = stored?.reading.value
        var record = before ?? PendingRecord(folded)
        record.change = folded
        record.change.noteCore(of: before?.change.intent.snapshot)
        if before != nil, case .hardDelete = edit.wish {
            try seeFiles(&record.change, db)
        }
        if stored == nil, edit.wish.mayBeUndone {
            let lane = Lane(userID: folded.userID, cipherID: folded.cipherID)
            record.change.expect(try LateCallTable.all(of: lane, at: edit.moment, db))
        }
        let receiptID = beginning.receiptID(ids.receipt)
        if case .inFlight(let attempt, _) = beginning {
            record.change.note(attempt)
            record.change.state = .inFlight
        }
        try PendingTable.upsert(record, db)
        if let receiptID {
            try ReceiptTable.issue(
                receiptID,
                for: record.change,
                isFolded: before != nil,
                at: edit.moment,
                db
            )
        }
        return .recorded(
            Recorded(change: record.change, receiptID: receiptID, before: before)
        )
    }

    /// The files of what upstream has are shown with whatever is pending, so whoever deletes that has seen them.
    private func seeFiles(
        _ change: inout PendingChange,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        let lane = Lane(userID: change.userID, cipherID: change.cipherID)
        guard let base = try BaseTable.find(lane, db), !base.isDamaged,
            let shown = try? Cipher(base.json)
        else { return }
        change.seeFiles(of: shown)
    }
}

extension Store.Limits {
    /// The limit that leaves no room for another record of the account.
    ///
    /// What is sent at once needs a place only if upstream may have it and nobody says so; then nobody
    /// can be told that nothing has happened. So as many again may be there as may wait, and no more, but
    /// always as many as callers send at once: a small limit is no reason to refuse them.
    ///
    /// - Parameters:
    ///   - uncounted: So many of its records have their place already.
    ///   - isSent: Whether it is sent at once.
    func reached(
        by userID: String,
        besides uncounted: Int = 0,
        isSent: Bool = false,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Int? {
        let (extra, extraBytes) =
            isSent ? (max(changes, Self.sentAtOnce), max(bytes, Self.sentBytes)) : (0, 0)
        let (count, size) =
            try db.first(
                """
                SELECT ifnull(sum(count), 0), ifnull(sum(bytes), 0) FROM pending_tally
                WHERE user_id = ?
                """,
                .text(userID)
            ) { (row) throws(DatabaseError) in (try row.int(0), try row.int(1)) } ?? (0, 0)
        if mutated(.ignoresLimit) { return nil }
        if count - uncounted - extra >= changes { return changes }
        return size - extraBytes >= bytes ? bytes : nil
    }

    private static let sentAtOnce = 1_024
    private static let sentBytes = 64 << 20
}

extension Edit.Wish {
    /// Nothing was ever sent for what is new.
    fileprivate var mayBeUndone: Bool { if case .add = self { false } else { true } }
}

extension Beginning {
    /// Whether it takes a place in the queue. What is sent at once is as good as gone.
    fileprivate var takesPlace: Bool {
        switch self {
        case .queued: true
        case .inFlight(_, let needsRoom): needsRoom
        }
    }

    fileprivate func receiptID(_ id: String) -> String? {
        if case .queued = self { id } else { nil }
    }
}
