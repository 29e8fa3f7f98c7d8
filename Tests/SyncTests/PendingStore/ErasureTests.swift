import FoundationEssentials
import Glibc
import SQLite
import System
import TestSupport
import Testing
import Vault

@testable import Sync

/// What is left of an account that was erased: nothing, and everything of the others.
@Suite struct ErasureTests {
    private static let attempt = Attempt(.update, at: Shelf.moment(3), fingerprint: [1])

    @Test(arguments: [Beginning.queued, .inFlight(ErasureTests.attempt)])
    func `an edit that comes after its account was erased is refused and leaves nothing`(
        _ beginning: Beginning
    ) async throws {
        let shelf = try await Shelf()
        try await shelf.fillEveryTable()
        let recorded = try await shelf.edit("a")
        for table in try shelf.rows(of: Shelf.user) { #expect(table.rows > 0, "\(table.name)") }
        try await shelf.store.erase(Shelf.user)
        let wishes: [Edit.Wish] = [
            .add(Shelf.snapshot("b")), .update(Shelf.snapshot("b"), changesPassword: true), .trash,
            .hardDelete, .favour(true),
        ]
        for wish in wishes {
            await #expect(throws: StoreError.noAccount) {
                try await shelf.record(wish, "a", as: beginning)
            }
        }
        #expect("\(StoreError.noAccount)".contains("sign in"))
        // Whoever was under way when it was erased changes nothing any more either.
        let id = recorded.change.id
        #expect(try await !shelf.store.withdraw(recorded, expecting: 1))
        let queued = try await shelf.store.queue(id, expecting: 1, at: Shelf.moment(4)) { _ in }
        #expect(queued.receiptID == nil)
        guard case .missing = try await shelf.store.update(id, expecting: 1, { _ in }) else {
            Issue.record("Something was there.")
            return
        }
        let call = (lane: Shelf.lane("a"), at: Shelf.moment(4))
        _ = try await shelf.store.expectLateCall(.share, of: call.lane, at: call.at)
        try await shelf.store.dropLateCall(.share, of: call.lane, leaving: call.at)
        for table in try shelf.rows(of: Shelf.user) { #expect(table.rows == 0, "\(table.name)") }

        try await shelf.store.put(StoredAccount(id: Shelf.user, record: [2]))
        try await shelf.add("c")
        #expect(try shelf.changes().map(\.cipherID) == ["c"])
    }

    @Test func `I1 an account that has just come is not taken back with what was edited in it`()
        async throws
    {
        let shelf = try await Shelf()
        try await shelf.edit("a")
        #expect(try await !shelf.store.eraseNewcomer(Shelf.user))
        #expect(try shelf.changes().map(\.cipherID) == ["a"])
        try await shelf.signIn("two")
        #expect(try await shelf.store.eraseNewcomer("two"))
        #expect(try shelf.store.reader.accounts().map(\.id) == [Shelf.user])
    }

    @Test func `I1 an edit that came just before its account is erased keeps the account`()
        async throws
    {
        let shelf = try await Shelf()
        try await shelf.fillEveryTable()
        try await shelf.edit("a")
        let before = try shelf.rows(of: Shelf.user).map(\.rows)
        let count = try shelf.store.reader.count(of: Shelf.user)
        let kept = try await shelf.store.erase(Shelf.user, evenIfPending: false)
        #expect(count > 0 && kept == .pending(count))
        #expect(try shelf.rows(of: Shelf.user).map(\.rows) == before)
        let waiting = try shelf.store.reader.tally(of: Shelf.user)
        let erasure = try await shelf.store.erase(Shelf.user)
        #expect(erasure == .erased(discarded: waiting, left: []))
        #expect(try shelf.rows(of: Shelf.user).allSatisfy { $0.rows == 0 })
    }

    /// A store's file with an edit and base of each of these accounts, closed.
    private static func file(of users: [String]) async throws -> [UInt8] {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        try await shelf.byHand("DELETE FROM account")
        for user in users {
            try await shelf.signIn(user)
            for number in 0..<8 {
                let pad = String(repeating: "x", count: 3_000)
                let json = Array("{\"id\":\"\(number)\",\"pad\":\"base of \(user) \(pad)\"}".utf8)
                let lane = Shelf.lane("\(number)", user: user)
                let revision = Shelf.base("\(number)").revision
                try await shelf.store.putBase(
                    BaseCipher(lane: lane, revision: revision, json: json)
                )
            }
            try await shelf.edit("0", user: user)
        }
        try await shelf.store.close()
        return try Files.read(scratch.file(Store.fileName))
    }

    /// The same with the page overwritten on which this stands.
    private static func damaged(_ file: [UInt8], at text: String) throws -> [UInt8] {
        let place = try #require(file.firstRange(of: Array(text.utf8))).lowerBound
        var file = file
        let start = place / 4_096 * 4_096
        for index in start..<start + 4_096 { file[index] = 0xa5 }
        return file
    }

    @Test func `nothing of an account is found in the files after it was erased`() async throws {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        try await shelf.edit("theirs", user: "two")
        let secret = String(repeating: "sealed by one ", count: 1_000)
        for number in 0..<20 {
            try await shelf.record(.add(Shelf.snapshot(secret)), "mine-\(number)")
            try await shelf.store.putBase(Shelf.base("base-of-one-\(number)"))
        }
        func isFound() throws -> Bool {
            try FileManager.default.contentsOfDirectory(atPath: scratch.path).contains { name in
                let bytes = try Files.read(scratch.file(name))
                let note = ErasingNotes.name(of: Shelf.user)
                return ["sealed by one", "mine-", "base-of-one", note].contains {
                    bytes.firstRange(of: Array($0.utf8)) != nil
                }
            }
        }
        #expect(try isFound())
        try await shelf.store.erase(Shelf.user)
        #expect(try !isFound())
        #expect(try shelf.changes("two").map(\.cipherID) == ["theirs"])
        try await shelf.store.close()
        #expect(try !isFound())
    }

    private static func owners(of path: String) async throws -> [String] {
        let file = try await Database.open(path, migrations: Schema.migrations)
        let owners = try file.read { (db) throws(DatabaseError) in
            try db.all(
                """
                SELECT id FROM account UNION SELECT user_id FROM base_cipher
                UNION SELECT user_id FROM pending_change ORDER BY 1
                """
            ) { (row) throws(DatabaseError) in try row.text(0) }
        }
        try await file.close()
        return owners
    }

    private static func eraseOnlyRows(
        of user: String,
        _ isBack: Bool,
        in scratch: Scratch
    ) async throws {
        let shelf = try await Shelf(scratch)
        try await shelf.edit("theirs", user: "two")
        try await shelf.signIn(user)
        _ = try await shelf.store.eraseRows(of: user, evenIfPending: true, isNoted: true)
        if isBack { try await shelf.signIn(user) }
        try await shelf.store.close()
    }

    @Test(arguments: [false, true])
    func `a host that is stopped while it erases an account goes on with the next start`(
        _ isBack: Bool
    ) async throws {
        let scratch = try Scratch()
        let aside = scratch.file("\(Store.fileName).version-1")
        try Files.replace(aside, with: try await Self.file(of: ["one", "two"]))
        try await Self.eraseOnlyRows(of: "one", isBack, in: scratch)
        for _ in 0..<2 {
            let store = try await Store.open(
                in: StateDirectory(scratch.path),
                time: SystemTimekeeper(),
                chance: SeededChance(seed: 2)
            ).store
            let notes = try store.reader.read { (db) throws(DatabaseError) in
                try ErasingNotes.all(db)
            }
            #expect(notes.isEmpty)
            #expect(try store.reader.changes(of: "two").count == 1)
            try await store.close()
            #expect(try await Self.owners(of: aside) == (isBack ? ["one", "two"] : ["two"]))
        }
    }

    @Test func `files that were set aside lose the account's rows and nobody else's`()
        async throws
    {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        try await shelf.edit("mine")
        try await shelf.edit("theirs", user: "two")
        let mixed = try await Self.file(of: ["one", "two"])
        let alone = try await Self.file(of: ["two"])
        let other = try await Self.file(of: ["one"])
        // Of an item without an edit, which has no copy of its base.
        func baseOnly(_ user: String) -> String { #"{"id":"7","pad":"base of \#(user)"# }
        let files = [
            "damaged-1": try Self.damaged(mixed, at: baseOnly("one")),
            "damaged-2": try Self.damaged(alone, at: baseOnly("two")),
            "damaged-3": try Self.damaged(other, at: baseOnly("one")),
            "damaged-4": Array("this is no database at all".utf8),
            "damaged-5-wal": Array("the log of a file that was gone".utf8),
            "version-0": alone,
            "version-1": mixed,
        ]
        func path(_ name: String) -> String { scratch.file("\(Store.fileName).\(name)") }
        for (name, bytes) in files { try Files.replace(path(name), with: bytes) }

        let waiting = try shelf.store.reader.tally(of: "two")
        let erasure = try await shelf.store.erase("two")
        let left = ["damaged-1", "damaged-4", "damaged-5-wal"].map(path)
        #expect(erasure == .erased(discarded: waiting, left: left))
        for name in ["damaged-2", "version-0"] {
            #expect(try !StoreFile.exists(path(name)), "\(name)")
        }
        for name in ["damaged-1", "damaged-3", "damaged-4", "damaged-5-wal"] {
            #expect(try Files.read(path(name)) == files[name], "\(name)")
        }
        try await Self.expectOnly("one", in: try Files.read(path("version-1")))
        #expect(try shelf.changes().map(\.cipherID) == ["mine"])
        try await shelf.store.close()
    }

    @Test func `a copy of an earlier version stays one when an account is taken out`() async throws
    {
        let scratch = try Scratch()
        let path = scratch.file("\(Store.fileName).version-1")
        try await VersionOne.write(to: path)
        var configuration = Configuration()
        configuration.isMigratedAtOpen = false
        func owners(_ change: Bool) async throws -> [Int] {
            let file = try await Database.open(
                path,
                migrations: Schema.migrations,
                configuration: configuration
            )
            if change { try await file.execute("INSERT INTO account VALUES ('other', x'01')") }
            let found = try file.read { (db) throws(DatabaseError) in
                try db.all(
                    """
                    SELECT user_version FROM pragma_user_version
                    UNION ALL SELECT count(*) FROM account
                    UNION ALL SELECT count(*) FROM pending_change
                    """
                ) { (row) throws(DatabaseError) in try row.int(0) }
            }
            try await file.close()
            return found
        }
        #expect(try await owners(true) == [1, 2, 1])
        #expect(try await SetAside(path: path).erase(VersionOne.user))
        #expect(try await owners(false) == [1, 1, 0])
    }

    private static func expectOnly(_ user: String, in file: [UInt8]) async throws {
        let scratch = try Scratch()
        try Files.replace(scratch.file(Store.fileName), with: file)
        let shelf = try await Shelf(scratch)
        #expect(try shelf.changes(user).count == 1)
        #expect(try shelf.store.reader.layers(of: user).base.count == 8)
        for table in try shelf.rows(of: "two") { #expect(table.rows == 0, "\(table.name)") }
        try await shelf.store.close()
    }
}

extension Shelf {
    /// Leaves a row of the account wherever one can be.
    fileprivate func fillEveryTable() async throws {
        let mark = try store.reader.refreshMark(of: Self.user)
        let slices = [BaseSlice(.profile, json: [1])]
        _ = try await store.refresh(Self.user, ciphers: [], slices: slices, since: mark)
        let change = try await add("made").change
        _ = try await store.settle(
            change.id,
            in: Self.lane("made"),
            expecting: change.version,
            Settlement(
                upstream: .holds(Self.base("kept")),
                receipts: ReceiptEnd(.sent, at: Self.moment(1)),
                resolution: ResolutionNote(.pushed, at: Self.moment(1))
            )
        )
    }

    /// How many rows each table has of an account.
    func rows(of user: String) throws -> [(name: String, rows: Int)] {
        try store.database.read { (db) throws(DatabaseError) in
            try db.all(
                """
                SELECT 'pending_change', count(*) FROM pending_change WHERE user_id = ?1 UNION ALL
                SELECT 'pending_tally', count(*) FROM pending_tally WHERE user_id = ?1 UNION ALL
                SELECT 'base_cipher', count(*) FROM base_cipher WHERE user_id = ?1 UNION ALL
                SELECT 'base_slice', count(*) FROM base_slice WHERE user_id = ?1 UNION ALL
                SELECT 'base_removed', count(*) FROM base_removed WHERE user_id = ?1 UNION ALL
                SELECT 'base_clock', count(*) FROM base_clock WHERE user_id = ?1 UNION ALL
                SELECT 'alias', count(*) FROM alias WHERE user_id = ?1 UNION ALL
                SELECT 'receipt', count(*) FROM receipt WHERE user_id = ?1 UNION ALL
                SELECT 'resolution', count(*) FROM resolution WHERE user_id = ?1 UNION ALL
                SELECT 'account', count(*) FROM account WHERE id = ?1
                """,
                .text(user)
            ) { (row) throws(DatabaseError) in (try row.text(0), try row.int(1)) }
        }
    }
}
