internal import Crypto
internal import SQLite
public import Vault

/// What upstream last said about a cipher.
public struct BaseCipher: Hashable, Sendable {
    public let lane: Lane
    public let revision: Revision
    public let isTrashed: Bool
    public let isArchived: Bool
    public let organizationID: String?
    /// Upstream's own text, byte for byte.
    public let json: [UInt8]
    /// The disk gave back something else than was written: this is not upstream's word. It is neither
    /// shown nor sent, and the next refresh puts the true one in its place.
    public fileprivate(set) var isDamaged = false

    public init(
        lane: Lane,
        revision: Revision,
        isTrashed: Bool = false,
        isArchived: Bool = false,
        organizationID: String? = nil,
        json: [UInt8]
    ) {
        self.lane = lane
        self.revision = revision
        self.isTrashed = isTrashed
        self.isArchived = isArchived
        self.organizationID = organizationID
        self.json = json
    }

    public var footing: Footing {
        Footing(revision: revision, isTrashed: isTrashed, isArchived: isArchived, copy: json)
    }

    /// Whether both are the same to the letter, in another place or state perhaps.
    func hasContent(of other: BaseCipher) -> Bool {
        if json == other.json { return true }
        guard let own = try? Cipher(json), let others = try? Cipher(other.json) else {
            return false
        }
        return !own.hasOtherContent(than: others)
    }
}

/// The statements of the base tables, inside somebody's transaction.
enum BaseTable {
    static func find(
        _ lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> BaseCipher? {
        try db.first(
            "SELECT * FROM base_cipher WHERE user_id = ? AND cipher_id = ?",
            .text(lane.userID),
            .text(lane.cipherID)
        ) { (row) throws(DatabaseError) in try BaseCipher(row) }
    }

    /// Where upstream has the cipher, without what it says of it.
    static func footing(
        _ lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Footing? {
        try db.first(
            """
            SELECT revision_text, revision_ticks, is_trashed, is_archived FROM base_cipher
            WHERE user_id = ? AND cipher_id = ?
            """,
            .text(lane.userID),
            .text(lane.cipherID)
        ) { (row) throws(DatabaseError) in
            Footing(
                revision: Revision(
                    text: try row.text(0),
                    moment: try row.moment(1)
                ),
                isTrashed: try row.int(2) == 1,
                isArchived: try row.int(3) == 1
            )
        }
    }

    static func all(
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> [BaseCipher] {
        try db.all(
            "SELECT * FROM base_cipher WHERE user_id = ? ORDER BY cipher_id",
            .text(userID)
        ) { (row) throws(DatabaseError) in try BaseCipher(row) }
    }

    /// Which write of the account brought what is here; nil if that is nothing.
    static func writing(
        of lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Int? {
        try db.first(
            "SELECT written FROM base_cipher WHERE user_id = ? AND cipher_id = ?",
            .text(lane.userID),
            .text(lane.cipherID)
        ) { (row) throws(DatabaseError) in try row.int(0) }
    }

    /// Which write of the account removed it, while a refresh may not know of that yet.
    static func removal(
        of lane: Lane,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Int? {
        try db.first(
            "SELECT written FROM base_removed WHERE user_id = ? AND cipher_id = ?",
            .text(lane.userID),
            .text(lane.cipherID)
        ) { (row) throws(DatabaseError) in try row.int(0) }
    }

    /// The number of this write. What a refresh that began earlier says is older than it.
    static func advanceClock(
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Int {
        let next = try db.first(
            "UPDATE base_clock SET written = written + 1 WHERE user_id = ? RETURNING written",
            .text(userID)
        ) { (row) throws(DatabaseError) in try row.int(0) }
        if let next { return next }
        let first = try clock(of: userID, db) + 1
        try db.execute("INSERT INTO base_clock VALUES (?, ?)", .text(userID), .int(first))
        return first
    }

    static func clock(of userID: String, _ db: borrowing Connection) throws(DatabaseError) -> Int {
        try db.first(
            """
            SELECT coalesce((SELECT written FROM base_clock WHERE user_id = ?),
                (SELECT CAST(value AS INTEGER) FROM setting WHERE name = 'baseClock'), 0)
            """,
            .text(userID)
        ) { (row) throws(DatabaseError) in try row.int(0) } ?? 0
    }

    /// Every clock that is begun from now on goes on from where this one stood, so that what a mark
    /// from before its account was erased says about the account after it is known to be old.
    static func keepClock(
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            INSERT INTO setting SELECT 'baseClock', CAST(written AS TEXT) FROM base_clock
            WHERE user_id = ?
            ON CONFLICT (name) DO UPDATE SET
                value = CAST(max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER)) AS TEXT)
            """,
            .text(userID)
        )
    }

    static func put(
        _ cipher: BaseCipher,
        written: Int,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            INSERT INTO base_cipher (user_id, cipher_id, revision_text, revision_ticks,
                is_trashed, is_archived, organization_id, written, json, digest)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (user_id, cipher_id) DO UPDATE SET
                revision_text = excluded.revision_text, revision_ticks = excluded.revision_ticks,
                is_trashed = excluded.is_trashed, is_archived = excluded.is_archived,
                organization_id = excluded.organization_id, written = excluded.written,
                json = excluded.json, digest = excluded.digest
            """,
            .text(cipher.lane.userID),
            .text(cipher.lane.cipherID),
            .text(cipher.revision.text),
            .moment(cipher.revision.moment),
            .int(cipher.isTrashed ? 1 : 0),
            .int(cipher.isArchived ? 1 : 0),
            Value(cipher.organizationID),
            .int(written),
            .blob(cipher.json),
            .blob(cipher.digest)
        )
    }

    static func remove(_ lane: Lane, _ db: borrowing Connection) throws(DatabaseError) {
        try remove(lane, written: advanceClock(of: lane.userID, db), db)
    }

    /// - Parameter written: The number of this write of the account.
    static func remove(
        _ lane: Lane,
        written: Int,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            "DELETE FROM base_cipher WHERE user_id = ? AND cipher_id = ?",
            .text(lane.userID),
            .text(lane.cipherID)
        )
        try db.execute(
            "INSERT OR REPLACE INTO base_removed VALUES (?, ?, ?)",
            .text(lane.userID),
            .text(lane.cipherID),
            .int(written)
        )
    }

    /// As a file has them that is from before there were digests.
    static func allWithoutDigest(
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> [BaseCipher] {
        try db.all(
            "SELECT * FROM base_cipher WHERE user_id = ? ORDER BY cipher_id",
            .text(userID)
        ) { (row) throws(DatabaseError) in try BaseCipher(withoutDigest: row) }
    }

    /// Takes the rows that have no digest yet for what they say.
    static func digestAll(_ db: borrowing Connection) throws(DatabaseError) {
        let ciphers = try db.all("SELECT rowid FROM base_cipher") { (row) throws(DatabaseError) in
            try row.int(0)
        }
        for number in ciphers {
            let digest = try db.first("SELECT * FROM base_cipher WHERE rowid = ?", .int(number)) {
                (row) throws(DatabaseError) in try BaseCipher(withoutDigest: row).digest
            }
            try db.execute(
                "UPDATE base_cipher SET digest = ? WHERE rowid = ?",
                Value(digest),
                .int(number)
            )
        }
        for (number, digest) in try sliceDigests(db) {
            try db.execute(
                "UPDATE base_slice SET digest = ? WHERE rowid = ?",
                .blob(digest),
                .int(number)
            )
        }
    }
}

extension BaseCipher {
    /// Reads a row of `base_cipher`, all columns.
    init(_ row: borrowing Row) throws(DatabaseError) {
        try self.init(withoutDigest: row)
        isDamaged = try row.bytes(9) != digest
    }

    /// Reads a row from before there were digests.
    init(withoutDigest row: borrowing Row) throws(DatabaseError) {
        self.init(
            lane: Lane(userID: try row.text(0), cipherID: try row.text(1)),
            revision: Revision(
                text: try row.text(2),
                moment: try row.moment(3)
            ),
            isTrashed: try row.int(4) == 1,
            isArchived: try row.int(5) == 1,
            organizationID: try row.text(orNil: 6),
            json: try row.bytes(8)
        )
    }
}

extension BaseCipher {
    /// What the row is known by. SQLite's pages have no checksum, and of the JSON only the encrypted
    /// strings show that they were changed: a bit that turns elsewhere would pass for upstream's word.
    var digest: [UInt8] {
        var bytes = json
        let texts = [lane.userID, lane.cipherID, revision.text, organizationID ?? ""]
        bytes.end(with: texts)
        bytes += [isTrashed, isArchived, organizationID != nil].map { $0 ? 1 : 0 }
        withUnsafeBytes(of: revision.moment.ticks.littleEndian) { bytes += $0 }
        return Digest.sha256(bytes)
    }
}

extension [UInt8] {
    /// Set apart by a byte that no text has.
    mutating func end(with texts: [String]) {
        for text in texts {
            append(0xff)
            self += text.utf8
        }
    }
}
