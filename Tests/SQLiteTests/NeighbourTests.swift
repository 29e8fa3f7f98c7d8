import System
import TestSupport
import Testing

@testable import SQLite

/// Edits share a commit, and what one does wrong is its own affair.
struct NeighbourTests {
    /// Eight edits and a bad one arrive together.
    ///
    /// - Returns: What the bad one heard, and the titles that were kept.
    private func together(
        _ seed: UInt64,
        migrations: [Migration] = Shelf.migrations,
        _ bad: @escaping @Sendable (Shelf) async throws(DatabaseError) -> Void
    ) throws -> (error: DatabaseError?, ids: [Int], commits: [CommitReport]) {
        let (scratch, commits) = (try Scratch(), Commits())
        let executor = SeededExecutor(seed: seed)
        var configuration = Configuration()
        configuration.executor = executor
        configuration.observer = commits.observer
        let run = executor.run { [configuration] in
            await Result {
                let shelf = try await Shelf(scratch, configuration, migrations: migrations)
                let error = try await withThrowingTaskGroup(of: DatabaseError?.self) { group in
                    for id in 1...8 {
                        group.addTask {
                            try await shelf.add(id)
                            return nil
                        }
                    }
                    group.addTask {
                        do throws(DatabaseError) { try await bad(shelf) } catch { return error }
                        return nil
                    }
                    return try await group.reduce(nil) { $0 ?? $1 }
                }
                let ids = try shelf.ids()
                try await shelf.close()
                return (error, ids, commits.all)
            }
        }
        return try #require(run).get()
    }

    @Test func `an edit that takes the transaction away takes only its own`() throws {
        var losses = 0
        for seed in 1...10 as ClosedRange<UInt64> {
            let (error, ids, commits) = try together(seed) { (shelf) throws(DatabaseError) in
                try await shelf.database.execute(
                    "INSERT OR ROLLBACK INTO book (id, title) VALUES (9, NULL)"
                )
            }
            #expect(error?.code == .constraintNotNull, "seed \(seed)")
            #expect(ids == Array(1...8), "seed \(seed)")
            losses += commits.filter { $0.error != nil && $0.edits > 0 }.count
        }
        #expect(losses > 0, "It never had neighbours, so this shows nothing.")
    }

    private static let plain = Migration("plain") { (db) throws(DatabaseError) in
        try db.execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT")
    }

    @Test func `what a statement kept before it failed is taken back`() throws {
        for seed in 1...10 as ClosedRange<UInt64> {
            let (error, ids, _) = try together(seed, migrations: [Self.plain]) {
                (shelf) throws(DatabaseError) in
                try await shelf.database.execute(
                    "INSERT OR FAIL INTO book (id, title) VALUES (20, 'a'), (21, NULL)"
                )
            }
            #expect(error?.code == .constraintNotNull, "seed \(seed)")
            #expect(ids == Array(1...8), "seed \(seed)")
        }
    }

    @Test func `an edit that hides the error which ended the transaction is told that error`()
        async throws
    {
        let shelf = try await Shelf()
        let error = await #expect(throws: DatabaseError.self) {
            try await shelf.database.write { (db) throws(DatabaseError) in
                _ = try? db.execute("INSERT OR ROLLBACK INTO book (id, title) VALUES (1, NULL)")
                _ = try? db.execute("INSERT INTO book (id, title) VALUES (2, 'Emma')")
            }
        }
        #expect(error?.code == .constraintNotNull)
        #expect(error?.message.contains("book.title") == true)
        #expect(try shelf.ids().isEmpty)
        try await shelf.close()
    }

    @Test func `a migration that hides such an error changes nothing`() async throws {
        let hiding = Migration("hiding") { (db) throws(DatabaseError) in
            _ = try? db.execute("INSERT OR ROLLBACK INTO book (id, title) VALUES (1, NULL)")
            try db.execute("INSERT INTO book (id, title) VALUES (2, 'Emma')")
        }
        let scratch = try Scratch()
        try await Shelf(scratch).close()
        let error = await #expect(throws: DatabaseError.self) {
            try await Shelf(scratch, migrations: Shelf.migrations + [hiding])
        }
        #expect(error?.code == .constraintNotNull)
        let shelf = try await Shelf(scratch)
        #expect(try shelf.ids().isEmpty)
        try await shelf.close()
    }

    @Test func `two statements in one text are refused, and neither runs`() async throws {
        let shelf = try await Shelf()
        let error = await #expect(throws: DatabaseError.self) {
            try await shelf.database.execute(
                "INSERT INTO book (id, title) VALUES (1, 'Emma'); DELETE FROM book"
            )
        }
        #expect(error?.code == .misuse)
        #expect(try shelf.ids().isEmpty)
        try await shelf.database.execute(
            "INSERT INTO book (id, title) VALUES (1, 'Emma'); ; -- and no more\n /* at all */ "
        )
        #expect(try shelf.ids() == [1])
        try await shelf.close()
    }

    @Test func `what changes no rows counts none`() async throws {
        let shelf = try await Shelf()
        try await shelf.addTogether(1...3)
        let counts = try await shelf.database.write { (db) throws(DatabaseError) in
            [
                try db.execute("UPDATE book SET title = 'Persuasion'"),
                try db.execute("CREATE TABLE room (name TEXT)"),
                try db.execute("DELETE FROM book WHERE id > 7"),
                try db.execute("DELETE FROM book WHERE id > 1"),
                try db.execute("DROP TABLE room"),
            ]
        }
        #expect(counts == [3, 0, 0, 2, 0])
        try await shelf.close()
    }

    @Test func `a connection that met trouble scans no more`() async throws {
        let shelf = try await Shelf()
        func scanner() async throws(DatabaseError) -> ObjectIdentifier {
            try await shelf.database.scan { ObjectIdentifier($0.session) }
        }
        // Held, so that no other takes its address.
        let first = try await shelf.database.scan { $0.session }
        #expect(try await scanner() == ObjectIdentifier(first))
        await #expect(throws: DatabaseError.self) {
            try await shelf.database.scan { (_) throws(DatabaseError) in
                throw DatabaseError(
                    .sqlite(.corrupt, systemError: 0),
                    during: "test",
                    message: "torn"
                )
            }
        }
        #expect(try await scanner() != ObjectIdentifier(first))
        try await shelf.close()
    }

    @Test func `an edit is answered before the log is moved into the database`() throws {
        var moves: [Int] = []
        for seed in 1...10 as ClosedRange<UInt64> {
            let disk = FaultyDisk(seed: seed)
            let ledger = Ledger()
            let executor = SeededExecutor(seed: seed)
            var configuration = Configuration(on: disk, executor)
            configuration.observer = ledger.observer
            let run = executor.run { [configuration] in
                await Result {
                    let shelf = try await Shelf(at: "shelf.db", configuration)
                    for id in 1...40 {
                        try await shelf.add(id)
                        ledger.owed.withLock { $0 -= 1 }
                    }
                    try await shelf.close()
                }
            }
            try #require(run).get()
            moves += ledger.owedAtMoves.withLock { $0 }
        }
        #expect(moves.contains(0), "Answers were always owed when the log was moved: \(moves)")
    }
}

/// How many answers were owed whenever the log was moved.
private final class Ledger: Sendable {
    let owed = Lock(0)
    let owedAtMoves = Lock<[Int]>([])

    var observer: Observer {
        Observer(
            timekeeper: SystemTimekeeper(),
            committed: { _ in self.owed.withLock { $0 += 1 } },
            checkpointed: { _ in
                let owed = self.owed.withLock { $0 }
                self.owedAtMoves.withLock { $0.append(owed) }
            }
        )
    }
}
