import SQLite
import TestSupport
import Testing
import Vault

@testable import Sync

/// Rows 1 to 14 of the test map.
@Suite struct PendingRowsTests {
    @Test func `row 1: an account without changes has an empty list`() async throws {
        let shelf = try await Shelf()
        #expect(try shelf.changes().isEmpty)
        #expect(try shelf.store.reader.oldest(of: Shelf.user) == nil)
        #expect(try shelf.store.reader.nextDue(of: Shelf.user) == nil)
    }

    @Test func `row 2: each account sees its own changes, in order`() async throws {
        let shelf = try await Shelf()
        try await shelf.add("a", user: "one")
        try await shelf.add("b", user: "two")
        try await shelf.add("c", user: "one")
        #expect(try shelf.changes("one").map(\.cipherID) == ["a", "c"])
        #expect(try shelf.changes("two").map(\.cipherID) == ["b"])
    }

    @Test func `row 3: a change is found by its cipher, an unknown one is not`() async throws {
        let shelf = try await Shelf()
        try await shelf.edit("a")
        let change = try #require(try shelf.change("a"))
        #expect(change.type == .update)
        #expect(change.passwordChanges == 1)
        #expect(try shelf.change("z") == nil)
        #expect(try shelf.change("a", user: "somebody else") == nil)
    }

    @Test func `row 4: a first edit is stored whole`() async throws {
        let shelf = try await Shelf()
        let recorded = try await shelf.edit("a")
        let stored = try #require(try shelf.store.reader.change(recorded.change.id))
        #expect(stored.change == recorded.change)
        #expect(stored.summary.id.count == 36)
        #expect(stored.summary.created == Shelf.moment(100))
        #expect(stored.summary.updated == Shelf.moment(100))
        #expect(stored.summary.version == 1)
        #expect(stored.summary.baseline == Shelf.base("a").revision)
        #expect(stored.change?.baseCopy == Shelf.base("a").json)
        #expect(stored.change?.intent.snapshot == Shelf.snapshot("new"))
    }

    @Test func `row 5: a second edit replaces the content and keeps the first baseline`()
        async throws
    {
        let shelf = try await Shelf()
        let first = try await shelf.edit("a", to: "first").change
        try await shelf.store.putBase(Shelf.base("a", ticks: 99))
        try await shelf.record(
            .update(Shelf.snapshot("second"), changesPassword: true),
            "a",
            at: 200
        )
        let changes = try shelf.changes()
        #expect(changes.count == 1)
        let second = try #require(changes.first)
        #expect(second.id == first.id)
        #expect(second.created == Shelf.moment(100))
        #expect(second.updated == Shelf.moment(200))
        #expect(second.intent.snapshot == Shelf.snapshot("second"))
        #expect(second.passwordChanges == 2)
        #expect(second.version == 2)
        #expect(second.baseline?.text == "revision 10")
        #expect(second.baseCopy == Shelf.base("a").json)
        let stored = try #require(try shelf.store.reader.changes(of: Shelf.user).first)
        #expect(stored.hasAgreeingColumns)
    }

    @Test func `row 6: a change is removed by its id, an unknown id harms nobody`() async throws {
        let shelf = try await Shelf()
        let recorded = try await shelf.add("a")
        let later = Shelf.moment(200)
        #expect(try await !shelf.store.discard("nobody", expecting: 1, at: later))
        #expect(try shelf.changes().count == 1)
        #expect(try await shelf.store.discard(recorded.change.id, expecting: 1, at: later))
        #expect(try shelf.changes().isEmpty)
    }

    @Test func `row 7: a change is removed by its cipher, the others stay`() async throws {
        let shelf = try await Shelf()
        try await shelf.add("a")
        try await shelf.add("b")
        for _ in 0..<2 { try await shelf.discard("a") }
        #expect(try shelf.changes().map(\.cipherID) == ["b"])
    }

    @Test func `row 8: all changes of one account are removed, those of others stay`()
        async throws
    {
        let shelf = try await Shelf()
        try await shelf.add("a", user: "one")
        try await shelf.edit("b", user: "one")
        try await shelf.add("c", user: "two")
        for cipher in ["a", "b"] { try await shelf.discard(cipher, user: "one") }
        #expect(try shelf.changes("one").isEmpty)
        #expect(try shelf.changes("two").count == 1)
        #expect(try shelf.store.reader.base(Shelf.lane("b", user: "one")) != nil)
    }

    @Test func `row 9: the count is exact for each account`() async throws {
        let shelf = try await Shelf()
        #expect(try shelf.store.reader.count(of: "one") == 0)
        try await shelf.add("a", user: "one")
        try await shelf.edit("b", user: "one")
        try await shelf.add("c", user: "two")
        #expect(try shelf.store.reader.count(of: "one") == 2)
        #expect(try shelf.store.reader.count(of: "two") == 1)
    }

    @Test func `row 10: the list is in the order of recording, though the clock was set back`()
        async throws
    {
        let shelf = try await Shelf()
        try await shelf.add("late", at: 900)
        try await shelf.add("early", at: 100)
        try await shelf.add("same", at: 100)
        #expect(try shelf.changes().map(\.cipherID) == ["late", "early", "same"])
        #expect(try shelf.store.reader.oldest(of: Shelf.user)?.lane.cipherID == "late")
    }

    @Test func `row 11: erasing an account takes its changes, and nobody else's`() async throws {
        let shelf = try await Shelf()
        try await shelf.store.put(StoredAccount(id: "one", record: [1]))
        try await shelf.edit("a", user: "one")
        try await shelf.edit("b", user: "two")
        try await shelf.store.erase("one")
        #expect(try shelf.changes("one").isEmpty)
        #expect(try shelf.store.reader.count(of: "one") == 0)
        #expect(try shelf.store.reader.base(Shelf.lane("a", user: "one")) == nil)
        #expect(try !shelf.store.reader.accounts().map(\.id).contains("one"))
        #expect(try shelf.changes("two").count == 1)
    }

    @Test(arguments: [("row 12", ""), ("row 13", "somethingNew")])
    func `rows 12 and 13: an emptied or unknown type is shown as an update, and flagged`(
        _ row: String,
        _ text: String
    ) async throws {
        let shelf = try await Shelf()
        try await shelf.edit("a")
        try await shelf.record(.hardDelete, "a")
        try await shelf.byHand("UPDATE pending_change SET change_type = ?", .text(text))
        let stored = try #require(try shelf.store.reader.changes(of: Shelf.user).first)
        #expect(stored.summary.type == .update, "\(row)")
        #expect(stored.change?.type == .update)
        #expect(stored.change?.foreignType == text)
        #expect(stored.change?.intent == .hardDelete)
    }

    @Test func `row 14: every type is the same after a restart`() async throws {
        let scratch = try Scratch()
        var expected: [PendingChange] = []
        do {
            let shelf = try await Shelf(scratch)
            for id in ["update", "trash", "delete", "favour"] {
                try await shelf.store.putBase(Shelf.base(id))
            }
            try await shelf.add("create")
            try await shelf.edit("update")
            try await shelf.record(.trash, "trash")
            try await shelf.record(.hardDelete, "delete")
            try await shelf.record(.archive, "favour")
            expected = try shelf.changes()
            try await shelf.store.close()
        }
        let again = try await Shelf(scratch)
        #expect(try again.changes() == expected)
        #expect(
            expected.map(\.type) == [.create, .update, .softDelete, .hardDelete, .other]
        )
    }
}

extension StoredChange {
    /// What lies in the record and in a column too is the same in both.
    var hasAgreeingColumns: Bool {
        guard let change else { return false }
        return summary.created == change.created && summary.baseline == change.baseline
            && summary.passwordChanges == change.passwordChanges && summary.type == change.type
    }
}
