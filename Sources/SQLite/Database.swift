internal import System

/// A SQLite database with one writing connection and as many reading ones as are needed.
///
/// ```swift
/// let database = try await Database.open(path, migrations: migrations)
/// try await database.write { (db) throws(DatabaseError) in
///     try db.execute("INSERT INTO pending (cipher, record) VALUES (?, ?)", .text(id), .blob(bytes))
/// }
/// ```
///
/// - A write is answered when it is on stable storage, and not before; only of a draft nothing is
///   flushed. Writes that arrive together share one commit; one that throws is undone alone. Nothing
///   waits inside a transaction, because the closures cannot wait. An edit is run again if another
///   one took the shared transaction away, so it leaves its trace in the database and nowhere else.
/// - A read sees everything that was committed before it began.
/// - A write that was cancelled before its turn does nothing and throws. Later, cancellation
///   changes nothing: the caller hears what became of the commit.
/// - After an error of the disk every caller in that commit has been told, and the next write tries
///   afresh. What the disk may have taken of a failed commit is overwritten before anybody is told,
///   so "failed" means that it will never be there. If that fails, too, the error says that the
///   outcome is unknown, and no edit is taken until the overwriting succeeds.
public final class Database: Sendable {
    private let writer: Writer
    private let readers: Readers
    private let scanner: Scanner
    /// Kept for as long as somebody can hand work to them.
    private let threads: [ExecutorThread]

    private init(_ place: Place, _ configuration: Configuration) throws(SystemError) {
        let names = configuration.executor == nil ? ["sqlite-write", "sqlite-scan"] : []
        let threads = try names.map { (name) throws(SystemError) in
            try ExecutorThread(name: name, start: configuration.startThread)
        }
        self.threads = threads
        let executors = threads.map { $0.executor as any SerialExecutor & TaskExecutor }
        let given = configuration.executor.map { [$0, $0] } ?? executors
        writer = Writer(configuration, on: given[0])
        scanner = Scanner(place, configuration, on: given[1])
        readers = Readers(place, configuration)
    }

    /// Opens the file, making it if need be; checks it, and brings its schema up to date.
    public static func open(
        _ path: String,
        migrations: [Migration],
        configuration: Configuration = Configuration()
    ) async throws(DatabaseError) -> Database {
        let place = Place(path: path, vfs: configuration.vfs)
        let database: Database
        do throws(SystemError) {
            database = try Database(place, configuration)
        } catch {
            throw DatabaseError(error, during: "open \(path)")
        }
        try await database.writer.open(place, migrations, configuration)
        return database
    }

    /// Runs the edit in a transaction and answers when that is committed.
    ///
    /// The edit keeps all of what it did or, if it throws, nothing.
    @discardableResult
    public func write<Answer: Sendable>(
        _ edit: @Sendable (borrowing Connection) throws(DatabaseError) -> Answer
    ) async throws(DatabaseError) -> Answer {
        try await writer.write(edit)
    }

    /// A write that is a single statement.
    ///
    /// - Returns: How many rows it changed.
    @discardableResult
    public func execute(
        _ sql: StaticString,
        _ values: Value...
    ) async throws(DatabaseError) -> Int {
        try await writer.write { (connection) throws(DatabaseError) in
            try connection.execute(sql, values)
        }
    }

    /// Reads on the calling thread. For what takes microseconds; ``scan(_:)`` for the rest.
    public func read<Answer>(
        _ query: (borrowing Connection) throws(DatabaseError) -> Answer
    ) throws(DatabaseError) -> Answer {
        try readers.read(query)
    }

    /// Reads on a thread of its own, one caller after the other. Ends early, with an error, when the
    /// caller is cancelled. The log cannot start over while it lasts.
    public func scan<Answer: Sendable>(
        _ query: @Sendable (borrowing Connection) throws(DatabaseError) -> Answer
    ) async throws(DatabaseError) -> Answer {
        try await scanner.scan(query)
    }

    /// What was wrong with indexes when the file was opened; they were made anew.
    public var mendedIndexes: [String] { get async { await writer.mendedIndexes } }

    /// Where a log lies of which the disk has changed what it had kept: what came behind that is nowhere else. Nil if it
    /// was sound when the file was opened.
    public var damagedLog: String? { get async { await writer.damagedLog } }

    /// Looks through the whole file.
    ///
    /// - Returns: What is wrong with it; nothing, if all is well.
    public func integrityCheck() async throws(DatabaseError) -> [String] {
        try await scanner.integrityCheck()
    }

    /// Moves the log into the database and empties it, waiting for readers as long as patience allows.
    public func checkpoint() async throws(DatabaseError) {
        try await writer.checkpoint()
    }

    /// Commits what is under way, empties the log and closes. What comes later is refused.
    ///
    /// Everything is closed afterwards, also if it throws, and nothing that was committed is lost:
    /// the log is then read at the next start.
    public func close() async throws(DatabaseError) {
        readers.close()
        await scanner.close()
        try await writer.close()
    }
}
