import FoundationEssentials
import Glibc
import SQLite
import System
import TestSupport
import Testing
import Vault

@testable import Sync

@Suite(.timeLimit(.minutes(2))) struct SalvageTests {
    private static let seed: UInt64 = 9
    private static let changes = 120

    private static func fill(_ scratch: Scratch, copying: Bool) async throws {
        let shelf = try await Shelf(scratch)
        try await shelf.store.put(StoredAccount(id: Shelf.user, record: [1, 2]))
        try await shelf.store.set("colour", to: "green")
        for number in 0..<changes {
            let padding = String(repeating: "x", count: 1_500)
            let wish = Edit.Wish.add(Shelf.snapshot("\(number)-\(padding)"))
            _ = try await shelf.record(wish, "item-\(number)").made
        }
        if copying { try await shelf.store.copyPending() }
        try await shelf.store.close()
    }

    private static func damage(_ path: String, at offset: Int, count: Int) throws {
        let descriptor = Glibc.open(path, O_WRONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let noise = [UInt8](repeating: 0xa5, count: count)
        #expect(pwrite(descriptor, noise, count, off_t(offset)) == count)
    }

    private static func open(
        _ scratch: Scratch
    ) async throws -> (store: Store, condition: Store.Condition) {
        try await Store.open(
            in: StateDirectory(scratch.path),
            time: SystemTimekeeper(),
            chance: SeededChance(seed: seed)
        )
    }

    @Test func `G-CORR a page that is overwritten takes nothing along when there is a copy`()
        async throws
    {
        let chance = SeededChance(seed: Self.seed)
        var salvaged = 0
        for round in 0..<6 {
            let scratch = try Scratch()
            try await Self.fill(scratch, copying: true)
            let path = scratch.file(Store.fileName)
            let pages = try StoreFile.size(of: path) / 4_096
            let page = round == 0 ? 0 : chance.number(in: 1..<pages)
            try Self.damage(path, at: page * 4_096, count: 4_096)
            let (store, condition) = try await Self.open(scratch)
            let found = try store.reader.changes(of: Shelf.user)
            #expect(
                found.count == Self.changes && found.allSatisfy { $0.change != nil },
                "seed \(Self.seed), round \(round), page \(page): \(found.count)"
            )
            let ids = found.map(\.summary.lane.cipherID)
            #expect(ids == (0..<Self.changes).map { "item-\($0)" })
            if case .salvaged(_, let damaged) = condition {
                salvaged += 1
                #expect(FileManager.default.fileExists(atPath: damaged))
            }
            try await store.close()
        }
        #expect(salvaged >= 3)
    }

    enum Loss: CaseIterable { case gone, empty, withoutTables }

    @Test(arguments: Loss.allCases, [true, false])
    func
        `G-CORR a file that is gone, or has nothing in it, is taken from the copy, looked at or not`(
            _ loss: Loss,
            _ isLookedAt: Bool
        ) async throws
    {
        let scratch = try Scratch()
        try await Self.fill(scratch, copying: true)
        let path = scratch.file(Store.fileName)
        StoreFile.remove(path)
        switch loss {
        case .gone: break
        case .empty: try Files.replace(path, with: [])
        case .withoutTables: try await Database.open(path, migrations: []).close()
        }
        if isLookedAt, loss != .gone {
            let before = try Files.read(path)
            let verification = try await Store.verify(
                StateDirectory(scratch.path),
                accounts: { _ in [] }
            )
            #expect(verification.problems.map(\.check) == [.database])
            #expect(verification.problems.first?.text.contains("from its copy") == true)
            #expect(try Files.read(path) == before)
        }
        let (store, condition) = try await Self.open(scratch)
        #expect(condition == .restored(changes: Self.changes))
        #expect(try store.reader.changes(of: Shelf.user).count == Self.changes)
        try await store.close()
        #expect(try SetAside.all(beside: path).isEmpty)
    }

    @Test func `a database that a link leads to is not gone while its disk is away`() async throws {
        let (scratch, disk) = (try Scratch(), try Scratch())
        try await Self.fill(scratch, copying: true)
        let (path, there) = (scratch.file(Store.fileName), disk.file("there.db"))
        try Files.replace(there, with: Files.read(path))
        #expect(unlink(path) == 0 && symlink(there, path) == 0)
        #expect(rename(there, there + ".away") == 0)
        let error = await #expect(throws: StoreError.self) { try await Self.open(scratch) }
        #expect(error?.description.contains("mounted") == true, "\(String(describing: error))")
        #expect(rename(there + ".away", there) == 0)
        let (store, condition) = try await Self.open(scratch)
        #expect(condition == .whole)
        #expect(try store.reader.count(of: Shelf.user) == Self.changes)
        try await store.close()
    }

    @Test func `without a copy, only what lies on the damaged page is missing`() async throws {
        let scratch = try Scratch()
        try await Self.fill(scratch, copying: false)
        let path = scratch.file(Store.fileName)
        let pages = try StoreFile.size(of: path) / 4_096
        try Self.damage(path, at: (pages / 2) * 4_096, count: 4_096)
        let (store, condition) = try await Self.open(scratch)
        guard case .salvaged(let count, _) = condition else {
            Issue.record("The damage was not found.")
            return
        }
        #expect(count >= Self.changes - 4)
        #expect(try store.reader.accounts().map(\.id) == [Shelf.user])
        #expect(try store.reader.setting("colour") == "green")
        try await store.close()
    }

    @Test func `a damaged page of the accounts takes no other account along`() async throws {
        let scratch = try Scratch()
        let path = scratch.file(Store.fileName)
        // Two lie on a page, and those of one page are far apart in the order of their names.
        let ids = (0..<60).map { "account-\($0 * 37 % 60)" }
        do {
            let shelf = try await Shelf(scratch)
            let record = [UInt8](repeating: 7, count: 1_500)
            for id in ids { try await shelf.store.put(StoredAccount(id: id, record: record)) }
            try await shelf.add("a")
            try await shelf.store.close()
        }
        let page = try #require(try Self.leaf(with: ids[30], in: path))
        try Self.damage(path, at: page * 4_096, count: 4_096)
        let (store, condition) = try await Self.open(scratch)
        guard case .salvaged(1, _) = condition else {
            Issue.record("\(condition)")
            return
        }
        let found = try Set(store.reader.accounts().map(\.id))
        let lost = ids.filter { !found.contains($0) }
        #expect(lost.contains(ids[30]) && lost.count <= 3, "\(lost)")
        #expect(found.contains(Shelf.user))
        try await store.close()
    }

    /// The page of a table, and not of an index, on which a text lies.
    private static func leaf(with text: String, in path: String) throws -> Int? {
        let (bytes, wanted) = (try Files.read(path), Array(text.utf8))
        return (1..<bytes.count / 4_096).first { page in
            let part = bytes[page * 4_096..<(page + 1) * 4_096]
            return part.first == 13 && part.firstRange(of: wanted) != nil
        }
    }

    @Test
    func `what is remembered of changes that are over comes along, for nothing else tells it`()
        async throws
    {
        let scratch = try Scratch()
        try await Self.fill(scratch, copying: false)
        let path = scratch.file(Store.fileName)
        do {
            let shelf = try await Shelf(scratch)
            for row in Self.remembered { try await shelf.byHand(row) }
            try await shelf.store.close()
        }
        let pages = try StoreFile.size(of: path) / 4_096
        try Self.damage(path, at: (pages / 2) * 4_096, count: 4_096)
        let (store, condition) = try await Self.open(scratch)
        #expect(condition != .whole)
        for question: StaticString in [
            "SELECT count(*) FROM brought_up WHERE left_out = x'7b7d' AND is_exposed = 2",
            "SELECT count(*) FROM stray WHERE fingerprint = x'01' AND keeper_id = 'a'",
            "SELECT count(*) FROM late_call WHERE kind = 'share'",
            "SELECT count(*) FROM backup_file WHERE attachment_id = 'file'",
            "SELECT count(*) FROM alias WHERE made_id = 'made'",
        ] {
            let found = try store.database.read { (db) throws(DatabaseError) in
                try db.first(question) { (row) throws(DatabaseError) in try row.int(0) }
            }
            #expect(found == 1, "\(question)")
        }
        try await store.close()
    }

    private static let remembered: [StaticString] = [
        """
        INSERT INTO brought_up (user_id, cipher_id, is_gone, settled_ticks, key_fingerprint,
            left_out, left_out_digest, is_exposed)
        VALUES ('user-1', 'a', 0, 1, x'01', x'7b7d', x'02', 2)
        """,
        "INSERT INTO stray VALUES ('user-1', x'01', 'a', 1)",
        "INSERT INTO late_call VALUES ('user-1', 'a', 'share', 1)",
        "INSERT INTO backup_file VALUES ('user-1', 'copy', 'file', 'a', 0, 1)",
        "INSERT INTO alias VALUES ('user-1', 'made', 'a')",
    ]

    @Test(arguments: [false, true])
    func `thousands that are carried over need no thousands of flushes`(
        _ isOlder: Bool
    ) async throws {
        let scratch = try Scratch()
        let path = scratch.file(Store.fileName)
        try await Shelf(scratch).store.close()
        let old = try Files.read(path)
        try await Self.fill(scratch, copying: true)
        if isOlder {
            StoreFile.remove(path)
            try Files.replace(path, with: old)
        } else {
            try Self.damage(path, at: 0, count: 4_096)
        }
        let commits = Lock(0)
        var options = Store.Options()
        options.database.observer = Observer(
            timekeeper: SystemTimekeeper(),
            committed: { _ in commits.withLock { $0 += 1 } }
        )
        let (store, _) = try await Store.open(
            in: StateDirectory(scratch.path),
            options: options,
            time: SystemTimekeeper(),
            chance: SeededChance(seed: Self.seed)
        )
        #expect(try store.reader.count(of: Shelf.user) == Self.changes)
        #expect(commits.withLock(\.self) < Self.changes / 4)
        try await store.close()
    }

    @Test func `a file of something else is set aside too`() async throws {
        let scratch = try Scratch()
        try await Self.fill(scratch, copying: true)
        try String(repeating: "not a database ", count: 2_000)
            .write(toFile: scratch.file(Store.fileName), atomically: false, encoding: .utf8)
        let (store, condition) = try await Self.open(scratch)
        guard case .salvaged(Self.changes, _) = condition else {
            Issue.record("\(condition)")
            return
        }
        // Whether they were sent since the copy was made is for upstream to say.
        let found = try store.reader.changes(of: Shelf.user)
        #expect(found.allSatisfy { $0.change?.mayHaveLanded(.create) == true })
        try await store.close()
    }

    @Test func `a schema of a newer program is refused and left alone`() async throws {
        let scratch = try Scratch()
        try await Self.fill(scratch, copying: true)
        do {
            let shelf = try await Shelf(scratch)
            try await shelf.store.database.write { (db) throws(DatabaseError) in
                try db.execute(script: "PRAGMA user_version = 99")
            }
            try await shelf.store.close()
        }
        await #expect(throws: StoreError.self) { try await Self.open(scratch) }
        #expect(FileManager.default.fileExists(atPath: scratch.file(Store.fileName)))
    }

    @Test func `what was in flight is ready again after a salvage too`() async throws {
        let scratch = try Scratch()
        try await Self.fill(scratch, copying: false)
        do {
            let shelf = try await Shelf(scratch)
            let attempt = Attempt(.trash, at: Shelf.moment(7))
            let wish = Edit.Wish.update(Shelf.snapshot("sent"), changesPassword: false)
            try await shelf.record(wish, "item-0", as: .inFlight(attempt))
            try await shelf.store.close()
        }
        let path = scratch.file(Store.fileName)
        let pages = try StoreFile.size(of: path) / 4_096
        try Self.damage(path, at: (pages / 2) * 4_096, count: 4_096)
        let (store, condition) = try await Self.open(scratch)
        #expect(condition != .whole)
        let change = try #require(try store.reader.change(in: Shelf.lane("item-0"))?.change)
        #expect(change.state == .ready && change.mayHaveLanded(.trash))
        try await store.close()
    }

    @Test func `who is stopped before the salvaged file is whole begins anew`() async throws {
        let scratch = try Scratch()
        try await Self.fill(scratch, copying: true)
        let path = scratch.file(Store.fileName)
        try Self.damage(path, at: 0, count: 4_096)
        try Files.replace(path + ".salvage", with: Array("half a file".utf8))
        let (store, condition) = try await Self.open(scratch)
        guard case .salvaged(Self.changes, _) = condition else {
            Issue.record("\(condition)")
            return
        }
        for draft in [".salvage", ".salvaged"] {
            #expect(try !StoreFile.exists(path + draft))
        }
        try await store.close()
    }

    @Test func `where a damaged file lies is told even if the start fails after that`()
        async throws
    {
        let scratch = try Scratch()
        try await Self.fill(scratch, copying: true)
        let path = scratch.file(Store.fileName)
        try Self.damage(path, at: 0, count: 4_096)
        let told = Lock<[String]>([])
        var options = Store.Options()
        options.setAside = { aside in
            told.withLock { $0.append(aside) }
            _ = unlink(path) == 0 && mkdir(path, 0o700) == 0
        }
        await #expect(throws: StoreError.self) {
            try await Store.open(
                in: StateDirectory(scratch.path),
                options: options,
                time: SystemTimekeeper(),
                chance: SeededChance(seed: Self.seed)
            )
        }
        #expect(try told.withLock(\.self) == SetAside.all(beside: path).map(\.path))
        #expect(told.withLock(\.count) == 1)
    }

    @Test(arguments: [false, true])
    func `who is stopped while the salvaged file takes its place ends that first`(
        _ isOutOfTheWay: Bool
    ) async throws {
        let scratch = try Scratch()
        try await Self.fill(scratch, copying: false)
        let path = scratch.file(Store.fileName)
        try Files.replace(path + ".salvaged", with: Files.read(path))
        try Self.damage(path, at: 0, count: 4_096)
        // The log of the damaged file must not get into the hands of the other.
        try Files.replace(path + "-wal", with: Array("a log".utf8))
        if isOutOfTheWay { #expect(rename(path, path + ".damaged-1") == 0) }
        let (store, condition) = try await Self.open(scratch)
        guard case .salvaged(Self.changes, let damaged) = condition else {
            Issue.record("\(condition)")
            return
        }
        #expect(try Files.read(damaged + "-wal") == Array("a log".utf8))
        #expect(try !StoreFile.exists(path + ".salvaged"))
        #expect(try store.reader.count(of: Shelf.user) == Self.changes)
        try await store.close()
    }

    @Test(
        arguments: [
            "UPDATE pending_change SET state = 'asleep' WHERE seq = 3",
            """
            UPDATE pending_change SET state = 'inFlight', due_ticks = NULL, version = -5
            WHERE seq = 3
            """,
        ] as [StaticString]
    )
    func `a row that was forced past its constraints is set aside, and nothing is missing`(
        _ force: StaticString
    ) async throws {
        let scratch = try Scratch()
        try await Self.fill(scratch, copying: false)
        do {
            let shelf = try await Shelf(scratch)
            try await shelf.byHand("PRAGMA ignore_check_constraints = ON")
            try await shelf.byHand(force)
            try await shelf.store.close()
        }
        let (store, condition) = try await Self.open(scratch)
        guard case .salvaged(Self.changes, _) = condition else {
            Issue.record("\(condition)")
            return
        }
        let found = try store.reader.changes(of: Shelf.user)
        #expect(found.map(\.summary.lane.cipherID) == (0..<Self.changes).map { "item-\($0)" })
        #expect(found.filter { $0.summary.state == .quarantined }.map(\.summary.sequence) == [3])
        #expect(found.allSatisfy { $0.change != nil && $0.summary.version > 0 })
        // They hold again for whoever writes now.
        await #expect(throws: DatabaseError.self) {
            try await store.database.execute("UPDATE pending_change SET state = 'asleep'")
        }
        try await store.close()
    }

    @Test(
        arguments: [
            "UPDATE pending_change SET version = -1", "UPDATE pending_change SET id = 'short'",
            "UPDATE pending_change SET user_id = ''", "UPDATE pending_change SET cipher_id = ''",
            "UPDATE pending_change SET snapshot = NULL",
            "UPDATE pending_change SET change_type = 'hardDelete'",
            "UPDATE pending_change SET baseline_ticks = 4, password_changes = -1",
        ] as [StaticString]
    )
    func `the copy has what was forced past its constraints, set aside`(
        _ force: StaticString
    ) async throws {
        let (scratch, other) = (try Scratch(), try Scratch())
        let shelf = try await Shelf(scratch)
        try await shelf.add("a")
        try await shelf.byHand("PRAGMA ignore_check_constraints = ON")
        try await shelf.byHand(force)
        let copy = other.file(Store.fileName)
        try await shelf.store.copyPending(to: copy)
        try await shelf.store.close()
        let (store, condition) = try await Self.open(other)
        #expect(condition == .whole)
        let states = try store.reader.tally().map(\.state)
        #expect(states == [.quarantined], "\(force)")
        try await store.close()
    }

    @Test(arguments: [false, true])
    func `a damaged file of a newer program is no reason to begin with an empty one`(
        _ isCopyNewer: Bool
    ) async throws {
        let scratch = try Scratch()
        try await Self.fill(scratch, copying: true)
        let path = scratch.file(Store.fileName)
        let newer = isCopyNewer ? scratch.file(Store.copyName) : path
        try await Self.makeNewer(newer)
        let pages = try StoreFile.size(of: path) / 4_096
        try Self.damage(path, at: (pages / 2) * 4_096, count: 4_096)
        let before = try Files.read(path)
        let error = await #expect(throws: StoreError.self) { try await Self.open(scratch) }
        guard case .database(let cause) = error else {
            Issue.record("It is something else.")
            return
        }
        #expect(cause.trouble == .newerSchema)
        #expect(cause.operation == "open \(newer)")
        #expect(try Files.read(path) == before)
    }

    private static func makeNewer(_ path: String) async throws {
        let database = try await Database.open(path, migrations: Schema.migrations)
        try await database.write { (db) throws(DatabaseError) in
            try db.execute(script: "PRAGMA user_version = 99")
        }
        try await database.close()
    }

    @Test
    func `whoever is refused for a newer program's copy hears which file it is, and the way back`()
        async throws
    {
        let scratch = try Scratch()
        try await Self.fill(scratch, copying: true)
        let copy = scratch.file(Store.copyName)
        try await Self.makeNewer(copy)
        let error = await #expect(throws: StoreError.self) { try await Self.open(scratch) }
        let text = try #require(error).description
        #expect(text.hasPrefix("open \(copy): the schema has version 99"), "\(text)")
        #expect(
            text.contains("first move holdfast.db, its -wal and -shm, and pending-copy.db away")
        )
    }

    @Test func `a count that went wrong is right again after a start`() async throws {
        let scratch = try Scratch()
        try await Self.fill(scratch, copying: false)
        do {
            let shelf = try await Shelf(scratch)
            try await shelf.byHand("UPDATE pending_tally SET count = 0, bytes = 1")
            await #expect(throws: StoreError.self) { try await shelf.discard("item-0") }
            try await shelf.store.close()
        }
        let (store, condition) = try await Self.open(scratch)
        #expect(condition == .whole)
        #expect(try store.reader.count(of: Shelf.user) == Self.changes)
        for change in try store.reader.changes(of: Shelf.user).compactMap(\.change) {
            _ = try await store.discard(change.id, expecting: change.version, at: store.now)
        }
        #expect(try store.reader.count(of: Shelf.user) == 0)
        #expect(try store.reader.tally().isEmpty)
        try await store.close()
    }

    @Test func `a number that two changes have loses neither`() async throws {
        let (one, two) = (try await Shelf(), try await Shelf(seed: 2))
        try await one.add("a")
        try await two.add("b")
        let row = try #require(try PendingRows.row(1, in: two.store.database))
        #expect(try await one.store.write { (db) throws(DatabaseError) in try row.insert(db) })
        #expect(try await !one.store.write { (db) throws(DatabaseError) in try row.insert(db) })
        #expect(try one.changes().map(\.cipherID) == ["a", "b"])
    }
}
