import EmbeddedUpstream
import JSON
import MeshSupport
import Sync
import Testing
import Vault

/// Rows 25 to 33 and 66 of the test map: an item is added.
@Suite(.timeLimit(.minutes(2))) struct AddingTests {
    @Test(arguments: Outage.allCases)
    func `rows 25, 28, 29 and T-44, T-45: what cannot be added is kept`(
        _ outage: Outage
    ) async throws {
        try await atHome { world, home, _ in
            await outage.begin(world, on: .createCipher)
            let written = try await home.add(note)
            #expect(written.isQueued)
            let change = try #require(try home.person.changes.first)
            #expect(try home.person.changes.count == 1)
            #expect(change.type == .create && change.baseline == nil)
            #expect(change.passwordChanges == 0 && change.state == .ready)
            let item = try #require(try await home.view(written.value)).item
            #expect(item.name == "note" && item.notes == "kept")
            #expect(try await home.list.map(\.item.name) == ["mail", "note"])
        }
    }

    @Test func `row 26: what is added offline has one id everywhere`() async throws {
        try await atHome { world, home, _ in
            world.wire.isCut = true
            let id = try await home.add(note).value
            let change = try #require(try home.person.changes.first)
            #expect(change.cipherID == id)
            let snapshot = try #require(change.intent.snapshot)
            #expect(try Cipher(snapshot.json).id == id)
            #expect(try await home.view(id)?.item.flaws.isEmpty == true)
        }
    }

    @Test func `row 27: what belongs to an organisation is not kept`() async throws {
        try await atHome { world, home, id in
            try await home.person.elsewhere.share(id)
            try await home.person.refresh()
            world.wire.isCut = true
            let refusal = try await refusal { try await home.edit(.trash(id)) }
            #expect(refusal?.isOutage == true)
            #expect(try home.person.changes.isEmpty)
        }
    }

    @Test(arguments: Rebuff.allCases)
    func `rows 30 and 31: what upstream refuses is refused, and leaves nothing`(
        _ rebuff: Rebuff
    ) async throws {
        try await atHome { world, home, _ in
            await rebuff.begin(world, on: .createCipher)
            let refusal = try await refusal { try await home.add(note) }
            #expect(rebuff.isHeard(in: refusal))
            #expect(try home.person.changes.isEmpty)
            #expect(try await home.list.map(\.item.name) == ["mail"])
            #expect(try home.person.resolutions.isEmpty)
        }
    }

    @Test(arguments: [
        Switches(offlineChanges: false, resolution: true),
        Switches(offlineChanges: true, resolution: false),
    ])
    func `rows 32, 33 and 118: with a switch off nothing is kept`(
        _ switches: Switches
    ) async throws {
        try await atHome(.bitwarden, switches) { world, home, _ in
            world.wire.isCut = true
            let refusal = try await refusal { try await home.add(note) }
            #expect(refusal?.isOutage == true)
            #expect(try home.person.changes.isEmpty)
            #expect(try await home.list.map(\.item.name) == ["mail"])
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 66: what is added online is upstream and nowhere else`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, _ in
            let written = try await home.add(note)
            #expect(!written.isQueued)
            #expect(world.wire.requests == ["POST /api/ciphers"])
            #expect(try home.person.changes.isEmpty)
            #expect(try home.person.base(written.value) != nil)
            #expect(try await home.person.elsewhere.names.sorted() == ["mail", "note"])
            #expect(try home.person.resolutions.isEmpty)
        }
    }

    /// A server that knows no archive leaves the date out, and has no such call.
    @Test(arguments: Personality.Name.allCases)
    func `P3: what is made and then may not be archived is there once, and the rest of it waits`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, _ in
            let ada = home.person
            for operation in [Operation.createCipher, .readCipher] {
                let dateless = Reshaping(["archivedDate"], .set(.null))
                var fault = Fault(.reshape([dateless]), on: operation)
                fault.times = nil
                await world.server.inject(fault)
            }
            await world.server.inject(FailureScopeTests.refusal(400, on: .archiveCipher))
            let written = try await home.add(
                #"{"type":2,"name":"note","notes":"kept","secureNote":{"type":0},"#
                    + #""archivedDate":"2026-01-01T00:00:00.000Z"}"#
            )
            #expect(written.isQueued)
            #expect(try ada.changes.map(\.cipherID) == [written.value])
            #expect(try await home.list.map(\.item.name) == ["mail", "note"])
            for _ in 0..<3 {
                world.time.pass(.seconds(901))
                try await ada.run()
            }
            #expect(try ada.changes.map(\.state) == [.quarantined])
            #expect(try ada.changes.map(\.lastFailure?.kind) == [.rejected])
            #expect(try await ada.elsewhere.names.sorted() == ["mail", "note"])
        }
    }

    @Test func `T-30: what is made again after it was dropped is another item`() async throws {
        try await atHome { world, home, _ in
            world.wire.isCut = true
            let first = try await home.add(note).value
            _ = try await home.edit(.delete(first))
            let second = try await home.add(note).value
            #expect(first != second)
            world.wire.isCut = false
            _ = try await home.person.run()
            #expect(try await home.person.elsewhere.names.sorted() == ["mail", "note"])
            #expect(try await home.view(first) == nil)
        }
    }
}
