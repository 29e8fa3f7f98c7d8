import Glibc
import SQLite
import TestSupport
import Testing
import Vault

@testable import Sync

/// A disk that cannot be read, at every place where something is read.
@Suite struct ReadFaultTests {
    private static let items = 12

    /// A store of some pages' length, closed.
    private static func filled(_ disk: FaultyDisk) async throws {
        let shelf = try await Shelf(on: disk)
        for number in 0..<items {
            try await shelf.edit("item-\(number)", to: padded("old-\(number)"))
        }
        try await shelf.store.close()
    }

    private static func padded(_ text: String) -> String {
        text + String(repeating: "x", count: 1_200)
    }

    /// What a host does all day, each step on its own: opens, looks, edits, settles, closes.
    private struct Day {
        let disk: FaultyDisk
        private(set) var errors: [any Error] = []
        /// The items whose newest edit was acknowledged.
        private(set) var edited: [Int] = []

        init(on disk: FaultyDisk) { self.disk = disk }

        mutating func pass() async {
            let shelf: Shelf
            do { shelf = try await Shelf(on: disk, seed: 2) } catch { return errors.append(error) }
            attempt { try shelf.store.reader.changes(of: Shelf.user).count }
            attempt { try shelf.store.reader.layers(of: Shelf.user).base.count }
            attempt { try shelf.store.reader.oldest(of: Shelf.user)?.sequence }
            attempt { try shelf.store.reader.tally().count }
            for number in stride(from: 0, to: items, by: 3) {
                let name = "item-\(number)"
                attempt { try shelf.store.reader.change(in: Shelf.lane(name))?.summary.version }
                do {
                    try await shelf.edit(name, to: padded("new-\(number)"))
                    edited.append(number)
                } catch {
                    errors.append(error)
                }
            }
            do { try await shelf.store.removeBase(Shelf.lane("item-1")) } catch {
                errors.append(error)
            }
            do { try await shelf.store.close() } catch { errors.append(error) }
        }

        private mutating func attempt<Answer>(_ question: () throws -> Answer) {
            do { _ = try question() } catch { errors.append(error) }
        }
    }

    private static func day(failingAt index: Int?, times: Int?) async throws -> (Day, FaultyDisk) {
        let disk = FaultyDisk(seed: 1)
        try await filled(disk)
        disk.count(.read)
        if let index { disk.fail(.read, at: index, times: times, error: EIO) }
        var day = Day(on: disk)
        await day.pass()
        return (day, disk)
    }

    @Test(arguments: [1, nil])
    func `a read that fails is told as a failing disk and leaves nothing half written`(
        _ times: Int?
    ) async throws {
        let (quiet, whole) = try await Self.day(failingAt: nil, times: nil)
        let reads = whole.calls
        #expect(quiet.errors.isEmpty && reads > 30, "\(reads) reads, \(quiet.errors)")
        try await Trials.run(1...reads) { index in
            let (day, disk) = try await Self.day(failingAt: index, times: times)
            let place = "read \(index) of \(reads)"
            #expect(disk.failures > 0, "\(place)")
            for error in day.errors {
                guard case .database(let cause) = (error as? StoreError)?.underlying else {
                    Issue.record("\(place): \(error)")
                    continue
                }
                #expect(cause.trouble == .inputOutput, "\(place): \(error)")
                #expect("\(error)".contains("kernel's log"), "\(place): \(error)")
            }
            disk.heal()
            try await Self.expectWhole(disk, acknowledged: day.edited, place)
        }
    }

    private static func expectWhole(
        _ disk: FaultyDisk,
        acknowledged: [Int],
        _ place: String
    ) async throws {
        let shelf = try await Shelf(on: disk)
        #expect(try await shelf.store.database.integrityCheck().isEmpty, "\(place)")
        for number in 0..<items {
            let change = try #require(try shelf.change("item-\(number)"), "\(place)")
            let content = change.intent.snapshot
            let isNew = content == Shelf.snapshot(padded("new-\(number)"))
            #expect(isNew || content == Shelf.snapshot(padded("old-\(number)")), "\(place)")
            if acknowledged.contains(number) { #expect(isNew, "\(place), item \(number)") }
        }
        try await shelf.store.close()
    }
}

extension StoreError {
    /// What began it.
    fileprivate var underlying: StoreError {
        if case .notAccepting(let cause) = self { .database(cause) } else { self }
    }
}
