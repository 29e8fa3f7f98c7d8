import EmbeddedUpstream
import MeshSupport
import Messaging
import Testing
import Vault

@testable import Sync

/// Servers answer a write from memory, and whatever is read later from a store that keeps less of a stamp.
@Suite(.timeLimit(.minutes(2))) struct StoredStampTests {
    /// A store, and when in their second things happen.
    struct Keeping: CustomTestStringConvertible, Sendable {
        let personality: Personality.Name
        let store: StampStore
        let offset: Duration
        /// So soon after, another write has the same stamp in the store.
        let moment: Duration
        let testDescription: String

        static let all = [
            Keeping(.vaultwarden, .mariaDB, .milliseconds(600), .milliseconds(100), "cut"),
            Keeping(.vaultwarden, .mySQL, .milliseconds(600), .milliseconds(100), "rounded up"),
            Keeping(.vaultwarden, .mySQL, .milliseconds(900), .milliseconds(100), "rounded down"),
            Keeping(.bitwarden, .sqlServer, .microseconds(1_300), .microseconds(200), "step down"),
            Keeping(.bitwarden, .sqlServer, .microseconds(2_000), .microseconds(200), "step up"),
        ]

        private init(
            _ personality: Personality.Name,
            _ store: StampStore,
            _ offset: Duration,
            _ moment: Duration,
            _ word: String
        ) {
            (self.personality, self.store) = (personality, store)
            (self.offset, self.moment) = (offset, moment)
            testDescription = "\(store), \(word)"
        }

        func open(_ story: @Sendable (World, Person) async throws -> Void) async throws {
            try await World.open(personality) { world in
                await world.server.keepStamps(in: store)
                let ada = try await world.person()
                world.time.pass(offset)
                try await story(world, ada)
            }
        }
    }

    /// Makes an item here, and tells under which id upstream has it.
    private static func make(_ json: String, _ ada: Person) async throws -> String {
        guard case .saved(let id) = try await ada.attempt(ada.addAtOnce(json)) else {
            throw Unexpected("it was not saved")
        }
        return id
    }

    private static func passwords(_ ada: Person) async throws -> [String?] {
        try await ada.elsewhere.items.map { $0.login?.password }
    }

    @Test(arguments: Keeping.all)
    func `F27 the store gives a write another stamp than its answer`(_ keeping: Keeping)
        async throws
    {
        try await keeping.open { _, ada in
            let id = try await Self.make(mail, ada)
            let answered = try #require(try ada.base(id)).revision
            try await ada.refresh()
            let kept = try #require(try ada.base(id)).revision
            #expect(!answered.isWritten(like: kept))
            #expect(answered.isSame(as: kept))
        }
    }

    @Test(arguments: Keeping.all)
    func `T-17, F27 what upstream shows after a write is believed at once`(_ keeping: Keeping)
        async throws
    {
        try await keeping.open { world, ada in
            let scheduler = try await ada.scheduler()
            let id = try await Self.make(mail, ada)
            for text in ["second", "third"] {
                let report = try await scheduler.sync()
                #expect(report.outcome == .completed, "\(report)")
                try await ada.save(id, password(text))
            }
            let report = try await scheduler.sync()
            #expect(report.outcome == .completed, "\(report)")
            #expect(try await Self.passwords(ada) == ["third"])
        }
    }

    @Test(arguments: Keeping.all)
    func `T-17, F27 what was made here and deleted for good elsewhere is not made again`(
        _ keeping: Keeping
    ) async throws {
        try await keeping.open { world, ada in
            let scheduler = try await ada.scheduler()
            _ = try await Self.make(#"{"type":1,"name":"stays"}"#, ada)
            let id = try await Self.make(#"{"type":1,"name":"goes"}"#, ada)
            try await ada.elsewhere.delete(id)
            for _ in 0..<3 {
                try await scheduler.sync()
                world.time.pass(.seconds(70))
            }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.names == ["stays"])
            #expect(try ada.base(id) == nil)
        }
    }

    /// The account's number is from the store as well.
    @Test(arguments: Keeping.all)
    func `T-17, F27 what was made here and deleted in the same moment is gone at once`(
        _ keeping: Keeping
    ) async throws {
        try await keeping.open { world, ada in
            let scheduler = try await ada.scheduler()
            _ = try await ada.elsewhere.add(#"{"type":1,"name":"stays"}"#)
            try await ada.refresh()
            let id = try await Self.make(mail, ada)
            try await ada.elsewhere.delete(id, after: keeping.moment)
            let report = try await scheduler.sync()
            #expect(report.outcome == .completed, "\(report)")
            #expect(try ada.base(id) == nil)
        }
    }

    @Test(arguments: Keeping.all)
    func `T-17, F27 an edit that is made offline after one online does not wait`(
        _ keeping: Keeping
    ) async throws {
        try await keeping.open { _, ada in
            let id = try await Self.make(mail, ada)
            try await ada.save(id, password("online"))
            try await ada.edit(id, password("offline"))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await Self.passwords(ada) == ["offline"])
        }
    }

    @Test(arguments: Keeping.all, [false, true])
    func `T-17, P14 what somebody writes in the same moment, unseen, stands, and a copy is kept`(
        _ keeping: Keeping,
        _ isListed: Bool
    ) async throws {
        try await keeping.open { world, ada in
            let scheduler = try await ada.scheduler()
            let id = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let theirs = try await ada.elsewhere.draft(of: id, password("theirs"))
            try await ada.save(id, password("mine"), after: .zero)
            if isListed { try await scheduler.sync() }
            world.time.pass(keeping.moment)
            try await ada.elsewhere.put(id, theirs)
            for _ in 0..<3 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).login?.password == "theirs")
            #expect(Set(try await Self.passwords(ada)) == ["mine", "theirs"])
            #expect(try await ada.elsewhere.items.count == 2)
        }
    }

    @Test(arguments: Keeping.all, [false, true])
    func `T-17 what somebody has seen and edited in the same moment stands, and leaves no copy`(
        _ keeping: Keeping,
        _ isListed: Bool
    ) async throws {
        try await keeping.open { world, ada in
            let scheduler = try await ada.scheduler()
            let id = try await Self.make(mail, ada)
            try await ada.save(id, password("mine"))
            if isListed { try await scheduler.sync() }
            try await ada.elsewhere.edit(id, password("theirs"), after: keeping.moment)
            for _ in 0..<3 {
                try await scheduler.sync()
                world.time.pass(.seconds(70))
            }
            #expect(try ada.changes.isEmpty)
            #expect(try ada.item(id).login?.password == "theirs")
            #expect(try await Self.passwords(ada) == ["theirs"])
        }
    }

    @Test(arguments: Keeping.all, [false, true])
    func
        `T-17, R-101 an edit made on what somebody else has replaced in the same moment is a conflict`(
            _ keeping: Keeping,
            _ isListed: Bool
        ) async throws
    {
        try await keeping.open { world, ada in
            let id = try await Self.make(mail, ada)
            try await ada.save(id, password("second"))
            try await ada.edit(id, password("mine"), after: .zero)
            try await ada.elsewhere.edit(id, password("theirs"), after: keeping.moment)
            if isListed { try await ada.refresh() }
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(Set(try await Self.passwords(ada)) == ["mine", "theirs"])
        }
    }

    @Test(arguments: Keeping.all)
    func `T-17, F27 whoever edits what their own edit was answered with is not out of date`(
        _ keeping: Keeping
    ) async throws {
        try await keeping.open { world, ada in
            let home = try await ada.home()
            let id = try await home.add(mail).value
            for number in 1...3 {
                let seen = try #require(try await home.view(id)?.item.cipher.revisionDate)
                try await ada.refresh()
                let body =
                    #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"\#(number)"}}"#
                #expect(!(try await home.update(id, body)).isQueued)
            }
            #expect(try await Self.passwords(ada) == ["3"])
        }
    }

    @Test(arguments: Keeping.all)
    func `nor are they where a list has brought an unanswered edit of the same moment`(
        _ keeping: Keeping
    ) async throws {
        try await keeping.open { world, ada in
            let home = try await ada.home()
            let id = try await home.add(mail).value
            let seen = try #require(try await home.view(id)?.item.cipher.revisionDate)
            await world.server.inject(Fault(.loseAnswer, on: .updateCipher))
            try await ada.edit(id, password("second"), after: keeping.moment)
            try await ada.run()
            try #require(try ada.changes.count == 1)
            try await ada.refresh()
            world.time.pass(.seconds(60))
            try await ada.run(.all)
            try #require(try ada.changes.isEmpty)
            let body = #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"third"}}"#
            #expect(!(try await home.update(id, body)).isQueued)
            #expect(try await Self.passwords(ada) == ["third"])
        }
    }

    @Test(arguments: Keeping.all, [false, true])
    func `T-17, R-055 whoever edits that after somebody else in the same moment is`(
        _ keeping: Keeping,
        _ isListed: Bool
    ) async throws {
        try await keeping.open { world, ada in
            let home = try await ada.home()
            let id = try await home.add(mail).value
            let seen = try #require(try await home.view(id)?.item.cipher.revisionDate)
            if isListed { try await ada.refresh() }
            try await ada.elsewhere.edit(id, password("theirs"), after: keeping.moment)
            try await ada.refresh()
            let stale = #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"x"}}"#
            guard case .outOfDate? = try await refusal({ try await home.update(id, stale) }) else {
                throw Unexpected("the stale copy was taken")
            }
            #expect(try await Self.passwords(ada) == ["theirs"])
        }
    }

    @Test(arguments: Keeping.all)
    func `T-17, A6-N3 what was deleted here for good is deleted again where upstream forgets that`(
        _ keeping: Keeping
    ) async throws {
        try await keeping.open { world, ada in
            let scheduler = try await ada.scheduler()
            _ = try await ada.elsewhere.add(#"{"type":1,"name":"stays"}"#)
            let id = try await Self.make(#"{"type":1,"name":"goes"}"#, ada)
            await world.server.remember()
            try await ada.wish(.hardDelete, id)
            try await ada.run()
            try await scheduler.sync()
            await world.server.rollBack()
            for _ in 0..<3 {
                try await scheduler.sync()
                world.time.pass(.seconds(70))
            }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.names == ["stays"])
        }
    }
}
