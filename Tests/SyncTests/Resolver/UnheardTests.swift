import EmbeddedUpstream
import MeshSupport
import Sync
import Testing
import Vault

/// Upstream did what it was asked for, and nobody heard of it.
@Suite(.timeLimit(.minutes(2))) struct UnheardTests {
    private static let lost = Fault.Effect.loseAnswer
    private static let theirs =
        #"{"name":"mail","notes":"mine","login":{"password":"theirs"}}"#

    @Test func `T-10 what was written after an answer was lost stays, though it was refused once`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.add(mail)
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            try await ada.edit(made, password("second"))
            world.time.pass(.seconds(25))
            await world.server.inject(Fault(.keepOnly(0), on: .sync))
            await world.server.inject(Fault(.invalid, on: .createCipher))
            world.wire.forget()
            try await ada.run(.all)
            #expect(world.wire.requests == ["GET /api/sync", "POST /api/ciphers"])
            let landed = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.elsewhere.edit(landed, password("theirs"))
            for _ in 1...3 {
                world.time.pass(.seconds(400))
                try await ada.run(.all)
            }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(Set(passwords) == ["second", "theirs"])
        }
    }

    @Test(arguments: Personality.Name.allCases, [1, 5])
    func `T-10 G-RES1 a create whose answers are lost is there once`(
        _ personality: Personality.Name,
        _ times: Int
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let made = try await ada.add(mail)
            var fault = Fault(Self.lost, on: .createCipher)
            fault.times = times
            await world.server.inject(fault)
            #expect(try await ada.run().stop != nil)
            #expect(try ada.change(made)?.failures == 0)
            // Too early to look: nothing is asked, and nothing is new for those who insist.
            world.wire.forget()
            try await ada.run(.all)
            let waiting = try ada.change(made)
            try await ada.run(.all)
            #expect(try ada.change(made) == waiting)
            #expect(world.wire.requests.isEmpty)
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(world.wire.requests == ["GET /api/sync"])
            #expect(try await ada.elsewhere.names == ["mail"])
            #expect(try ada.changes.isEmpty)
            #expect(try ada.resolutions.map(\.outcome) == [.adopted])
            let history = try world.store.reader.resolutions(of: ada.userID, limit: 9)
            #expect(history.map(\.type) == [.create], "As it was pending.")
            #expect(try ada.base(made)?.lane.cipherID != made)
        }
    }

    @Test(arguments: [true, false])
    func
        `T-10 a create that is answered with another item is not taken for made, and is there once`(
            _ isCarriedOut: Bool
        ) async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            _ = try await ada.elsewhere.add(#"{"type":1,"name":"other"}"#)
            let other = try #require(try await ada.elsewhere.items.first?.cipher)
            let made = try await ada.add(mail)
            let answer = Canned(
                status: 200,
                contentType: "application/json",
                body: other.bytes
            )
            await world.server.inject(
                Fault(.answer(answer, isCarriedOut: isCarriedOut), on: .createCipher)
            )
            try await ada.run()
            #expect(try ada.change(made) != nil)
            world.time.pass(.seconds(25))
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.names.sorted() == ["mail", "other"])
            #expect(try ada.base(made)?.lane.cipherID != other.id)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-25 what others take out of the archive stays out of it when its content is edited`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let id = try await ada.elsewhere.add(mail)
            try await ada.elsewhere.archive(id)
            try await ada.refresh()
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.unarchive(id)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == ["mine"])
            #expect(items.first?.cipher.isArchived == false)
        }
    }

    @Test func `G-RES1 a create whose answer is lost stays in doubt while nobody can be asked`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            try await ada.add(mail)
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            world.time.pass(.seconds(25))
            world.wire.isCut = true
            #expect(try await ada.run().stop != nil)
            world.wire.isCut = false
            world.time.pass(.seconds(600))
            try await ada.run(.all)
            #expect(try await ada.elsewhere.names == ["mail"])
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `G-RES1 an edit between a lost create and its repetition arrives in one item`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.add(mail)
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            try await ada.edit(made, password("newest"))
            world.time.pass(.seconds(25))
            try await ada.run()
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == ["newest"])
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `G-RES1 a lost create that somebody has edited since is theirs`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            try await ada.add(mail)
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            let id = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.elsewhere.edit(id, password("theirs"))
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["theirs"])
            #expect(try ada.changes.isEmpty)
        }
    }

    /// Makes an item and hears nothing of it.
    private static func loseCreate(
        _ world: World,
        _ ada: Person
    ) async throws -> (made: String, landed: String) {
        let made = try await ada.add(mail)
        await world.server.inject(Fault(lost, on: .createCipher))
        try await ada.run()
        return (made, try #require(try await ada.elsewhere.items.first?.id))
    }

    /// Makes an item again that was deleted elsewhere, and hears nothing of it. Others edit it then.
    ///
    /// - Returns: Its first id.
    private static func loseRecreation(_ world: World, _ ada: Person) async throws -> String {
        let id = try await ada.elsewhere.addWithoutKey(name: "mail", password: "old")
        try await ada.refresh()
        try await ada.edit(id, #"{"name":"mail","notes":"mine"}"#)
        try await ada.elsewhere.delete(id)
        await world.server.inject(Fault(lost, on: .createCipher))
        try await ada.run()
        let again = try #require(try await ada.elsewhere.items.first?.id)
        try await ada.elsewhere.edit(again, theirs)
        return id
    }

    @Test func `G-RES1 a list that was asked for too early says nothing, however late it comes`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let (made, id) = try await Self.loseCreate(world, ada)
            try await ada.edit(made, password("mine"))
            world.time.pass(.seconds(5))
            try await ada.elsewhere.edit(id, password("theirs"))
            world.time.pass(.seconds(25))
            await world.server.inject(Fault(.commitLate(.seconds(10)), on: .createCipher))
            try await ada.run(.all)
            world.wire.interrupt("/sync?excludeDomains=true", isCarriedOut: true) {
                world.time.pass(.seconds(30))
            }
            try await ada.run(.all)
            world.time.pass(.seconds(25))
            try await ada.run(.all)
            #expect(try await ada.elsewhere.items.count == 2)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `I6 while a backup copy is refused, both sides of a found create are shown`(
        _ isOursLater: Bool
    ) async throws {
        try await World.open { world in
            let ada = try await world.person()
            let (made, id) = try await Self.loseCreate(world, ada)
            if !isOursLater { try await ada.edit(made, password("mine")) }
            world.time.pass(.seconds(5))
            try await ada.elsewhere.edit(id, password("theirs"))
            world.time.pass(.seconds(5))
            if isOursLater { try await ada.edit(made, password("mine")) }
            try await ada.refresh()
            var refusal = Fault(
                .answer(.refusal(409, "no"), isCarriedOut: false),
                on: .createCipher
            )
            refusal.times = 1
            await world.server.inject(refusal)
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try ada.item(made).login?.password == "mine")
            #expect(try ada.item(id).login?.password == "theirs")
            world.time.pass(.seconds(901))
            try await ada.run()
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["mine", "theirs"])
            #expect(try ada.changes.isEmpty)
            #expect(try ada.base(made)?.lane.cipherID == id)
        }
    }

    @Test func `G-RES1 a lost create that both sides have edited since loses neither`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let (made, id) = try await Self.loseCreate(world, ada)
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.edit(made, password("mine"))
            world.time.pass(.seconds(25))
            try await ada.run()
            let passwords = try await ada.elsewhere.items.map { $0.login?.password }
            #expect(Set(passwords) == ["theirs", "mine"])
        }
    }

    @Test func `G-RES1 a lost re-creation without a key of its own is found though it was edited`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            _ = try await Self.loseRecreation(world, ada)
            world.time.pass(.seconds(25))
            try await ada.run()
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == ["theirs"])
            #expect(items.first?.cipher.key == nil && items.first?.notes == "mine")
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `G-RES1 a lost re-creation is found although both sides have edited it since`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let id = try await Self.loseRecreation(world, ada)
            try await ada.edit(id, #"{"name":"post","notes":"newest"}"#)
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.count == 2, "One of them is a copy of what gave way.")
            #expect(Set(items.map { $0.login?.password }) == ["theirs", "old"])
            #expect(Set(items.map(\.notes)) == ["mine", "newest"])
        }
    }

    @Test(arguments: [Edit.Wish.hardDelete, .trash])
    func `G-RES1 what a lost re-creation has made is deleted with the item`(
        _ wish: Edit.Wish
    ) async throws {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.delete(id)
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            try #require(try await ada.elsewhere.items.count == 1)
            try await ada.wish(wish, id)
            try await ada.run()
            #expect(try ada.changes.count == 1, "Nobody knows yet.")
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let left = try await ada.elsewhere.items
            #expect(left.allSatisfy(\.cipher.isInTrash) && left.count == (wish == .trash ? 1 : 0))
        }
    }

    @Test func `T-48 a create that is carried out late is not repeated`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            try await ada.add(mail)
            await world.server.inject(Fault(.commitLate(.seconds(10)), on: .createCipher))
            try await ada.run()
            world.time.pass(.seconds(25))
            while try await ada.elsewhere.items.isEmpty { await Task.yield() }
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 1)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-23 an update whose answer was lost is no conflict with itself`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.edit(id, password("second"))
            await world.server.inject(Fault(Self.lost, on: .updateCipher))
            try await ada.run()
            #expect(try ada.change(id) != nil)
            world.time.pass(.seconds(25))
            world.wire.forget()
            try await ada.run()
            #expect(world.wire.requests == ["GET /api/ciphers/\(id)/details"])
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.count == 1)
            #expect(try ada.resolutions.map(\.outcome) == [.alreadyApplied])
        }
    }

    @Test(arguments: Personality.Name.allCases, [Situation.Conflict.hard, .soft])
    func `T-23 a conflict whose push was not answered is told as one that was, with its copy`(
        _ personality: Personality.Name,
        _ kind: Situation.Conflict
    ) async throws {
        for isEditedAgain in [false, true] {
            try await withLogin(personality) { world, ada, id in
                if kind == .hard { try await ada.elsewhere.edit(id, password("theirs")) }
                for number in 1...(kind == .hard ? 1 : 4) {
                    try await ada.edit(id, password("mine \(number)"))
                }
                await world.server.inject(Fault(Self.lost, on: .updateCipher))
                try await ada.run()
                #expect(try ada.change(id) != nil)
                if isEditedAgain { try await ada.edit(id, password("mine, later")) }
                world.time.pass(.seconds(25))
                try await ada.run()
                #expect(try ada.changes.isEmpty)
                let copies = try await ada.elsewhere.items.filter { $0.id != id }
                let kept = kind == .hard ? "theirs" : "first"
                #expect(copies.contains { $0.login?.password == kept })
                let told = try #require(try ada.resolutions.first)
                #expect(try ada.resolutions.count == 1)
                #expect(told.outcome == .backedUpServer)
                #expect(told.winner == .local)
                #expect(copies.contains { $0.id == told.backupCipherID })
                let series =
                    "holdfast_conflicts_total{kind=\"\(kind.rawValue)\",winner=\"local\"}"
                #expect(await world.registry.figure(series) == 1)
            }
        }
    }

    @Test func `T-24 what died between the answer and the bookkeeping is found done`()
        async throws
    {
        try await withLogin { world, ada, id in
            let recorded = try await ada.edit(id, password("second"), atOnce: true)
            let sent = try Cipher(#require(recorded.change.intent.snapshot).json)
            try await ada.elsewhere.put(id, sent, over: ada.elsewhere.item(id).cipher)
            try await ada.run()
            #expect(world.wire.requests == ["GET /api/ciphers/\(id)/details"])
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.count == 1)
        }
    }

    @Test func `T-02 an edit after one that landed unheard is pushed without a conflict`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("second"))
            await world.server.inject(Fault(Self.lost, on: .updateCipher))
            try await ada.run()
            try await ada.edit(id, password("third"))
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["third"])
            #expect(try ada.changes.isEmpty)
        }
    }
}
