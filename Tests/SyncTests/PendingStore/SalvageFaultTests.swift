import Glibc
import SQLite
import System
import TestSupport
import Testing
import Vault

@testable import Sync

/// A salvage during which the disk fails or is full: it ends, and never goes on with less.
@Suite struct SalvageFaultTests {
    private static let items = 12

    private let disk = FaultyDisk(seed: 3)

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.vfs = disk.vfs
        return configuration
    }

    /// A store of some pages, one of them damaged.
    private func filled() async throws {
        let shelf = try await Shelf(on: disk)
        for number in 0..<Self.items {
            let text = "\(number)" + String(repeating: "x", count: 1_500)
            _ = try await shelf.record(.add(Shelf.snapshot(text)), "item-\(number)").made
        }
        try await shelf.store.close()
        let pages = try #require(disk.size(of: "holdfast.db")) / 4_096
        disk.flip("holdfast.db", at: (pages - 3) * 4_096, count: 4_096)
    }

    /// - Returns: How many changes a salvage carried over; nil if it ended early.
    private func salvage(_ target: String) async throws -> Int? {
        var options = Store.Options()
        options.database = configuration
        let chance = SeededChance(seed: 3)
        guard
            let store = try? await Store.open(
                target,
                nil,
                options,
                time: SteppedTime(),
                chance: chance
            )
        else { return nil }
        let salvage = Salvage(into: store, from: "holdfast.db", copy: nil, configuration)
        do {
            try await salvage.carryOver()
        } catch {
            try? await store.close()
            return nil
        }
        disk.heal()
        let count = try store.reader.count(of: Shelf.user)
        try await store.close()
        return count
    }

    @Test(arguments: [(FaultyDisk.Calls.read, EIO), (.changing, ENOSPC), (.changing, EIO)])
    func `what passes costs no edit`(_ calls: FaultyDisk.Calls, _ error: Int32) async throws {
        try await filled()
        disk.count(calls)
        let quiet = try #require(try await salvage("quiet.db"))
        let moments = disk.calls
        #expect(quiet > 0 && quiet < Self.items && moments > 20, "\(quiet), \(moments)")
        var ended = 0
        for moment in 1...moments {
            disk.fail(calls, at: moment, times: 1, error: error)
            let count = try await salvage("draft-\(moment).db")
            disk.heal()
            ended += count == nil ? 1 : 0
            #expect(count == nil || count == quiet, "\(moment) of \(moments): \(count ?? 0)")
        }
        #expect(ended > 5)
    }
}
