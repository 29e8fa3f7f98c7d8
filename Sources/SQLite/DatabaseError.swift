internal import CSQLite
internal import Glibc
internal import System

/// Why the database did not do as it was told.
///
/// Names the operation and the SQL, never a bound value: values may be secrets.
public struct DatabaseError: Error, Equatable, Sendable {
    public enum Cause: Equatable, Sendable {
        /// SQLite refused; `systemError` is the errno behind it, 0 when there was none.
        case sqlite(ResultCode, systemError: Int32)
        /// A commit failed, and what the disk had taken of it could not be overwritten: whether it
        /// was kept shows at the next start.
        case unsettled(ResultCode, systemError: Int32)
        /// A later program wrote this file.
        case newerSchema(found: Int, known: Int)
        /// Rows of these tables point at rows that are not there.
        case foreignKeysViolated(tables: [String])
        /// The quick check found the file damaged.
        case damaged(findings: [String])
        /// The caller was cancelled before anything was done, or while it read.
        case cancelled
        /// The database has been closed.
        case closed
    }

    public let cause: Cause
    /// What was being done: "commit", "open /var/lib/…".
    public let operation: String
    public let sql: String?
    public let message: String

    init(_ cause: Cause, during operation: String, sql: String? = nil, message: String) {
        self.cause = cause
        self.operation = operation
        self.sql = sql
        self.message = message
    }

    /// SQLite's code, if it was SQLite that refused.
    public var code: ResultCode? {
        switch cause {
        case .sqlite(let code, _), .unsettled(let code, _): code
        default: nil
        }
    }

    /// Whether what was asked may have been kept all the same. Otherwise it certainly was not.
    public var isOutcomeUnknown: Bool {
        if case .unsettled = cause { true } else { false }
    }
}

extension DatabaseError: CustomStringConvertible {
    public var description: String {
        let statement = sql.map { " (\($0))" } ?? ""
        return "\(operation): \(message)\(statement). \(trouble.hint)"
    }
}

extension DatabaseError {
    /// The same error, told by what it spoilt.
    func during(_ operation: String) -> DatabaseError {
        DatabaseError(cause, during: operation, sql: sql, message: message)
    }

    /// The same error, of a commit that nothing has overwritten.
    var unsettled: DatabaseError {
        guard case .sqlite(let code, let systemError) = cause else { return self }
        return DatabaseError(
            .unsettled(code, systemError: systemError),
            during: operation,
            sql: sql,
            message: "\(message); whether it was kept shows at the next start"
        )
    }

    static func closed(during operation: String) -> DatabaseError {
        DatabaseError(.closed, during: operation, message: "the database is closed")
    }

    static func cancelled(during operation: String) -> DatabaseError {
        DatabaseError(.cancelled, during: operation, message: "the caller was cancelled")
    }

    /// The system has nothing to spare for what SQLite would run on.
    init(_ error: SystemError, during operation: String) {
        self.init(
            .sqlite(.noMemory, systemError: error.code),
            during: operation,
            message: error.description
        )
    }

    /// What SQLite says about the call that has just failed on this connection.
    init(_ code: Int32, of handle: OpaquePointer?, during operation: String, sql: String? = nil) {
        let isFresh = handle.map { sqlite3_extended_errcode($0) & 0xff == code & 0xff } ?? false
        let told = ResultCode(rawValue: isFresh ? sqlite3_extended_errcode(handle) : code)
        let (result, systemError) = isFresh ? Self.cause(of: told, on: handle) : (told, 0)
        let isOwnText = isFresh && result == told
        let text = isOwnText ? sqlite3_errmsg(handle) : sqlite3_errstr(result.rawValue)
        let reason = systemError == 0 ? "" : " (\(String(cString: strerror(systemError))))"
        self.init(
            result == .interrupted ? .cancelled : .sqlite(result, systemError: systemError),
            during: operation,
            sql: sql,
            message: (text.map { String(cString: $0) } ?? "code \(code)") + reason
        )
    }

    /// What SQLite remembers of the system is of another day where it was not the system that refused, and also
    /// where a commit failed to be written.
    ///
    /// A read that the disk refused is damage to SQLite, or a table that is not there if it forgives a schema that
    /// cannot be read. But such a failure may pass, and of the file nothing is known.
    private static func cause(
        of told: ResultCode,
        on handle: OpaquePointer?
    ) -> (ResultCode, systemError: Int32) {
        switch told.primary {
        case .corrupt, .error:
            let reason = csq_take_file_error(handle)
            return isOfDisk(reason) ? (.corruptFileSystem, reason) : (told, 0)
        case .inputOutput:
            let reason = csq_take_file_error(handle)
            let isOfFile = reason != 0 && failedChanges.contains(told.rawValue)
            return (told, isOfFile ? reason : sqlite3_system_errno(handle))
        case .cannotOpen: return (told, sqlite3_system_errno(handle))
        default: return (told, 0)
        }
    }

    /// Those of the system's reasons for a failed read of which SQLite makes damage.
    static func isOfDisk(_ systemError: Int32) -> Bool { [EIO, ENXIO].contains(systemError) }

    /// A write, a flush or a truncation that failed.
    private static let failedChanges: [Int32] = [3, 4, 6].map { SQLITE_IOERR | $0 << 8 }
}
