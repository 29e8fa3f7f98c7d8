internal import CSQLite

/// A connection for the length of a closure.
///
/// It cannot be copied or kept, so nobody uses it after its turn. SQL is always a literal of the
/// program: values go where the question marks are, and neither end up in an error.
public struct Connection: ~Copyable {
    let session: Session

    @inline(never)
    init(session: Session) { self.session = session }

    /// Runs one statement that answers nothing.
    ///
    /// - Returns: How many rows it changed.
    @discardableResult
    public func execute(
        _ sql: StaticString,
        _ values: Value...
    ) throws(DatabaseError) -> Int {
        try execute(sql, values)
    }

    /// The same with as many values as are given.
    @discardableResult
    public func execute(
        _ sql: StaticString,
        _ values: [Value]
    ) throws(DatabaseError) -> Int {
        let before = session.rowsChanged
        try session.run(sql, values) { (statement) throws(DatabaseError) in
            while try statement.step() {}
        }
        // What changes no rows leaves SQLite's count as an earlier statement has set it.
        return session.rowsChanged == before ? 0 : Int(sqlite3_changes64(session.handle))
    }

    /// Fails if the file is not there any more, or is not the one that was opened.
    public func requirePresence() throws(DatabaseError) { try session.refuseMoved("read") }

    /// Runs several statements that take no values: a schema.
    public func execute(script: StaticString) throws(DatabaseError) {
        try session.runScript(script.description)
    }

    /// Visits the rows one by one; none is kept in memory.
    public func forEach(
        _ sql: StaticString,
        _ values: Value...,
        visit: (borrowing Row) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        try session.run(sql, values) { (statement) throws(DatabaseError) in
            while try statement.step() { try visit(Row(statement)) }
        }
    }

    public func all<Element>(
        _ sql: StaticString,
        _ values: Value...,
        read: (borrowing Row) throws(DatabaseError) -> Element
    ) throws(DatabaseError) -> [Element] {
        try session.run(sql, values) { (statement) throws(DatabaseError) in
            var elements: [Element] = []
            while try statement.step() { elements.append(try read(Row(statement))) }
            return elements
        }
    }

    /// Reads the first row, if there is one, and looks for no other.
    public func first<Element>(
        _ sql: StaticString,
        _ values: Value...,
        read: (borrowing Row) throws(DatabaseError) -> Element
    ) throws(DatabaseError) -> Element? {
        try session.run(sql, values) { (statement) throws(DatabaseError) in
            try statement.step() ? try read(Row(statement)) : nil
        }
    }

    /// Writes over all pages that the body frees. Those that were free before keep their content until they are used again,
    /// and so does what else is freed.
    public func overwriting(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
        // It takes effect when it is read, so it must not be kept as a statement.
        try execute(script: "PRAGMA secure_delete = ON")
        defer { try? execute(script: "PRAGMA secure_delete = FAST") }
        try body()
    }
}
