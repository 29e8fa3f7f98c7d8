import EmbeddedUpstream
import MeshSupport
import Messaging
import Testing
import Vault

@testable import Sync

/// What was wished last stays so, though upstream carries out an earlier call after it.
@Suite(.timeLimit(.minutes(2))) struct LateCallTests {
    /// A call that is carried out late, and what its owner wishes after it.
    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let operation: Operation
        /// How the item is at first.
        var before: Before = .active
        let first: Edit.Wish
        let last: Edit.Wish
        let isThere: @Sendable (Cipher?) -> Bool
    }

    enum Before: Sendable { case active, trashed, archived }

    static let stories: [Story] = [
        Story(
            testDescription: "trash, restore",
            operation: .trashCipher,
            first: .trash,
            last: .restore,
            isThere: { $0?.isInTrash == false }
        ),
        Story(
            testDescription: "restore, trash",
            operation: .restoreCipher,
            before: .trashed,
            first: .restore,
            last: .trash,
            isThere: { $0?.isInTrash == true }
        ),
        Story(
            testDescription: "archive, unarchive",
            operation: .archiveCipher,
            first: .archive,
            last: .unarchive,
            isThere: { $0 != nil && $0?.archivedDate == nil }
        ),
        Story(
            testDescription: "unarchive, archive",
            operation: .archiveCipher,
            before: .archived,
            first: .unarchive,
            last: .archive,
            isThere: { $0?.archivedDate != nil }
        ),
        Story(
            testDescription: "favourite, and not",
            operation: .placeCipher,
            first: .favour(true),
            last: .favour(false),
            isThere: { $0?.isFavorite == false }
        ),
        Story(
            testDescription: "trash, delete",
            operation: .trashCipher,
            first: .trash,
            last: .hardDelete,
            isThere: { $0 == nil }
        ),
    ]

    /// The item as it is at first, and an upstream that will be slow with the first call.
    private static func open(
        _ story: Story,
        _ personality: Personality.Name,
        _ body: @Sendable (World, Person, _ id: String) async throws -> Void
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let id = try await ada.elsewhere.add(mail)
            switch story.before {
            case .active: break
            case .trashed: try await ada.elsewhere.trash(id)
            case .archived: try await ada.elsewhere.archive(id)
            }
            try await ada.refresh()
            await world.server.inject(Fault(.commitLate(.seconds(15)), on: story.operation))
            try await body(world, ada, id)
        }
    }

    @Test(arguments: stories, Personality.Name.allCases)
    func `T-48, I5 what is carried out late does not undo what was wished after it`(
        _ story: Story,
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(story, personality) { world, ada, id in
            let scheduler = try await ada.scheduler()
            try await ada.wish(story.first, id)
            try await ada.run()
            try await ada.wish(story.last, id)
            try await Self.pass(60, ada)
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.count == (story.isThere(nil) ? 0 : 1))
            #expect(story.isThere(items.first?.cipher))
        }
    }

    /// It was on its way for so long that it is to be feared long after it began. (Of a place only when it was sent
    /// is known.)
    @Test(arguments: stories.filter { $0.operation != .placeCipher }, Personality.Name.allCases)
    func `T-48, I5 nor what was wished while that call hung`(
        _ story: Story,
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(story, personality) { world, ada, id in
            try await ada.wish(story.first, id)
            world.wire.interrupt(Self.ending(of: story.first)) {
                world.time.pass(.seconds(25))
                try await ada.wish(story.last, id)
            }
            try await ada.run()
            #expect(try ada.changes.count == 1, "It hung, and something else was wished.")
            try await Self.pass(60, ada)
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.count == (story.isThere(nil) ? 0 : 1))
            #expect(story.isThere(items.first?.cipher))
        }
    }

    private static func ending(of wish: Edit.Wish) -> String {
        switch wish {
        case .trash: "/delete"
        case .restore: "/restore"
        case .archive: "/archive"
        case .unarchive: "/unarchive"
        case .add, .update, .hardDelete, .favour, .move, .place: "/"
        }
    }

    @Test
    func `T-48, G-RES1 a create that hung while its item was edited is not sent again too early`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.add(mail)
            await world.server.inject(Fault(.commitLate(.seconds(15)), on: .createCipher))
            world.wire.interrupt("/api/ciphers") {
                world.time.pass(.seconds(25))
                try await ada.edit(made, password("newest"))
            }
            try await ada.run()
            try await Self.pass(60, ada)
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["newest"])
            #expect(world.wire.requests.filter { $0 == "POST /api/ciphers" }.count == 1)
        }
    }

    /// The first is settled by then, and nothing is known of it any more but that.
    @Test(arguments: stories, Personality.Name.allCases)
    func `T-48, I5 what came late is not feared less because it was sent again and taken`(
        _ story: Story,
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(story, personality) { world, ada, id in
            try await ada.wish(story.first, id)
            try await ada.run()
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty, "It was sent again.")
            try await ada.wish(story.last, id)
            try await Self.pass(60, ada)
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.count == (story.isThere(nil) ? 0 : 1))
            #expect(story.isThere(items.first?.cipher))
        }
    }

    @Test func `what had to wait for a late call and was not sent is none itself`() async throws {
        try await Self.openUnanswered { world, ada, id in
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let restore = try await ada.wish(.restore, id, atOnce: true).made
            guard case .unanswered(_, let version) = try await ada.attempt(restore) else {
                throw Unexpected("it did not wait")
            }
            let waiting = try #require(try ada.change(id))
            #expect(waiting.version == version)
            #expect(waiting.attempts.map(\.outcome) == [.unknown, .refused])
            #expect(waiting.attempts.map(\.kind) == [.trash, .restore])
            // It is in the trash already, so nothing is sent for that.
            world.time.pass(.seconds(12))
            let trash = try await ada.wish(.trash, id, atOnce: true).made
            guard case .saved = try await ada.attempt(trash) else {
                throw Unexpected("it is not in the trash")
            }
            let again = try await ada.wish(.restore, id, atOnce: true).made
            guard case .saved = try await ada.attempt(again) else {
                throw Unexpected("it waits for what was never sent")
            }
        }
    }

    /// Whoever waits for their turn has wished it by then.
    @Test(arguments: Personality.Name.allCases)
    func `a place that comes late is not that of what was wished before it and recorded after it`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let scheduler = try await ada.scheduler()
            try await ada.wish(.favour(true), id)
            let last = Edit(.favour(false), at: world.surroundings.now)
            world.time.pass(.seconds(2))
            await world.server.inject(Fault(.commitLate(.seconds(15)), on: .placeCipher))
            try await ada.run()
            _ = try await world.store.record(last, in: ada.lane(id), as: .queued)
            try await Self.pass(60, ada)
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map(\.cipher.isFavorite) == [false])
        }
    }

    /// Content carries a place, too.
    @Test(arguments: Personality.Name.allCases)
    func `T-48, I5 a place that comes late is not that of what was written after it`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            await world.server.inject(Fault(.commitLate(.seconds(15)), on: .placeCipher))
            try await ada.wish(.favour(true), id)
            try await ada.run()
            try await ada.edit(
                id,
                #"{"name":"mail","favorite":false,"login":{"username":"ada","password":"mine"}}"#
            )
            try await Self.pass(60, ada)
            #expect(try ada.changes.isEmpty)
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "mine")
            #expect(!item.cipher.isFavorite)
        }
    }

    @Test func `T-48 a deletion that is carried out late leaves what was written after it`()
        async throws
    {
        try await withLogin { world, ada, id in
            await world.server.inject(Fault(.commitLate(.seconds(15)), on: .deleteCipher))
            try await ada.wish(.hardDelete, id)
            try await ada.run()
            try await ada.edit(id, password("mine"))
            try await Self.pass(60, ada)
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["mine"])
        }
    }

    /// An item that was to be trashed, and nobody has answered.
    private static func openUnanswered(
        _ body: @Sendable (World, Person, _ id: String) async throws -> Void
    ) async throws {
        try await withLogin { world, ada, id in
            await world.server.inject(Fault(.drop, on: .trashCipher))
            try await ada.wish(.trash, id)
            try await ada.run()
            try await body(world, ada, id)
        }
    }

    /// Runs each second.
    private static func pass(_ seconds: Int, _ ada: Person) async throws {
        for _ in 0..<seconds {
            ada.world.time.pass(.seconds(1))
            while ada.world.server.isBehind { await Task.yield() }
            try await ada.run()
        }
    }

    @Test func `whoever wishes once more what was sent waits for nothing`() async throws {
        try await Self.openUnanswered { _, ada, id in
            try await ada.wish(.trash, id)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).cipher.isInTrash)
        }
    }
}
