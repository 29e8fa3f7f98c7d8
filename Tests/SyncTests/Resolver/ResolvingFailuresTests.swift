import Crypto
import EmbeddedUpstream
import MeshSupport
import Metrics
import Sync
import Testing
import Vault

/// Rows 87 to 103 of the test map: what is left after a failure.
@Suite(.timeLimit(.minutes(2))) struct ResolvingFailuresTests {
    private static let broken = Fault.Effect.answer(.refusal(500, "broken"), isCarriedOut: false)

    @Test(arguments: Personality.Name.allCases)
    func `row 87: a create that fails stays, and so does what is shown`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let made = try await ada.add(mail)
            await world.server.inject(Fault(Self.broken, on: .createCipher))
            let report = try await ada.run()
            #expect(report.tried == 1 && report.settled == 0 && report.stop == nil)
            let change = try #require(try ada.change(made))
            #expect(change.type == .create && change.failures == 1)
            #expect(try ada.item(made).name == "mail")
        }
    }

    @Test func `row 88: an update whose item cannot be read is not sent`() async throws {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            await world.server.inject(Fault(Self.broken, on: .readCipher))
            try await ada.run()
            #expect(world.wire.requests == ["GET /api/ciphers/\(id)/details"])
            #expect(try ada.change(id)?.type == .update)
        }
    }

    @Test func `row 89: a trash that fails stays`() async throws {
        try await withLogin { world, ada, id in
            try await ada.wish(.trash, id)
            await world.server.inject(Fault(Self.broken, on: .trashCipher))
            try await ada.run()
            #expect(try ada.change(id)?.type == .softDelete)
        }
    }

    @Test func `row 90: a deletion that fails stays`() async throws {
        try await withLogin { world, ada, id in
            try await ada.wish(.hardDelete, id)
            await world.server.inject(Fault(Self.broken, on: .deleteCipher))
            try await ada.run()
            #expect(try ada.change(id)?.type == .hardDelete)
        }
    }

    @Test func `row 91: without its backup nothing is overwritten`() async throws {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.edit(id, password("mine"))
            await world.server.inject(Fault(Self.broken, on: .createCipher))
            try await ada.run()
            #expect(
                world.wire.requests == ["GET /api/ciphers/\(id)/details", "POST /api/ciphers"]
            )
            #expect(try ada.change(id)?.type == .update)
            #expect(try await ada.elsewhere.item(id).login?.password == "theirs")
            let failed = #"holdfast_backups_total{reason="hardConflict",outcome="failed"}"#
            #expect(await world.registry.figure(failed) == 1)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 92: a create, an update and a trash all have their effect`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let other = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            try await ada.add(#"{"type":1,"name":"new"}"#)
            try await ada.edit(id, password("second"))
            try await ada.wish(.trash, other)
            let report = try await ada.run()
            #expect(report.tried == 3 && report.settled == 3)
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.names.contains("new"))
            #expect(try await ada.elsewhere.item(id).login?.password == "second")
            #expect(try await ada.elsewhere.item(other).cipher.isInTrash)
        }
    }

    @Test func `row 93: what succeeds is resolved beside what fails`() async throws {
        try await withLogin { world, ada, id in
            try await ada.add(#"{"type":1,"name":"new"}"#)
            try await ada.edit(id, password("second"))
            await world.server.inject(Fault(Self.broken, on: .readCipher))
            try await ada.run()
            #expect(try ada.changes.map(\.cipherID) == [id])
            #expect(try await ada.elsewhere.names.contains("new"))
        }
    }

    @Test func `row 94: two creates that both fail are both tried and stay`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            try await ada.add(#"{"type":1,"name":"one"}"#)
            try await ada.add(#"{"type":1,"name":"two"}"#)
            var fault = Fault(Self.broken, on: .createCipher)
            fault.times = nil
            await world.server.inject(fault)
            try await ada.run()
            #expect(world.wire.requests == ["POST /api/ciphers", "POST /api/ciphers"])
            #expect(try ada.changes.count == 2)
        }
    }

    /// A change whose content is no cipher.
    private static func record(
        _ wish: (Snapshot) -> Edit.Wish,
        _ id: String,
        _ ada: Person
    ) async throws {
        let junk = Snapshot(
            json: Array("junk".utf8),
            keyFingerprint: Snapshot.fingerprint(of: ada.ring.user)
        )
        try await ada.wish(wish(junk), id)
    }

    @Test func `row 95: a create that cannot be read is not sent and is set aside`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            let made = world.chance.identifier()
            try await Self.record({ .add($0) }, made, ada)
            let before = try #require(try ada.change(made)).intent
            try await ada.run()
            #expect(world.wire.requests.isEmpty)
            let change = try #require(try ada.change(made))
            #expect(change.intent == before && change.state == .quarantined)
            #expect(change.lastFailure?.kind == .undecodable)
            #expect(world.log.lines.contains { $0.contains(made) })
        }
    }

    @Test func `row 96: an update that cannot be read asks nothing`() async throws {
        try await withLogin { world, ada, id in
            try await Self.record({ .update($0, changesPassword: false) }, id, ada)
            try await ada.run()
            #expect(world.wire.requests.isEmpty)
            #expect(try ada.change(id)?.state == .quarantined)
        }
    }

    @Test func `row 97: a change that can be read is resolved beside one that cannot`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let bad = world.chance.identifier()
            try await Self.record({ .add($0) }, bad, ada)
            try await ada.add(#"{"type":1,"name":"good"}"#)
            try await ada.run()
            #expect(try ada.changes.map(\.cipherID) == [bad])
            #expect(try await ada.elsewhere.names == ["good"])
        }
    }

    /// The table refuses a create or an update without content, so an empty one stands for it.
    @Test(arguments: [true, false])
    func `rows 98 and 99: a change without content asks nothing and stays`(
        _ isNew: Bool
    ) async throws {
        try await withLogin { world, ada, id in
            let empty = Snapshot(
                json: [],
                keyFingerprint: Snapshot.fingerprint(of: ada.ring.user)
            )
            let cipher = isNew ? world.chance.identifier() : id
            try await ada.wish(
                isNew ? .add(empty) : .update(empty, changesPassword: false),
                cipher
            )
            try await ada.run()
            #expect(world.wire.requests.isEmpty)
            #expect(try ada.change(cipher) != nil)
        }
    }

    @Test func `row 101: a backup's name ends in the time of the copy that gave way`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            let revision = try #require(try await ada.elsewhere.item(id).cipher.revisionDate)
            try await ada.edit(id, password("mine"))
            try await ada.run()
            let stamp = revision.prefix(19).replacing("T", with: " ")
            #expect(try await ada.elsewhere.names.sorted() == ["mail", "mail - \(stamp)"])
        }
    }
}
