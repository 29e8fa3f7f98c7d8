internal import Glibc
public import SQLite
public import System
internal import Vault

extension Store {
    public struct Options: Sendable {
        public var database = Configuration()
        public var limits = Limits()
        /// Hears where a damaged file lies as soon as it lies there: what comes after that may fail, and no later start
        /// knows of it.
        public var setAside: @Sendable (_ path: String) -> Void = { _ in }

        public init() {}
    }

    /// In what condition the file was found.
    public enum Condition: Hashable, Sendable {
        case whole
        /// The file was damaged and lies aside under this name. So many pending changes could be
        /// carried over; base comes back with the next refresh.
        case salvaged(changes: Int, damaged: String)
        /// There was no file, or nothing in it. So many pending changes were in the copy that is made of
        /// them.
        case restored(changes: Int)
        /// The file is older than the copy, or the end of its log is lost. So many changes came after all that
        /// it knew of.
        case caughtUp(changes: Int)
        /// The disk has changed the log, which lies aside under this name: what came behind that is not in the file. Of
        /// it, so many changes were in the copy.
        case cutShort(log: String, changes: Int)
        /// Indexes were damaged, and have been made anew.
        case mended(findings: [String])
    }

    static let fileName = "holdfast.db"
    public static let copyName = "pending-copy.db"

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
        let opened = try await openMending(directory, options, time, chance)
        await opened.store.endErasing()
        return opened
    }

    private static func openMending(
        _ directory: StateDirectory,
        _ options: Options,
        _ time: any Timekeeper,
        _ chance: any Chance
    ) async throws(StoreError) -> (store: Store, condition: Condition) {
        let path = directory.file(fileName)
        var damaged = try Replacement(of: path).resume(at: Moment(time.now))
        if let damaged { options.setAside(damaged) }
        if damaged == nil, try holdsNothing(path), try StoreFile.exists(directory.file(copyName)) {
            // With nothing in it, it is not to lie aside as a damaged one.
            unlink(path)
            _ = try await salvage(directory, options, isGone: true, time, chance)
            let store = try await open(path, directory, options, time: time, chance: chance)
            return (store, .restored(changes: try store.countOfChanges()))
        }
        do throws(StoreError) {
            let store = try await open(path, directory, options, time: time, chance: chance)
            let missed = damaged == nil ? try await store.catchUpWithRoom(options.database) : 0
            return (store, try await store.condition(damaged, missed: missed))
        } catch {
            guard case .database(let cause) = error, cause.isDamage else { throw error }
        }
        damaged = try await salvage(directory, options, time, chance)
        let store = try await open(path, directory, options, time: time, chance: chance)
        return (store, try await store.condition(damaged))
    }

    private func condition(
        _ damaged: String?,
        missed: Int = 0
    ) async throws(StoreError) -> Condition {
        if let damaged { return .salvaged(changes: try countOfChanges(), damaged: damaged) }
        if let log = await database.damagedLog { return .cutShort(log: log, changes: missed) }
        if missed > 0 { return .caughtUp(changes: missed) }
        let findings = await database.mendedIndexes
        return findings.isEmpty ? .whole : .mended(findings: findings)
    }

    /// Takes from the copy what came after all that the file has ever known: somebody has put an older file
    /// here, or the end of the log is lost. The next copy would forget it.
    private func catchUp(_ configuration: Configuration) async throws(StoreError) -> Int {
        guard let copy = directory?.file(Self.copyName), try StoreFile.exists(copy) else {
            return 0
        }
        let salvage = Salvage(into: self, from: nil, copy: copy, configuration)
        let count = try await salvage.catchUp()
        if count > 0 { try await prepare() }
        return count
    }

    /// On a full disk that is made up for once there is room, and until then no edit is taken: what only the copy has
    /// came before it.
    private func catchUpWithRoom(_ configuration: Configuration) async throws(StoreError) -> Int {
        do throws(StoreError) {
            return try await catchUp(configuration)
        } catch {
            guard error.isOfFullDisk, case .database(let cause) = error else { throw error }
            uncaught.withLock { $0 = configuration }
            refuseEdits(because: cause)
            return 0
        }
    }

    func catchUpLate() async throws(StoreError) {
        guard let configuration = uncaught.withLock(\.self) else { return }
        do throws(StoreError) {
            _ = try await catchUp(configuration)
        } catch {
            // What cannot be read now will not be read later either.
            if error.isOfFullDisk { throw error }
        }
        uncaught.withLock { $0 = nil }
    }

    private func countOfChanges() throws(StoreError) -> Int {
        try reader.tally().reduce(0) { $0 + $1.count }
    }

    /// Whether the file is not there or has no tables, which take a page each besides the first. As long as it
    /// is young, all of it may lie in its log.
    static func holdsNothing(_ path: String) throws(StoreError) -> Bool {
        guard try StoreFile.exists(path) else { return true }
        do throws(SystemError) {
            let size = try StoreFile.size(of: path)
            if size == 0 { return true }
            let log = path + "-wal"
            let logged = try Files.exists(log) ? try StoreFile.size(of: log) : 0
            return size <= pageSize && logged == 0
        } catch {
            throw .system(error)
        }
    }

    private static let pageSize = 4_096

    /// Puts a fresh file, with all that could be carried over, in the place of the damaged one.
    ///
    /// Until that file is whole the damaged one stays where it is, so whoever is stopped meanwhile
    /// begins anew.
    ///
    /// - Parameter isGone: There is nothing but the copy to carry over from.
    /// - Returns: Where the damaged file lies now.
    private static func salvage(
        _ directory: StateDirectory,
        _ options: Options,
        isGone: Bool = false,
        _ time: any Timekeeper,
        _ chance: any Chance
    ) async throws(StoreError) -> String {
        let replacement = Replacement(of: directory.file(fileName))
        replacement.discardDraft()
        var unflushed = options
        unflushed.database.isFlushedAtCommit = false
        let store = try await open(
            replacement.draft,
            directory,
            unflushed,
            time: time,
            chance: chance
        )
        let copy = directory.file(copyName)
        let salvage = Salvage(
            into: store,
            from: isGone ? nil : replacement.path,
            copy: try StoreFile.exists(copy) ? copy : nil,
            options.database
        )
        do throws(StoreError) {
            try await salvage.carryOver()
        } catch {
            // What could not be carried over is the news, not that the draft cannot be closed.
            try? await store.close()
            throw error
        }
        try await store.close()
        let damaged = try replacement.carryOut(at: Moment(time.now))
        // Of one that is gone, a log may be left.
        if !isGone || (try? StoreFile.exists(damaged + "-wal")) != false {
            options.setAside(damaged)
        }
        return damaged
    }

    /// Opens a store at a path, without a directory to hold.
    package static func open(
        _ path: String,
        _ directory: StateDirectory?,
        _ options: Options,
        time: any Timekeeper,
        chance: any Chance
    ) async throws(StoreError) -> Store {
        var configuration = options.database
        configuration.tablesCheckedByRow = ["pending_change"]
        let database = try await wrapping { () async throws(DatabaseError) in
            try await Database.open(
                path,
                migrations: Schema.migrations,
                configuration: configuration
            )
        }
        let store = Store(database, directory, options.limits, time: time, chance: chance)
        do throws(StoreError) {
            try await store.prepare()
        } catch {
            // On a full disk all can be read, and the first probe that succeeds makes up for it.
            guard error.isOfFullDisk else { throw error }
        }
        return store
    }

    /// Counts anew, because a count that is wrong would refuse every change to what it counts, and
    /// then lands what was in flight.
    func prepare() async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            if mutated(.forgetsInFlight) {
                try db.execute("DELETE FROM pending_change WHERE state = 'inFlight'")
            }
            try PendingTable.countAnew(db)
            try db.execute(
                """
                UPDATE pending_change SET state = 'ready', due_ticks = 0, version = version + 1
                WHERE state = 'inFlight'
                """
            )
        }
        isPrepared.withLock { $0 = true }
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
