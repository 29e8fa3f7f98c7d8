import System
import TestSupport
import Testing

@testable import SQLite

/// What was answered is there, and everything else is whole or absent, wherever the power went.
struct PowerCutTests {
    @Test(arguments: 1...150)
    func `nothing that was confirmed is lost when the power goes`(_ seed: UInt64) throws {
        let disk = FaultyDisk(seed: seed)
        let chance = SeededChance(seed: seed)
        let confirmed = Confirmed()
        for round in 0..<3 {
            let cut = chance.number(in: 1..<120)
            live(on: disk, seed: seed, round: round, cutAt: cut, confirmed)
            disk.cut()
            disk.powerOn()
            try check(disk, confirmed, "seed \(seed), round \(round), cut at call \(cut)")
        }
    }

    /// Eight writers at once, until the power goes.
    private func live(
        on disk: FaultyDisk,
        seed: UInt64,
        round: Int,
        cutAt call: Int,
        _ confirmed: Confirmed
    ) {
        let executor = SeededExecutor(seed: seed &+ UInt64(round))
        let configuration = Configuration(on: disk, executor)
        disk.cut(at: call)
        _ = executor.run {
            guard let shelf = try? await Shelf(at: "shelf.db", configuration) else { return }
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        for edit in 0..<12 {
                            let id = round * 96 + writer * 12 + edit + 1
                            guard (try? await shelf.addTwo(id)) != nil else { return }
                            confirmed.add(id)
                        }
                    }
                }
            }
            try? await shelf.close()
        }
    }

    private func check(_ disk: FaultyDisk, _ confirmed: Confirmed, _ story: String) throws {
        let ids = Set(try Shelf.ids(on: disk))
        let lost = confirmed.all.subtracting(ids)
        #expect(lost.isEmpty, "\(story): lost \(lost.sorted())")
        let halves = ids.filter { !ids.contains($0 > 1000 ? $0 - 1000 : $0 + 1000) }
        #expect(halves.isEmpty, "\(story): half written \(halves.sorted())")
        // What was not confirmed and is there all the same counts from now on: it was read.
        confirmed.replace(ids.filter { $0 <= 1000 })
    }

    @Test func `without flushing, power cuts do lose what was confirmed`() throws {
        let losses = (1...20).filter { seed in
            let disk = FaultyDisk(seed: UInt64(seed))
            let executor = SeededExecutor(seed: 1)
            let configuration = Configuration(on: disk, executor)
            _ = executor.run {
                guard let shelf = try? await Shelf(at: "shelf.db", configuration) else { return }
                try? await shelf.database.close()
                guard
                    let session = try? Session.writing(
                        .init(path: "shelf.db", vfs: disk.vfs),
                        configuration
                    )
                else { return }
                _ = try? session.control("PRAGMA synchronous = OFF", "test")
                try? session.runScript("INSERT INTO book (id, title) VALUES (1, 'Emma')")
                disk.cut()
            }
            disk.powerOn()
            let ids = executor.run {
                (try? await Shelf(at: "shelf.db", configuration).ids()) ?? []
            }
            return ids?.isEmpty ?? true
        }
        #expect(!losses.isEmpty, "The disk never loses anything, so the other tests show nothing.")
    }
}

/// The ids whose writers have been answered.
final class Confirmed: Sendable {
    private let ids = Lock<Set<Int>>([])

    var all: Set<Int> { ids.withLock { $0 } }

    func add(_ id: Int) { ids.withLock { _ = $0.insert(id) } }
    func replace(_ all: Set<Int>) { ids.withLock { $0 = all } }
}

extension Configuration {
    init(on disk: FaultyDisk, _ executor: SeededExecutor) {
        self.init()
        vfs = disk.vfs
        self.executor = executor
        // Small, so that checkpoints take part.
        logPages = 12
    }
}
