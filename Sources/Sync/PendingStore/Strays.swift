internal import SQLite
internal import Vault

/// Something that was sent and never answered: a late copy of it may turn up.
public struct Stray: Hashable, Sendable {
    /// Of the content as it was sent.
    public let fingerprint: [UInt8]
    public let keeper: Keeper

    public init(_ fingerprint: [UInt8], keeper: Keeper) {
        self.fingerprint = fingerprint
        self.keeper = keeper
    }

    /// Which of the copies is the one.
    public enum Keeper: Hashable, Sendable {
        case item(String)
        /// Nobody has heard of any, so any will do.
        case whichever
        /// It was deleted before anybody heard of one, so none is wanted.
        case none
    }
}

extension Stray.Keeper {
    /// Nil where nobody has heard of one.
    init(_ cipherID: String?) { self = cipherID.map(Self.item) ?? .whichever }

    fileprivate init(word: String) {
        self =
            switch word {
            case "": .whichever
            case Self.noneWord: .none
            default: .item(word)
            }
    }

    /// As a table keeps it.
    var word: String {
        switch self {
        case .item(let id): id
        case .whichever: ""
        case .none: Self.noneWord
        }
    }

    /// No id looks like that.
    private static let noneWord = "-"
}

extension PendingChange {
    /// What upstream never answered for: it may have made each of these more than once, and whoever goes
    /// without this change will not ask.
    ///
    /// - Parameter cipherID: The item that has its content now, if there is one.
    func strayCopies(keeping cipherID: String?) -> [Stray] {
        attempts.compactMap { attempt in
            guard attempt.outcome == .unknown else { return nil }
            return switch attempt.kind {
            case .create: Stray(attempt.fingerprint, keeper: Stray.Keeper(cipherID))
            case .backup: Stray(attempt.fingerprint, keeper: Stray.Keeper(copy(madeBy: attempt)))
            case .update, .trash, .restore, .archive, .unarchive, .partial, .hardDelete, .share: nil
            }
        }
    }

    /// How its item was sent to be made; nil where it was not.
    var made: [UInt8]? {
        attempts.last { $0.kind == .create && $0.outcome != .refused }?.fingerprint
    }

    /// The copy that is known to have been made so. There is none where no copy was needed any more, or
    /// where another version was kept since; of that, one copy is none too many.
    func copy(madeBy attempt: Attempt) -> String? {
        guard let note = backup, let kept = try? Cipher(note.json),
            kept.fingerprint == attempt.fingerprint
        else { return nil }
        return note.cipherID
    }
}

extension Aftercare {
    static func strays(
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> [Stray] {
        // What is kept may have had another id while it was not upstream yet.
        try db.all(
            """
            SELECT fingerprint, ifnull(
                (SELECT cipher_id FROM alias WHERE user_id = ?1 AND made_id = keeper_id), keeper_id)
            FROM stray WHERE user_id = ?1
            """,
            .text(userID)
        ) { (row) throws(DatabaseError) in
            Stray(try row.bytes(0), keeper: Stray.Keeper(word: try row.text(1)))
        }
    }

    /// Nil if nothing that was sent so can turn up late.
    static func keeper(
        of fingerprint: [UInt8],
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) -> Stray.Keeper? {
        try db.first(
            """
            SELECT ifnull(
                (SELECT cipher_id FROM alias WHERE user_id = ?1 AND made_id = keeper_id), keeper_id)
            FROM stray WHERE user_id = ?1 AND fingerprint = ?2
            """,
            .text(userID),
            .blob(fingerprint)
        ) { (row) throws(DatabaseError) in Stray.Keeper(word: try row.text(0)) }
    }
}
