internal import SQLite

/// What a damaged file tells of changes that are over. Of those, its copy may say that they are pending still.
struct EndedChanges: Sendable {
    /// When a change was resolved last, by its id.
    private var resolved: [String: Int] = [:]
    /// Those whose receipts have all ended, other than by a later edit of the same change.
    private var received: Set<String> = []
    /// When something of a cipher was brought up last.
    private var broughtUp: [Lane: Int] = [:]
    /// Ids that we made, of which upstream has made others.
    private var aliases: Set<Lane> = []

    init() {}

    /// What can be read of it.
    init(in source: Database) throws(StoreError) {
        resolved = Dictionary(
            try Self.all(
                "SELECT pending_id, max(resolved_ticks) FROM resolution GROUP BY pending_id",
                in: source
            ) { (row) throws(DatabaseError) in (try row.text(0), try row.int(1)) }
        ) { max($0, $1) }
        received = Set(
            try Self.all(
                """
                SELECT pending_id FROM receipt GROUP BY pending_id
                HAVING sum(status IN ('queued', 'quarantined')) = 0
                    AND sum(status <> 'superseded') > 0
                """,
                in: source
            ) { (row) throws(DatabaseError) in try row.text(0) }
        )
        broughtUp = Dictionary(
            try Self.all("SELECT user_id, cipher_id, settled_ticks FROM brought_up", in: source) {
                (row) throws(DatabaseError) in
                (Lane(userID: try row.text(0), cipherID: try row.text(1)), try row.int(2))
            }
        ) { max($0, $1) }
        aliases = Set(
            try Self.all("SELECT user_id, made_id FROM alias", in: source) {
                (row) throws(DatabaseError) in
                Lane(userID: try row.text(0), cipherID: try row.text(1))
            }
        )
    }

    func covers(_ row: PendingRow) -> Bool {
        let lane = Lane(userID: row.userID, cipherID: row.cipherID)
        // What is offered to upstream again has the moment of an edit that was over before.
        let last = max(row.created, row.updated)
        if let moment = resolved[row.id], moment >= last { return true }
        if let moment = broughtUp[lane], moment >= last { return true }
        return received.contains(row.id) || aliases.contains(lane)
    }

    private static func all<Value: Sendable>(
        _ query: StaticString,
        in source: Database,
        _ read: @Sendable (borrowing Row) throws(DatabaseError) -> Value
    ) throws(StoreError) -> [Value] {
        do throws(DatabaseError) {
            return try source.read { (db) throws(DatabaseError) in try db.all(query, read: read) }
        } catch {
            return try error.passedOver([])
        }
    }
}
