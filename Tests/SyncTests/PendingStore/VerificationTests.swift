import MeshSupport
import SQLite
import System
import TestSupport
import Testing
import Vault

@testable import Sync

/// What `holdfast verify` finds, and that it finds nothing where all is well.
@Suite struct VerificationTests {
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
            return try await world.store.verify()
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

    @Test func `a change that cannot be read is found`() async throws {
        let verification = try await Self.verified { world, _, _ in
            try await world.store.database.execute(
                "UPDATE pending_change SET record = x'00' WHERE seq = 1"
            )
        }
        #expect(verification.problems.map(\.check) == [.records])
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
        #expect(try await Store.verify(directory).isWhole)
        #expect(try Files.read(scratch.file("holdfast.db")) == before)
    }
}
