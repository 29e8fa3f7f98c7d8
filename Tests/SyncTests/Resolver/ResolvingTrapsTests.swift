import Bitwarden
import Crypto
import EmbeddedUpstream
import Host
import JSON
import MeshSupport
import Messaging
import Sync
import Testing
import Vault

/// What a straightforward resolver gets wrong, each by the number under which it is known.
@Suite(.timeLimit(.minutes(2))) struct ResolvingTrapsTests {
    private static let lost = Fault.Effect.loseAnswer

    // MARK: What is no conflict

    @Test(arguments: Personality.Name.allCases)
    func `T-25 what moved only in place is pushed over without a backup and stays there`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let folder = try await ada.elsewhere.addFolder("work")
            try await ada.edit(id, password("mine"))
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

    @Test(arguments: Personality.Name.allCases, [false, true])
    func `T-25 and it stays there although somebody goes on editing while that is on its way`(
        _ personality: Personality.Name,
        isContent: Bool
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let folder = try await ada.elsewhere.addFolder("work")
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.move(id, to: folder)
            world.wire.interrupt("/api/ciphers/\(id)", isCarriedOut: true) {
                if isContent {
                    try await ada.edit(id, password("newest"))
                } else {
                    try await ada.wish(.unarchive, id)
                }
            }
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == [isContent ? "newest" : "mine"])
            #expect(items.first?.cipher.folderID == folder)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-25 but who chooses another place meanwhile has it there`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let (theirs, mine) = (
                try await ada.elsewhere.addFolder("work"), try await ada.elsewhere.addFolder("home")
            )
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.move(id, to: theirs)
            world.wire.interrupt("/api/ciphers/\(id)", isCarriedOut: true) {
                try await ada.edit(
                    id,
                    #"{"name":"mail","folderId":"\#(mine)","login":{"username":"ada","password":"newest"}}"#
                )
            }
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == ["newest"])
            #expect(items.first?.cipher.folderID == mine)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-25 what was made unheard and edited since stays where others have put it`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let folder = try await ada.elsewhere.addFolder("work")
            let made = try await ada.addUnheard(mail)
            let id = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.elsewhere.move(id, to: folder)
            try await ada.edit(made, password("mine"))
            world.time.pass(.seconds(60))
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == ["mine"])
            #expect(items.first?.cipher.folderID == folder)
        }
    }

    @Test func `T-17 a stamp with other digits is the same stamp`() async throws {
        try await withLogin { world, ada, id in
            await world.server.setStampDigits(3)
            try await ada.edit(id, password("mine"))
            try await ada.run()
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["mine"])
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `P4 the same edit on both sides makes no backup`() async throws {
        try await withLogin { world, ada, id in
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
        try await withLogin(personality) { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.wish(.trash, id)
            try await ada.run()
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "mine" && item.cipher.isInTrash)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `T-26 with a conflict the edit is kept and upstream's copy stands`() async throws {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.edit(id, password("mine"))
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
        try await withLogin(personality) { world, ada, id in
            try await ada.wish(.trash, id)
            try await ada.edit(id, password("mine"))
            try await ada.run()
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "mine" && item.cipher.isInTrash)
        }
    }

    @Test(arguments: Personality.Name.allCases, [true, false])
    func `G-U2 what is wished for besides content that gives way is carried out`(
        _ personality: Personality.Name,
        _ isArchivedFirst: Bool
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let home = try await ada.home()
            try await home.loseNetwork()
            if isArchivedFirst { _ = try await home.edit(.archive(id)) }
            _ = try await home.update(id, password("mine"))
            if !isArchivedFirst { _ = try await home.edit(.archive(id)) }
            _ = try await home.edit(.favour(id, true))
            try await home.regainNetwork()
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.run()
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            let item = items.first { $0.id == id }
            #expect(item?.login?.password == "theirs")
            #expect(item?.cipher.isArchived == true && item?.cipher.isFavorite == true)
            #expect(items.count == 2)
            #expect(items.first { $0.id != id }?.login?.password == "mine")
        }
    }

    @Test func `G-U2 what is to come out of the trash does so though its content gives way`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.trash(id)
            try await ada.refresh()
            try await ada.wish(.restore, id)
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.restore(id)
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.elsewhere.trash(id)
            try await ada.run()
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.first { $0.id == id }?.login?.password == "theirs")
            #expect(!items.contains { $0.cipher.isInTrash })
            #expect(items.first { $0.id != id }?.login?.password == "mine")
        }
    }

    @Test func `T-28 a deletion after an edit keeps the first baseline`() async throws {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.edit(id, password("theirs"))
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
        try await withLogin { world, ada, id in
            for number in 1...3 { try await ada.edit(id, password("p\(number)")) }
            try await ada.wish(.trash, id)
            try await ada.edit(id, password("p4"))
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 2)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-35 what was trashed elsewhere is restored for newer content`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.elsewhere.trash(id)
            try await ada.edit(id, password("mine"))
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
            #expect(try ada.resolutions.map(\.winner) == [.local])
            let kind = #"holdfast_conflicts_total{kind="delete",winner="local"}"#
            #expect(await world.registry.figure(kind) == 1)
        }
    }

    @Test(arguments: [true, false])
    func `T-35 that is told, too, if the run ends between the restore and the content`(
        _ isRestored: Bool
    ) async throws {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.trash(id)
            try await ada.edit(id, password("mine"))
            var fault = Fault(.answer(.refusal(503, "busy"), isCarriedOut: false))
            fault.operation = isRestored ? .updateCipher : .restoreCipher
            fault.times = 1
            await world.server.inject(fault)
            try await ada.run()
            #expect(try ada.change(id) != nil)
            world.time.pass(.seconds(1_000))
            try await ada.run()
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
            #expect(try ada.resolutions.map(\.winner) == [.local])
            let kind = #"holdfast_conflicts_total{kind="delete",winner="local"}"#
            #expect(await world.registry.figure(kind) == 1)
        }
    }

    @Test func `T-35 what was trashed and restored here is no conflict`() async throws {
        try await withLogin { world, ada, id in
            try await ada.wish(.trash, id)
            try await ada.run()
            try await ada.wish(.restore, id)
            try await ada.edit(id, password("mine"))
            try await ada.run()
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
            #expect(try ada.resolutions.allSatisfy { $0.winner == nil })
            let kind = #"holdfast_conflicts_total{kind="delete",winner="local"}"#
            #expect(await world.registry.figure(kind) == 0)
        }
    }

    @Test func `T-35 nor is what was restored here and edited then, though the answer was lost`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.trash(id)
            try await ada.refresh()
            await world.server.inject(Fault(Self.lost, on: .restoreCipher))
            try await ada.wish(.restore, id)
            for _ in 0..<2 { try await ada.run(.all) }
            #expect(try ada.changes.isEmpty)
            try await ada.edit(id, password("mine"))
            #expect(try ada.change(id)?.attempts.map(\.kind) == [.restore], "It may come late.")
            try await ada.run()
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
            #expect(try ada.resolutions.allSatisfy { $0.winner == nil })
            let kind = #"holdfast_conflicts_total{kind="delete",winner="local"}"#
            #expect(await world.registry.figure(kind) == 0)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-36 what moved to an organisation stays there, and the edit becomes a copy`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.edit(id, password("mine"))
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
        try await withLogin(personality) { world, ada, id in
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
        try await withLogin(personality) { world, ada, id in
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
        try await withLogin(personality) { world, ada, id in
            try await ada.edit(id, password("mine"))
            let old = try await ada.elsewhere.item(id).cipher
            let rekeyed = try Cipher(
                creating: ItemBody(Array(mail.utf8)),
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
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
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
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
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
        try await withLogin { world, ada, id in
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
        try await withLogin(personality) { world, ada, id in
            try await ada.edit(id, password("mine"))
            await world.server.inject(Fault(.loseAnswer, on: .updateCipher))
            try await ada.run()
            try await ada.edit(id, password("newest"))
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
                : try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let first = try await ada.edit(id, password("mine"))
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
            try await ada.edit(id, password("newest"))
            try await place(isFavorite: landing != .placed)
            world.time.pass(.seconds(60))
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["newest"])
            #expect(try ada.resolutions.allSatisfy { $0.winner == nil })
        }
    }

    /// It has taken the content, and not yet what comes after that.
    @Test(arguments: Personality.Name.allCases, [false, true])
    func
        `T-23, I5 what upstream has taken is our own wherever others put it before the rest is done`(
            _ personality: Personality.Name,
            isDeleted: Bool
        ) async throws
    {
        try await withLogin(personality) { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.wish(.archive, id)
            await world.server.inject(
                FailureScopeTests.refusal(503, on: .archiveCipher, times: 1)
            )
            try await ada.run()
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
            #expect(try ada.changes.count == 1)
            let place = PartialRequest(folderID: nil, isFavorite: true)
            _ = try await ada.elsewhere.account.update(id, place)
            if isDeleted {
                try await ada.wish(.hardDelete, id)
            } else {
                try await ada.edit(id, password("newest"))
            }
            world.time.pass(.seconds(60))
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == (isDeleted ? [] : ["newest"]))
            #expect(items.allSatisfy { $0.cipher.isFavorite })
            #expect(try ada.resolutions.allSatisfy { $0.winner == nil })
        }
    }

    /// What upstream shows then is not others' wish, to be followed.
    @Test(arguments: Personality.Name.allCases, [false, true])
    func `T-23, I5 a place that landed unanswered is not followed by what was written after it`(
        _ personality: Personality.Name,
        isWithContent: Bool
    ) async throws {
        try await withLogin(personality) { world, ada, id in
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
        try await withLogin(.vaultwarden) { world, ada, id in
            if let wish {
                try await ada.wish(wish, id)
            } else {
                try await ada.edit(id, password("mine"))
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
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
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
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
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
        try await withLogin { world, ada, id in
            let other = try await ada.elsewhere.add(mail)
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
        try await withLogin { world, ada, id in
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
        try await withLogin(personality) { world, ada, id in
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
        try await withLogin { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.edit(id, password("mine"))
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
            try await ada.add(mail)
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
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
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
        try await withLogin { world, ada, id in
            for number in 1...6 { try await ada.edit(id, password("p\(number)")) }
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
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            ada.keys.lock()
            let report = try await ada.run()
            #expect(report == RunReport())
            #expect(world.wire.requests.isEmpty)
            ada.keys.unlock(ada.ring)
            #expect(try await ada.run().settled == 1)
        }
    }
}
