internal import CSQLite
internal import Glibc
internal import System

extension Session {
    /// The writing connection, with everything that durability rests on.
    static func writing(
        _ place: Place,
        _ configuration: Configuration
    ) throws(DatabaseError) -> Session {
        place.makePrivateFile()
        let session = try Session(place, .write, statements: configuration.statementsKept)
        try session.refuseReadOnly(place)
        try session.heed(configuration, place)
        try session.set(Self.common)
        let isFlushed = configuration.isFlushedAtCommit && !mutated(.noFlush)
        // First, because a change of the journal is flushed too.
        try session.set([isFlushed ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF"])
        try session.set(Self.durable)
        try session.refuseOtherJournals(place)
        session.watchLog()
        return session
    }

    static func reading(
        _ place: Place,
        _ configuration: Configuration
    ) throws(DatabaseError) -> Session {
        let session = try Session(place, .read, statements: configuration.statementsKept)
        try session.heed(configuration, place)
        try session.require(csq_leave_log_alone(session.handle), "open \(place.path)")
        try session.set(Self.common)
        try session.set(["PRAGMA cache_size = -2048"])
        return session
    }

    /// - Memory mapping stays off: an I/O error would come as a signal and end the host.
    /// - Temporary tables and sorters stay in memory: nothing of a vault goes into a file that
    ///   nobody watches.
    private static let common: [StaticString] = [
        "PRAGMA cell_size_check = ON",
        "PRAGMA mmap_size = 0",
        "PRAGMA temp_store = MEMORY",
    ]

    /// - `secure_delete = FAST` overwrites what is deleted wherever the page is written anyway.
    ///   What lies in a record is encrypted by its owner, so the extra writes of ON would guard
    ///   little; dates and ids are plain, so OFF would leave more than it has to.
    /// - The log is cut back after a long read has kept it from starting over.
    private static let durable: [StaticString] = [
        "PRAGMA journal_mode = WAL",
        "PRAGMA foreign_keys = ON",
        "PRAGMA secure_delete = FAST",
        "PRAGMA wal_autocheckpoint = 0",
        "PRAGMA journal_size_limit = 16777216",
        "PRAGMA cache_size = -8192",
    ]

    private func set(_ pragmas: [StaticString]) throws(DatabaseError) {
        for pragma in pragmas { try control(pragma, "open") }
    }

    private func heed(
        _ configuration: Configuration,
        _ place: Place
    ) throws(DatabaseError) {
        bePatient(for: configuration.patience)
        guard configuration.isSchemaForgiven else { return }
        try require(csq_forgive_schema(handle), "open \(place.path)")
    }

    func bePatient(for patience: Duration) {
        sqlite3_busy_timeout(handle, Int32(clamping: Int(patience / .milliseconds(1))))
    }

    /// SQLite opens a write-protected file for reading without a word.
    private func refuseReadOnly(_ place: Place) throws(DatabaseError) {
        guard isReadOnly else { return }
        throw DatabaseError(SQLITE_READONLY, of: nil, during: "open \(place.path)")
    }

    /// SQLite stays with a rollback journal, without a word, where there is no shared memory.
    private func refuseOtherJournals(_ place: Place) throws(DatabaseError) {
        let mode = try run("PRAGMA journal_mode", []) { (statement) throws(DatabaseError) in
            try statement.step() ? try Row(statement).text(0) : ""
        }
        guard mode != "wal" else { return }
        throw DatabaseError(
            .sqlite(.error, systemError: 0),
            during: "open \(place.path)",
            message: "write-ahead logging is not possible here (journal mode \(mode))"
        )
    }
}

extension Place {
    /// Creates the file for its owner only, before SQLite creates it for everybody; the log and the
    /// shared memory take its mode over. A file that is there is not even opened: closing it would
    /// drop the locks that this process holds on it. Any other refusal meets SQLite next, which
    /// reports it.
    func makePrivateFile() {
        guard vfs == nil else { return }
        _ = try? File(path: path, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    }

    /// Whatever it is: what is wrong with it would be taken for a flaw of that which is written there.
    func removeFile() {
        guard vfs == nil else { return }
        for ending in ["", "-journal", "-wal", "-shm"] { unlink(path + ending) }
    }
}
