import CCeilings
import FoundationEssentials
import SQLite
import Sync
import System
import Vault

/// Durable edits beside the same statements in plain C on a file of the same schema, and what a
/// long queue costs.
enum StoreBenchmarks {
    static func run(_ bench: Bench) async throws {
        for writers in [1, 16, 64, 256] {
            try await edits(bench, writers: writers)
        }
        try await longQueue(bench)
    }

    /// The ceiling commits the very batches that ours came to.
    private static func edits(_ bench: Bench, writers: Int) async throws {
        let edits = bench.count(writers == 1 ? 1_000 : 20_000, quick: 256) / writers
        let batches = Lock<[Int32]>([])
        try await bench.compare(
            "durable edits, 1.5 KB, \(writers) writers",
            .rate("/s"),
            aim: writers == 64 ? 0.65 : nil,
            ours: {
                let bed = try await Bed { report in
                    batches.withLock { $0.append(Int32(report.edits)) }
                }
                // What opening committed is not ours to count.
                batches.withLock { $0 = [] }
                let time = try await seconds { try await bed.record(edits, by: writers) }
                try await bed.remove()
                return Double(edits * writers) / time
            },
            ceiling: {
                let bed = try await Bed()
                try await bed.store.close()
                let sizes = batches.withLock { $0 }
                let time = ceiling_store_edits(
                    bed.path,
                    sizes,
                    Int32(sizes.count),
                    Bed.json,
                    Int32(Bed.json.count)
                )
                try bed.removeFiles()
                return Double(sizes.reduce(0) { $0 + Int($1) }) / time
            }
        )
    }

    private static func longQueue(_ bench: Bench) async throws {
        for changes in [1_000, 100_000] {
            let bed = try await Bed()
            let count = bench.count(changes, quick: changes / 100)
            try await bed.record(max(1, count / 250), by: 250, forOneUser: true)
            try await ask(bench, "\(count) pending: count", bed) { _ = try $0.tally(of: "user") }
            try await ask(bench, "\(count) pending: oldest", bed) { _ = try $0.oldest(of: "user") }
            try await ask(bench, "\(count) pending: next due", bed) {
                _ = try $0.nextDue(of: "user")
            }
            try await bed.store.close()
            try await bench.measure("\(count) pending: restart to ready", unit: "ms") {
                var opened: Store?
                let time = try await seconds { opened = try await bed.reopen() }
                try await opened?.close()
                return time * 1_000
            }
            try bed.removeFiles()
        }
    }

    private static func ask(
        _ bench: Bench,
        _ name: String,
        _ bed: Bed,
        _ question: (StoreReader) throws -> Void
    ) async throws {
        let times = bench.count(2_000, quick: 50)
        try await bench.measure(name, unit: "µs", bound: 100) {
            let time = try await seconds { for _ in 0..<times { try question(bed.store.reader) } }
            return time * 1_000_000 / Double(times)
        }
    }
}

/// A store in a directory of its own.
private struct Bed {
    static let json = Array("{\"name\":\"2.\(String(repeating: "QUJD", count: 370))\"}".utf8)

    let store: Store
    let path: String
    private let directory: String

    init(_ committed: (@Sendable (CommitReport) -> Void)? = nil) async throws {
        directory = FileManager.default.temporaryDirectory.path + "/bench-" + UUID().uuidString
        path = directory + "/holdfast.db"
        store = try await Self.open(directory, committed)
        for user in ["user"] + (0..<64).map({ "user-\($0)" }) {
            try await store.put(StoredAccount(id: user, record: [1]))
        }
    }

    private static func open(
        _ directory: String,
        _ committed: (@Sendable (CommitReport) -> Void)? = nil
    ) async throws -> Store {
        var options = Store.Options()
        options.limits.changes = .max
        options.limits.bytes = .max
        options.database.observer = committed.map {
            Observer(timekeeper: SystemTimekeeper(), committed: $0)
        }
        return try await Store.open(
            in: StateDirectory(directory),
            options: options,
            time: SystemTimekeeper(),
            chance: SystemChance()
        ).store
    }

    /// The store that is closed still holds the directory's lock; a copy of the path does not.
    func reopen() async throws -> Store {
        let other = directory + "-again"
        if !FileManager.default.fileExists(atPath: other) {
            try FileManager.default.copyItem(atPath: directory, toPath: other)
        }
        return try await Self.open(other)
    }

    func record(_ edits: Int, by writers: Int, forOneUser: Bool = false) async throws {
        let snapshot = Snapshot(json: Self.json, keyFingerprint: [1, 2, 3, 4])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                let chance = SeededChance(seed: UInt64(writer))
                let user = forOneUser ? "user" : "user-\(writer % 64)"
                group.addTask {
                    for number in 0..<edits {
                        let moment = Moment(ticks: Int64(number) * Moment.ticksPerMillisecond)
                        _ = try await store.record(
                            Edit(.add(snapshot), at: moment),
                            in: Lane(userID: user, cipherID: chance.identifier(at: moment)),
                            as: .queued
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    func remove() async throws {
        try await store.close()
        try removeFiles()
    }

    func removeFiles() throws {
        for path in [directory, directory + "-again"] {
            guard FileManager.default.fileExists(atPath: path) else { continue }
            try FileManager.default.removeItem(atPath: path)
        }
    }
}
