import SQLite
import Testing
import Vault

@testable import Sync

@Suite struct RefreshTests {
    @Test func `R-013 a refresh replaces base and leaves what is pending`() async throws {
        let shelf = try await Shelf()
        try await shelf.edit("a", to: "mine")
        try await shelf.store.putBase(Shelf.base("gone"))
        let before = try shelf.changes()
        let mark = try shelf.store.reader.refreshMark(of: Shelf.user)
        let report = try await shelf.store.refresh(
            Shelf.user,
            ciphers: [Shelf.base("a", ticks: 20), Shelf.base("new", ticks: 20)],
            slices: [BaseSlice(.folder, id: "f", json: [1]), BaseSlice(.profile, json: [2])],
            since: mark
        )
        #expect(report.changed == 2)
        #expect(report.removed == 1)
        #expect(try shelf.changes() == before)
        let layers = try shelf.store.reader.layers(of: Shelf.user)
        #expect(layers.base.map(\.lane.cipherID) == ["a", "new"])
        #expect(layers.base.first?.revision.text == "revision 20")
        #expect(try shelf.store.reader.slices(of: Shelf.user, .folder).map(\.json) == [[1]])
    }

    @Test func `G-SS2 what was written while the refresh was under way stays`() async throws {
        let shelf = try await Shelf()
        for id in ["edited", "deleted", "idle"] {
            try await shelf.store.putBase(Shelf.base(id))
        }
        let mark = try shelf.store.reader.refreshMark(of: Shelf.user)
        try await shelf.store.putBase(Shelf.base("edited", ticks: 50))
        try await shelf.store.putBase(Shelf.base("created", ticks: 50))
        try await shelf.store.removeBase(Shelf.lane("deleted"))
        let old = ["edited", "deleted", "idle"].map { Shelf.base($0, ticks: 30) }
        _ = try await shelf.store.refresh(Shelf.user, ciphers: old, slices: [], since: mark)
        let base = try shelf.store.reader.layers(of: Shelf.user).base
        #expect(base.map(\.lane.cipherID) == ["created", "edited", "idle"])
        #expect(base.map(\.revision.moment.ticks) == [50, 50, 30])

        let next = try shelf.store.reader.refreshMark(of: Shelf.user)
        let now = ["edited", "deleted"].map { Shelf.base($0, ticks: 60) }
        _ = try await shelf.store.refresh(Shelf.user, ciphers: now, slices: [], since: next)
        let after = try shelf.store.reader.layers(of: Shelf.user).base
        #expect(after.map(\.lane.cipherID) == ["deleted", "edited"])
    }

    @Test func `a folder that goes takes its items out of it as they are then, and no others`()
        async throws
    {
        let shelf = try await Shelf()
        func base(_ id: String, in folder: String, ticks: Int64, isTrashed: Bool = false)
            -> BaseCipher
        {
            let json = #"{"id":"\#(id)","type":2,"folderId":"\#(folder)","note":"in gone"}"#
            return BaseCipher(
                lane: Shelf.lane(id),
                revision: Revision(text: "revision \(ticks)", moment: Moment(ticks: ticks)),
                isTrashed: isTrashed,
                json: Array(json.utf8)
            )
        }
        try await shelf.store.putSlice(BaseSlice(.folder, id: "gone", json: [1]), of: Shelf.user)
        try await shelf.store.putBase(base("in", in: "gone", ticks: 5))
        try await shelf.store.putBase(base("out", in: "other", ticks: 5))
        let mark = try shelf.store.reader.refreshMark(of: Shelf.user)
        try await shelf.store.putBase(base("in", in: "gone", ticks: 9, isTrashed: true))
        try await shelf.store.removeFolder("gone", of: Shelf.user)
        let old = [base("in", in: "gone", ticks: 5), base("out", in: "other", ticks: 5)]
        _ = try await shelf.store.refresh(Shelf.user, ciphers: old, slices: [], since: mark)
        let rows = try shelf.store.reader.layers(of: Shelf.user).base
        #expect(rows.map(\.lane.cipherID) == ["in", "out"])
        #expect(rows.map { try? Cipher($0.json).folderID } == [nil, "other"])
        #expect(rows.first?.revision.text == "revision 9")
        #expect(rows.first?.isTrashed == true)
        #expect(try shelf.store.reader.slices(of: Shelf.user, .folder).isEmpty)
    }

    @Test func `what waits goes into no folder that is deleted meanwhile`() async throws {
        let shelf = try await Shelf()
        func snapshot(_ folder: String) -> Snapshot {
            let json = #"{"id":"x","type":2,"name":"2.n","folderId":"\#(folder)"}"#
            return Snapshot(json: Array(json.utf8), keyFingerprint: [1])
        }
        try await shelf.record(.add(snapshot("gone")), "made")
        try await shelf.record(.add(snapshot("other")), "elsewhere")
        for id in ["edited", "moved"] { try await shelf.store.putBase(Shelf.base(id)) }
        try await shelf.record(.update(snapshot("gone"), changesPassword: false), "edited")
        try await shelf.record(.move(.id("gone")), "moved")
        try await shelf.store.removeFolder("gone", of: Shelf.user)
        func folder(_ id: String) throws -> String? {
            let snapshot = try #require(try shelf.change(id)?.intent.snapshot)
            return try Cipher(snapshot.json).folderID
        }
        #expect(try folder("made") == nil && folder("edited") == nil)
        #expect(try folder("elsewhere") == "other")
        #expect(try shelf.change("moved")?.intent == .nothing)
        #expect(try shelf.change("made")?.version == 2)
        #expect(try shelf.change("elsewhere")?.version == 1)
    }

    @Test
    func `T-49 what waits goes into its folder, though a list does not show that: it may be old`()
        async throws
    {
        let shelf = try await Shelf()
        let folder = BaseSlice(.folder, id: "new", json: [1])
        try await shelf.store.putSlice(folder, of: Shelf.user)
        try await shelf.store.putBase(Shelf.base("a"))
        let recorded = try await shelf.record(.move(.id("new")), "a")
        let mark = try shelf.store.reader.refreshMark(of: Shelf.user)
        _ = try await shelf.store.refresh(Shelf.user, ciphers: [], slices: [], since: mark)
        #expect(try shelf.store.reader.slices(of: Shelf.user, .folder).isEmpty)
        #expect(try shelf.change("a") == recorded.made.change)
    }

    @Test func `G-SS2, T-08 a folder that was written while the refresh was under way stays`()
        async throws
    {
        let shelf = try await Shelf()
        func folder(_ id: String, _ byte: UInt8) -> BaseSlice {
            BaseSlice(.folder, id: id, json: [byte])
        }
        func folders() throws -> [String: [UInt8]] {
            let slices = try shelf.store.reader.slices(of: Shelf.user, .folder)
            return Dictionary(uniqueKeysWithValues: slices.map { ($0.id, $0.json) })
        }
        let old = [folder("renamed", 1), folder("deleted", 1), folder("idle", 1)]
        for slice in old { try await shelf.store.putSlice(slice, of: Shelf.user) }
        let mark = try shelf.store.reader.refreshMark(of: Shelf.user)
        try await shelf.store.putSlice(folder("renamed", 2), of: Shelf.user)
        try await shelf.store.putSlice(folder("created", 2), of: Shelf.user)
        try await shelf.store.removeSlice(.folder, id: "deleted", of: Shelf.user)
        let first = try await shelf.store.refresh(Shelf.user, ciphers: [], slices: old, since: mark)
        #expect(try folders() == ["renamed": [2], "created": [2], "idle": [1]])
        #expect(first.kept == 3, "Something in the answer may be younger still.")

        let next = try shelf.store.reader.refreshMark(of: Shelf.user)
        let now = [folder("renamed", 3), folder("deleted", 3)]
        _ = try await shelf.store.refresh(Shelf.user, ciphers: [], slices: now, since: next)
        #expect(try folders() == ["renamed": [3], "deleted": [3]])
    }

    @Test func `a folder that is gone leaves nothing of an account that is erased`() async throws {
        let shelf = try await Shelf()
        try await shelf.store.erase(Shelf.user)
        try await shelf.store.removeSlice(.folder, id: "f", of: Shelf.user)
        let rows = try shelf.store.reader.read { (db) throws(DatabaseError) in
            try db.first(
                "SELECT (SELECT count(*) FROM slice_removed) + (SELECT count(*) FROM base_clock)"
            ) { (row) throws(DatabaseError) in try row.int(0) }
        }
        #expect(rows == 0)
    }

    @Test func `a refresh of one account leaves the others`() async throws {
        let shelf = try await Shelf()
        for user in ["one", "two"] { try await shelf.signIn(user) }
        try await shelf.store.putBase(Shelf.base("x", user: "two"))
        let mark = try shelf.store.reader.refreshMark(of: "one")
        _ = try await shelf.store.refresh("one", ciphers: [], slices: [], since: mark)
        #expect(try shelf.store.reader.base(Shelf.lane("x", user: "two")) != nil)
    }

    /// As on a store of whole seconds.
    @Test
    func `what others had a hand in is not this host's own because its stamp was known for that`()
        async throws
    {
        let shelf = try await Shelf()
        func settle(_ base: BaseCipher, isSeen: Bool) async throws -> Moment? {
            let change = try await shelf.edit("a").change
            let settlement = Settlement(
                upstream: .holds(base),
                receipts: ReceiptEnd(.sent, at: Shelf.moment(5)),
                isSeen: isSeen
            )
            let settled = try await shelf.store.settle(
                change.id,
                in: change.lane,
                expecting: change.version,
                settlement
            )
            guard case .settled = settled else { throw Unsettled(settled: settled) }
            return try shelf.store.reader.ownHistory(of: base)
        }
        let own = Shelf.base("a", ticks: 20)
        #expect(try await settle(own, isSeen: true) == Shelf.moment(10))
        let theirs = BaseCipher(
            lane: own.lane,
            revision: own.revision,
            json: Array(#"{"id":"a","type":1,"name":"theirs"}"#.utf8)
        )
        #expect(try await settle(theirs, isSeen: false) == nil)
        #expect(try shelf.store.reader.base(own.lane) == theirs)
    }

    @Test func `what comes late does not bring an erased account back`() async throws {
        let shelf = try await Shelf()
        let change = try await shelf.edit("a").change
        let mark = try shelf.store.reader.refreshMark(of: Shelf.user)
        try await shelf.store.erase(Shelf.user)
        let late = try await shelf.store.refresh(
            Shelf.user,
            ciphers: [Shelf.base("a")],
            slices: [BaseSlice(.profile, json: [2])],
            since: mark
        )
        #expect(late.changed == 0)
        try await shelf.store.putBase(Shelf.base("a"))
        try await shelf.store.removeBase(Shelf.lane("a"))
        let end = ReceiptEnd(.sent, at: Shelf.moment(5))
        let settlement = Settlement(upstream: .holds(Shelf.base("b")), receipts: end)
        _ = try await shelf.store.settle(change.id, in: change.lane, expecting: 1, settlement)
        for table in try shelf.rows(of: Shelf.user) { #expect(table.rows == 0, "\(table.name)") }
        #expect(try shelf.store.reader.refreshMark(of: Shelf.user).written >= mark.written)
    }
}

private struct Unsettled: Error {
    let settled: Settled
}

extension PendingChange {
    fileprivate var lane: Lane { Lane(userID: userID, cipherID: cipherID) }
}
