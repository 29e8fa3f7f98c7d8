import System
import TestSupport
import Testing
import Vault

@testable import Sync

/// A base row that is not what was written: SQLite does not notice, so the row itself must.
@Suite struct BaseDamageTests {
    @Test(
        arguments: [
            "UPDATE base_cipher SET json = CAST(replace(json, 'true', 'tsue') AS BLOB)",
            "UPDATE base_cipher SET json = x''", "UPDATE base_cipher SET revision_text = 'then'",
            "UPDATE base_cipher SET revision_ticks = revision_ticks + 1",
            "UPDATE base_cipher SET is_trashed = 1 - is_trashed",
            "UPDATE base_cipher SET is_archived = 1 - is_archived",
            "UPDATE base_cipher SET organization_id = 'somebody'",
            "UPDATE base_cipher SET organization_id = NULL",
            "UPDATE base_cipher SET digest = x'00'",
        ] as [StaticString]
    )
    func `no column of a base row can change without being noticed`(
        _ damage: StaticString
    ) async throws {
        let shelf = try await Shelf()
        let cipher = BaseCipher(
            lane: Shelf.lane("a"),
            revision: Shelf.base("a").revision,
            organizationID: "somebody else",
            json: Array(#"{"id":"a","favorite":true}"#.utf8)
        )
        try await shelf.store.putBase(cipher)
        let mark = try shelf.store.reader.refreshMark(of: Shelf.user)
        try await shelf.store.putBase(cipher)
        #expect(try shelf.store.reader.base(cipher.lane) == cipher)
        try await shelf.byHand(damage)
        #expect(try shelf.store.reader.base(cipher.lane)?.isDamaged == true)
        #expect(try shelf.store.reader.layers(of: Shelf.user).base.map(\.isDamaged) == [true])
        // Nothing is made of it, and so nothing of it is ever sent.
        for wish in [Edit.Wish.trash, .update(Shelf.snapshot("b"), changesPassword: false)] {
            guard case .unreadable = try await shelf.record(wish, "a") else {
                Issue.record("It was taken for upstream's word.")
                return
            }
        }
        #expect(try shelf.changes().isEmpty)
        // Even by a refresh that began before it was written: when that was, the row cannot say.
        let report = try await shelf.store.refresh(
            Shelf.user,
            ciphers: [cipher],
            slices: [],
            since: mark
        )
        #expect(report.changed == 1)
        #expect(try shelf.store.reader.base(cipher.lane) == cipher)
        try await shelf.store.close()
    }

    @Test func `a row that came to be by damage goes with the next refresh`() async throws {
        let shelf = try await Shelf()
        let mark = try shelf.store.reader.refreshMark(of: Shelf.user)
        for id in ["a", "b"] { try await shelf.store.putBase(Shelf.base(id)) }
        try await shelf.byHand("UPDATE base_cipher SET cipher_id = 'c' WHERE cipher_id = 'b'")
        let report = try await shelf.store.refresh(
            Shelf.user,
            ciphers: [],
            slices: [],
            since: mark
        )
        #expect(report.removed == 1)
        #expect(try shelf.store.reader.layers(of: Shelf.user).base == [Shelf.base("a")])
        try await shelf.store.close()
    }

    @Test(
        arguments: [
            "UPDATE base_slice SET json = x'01'", "UPDATE base_slice SET id = 'other'",
            "UPDATE base_slice SET user_id = 'user-1', digest = x''",
        ] as [StaticString]
    )
    func `the rest of what upstream said shows damage, too`(_ damage: StaticString) async throws {
        let shelf = try await Shelf()
        let slices = [BaseSlice(.profile, id: "p", json: [0])]
        for isDamaged in [true, false] {
            let mark = try shelf.store.reader.refreshMark(of: Shelf.user)
            _ = try await shelf.store.refresh(Shelf.user, ciphers: [], slices: slices, since: mark)
            if isDamaged { try await shelf.byHand(damage) }
            let found = try shelf.store.reader.slices(of: Shelf.user, .profile)
            #expect(found.map(\.isDamaged) == [isDamaged])
        }
        try await shelf.store.close()
    }

    @Test func `a bit that turns in the file harms the item it belongs to and no other`()
        async throws
    {
        let scratch = try Scratch()
        do {
            let shelf = try await Shelf(scratch)
            for id in ["a", "b", "c"] { try await shelf.store.putBase(Shelf.base(id)) }
            try await shelf.store.close()
        }
        let path = scratch.file(Store.fileName)
        var bytes = try Files.read(path)
        let place = try #require(bytes.firstRange(of: Array(#""id":"b""#.utf8))).lowerBound
        bytes[place + 1] ^= 4
        try Files.replace(path, with: bytes)
        let (store, condition) = try await Store.open(
            in: StateDirectory(scratch.path),
            time: SystemTimekeeper(),
            chance: SeededChance(seed: 2)
        )
        #expect(condition == .whole, "If SQLite finds it by itself, the digest is not needed.")
        let base = try store.reader.layers(of: Shelf.user).base
        #expect(base.map(\.isDamaged) == [false, true, false])
        try await store.close()
    }
}
