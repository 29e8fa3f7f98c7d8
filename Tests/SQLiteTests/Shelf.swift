import System
import TestSupport
import Testing

@testable import SQLite

/// A small database to try things on.
struct Shelf {
    let database: Database
    let path: String
    private let scratch: Scratch?

    static let migrations = [
        Migration("books") { (db) throws(DatabaseError) in
            try db.execute(
                script: """
                    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, cover BLOB) STRICT;
                    CREATE TABLE loan (
                        book INTEGER NOT NULL REFERENCES book (id) DEFERRABLE INITIALLY DEFERRED,
                        reader TEXT NOT NULL
                    ) STRICT;
                    """
            )
        }
    ]

    init(
        _ scratch: Scratch? = nil,
        _ configuration: Configuration = Configuration(),
        migrations: [Migration] = Shelf.migrations
    ) async throws {
        let scratch = try scratch ?? Scratch()
        try await self.init(
            at: scratch.file("shelf.db"),
            configuration,
            migrations: migrations,
            in: scratch
        )
    }

    init(
        at path: String,
        _ configuration: Configuration = Configuration(),
        migrations: [Migration] = Shelf.migrations,
        in scratch: Scratch? = nil
    ) async throws(DatabaseError) {
        self.path = path
        self.scratch = scratch
        database = try await Database.open(
            path,
            migrations: migrations,
            configuration: configuration
        )
    }

    /// Lives on a disk that survives it, and returns what it came to know.
    static func live<Answer: Sendable>(
        on disk: FaultyDisk,
        _ body: @escaping @Sendable (Shelf) async throws -> Answer
    ) throws -> Answer {
        let executor = SeededExecutor(seed: 1)
        let configuration = Configuration(on: disk, executor)
        let answer = executor.run {
            await Result { try await body(try await Shelf(at: "shelf.db", configuration)) }
        }
        return try #require(answer).get()
    }

    static func ids(on disk: FaultyDisk) throws -> [Int] {
        try live(on: disk) { shelf in
            let ids = try shelf.ids()
            try await shelf.close()
            return ids
        }
    }

    func add(_ id: Int, title: String = "Emma") async throws(DatabaseError) {
        try await database.execute(
            "INSERT INTO book (id, title) VALUES (?, ?)",
            .int(id),
            .text(title)
        )
    }

    /// A book, and another a thousand places further, or neither.
    func addTwo(_ id: Int, secondTitle: String? = "second") async throws(DatabaseError) {
        try await database.write { (db) throws(DatabaseError) in
            let insert: StaticString = "INSERT INTO book (id, title) VALUES (?, ?)"
            try db.execute(insert, .int(id), "first")
            try db.execute(insert, .int(id + 1000), Value(secondTitle))
        }
    }

    func addTogether(_ ids: ClosedRange<Int>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in ids { group.addTask { try await add(id) } }
            try await group.waitForAll()
        }
    }

    /// Adds whose answers are told apart: kept, certainly not kept, or unknown.
    func outcome(of id: Int) async -> AddOutcome {
        do throws(DatabaseError) {
            try await add(id)
            return .kept
        } catch {
            return error.isOutcomeUnknown ? .unknown : .refused
        }
    }

    func ids() throws(DatabaseError) -> [Int] {
        try database.read { (db) throws(DatabaseError) in
            try db.all("SELECT id FROM book ORDER BY id") { (row) throws(DatabaseError) in
                try row.int(0)
            }
        }
    }

    func titles() throws(DatabaseError) -> [String] {
        try database.read { (db) throws(DatabaseError) in
            try db.all("SELECT title FROM book ORDER BY id") { (row) throws(DatabaseError) in
                try row.text(0)
            }
        }
    }

    func close() async throws(DatabaseError) { try await database.close() }
}

enum AddOutcome { case kept, refused, unknown }

/// What the observer heard.
final class Commits: Sendable {
    private let reports = Lock<[CommitReport]>([])

    var all: [CommitReport] { reports.withLock { $0 } }

    var observer: Observer {
        Observer(
            timekeeper: SystemTimekeeper(),
            committed: { report in self.reports.withLock { $0.append(report) } }
        )
    }
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
