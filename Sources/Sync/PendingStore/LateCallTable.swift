internal import SQLite
internal import Vault

/// What was sent for changes that are settled and may be carried out yet: whoever wishes the opposite waits
/// until it is too late for that.
enum LateCallTable {
    static func note(
        _ late: [Attempt],
        of lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        guard !late.isEmpty, try AccountTable.contains(lane.userID, db) else { return }
        for attempt in late {
            try db.execute(
                "INSERT OR REPLACE INTO late_call VALUES (?, ?, ?, ?)",
                .text(lane.userID),
                .text(lane.cipherID),
                .text(attempt.kind.rawValue),
                .moment(attempt.moment)
            )
        }
    }

    static func drop(
        _ kind: Attempt.Kind,
        of lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            "DELETE FROM late_call WHERE user_id = ? AND cipher_id = ? AND kind = ?",
            .text(lane.userID),
            .text(lane.cipherID),
            .text(kind.rawValue)
        )
    }

    /// What may still happen to the cipher at that moment. What was sent long after it, a wrong clock has dated.
    static func all(
        of lane: Lane,
        at moment: Moment,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> [Attempt] {
        try db.all(
            "SELECT kind, sent_ticks FROM late_call WHERE user_id = ? AND cipher_id = ?",
            .text(lane.userID),
            .text(lane.cipherID)
        ) { (row) throws(DatabaseError) in
            (kind: Attempt.Kind(rawValue: try row.text(0)), sent: try row.moment(1))
        }.compactMap { call in
            guard let kind = call.kind else { return nil }
            let attempt = Attempt(kind, at: call.sent)
            let isRightlyDated = attempt.moment < moment.advanced(bySeconds: Attempt.patience)
            return isRightlyDated && attempt.mayComeLate(at: moment) ? attempt : nil
        }
    }
}

extension Store {
    func expectLateCall(
        _ kind: Attempt.Kind,
        of lane: Lane,
        at moment: Moment
    ) async throws(StoreError) -> Moment? {
        try await write { (db) throws(DatabaseError) in
            let late = try LateCallTable.all(of: lane, at: moment, db)
            try LateCallTable.note([Attempt(kind, at: moment)], of: lane, db)
            return late.first { $0.kind == kind }?.moment
        }
    }

    func dropLateCall(
        _ kind: Attempt.Kind,
        of lane: Lane,
        leaving earlier: Moment?
    ) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            if let earlier {
                try LateCallTable.note([Attempt(kind, at: earlier)], of: lane, db)
            } else {
                try LateCallTable.drop(kind, of: lane, db)
            }
        }
    }
}
