import System
import TestSupport
import Testing
import Vault

@testable import Sync

@Suite struct RecordingTests {
    private static let seed: UInt64 = 42

    @Test func `T-02 what settles an older version leaves the newer edit, on a new baseline`()
        async throws
    {
        let shelf = try await Shelf()
        let sent = try await shelf.edit("a", to: "one").change
        try await shelf.edit("a", to: "two")
        let settled = try await shelf.store.settle(
            sent.id,
            in: Shelf.lane("a"),
            expecting: sent.version,
            Settlement(
                upstream: .holds(Shelf.base("a", ticks: 77)),
                receipts: ReceiptEnd(.sent, at: Shelf.moment(5))
            )
        )
        guard case .rebased(let change) = settled else {
            Issue.record("\(settled)")
            return
        }
        #expect(change.intent.snapshot == Shelf.snapshot("two"))
        #expect(change.baseline?.text == "revision 77")
        #expect(try shelf.change("a") == change)
        #expect(try shelf.store.reader.base(Shelf.lane("a")) == Shelf.base("a", ticks: 77))
    }

    @Test func `I15 an edit that came meanwhile stays on the ground that its writer saw`()
        async throws
    {
        let shelf = try await Shelf()
        let sent = try await shelf.edit("a", to: "one").change
        try await shelf.record(.hardDelete, "a")
        let settled = try await shelf.store.settle(
            sent.id,
            in: Shelf.lane("a"),
            expecting: sent.version,
            Settlement(
                upstream: .holds(Shelf.base("a", ticks: 77)),
                receipts: ReceiptEnd(.sent, at: Shelf.moment(5)),
                isSeen: false
            )
        )
        guard case .rebased(let change) = settled else {
            Issue.record("\(settled)")
            return
        }
        #expect(change.intent == .hardDelete)
        #expect(change.baseline?.text == "revision 10" && change.baseCopy == sent.baseCopy)
        #expect(try shelf.store.reader.base(Shelf.lane("a")) == Shelf.base("a", ticks: 77))
    }

    /// Upstream has it now, under that id.
    private static func bringUp(
        _ sent: PendingChange,
        as cipherID: String,
        _ shelf: Shelf
    ) async throws {
        _ = try await shelf.store.settle(
            sent.id,
            in: Shelf.lane(sent.cipherID),
            expecting: sent.version,
            Settlement(
                upstream: .holds(Shelf.base(cipherID, ticks: 8)),
                receipts: ReceiptEnd(.sent, at: Shelf.moment(5))
            )
        )
    }

    @Test func `T-04 an edit of an item whose create is under way becomes an update of it`()
        async throws
    {
        let shelf = try await Shelf()
        let sent = try await shelf.add("made").change
        try await shelf.record(.update(Shelf.snapshot("two"), changesPassword: false), "made")
        try await Self.bringUp(sent, as: "server", shelf)
        let change = try #require(try shelf.change("made"))
        #expect(change.cipherID == "server")
        #expect(change.type == .update)
        #expect(change.baseline?.text == "revision 8")
        #expect(change.intent.snapshot == Shelf.snapshot("two"))
        #expect(try shelf.store.reader.base(Shelf.lane("made"))?.lane.cipherID == "server")

        let later = try await shelf.record(.trash, "made").made
        #expect(later.change.cipherID == "server")
        #expect(try shelf.changes().count == 1)
    }

    /// What others had deleted is made anew under another id; then upstream is set back, and has both.
    @Test func `T-04 an id that upstream has again means what upstream has by it`() async throws {
        let shelf = try await Shelf()
        let sent = try await shelf.add("former").change
        try await Self.bringUp(sent, as: "latter", shelf)
        for (ids, meant) in [
            (["latter"], "latter"), (["former", "latter"], "former"), (["latter"], "latter"),
        ] {
            _ = try await shelf.store.refresh(
                Shelf.user,
                ciphers: ids.map { Shelf.base($0, ticks: 8) },
                slices: [],
                since: try shelf.store.reader.refreshMark(of: Shelf.user)
            )
            let base = try shelf.store.reader.base(Shelf.lane("former"))
            #expect(base?.lane.cipherID == meant)
        }
        _ = try await shelf.store.refresh(
            Shelf.user,
            ciphers: [Shelf.base("former", ticks: 8), Shelf.base("latter", ticks: 8)],
            slices: [],
            since: try shelf.store.reader.refreshMark(of: Shelf.user)
        )
        let later = try await shelf.edit("former")
        #expect(later.change.cipherID == "former")
    }

    @Test func `a settled change leaves base, alias, receipt and history in one step`()
        async throws
    {
        let shelf = try await Shelf()
        let recorded = try await shelf.add("made")
        let settled = try await shelf.store.settle(
            recorded.change.id,
            in: Shelf.lane("made"),
            expecting: 1,
            Settlement(
                upstream: .holds(Shelf.base("server")),
                receipts: ReceiptEnd(.sent, at: Shelf.moment(5), resultCipherID: "server"),
                resolution: ResolutionNote(.pushed, at: Shelf.moment(5), winner: .local)
            )
        )
        guard case .settled = settled else {
            Issue.record("\(settled)")
            return
        }
        #expect(try shelf.changes().isEmpty)
        let id = try #require(recorded.receiptID)
        let receipt = try #require(try shelf.store.reader.receipt(id, of: Shelf.user))
        #expect(receipt.status == .sent)
        #expect(receipt.resultCipherID == "server")
        let history = try shelf.store.reader.resolutions(of: Shelf.user, limit: 9)
        #expect(history.map(\.note.outcome) == [.pushed])
        #expect(history.first?.type == .create)
        #expect(try shelf.store.reader.receipt(id, of: "somebody else") == nil)
    }

    @Test func `T-06 whoever discards an older edit leaves the newer one`() async throws {
        let shelf = try await Shelf()
        try await shelf.edit("a", to: "one")
        let old = try await shelf.edit("a", to: "two").change
        let later = Shelf.moment(200)
        #expect(try await !shelf.store.discard(old.id, expecting: 1, at: later))
        #expect(try shelf.changes().count == 1)
        #expect(try await shelf.store.discard(old.id, expecting: 2, at: later))
        #expect(try shelf.changes().isEmpty)
    }

    @Test func `a younger record of the same cipher is not taken for the one that was seen`()
        async throws
    {
        let shelf = try await Shelf()
        let old = try await shelf.edit("a", to: "one").change
        let seen = try Self.seen(shelf)
        try await shelf.discard("a")
        let young = try await shelf.edit("a", to: "two").change
        #expect(old.version == young.version)
        let later = Shelf.moment(200)
        #expect(try await !shelf.store.discard(old.id, expecting: old.version, at: later))
        guard case .moved(to: 1) = try await shelf.record(.trash, "a", expecting: seen) else {
            Issue.record("It was recorded.")
            return
        }
        #expect(try shelf.changes() == [young])
    }

    @Test func `a record of a type that this build does not know takes no edit`() async throws {
        let shelf = try await Shelf()
        try await shelf.edit("a")
        try await shelf.byHand("UPDATE pending_change SET change_type = 'somethingNew'")
        let before = try shelf.changes()
        guard case .unreadable = try await shelf.record(.trash, "a") else {
            Issue.record("It was recorded.")
            return
        }
        #expect(try shelf.changes() == before && before.first?.foreignType == "somethingNew")
    }

    @Test func `T-13, T-14 edits of many callers at once count every change of the password`()
        async throws
    {
        let shelf = try await Shelf()
        try await shelf.edit("a")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<60 { group.addTask { try await shelf.edit("a") } }
            try await group.waitForAll()
        }
        let change = try #require(try shelf.change("a"))
        #expect(change.passwordChanges == 61)
        #expect(change.version == 61)
    }

    @Test func `first edits of one cipher by many callers make one record`() async throws {
        let shelf = try await Shelf()
        try await shelf.store.putBase(Shelf.base("a"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 { group.addTask { try await shelf.edit("a") } }
            try await group.waitForAll()
        }
        #expect(try shelf.changes().count == 1)
        #expect(try shelf.store.reader.count(of: Shelf.user) == 1)
    }

    @Test func `an edit that expects another version does nothing`() async throws {
        let shelf = try await Shelf()
        try await shelf.edit("a")
        let before = try shelf.changes()
        guard case .moved(to: 1) = try await shelf.record(.trash, "a", expecting: .nothing) else {
            Issue.record("It was recorded.")
            return
        }
        #expect(try shelf.changes() == before)
        let seen = try Self.seen(shelf)
        #expect(try await shelf.record(.trash, "a", expecting: seen).made.change.version == 2)
    }

    @Test(arguments: [false, true])
    func `an edit that was made on an older copy is not taken for one of a newer`(
        _ isPending: Bool
    ) async throws {
        let shelf = try await Shelf()
        try await shelf.store.putBase(Shelf.base("a"))
        if isPending { _ = try await shelf.record(.favour(true), "a") }
        let before = try shelf.changes()
        let seen = try Self.seen(shelf)
        try await shelf.store.putBase(Shelf.base("a", ticks: 20))
        guard case .moved = try await shelf.record(.hardDelete, "a", expecting: seen) else {
            Issue.record("It was recorded.")
            return
        }
        #expect(try shelf.changes() == before)
        let again = try Self.seen(shelf)
        let made = try await shelf.record(.hardDelete, "a", expecting: again).made.change
        #expect(made.baseCopy == Shelf.base("a", ticks: 20).json)
        #expect(try shelf.changes() == [made])
    }

    private static func seen(_ shelf: Shelf) throws -> Seen {
        try shelf.store.reader.layers(of: Shelf.lane("a")).seen
    }

    private static let attempt = Attempt(.update, at: Shelf.moment(3), fingerprint: [1])

    /// An edit that waits, and one that was folded into it and is on its way.
    private static func editTwice(
        _ shelf: Shelf
    ) async throws -> (first: Recorded, second: Recorded) {
        let first = try await shelf.edit("a", to: "one")
        let wish = Edit.Wish.update(Shelf.snapshot("two"), changesPassword: true)
        return (first, try await shelf.record(wish, "a", at: 200, as: .inFlight(attempt)).made)
    }

    @Test func `a refused edit is withdrawn, and what it was folded into is as it was`()
        async throws
    {
        let shelf = try await Shelf()
        let (first, second) = try await Self.editTwice(shelf)
        #expect(try shelf.change("a")?.state == .inFlight)
        let id = second.change.id
        _ = try await shelf.store.update(id, expecting: 2) { $0.concludeAttempt(.refused) }
        #expect(try await shelf.store.withdraw(second, expecting: 3))
        let after = try #require(try shelf.change("a"))
        #expect(after.version == 4 && after.state == .ready)
        #expect(after.intent == first.change.intent && after.updated == first.change.updated)
        #expect(after.passwordChanges == first.change.passwordChanges)
        #expect(after.attempts.map(\.outcome) == [.refused], "What was sent is known.")
        #expect(after.attemptCount == first.change.attemptCount)
        #expect(after.baseline == first.change.baseline)

        try await shelf.store.putBase(Shelf.base("b"))
        let alone = try await shelf.record(.trash, "b", as: .inFlight(Self.attempt)).made
        #expect(try await shelf.store.withdraw(alone, expecting: 1))
        #expect(try shelf.change("b") == nil)
        #expect(alone.receiptID == nil)
    }

    @Test func `a refused edit takes along the ground that it had brought`() async throws {
        let shelf = try await Shelf()
        try await shelf.store.putBase(Shelf.base("a"))
        let first = try await shelf.record(.trash, "a").made.change
        try await shelf.store.putBase(Shelf.base("a", ticks: 20))
        let second = try await shelf.record(.hardDelete, "a", as: .inFlight(Self.attempt)).made
        #expect(second.change.baseline != first.baseline)
        #expect(try await shelf.store.withdraw(second, expecting: 2))
        let after = try #require(try shelf.change("a"))
        #expect(after.intent == first.intent)
        #expect(after.baseline == first.baseline && after.baseCopy == first.baseCopy)
    }

    @Test func `a refused edit is withdrawn although somebody has had it tried meanwhile`()
        async throws
    {
        let shelf = try await Shelf()
        let (first, second) = try await Self.editTwice(shelf)
        _ = try await shelf.store.update(second.change.id, expecting: 2) { $0.state = .ready }
        #expect(try await shelf.store.withdraw(second, expecting: 2))
        let after = try #require(try shelf.change("a"))
        #expect(after.intent == first.change.intent && after.state == .ready)
        try await shelf.edit("a", to: "three")
        #expect(
            try await !shelf.store.withdraw(second, expecting: 2),
            "Somebody wants something else."
        )

        let alone = try await shelf.record(
            .add(Shelf.snapshot("b")),
            "b",
            as: .inFlight(Self.attempt)
        ).made
        _ = try await shelf.store.update(alone.change.id, expecting: 1) { $0.beginAnew() }
        #expect(try await shelf.store.withdraw(alone, expecting: 1))
        #expect(try shelf.change("b") == nil)
    }

    @Test func `a refused edit is withdrawn although its folder was deleted meanwhile`()
        async throws
    {
        let shelf = try await Shelf()
        let json = #"{"id":"a","type":2,"name":"2.n","folderId":"gone"}"#
        let snapshot = Snapshot(json: Array(json.utf8), keyFingerprint: [1])
        for wish in [Edit.Wish.update(snapshot, changesPassword: false), .move(.id("gone"))] {
            try await shelf.store.putBase(Shelf.base("a"))
            let edit = try await shelf.record(wish, "a", as: .inFlight(Self.attempt)).made
            try await shelf.store.removeFolder("gone", of: Shelf.user)
            #expect(try shelf.change("a")?.version == 2)
            #expect(try await shelf.store.withdraw(edit, expecting: 1))
            #expect(try shelf.change("a") == nil)
        }
    }

    @Test func `a later queued edit supersedes the receipts before it`() async throws {
        let shelf = try await Shelf()
        let first = try await shelf.edit("a", to: "one")
        let second = try await shelf.edit("a", to: "two")
        let ids = (try #require(first.receiptID), try #require(second.receiptID))
        #expect(try shelf.store.reader.receipt(ids.0, of: Shelf.user)?.status == .superseded)
        #expect(try shelf.store.reader.receipt(ids.1, of: Shelf.user)?.status == .queued)
        #expect(
            try await shelf.store.discard(second.change.id, expecting: 2, at: Shelf.moment(9))
        )
        #expect(try shelf.store.reader.receipt(ids.1, of: Shelf.user)?.status == .discarded)
        let history = try shelf.store.reader.resolutions(of: Shelf.user, limit: 9)
        #expect(history.map(\.note.outcome) == [.discarded])
        // The past moves on by half a day at a time.
        for _ in 0..<16 { try await shelf.store.forgetReceipts(before: Shelf.moment(101)) }
        #expect(try shelf.store.reader.receipt(ids.0, of: Shelf.user) == nil)
    }

    @Test func `what was in flight at a crash is ready again, its attempt written down`()
        async throws
    {
        let scratch = try Scratch()
        let attempt = Attempt(.create, at: Shelf.moment(3), fingerprint: [7])
        do {
            let shelf = try await Shelf(scratch)
            let wish = Edit.Wish.add(Shelf.snapshot("x"))
            _ = try await shelf.record(wish, "x", as: .inFlight(attempt)).made
            #expect(try shelf.store.reader.nextDue(of: Shelf.user) == nil)
        }
        let shelf = try await Shelf(scratch)
        let change = try #require(try shelf.change("x"))
        #expect(change.state == .ready)
        #expect(change.attempts == [attempt])
        #expect(change.version == 2)
    }

    @Test func `G-AGE a full queue refuses new changes and drops nothing`() async throws {
        var limits = Store.Limits()
        limits.changes = 3
        let shelf = try await Shelf(limits: limits)
        for id in ["a", "b", "c"] { try await shelf.add(id) }
        await #expect(throws: StoreError.queueFull(limit: 3)) { try await shelf.add("d") }
        #expect(try shelf.changes().map(\.cipherID) == ["a", "b", "c"])
        try await shelf.add("d", user: "another")
        let wish = Edit.Wish.update(Shelf.snapshot("more"), changesPassword: false)
        _ = try await shelf.record(wish, "a").made
        // What needs no place is not refused for want of one.
        guard case .unchanged = try await shelf.record(.trash, "nowhere") else {
            Issue.record("There was something to do.")
            return
        }
        let attempt = Attempt(.create, at: Shelf.moment(1))
        let add = Edit.Wish.add(Shelf.snapshot("e"))
        _ = try await shelf.record(add, "e", as: .inFlight(attempt)).made
        // Where upstream is troubled, what is sent at once is likely to wait as well.
        await #expect(throws: StoreError.queueFull(limit: 3)) {
            _ = try await shelf.record(add, "f", as: .inFlight(attempt, needsRoom: true)).made
        }

        limits.changes = 100
        limits.bytes = 10
        let small = try await Shelf(limits: limits)
        try await small.add("a")
        await #expect(throws: StoreError.queueFull(limit: 10)) { try await small.add("b") }
    }

    @Test func `a small limit refuses nothing that is sent at once, and that has an end too`()
        async throws
    {
        var limits = Store.Limits()
        limits.changes = 1
        let shelf = try await Shelf(limits: limits)
        let beginning = Beginning.inFlight(Attempt(.create, at: Shelf.moment(1)))
        try await shelf.add("a")
        for number in 1...1_024 {
            let add = Edit.Wish.add(Shelf.snapshot("x"))
            _ = try await shelf.record(add, "\(number)", as: beginning).made
        }
        await #expect(throws: StoreError.queueFull(limit: 1)) {
            try await shelf.record(.add(Shelf.snapshot("e")), "e", as: beginning)
        }
        let more = Edit.Wish.update(Shelf.snapshot("more"), changesPassword: false)
        _ = try await shelf.record(more, "1", as: beginning).made
        #expect(try shelf.changes().count == 1_025)
    }

    @Test func `the tally is what counting would say, after any history`() async throws {
        let shelf = try await Shelf()
        let chance = SeededChance(seed: Self.seed)
        let wishes: [Edit.Wish] = [
            .trash, .restore, .hardDelete, .archive, .unarchive, .favour(true),
            .update(Shelf.snapshot("n"), changesPassword: false), .add(Shelf.snapshot("n")),
        ]
        for number in 0..<6 { try await shelf.store.putBase(Shelf.base("\(number)")) }
        for _ in 0..<400 {
            let wish = wishes[chance.number(in: 0..<wishes.count)]
            try await shelf.record(wish, "\(chance.number(in: 0..<12))")
            if let change = try shelf.changes().first, chance.number(in: 0..<5) == 0 {
                _ = try await shelf.store.update(change.id, expecting: change.version) {
                    $0.state = .backingOff(until: Shelf.moment(9))
                }
            }
        }
        let changes = try shelf.changes()
        let tally = try shelf.store.reader.tally(of: Shelf.user)
        #expect(tally.reduce(0) { $0 + $1.count } == changes.count, "seed \(Self.seed)")
        for row in tally {
            let counted = changes.count { $0.type == row.type && $0.state.kind == row.state }
            #expect(counted == row.count, "seed \(Self.seed), \(row)")
        }
        #expect(try shelf.store.reader.count(of: Shelf.user) == changes.count)
        let stored = try shelf.store.reader.changes(of: Shelf.user)
        #expect(stored.allSatisfy { $0.hasAgreeingColumns }, "seed \(Self.seed)")
    }

    @Test func `next due is the soonest, and at once if one is ready`() async throws {
        let shelf = try await Shelf()
        for (id, due) in [("a", 70), ("b", 50)] {
            let change = try await shelf.add(id).change
            _ = try await shelf.store.update(change.id, expecting: 1) {
                $0.state = .backingOff(until: Shelf.moment(due))
            }
        }
        #expect(try shelf.store.reader.nextDue(of: Shelf.user) == Shelf.moment(50))
        try await shelf.add("c")
        #expect(try shelf.store.reader.nextDue(of: Shelf.user) == Shelf.moment(0))
    }

    @Test func `a swap that names another version does nothing`() async throws {
        let shelf = try await Shelf()
        let change = try await shelf.add("a").change
        let swap = try await shelf.store.update(change.id, expecting: 7) { $0.failures = 9 }
        guard case .moved(to: 1) = swap else {
            Issue.record("\(swap)")
            return
        }
        #expect(try shelf.change("a")?.failures == 0)
        guard case .missing = try await shelf.store.update("x", expecting: 1, { _ in }) else {
            Issue.record("Something was there.")
            return
        }
    }

    @Test func `a cipher that gets an earlier id of its own again is found by both`() async throws {
        let shelf = try await Shelf()
        for (old, new) in [("made", "first"), ("first", "second"), ("second", "first")] {
            let recorded = try await shelf.edit(old)
            _ = try await shelf.store.settle(
                recorded.change.id,
                in: Shelf.lane(old),
                expecting: recorded.change.version,
                Settlement(
                    upstream: .holds(Shelf.base(new)),
                    receipts: ReceiptEnd(.sent, at: Shelf.moment(1))
                )
            )
        }
        for id in ["made", "first", "second"] {
            #expect(try shelf.store.reader.base(Shelf.lane(id))?.lane.cipherID == "first", "\(id)")
        }
    }
}
