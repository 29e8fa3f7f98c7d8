import EmbeddedUpstream
import MeshSupport
@testable import Sync
import Testing
import Vault

/// A person has a change tried once more, wherever it is just then.
@Suite(.timeLimit(.minutes(2))) struct MakingReadyTests {
    /// Has the change made ready while such a request is on its way.
    ///
    /// - Returns: What is answered, once that comes.
    private static func retry(
        _ changeID: String,
        of id: String,
        during ending: String,
        _ home: Home
    ) throws -> AsyncStream<Bool> {
        let ada = home.person
        let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
        ada.world.wire.interrupt(ending, isCarriedOut: true) {
            let version = try ada.change(id)?.version
            Task {
                answer.yield(try await home.makeReady(changeID))
                answer.finish()
            }
            while ada.lanes.line(for: id) == 0, try ada.change(id)?.version == version {
                await Task.yield()
            }
        }
        return answers
    }

    private static func told(_ world: World, _ ada: Person) throws -> [String] {
        try world.store.reader.resolutions(of: ada.userID, limit: 9).map {
            "\($0.type) \($0.note.outcome)"
        }
    }

    @Test func `a create that is retried on its way is told as one`() async throws {
        try await atHome { world, home, _ in
            let ada = home.person
            let made = try await ada.add(mail)
            let change = try #require(try ada.change(made)).id
            let answers = try Self.retry(change, of: made, during: "/ciphers", home)
            world.wire.forget()
            try await ada.run(.all)
            #expect(await answers.reduce(into: []) { $0.append($1) } == [true])
            #expect(try ada.changes.isEmpty)
            #expect(try Self.told(world, ada) == ["create pushed"])
            #expect(world.wire.requests == ["POST /api/ciphers"])
        }
    }

    @Test func `an edit that is retried on its way is told as one that was pushed`() async throws {
        try await atHome { world, home, id in
            let ada = home.person
            let change = try await ada.edit(id, password("mine")).change.id
            let answers = try Self.retry(change, of: id, during: "/ciphers/\(id)", home)
            try await ada.run(.all)
            #expect(await answers.reduce(into: []) { $0.append($1) } == [true])
            #expect(try ada.changes.isEmpty)
            #expect(try Self.told(world, ada) == ["update pushed"])
        }
    }

    @Test func `a retry that meets the backup copy on its way keeps nobody waiting for it`()
        async throws
    {
        try await atHome { world, home, id in
            let ada = home.person
            try await ada.elsewhere.edit(id, password("theirs"))
            let change = try await ada.edit(id, password("mine")).change.id
            let answers = try Self.retry(change, of: id, during: "/ciphers", home)
            try await ada.run(.all)
            #expect(await answers.reduce(into: []) { $0.append($1) } == [true])
            #expect(try ada.changes.isEmpty)
            #expect(try Self.told(world, ada) == ["update backedUpServer"])
            for (outcome, count) in ["created": 1.0, "failed": 0, "reused": 0] {
                let series =
                    "holdfast_backups_total{reason=\"hardConflict\",outcome=\"\(outcome)\"}"
                #expect(await world.registry.figure(series) == count, "\(outcome)")
            }
        }
    }

    @Test func `what fails while somebody wants it retried is ready after that`() async throws {
        try await atHome { world, home, id in
            let ada = home.person
            let change = try await ada.edit(id, password("mine")).change.id
            await world.server.inject(Fault(.invalid, on: .updateCipher))
            let answers = try Self.retry(change, of: id, during: "/ciphers/\(id)", home)
            try await ada.run(.all)
            #expect(await answers.reduce(into: []) { $0.append($1) } == [true])
            let left = try #require(try ada.change(id))
            #expect(left.state == .ready && left.failures == 0 && left.lastFailure == nil)
        }
    }

    @Test func `what was left in flight, and nobody sends, is ready at once`() async throws {
        try await atHome { world, home, id in
            let ada = home.person
            let change = try await ada.edit(id, password("mine"), atOnce: true).change
            #expect(change.state == .inFlight)
            #expect(try await home.makeReady(change.id))
            #expect(try ada.change(id)?.state == .ready)
        }
    }

    @Test func `of what there is no change nothing is made ready`() async throws {
        try await atHome { world, home, _ in
            let isThere = try await home.makeReady("none")
            #expect(!isThere)
        }
    }

    // MARK: What is told of what was edited on its way

    @Test func `what is edited while it is made is told as made`() async throws {
        try await atHome { world, home, _ in
            let ada = home.person
            let made = try await ada.add(mail)
            world.wire.interrupt("/ciphers", isCarriedOut: true) {
                try await ada.edit(made, password("second"))
            }
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            #expect(try Self.told(world, ada) == ["create pushed"])
        }
    }

    @Test func `what is trashed while it is made is told as trashed`() async throws {
        try await atHome { world, home, _ in
            let ada = home.person
            let made = try await ada.add(mail)
            world.wire.interrupt("/ciphers", isCarriedOut: true) {
                try await ada.wish(.trash, made)
            }
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            #expect(try Self.told(world, ada) == ["softDelete deleted"])
        }
    }

    @Test func `what loses its folder while it is made is told as made`() async throws {
        try await atHome { world, home, _ in
            let ada = home.person
            let folder = try await ada.elsewhere.addFolder("gone soon")
            try await ada.refresh()
            try await ada.add(#"{"type":1,"name":"mail","folderId":"\#(folder)"}"#)
            world.wire.interrupt("/ciphers", isCarriedOut: true) {
                try await world.store.removeFolder(folder, of: ada.userID)
            }
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            #expect(try Self.told(world, ada) == ["create pushed"])
        }
    }
}
