internal import SQLite
internal import System
public import Vault

extension StoreReader {
    /// The number of the last change that there ever was.
    func lastNumber() throws(StoreError) -> Int {
        try read { (db) throws(DatabaseError) in try PendingTable.lastNumber(db) }
    }

    /// What is pending for an account, in the order in which it was recorded.
    public func changes(of userID: String) throws(StoreError) -> [StoredChange] {
        try read { (db) throws(DatabaseError) in try PendingTable.all(of: userID, db) }
    }

    /// What the closure makes of the changes of an account, in their order; only that is kept of them.
    func changes<Part: Sendable>(
        of userID: String,
        _ part: (StoredChange) -> Part?
    ) throws(StoreError) -> [Part] {
        try read { (db) throws(DatabaseError) in
            try PendingTable.all(of: userID, db, part)
        }
    }

    /// The same of what stands beside the records: of thousands that wait, most are not read.
    func summaries<Part: Sendable>(
        of userID: String,
        _ part: (PendingSummary) -> Part?
    ) throws(StoreError) -> [Part] {
        let statement: StaticString =
            mutated(.takesOthers)
            ? "SELECT * FROM pending_change WHERE user_id >= '' OR user_id = ? ORDER BY seq"
            : """
            SELECT seq, id, user_id, cipher_id, version, change_type, state, due_ticks,
                created_ticks, updated_ticks, baseline_text, baseline_ticks, password_changes
            FROM pending_change WHERE user_id = ? ORDER BY seq
            """
        return try read { (db) throws(DatabaseError) in
            try db.all(statement, .text(userID)) { (row) throws(DatabaseError) in
                part(try PendingSummary(row))
            }
        }.compactMap(\.self)
    }

    /// What is pending for a cipher, under whichever of its ids.
    public func change(in lane: Lane) throws(StoreError) -> StoredChange? {
        try read { (db) throws(DatabaseError) in
            try PendingTable.find(AliasTable.resolve(lane, db), db)
        }
    }

    public func change(_ id: String) throws(StoreError) -> StoredChange? {
        try read { (db) throws(DatabaseError) in try PendingTable.find(id: id, db) }
    }

    /// How many there are of each kind in each state, of one account or of all.
    ///
    /// Two statements, because one for both could use no index: then counting each of many accounts
    /// would take as long as there are accounts, for each.
    public func tally(of userID: String? = nil) throws(StoreError) -> [PendingTally] {
        try read { (db) throws(DatabaseError) in
            guard let userID else {
                // Whoever counts everybody's wants to know whether the store is well.
                try db.requirePresence()
                return try db.all(
                    """
                    SELECT change_type, state, sum(count), sum(bytes) FROM pending_tally
                    WHERE count > 0 GROUP BY change_type, state
                    """
                ) { (row) throws(DatabaseError) in try PendingTally(row) }.byWhatIsShown
            }
            return try PendingTable.tally(of: userID, db)
        }
    }

    /// How many wait of each account that has anything waiting. Read at once for all, because many accounts are
    /// not to cost many questions.
    public func queues() throws(StoreError) -> [String: PendingQueue] {
        try read { (db) throws(DatabaseError) in
            var queues: [String: PendingQueue] = [:]
            try db.all(
                """
                SELECT user_id, state, sum(count) FROM pending_tally WHERE count > 0
                GROUP BY user_id, state
                """
            ) { (row) throws(DatabaseError) in
                (try row.text(0), try PendingChange.State.Kind(row, 1), try row.int(2))
            }.forEach { queues[$0, default: PendingQueue()].counts[$1] = $2 }
            return queues
        }
    }

    /// How many wait of each account that is not here: a database that was lost has left its changes in their
    /// copy, and nothing of the account.
    public func strangers() throws(StoreError) -> [String: Int] {
        try read { (db) throws(DatabaseError) in
            var strangers: [String: Int] = [:]
            try db.forEach(
                """
                SELECT user_id, sum(count) FROM pending_tally
                WHERE count > 0 AND user_id NOT IN (SELECT id FROM account) GROUP BY user_id
                """
            ) { (row) throws(DatabaseError) in strangers[try row.text(0)] = try row.int(1) }
            return strangers
        }
    }

    /// Since when anything waits, whosever it may be.
    public func oldest() throws(StoreError) -> Moment? {
        try read { (db) throws(DatabaseError) in
            try db.first("SELECT created_ticks FROM pending_change ORDER BY seq LIMIT 1") {
                (row) throws(DatabaseError) in try row.moment(0)
            }
        }
    }

    /// Since when something of these accounts waits that is not set aside.
    ///
    /// It is among the first of all that waits, or each account is looked at, which takes as many looks as
    /// there are accounts.
    public func oldestLive(of userIDs: Set<String>) throws(StoreError) -> Moment? {
        try read { (db) throws(DatabaseError) in
            let first = try db.all(
                """
                SELECT created_ticks, state, user_id FROM pending_change ORDER BY seq LIMIT 256
                """
            ) { (row) throws(DatabaseError) in
                (created: try row.moment(0), state: try row.text(1), user: try row.text(2))
            }.first { $0.state != "quarantined" && userIDs.contains($0.user) }
            if let first { return first.created }
            var oldest: Moment?
            for userID in userIDs {
                let created = try db.first(
                    """
                    SELECT created_ticks FROM pending_change
                    WHERE user_id = ? AND state <> 'quarantined' ORDER BY seq LIMIT 1
                    """,
                    .text(userID)
                ) { (row) throws(DatabaseError) in try row.moment(0) }
                if let created { oldest = min(oldest ?? created, created) }
            }
            return oldest
        }
    }

    /// The change that has waited longest.
    public func oldest(of userID: String) throws(StoreError) -> PendingSummary? {
        try read { (db) throws(DatabaseError) in
            try db.first(
                "SELECT * FROM pending_change WHERE user_id = ? ORDER BY seq LIMIT 1",
                .text(userID)
            ) { (row) throws(DatabaseError) in try PendingSummary(row) }
        }
    }

    /// When the next change may be tried: in the distant past if one may be tried now.
    public func nextDue(of userID: String) throws(StoreError) -> Moment? {
        try read { (db) throws(DatabaseError) in
            let isReady = try db.first(
                """
                SELECT 1 FROM pending_tally
                WHERE user_id = ? AND state = 'ready' AND count > 0 LIMIT 1
                """,
                .text(userID)
            ) { _ in true }
            if isReady == true { return Moment(ticks: 0) }
            return try db.first(
                """
                SELECT due_ticks FROM pending_change
                WHERE user_id = ? AND state = 'backingOff' ORDER BY due_ticks LIMIT 1
                """,
                .text(userID)
            ) { (row) throws(DatabaseError) in try row.moment(0) }
        }
    }

    /// When the last of those that wait because they failed may be tried.
    func latestDue(of userID: String) throws(StoreError) -> Moment? {
        try read { (db) throws(DatabaseError) in
            try db.first(
                """
                SELECT due_ticks FROM pending_change
                WHERE user_id = ? AND state = 'backingOff' ORDER BY due_ticks DESC LIMIT 1
                """,
                .text(userID)
            ) { (row) throws(DatabaseError) in try row.moment(0) }
        }
    }
}
