internal import Crypto
internal import SQLite

/// The rest of what upstream says of an account, kept as it came.
public struct BaseSlice: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case profile, folder, collection, organization, send, domains, policy
    }

    public let kind: Kind
    /// Empty where there is only one of the kind.
    public let id: String
    public let json: [UInt8]
    /// As with a cipher, ``BaseCipher/isDamaged``.
    public fileprivate(set) var isDamaged = false

    public init(_ kind: Kind, id: String = "", json: [UInt8]) {
        self.kind = kind
        self.id = id
        self.json = json
    }
}

/// The statements about what is no cipher.
extension BaseTable {
    static func slices(
        of userID: String,
        _ kind: BaseSlice.Kind,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> [BaseSlice] {
        try db.all(
            "SELECT id, json, digest FROM base_slice WHERE user_id = ? AND kind = ? ORDER BY id",
            .text(userID),
            .text(kind.rawValue)
        ) { (row) throws(DatabaseError) in
            var slice = BaseSlice(kind, id: try row.text(0), json: try row.bytes(1))
            slice.isDamaged = try row.bytes(2) != slice.digest(of: userID)
            return slice
        }
    }

    static func put(
        _ slice: BaseSlice,
        of userID: String,
        written: Int,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            """
            INSERT INTO base_slice (user_id, kind, id, json, digest, written)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (user_id, kind, id) DO UPDATE SET
                json = excluded.json, digest = excluded.digest, written = excluded.written
            """,
            .text(userID),
            .text(slice.kind.rawValue),
            .text(slice.id),
            .blob(slice.json),
            .blob(slice.digest(of: userID)),
            .int(written)
        )
    }

    static func remove(
        _ kind: BaseSlice.Kind,
        id: String,
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            "DELETE FROM base_slice WHERE user_id = ? AND kind = ? AND id = ?",
            .text(userID),
            .text(kind.rawValue),
            .text(id)
        )
        try db.execute(
            "INSERT OR REPLACE INTO slice_removed VALUES (?, ?, ?, ?)",
            .text(userID),
            .text(kind.rawValue),
            .text(id),
            .int(advanceClock(of: userID, db))
        )
    }

    /// Which of the account's slices were written or removed after that write.
    static func slicesYounger(
        than written: Int,
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Set<[String]> {
        Set(
            try db.all(
                """
                SELECT kind, id FROM base_slice WHERE user_id = ?1 AND written > ?2
                UNION ALL SELECT kind, id FROM slice_removed WHERE user_id = ?1 AND written > ?2
                """,
                .text(userID),
                .int(written)
            ) { (row) throws(DatabaseError) in [try row.text(0), try row.text(1)] }
        )
    }

    /// As a file has them that is from before there were digests.
    static func slicesWithoutDigest(
        of userID: String,
        _ kind: BaseSlice.Kind,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> [BaseSlice] {
        try db.all(
            "SELECT id, json FROM base_slice WHERE user_id = ? AND kind = ? ORDER BY id",
            .text(userID),
            .text(kind.rawValue)
        ) { (row) throws(DatabaseError) in
            BaseSlice(kind, id: try row.text(0), json: try row.bytes(1))
        }
    }

    static func sliceDigests(
        _ db: borrowing Connection
    ) throws(DatabaseError) -> [(number: Int, digest: [UInt8])] {
        try db.all("SELECT rowid, user_id, kind, id, json FROM base_slice") {
            (row) throws(DatabaseError) in
            // The table's CHECK lets no other word in.
            let kind = BaseSlice.Kind(rawValue: try row.text(2)) ?? .policy
            let slice = BaseSlice(kind, id: try row.text(3), json: try row.bytes(4))
            return (try row.int(0), slice.digest(of: try row.text(1)))
        }
    }
}

extension BaseSlice {
    func digest(of userID: String) -> [UInt8] {
        var bytes = json
        bytes.end(with: [userID, kind.rawValue, id])
        return Digest.sha256(bytes)
    }
}
