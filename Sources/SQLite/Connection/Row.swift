internal import CSQLite

/// One row of an answer, for as long as the closure that is given it runs.
///
/// A column holds what its name promises or the reading throws: SQLite would turn text into 0 and
/// NULL into "" without a word, and a damaged file would read like a healthy one.
public struct Row: ~Copyable {
    private let statement: OpaquePointer
    private let sql: StaticString

    @inline(never)
    init(_ statement: Statement) {
        self.statement = statement.handle
        sql = statement.sql
    }

    public func isNull(_ column: Int) -> Bool {
        sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL
    }

    public func int(_ column: Int) throws(DatabaseError) -> Int {
        try expect(SQLITE_INTEGER, "an integer", at: column)
        return Int(sqlite3_column_int64(statement, Int32(column)))
    }

    public func text(_ column: Int) throws(DatabaseError) -> String {
        try expect(SQLITE_TEXT, "text", at: column)
        let start = sqlite3_column_text(statement, Int32(column))
        let count = Int(sqlite3_column_bytes(statement, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    public func bytes(_ column: Int) throws(DatabaseError) -> [UInt8] {
        try expect(SQLITE_BLOB, "bytes", at: column)
        let start = sqlite3_column_blob(statement, Int32(column))
        let count = Int(sqlite3_column_bytes(statement, Int32(column)))
        return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    public func int(orNil column: Int) throws(DatabaseError) -> Int? {
        isNull(column) ? nil : try int(column)
    }

    public func text(orNil column: Int) throws(DatabaseError) -> String? {
        isNull(column) ? nil : try text(column)
    }

    public func bytes(orNil column: Int) throws(DatabaseError) -> [UInt8]? {
        isNull(column) ? nil : try bytes(column)
    }

    @inline(__always)
    private func expect(_ type: Int32, _ name: String, at column: Int) throws(DatabaseError) {
        guard sqlite3_column_type(statement, Int32(column)) == type else {
            throw DatabaseError(
                .sqlite(.mismatch, systemError: 0),
                during: "read column \(column)",
                sql: sql.description,
                message: "it does not hold \(name)"
            )
        }
    }
}
