import Crypto
import MeshSupport
import SQLite
import System
import TestSupport
import Testing
import Vault

@testable import Sync

/// What `holdfast verify` finds, and that it finds nothing where all is well.
@Suite(.timeLimit(.minutes(2))) struct VerificationTests {
    private static func verified(
        _ harm: @Sendable (World, Home, String) async throws -> Void = { _, _, _ in }
    ) async throws -> Verification {
        try await World.open { world in
            let ada = try await world.person()
            let id = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let home = try await ada.home()
            world.wire.isCut = true
            _ = try await home.add(note)
            _ = try await home.update(id, password("second"))
            try await harm(world, home, id)
            return try await world.store.verify(accounts: { _ in [] })
        }
    }

    @Test func `a store in use is whole, and what is in it is counted`() async throws {
        let verification = try await Self.verified()
        #expect(verification.isWhole, "\(verification.problems)")
        #expect(verification.accounts == 1 && verification.items == 1)
        #expect(verification.changes == 2)
    }

    @Test func `a string that is not encrypted is found, and not shown`() async throws {
        let verification = try await Self.verified { world, home, id in
            let base = try #require(try home.person.base(id))
            let json = #"{"id":"\#(id)","type":1,"name":"in the clear","revisionDate":""}"#
            let plain = BaseCipher(
                lane: base.lane,
                revision: base.revision,
                json: Array(json.utf8)
            )
            try await world.store.putBase(plain)
        }
        #expect(verification.problems.map(\.check) == [.plaintext])
        #expect(verification.problems.first?.text.contains("name is not encrypted") == true)
        #expect(verification.problems.first?.text.contains("in the clear") == false)
    }

    @Test func `a string that is encrypted and damaged tells nobody anything`() async throws {
        let damaged = "2.AAAA|BBBB|CCCC"
        let verification = try await Self.verified { world, home, id in
            let base = try #require(try home.person.base(id))
            let json = #"{"id":"\#(id)","type":1,"name":"\#(damaged)","revisionDate":""}"#
            let cipher = BaseCipher(
                lane: base.lane,
                revision: base.revision,
                json: Array(json.utf8)
            )
            try await world.store.putBase(cipher)
            let folder = BaseSlice(.folder, id: "one", json: Array(#"{"name":"\#(damaged)"}"#.utf8))
            try await world.store.putSlice(folder, of: home.person.userID)
        }
        #expect(verification.isWhole, "\(verification.problems)")
    }

    @Test func `a change that cannot be read is found`() async throws {
        let verification = try await Self.verified { world, _, _ in
            try await world.store.database.execute(
                "UPDATE pending_change SET record = x'00' WHERE seq = 1"
            )
        }
        #expect(verification.problems.map(\.check) == [.records])
    }

    @Test(
        arguments: [
            "UPDATE brought_up SET left_out = x'00'",
            "UPDATE brought_up SET left_out = x'7b7d'",
            "UPDATE brought_up SET left_out_digest = x'00'",
        ] as [StaticString]
    )
    func `what was written over, and is still to be kept as a copy, is looked at as well`(
        _ damage: StaticString
    ) async throws {
        for isDamaged in [false, true] {
            let verification = try await Self.verified { world, _, _ in
                try await world.store.database.execute(
                    """
                    INSERT OR REPLACE INTO brought_up (user_id, cipher_id, is_gone, settled_ticks,
                        key_fingerprint, left_out, left_out_digest)
                    SELECT user_id, cipher_id, 0, 0, x'', json, digest FROM base_cipher
                    """
                )
                if isDamaged { try await world.store.database.execute(damage) }
            }
            #expect(verification.problems.map(\.check) == (isDamaged ? [.journal] : []))
        }
    }

    @Test func `a receipt whose change is gone, and a count that is wrong, are found`()
        async throws
    {
        let verification = try await Self.verified { world, _, _ in
            try await world.store.database.execute("UPDATE receipt SET pending_id = 'nobody'")
            try await world.store.database.execute("UPDATE pending_tally SET count = count + 1")
        }
        let texts = verification.problems.map(\.text)
        #expect(texts.count { $0.hasPrefix("Receipt ") } == 2)
        #expect(texts.contains { $0.contains("are counted and 2 are there") })
    }

    @Test func `whoever knows what records say is asked about all of them`() async throws {
        let shelf = try await Shelf()
        try await shelf.signIn("user-2")
        let verification = try await shelf.store.verify { accounts in
            accounts.map { "\($0.id) has \($0.record)" }
        }
        let texts = verification.problems.map(\.text)
        #expect(verification.accounts == 2)
        #expect(texts == ["user-1 has [1]", "user-2 has [1]"])
        #expect(verification.problems.allSatisfy { $0.check == .records })
        try await shelf.store.close()
    }

    @Test func `changes of an account that is not here are found and counted`() async throws {
        let verification = try await Self.verified { world, _, _ in
            try await world.store.database.execute("DELETE FROM account")
        }
        #expect(verification.accounts == 0 && verification.changes == 2)
        #expect(verification.problems.map(\.check) == [.journal])
        #expect(verification.problems.first?.text.hasSuffix("not here, wait: 2.") == true)
    }

    @Test func `what is kept beside the items and is no JSON is found, whatever its kind`()
        async throws
    {
        let verification = try await Self.verified { world, home, _ in
            for kind in BaseSlice.Kind.allCases {
                let slice = BaseSlice(kind, id: "some", json: [1])
                try await world.store.putSlice(slice, of: home.person.userID)
            }
        }
        let texts = BaseSlice.Kind.allCases.map {
            "What is kept of the \($0.rawValue) some is no JSON object."
        }
        #expect(verification.problems.map(\.text) == texts)
        #expect(verification.problems.allSatisfy { $0.check == .journal })
    }

    @Test(
        arguments: [
            "UPDATE base_slice SET json = x'7b7d' WHERE kind = 'folder'",
            "UPDATE base_slice SET id = 'other' WHERE kind = 'folder'",
            "UPDATE base_slice SET digest = x'' WHERE kind = 'folder'",
        ] as [StaticString]
    )
    func `a folder that is not as it was written is found`(
        _ damage: StaticString
    ) async throws {
        let verification = try await Self.verified { world, home, _ in
            let folder = BaseSlice(.folder, id: "one", json: Array(#"{"name":""}"#.utf8))
            try await world.store.putSlice(folder, of: home.person.userID)
            try await world.store.database.execute(damage)
        }
        #expect(verification.problems.map(\.check) == [.journal])
        #expect(verification.problems.first?.text.contains("not as it was written") == true)
    }

    @Test func `what was forgotten beneath a change has to be encrypted, and an item`() async throws
    {
        for (json, check) in [
            (#"{"id":"a","type":1,"name":"in the clear"}"#, Verification.Check.plaintext),
            ("{", .journal),
        ] {
            let verification = try await Self.verified { world, home, _ in
                let change = try #require(try home.person.changes.first)
                _ = try await world.store.update(change.id, expecting: change.version) {
                    $0.forgotten = Snapshot(json: Array(json.utf8), keyFingerprint: [])
                }
            }
            #expect(verification.problems.map(\.check) == [check])
            #expect(verification.problems.first?.text.contains("forgotten beneath") == true)
        }
    }

    @Test(
        arguments: [
            (.folder, #"{"name":"in the clear"}"#, "name"),
            (.collection, #"{"Name":"in the clear"}"#, "name"),
            (.send, #"{"name":"in the clear"}"#, "name"),
            (.send, #"{"notes":"in the clear"}"#, "notes"),
            (.send, #"{"text":{"text":"in the clear"}}"#, "text.text"),
            (.send, #"{"text":"in the clear"}"#, "text.text"),
            (.send, #"{"file":{"fileName":"in the clear"}}"#, "file.fileName"),
        ] as [(BaseSlice.Kind, String, String)]
    )
    func `the rest of what upstream said has to be encrypted, too`(
        _ kind: BaseSlice.Kind,
        _ json: String,
        _ place: String
    ) async throws {
        let verification = try await Self.verified { world, home, _ in
            let slice = BaseSlice(kind, id: "one", json: Array(json.utf8))
            try await world.store.putSlice(slice, of: home.person.userID)
        }
        #expect(verification.problems.map(\.check) == [.plaintext])
        let text = "In the \(kind.rawValue) one, \(place) is not encrypted."
        #expect(verification.problems.map(\.text) == [text])
    }

    @Test func `what is encrypted is in order, and so is what everybody may read`() async throws {
        let pieces = [16, 16, 32].map { Base64.text(of: [UInt8](repeating: 7, count: $0)) }
        let sealed = "2." + pieces.joined(separator: "|")
        let slices: [(BaseSlice.Kind, String)] = [
            (.folder, #"{"name":"\#(sealed)"}"#), (.collection, #"{"name":"\#(sealed)"}"#),
            (
                .send,
                #"{"name":"\#(sealed)","notes":null,"key":"\#(sealed)","file":null,"#
                    + #""text":{"text":"\#(sealed)","hidden":false}}"#
            ),
            (.organization, #"{"name":"club"}"#), (.profile, #"{"name":"Ada"}"#),
            (.domains, "{}"), (.policy, #"{"type":1}"#),
        ]
        let verification = try await Self.verified { world, home, _ in
            for (kind, json) in slices {
                let slice = BaseSlice(kind, id: "one", json: Array(json.utf8))
                try await world.store.putSlice(slice, of: home.person.userID)
            }
        }
        #expect(verification.isWhole, "\(verification.problems)")
    }

    @Test func `an edit that was on its way when the host was killed is in order without receipt`()
        async throws
    {
        let verification = try await Self.verified { world, home, _ in
            _ = try await home.person.addAtOnce(note)
            try await world.store.prepare()
        }
        #expect(verification.isWhole, "\(verification.problems)")
        #expect(verification.changes == 3)
    }

    private static func close(_ shelf: consuming Shelf) async throws {
        try await shelf.store.close()
    }

    @Test func `the state of a host that does not run is looked at and left as it is`()
        async throws
    {
        let scratch = try Scratch()
        try await Self.close(Shelf(scratch))
        let before = try Files.read(scratch.file("holdfast.db"))
        let directory = try StateDirectory(scratch.path)
        #expect(try await Store.verify(directory, accounts: { _ in [] }).isWhole)
        #expect(try Files.read(scratch.file("holdfast.db")) == before)
    }

    @Test(arguments: 1..<Schema.migrations.count)
    func `a file of an earlier version is looked through as it is`(
        _ version: Int
    ) async throws {
        let scratch = try Scratch()
        let path = scratch.file("holdfast.db")
        try await VersionOne.write(to: path)
        if version > 1 {
            let known = Array(Schema.migrations.prefix(version))
            try await Database.open(path, migrations: known).close()
        }
        let before = try Files.read(path)
        let directory = try StateDirectory(scratch.path)
        let older = try await Store.verify(directory, accounts: { _ in [] })
        #expect(try Files.read(path) == before)
        try await Database.open(path, migrations: Schema.migrations).close()
        let latest = try await Store.verify(directory, accounts: { _ in [] })
        #expect(older.problems == latest.problems)
        #expect(older.accounts == 1 && older.items == VersionOne.ciphers && older.changes == 1)
        withExtendedLifetime(directory) {}
    }
}
