import CSQLite
import FoundationEssentials
import Glibc
import SQLite
import System
import TestSupport
import Testing
import Vault

@testable import Sync

/// What a file has lost that its copy still has, and what it only seems to have lost.
@Suite struct LaterCopyTests {
    private static func open(
        _ scratch: Scratch
    ) async throws -> (store: Store, condition: Store.Condition) {
        try await Store.open(
            in: StateDirectory(scratch.path),
            time: SystemTimekeeper(),
            chance: SeededChance(seed: 4)
        )
    }

    private static func putBack(_ old: [UInt8], at path: String) throws {
        StoreFile.remove(path)
        try Files.replace(path, with: old)
    }

    /// SQLite itself, without anything that this program forbids it.
    private static func bySQLite(_ path: String, _ scripts: String...) throws {
        for script in scripts {
            var opened: OpaquePointer?
            #expect(sqlite3_open(path, &opened) == SQLITE_OK)
            defer { sqlite3_close(opened) }
            let code = sqlite3_exec(opened, "PRAGMA writable_schema = ON; " + script, nil, nil, nil)
            #expect(code == SQLITE_OK, "\(script): \(String(cString: sqlite3_errmsg(opened)))")
        }
    }

    private static func ciphers(_ store: Store) throws -> [String] {
        try store.reader.changes(of: Shelf.user).map(\.summary.lane.cipherID)
    }

    @Test func `F41 what came after an older file is taken from the copy, and asked about first`()
        async throws
    {
        let scratch = try Scratch()
        let path = scratch.file(Store.fileName)
        do {
            let shelf = try await Shelf(scratch)
            try await shelf.add("a")
            try await shelf.add("b")
            try await shelf.store.close()
        }
        let old = try Files.read(path)
        do {
            let shelf = try await Shelf(scratch, seed: 2)
            let first = try #require(try shelf.changes().first)
            _ = try await shelf.store.discard(
                first.id,
                expecting: first.version,
                at: .init(ticks: 9)
            )
            try await shelf.add("c")
            try await shelf.edit("a", to: "again")
            let later = Edit.Wish.update(Shelf.snapshot("later"), changesPassword: false)
            try await shelf.record(later, "b")
            try await shelf.store.copyPending()
            try await shelf.store.close()
        }
        try Self.putBack(old, at: path)
        do {
            let (store, condition) = try await Self.open(scratch)
            #expect(condition == .caughtUp(changes: 3))
            #expect(try Self.ciphers(store) == ["b", "c", "a"])
            let folded = try #require(try store.reader.change(in: Shelf.lane("b"))?.change)
            #expect(folded.intent.snapshot == Shelf.snapshot("later"))
            #expect(folded.type == .create && folded.mayHaveLanded(.create))
            let late = try #require(try store.reader.change(in: Shelf.lane("c"))?.change)
            #expect(late.mayHaveLanded(.create))
            let again = try #require(try store.reader.change(in: Shelf.lane("a"))?.change)
            #expect(again.type == .update)
            try await store.copyPending()
            try await store.close()
        }
        let (next, calm) = try await Self.open(scratch)
        #expect(calm == .whole)
        #expect(try Self.ciphers(next).count == 3)
        try await next.close()
    }

    @Test func `F41 what an older file has waiting is asked about first as well`() async throws {
        let scratch = try Scratch()
        let path = scratch.file(Store.fileName)
        do {
            let shelf = try await Shelf(scratch)
            try await shelf.add("a")
            try await shelf.store.close()
        }
        let old = try Files.read(path)
        do {
            let shelf = try await Shelf(scratch, seed: 2)
            try await shelf.discard("a")
            try await shelf.add("b")
            try await shelf.store.copyPending()
            try await shelf.store.close()
        }
        for _ in 0..<2 {
            try Self.putBack(old, at: path)
            let (store, condition) = try await Self.open(scratch)
            #expect(condition == .caughtUp(changes: 1))
            #expect(try Self.ciphers(store) == ["a", "b"])
            let waiting = try #require(try store.reader.change(in: Shelf.lane("a"))?.change)
            #expect(waiting.mayHaveLanded(.create) && waiting.attempts.count == 1)
            try await store.copyPending()
            try await store.close()
        }
    }

    @Test func `F41 a receipt of what an older file had waiting ends with what came later`()
        async throws
    {
        let scratch = try Scratch()
        let path = scratch.file(Store.fileName)
        let receipt: String
        do {
            let shelf = try await Shelf(scratch)
            receipt = try #require(try await shelf.edit("a", to: "earlier").receiptID)
            try await shelf.store.close()
        }
        let old = try Files.read(path)
        do {
            let shelf = try await Shelf(scratch, seed: 2)
            try await shelf.discard("a")
            try await shelf.edit("a", to: "later")
            try await shelf.store.copyPending()
            try await shelf.store.close()
        }
        try Self.putBack(old, at: path)
        let (store, condition) = try await Self.open(scratch)
        #expect(condition == .caughtUp(changes: 1))
        let change = try #require(try store.reader.change(in: Shelf.lane("a"))?.change)
        #expect(change.intent.snapshot == Shelf.snapshot("later"))
        let ended = try #require(try store.reader.receipt(receipt, of: Shelf.user))
        #expect(ended.status == .superseded && ended.ended != nil)
        try await store.close()
    }

    @Test
    func `F41 what was edited after the file was gone outlives that an older one is put back`()
        async throws
    {
        let scratch = try Scratch()
        let path = scratch.file(Store.fileName)
        do {
            let shelf = try await Shelf(scratch)
            for id in ["a", "b"] {
                try await shelf.add(id)
                try await shelf.discard(id)
            }
            try await shelf.store.copyPending()
            try await shelf.store.close()
        }
        let old = try Files.read(path)
        StoreFile.remove(path)
        do {
            let shelf = try await Shelf(scratch, seed: 2)
            try await shelf.add("c")
            try await shelf.store.copyPending()
            try await shelf.store.close()
        }
        try Self.putBack(old, at: path)
        let (store, condition) = try await Self.open(scratch)
        #expect(condition == .caughtUp(changes: 1))
        #expect(try Self.ciphers(store) == ["c"])
        try await store.close()
    }

    @Test func `a change that has taken another's place between two steps of a copy is in it`()
        async throws
    {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        let (draft, former) = (scratch.file("draft.db"), scratch.file("former.db"))
        try await shelf.edit("a")
        try await shelf.store.writeDraft(draft, after: former)
        try await shelf.discard("a")
        let later = try await shelf.edit("a", to: "later").change
        try await shelf.store.writeDraft(draft, after: former)
        let copy = try await Database.open(draft, migrations: Schema.migrations)
        let rows = try PendingRows.sequences(in: copy).found.map {
            try PendingRows.row($0, in: copy)
        }
        #expect(rows.map { $0?.id } == [later.id])
        try await copy.close()
        try await shelf.store.close()
    }

    @Test func `what was discarded since the copy was made stays discarded after a salvage`()
        async throws
    {
        let scratch = try Scratch()
        let path = scratch.file(Store.fileName)
        do {
            let shelf = try await Shelf(scratch)
            for number in 0..<40 {
                let text = "\(number)" + String(repeating: "x", count: 1_500)
                _ = try await shelf.record(.add(Shelf.snapshot(text)), "item-\(number)").made
            }
            try await shelf.store.copyPending()
            for change in try shelf.changes().suffix(3) {
                let moment = SystemTimekeeper().now
                _ = try await shelf.store.discard(
                    change.id,
                    expecting: change.version,
                    at: Moment(moment)
                )
            }
            try await shelf.store.close()
        }
        try Self.damagePage(of: "item-5", in: path)
        for _ in 0..<2 {
            let (store, _) = try await Self.open(scratch)
            #expect(try Set(Self.ciphers(store)) == Set((0..<37).map { "item-\($0)" }))
            try await store.close()
        }
    }

    @Test func `what is offered to upstream again is not taken for what was over before`()
        async throws
    {
        let scratch = try Scratch()
        let path = scratch.file(Store.fileName)
        do {
            let shelf = try await Shelf(scratch)
            let padding = String(repeating: "x", count: 1_500)
            for number in 0..<10 {
                let wish = Edit.Wish.add(Shelf.snapshot("\(number)\(padding)"))
                _ = try await shelf.record(wish, "item-\(number)").made
            }
            try await shelf.byHand(
                """
                INSERT INTO brought_up (user_id, cipher_id, is_gone, settled_ticks, key_fingerprint)
                VALUES ('user-1', 'offered', 0, 150, x'01')
                """
            )
            let offering = Offering(
                userID: Shelf.user,
                fetched: [],
                mark: RefreshMark(written: 0),
                judge: .locked,
                now: Shelf.moment(200),
                chance: SeededChance(seed: 5)
            )
            try await shelf.store.write { (db) throws(DatabaseError) in
                try offering.begin(
                    .create(Shelf.snapshot("again\(padding)"), .none),
                    Shelf.lane("offered"),
                    on: nil,
                    at: Shelf.moment(100),
                    reopening: Shelf.moment(0)...Shelf.moment(1),
                    db
                )
            }
            try await shelf.store.copyPending()
            try await shelf.store.close()
        }
        try Self.damagePage(of: "offered", in: path)
        let (store, _) = try await Self.open(scratch)
        #expect(try Self.ciphers(store).count == 11)
        #expect(try store.reader.change(in: Shelf.lane("offered"))?.change?.type == .create)
        try await store.close()
    }

    private static func damagePage(of text: String, in path: String) throws {
        let page = try page(of: text, in: path)
        let descriptor = Glibc.open(path, O_WRONLY)
        defer { close(descriptor) }
        let noise = [UInt8](repeating: 0xa5, count: 4_096)
        #expect(pwrite(descriptor, noise, 4_096, off_t(page * 4_096)) == 4_096)
    }

    /// Where a text lies.
    private static func page(of text: String, in path: String) throws -> Int {
        let bytes = try Files.read(path)
        let wanted = Array(text.utf8)
        // On a leaf of a table; what an index has is not enough.
        let page = (2..<bytes.count / 4_096).reversed().first { page in
            let part = bytes[page * 4_096..<(page + 1) * 4_096]
            return part.first == 13 && part.firstRange(of: wanted) != nil
        }
        return try #require(page, "\(text) is nowhere.")
    }

    @Test func `an index that lacks a row is made anew, and no row is missed`() async throws {
        let scratch = try Scratch()
        let path = scratch.file(Store.fileName)
        do {
            let shelf = try await Shelf(scratch)
            for id in ["a", "b", "c"] { try await shelf.add(id) }
            try await shelf.store.putBase(Shelf.base("base"))
            try await shelf.store.close()
        }
        var root = 0
        do {
            let database = try await Database.open(path, migrations: Schema.migrations)
            root = try #require(
                try database.read { (db) throws(DatabaseError) in
                    try db.first(
                        "SELECT rootpage FROM sqlite_schema WHERE name = 'pending_of_user'"
                    ) { (row) throws(DatabaseError) in try row.int(0) }
                }
            )
            try await database.close()
        }
        try Self.bySQLite(
            path,
            "DELETE FROM sqlite_schema WHERE name = 'pending_of_user'",
            "UPDATE pending_change SET seq = 100 WHERE seq = 2",
            """
            INSERT INTO sqlite_schema VALUES ('index', 'pending_of_user', 'pending_change', \(root),
            'CREATE INDEX pending_of_user ON pending_change (user_id)')
            """
        )
        let directory = try StateDirectory(scratch.path)
        let found = try await Store.verify(directory, accounts: { _ in [] })
        #expect(found.problems.contains { $0.text.contains("pending_of_user") })
        withExtendedLifetime(directory) {}
        let (store, condition) = try await Store.open(
            in: directory,
            time: SystemTimekeeper(),
            chance: SeededChance(seed: 4)
        )
        guard case .mended = condition else {
            Issue.record("\(condition)")
            return
        }
        #expect(try Set(Self.ciphers(store)) == ["a", "b", "c"])
        #expect(try store.reader.layers(of: Shelf.user).base.count == 1)
        #expect(try await store.database.integrityCheck().isEmpty)
        try await store.close()
    }

    @Test(arguments: ["resolution", "pending_of_user", "stray"])
    func `G-CORR what the schema says of other things takes no change along`(
        _ name: String
    ) async throws {
        let scratch = try Scratch()
        let path = scratch.file(Store.fileName)
        do {
            let shelf = try await Shelf(scratch)
            for id in ["a", "b", "c"] { try await shelf.add(id) }
            try await shelf.store.close()
        }
        try Self.bySQLite(path, "UPDATE sqlite_schema SET sql = 'CREATE ((' WHERE name = '\(name)'")
        let (store, condition) = try await Self.open(scratch)
        guard case .salvaged(3, _) = condition else {
            Issue.record("\(condition)")
            return
        }
        #expect(try Self.ciphers(store) == ["a", "b", "c"])
        #expect(try store.reader.accounts().map(\.id) == [Shelf.user])
        try await store.close()
    }

    /// What a bit that turns may spoil of a row.
    enum Spoilt: CaseIterable, Sendable {
        case snapshot, id, type, record

        var sql: StaticString {
            switch self {
            case .snapshot: "UPDATE pending_change SET snapshot = x'007b7d' WHERE seq = 1"
            case .id: "UPDATE pending_change SET id = 'x' || substr(id, 2) WHERE seq = 1"
            case .type: "UPDATE pending_change SET change_type = 'creatf' WHERE seq = 1"
            case .record: "UPDATE pending_change SET record = x'ff' WHERE seq = 1"
            }
        }
    }

    @Test(arguments: [false, true], Spoilt.allCases)
    func `F38 a change whose bytes are spoilt is taken from the copy of last time`(
        _ isSetAside: Bool,
        _ part: Spoilt
    ) async throws {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        try await shelf.add("a")
        try await shelf.add("b")
        try await shelf.store.copyPending()
        try await shelf.byHand(part.sql)
        let spoilt = try #require(try shelf.store.reader.change(in: Shelf.lane("a")))
        #expect(spoilt.change?.foreignType != nil || spoilt.change == nil)
        if isSetAside {
            let summary = spoilt.summary
            _ = try await shelf.store.quarantineUnreadable(summary.id, expecting: summary.version)
        }
        for _ in 0..<2 { try await shelf.store.copyPending() }
        let mended = try #require(try shelf.store.reader.change(in: Shelf.lane("a"))?.change)
        #expect(mended.intent.snapshot == Shelf.snapshot("a") && mended.foreignType == nil)
        #expect(mended.state == .ready && mended.mayHaveLanded(.create))
        #expect(try shelf.changes().count == 2)
        try await shelf.store.close()
    }

    @Test
    func `F38 an account that is erased takes no other's change along that only the copy has`()
        async throws
    {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        try await shelf.add("a")
        try await shelf.add("b", user: "other")
        try await shelf.store.copyPending()
        try await shelf.byHand("UPDATE pending_change SET snapshot = x'007b7d' WHERE seq = 1")
        _ = try await shelf.store.erase("other", evenIfPending: true)
        let mended = try #require(try shelf.store.reader.change(in: Shelf.lane("a"))?.change)
        #expect(mended.intent.snapshot == Shelf.snapshot("a"))
        try await shelf.store.close()
    }

    @Test func `F38 what was edited since is set aside, and the copy keeps what it has`()
        async throws
    {
        let scratch = try Scratch()
        do {
            let shelf = try await Shelf(scratch)
            try await shelf.add("a")
            try await shelf.store.copyPending()
            try await shelf.edit("a", to: "later")
            try await shelf.edit("a", to: "latest")
            try await shelf.byHand("UPDATE pending_change SET snapshot = x'007b7d'")
            for _ in 0..<2 { try await shelf.store.copyPending() }
            #expect(try shelf.store.reader.change(in: Shelf.lane("a"))?.change == nil)
            try await shelf.store.close()
        }
        StoreFile.remove(scratch.file(Store.fileName))
        let (store, condition) = try await Self.open(scratch)
        #expect(condition == .restored(changes: 1))
        let kept = try store.reader.change(in: Shelf.lane("a"))?.change
        #expect(kept?.intent.snapshot == Shelf.snapshot("a"))
        try await store.close()
    }
}
