internal import SQLite
internal import System
internal import Vault

/// What an account owns on disk: what upstream last said, what the user wants, and what became of
/// it.
///
/// Every function that writes is one transaction, and answers when that is on stable storage.
/// Whatever depends on what was read before names the version it has seen and does nothing if that
/// has moved.
public final class Store: Sendable {
    /// How much may be pending for one account.
    public struct Limits: Sendable {
        public var changes = 10_000
        public var bytes = 256 << 20

        public init() {}
    }

    /// The version of the schema that this program writes.
    public static var schemaVersion: Int { Schema.migrations.count }

    /// What may be read, also by those who may not write.
    public var reader: StoreReader { StoreReader(database: database) }

    let database: Database
    let chance: any Chance
    let limits: Limits
    /// Held for as long as the store is used.
    let directory: StateDirectory?
    let time: any Timekeeper
    private let acceptance = Lock(Acceptance())
    /// Whether what the last process left behind was seen to.
    let isPrepared = Lock(false)
    /// There was no room to look into the copy of what is pending.
    let uncaught = Lock<Configuration?>(nil)
    let copying = JointWork()

    init(
        _ database: Database,
        _ directory: StateDirectory?,
        _ limits: Limits,
        time: any Timekeeper,
        chance: any Chance
    ) {
        self.database = database
        self.directory = directory
        self.limits = limits
        self.time = time
        self.chance = chance
    }

    /// What the calendar says, as records have it.
    var now: Moment { Moment(time.now) }

    /// Ends what is under way and empties the log.
    public func close() async throws(StoreError) {
        do throws(DatabaseError) {
            try await database.close()
        } catch {
            throw .database(error)
        }
    }
}

extension Store {
    /// Writes what is not an edit: bookkeeping about what has happened already is tried even when
    /// no edit is accepted.
    @discardableResult
    func write<Answer: Sendable>(
        _ edit: @Sendable (borrowing Connection) throws(DatabaseError) -> Answer
    ) async throws(StoreError) -> Answer {
        do throws(DatabaseError) {
            return try await database.write(edit)
        } catch {
            acceptance.withLock { $0.note(error, at: time.elapsed) }
            throw .database(error)
        }
    }
}

/// Whether edits are taken. They are not while the last write failed for want of a disk.
struct Acceptance {
    /// A refusal in between costs nothing; a probe is a commit.
    static let pauseBetweenProbes: Duration = .seconds(1)

    private(set) var ended: DatabaseError?
    private var lastProbe: Duration = .zero

    mutating func note(_ error: DatabaseError, at elapsed: Duration) {
        guard StoreError.endsAcceptance(error) else { return }
        end(error, at: elapsed)
    }

    mutating func end(_ error: DatabaseError, at elapsed: Duration) {
        ended = error
        lastProbe = elapsed
    }

    mutating func resume() { ended = nil }

    /// Whether the caller is to probe now.
    mutating func takesProbe(at elapsed: Duration) -> Bool {
        guard ended != nil, elapsed - lastProbe >= Self.pauseBetweenProbes else { return false }
        lastProbe = elapsed
        return true
    }
}

extension Store {
    public var isAccepting: Bool { acceptance.withLock { $0.ended == nil } }

    func refuseEdits(because error: DatabaseError) {
        acceptance.withLock { $0.end(error, at: time.elapsed) }
    }

    /// Writes something harmless. When that is kept, edits are taken again.
    public func probe() async throws(StoreError) {
        try await catchUpLate()
        if !isPrepared.withLock(\.self) { try await prepare() }
        try await write { (db) throws(DatabaseError) in
            try SettingTable.put("probe", String(repeating: "0", count: 4_096), db)
        }
        acceptance.withLock { $0.resume() }
    }

    /// Throws while edits could not be kept, after probing now and then.
    func requireAcceptance() async throws(StoreError) {
        guard !isAccepting else { return }
        let probes = acceptance.withLock { $0.takesProbe(at: time.elapsed) }
        if probes, (try? await probe()) != nil { return }
        guard let error = acceptance.withLock(\.ended) else { return }
        throw .notAccepting(since: error)
    }
}
