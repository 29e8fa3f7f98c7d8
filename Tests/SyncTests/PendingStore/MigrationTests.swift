import Glibc
import SQLite
import System
import TestSupport
import Testing

@testable import Sync

/// Files of earlier versions are brought up to date, whatever the disk does meanwhile.
@Suite struct MigrationTests {
    private static let file = "holdfast.db"

    private static func written(_ seed: Int) async throws -> FaultyDisk {
        let disk = FaultyDisk(seed: UInt64(seed))
        try await VersionOne.write(to: file, vfs: disk.vfs)
        return disk
    }

    private static func open(_ disk: FaultyDisk) async throws(StoreError) -> Store {
        var options = Store.Options()
        options.database.vfs = disk.vfs
        return try await Store.open(
            file,
            nil,
            options,
            time: SteppedTime(),
            chance: SeededChance(seed: 1)
        )
    }

    /// As it lies there, without a migration.
    private static func look<Answer>(
        at name: String,
        _ disk: FaultyDisk,
        _ body: (Database) throws -> Answer
    ) async throws -> Answer {
        var configuration = Configuration()
        configuration.vfs = disk.vfs
        configuration.isMigratedAtOpen = false
        let database = try await Database.open(
            name,
            migrations: Schema.migrations,
            configuration: configuration
        )
        let answer = try body(database)
        try await database.close()
        return answer
    }

    private static func version(_ database: Database) throws -> Int {
        try database.read { (db) throws(DatabaseError) in
            try db.first("SELECT user_version FROM pragma_user_version") {
                (row) throws(DatabaseError) in try row.int(0)
            } ?? -1
        }
    }

    private static func expectWhole(_ store: Store, _ place: String) throws {
        let (reader, user) = (store.reader, VersionOne.user)
        let layers = try reader.layers(of: user)
        #expect(layers.base == (0..<VersionOne.ciphers).map(VersionOne.cipher), "\(place)")
        #expect(layers.pending.map(\.change) == [VersionOne.change], "\(place)")
        #expect(layers.pending.first?.summary.sequence == 7, "\(place)")
        #expect(try reader.slices(of: user, .folder) == [VersionOne.slice], "\(place)")
        #expect(try reader.accounts() == [StoredAccount(id: user, record: [1, 2])], "\(place)")
        #expect(try reader.setting("colour") == "green", "\(place)")
        #expect(
            try reader.base(Lane(userID: user, cipherID: "made"))?.lane.cipherID == "cipher-11",
            "\(place)"
        )
        #expect(try reader.receipt(VersionOne.receipt, of: user)?.status == .queued, "\(place)")
        #expect(try reader.resolutions(of: user, limit: 9).count == 1, "\(place)")
        #expect(try reader.count(of: user) == 1, "\(place)")
    }

    /// The copy that was made before the first change can be gone back to.
    private static func expectCopy(_ disk: FaultyDisk, _ place: String) async throws {
        let rows = try await look(at: file + ".version-1", disk) { copy in
            #expect(try version(copy) == 1, "\(place)")
            return try copy.read { (db) throws(DatabaseError) in
                try db.first(
                    "SELECT (SELECT count(*) FROM base_cipher), (SELECT count(*) FROM pending_change)"
                ) { (row) throws(DatabaseError) in [try row.int(0), try row.int(1)] }
            }
        }
        #expect(rows == [VersionOne.ciphers, 1], "\(place)")
    }

    @Test func `the first migration still makes what version 1 was`() async throws {
        func tables(_ migration: Migration) async throws -> [String] {
            let scratch = try Scratch()
            let database = try await Database.open(scratch.file("one.db"), migrations: [migration])
            let tables = try database.read { (db) throws(DatabaseError) in
                try db.all("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name") {
                    (row) throws(DatabaseError) in try row.text(0)
                }
            }
            try await database.close()
            return tables
        }
        let frozen = try await tables(VersionOne.migration)
        #expect(frozen.count > 15)
        #expect(try await tables(Schema.migrations[0]) == frozen)
    }

    @Test func `a file of version 1 is brought up to date, with a copy of it first`() async throws {
        let disk = try await Self.written(1)
        let store = try await Self.open(disk)
        try Self.expectWhole(store, "quiet")
        #expect(try await store.database.integrityCheck().isEmpty)
        try await store.close()
        #expect(try await Self.look(at: Self.file, disk, Self.version) == Schema.migrations.count)
        try await Self.expectCopy(disk, "quiet")
    }

    private static func moments() async throws -> Int {
        let disk = try await written(1)
        disk.count(.changing)
        try await open(disk).close()
        return disk.calls
    }

    @Test
    func `G-PCDSV a power cut at any moment of a migration leaves the old file or the new one`()
        async throws
    {
        let moments = try await Self.moments()
        #expect(moments > 20)
        // Several draws for each moment: what a cut leaves behind is chance.
        let versions = try await Trials.run(1...3 * moments) { cut in
            let disk = try await Self.written(cut)
            disk.cut(at: 1 + cut % moments)
            try? await Self.open(disk).close()
            if !disk.isCut { disk.cut() }
            disk.powerOn()
            let place = "cut \(cut) of \(moments) moments"
            let version = try await Self.look(at: Self.file, disk, Self.version)
            if version > 1 { try await Self.expectCopy(disk, place) }
            let store = try await Self.open(disk)
            try Self.expectWhole(store, place)
            #expect(try await store.database.integrityCheck().isEmpty, "\(place)")
            try await store.close()
            try await Self.expectCopy(disk, place)
            return version
        }
        #expect(Set(versions) == Set(1...Schema.migrations.count))
    }

    @Test(arguments: [(ENOSPC, Trouble.diskFull), (EIO, .inputOutput), (EROFS, .readOnly)])
    func `a disk that refuses at any moment of a migration is named, and nothing is half done`(
        _ error: Int32,
        _ trouble: Trouble
    ) async throws {
        let moments = try await Self.moments()
        let refused = try await Trials.run(1...2 * moments) { trial in
            let (moment, times) = ((trial + 1) / 2, trial % 2 == 0 ? 1 : nil)
            let disk = try await Self.written(moment)
            let place = "\(trouble) at \(moment) of \(moments)"
            disk.fail(.changing, at: moment, times: times, error: error)
            let told = await Self.errorOfOpening(disk)
            if let told { #expect(told.trouble == trouble, "\(place): \(told)") }
            disk.heal()
            let version = try await Self.look(at: Self.file, disk, Self.version)
            if version > 1 { try await Self.expectCopy(disk, place) }
            let store = try await Self.open(disk)
            try Self.expectWhole(store, place)
            try await store.close()
            try await Self.expectCopy(disk, place)
            return told != nil
        }
        #expect(refused.count { $0 } > moments)
    }

    private static func errorOfOpening(_ disk: FaultyDisk) async -> DatabaseError? {
        do throws(StoreError) {
            try await open(disk).close()
            return nil
        } catch {
            guard case .database(let cause) = error else {
                Issue.record("\(error)")
                return nil
            }
            return cause
        }
    }

    @Test func `a schema of a later program is refused, and its file stays as it is`() async throws
    {
        let scratch = try Scratch()
        let path = scratch.file(Self.file)
        let later = Migration("of tomorrow") { (db) throws(DatabaseError) in
            try db.execute("ALTER TABLE account ADD COLUMN colour TEXT")
        }
        try await Database.open(path, migrations: Schema.migrations + [later]).close()
        let before = try Files.read(path)
        let known = Schema.migrations.count
        for isMigrated in [true, false] {
            var configuration = Configuration()
            configuration.isMigratedAtOpen = isMigrated
            let error = await #expect(throws: DatabaseError.self) {
                try await Database.open(
                    path,
                    migrations: Schema.migrations,
                    configuration: configuration
                )
            }
            #expect(error?.cause == .newerSchema(found: known + 1, known: known))
        }
        #expect(try Files.read(path) == before)
    }

    @Test func `a damaged file of version 1 is salvaged without being migrated first`()
        async throws
    {
        let scratch = try Scratch()
        let path = scratch.file(Self.file)
        try await VersionOne.write(to: path)
        var bytes = try Files.read(path)
        let mark = Array("{\"id\":\"3\",\"pad\"".utf8)
        let page = try #require(bytes.firstRange(of: mark)).lowerBound / 4_096 * 4_096
        for index in page..<page + 4_096 { bytes[index] = 0xa5 }
        try Files.replace(path, with: bytes)
        let (store, condition) = try await Store.open(
            in: StateDirectory(scratch.path),
            time: SteppedTime(),
            chance: SeededChance(seed: 1)
        )
        guard case .salvaged(1, _) = condition else {
            Issue.record("\(condition)")
            return
        }
        let pending = try store.reader.changes(of: VersionOne.user)
        #expect(pending.map(\.change) == [VersionOne.change])
        #expect(try store.reader.setting("colour") == "green")
        try await store.close()
    }
}
