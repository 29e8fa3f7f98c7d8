import System
import TestSupport
import Testing

@testable import SQLite

/// What was deleted, and where it is found afterwards.
@Suite struct ScrubbingTests {
    private static let secret = "something that nobody is to find"

    private static func holds(_ scratch: Scratch) throws -> Bool {
        for name in ["shelf.db", "shelf.db-wal"] {
            let bytes = (try? Files.read(scratch.file(name))) ?? []
            if bytes.firstRange(of: Array(secret.utf8)) != nil { return true }
        }
        return false
    }

    @Test func `what was deleted is nowhere in the file once it was scrubbed`() async throws {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        let long = [UInt8]((0..<300).flatMap { _ in Array(Self.secret.utf8) })
        for id in 1...200 {
            try await shelf.database.execute(
                "INSERT INTO book (id, title, cover) VALUES (?, ?, ?)",
                .int(id),
                .text(id % 2 == 0 ? Self.secret : "Emma"),
                .blob(id % 2 == 0 ? long : [1])
            )
        }
        try await shelf.database.execute("DELETE FROM book WHERE id % 2 = 0")
        #expect(try Self.holds(scratch), "It lies on free pages, and in the log.")
        for _ in 0..<2 {
            try await shelf.database.scrub()
            #expect(try !Self.holds(scratch))
        }
        #expect(try await shelf.database.integrityCheck().isEmpty)
        let count = try shelf.database.read { (db) throws(DatabaseError) in
            try db.first("SELECT count(*) FROM book") { (row) throws(DatabaseError) in
                try row.int(0)
            }
        }
        #expect(count == 100)
        let tables = try shelf.database.read { (db) throws(DatabaseError) in
            try db.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
                (row) throws(DatabaseError) in try row.text(0)
            }
        }
        #expect(tables == ["book", "loan"])
        try await shelf.database.close()
    }

    @Test func `what a scrubbing has left that was ended in between is in nobody's way`()
        async throws
    {
        let shelf = try await Shelf()
        try await shelf.database.execute("CREATE TABLE scrub (filling BLOB NOT NULL) STRICT")
        try await shelf.database.execute("INSERT INTO scrub VALUES (zeroblob(10000))")
        try await shelf.database.scrub()
        #expect(try await shelf.database.integrityCheck().isEmpty)
        try await shelf.database.close()
    }
}
