internal import Glibc
public import SQLite
public import System
internal import Vault

extension Store {
    public struct Options: Sendable {
        public var database = Configuration()
        public var limits = Limits()

        public init() {}
    }

    /// In what condition the file was found.
    public enum Condition: Hashable, Sendable {
        case whole
        /// The file was damaged and lies aside under this name. So many pending changes could be
        /// carried over; base comes back with the next refresh.
        case salvaged(changes: Int, damaged: String)
    }

    static let fileName = "holdfast.db"
    static let copyName = "pending-copy.db"

    /// Opens the store of a state directory, and keeps that for as long as the store is used.
    ///
    /// The whole file is checked first. A damaged one is set aside, and what is pending is carried
    /// over into a fresh one. What was in flight is ready again; its attempt stays written down.
    public static func open(
        in directory: StateDirectory,
        options: Options = Options(),
        time: any Timekeeper,
        chance: any Chance
    ) async throws(StoreError) -> (store: Store, condition: Condition) {
        let path = directory.file(fileName)
        do throws(StoreError) {
            let store = try await open(path, directory, options, time: time, chance: chance)
            return (store, .whole)
        } catch {
            guard case .database(let cause) = error, cause.isDamage else { throw error }
        }
        let damaged = "\(path).damaged-\(Moment(time.now).ticks)"
        try setAside(path, as: damaged)
        let store = try await open(path, directory, options, time: time, chance: chance)
        let changes = try await Salvage(into: store, from: damaged, copy: directory.file(copyName))
            .carryOver()
        return (store, .salvaged(changes: changes, damaged: damaged))
    }

    /// Opens a store at a path, without a directory to hold.
    static func open(
        _ path: String,
        _ directory: StateDirectory?,
        _ options: Options,
        time: any Timekeeper,
        chance: any Chance
    ) async throws(StoreError) -> Store {
        let database = try await wrapping { () async throws(DatabaseError) in
            try await Database.open(
                path,
                migrations: Schema.migrations,
                configuration: options.database
            )
        }
        let store = Store(database, directory, options.limits, time: time, chance: chance)
        try await store.landWhatWasInFlight()
        return store
    }

    private func landWhatWasInFlight() async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            try db.execute(
                """
                UPDATE pending_change SET state = 'ready', due_ticks = 0, version = version + 1
                WHERE state = 'inFlight'
                """
            )
        }
    }

    /// The log belongs to the file: without it, the last commits would be missing.
    private static func setAside(_ path: String, as other: String) throws(StoreError) {
        for ending in ["", "-wal"] where access(path + ending, F_OK) == 0 {
            do throws(SystemError) {
                try system("rename \(path)\(ending)") { rename(path + ending, other + ending) }
            } catch {
                throw .system(error)
            }
        }
        unlink(path + "-shm")
    }

    static func wrapping<Answer>(
        _ body: () async throws(DatabaseError) -> Answer
    ) async throws(StoreError) -> Answer {
        do throws(DatabaseError) {
            return try await body()
        } catch {
            throw .database(error)
        }
    }
}

extension DatabaseError {
    fileprivate var isDamage: Bool {
        guard case .newerSchema = cause else { return [.damaged, .notADatabase].contains(trouble) }
        return false
    }
}
