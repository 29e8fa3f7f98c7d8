import Bitwarden
import Host
import Crypto
import EmbeddedUpstream
import JSON
import MeshSupport
import Messaging
import Metrics
import Sync
import Testing
import Vault

/// What a straightforward resolver gets wrong, each by the number under which it is known.
@Suite(.timeLimit(.minutes(2))) struct ResolvingTrapsTests {
    typealias Rows = ResolvingRowsTests

    static let lost = Fault.Effect.loseAnswer
    private static let theirs =
        #"{"name":"mail","notes":"mine","login":{"password":"theirs"}}"#

    // MARK: Landed, and nobody heard of it

    @Test func `T-10 what was written after an answer was lost stays, though it was refused once`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.add(Rows.mail)
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            try await ada.edit(made, Rows.password("second"))
            world.time.pass(.seconds(25))
            await world.server.inject(Fault(.keepOnly(0), on: .sync))
            await world.server.inject(Fault(.invalid, on: .createCipher))
            world.wire.forget()
            try await ada.run(.all)
            #expect(world.wire.requests == ["GET /api/sync", "POST /api/ciphers"])
            let landed = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.elsewhere.edit(landed, Rows.password("theirs"))
            for _ in 1...3 {
                world.time.pass(.seconds(400))
                try await ada.run(.all)
            }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.items.compactMap { $0.login?.password }
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
            let made = try await ada.add(Rows.mail)
            var fault = Fault(Self.lost, on: .createCipher)
            fault.times = times
            await world.server.inject(fault)
            #expect(try await ada.run().stop != nil)
            #expect(try ada.change(made)?.failures == 0)
            // Too early to look: nothing is asked.
            world.wire.forget()
            try await ada.run(.all)
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

    @Test(arguments: Personality.Name.allCases)
    func `T-25 what others take out of the archive stays out of it when its content is edited`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let id = try await ada.elsewhere.add(Rows.mail)
            try await ada.elsewhere.archive(id)
            try await ada.refresh()
            try await ada.edit(id, Rows.password("mine"))
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
            try await ada.add(Rows.mail)
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
            let made = try await ada.add(Rows.mail)
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            try await ada.edit(made, Rows.password("newest"))
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
            try await ada.add(Rows.mail)
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            let id = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.elsewhere.edit(id, Rows.password("theirs"))
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
        let made = try await ada.add(Rows.mail)
        await world.server.inject(Fault(lost, on: .createCipher))
        try await ada.run()
        return (made, try #require(try await ada.elsewhere.items.first?.id))
    }

    @Test func `G-RES1 a list that was asked for too early says nothing, however late it comes`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let (made, id) = try await Self.loseCreate(world, ada)
            try await ada.edit(made, Rows.password("mine"))
            world.time.pass(.seconds(5))
            try await ada.elsewhere.edit(id, Rows.password("theirs"))
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
            if !isOursLater { try await ada.edit(made, Rows.password("mine")) }
            world.time.pass(.seconds(5))
            try await ada.elsewhere.edit(id, Rows.password("theirs"))
            world.time.pass(.seconds(5))
            if isOursLater { try await ada.edit(made, Rows.password("mine")) }
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
            let passwords = try await ada.elsewhere.items.compactMap { $0.login?.password }
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
            try await ada.elsewhere.edit(id, Rows.password("theirs"))
            try await ada.edit(made, Rows.password("mine"))
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
            let id = try await ada.elsewhere.addWithoutKey(name: "mail", password: "old")
            try await ada.refresh()
            try await ada.edit(id, #"{"name":"mail","notes":"mine"}"#)
            try await ada.elsewhere.delete(id)
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            let again = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.elsewhere.edit(again, Self.theirs)
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
            let id = try await ada.elsewhere.addWithoutKey(name: "mail", password: "old")
            try await ada.refresh()
            try await ada.edit(id, #"{"name":"mail","notes":"mine"}"#)
            try await ada.elsewhere.delete(id)
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            let again = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.elsewhere.edit(again, Self.theirs)
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
        try await Rows.open { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
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
            try await ada.add(Rows.mail)
            await world.server.inject(Fault(.commitLate(.seconds(10)), on: .createCipher))
            try await ada.run()
            world.time.pass(.seconds(25))
            for _ in 0..<100 where try await ada.elsewhere.items.isEmpty { await Task.yield() }
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 1)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-23 an update whose answer was lost is no conflict with itself`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            try await ada.edit(id, Rows.password("second"))
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

    @Test func `T-24 what died between the answer and the bookkeeping is found done`()
        async throws
    {
        try await Rows.open { world, ada, id in
            let recorded = try await ada.edit(id, Rows.password("second"), atOnce: true)
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
        try await Rows.open { world, ada, id in
            try await ada.edit(id, Rows.password("second"))
            await world.server.inject(Fault(Self.lost, on: .updateCipher))
            try await ada.run()
            try await ada.edit(id, Rows.password("third"))
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["third"])
            #expect(try ada.changes.isEmpty)
        }
    }

    // MARK: Backups

    @Test(arguments: Personality.Name.allCases)
    func `T-11 a push that fails after its backup makes no other backup`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            try await ada.elsewhere.edit(id, Rows.password("theirs"))
            try await ada.edit(id, Rows.password("mine"))
            var fault = Fault(.answer(.refusal(500, "broken"), isCarriedOut: false))
            fault.operation = .updateCipher
            fault.times = 3
            await world.server.inject(fault)
            for _ in 0..<5 {
                try await ada.run()
                world.time.pass(.seconds(1_000))
            }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.count == 2)
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
            let reused = #"holdfast_backups_total{reason="hardConflict",outcome="reused"}"#
            #expect(await world.registry.figure(reused) == 3)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-11 a backup whose answer was lost is found and not made again`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            try await ada.elsewhere.edit(id, Rows.password("theirs"))
            try await ada.edit(id, Rows.password("mine"))
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.count == 2)
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
            let reused = #"holdfast_backups_total{reason="hardConflict",outcome="reused"}"#
            #expect(await world.registry.figure(reused) == 1)
        }
    }

    @Test(arguments: [true, false])
    func `T-12 whoever gives way by turns is kept once, heard of or not`(
        _ isHeard: Bool
    ) async throws {
        try await Rows.open { world, ada, id in
            let mine = #"{"name":"mail - 2020-01-01 00:00:00","notes":"mine"}"#
            try await ada.edit(id, mine)
            world.time.pass(.seconds(5))
            try await ada.elsewhere.edit(id, #"{"name":"mail","notes":"theirs 1"}"#)
            // Theirs is the later, but its turn does not come to an end.
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run(.all)
            world.time.pass(.seconds(25))
            try await ada.wish(.favour(true), id)
            // Now ours is, and its turn does not, either.
            let refusal = Fault.Effect.answer(.refusal(409, "no"), isCarriedOut: false)
            await world.server.inject(
                isHeard ? Fault(refusal, on: .updateCipher) : Fault(Self.lost, on: .createCipher)
            )
            try await ada.run(.all)
            world.time.pass(.seconds(25))
            try await ada.elsewhere.edit(id, #"{"name":"mail","notes":"theirs 2"}"#)
            for _ in 0..<3 {
                try await ada.run(.all)
                world.time.pass(.seconds(901))
            }
            #expect(try ada.changes.isEmpty)
            let notes = try await ada.elsewhere.items.compactMap(\.notes)
            #expect(notes.count { $0 == "mine" } == 1)
            #expect(notes.contains("theirs 2"))
            #expect(Set(notes).count == notes.count)
        }
    }

    @Test(arguments: [false, true])
    func `T-12 what somebody else has made anew in the same way is not made again`(
        _ isFavourite: Bool
    ) async throws {
        try await Rows.open { world, ada, id in
            let notes = #""name":"mail","notes":"mine""#
            try await ada.edit(id, #"{\#(notes),"favorite":\#(isFavourite)}"#)
            let wanted = try await ada.elsewhere.item(id)
            try await ada.elsewhere.delete(id)
            let same = try wanted.edited(
                by: ItemBody(Array("{\(notes)}".utf8)),
                at: try #require(try ada.change(id)).updated,
                keys: ada.ring,
                entropy: world.chance
            )
            let made = try await ada.elsewhere.post(
                "/api/ciphers",
                String(decoding: same.cipher.request(Sending()), as: UTF8.self)
            )
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            let kept = try #require(items.first { $0.id == (try? ada.base(id))?.lane.cipherID })
            #expect(kept.notes == "mine" && kept.cipher.isFavorite == isFavourite)
            // What is wanted as a favourite is not what somebody else has made.
            #expect(items.count == (isFavourite ? 2 : 1))
            #expect(made.contains(try #require(kept.id)) == !isFavourite)
        }
    }

    @Test func `T-12 what an earlier change has kept is not kept again when it comes up once more`()
        async throws
    {
        try await Rows.open { world, ada, id in
            for round in 1...2 {
                world.time.pass(.seconds(5))
                try await ada.elsewhere.edit(id, #"{"name":"mail","notes":"theirs"}"#)
                try await ada.edit(id, #"{"name":"mail","notes":"mine \#(round)"}"#)
                try await ada.run()
                #expect(try ada.changes.isEmpty)
                try await ada.refresh()
            }
            #expect(try ada.resolutions.map(\.outcome) == [.backedUpServer, .backedUpServer])
            let notes = try await ada.elsewhere.items.compactMap(\.notes)
            #expect(notes.sorted() == ["mine 2", "theirs"])
        }
    }

    @Test(arguments: [true, false])
    func `I7 a copy that an old list still shows, or that is about to go, is not relied on`(
        _ isListOld: Bool
    ) async throws {
        try await Rows.open { world, ada, id in
            try await ada.elsewhere.edit(id, #"{"name":"mail","notes":"theirs"}"#)
            try await ada.edit(id, #"{"name":"mail","notes":"mine"}"#)
            try await ada.run()
            try await ada.refresh()
            let kept = try #require(try await ada.elsewhere.items.first { $0.id != id }?.id)
            world.time.pass(.seconds(5))
            try await ada.elsewhere.edit(id, #"{"name":"mail","notes":"theirs"}"#)
            if isListOld {
                let list = try await ada.upstream.fetch(.patient)
                #expect(list.ciphers.count == 2)
                await world.server.inject(Fault(.stale, on: .sync))
                try await ada.elsewhere.delete(kept)
            } else {
                try await ada.wish(.hardDelete, kept)
            }
            try await ada.edit(id, #"{"name":"mail","notes":"mine again"}"#)
            for _ in 1...2 {
                try await ada.run()
                world.time.pass(.seconds(60))
            }
            #expect(try ada.changes.isEmpty)
            let notes = try await ada.elsewhere.items.compactMap(\.notes)
            #expect(notes.sorted() == ["mine again", "theirs"])
        }
    }

    @Test func `T-12 what a discarded change has kept is not kept again by the next`() async throws
    {
        try await Rows.open { world, ada, id in
            try await ada.elsewhere.edit(id, #"{"name":"mail","notes":"theirs"}"#)
            try await ada.edit(id, #"{"name":"mail","notes":"mine"}"#)
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            let change = try #require(try ada.change(id))
            let moment = change.updated
            #expect(
                try await world.store.discard(change.id, expecting: change.version, at: moment)
            )
            try await ada.edit(id, #"{"name":"mail","notes":"mine again"}"#)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let notes = try await ada.elsewhere.items.compactMap(\.notes)
            #expect(notes.sorted() == ["mine again", "theirs"])
        }
    }

    @Test func `T-49 a backup of the longest name is cut and made`() async throws {
        let name = String(repeating: "ä", count: 343)
        try await Rows.open(.bitwarden, #"{"type":1,"name":"\#(name)"}"#) { world, ada, id in
            try await ada.elsewhere.edit(id, #"{"name":"\#(name)","notes":"theirs"}"#)
            try await ada.edit(id, #"{"name":"\#(name)","notes":"mine"}"#)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let backup = try #require(try await ada.elsewhere.items.first { $0.id != id })
            #expect(backup.notes == "theirs")
            #expect(try #require(backup.name).hasPrefix("ää"))
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-49 a backup whose folder is gone is made without it`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let folder = try await ada.elsewhere.addFolder("work")
            let id = try await ada.elsewhere.add(
                #"{"type":1,"name":"mail","folderId":"\#(folder)","notes":"0"}"#
            )
            try await ada.refresh()
            try await ada.edit(id, #"{"name":"mail","folderId":"\#(folder)","notes":"mine"}"#)
            try await ada.elsewhere.edit(id, #"{"name":"mail","notes":"theirs"}"#)
            try await ada.elsewhere.removeFolder(folder)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let notes = try await ada.elsewhere.items.map(\.notes)
            #expect(Set(notes) == ["theirs", "mine"])
        }
    }

    private static let passkey = """
        {"type":1,"name":"mail","login":{"username":"ada","password":"first",
        "fido2Credentials":[{"credentialId":"c1","keyType":"public-key","keyAlgorithm":"ECDSA",
        "keyCurve":"P-256","keyValue":"MIGH","rpId":"example.test","userHandle":"aGFuZGxl",
        "userName":"ada","counter":"7","rpName":"Example","userDisplayName":"Ada L",
        "discoverable":"true","creationDate":"2025-01-02T03:04:05.678Z"}]}}
        """

    @Test(arguments: Personality.Name.allCases)
    func `T-51 a backup of an item with passkeys opens, passkeys and all`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality, Self.passkey) { world, ada, id in
            let theirs = Self.passkey.replacing("first", with: "theirs")
            let mine = Self.passkey.replacing("first", with: "mine")
            try await ada.elsewhere.edit(id, theirs)
            try await ada.edit(id, mine)
            try await ada.run()
            for item in try await ada.elsewhere.items {
                #expect(item.flaws.isEmpty)
                #expect(item.cipher.document.root["login"]?["fido2Credentials"]?.array?.count == 1)
            }
            #expect(try await ada.elsewhere.items.count == 2)
        }
    }

    @Test func `T-60 a backup of a stamped item in the trash has one stamp and is in no trash`()
        async throws
    {
        let item = #"{"type":1,"name":"mail - 2025-01-02 03:04:05","notes":"0"}"#
        try await Rows.open(.bitwarden, item) { world, ada, id in
            try await ada.elsewhere.edit(
                id,
                #"{"name":"mail - 2025-01-02 03:04:05","notes":"theirs"}"#
            )
            try await ada.elsewhere.trash(id)
            try await ada.edit(id, #"{"name":"mail","notes":"mine"}"#)
            try await ada.run()
            let items = try await ada.elsewhere.items
            let backup = try #require(items.first { $0.id != id })
            #expect(backup.notes == "theirs" && !backup.cipher.isInTrash)
            #expect(try #require(backup.name).count == "mail - 2025-01-02 03:04:05".count)
            #expect(items.first { $0.id == id }?.cipher.isInTrash == false)
        }
    }

    // MARK: What is no conflict

    @Test(arguments: Personality.Name.allCases)
    func `T-25 what moved only in place is pushed over without a backup and stays there`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            let folder = try await ada.elsewhere.addFolder("work")
            try await ada.edit(id, Rows.password("mine"))
            try await ada.elsewhere.edit(
                id,
                """
                {"name":"mail","favorite":true,"folderId":"\(folder)",
                "login":{"username":"ada","password":"first"}}
                """
            )
            try await ada.run()
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == ["mine"])
            #expect(items.first?.cipher.isFavorite == true)
            #expect(items.first?.cipher.folderID == folder)
            #expect(try ada.resolutions.map(\.outcome) == [.pushed])
        }
    }

    @Test func `T-17 a stamp with other digits is the same stamp`() async throws {
        try await Rows.open { world, ada, id in
            await world.server.setStampDigits(3)
            try await ada.edit(id, Rows.password("mine"))
            try await ada.run()
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["mine"])
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `P4 the same edit on both sides makes no backup`() async throws {
        try await Rows.open { world, ada, id in
            try await ada.elsewhere.edit(id, #"{"name":"same"}"#)
            try await ada.edit(id, #"{"name":"same"}"#)
            try await ada.run()
            #expect(try await ada.elsewhere.names == ["same"])
            #expect(try ada.changes.isEmpty)
        }
    }

    // MARK: Changes of kind

    @Test(arguments: Personality.Name.allCases)
    func `T-26 an edit and then the trash arrive both`(_ personality: Personality.Name)
        async throws
    {
        try await Rows.open(personality) { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            try await ada.wish(.trash, id)
            try await ada.run()
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "mine" && item.cipher.isInTrash)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `T-26 with a conflict the edit is kept and upstream's copy stands`() async throws {
        try await Rows.open { world, ada, id in
            try await ada.elsewhere.edit(id, Rows.password("theirs"))
            try await ada.edit(id, Rows.password("mine"))
            try await ada.wish(.trash, id)
            try await ada.run()
            let items = try await ada.elsewhere.items
            #expect(items.first { $0.id == id }?.login?.password == "theirs")
            #expect(items.first { $0.id != id }?.login?.password == "mine")
            #expect(!items.contains { $0.cipher.isInTrash })
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-27 an edit of what is to be trashed arrives in the trash`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            try await ada.wish(.trash, id)
            try await ada.edit(id, Rows.password("mine"))
            try await ada.run()
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "mine" && item.cipher.isInTrash)
        }
    }

    @Test func `T-28 a deletion after an edit keeps the first baseline`() async throws {
        try await Rows.open { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            try await ada.elsewhere.edit(id, Rows.password("theirs"))
            try await ada.refresh()
            try await ada.wish(.hardDelete, id)
            try await ada.run()
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["theirs"])
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `T-32 a trash in between does not hide how often the password changed`()
        async throws
    {
        try await Rows.open { world, ada, id in
            for number in 1...3 { try await ada.edit(id, Rows.password("p\(number)")) }
            try await ada.wish(.trash, id)
            try await ada.edit(id, Rows.password("p4"))
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 2)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-35 what was trashed elsewhere is restored for newer content`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            try await ada.elsewhere.trash(id)
            try await ada.edit(id, Rows.password("mine"))
            try await ada.run()
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == ["mine"])
            #expect(items.first?.cipher.isInTrash == false)
            #expect(
                world.wire.requests == [
                    "GET /api/ciphers/\(id)/details", "PUT /api/ciphers/\(id)/restore",
                    "PUT /api/ciphers/\(id)",
                ]
            )
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-36 what moved to an organisation stays there, and the edit becomes a copy`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            try await ada.elsewhere.share(id)
            try await ada.run()
            let items = try await ada.elsewhere.items
            #expect(items.first { $0.id == id }?.cipher.organizationID != nil)
            let copy = try #require(items.first { $0.id != id })
            #expect(copy.login?.password == "mine" && copy.cipher.organizationID == nil)
            #expect(try ada.changes.isEmpty)
            #expect(!world.wire.requests.contains("PUT /api/ciphers/\(id)"))
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-37 what was only trashed elsewhere is deleted`(_ personality: Personality.Name)
        async throws
    {
        try await Rows.open(personality) { world, ada, id in
            try await ada.wish(.hardDelete, id)
            try await ada.elsewhere.trash(id)
            try await ada.run()
            #expect(try await ada.elsewhere.items.isEmpty)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-38 a deletion after a trash whose answer was lost is carried out`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            try await ada.wish(.trash, id)
            await world.server.inject(Fault(Self.lost, on: .trashCipher))
            try await ada.run()
            try await ada.wish(.hardDelete, id)
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try await ada.elsewhere.items.isEmpty)
            #expect(try ada.changes.isEmpty)
        }
    }

    // MARK: Content

    @Test(arguments: Personality.Name.allCases)
    func `T-52 content goes out under the key that upstream's copy has`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            let old = try await ada.elsewhere.item(id).cipher
            let rekeyed = try Cipher(
                creating: ItemBody(Array(Rows.mail.utf8)),
                id: id,
                at: world.surroundings.now,
                keys: ada.ring,
                entropy: world.chance
            )
            world.time.pass(.seconds(10))
            try await ada.elsewhere.put(id, rekeyed, over: old)
            try await ada.run()
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "mine" && item.flaws.isEmpty)
            #expect(item.cipher.key == rekeyed.key)
            #expect(try await ada.elsewhere.items.count == 1)
        }
    }

    @Test func `T-54 T-58 every attempt sends the same bytes`() async throws {
        try await Rows.open { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            var fault = Fault(.answer(.refusal(500, "broken"), isCarriedOut: false))
            fault.operation = .updateCipher
            fault.times = 2
            await world.server.inject(fault)
            for _ in 0..<3 {
                try await ada.run()
                world.time.pass(.seconds(1_000))
            }
            let bodies = world.wire.bodies.filter { !$0.isEmpty }
            #expect(bodies.count == 3 && Set(bodies).count == 1)
            let item = try await ada.elsewhere.item(id)
            #expect(item.passwordHistory.map(\.password) == ["first"])
        }
    }

    @Test func `T-50 a request says for whom and with which key it was encrypted`() async throws {
        try await Rows.open { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            try await ada.run()
            let body = try JSON.Document(try #require(world.wire.bodies.last)).root
            #expect(body["encryptedFor"]?.string == ada.userID)
            #expect(body["encryptedByKeyId"]?.string == ada.ring.user.keyID.description)
        }
    }

    /// The former key may be nowhere by then.
    @Test(arguments: [Edit.Wish.trash, .hardDelete])
    func `P12, I17 an item whose key was only wrapped anew is trashed and deleted as it was wished`(
        _ wish: Edit.Wish
    ) async throws {
        try await World.open { world in
            let ada = try await world.person()
            let id = try await ada.elsewhere.add(Rows.mail)
            try await ada.refresh()
            try await ada.wish(wish, id)
            let rotated = try world.newRing()
            try await ada.elsewhere.reseal(id, with: rotated)
            ada.keys.unlock(rotated)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items(openedWith: rotated)
            #expect(items.allSatisfy { $0.cipher.isInTrash })
            #expect(items.count == (wish == .trash ? 1 : 0))
            #expect(try ada.resolutions.allSatisfy { $0.winner == nil })
        }
    }

    /// What landed is known by what is sealed in it, though the item's key is wrapped anew.
    @Test(arguments: Personality.Name.allCases)
    func `P12, I17, I5 what landed unanswered is our own after the account got another key`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            await world.server.inject(Fault(.loseAnswer, on: .updateCipher))
            try await ada.run()
            try await ada.edit(id, Rows.password("newest"))
            let rotated = try world.newRing()
            try await ada.elsewhere.reseal(id, with: rotated)
            ada.keys.unlock(rotated)
            _ = try await ada.reseal(from: ada.ring)
            world.time.pass(.seconds(60))
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items(openedWith: rotated)
            #expect(items.map { $0.login?.password } == ["newest"])
            #expect(try ada.resolutions.allSatisfy { $0.winner == nil })
        }
    }

    /// Another device only puts it elsewhere then.
    enum Landing: CaseIterable, Sendable { case unanswered, died, placed, withoutKey }

    @Test(arguments: Landing.allCases, Personality.Name.allCases)
    func `T-23, I5 what landed unanswered is our own wherever others put it`(
        _ landing: Landing,
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let id =
                landing == .withoutKey
                ? try await ada.elsewhere.addWithoutKey(name: "mail", password: "first")
                : try await ada.elsewhere.add(Rows.mail)
            try await ada.refresh()
            let first = try await ada.edit(id, Rows.password("mine"))
            func place(isFavorite: Bool) async throws {
                let place = PartialRequest(folderID: nil, isFavorite: isFavorite)
                _ = try await ada.elsewhere.account.update(id, place)
            }
            if landing == .placed { try await place(isFavorite: true) }
            if landing == .died {
                // It was written down and sent, and nobody heard the answer.
                let sent = try #require(try ada.change(id)?.intent.snapshot)
                let content = try Cipher(sent.json)
                try await ada.elsewhere.put(id, content, over: ada.elsewhere.item(id).cipher)
                let now = world.surroundings.now
                _ = try await world.store.update(first.change.id, expecting: 1) {
                    $0.note(Attempt(.update, at: now, of: content))
                    $0.state = .inFlight
                }
            } else {
                await world.server.inject(Fault(.loseAnswer, on: .updateCipher))
                try await ada.run()
            }
            try await ada.edit(id, Rows.password("newest"))
            try await place(isFavorite: landing != .placed)
            world.time.pass(.seconds(60))
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["newest"])
            #expect(try ada.resolutions.allSatisfy { $0.winner == nil })
        }
    }

    /// What upstream shows then is not others' wish, to be followed.
    @Test(arguments: Personality.Name.allCases, [false, true])
    func `T-23, I5 a place that landed unanswered is not followed by what was written after it`(
        _ personality: Personality.Name,
        isWithContent: Bool
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            let folder = try await ada.elsewhere.addFolder("work")
            if isWithContent {
                await world.server.inject(Fault(.loseAnswer, on: .updateCipher))
                try await ada.edit(
                    id,
                    #"{"name":"mail","folderId":"\#(folder)","favorite":true,"login":{"username":"ada"}}"#
                )
            } else {
                await world.server.inject(Fault(.loseAnswer, on: .placeCipher))
                try await ada.wish(.place(.id(folder), isFavourite: true), id)
            }
            try await ada.run()
            #expect(try await ada.elsewhere.item(id).cipher.folderID == folder)
            try await ada.edit(
                id,
                #"{"name":"mail","folderId":null,"favorite":false,"login":{"username":"eve"}}"#
            )
            world.time.pass(.seconds(60))
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.username == "eve")
            #expect(item.cipher.folderID == nil && !item.cipher.isFavorite)
        }
    }

    /// A client that is younger than this program.
    @Test(arguments: [Edit.Wish.hardDelete, nil])
    func `I1, I15 what others wrote where this program knows no member is theirs all the same`(
        _ wish: Edit.Wish?
    ) async throws {
        try await Rows.open(.vaultwarden) { world, ada, id in
            if let wish {
                try await ada.wish(wish, id)
            } else {
                try await ada.edit(id, Rows.password("mine"))
            }
            world.time.pass(.seconds(10))
            let known = try await ada.elsewhere.item(id).cipher
            let code = try known.sealer(in: ada.ring, entropy: world.chance).seal("code")
            var edit = JSON.Edit(try JSON.Document(known.bytes))
            try edit.set([.member("login"), .member("recoveryCode")], to: JSON.Raw(code))
            try await ada.elsewhere.put(id, Cipher(edit.bytes), over: known)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let texts = try await ada.elsewhere.items.map {
                String(decoding: $0.cipher.bytes, as: UTF8.self)
            }
            #expect(texts.contains { $0.contains("recoveryCode") }, "\(texts.count)")
        }
    }

    @Test func `T-57 content under a key that was changed is never sent`() async throws {
        try await Rows.open { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            let rotated = try world.newRing()
            ada.keys.unlock(rotated)
            try await ada.run()
            #expect(world.wire.requests.isEmpty)
            let change = try #require(try ada.change(id))
            #expect(change.state == .quarantined && change.lastFailure?.kind == .keyChanged)
            #expect(change.intent.snapshot != nil)
        }
    }

    @Test func `T-57, I17 with both keys at hand what is pending is brought under the new one`()
        async throws
    {
        try await Rows.open { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            let made = try await ada.add(
                #"{"type":1,"name":"more","login":{"password":"new"}}"#
            )
            let rotated = try world.newRing()
            try await ada.elsewhere.reseal(id, with: rotated)
            ada.keys.unlock(rotated)
            try await ada.run()
            #expect(try ada.changes.map(\.state) == [.quarantined, .quarantined])
            let count = try await ada.reseal(from: ada.ring)
            #expect(count == 2)
            #expect(try ada.changes.map(\.state) == [.ready, .ready])
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items(openedWith: rotated)
            #expect(items.compactMap { $0.login?.password }.sorted() == ["mine", "new"])
            #expect(try ada.base(made) != nil)
            let again = try await ada.reseal(from: ada.ring)
            #expect(again == 0)
        }
    }

    @Test func `T-57, P12 what is to be trashed or deleted is, after the account got another key`()
        async throws
    {
        try await Rows.open { world, ada, id in
            let other = try await ada.elsewhere.add(Rows.mail)
            try await ada.refresh()
            try await ada.wish(.trash, id)
            try await ada.wish(.hardDelete, other)
            let rotated = try world.newRing()
            for item in [id, other] { try await ada.elsewhere.reseal(item, with: rotated) }
            ada.keys.unlock(rotated)
            let versions = try ada.changes.map(\.version)
            #expect(try await ada.reseal(from: world.newRing()) == 0, "It is under another key.")
            #expect(try ada.changes.allSatisfy { $0.baseCopy != nil })
            #expect(try ada.changes.map(\.version) == versions)
            #expect(try await ada.reseal(from: ada.ring) == 2)
            #expect(try await ada.reseal(from: ada.ring) == 0, "Nothing is left to do.")
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items(openedWith: rotated)
            #expect(items.map(\.id) == [id])
            #expect(items.first?.cipher.isInTrash == true)
        }
    }

    @Test func `T-57 what waits comes under the new key before the vault is opened with it`()
        async throws
    {
        try await Rows.open { world, ada, id in
            try await ada.wish(.hardDelete, id)
            let rotated = try world.newRing()
            try await ada.elsewhere.reseal(id, with: rotated)
            ada.keys.lock()
            let count = try await ada.resolver.address
                .ask { .reseal(from: ada.ring, to: rotated, $0) }.get()
            #expect(count == 1)
            ada.keys.unlock(rotated)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.lacks(id))
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `I15 what got a file elsewhere is not deleted by who has not seen it`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            try await ada.wish(.hardDelete, id)
            try await ada.elsewhere.attach("will.txt", to: id)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).attachments.count == 1)
            // Who deletes it now has seen the file.
            try await ada.refresh()
            try await ada.wish(.hardDelete, id)
            try await ada.run()
            #expect(try await ada.elsewhere.lacks(id))
        }
    }

    @Test func `T-57, P4 what was kept under the old key is not kept again under the new one`()
        async throws
    {
        try await Rows.open { world, ada, id in
            try await ada.elsewhere.edit(id, Rows.password("theirs"))
            try await ada.edit(id, Rows.password("mine"))
            let refusal = Canned.refusal(400, "No cats allowed.")
            await world.server.inject(
                Fault(.answer(refusal, isCarriedOut: false), on: .updateCipher)
            )
            try await ada.run()
            let rotated = try world.newRing()
            try await ada.elsewhere.reseal(id, with: rotated)
            ada.keys.unlock(rotated)
            _ = try await ada.reseal(from: ada.ring)
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items(openedWith: rotated)
            #expect(items.first { $0.id == id }?.login?.password == "mine")
            #expect(items.count == 2)
        }
    }

    @Test func `U10 a create in doubt is found again under the account's new key`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            try await ada.add(Rows.mail)
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            let rotated = try world.newRing()
            let id = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.elsewhere.reseal(id, with: rotated)
            ada.keys.unlock(rotated)
            _ = try await ada.reseal(from: ada.ring)
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items(openedWith: rotated).count == 1)
        }
    }

    @Test func `T-57 what does not open with the old key either stays set aside`() async throws {
        try await Rows.open { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            ada.keys.unlock(try world.newRing())
            try await ada.run()
            let stranger = try world.newRing()
            let count = try await ada.reseal(from: stranger)
            #expect(count == 0)
            #expect(try ada.change(id)?.state == .quarantined)
        }
    }

    @Test func `G-VR3 a password that would be lost is kept whatever the counter says`()
        async throws
    {
        try await Rows.open { world, ada, id in
            for number in 1...6 { try await ada.edit(id, Rows.password("p\(number)")) }
            let change = try #require(try ada.change(id))
            _ = try await world.store.update(change.id, expecting: change.version) {
                $0.passwordChanges = 0
            }
            try await ada.run()
            let passwords = try await ada.elsewhere.items.map { $0.login?.password }
            #expect(Set(passwords) == ["p6", "first"])
        }
    }

    @Test func `with a locked vault nothing is tried`() async throws {
        try await Rows.open { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            ada.keys.lock()
            let report = try await ada.run()
            #expect(report == RunReport())
            #expect(world.wire.requests.isEmpty)
            ada.keys.unlock(ada.ring)
            #expect(try await ada.run().settled == 1)
        }
    }
}
