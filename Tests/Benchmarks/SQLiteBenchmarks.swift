import CCeilings
import FoundationEssentials
import SQLite
import System

/// Durable writes and cached reads, each beside plain C on a file of the same schema and pragmas.
enum SQLiteBenchmarks {
    static func run(_ bench: Bench) async throws {
        for writers in [1, 16, 64, 256] {
            try await commits(bench, writers: writers)
        }
        for readers in [1, 64] {
            try await reads(bench, readers: readers)
        }
    }

    /// The ceiling commits the very batches that ours came to.
    private static func commits(_ bench: Bench, writers: Int) async throws {
        let edits = bench.count(writers == 1 ? 2_000 : 40_000, quick: 256) / writers
        let log = CommitLog()
        try await bench.compare(
            "durable edits, 1.5 KB, \(writers) writers",
            .rate("/s"),
            aim: writers == 64 ? 0.75 : nil,
            ours: {
                log.forget()
                let file = try await RecordFile(log)
                let time = try await seconds {
                    try await file.write(edits, by: writers, noting: log)
                }
                try await file.close()
                try file.remove()
                return Double(edits * writers) / time
            },
            ceiling: {
                let file = try await RecordFile(CommitLog())
                try await file.close()
                let batches = log.batches
                let time = ceiling_sqlite_commits(
                    file.path,
                    batches,
                    Int32(batches.count),
                    RecordFile.row,
                    Int32(RecordFile.row.count)
                )
                try file.remove()
                return Double(batches.reduce(0) { $0 + Int($1) }) / time
            }
        )
        let milliseconds = log.waits.percentile(0.99) * 1_000
        let mean = Double(edits * writers) / Double(log.batches.count)
        bench.note(
            "  until it is durable",
            "p99 \((milliseconds * 100).rounded() / 100) ms, \(Int(mean.rounded())) a commit"
        )
    }

    private static func reads(_ bench: Bench, readers: Int) async throws {
        let rows = 1_000
        let count = bench.count(200_000, quick: 1_000) / readers
        let file = try await RecordFile(CommitLog())
        try await file.fill(rows)
        try await bench.compare(
            "cached reads, 1 KB by primary key, \(readers) tasks",
            .rate("/s"),
            aim: 0.75,
            ours: {
                let time = try await seconds { try await file.read(count, of: rows, by: readers) }
                return Double(count * readers) / time
            },
            ceiling: {
                let all = Int32(count * readers)
                return Double(all) / ceiling_sqlite_reads(file.path, Int32(rows), all)
            }
        )
        try await file.close()
        try file.remove()
    }
}

/// What occurred: the sizes of the commits, and how long each writer waited.
private final class CommitLog: Sendable {
    private let entries = Lock<(batches: [Int32], waits: [Double])>(([], []))

    var batches: [Int32] { entries.withLock { $0.batches } }
    var waits: [Double] { entries.withLock { $0.waits } }

    func forget() { entries.withLock { $0 = ([], []) } }
    func note(_ edits: Int) { entries.withLock { $0.batches.append(Int32(edits)) } }
    func note(_ waits: [Double]) { entries.withLock { $0.waits += waits } }
}

private struct RecordFile {
    static let row = [UInt8](repeating: 7, count: 1_500)

    let path: String
    private let directory: String
    private let database: Database

    init(_ log: CommitLog) async throws {
        directory = FileManager.default.temporaryDirectory.path + "/bench-" + UUID().uuidString
        try Files.makePrivateDirectory(directory)
        path = directory + "/records.db"
        let schema = Migration("records") { (db) throws(DatabaseError) in
            try db.execute(
                script: "CREATE TABLE record (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT"
            )
        }
        var configuration = Configuration()
        configuration.observer = Observer(timekeeper: SystemTimekeeper()) { log.note($0.edits) }
        database = try await Database.open(
            path,
            migrations: [schema],
            configuration: configuration
        )
    }

    func write(_ edits: Int, by writers: Int, noting log: CommitLog) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<writers {
                group.addTask {
                    var waits: [Double] = []
                    for _ in 0..<edits {
                        waits.append(try await seconds { try await insert() })
                    }
                    log.note(waits)
                }
            }
            try await group.waitForAll()
        }
    }

    private func insert() async throws {
        try await database.execute("INSERT INTO record (body) VALUES (?)", .blob(Self.row))
    }

    func fill(_ rows: Int) async throws {
        let body = Value.blob([UInt8](repeating: 7, count: 1_024))
        try await database.write { (db) throws(DatabaseError) in
            for _ in 0..<rows { try db.execute("INSERT INTO record (body) VALUES (?)", body) }
        }
        try await database.checkpoint()
    }

    func read(_ count: Int, of rows: Int, by readers: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for reader in 0..<readers {
                group.addTask {
                    for step in 0..<count { try read((reader + step * 7919) % rows + 1) }
                }
            }
            try await group.waitForAll()
        }
    }

    private func read(_ id: Int) throws {
        let body = try database.read { (db) throws(DatabaseError) in
            try db.first("SELECT body FROM record WHERE id = ?", .int(id)) {
                (row) throws(DatabaseError) in try row.bytes(0)
            }
        }
        precondition(body?.count == 1_024)
    }

    func close() async throws { try await database.close() }

    func remove() throws { try FileManager.default.removeItem(atPath: directory) }
}
