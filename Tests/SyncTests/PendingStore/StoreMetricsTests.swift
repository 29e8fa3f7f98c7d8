import FoundationEssentials
import Glibc
import Logging
import Metrics
import SQLite
import System
import TestSupport
import Testing
import Vault

@testable import Sync

/// What operators learn of the store and its disk.
@Suite struct StoreMetricsTests {
    private func figures(_ registry: Registry) async -> [String: Double] {
        let lines = String(decoding: await registry.page(.prometheus), as: UTF8.self)
            .split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
        return lines.reduce(into: [:]) { figures, line in
            guard let blank = line.lastIndex(of: " ") else { return }
            figures[String(line[..<blank])] = Double(line[blank...].dropFirst())
        }
    }

    @Test func `a commit that the disk does not take is counted and logged, and no other is`()
        async throws
    {
        let (disk, time) = (FaultyDisk(seed: 3), SystemTimekeeper())
        let registry = Registry(timekeeper: time)
        var options = Store.Options()
        options.database.vfs = disk.vfs
        let lines = Lines()
        let log = Logger(Logbook(sink: lines, timekeeper: time))
        options.measure(by: StoreMetrics(registry), time, log)
        let store = try await Store.open(
            "holdfast.db",
            nil,
            options,
            time: time,
            chance: SeededChance(seed: 3)
        )
        let errors = "holdfast_store_errors_total{work=\"commit\"}"
        try await store.set("a", to: "b")
        #expect(await figures(registry)[errors] == 0)
        disk.fail(.changing, at: 1, error: ENOSPC)
        await #expect(throws: StoreError.self) { try await store.set("a", to: "c") }
        disk.heal()
        #expect(await figures(registry)[errors] == 1)
        try await store.set("a", to: "d")
        let after = await figures(registry)
        #expect(after[errors] == 1)
        #expect(lines.count("The disk did not take a commit.") == 1)
        #expect(after["holdfast_store_errors_total{work=\"checkpoint\"}"] == 0)
        try await store.close()
    }

    @Test func `what the disk does not give back is counted and logged`()
        async throws
    {
        let (disk, time) = (FaultyDisk(seed: 5), SystemTimekeeper())
        try await Shelf(on: disk).store.close()
        let registry = Registry(timekeeper: time)
        let lines = Lines()
        var options = Store.Options()
        options.database.vfs = disk.vfs
        options.measure(
            by: StoreMetrics(registry),
            time,
            Logger(Logbook(sink: lines, timekeeper: time))
        )
        let store = try await Store.open(
            "holdfast.db",
            nil,
            options,
            time: time,
            chance: SeededChance(seed: 5)
        )
        let errors = "holdfast_store_errors_total{work=\"read\"}"
        #expect(throws: StoreError.self) {
            try store.reader.read { (db) throws(DatabaseError) in
                try db.first("SELECT 1 FROM nothing") { (row) throws(DatabaseError) in
                    try row.int(0)
                }
            }
        }
        #expect(await figures(registry)[errors] == 0, "The disk has no part in that.")
        disk.fail(.read, at: 1, error: EIO)
        #expect(throws: StoreError.self) { try store.reader.accounts() }
        #expect(await figures(registry)[errors] == 1)
        #expect(lines.count("The disk failed a read, or an edit before its commit.") == 1)
        disk.heal()
        try await store.close()
    }

    @Test func `since when the disk is at work is known while it is, also of one that hangs`()
        async throws
    {
        let registry = Registry(timekeeper: SystemTimekeeper())
        let metrics = StoreMetrics(registry)
        let time = Glances { metrics.underWay.value }
        var options = Store.Options()
        let disk = FaultyDisk(seed: 4)
        options.database.vfs = disk.vfs
        options.measure(by: metrics, time)
        let store = try await Store.open(
            "holdfast.db",
            nil,
            options,
            time: time,
            chance: SeededChance(seed: 4)
        )
        time.seen.withLock { $0 = [] }
        try await store.set("a", to: "b")
        let seen = time.seen.withLock { $0 }
        #expect(seen.first.map { abs($0 - time.now.timeIntervalSince1970) < 60 } == true)
        #expect(metrics.underWay.value == 0)
        #expect(disk.size(of: "holdfast.db-wal") ?? 0 > 0)
        try await store.close()
    }

    @Test func `the sizes are those of the files, and of what the disk has left`() async throws {
        let scratch = try Scratch()
        let directory = try StateDirectory(scratch.file("state"))
        let registry = Registry(timekeeper: SystemTimekeeper())
        registry.registerDisk(of: directory)
        let before = await figures(registry)
        #expect(before["holdfast_store_bytes{file=\"database\"}"] == 0)
        try Files.replace(directory.file("holdfast.db"), with: [UInt8](repeating: 1, count: 5_000))
        try Files.replace(directory.file("holdfast.db-wal"), with: [1, 2, 3])
        let after = await figures(registry)
        #expect(after["holdfast_store_bytes{file=\"database\"}"] == 5_000)
        #expect(after["holdfast_store_bytes{file=\"log\"}"] == 3)
        #expect(after["holdfast_store_free_bytes"] ?? 0 > 0)
    }

    @Test func `the queues that are read at once are those of each account`() async throws {
        let shelf = try await Shelf()
        for user in ["user-2", "user-3"] { try await shelf.signIn(user) }
        for (number, (user, cipher)) in [
            ("user-1", "a"), ("user-3", "b"), ("user-1", "c"),
        ].enumerated() {
            let wish = Edit.Wish.add(Shelf.snapshot("new \(number)"))
            try await shelf.record(wish, cipher, user: user, at: 100 + number)
        }
        let queues = try shelf.store.reader.queues()
        #expect(Set(queues.keys) == ["user-1", "user-3"])
        for user in ["user-1", "user-2", "user-3"] {
            let tally = try shelf.store.reader.tally(of: user)
            let counts = Dictionary(tally.map { ($0.state, $0.count) }, uniquingKeysWith: +)
            #expect(queues[user, default: PendingQueue()].counts == counts)
        }
        #expect(queues["user-1"]?.counts == [.ready: 2])
        #expect(try shelf.store.reader.tally().map(\.count).reduce(0, +) == 3)
        let first = try #require(try shelf.store.reader.oldest(of: "user-1"))
        #expect(queues["user-1"]?.live == 2)
        _ = try await shelf.store.quarantineUnreadable(first.id, expecting: first.version)
        #expect(try shelf.store.reader.queues()["user-1"]?.live == 1, "It waits for nobody.")
        try await shelf.store.close()
    }

    @Test(arguments: [3, 300])
    func `since when something waits is told of all, and of some without what is set aside`(
        _ others: Int
    ) async throws {
        let shelf = try await Shelf()
        for user in ["user-2", "user-3", "user-4"] { try await shelf.signIn(user) }
        #expect(try shelf.store.reader.oldest() == nil)
        let pending =
            [("user-1", "aside"), ("user-1", "live")]
            + (0..<others).map { ("user-2", "other \($0)") }
            + [("user-3", "late"), ("user-3", "later")]
        for (number, (user, cipher)) in pending.enumerated() {
            let wish = Edit.Wish.add(Shelf.snapshot("new \(number)"))
            try await shelf.record(wish, cipher, user: user, at: 100 + number)
        }
        let reader = shelf.store.reader
        func created(_ cipher: String, _ user: String) throws -> Moment? {
            try reader.change(in: Shelf.lane(cipher, user: user))?.summary.created
        }
        let first = try #require(try reader.oldest(of: "user-1"))
        _ = try await shelf.store.quarantineUnreadable(first.id, expecting: first.version)
        #expect(try reader.oldest() == first.created)
        let late = try created("late", "user-3")
        #expect(try reader.oldestLive(of: ["user-1", "user-3"]) == created("live", "user-1"))
        #expect(try late != nil && reader.oldestLive(of: ["user-3", "user-4"]) == late)
        #expect(try reader.oldestLive(of: ["user-4"]) == nil)
        try await shelf.store.close()
    }

    @Test func `what waits of accounts that went with the database is counted and has its age`()
        async throws
    {
        let scratch = try Scratch()
        do {
            let shelf = try await Shelf(scratch)
            for cipher in ["a", "b"] { try await shelf.add(cipher) }
            #expect(try shelf.store.reader.strangers().isEmpty)
            try await shelf.store.copyPending()
            try await shelf.store.close()
        }
        StoreFile.remove(scratch.file(Store.fileName))
        let (store, condition) = try await Store.open(
            in: StateDirectory(scratch.path),
            time: SystemTimekeeper(),
            chance: SeededChance(seed: 4)
        )
        #expect(condition == .restored(changes: 2))
        #expect(try store.reader.strangers() == [Shelf.user: 2])
        let first = try #require(try store.reader.oldest(of: Shelf.user))
        #expect(try store.reader.oldest() == first.created)
        try await store.put(StoredAccount(id: Shelf.user, record: [1]))
        #expect(try store.reader.strangers().isEmpty)
        try await store.close()
    }
}

/// Looks at something whenever it is asked for the time.
private final class Glances: Timekeeper {
    let seen = Lock<[Double]>([])
    let look: @Sendable () -> Double
    private let time = SystemTimekeeper()

    init(_ look: @escaping @Sendable () -> Double) { self.look = look }

    var now: Date { time.now }
    var elapsed: Duration {
        seen.withLock { $0.append(look()) }
        return time.elapsed
    }

    func sleep(for duration: Duration) async throws(CancellationError) {
        try await time.sleep(for: duration)
    }
}
