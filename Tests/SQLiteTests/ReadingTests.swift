import Glibc
import TestSupport
import Testing

@testable import SQLite

struct ReadingTests {
    @Test func `values come back as they went in`() async throws {
        let shelf = try await Shelf()
        let bytes: [UInt8] = [0, 1, 2, 255]
        try await shelf.database.execute(
            "INSERT INTO book (id, title, cover) VALUES (?, ?, ?)",
            .int(Int.max),
            "Ä\u{0}🐟",
            .blob(bytes)
        )
        try await shelf.database.execute(
            "INSERT INTO book (id, title, cover) VALUES (1, '', ?)",
            .blob([])
        )
        try shelf.database.read { (db) throws(DatabaseError) in
            try db.first("SELECT id, title, cover FROM book WHERE id > 1") {
                (row) throws(DatabaseError) in
                #expect(try row.int(0) == Int.max)
                #expect(try row.text(1) == "Ä\u{0}🐟")
                #expect(try row.bytes(2) == bytes)
            }
            try db.first("SELECT title, cover FROM book WHERE id = 1") {
                (row) throws(DatabaseError) in
                #expect(try row.text(0) == "")
                #expect(try row.bytes(1) == [])
            }
        }
        try await shelf.close()
    }

    @Test func `a column of another kind is an error and not a zero`() async throws {
        let shelf = try await Shelf()
        try await shelf.add(1)
        let error = #expect(throws: DatabaseError.self) {
            try shelf.database.read { (db) throws(DatabaseError) in
                try db.first("SELECT title FROM book") { (row) throws(DatabaseError) in
                    try row.int(0)
                }
            }
        }
        #expect(error?.code == .mismatch)
        try await shelf.close()
    }

    @Test func `a wrong number of values is refused`() async throws {
        let shelf = try await Shelf()
        let error = await #expect(throws: DatabaseError.self) {
            try await shelf.database.execute("INSERT INTO book (id, title) VALUES (?, ?)", 1)
        }
        #expect(error?.code == .outOfRange)
        try await shelf.close()
    }

    @Test func `a read cannot write`() async throws {
        let shelf = try await Shelf()
        let error = #expect(throws: DatabaseError.self) {
            try shelf.database.read { (db) throws(DatabaseError) in
                try db.execute("DELETE FROM book")
            }
        }
        #expect(error?.code?.primary == .readOnly)
        try await shelf.close()
    }

    @Test func `one read sees one moment`() async throws {
        let shelf = try await Shelf()
        try await shelf.add(1)
        let (before, after) = try await shelf.database.scan { (db) throws(DatabaseError) in
            let before = try db.number("SELECT count(*) FROM book")
            let other = try Session.reading(.init(path: shelf.path, vfs: nil), Configuration())
            let writer = try Session(.init(path: shelf.path, vfs: nil), .write, statements: 4)
            try writer.runScript("INSERT INTO book (id, title) VALUES (2, 'Emma')")
            #expect(try other.control("SELECT count(*) FROM book", "count") == 2)
            return (before, try db.number("SELECT count(*) FROM book"))
        }
        #expect(before == 1)
        #expect(after == 1)
        #expect(try shelf.ids() == [1, 2])
        try await shelf.close()
    }

    @Test func `a query may run inside the same query`() async throws {
        let shelf = try await Shelf()
        try await shelf.addTogether(1...3)
        let pairs = try shelf.database.read { (db) throws(DatabaseError) in
            try Self.pairs(db, depth: 2)
        }
        #expect(pairs == 9)
        try await shelf.close()
    }

    private static func pairs(_ db: borrowing Connection, depth: Int) throws(DatabaseError) -> Int {
        guard depth > 0 else { return 1 }
        let session = db.session
        var count = 0
        try db.forEach("SELECT id FROM book") { (row) throws(DatabaseError) in
            count += try pairs(Connection(session: session), depth: depth - 1)
        }
        return count
    }

    @Test func `prepared statements are kept up to the bound`() throws {
        let session = try Session(Place(path: ":memory:", vfs: nil), .write, statements: 3)
        let queries: [StaticString] = ["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4", "SELECT 5"]
        for query in queries { try session.control(query, "test") }
        #expect(session.preparedStatements == 3)
        #expect(try session.control("SELECT 1", "test") == 1)
        #expect(session.preparedStatements == 3)
    }

    @Test func `a long scan ends when its caller is cancelled`() async throws {
        let shelf = try await Shelf()
        let task = Task {
            try await shelf.database.scan { (db) throws(DatabaseError) in
                withUnsafeCurrentTask { $0?.cancel() }
                return try db.number(
                    """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                    SELECT count(*) FROM n
                    """
                )
            }
        }
        let error = await #expect(throws: DatabaseError.self) { try await task.value }
        #expect(error?.cause == .cancelled)
        #expect(try await shelf.database.integrityCheck().isEmpty)
        try await shelf.close()
    }
}

struct LogBoundTests {
    @Test func `a quiet log is moved at the bound and a busy one later`() {
        var bound = LogBound(pages: 100)
        bound.logHas(99)
        #expect(!bound.isOutgrown(whenQuiet: true))
        bound.logHas(100)
        #expect(bound.isOutgrown(whenQuiet: true))
        #expect(!bound.isOutgrown(whenQuiet: false))
        bound.logHas(799)
        #expect(!bound.isOutgrown(whenQuiet: false))
        bound.logHas(800)
        #expect(bound.isOutgrown(whenQuiet: false))
    }

    @Test func `a log that could not start over is tried again a bound later`() {
        var bound = LogBound(pages: 100)
        bound.logHas(120)
        bound.logWasMoved()
        bound.logHas(150)
        #expect(!bound.isOutgrown(whenQuiet: true))
        bound.logHas(220)
        #expect(bound.isOutgrown(whenQuiet: true))
        bound.logHas(3)
        #expect(!bound.isOutgrown(whenQuiet: true))
        bound.logHas(103)
        #expect(bound.isOutgrown(whenQuiet: true))
    }

    @Test func `a log that is moved but never starts over comes to its bound all the same`() {
        var bound = LogBound(pages: 100)
        for pages in stride(from: 110, through: 770, by: 110) {
            bound.logHas(pages)
            #expect(!bound.isOutgrown(whenQuiet: false))
            bound.logWasMoved()
        }
        bound.logHas(880)
        #expect(bound.isOutgrown(whenQuiet: false))
    }

    @Test func `the log stays bounded under constant load`() async throws {
        // A real file, because the log starts over by waiting a moment for real readers.
        let scratch = try Scratch()
        var configuration = Configuration()
        configuration.logPages = 50
        let shelf = try await Shelf(at: scratch.file("shelf.db"), configuration)
        let largest = try await withThrowingTaskGroup(of: Int.self) { group in
            for writer in 0..<16 {
                group.addTask {
                    var largest = 0
                    for edit in 1...100 {
                        let id = writer * 100 + edit
                        try await shelf.add(id, title: String(repeating: "x", count: 1000))
                        if edit % 5 == 0 { _ = try shelf.database.read(Self.count) }
                        largest = max(largest, Self.size(of: scratch.file("shelf.db-wal")))
                    }
                    return largest
                }
            }
            return try await group.reduce(0, max)
        }
        // Eight bounds, and what the last group and a reader that stood in the way may add.
        #expect(largest < 4096 * 50 * 12, "The log grew to \(largest / 4096) pages.")
        #expect(try shelf.ids().count == 1600)
        try await shelf.close()
    }

    @Test func `no commit is lost while the log is moved and starts over`() async throws {
        // Real threads: nearly each commit has the log moved before the next.
        let scratch = try Scratch()
        var configuration = Configuration()
        configuration.logPages = 1
        let shelf = try await Shelf(at: scratch.file("shelf.db"), configuration)
        for round in 0..<300 {
            try await shelf.add(round * 10)
            try await shelf.addTogether(round * 10 + 1...round * 10 + 1 + round % 9)
        }
        try await shelf.close()
        let again = try await Shelf(at: scratch.file("shelf.db"))
        let expected = (0..<300).flatMap { $0 * 10...$0 * 10 + 1 + $0 % 9 }
        #expect(try again.ids() == expected)
        #expect(try await again.database.integrityCheck().isEmpty)
        try await again.close()
    }

    private static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    private static func count(_ db: borrowing Connection) throws(DatabaseError) -> Int? {
        try db.number("SELECT count(*) FROM book")
    }
}
