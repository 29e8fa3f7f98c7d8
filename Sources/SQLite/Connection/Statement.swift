internal import CSQLite

/// A prepared statement, rewound after every use.
final class Statement {
    let handle: OpaquePointer
    let sql: StaticString
    /// Whether it certainly changes nothing.
    let isReadOnly: Bool
    /// Somebody steps through it just now, so nobody else may.
    var isBusy = false
    var lastUse = 0

    init(_ sql: StaticString, on database: OpaquePointer) throws(DatabaseError) {
        let (prepared, isAlone) = try Self.prepare(sql, on: database)
        guard let prepared else { preconditionFailure("There is no statement in “\(sql)”.") }
        handle = prepared
        self.sql = sql
        isReadOnly = sqlite3_stmt_readonly(prepared) != 0
        // Thrown from here on, it is finalized with self.
        guard isAlone else { throw Self.refusal(of: sql) }
    }

    private static func prepare(
        _ sql: StaticString,
        on database: OpaquePointer
    ) throws(DatabaseError) -> (first: OpaquePointer?, isAlone: Bool) {
        let (first, code, isAlone) = sql.withUTF8Buffer { text in
            text.withMemoryRebound(to: CChar.self) { text in
                var rest = text[...]
                let (first, code) = prepareNext(&rest, on: database, SQLITE_PREPARE_PERSISTENT)
                while code == SQLITE_OK && !rest.isEmpty {
                    // Space, comments and semicolons make no statement.
                    let (next, code) = prepareNext(&rest, on: database, 0)
                    defer { sqlite3_finalize(next) }
                    guard code == SQLITE_OK && next == nil else { return (first, SQLITE_OK, false) }
                }
                return (first, code, true)
            }
        }
        guard code == SQLITE_OK else {
            throw DatabaseError(code, of: database, during: "prepare", sql: sql.description)
        }
        return (first, isAlone)
    }

    private static func prepareNext(
        _ text: inout Slice<UnsafeBufferPointer<CChar>>,
        on database: OpaquePointer,
        _ flags: Int32
    ) -> (OpaquePointer?, Int32) {
        let bytes = UnsafeBufferPointer(rebasing: text)
        var prepared: OpaquePointer?
        var rest: UnsafePointer<CChar>?
        let code = sqlite3_prepare_v3(
            database,
            bytes.baseAddress,
            Int32(bytes.count),
            UInt32(flags),
            &prepared,
            &rest
        )
        let used = rest.flatMap { rest in bytes.baseAddress.map { rest - $0 } } ?? bytes.count
        text = text.dropFirst(used)
        return (prepared, code)
    }

    private static func refusal(of sql: StaticString) -> DatabaseError {
        DatabaseError(
            .sqlite(.misuse, systemError: 0),
            during: "prepare",
            sql: sql.description,
            message: "more than one statement, and only the first would run"
        )
    }

    /// - Returns: Whether there is a row.
    @inline(__always)
    func step() throws(DatabaseError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw error(code)
        }
    }

    /// Runs a statement that has no values and answers with no rows.
    func runOnce() throws(DatabaseError) {
        defer { sqlite3_reset(handle) }
        _ = try step()
    }

    func rewind() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    private func error(_ code: Int32) -> DatabaseError {
        DatabaseError(code, of: sqlite3_db_handle(handle), during: "run", sql: sql.description)
    }

    deinit { sqlite3_finalize(handle) }
}

extension Statement {
    /// Binds the values and runs the body while they are bound. Nothing is copied: the bytes are
    /// held where they are until the body has returned and the statement is rewound.
    func bound<Result>(
        _ values: [Value],
        _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        guard Int(sqlite3_bind_parameter_count(handle)) == values.count else {
            throw error(SQLITE_RANGE)
        }
        return try bound(values, from: 0, body)
    }

    private func bound<Result>(
        _ values: [Value],
        from position: Int,
        _ body: () throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        guard position < values.count else {
            defer { rewind() }
            return try body()
        }
        let index = Int32(position + 1)
        switch values[position] {
        case .null: try check(sqlite3_bind_null(handle, index))
        case .int(let number): try check(sqlite3_bind_int64(handle, index, Int64(number)))
        case .text(var text):
            return try text.withUTF8 { bytes in
                holding(
                    csq_bind_text(handle, index, bytes.baseAddress, Int32(clamping: bytes.count))
                ) {
                    () throws(DatabaseError) in try bound(values, from: position + 1, body)
                }
            }.get()
        case .blob(let bytes):
            return try bytes.withUnsafeBufferPointer { bytes in
                holding(
                    csq_bind_blob(handle, index, bytes.baseAddress, Int32(clamping: bytes.count))
                ) {
                    () throws(DatabaseError) in try bound(values, from: position + 1, body)
                }
            }.get()
        }
        return try bound(values, from: position + 1, body)
    }

    private func holding<Answer>(
        _ code: Int32,
        _ body: () throws(DatabaseError) -> Answer
    ) -> Result<Answer, DatabaseError> {
        do throws(DatabaseError) {
            try check(code)
            return .success(try body())
        } catch {
            return .failure(error)
        }
    }

    private func check(_ code: Int32) throws(DatabaseError) {
        guard code != SQLITE_OK else { return }
        let error = error(code)
        rewind()
        throw error
    }
}
