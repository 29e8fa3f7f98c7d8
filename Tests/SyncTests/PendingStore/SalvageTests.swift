import FoundationEssentials
import Glibc
import SQLite
import System
import TestSupport
import Testing
import Vault

@testable import Sync

@Suite struct SalvageTests {
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
            let found = try store.changes(of: Shelf.user)
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
        #expect(try store.accounts().map(\.id) == [Shelf.user])
        #expect(try store.setting("colour") == "green")
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

    @Test func `R-008 no file holds a secret that only its ciphertext was given of`() async throws {
        let secrets = ["correct horse battery staple", "totp-seed-JBSWY3DPEHPK3PXP"]
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        for (number, secret) in secrets.enumerated() {
            let hidden = secret.utf8.map { String($0 ^ 0x5a, radix: 16) }.joined()
            try await shelf.record(.add(Shelf.snapshot(hidden)), "item-\(number)")
        }
        try await shelf.store.copyPending()
        let paths = try FileManager.default.subpathsOfDirectory(atPath: scratch.path)
        #expect(paths.count >= 4, "There is a log and a copy: \(paths)")
        for path in paths {
            let bytes = try Files.read(scratch.file(path))
            for secret in secrets { #expect(!bytes.contains(secret), "\(path)") }
        }
        try await shelf.store.close()
    }
}

extension [UInt8] {
    fileprivate func contains(_ text: String) -> Bool {
        let pattern = Array(text.utf8)
        guard count >= pattern.count else { return false }
        return indices.dropLast(pattern.count - 1).contains { start in
            self[start] == pattern[0]
                && self[start..<(start + pattern.count)].elementsEqual(pattern)
        }
    }
}
