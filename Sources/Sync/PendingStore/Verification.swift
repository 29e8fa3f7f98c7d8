internal import Glibc
internal import SQLite
internal import System
internal import Vault

/// Whether what lies on the disk is what it should be.
public struct Verification: Sendable {
    public enum Check: String, CaseIterable, Hashable, Sendable {
        /// The file is a database, and whole.
        case database
        /// Every pending change can be read, and so can what is kept of every account.
        case records
        /// What is pending, what upstream said, and the receipts fit together.
        case journal
        /// Every string that has to be encrypted is.
        case plaintext
    }

    /// What somebody who knows what the records of accounts say has against them, in sentences.
    public typealias AccountCheck = @Sendable ([StoredAccount]) -> [String]

    public struct Problem: Hashable, Sendable {
        public let check: Check
        public let text: String
    }

    public private(set) var accounts = 0
    public private(set) var items = 0
    public private(set) var changes = 0
    public private(set) var problems: [Problem] = []

    public var isWhole: Bool { problems.isEmpty }

    /// An earlier version's file is looked through as it is; the next start brings it up to date.
    fileprivate var hasDigests = true
    fileprivate var hasLeftOut = true

    fileprivate init() {}

    /// Of a file that cannot be looked into.
    fileprivate init(of flaw: String) { note(.database, flaw) }

    mutating func note(_ check: Check, _ text: String) {
        problems.append(Problem(check: check, text: text))
    }
}

extension Store {
    /// Looks through everything while the host goes on.
    public func verify(
        accounts check: @escaping Verification.AccountCheck
    ) async throws(StoreError) -> Verification {
        try await Self.verify(database, check)
    }

    /// Whether there is no store in a directory. To hold the directory first would leave a file in it.
    public static func isMissing(in path: String) -> Bool {
        (try? StoreFile.exists("\(path)/\(fileName)")) == false
    }

    /// Looks through the store of a host that does not run, and changes nothing.
    public static func verify(
        _ directory: StateDirectory,
        accounts check: @escaping Verification.AccountCheck
    ) async throws(StoreError) -> Verification {
        let path = directory.file(fileName)
        guard try StoreFile.exists(path) else {
            throw .system(SystemError("open \(path)", code: ENOENT))
        }
        // To open it would make a database of it, and the next start would not miss what was there.
        if try holdsNothing(path) { return Verification(of: try nothing(in: directory)) }
        let database: Database
        do throws(DatabaseError) {
            database = try await openAsItLies(path)
        } catch {
            guard error.isDamage else { throw .database(error) }
            return Verification(of: error.description)
        }
        let result: Result<Verification, StoreError>
        do throws(StoreError) {
            var verification = try await verify(database, check)
            if let log = await database.damagedLog {
                verification.note(.database, "The log is damaged, and not read to its end: \(log).")
            }
            result = .success(verification)
        } catch {
            result = .failure(error)
        }
        try? await database.close()
        return try result.get()
    }

    private static func openAsItLies(_ path: String) async throws(DatabaseError) -> Database {
        var configuration = Configuration()
        configuration.isCheckedAtOpen = false
        configuration.isMigratedAtOpen = false
        configuration.isLogLeftAlone = true
        return try await Database.open(
            path,
            migrations: Schema.migrations,
            configuration: configuration
        )
    }

    private static func nothing(in directory: StateDirectory) throws(StoreError) -> String {
        let next =
            try StoreFile.exists(directory.file(copyName))
            ? "The next start takes what was pending from its copy."
            : "There is no copy of it either."
        return "\(fileName) has nothing in it. \(next)"
    }

    private static func verify(
        _ database: Database,
        _ check: @escaping Verification.AccountCheck
    ) async throws(StoreError) -> Verification {
        var verification = Verification()
        do throws(DatabaseError) {
            for line in try await database.integrityCheck() { verification.note(.database, line) }
            guard verification.isWhole else { return verification }
            verification = try await database.scan { [verification] (db) throws(DatabaseError) in
                var verification = verification
                let version = try Schema.version(db)
                verification.hasDigests = version >= Schema.firstVersionWithDigests
                verification.hasLeftOut = version >= Schema.firstVersionWithLeftOut
                try verification.lookAtAccounts(check, db)
                try verification.lookAtReceipts(db)
                try verification.lookAtCounts(db)
                return verification
            }
        } catch {
            guard error.isDamage else { throw .database(error) }
            verification.note(.database, error.description)
        }
        return verification
    }
}

extension Verification {
    fileprivate mutating func lookAtAccounts(
        _ check: AccountCheck,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        let stored = try AccountTable.all(db)
        accounts = stored.count
        for text in check(stored) { note(.records, text) }
        for account in stored { try look(at: account.id, db) }
        try lookAtStrangers(db)
    }

    /// What waits in the name of an account that is not here is never sent.
    private mutating func lookAtStrangers(_ db: borrowing Connection) throws(DatabaseError) {
        let strangers = try db.all(
            """
            SELECT DISTINCT user_id FROM pending_change
            WHERE user_id NOT IN (SELECT id FROM account) ORDER BY user_id
            """
        ) { (row) throws(DatabaseError) in try row.text(0) }
        for stranger in strangers {
            let before = changes
            try look(at: stranger, db)
            let count = changes - before
            note(.journal, "Changes of account \(stranger), which is not here, wait: \(count).")
        }
    }

    private mutating func look(
        at userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        let base =
            hasDigests
            ? try BaseTable.all(of: userID, db)
            : try BaseTable.allWithoutDigest(of: userID, db)
        items += base.count
        for cipher in base { look(at: cipher) }
        for kind in BaseSlice.Kind.allCases {
            let slices =
                hasDigests
                ? try BaseTable.slices(of: userID, kind, db)
                : try BaseTable.slicesWithoutDigest(of: userID, kind, db)
            for slice in slices { look(at: slice, of: userID) }
        }
        let known = Set(base.map(\.lane.cipherID))
        for stored in try PendingTable.all(of: userID, db) {
            changes += 1
            look(at: stored, known)
        }
        if hasLeftOut { try lookAtLeftOut(of: userID, db) }
    }

    /// What is to be kept as a copy, and is nowhere else.
    private mutating func lookAtLeftOut(
        of userID: String,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        for lane in try Aftercare.lanesLeftOut(of: userID, db) {
            let name = "item \(lane.cipherID) from before it was left out or written over"
            if let kept = try Aftercare.leftOut(lane, db) {
                lookForPlaintext(in: kept.json, name)
            } else {
                note(.journal, "What is kept of \(name) is not as it was written.")
            }
        }
    }

    private mutating func look(at cipher: BaseCipher) {
        let id = cipher.lane.cipherID
        if cipher.isDamaged {
            note(.journal, "Item \(id) is not as it was written; the next sync brings it anew.")
        } else {
            lookForPlaintext(in: cipher.json, "item \(id)")
        }
    }

    private mutating func look(at stored: StoredChange, _ known: Set<String>) {
        let name = "Change \(stored.summary.id)"
        guard let change = stored.change else {
            return note(.records, "\(name) cannot be read. It is kept as it is.")
        }
        if let type = change.foreignType {
            note(.records, "\(name) is of a type that this version does not know: \(type).")
        }
        let needsBase = !change.isUnborn && change.type != .hardDelete
        if needsBase, change.intent.snapshot == nil, change.baseCopy == nil,
            !known.contains(change.cipherID)
        {
            note(.journal, "\(name) is about an item that is not here.")
        }
        for (json, what) in [
            (change.intent.snapshot?.json, "change"), (change.baseCopy, "base copy of change"),
            (change.backup?.json, "backup of change"),
            (change.forgotten?.json, "what was forgotten beneath change"),
        ] {
            if let json { lookForPlaintext(in: json, "\(what) \(change.id)") }
        }
    }

    private mutating func lookForPlaintext(in json: [UInt8], _ name: String) {
        guard let cipher = try? Cipher(json) else {
            return note(.journal, "What is kept of \(name) is no item.")
        }
        for place in cipher.plainPlaces {
            note(.plaintext, "In \(name), \(place) is not encrypted.")
        }
    }

    fileprivate mutating func lookAtReceipts(_ db: borrowing Connection) throws(DatabaseError) {
        let lost = try db.all(
            """
            SELECT id FROM receipt WHERE status = 'queued'
            AND pending_id NOT IN (SELECT id FROM pending_change)
            """
        ) { (row) throws(DatabaseError) in try row.text(0) }
        for id in lost { note(.journal, "Receipt \(id) waits for a change that is not there.") }
    }

    fileprivate mutating func lookAtCounts(_ db: borrowing Connection) throws(DatabaseError) {
        let counted =
            try db.first("SELECT ifnull(sum(count), 0) FROM pending_tally") {
                (row) throws(DatabaseError) in try row.int(0)
            } ?? 0
        let there =
            try db.first("SELECT count(*) FROM pending_change") {
                (row) throws(DatabaseError) in try row.int(0)
            } ?? 0
        if counted != there {
            note(.journal, "\(counted) changes are counted and \(there) are there.")
        }
    }
}
