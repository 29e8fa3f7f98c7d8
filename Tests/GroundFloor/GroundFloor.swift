import FoundationEssentials
import Glibc
import HTTP
import SQLite
import System

/// The ground floor at work: many clients write into a note book over HTTP for a while, then
/// everything that was acknowledged is read back from the disk.
///
/// `ground-floor [NOTES]`: how many notes each of the 64 clients writes; 200 unless told.
@main
struct GroundFloor {
    static func main() {
        Signals.block()
        let word = CommandLine.arguments.dropFirst().first ?? "200"
        guard let notes = Int(word), notes > 0 else {
            print("ground-floor wants a number of notes above 0, not '\(word)'.")
            exit(64)
        }
        exit(runBlocking { await run(notes: notes) })
    }

    private static func run(notes: Int) async -> Int32 {
        let folder = FileManager.default.temporaryDirectory.path + "/holdfast-\(getpid())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        do {
            try Files.makePrivateDirectory(folder)
            let kept = try await write(clients: 64, notes: notes, in: folder + "/notes.db")
            return try await check(kept, in: folder + "/notes.db") ? 0 : 1
        } catch {
            print("The ground floor gave way: \(error)")
            return 1
        }
    }

    private static func write(
        clients: Int,
        notes: Int,
        in path: String
    ) async throws -> [Int: String] {
        let time = SystemTimekeeper()
        let book = try await NoteBook.open(path, timekeeper: time)
        print(
            "A note book listens on \(book.address); \(clients) clients write \(notes) notes each."
        )
        return try await withThrowingDiscardingTaskGroup { services in
            services.addTask { await book.store.run() }
            let client = try Client()
            let begun = time.elapsed
            let kept = try await Writers(client: client, address: book.address).write(
                clients,
                notes
            )
            report(kept.count, time.elapsed - begun)
            try await showMetrics(of: book, client)
            await client.close()
            try await book.close()
            return kept
        }
    }

    private static func report(_ count: Int, _ duration: Duration) {
        let seconds = duration / .seconds(1)
        print("\(count) notes were acknowledged, each after it was on the disk:")
        print("  \(Int(Double(count) / seconds)) durable notes per second over HTTP")
    }

    private static func showMetrics(of book: NoteBook, _ client: Client) async throws {
        let page = try await client.send(Client.Request(.get, book.address + "/metrics"))
        let lines = String(decoding: page.body, as: UTF8.self).split(separator: "\n")
        print("Some of what \(book.address)/metrics says:")
        for line in lines where line.hasPrefix("holdfast_") && !line.contains("wait_seconds") {
            print("  \(line)")
        }
    }

    private static func check(_ kept: [Int: String], in path: String) async throws -> Bool {
        let database = try await Database.open(path, migrations: NoteStore.migrations)
        let found = try database.read { (db) throws(DatabaseError) in
            try db.all("SELECT id, text FROM note") { (row) throws(DatabaseError) in
                (try row.int(0), String(decoding: try row.bytes(1), as: UTF8.self))
            }
        }
        try await database.close()
        let isWhole = Dictionary(found, uniquingKeysWith: { first, _ in first }) == kept
        print(
            isWhole
                ? "Read back from the disk: every note, once, as it was written."
                : "The disk does not hold what was acknowledged: \(found.count) of \(kept.count)."
        )
        return isWhole && !kept.isEmpty
    }
}
