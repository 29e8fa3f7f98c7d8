import FoundationEssentials
import Glibc
import System
import TestSupport
import Testing

@testable import SQLite

struct OpeningTests {
    @Test func `the writer is durable and hardened`() async throws {
        let shelf = try await Shelf()
        let settings = try await shelf.database.write { (db) throws(DatabaseError) in
            [
                try db.number("PRAGMA synchronous"), try db.number("PRAGMA foreign_keys"),
                try db.number("PRAGMA wal_autocheckpoint"), try db.number("PRAGMA secure_delete"),
                try db.number("PRAGMA trusted_schema"), try db.number("PRAGMA cell_size_check"),
                try db.number("PRAGMA mmap_size"), try db.number("PRAGMA temp_store"),
            ]
        }
        #expect(settings == [2, 1, 0, 2, 0, 1, 0, 2])
        try await shelf.close()
    }

    @Test func `a draft is written without a flush, and is whole once it is closed`() async throws {
        let disk = FaultyDisk(seed: 1)
        var configuration = Configuration()
        configuration.vfs = disk.vfs
        configuration.isFlushedAtCommit = false
        disk.count(.sync)
        let draft = try await Shelf(at: "shelf.db", configuration)
        for id in 1...3 { try await draft.add(id) }
        try await draft.close()
        #expect(disk.calls == 0)
        let shelf = try await Shelf(at: "shelf.db", configuration)
        #expect(try shelf.ids() == [1, 2, 3])
        try await shelf.close()
    }

    @Test func `the files are for their owner only`() async throws {
        let shelf = try await Shelf()
        try await shelf.add(1)
        for suffix in ["", "-wal", "-shm"] {
            var status = stat()
            #expect(stat(shelf.path + suffix, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600, "\(suffix)")
        }
        try await shelf.close()
    }

    @Test func `closing empties the log`() async throws {
        let shelf = try await Shelf()
        try await shelf.add(1)
        try await shelf.close()
        #expect(!FileManager.default.fileExists(atPath: shelf.path + "-wal"))
    }

    @Test(arguments: ["sqlite-write", "sqlite-scan"])
    func `a system without a thread to spare refuses to open, and ends nobody`(
        _ refused: String
    ) async throws {
        var configuration = Configuration()
        configuration.startThread = { (name, body) throws(SystemError) in
            if name == refused { throw SystemError("pthread_create \(name)", code: EAGAIN) }
            try systemThread(name, body)
        }
        let scratch = try Scratch()
        let error = await #expect(throws: DatabaseError.self) {
            try await Shelf(scratch, configuration)
        }
        #expect(error?.trouble == .exhausted)
        #expect(error?.message.contains("pthread_create") == true)
        try await Shelf(scratch).close()
    }

    @Test func `a file that is no database is refused`() async throws {
        let scratch = try Scratch()
        let bytes = [UInt8](repeating: 0x2a, count: 8192)
        try bytes.write(to: scratch.file("shelf.db"))
        let error = await #expect(throws: DatabaseError.self) { try await Shelf(scratch) }
        #expect(error?.code == .notADatabase)
        #expect(error?.trouble == .notADatabase)
    }

    /// A disk with a file of many pages on it, closed, and how to open that.
    private static func longShelf(
        _ migrations: [Migration] = Shelf.migrations
    ) async throws -> (FaultyDisk, Configuration) {
        let disk = FaultyDisk(seed: 1)
        var configuration = Configuration()
        configuration.vfs = disk.vfs
        let shelf = try await Shelf(at: "shelf.db", configuration, migrations: migrations)
        for id in 1...400 { try await shelf.add(id, title: String(repeating: "x", count: 100)) }
        try await shelf.close()
        return (disk, configuration)
    }

    @Test func `a damaged file is found at the start`() async throws {
        let (disk, configuration) = try await Self.longShelf()
        disk.flip("shelf.db", at: 5 * 4096, count: 64)
        let error = await #expect(throws: DatabaseError.self) {
            try await Shelf(at: "shelf.db", configuration)
        }
        #expect(error?.trouble == .damaged)
        #expect(error?.description.contains("salvage") == true)
    }

    @Test func `a read that fails while a file is opened is no damage, wherever it is`()
        async throws
    {
        let disk = FaultyDisk(seed: 1)
        var configuration = Configuration()
        configuration.vfs = disk.vfs
        let shelf = try await Shelf(at: "shelf.db", configuration)
        // Some of it on pages of their own, and some of those free.
        for id in 1...12 { try await shelf.add(id, title: String(repeating: "x", count: 9_000)) }
        try await shelf.database.execute("DELETE FROM book WHERE id % 2 = 0")
        try await shelf.close()
        disk.count(.read)
        try await Shelf(at: "shelf.db", configuration).close()
        let reads = disk.calls
        var refused = 0
        for read in 1...reads {
            disk.fail(.read, at: read, times: 1, error: EIO)
            do {
                try await Shelf(at: "shelf.db", configuration).close()
            } catch {
                refused += 1
                #expect(error.trouble == .inputOutput, "\(read) of \(reads): \(error)")
            }
            disk.heal()
        }
        #expect(refused > 10, "\(refused) of \(reads)")
    }

    @Test func `a read that failed does not hide the damage that is found after it`() async throws {
        let (disk, _) = try await Self.longShelf()
        let session = try Session(
            Place(path: "shelf.db", vfs: disk.vfs),
            .write,
            statements: 4
        )
        func trouble() -> Trouble? {
            do throws(DatabaseError) {
                try session.control("SELECT sum(length(title)) FROM book", "count")
                return nil
            } catch {
                return error.trouble
            }
        }
        disk.fail(.read, at: 3, times: 1, error: EIO)
        #expect(trouble() == .inputOutput)
        disk.heal()
        disk.flip("shelf.db", at: 5 * 4096, count: 64)
        #expect(trouble() == .damaged)
    }

    @Test func `a damaged file of a newer program is refused as newer`() async throws {
        let second = Migration("nothing") { (_) throws(DatabaseError) in }
        let (disk, configuration) = try await Self.longShelf(Shelf.migrations + [second])
        disk.flip("shelf.db", at: 5 * 4096, count: 64)
        let error = await #expect(throws: DatabaseError.self) {
            try await Shelf(at: "shelf.db", configuration)
        }
        #expect(error?.cause == .newerSchema(found: 2, known: 1))
    }

    @Test func `a file that may only be read is refused`() async throws {
        let error = await #expect(throws: DatabaseError.self) {
            try await Shelf(at: "/proc/shelf.db")
        }
        #expect([.missing, .noPermission, .readOnly].contains(error?.trouble))
        let disk = FaultyDisk(seed: 1)
        var configuration = Configuration()
        configuration.vfs = disk.vfs
        disk.fail(.open, at: 1, error: EROFS)
        let readOnly = await #expect(throws: DatabaseError.self) {
            try await Shelf(at: "shelf.db", configuration)
        }
        #expect(readOnly?.trouble == .readOnly)
    }

    @Test func `a directory that is not there is named as the trouble`() async throws {
        let error = await #expect(throws: DatabaseError.self) {
            try await Shelf(at: "/nowhere/at/all/shelf.db")
        }
        #expect(error?.code?.primary == .cannotOpen)
        #expect(error?.trouble == .missing)
        #expect(error?.description.contains("/nowhere/at/all/shelf.db") == true)
    }

    @Test func `whoever holds the write lock elsewhere is blamed`() async throws {
        let scratch = try Scratch()
        var configuration = Configuration()
        configuration.patience = .milliseconds(1)
        let shelf = try await Shelf(scratch, configuration)
        let intruder = try Session(
            Place(path: shelf.path, vfs: nil),
            .write,
            statements: 4
        )
        try intruder.control("BEGIN IMMEDIATE", "intrude")
        let error = await #expect(throws: DatabaseError.self) { try await shelf.add(1) }
        #expect(error?.code?.primary == .busy)
        #expect(error?.trouble == .locked)
        try intruder.control("ROLLBACK", "leave")
        try await shelf.add(2)
        #expect(try shelf.ids() == [2])
        try await shelf.close()
    }

    @Test func `errors name the statement and never a value`() async throws {
        let shelf = try await Shelf()
        try await shelf.add(1, title: "open secret")
        let error = await #expect(throws: DatabaseError.self) {
            try await shelf.add(1, title: "open secret")
        }
        #expect(error?.code == .constraintPrimaryKey)
        #expect(error?.sql == "INSERT INTO book (id, title) VALUES (?, ?)")
        #expect(error?.description.contains("secret") == false)
        try await shelf.close()
    }
}

struct MigrationTests {
    private static let second = Migration("shelves") { (db) throws(DatabaseError) in
        try db.execute("ALTER TABLE book ADD COLUMN shelf INTEGER")
    }

    @Test func `the schema is brought up to date after a copy was made`() async throws {
        let scratch = try Scratch()
        let old = try await Shelf(scratch)
        try await old.add(1)
        try await old.close()
        #expect(!FileManager.default.fileExists(atPath: old.path + ".version-0"))

        let new = try await Shelf(scratch, migrations: Shelf.migrations + [Self.second])
        #expect(
            try new.database.read { (db) throws(DatabaseError) in
                try db.number("SELECT count(*) FROM book WHERE shelf IS NULL")
            } == 1
        )
        try await new.close()

        let copy = try await Shelf(at: old.path + ".version-1")
        #expect(try copy.ids() == [1])
        try await copy.close()
    }

    @Test func `what lies where that copy is to be does not make the file a damaged one`()
        async throws
    {
        let scratch = try Scratch()
        let old = try await Shelf(scratch)
        try await old.add(1)
        try await old.close()
        let place = old.path + ".version-1"
        for ending in ["", "-wal"] {
            try Files.replace(place + ending, with: [UInt8](repeating: 7, count: 8_192))
        }

        let new = try await Shelf(scratch, migrations: Shelf.migrations + [Self.second])
        #expect(try new.ids() == [1])
        try await new.close()

        let copy = try await Shelf(at: place)
        #expect(try copy.ids() == [1])
        try await copy.close()
    }

    @Test func `a migration that fails leaves the schema as it was`() async throws {
        let scratch = try Scratch()
        let old = try await Shelf(scratch)
        try await old.add(1)
        try await old.close()
        let failing = Migration("mistake") { (db) throws(DatabaseError) in
            try db.execute("DELETE FROM book")
            try db.execute("INSERT INTO nowhere VALUES (1)")
        }
        let error = await #expect(throws: DatabaseError.self) {
            try await Shelf(scratch, migrations: Shelf.migrations + [failing])
        }
        #expect(error?.operation == "migrate to version 2 (mistake)")
        let again = try await Shelf(scratch)
        #expect(try again.ids() == [1])
        try await again.close()
    }

    @Test func `a migration that dangles keys is refused`() async throws {
        let scratch = try Scratch()
        try await Shelf(scratch).close()
        let dangling = Migration("loans") { (db) throws(DatabaseError) in
            try db.execute("INSERT INTO loan (book, reader) VALUES (5, 'Ann')")
        }
        let error = await #expect(throws: DatabaseError.self) {
            try await Shelf(scratch, migrations: Shelf.migrations + [dangling])
        }
        #expect(error?.cause == .foreignKeysViolated(tables: ["loan"]))
    }

    @Test func `a newer schema is refused and not touched`() async throws {
        let scratch = try Scratch()
        try await Shelf(scratch, migrations: Shelf.migrations + [Self.second]).close()
        let error = await #expect(throws: DatabaseError.self) { try await Shelf(scratch) }
        #expect(error?.cause == .newerSchema(found: 2, known: 1))
        #expect(error?.trouble == .newerSchema)
        #expect(error?.operation == "open \(scratch.file("shelf.db"))")
    }
}

extension Connection {
    func number(_ sql: StaticString) throws(DatabaseError) -> Int? {
        try first(sql) { (row) throws(DatabaseError) in try row.int(0) }
    }
}

extension [UInt8] {
    func write(to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: Data(self)) else {
            throw CocoaError(.fileWriteUnknown)
        }
    }
}
