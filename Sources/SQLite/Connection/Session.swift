internal import CSQLite

/// One open connection and its prepared statements.
// @unchecked because SQLite takes no lock for it: its owner (the writer's executor, the scanner's,
// or the one reader that took it from the pool) lets a single thread at a time near it.
final class Session: @unchecked Sendable {
    let handle: OpaquePointer
    private var statements: StatementCache
    /// What begins and ends every read, kept at hand: looking them up would cost as much as running
    /// them.
    private var brackets: (begin: Statement, end: Statement)?
    /// Set on the writing connection: a statement outside a transaction would commit by itself,
    /// behind the back of the group.
    var needsTransaction = false
    /// How many statements that may write have been run.
    private(set) var writesRun = 0
    /// The first error that ended the transaction or left a part of it that cannot be taken back:
    /// nothing of it may be kept.
    private(set) var ruin: DatabaseError?
    let knownLog: KnownLog
    /// How long the log is, in pages. SQLite says so after each commit.
    private let log = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    init(_ place: Place, _ access: Access, statements capacity: Int) throws(DatabaseError) {
        _ = Self.isInitialized
        knownLog = place.log
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(place.path, &opened, access.flags, place.vfs)
        guard code == SQLITE_OK, let opened else {
            let error = DatabaseError(code, of: opened, during: "open \(place.path)")
            sqlite3_close_v2(opened)
            log.deallocate()
            throw error
        }
        handle = opened
        log.initialize(to: 0)
        statements = StatementCache(capacity: capacity)
        sqlite3_extended_result_codes(handle, 1)
        try require(csq_harden(handle), "open \(place.path)")
    }

    private static let isInitialized: Void = csq_initialize()

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }
    var preparedStatements: Int { statements.count }

    /// Prepares, binds, and runs the body while the statement is bound.
    func run<Answer>(
        _ sql: StaticString,
        _ values: [Value],
        _ body: (Statement) throws(DatabaseError) -> Answer
    ) throws(DatabaseError) -> Answer {
        if needsTransaction && !isWhole { throw transactionIsGone(sql) }
        let statement = try statements.take(sql, on: handle)
        defer { statement.isBusy = false }
        do throws(DatabaseError) {
            let answer = try statement.bound(values) { () throws(DatabaseError) in
                try body(statement)
            }
            if !statement.isReadOnly { writesRun += 1 }
            return answer
        } catch {
            // It may have changed some rows all the same, and SQLite does not always undo them.
            if !statement.isReadOnly { writesRun += 1 }
            if needsTransaction && !isInTransaction { ruin(by: error) }
            throw error
        }
    }

    /// Only the first is remembered: the others follow from it.
    func ruin(by error: DatabaseError) {
        if ruin == nil { ruin = error }
    }

    func transactionIsGone(_ sql: StaticString? = nil) -> DatabaseError {
        DatabaseError(
            ruin?.cause ?? .sqlite(.aborted, systemError: 0),
            during: "run",
            sql: sql?.description,
            message: "the transaction has ended" + (ruin.map { " (\($0.message))" } ?? "")
        )
    }

    func require(_ code: Int32, _ operation: String) throws(DatabaseError) {
        guard code != SQLITE_OK else { return }
        throw DatabaseError(code, of: handle, during: operation)
    }

    deinit {
        statements = StatementCache(capacity: 0)
        brackets = nil
        sqlite3_close_v2(handle)
        log.deallocate()
    }
}

extension Session {
    var logPages: Int { Int(log.pointee) }

    func logWasEmptied() { log.pointee = 0 }

    func watchLog() {
        sqlite3_wal_hook(handle, Self.logGrew, log)
    }

    private typealias LogHook =
        @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32)
        -> Int32

    private static let logGrew: LogHook = { log, _, _, pages in
        log?.assumingMemoryBound(to: Int32.self).pointee = pages
        return SQLITE_OK
    }
}

extension Session {
    /// Runs what may stand outside a transaction: pragmas, and BEGIN and COMMIT themselves.
    @discardableResult
    func control(
        _ sql: StaticString,
        _ operation: StaticString
    ) throws(DatabaseError) -> Int? {
        do throws(DatabaseError) {
            let statement = try statements.take(sql, on: handle)
            defer { statement.isBusy = false }
            return try statement.bound([]) { () throws(DatabaseError) in
                try statement.step() ? Int(sqlite3_column_int64(statement.handle, 0)) : nil
            }
        } catch {
            throw error.during(operation.description)
        }
    }

    func beginReading() throws(DatabaseError) {
        try readingBrackets().begin.runOnce()
    }

    func endReading() {
        do throws(DatabaseError) {
            try readingBrackets().end.runOnce()
        } catch {
            rollBack()
        }
    }

    private func readingBrackets() throws(DatabaseError) -> (begin: Statement, end: Statement) {
        if let brackets { return brackets }
        let made = (
            begin: try Statement("BEGIN", on: handle), end: try Statement("COMMIT", on: handle)
        )
        brackets = made
        return made
    }

    /// Ends the transaction without keeping it. SQLite has already done so after some errors.
    func rollBack() {
        if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
        ruin = nil
    }

    /// Keeps all of what the body does, or nothing.
    func savepoint<Answer, Failure: Error>(
        _ body: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        mark("SAVEPOINT edit")
        do {
            let answer = try body()
            mark("RELEASE edit")
            return answer
        } catch {
            mark("ROLLBACK TO edit")
            mark("RELEASE edit")
            throw error
        }
    }

    /// A savepoint that cannot be set or undone is no error of the body, but the end of the
    /// transaction: the commit finds out.
    private func mark(_ sql: StaticString) {
        guard isInTransaction else { return ruin(by: transactionIsGone()) }
        do throws(DatabaseError) {
            try control(sql, "savepoint")
        } catch {
            ruin(by: error)
        }
    }

    /// Several statements, one after the other, without values: a schema.
    func runScript(_ script: String) throws(DatabaseError) {
        if needsTransaction && !isWhole { throw transactionIsGone() }
        writesRun += 1
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code != SQLITE_OK else { return }
        let error = DatabaseError(code, of: handle, during: "run", sql: script)
        if needsTransaction && !isInTransaction { ruin(by: error) }
        throw error
    }
}

/// Where a database lies: a path, in the files of the system or of another VFS.
struct Place: Sendable {
    let path: String
    let vfs: String?
    /// The same for all who have got this place from one another.
    let log = KnownLog()
}

enum Access {
    case write
    case read

    var flags: Int32 {
        let common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
        return switch self {
        case .write: common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .read: common | SQLITE_OPEN_READONLY
        }
    }
}
