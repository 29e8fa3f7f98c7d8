import TestSupport
import Testing
import Vault

@testable import Sync

/// Rules of the pending record that no row of the test map asks for.
@Suite struct RuleTests {
    @Test func `R-011 the counter holds more than 32 bits, also in the file`() async throws {
        let scratch = try Scratch()
        do {
            let shelf = try await Shelf(scratch)
            let change = try await shelf.edit("a").change
            _ = try await shelf.store.update(change.id, expecting: change.version) {
                $0.passwordChanges = 1 << 40
            }
            try await shelf.store.close()
        }
        let again = try await Shelf(scratch, seed: 2)
        let edited = try await again.edit("a").change
        #expect(edited.passwordChanges == 1 << 40 + 1)
        let stored = try #require(try again.store.reader.change(edited.id))
        #expect(stored.hasAgreeingColumns)
    }

    @Test func `R-002, R-009, R-010 what a record began with outlives every later edit`()
        async throws
    {
        let shelf = try await Shelf()
        let first = try await shelf.edit("a").change
        for (number, wish) in [
            Edit.Wish.trash, .restore, .favour(true), .hardDelete,
            .update(Shelf.snapshot("again"), changesPassword: false),
        ].enumerated() {
            try await shelf.store.putBase(Shelf.base("a", ticks: 50 + number))
            try await shelf.record(wish, "a", at: 200 + number)
            let change = try #require(try shelf.change("a"))
            #expect(change.id == first.id && change.created == first.created)
            #expect(change.baseline == first.baseline && change.baseCopy == first.baseCopy)
            #expect(change.updated == Shelf.moment(200 + number))
        }
    }

    @Test func `T-58, T-57 attempts, waits and restarts leave what is frozen as it is`()
        async throws
    {
        let scratch = try Scratch()
        let snapshot = Snapshot(json: Array(#"{"name":"2.frozen"}"#.utf8), keyFingerprint: [9, 8])
        for round in 0..<3 {
            let shelf = try await Shelf(scratch, seed: UInt64(round))
            if round == 0 { try await shelf.record(.add(snapshot), "a") }
            for number in 0..<4 {
                let change = try #require(try shelf.change("a"))
                _ = try await shelf.store.update(change.id, expecting: change.version) {
                    $0.note(Attempt(.create, at: Shelf.moment(number), fingerprint: [1]))
                    $0.state = .backingOff(until: Shelf.moment(1_000 + number))
                    $0.failures += 1
                }
            }
            #expect(try shelf.change("a")?.intent == .create(snapshot, .none))
            try await shelf.store.close()
        }
    }

    @Test func `T-22 changes of the same moment keep their order through a restart and a copy`()
        async throws
    {
        let (scratch, other) = (try Scratch(), try Scratch())
        let names = (0..<40).map { "item-\(39 - $0)" }
        do {
            let shelf = try await Shelf(scratch)
            for name in names { try await shelf.add(name, at: 7) }
            try await shelf.store.copyPending(to: other.file(Store.fileName))
            try await shelf.store.close()
        }
        for place in [scratch, other] {
            let shelf = try await Shelf(place, seed: 2)
            #expect(try shelf.changes().map(\.cipherID) == names)
        }
    }

    @Test func `R-005, R-137 nothing of one account is reached through another`() async throws {
        let shelf = try await Shelf()
        let mine = try await shelf.edit("same", user: "one").change
        let theirs = try await shelf.edit("same", user: "two", to: "theirs").change
        #expect(mine.id != theirs.id)
        try await shelf.discard("same", user: "one")
        #expect(try shelf.change("same", user: "two") == theirs)
        let receipt = try await shelf.record(.trash, "same", user: "two").made.receiptID
        #expect(try shelf.store.reader.receipt(receipt ?? "", of: "one") == nil)
        #expect(try shelf.store.reader.receipt(receipt ?? "", of: "two")?.status == .queued)
        #expect(try shelf.store.reader.layers(of: "one").pending.isEmpty)
    }
}
