/// The prepared statements of one connection: at most so many, the longest unused goes first.
///
/// A statement is known by where its text lies in the program, which is cheaper to look up than the
/// text; two places with the same text merely have two statements.
struct StatementCache {
    private let capacity: Int
    private var statements: [UnsafePointer<UInt8>: Statement] = [:]
    private var uses = 0

    init(capacity: Int) { self.capacity = capacity }

    var count: Int { statements.count }

    /// A statement for this text that nobody steps through. It is the caller's until
    /// ``Statement/isBusy`` is false again.
    mutating func take(
        _ sql: StaticString,
        on database: OpaquePointer
    ) throws(DatabaseError) -> Statement {
        uses += 1
        guard let known = statements[sql.utf8Start] else {
            return try remember(Statement(sql, on: database))
        }
        // A query inside the same query: the inner one gets a statement of its own, used once.
        let statement = known.isBusy ? try Statement(sql, on: database) : known
        return mark(statement)
    }

    private mutating func remember(_ statement: Statement) -> Statement {
        if statements.count >= capacity { forgetLongestUnused() }
        if statements.count < capacity { statements[statement.sql.utf8Start] = statement }
        return mark(statement)
    }

    private func mark(_ statement: Statement) -> Statement {
        statement.isBusy = true
        statement.lastUse = uses
        return statement
    }

    private mutating func forgetLongestUnused() {
        let idle = statements.filter { !$0.value.isBusy }
        guard let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        statements[oldest.key] = nil
    }
}
