import FoundationEssentials
import Glibc
import System
import TestSupport
import Testing

@testable import SQLite

/// What was deleted, and where it is found afterwards.
@Suite struct OverwritingTests {
    private static let secret = "something that nobody is to find"

    private static func holds(_ scratch: Scratch) throws -> Bool {
        for name in ["shelf.db", "shelf.db-wal"] {
            let bytes = (try? Files.read(scratch.file(name))) ?? []
            if bytes.firstRange(of: Array(secret.utf8)) != nil { return true }
        }
        return false
    }

    @Test(arguments: [true, false])
    func `nothing is acknowledged that went into a file that is not there any more`(
        _ isReplaced: Bool
    ) async throws {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        try await shelf.database.execute("INSERT INTO book (id, title) VALUES (1, 'Emma')")
        let path = scratch.file("shelf.db")
        try FileManager.default.removeItem(atPath: path)
        if isReplaced { #expect(FileManager.default.createFile(atPath: path, contents: nil)) }
        for _ in 0..<2 {
            let error = await #expect(throws: DatabaseError.self) {
                try await shelf.database.execute("INSERT INTO book (id, title) VALUES (2, 'Lady')")
            }
            #expect(error?.trouble == .missing)
        }
        #expect(throws: DatabaseError.self) {
            try shelf.database.read { (db) throws(DatabaseError) in
                try db.requirePresence()
                _ = try db.first("SELECT 1 FROM book") { (row) throws(DatabaseError) in
                    try row.int(0)
                }
            }
        }
    }

    /// What is written behind it would be gone with the process.
    private static func expectRefusals(_ shelf: Shelf) async {
        for id in 2...3 {
            let error = await #expect(throws: DatabaseError.self) { try await shelf.add(id) }
            #expect(error?.isOutcomeUnknown == false)
        }
        #expect(throws: DatabaseError.self) {
            try shelf.database.read { (db) throws(DatabaseError) in try db.requirePresence() }
        }
    }

    @Test(arguments: [true, false])
    func
        `what a log has that somebody removes is moved into the database, and nothing is acknowledged any more`(
            _ isReplaced: Bool
        ) async throws
    {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        try await shelf.add(1)
        let log = scratch.file("shelf.db-wal")
        try FileManager.default.removeItem(atPath: log)
        if isReplaced { #expect(FileManager.default.createFile(atPath: log, contents: nil)) }
        await Self.expectRefusals(shelf)
        let copy = scratch.file("copy.db")
        try FileManager.default.copyItem(atPath: scratch.file("shelf.db"), toPath: copy)
        #expect(try await Shelf(at: copy).ids() == [1])
    }

    @Test(arguments: [0, 5_000])
    func `nothing is acknowledged behind a log that somebody has cut short`(
        _ length: Int
    ) async throws {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        for id in 10..<20 { try await shelf.add(id) }
        #expect(truncate(scratch.file("shelf.db-wal"), length) == 0)
        await Self.expectRefusals(shelf)
        let copy = scratch.file("copy.db")
        try FileManager.default.copyItem(atPath: scratch.file("shelf.db"), toPath: copy)
        let left = try await Shelf(at: copy)
        #expect(try left.ids() == [])
        #expect(try await left.database.integrityCheck() == [])
    }

    @Test func `a first edit that changes nothing does not have an empty log taken for a lost one`()
        async throws
    {
        let scratch = try Scratch()
        try await Shelf(scratch).close()
        let shelf = try await Shelf(at: scratch.file("shelf.db"))
        try await shelf.database.execute("DELETE FROM book")
        try await shelf.add(1)
        #expect(try shelf.ids() == [1])
        try await shelf.close()
    }

    @Test func `who has moved all of the log may empty it`() async throws {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        try await shelf.add(1)
        try await Shelf(at: shelf.path).close()
        try await shelf.add(2)
        #expect(try shelf.ids() == [1, 2])
        try shelf.database.read { (db) throws(DatabaseError) in try db.requirePresence() }
        try await shelf.close()
    }

    @Test(arguments: [true, false])
    func `what is deleted is written over where that is asked for, and only there`(
        _ isOverwritten: Bool
    ) async throws {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        let long = [UInt8]((0..<300).flatMap { _ in Array(Self.secret.utf8) })
        for round in 0..<2 {
            for id in 1...200 {
                try await shelf.database.execute(
                    "INSERT INTO book (id, title, cover) VALUES (?, ?, ?)",
                    .int(id + 200 * round),
                    .text(id % 2 == 0 ? Self.secret : "Emma"),
                    .blob(id % 2 == 0 ? long : [1])
                )
            }
            try await shelf.database.write { (db) throws(DatabaseError) in
                if isOverwritten {
                    try db.overwriting { () throws(DatabaseError) in
                        try db.execute("DELETE FROM book WHERE id % 2 = 0")
                    }
                } else {
                    try db.execute("DELETE FROM book WHERE id % 2 = 0")
                }
            }
            try await shelf.database.checkpoint()
            #expect(try Self.holds(scratch) != isOverwritten)
        }
        #expect(try await shelf.database.integrityCheck().isEmpty)
        let mode = try await shelf.database.write { (db) throws(DatabaseError) in
            try db.first("PRAGMA secure_delete") { (row) throws(DatabaseError) in try row.int(0) }
        }
        #expect(mode == 2, "It is as it was.")
        try await shelf.database.close()
    }
}
