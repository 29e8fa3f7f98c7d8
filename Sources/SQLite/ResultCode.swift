internal import CSQLite

/// SQLite's own word for what happened, always the extended one.
///
/// The names are SQLite's; its page on result codes has the last word.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The family the code belongs to: `.inputOutput` for every kind of I/O error.
    public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

    public static let error = ResultCode(rawValue: SQLITE_ERROR)
    public static let noPermission = ResultCode(rawValue: SQLITE_PERM)
    public static let aborted = ResultCode(rawValue: SQLITE_ABORT)
    public static let busy = ResultCode(rawValue: SQLITE_BUSY)
    public static let locked = ResultCode(rawValue: SQLITE_LOCKED)
    public static let noMemory = ResultCode(rawValue: SQLITE_NOMEM)
    public static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
    public static let interrupted = ResultCode(rawValue: SQLITE_INTERRUPT)
    public static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
    public static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    public static let full = ResultCode(rawValue: SQLITE_FULL)
    public static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
    public static let lockProtocol = ResultCode(rawValue: SQLITE_PROTOCOL)
    public static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
    public static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
    public static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
    public static let outOfRange = ResultCode(rawValue: SQLITE_RANGE)
    public static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)

    /// A read that the disk refused. Once a statement runs, SQLite itself calls it `corrupt`.
    public static let corruptFileSystem = ResultCode(rawValue: SQLITE_IOERR | 33 << 8)
    public static let write = ResultCode(rawValue: SQLITE_IOERR | 3 << 8)
    public static let moved = ResultCode(rawValue: SQLITE_READONLY | 4 << 8)
    public static let constraintForeignKey = ResultCode(rawValue: SQLITE_CONSTRAINT | 3 << 8)
    public static let constraintNotNull = ResultCode(rawValue: SQLITE_CONSTRAINT | 5 << 8)
    public static let constraintPrimaryKey = ResultCode(rawValue: SQLITE_CONSTRAINT | 6 << 8)
}
