import System
import TestSupport
import Testing

@testable import SQLite

struct GroupCommitTests {
    @Test func `a write that has been answered is read by everybody`() async throws {
        let shelf = try await Shelf()
        try await shelf.database.write { (db) throws(DatabaseError) in
            try db.execute("INSERT INTO book (id, title) VALUES (1, 'Emma')")
        }
        #expect(try shelf.titles() == ["Emma"])
        try await shelf.close()
    }

    @Test func `writes that arrive together share a commit`() async throws {
        let commits = Commits()
        let executor = SeededExecutor(seed: 1)
        let scratch = try Scratch()
        var configuration = Configuration()
        configuration.executor = executor
        configuration.observer = commits.observer
        let titles = executor.run { [configuration] in
            await Result {
                let shelf = try await Shelf(scratch, configuration)
                try await shelf.addTogether(1...64)
                try await shelf.close()
            }
        }
        try titles?.get()
        #expect(commits.all.map(\.edits).reduce(0, +) == 64)
        #expect(commits.all.map(\.rows).reduce(0, +) == 64)
        #expect(commits.all.count < 20, "They committed \(commits.all.count) times.")
    }

    @Test func `no more edits share a commit than allowed`() async throws {
        let commits = Commits()
        var configuration = Configuration()
        configuration.editsPerCommit = 4
        configuration.observer = commits.observer
        let shelf = try await Shelf(Scratch(), configuration)
        try await shelf.addTogether(1...64)
        #expect(commits.all.allSatisfy { $0.edits <= 4 })
        #expect(try shelf.titles().count == 64)
        try await shelf.close()
    }

    @Test func `of 64 writers those that fail, fail alone`() async throws {
        let shelf = try await Shelf()
        let failed = await withTaskGroup(of: (Int, DatabaseError?).self) { group in
            for id in 1...64 {
                group.addTask {
                    do throws(DatabaseError) {
                        try await shelf.addTwo(id, secondTitle: id % 3 == 0 ? nil : "second")
                        return (id, nil)
                    } catch {
                        return (id, error)
                    }
                }
            }
            var failed: [Int: DatabaseError] = [:]
            for await case (let id, let error?) in group { failed[id] = error }
            return failed
        }
        for id in 1...64 where id % 3 == 0 {
            #expect(failed[id]?.code == .constraintNotNull)
        }
        let kept = (1...64).filter { $0 % 3 != 0 }
        #expect(failed.count == 64 - kept.count)
        #expect(try shelf.ids() == kept.flatMap { [$0, $0 + 1000] }.sorted())
        try await shelf.close()
    }

    /// A group goes with the edit that failed in it, and the others run again; but not as often as
    /// there are others that fail.
    @Test func `many that fail do not have the others run as many times`() async throws {
        let shelf = try await Shelf()
        let runs = Tally()
        await withTaskGroup(of: Void.self) { group in
            for id in 1...200 {
                group.addTask { await shelf.tryAdding(id, twice: id % 4 == 0, counting: runs) }
            }
        }
        #expect(try shelf.ids() == (1...200).filter { $0 % 4 != 0 })
        #expect(runs.count < 200 * 4)
        try await shelf.close()
    }

    /// SQLite undoes a statement that fails only where it expects that it may.
    @Test func `what a statement changed before it failed is taken back`() async throws {
        let shelf = try await Shelf()
        try await shelf.add(1_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...200 {
                group.addTask { try await shelf.add(id) }
                guard id % 5 == 0 else { continue }
                group.addTask {
                    let error = await #expect(throws: DatabaseError.self) {
                        try await shelf.database.execute(
                            "UPDATE book SET cover = CASE id WHEN 1000 THEN 'none' ELSE x'00' END"
                        )
                    }
                    #expect(error?.code?.primary == .constraint)
                }
            }
            try await group.waitForAll()
        }
        #expect(try shelf.ids() == Array(1...200) + [1_000])
        let covers = try shelf.database.read { (db) throws(DatabaseError) in
            try db.first("SELECT count(*) FROM book WHERE cover IS NOT NULL") {
                (row) throws(DatabaseError) in try row.int(0)
            }
        }
        #expect(covers == 0)
        try await shelf.close()
    }

    @Test func `an edit that dangles a deferred key fails alone`() async throws {
        let shelf = try await Shelf()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...8 {
                group.addTask { try await shelf.add(id) }
            }
            group.addTask {
                let error = await #expect(throws: DatabaseError.self) {
                    try await shelf.database.execute(
                        "INSERT INTO loan (book, reader) VALUES (77, 'Ann')"
                    )
                }
                #expect(error?.code == .constraintForeignKey)
            }
            try await group.waitForAll()
        }
        #expect(try shelf.ids() == Array(1...8))
        try await shelf.close()
    }

    @Test func `an edit that ends the transaction spoils nothing quietly`() async throws {
        let shelf = try await Shelf()
        let error = await #expect(throws: DatabaseError.self) {
            try await shelf.database.write { (db) throws(DatabaseError) in
                try db.execute("INSERT INTO book (id, title) VALUES (1, 'Emma')")
                try db.execute("ROLLBACK")
                try db.execute("INSERT INTO book (id, title) VALUES (2, 'Persuasion')")
            }
        }
        #expect(error?.code == .aborted)
        #expect(try shelf.ids().isEmpty)
        try await shelf.add(3)
        #expect(try shelf.ids() == [3])
        try await shelf.close()
    }

    @Test func `a script is not kept behind the back of a transaction that has ended`()
        async throws
    {
        let shelf = try await Shelf()
        await #expect(throws: DatabaseError.self) {
            try await shelf.database.write { (db) throws(DatabaseError) in
                do throws(DatabaseError) {
                    try db.execute("INSERT OR ROLLBACK INTO book (id, title) VALUES (1, NULL)")
                } catch {
                    try db.execute(script: "INSERT INTO book (id, title) VALUES (2, 'stray')")
                }
            }
        }
        #expect(try shelf.titles().isEmpty)
        try await shelf.close()
    }

    @Test func `a cancelled write does nothing`() async throws {
        let shelf = try await Shelf()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await shelf.add(1)
        }
        let error = await #expect(throws: DatabaseError.self) { try await task.value }
        #expect(error?.cause == .cancelled)
        #expect(try shelf.ids().isEmpty)
        try await shelf.close()
    }

    @Test func `a write that is cancelled too late hears the truth`() async throws {
        let shelf = try await Shelf()
        let task = Task {
            try await shelf.database.write { (db) throws(DatabaseError) in
                try db.execute("INSERT INTO book (id, title) VALUES (1, 'Emma')")
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        try await task.value
        #expect(try shelf.ids() == [1])
        try await shelf.close()
    }

    @Test func `a closed database refuses politely`() async throws {
        let shelf = try await Shelf()
        try await shelf.close()
        let write = await #expect(throws: DatabaseError.self) { try await shelf.add(1) }
        let read = #expect(throws: DatabaseError.self) { try shelf.ids() }
        let scan = await #expect(throws: DatabaseError.self) {
            try await shelf.database.integrityCheck()
        }
        #expect([write, read, scan].allSatisfy { $0?.cause == .closed })
        try await shelf.close()
    }

    @Test func `the same seed makes the same commits`() throws {
        func commits(_ seed: UInt64) throws -> [Int] {
            let (commits, executor) = (Commits(), SeededExecutor(seed: seed))
            let disk = FaultyDisk(seed: seed)
            var configuration = Configuration()
            configuration.vfs = disk.vfs
            configuration.executor = executor
            configuration.observer = commits.observer
            let run = executor.run { [configuration] in
                await Result {
                    let shelf = try await Shelf(at: "shelf.db", configuration)
                    try await shelf.addTogether(1...40)
                    try await shelf.close()
                }
            }
            try #require(run).get()
            return commits.all.map(\.edits)
        }
        let first = try commits(7)
        #expect(try commits(7) == first)
        #expect(try (8...12).contains { try commits($0) != first })
    }
}

extension Shelf {
    /// A book; or none, because it would be there twice.
    fileprivate func tryAdding(_ id: Int, twice: Bool, counting runs: Tally) async {
        let insert: StaticString = "INSERT INTO book (id, title) VALUES (?, 'Emma')"
        _ = try? await database.write { (db) throws(DatabaseError) in
            runs.add()
            try db.execute(insert, .int(id))
            if twice { try db.execute(insert, .int(id)) }
        }
    }
}

private final class Tally: Sendable {
    private let total = Lock(0)

    var count: Int { total.withLock { $0 } }

    func add() { total.withLock { $0 += 1 } }
}
