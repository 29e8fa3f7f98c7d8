import EmbeddedUpstream
import JSON
import MeshSupport
import Sync
import Testing
import Vault

/// What gives way is kept as a backup copy, once.
@Suite(.timeLimit(.minutes(2))) struct ResolvingCopiesTests {
    private static let lost = Fault.Effect.loseAnswer

    @Test(arguments: Personality.Name.allCases)
    func `T-11 a push that fails after its backup makes no other backup`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.edit(id, password("mine"))
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
            let hard = #"holdfast_conflicts_total{kind="hard",winner="local"}"#
            #expect(await world.registry.figure(hard) == 1)
            let resolved = #"holdfast_resolutions_total{type="update",outcome="backedUpServer"}"#
            #expect(await world.registry.figure(resolved) == 1)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-11 a backup whose answer was lost is found and not made again`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.edit(id, password("mine"))
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

    @Test func `T-11 an edit while a backup is made neither fails it nor waits for it`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.edit(id, password("mine"))
            world.wire.interrupt("/ciphers", isCarriedOut: true) {
                try await ada.edit(id, password("mine, later"), after: .seconds(1))
            }
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["mine, later", "theirs"])
            for (outcome, count) in [("created", 1.0), ("reused", 0), ("failed", 0)] {
                let series = #"holdfast_backups_total{reason="hardConflict",outcome="\#(outcome)"}"#
                #expect(await world.registry.figure(series) == count, "\(outcome)")
            }
        }
    }

    @Test(arguments: [true, false])
    func `T-12 whoever gives way by turns is kept once, heard of or not`(
        _ isHeard: Bool
    ) async throws {
        try await withLogin { world, ada, id in
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
        try await withLogin { world, ada, id in
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
        try await withLogin { world, ada, id in
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
        try await withLogin { world, ada, id in
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
        try await withLogin { world, ada, id in
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
        try await withLogin(.bitwarden, #"{"type":1,"name":"\#(name)"}"#) { world, ada, id in
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

    @Test(arguments: Personality.Name.allCases)
    func `T-49 nothing is brought into a folder that the list does not show any more`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let folder = try await ada.elsewhere.addFolder("work")
            let place = #""folderId":"\#(folder)""#
            let inside = try await ada.elsewhere.add(#"{"type":1,"name":"in",\#(place)}"#)
            let (moved, edited) = (
                try await ada.elsewhere.add(#"{"type":1,"name":"moved"}"#),
                try await ada.elsewhere.add(#"{"type":1,"name":"edited"}"#)
            )
            try await ada.refresh()
            try await ada.add(#"{"type":1,"name":"new",\#(place)}"#)
            try await ada.edit(inside, #"{"name":"in","notes":"mine",\#(place)}"#)
            try await ada.wish(.move(.id(folder)), moved)
            try await ada.edit(edited, #"{"name":"edited","notes":"mine",\#(place)}"#)
            try await ada.elsewhere.removeFolder(folder)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.count == 4 && items.allSatisfy { $0.cipher.folderID == nil })
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-49 what waits goes into a folder that an old list does not show yet, asked for once`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let ids = try await ada.furnish(4)
            await world.server.remember()
            let folder = try await ada.elsewhere.addFolder("work")
            let slice = BaseSlice(.folder, id: folder, json: [1])
            try await world.store.putSlice(slice, of: ada.userID)
            for id in ids { try await ada.wish(.move(.id(folder)), id) }
            await world.server.inject(Fault(.outdated, on: .sync))
            try await ada.run()
            let asked = world.wire.requests.filter { $0 == "GET /api/folders/\(folder)" }
            #expect(asked.count == 1)
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.count == 4 && items.allSatisfy { $0.cipher.folderID == folder })
        }
    }

    /// With so many, what upstream has is looked up in one list.
    @Test(
        arguments: [(Personality.Name.bitwarden, 4), (.vaultwarden, 4), (.vaultwarden, 1)],
        [true, false]
    )
    func
        `T-49 what waits leaves a folder that is gone, and no other into which it was moved elsewhere`(
            _ world: (personality: Personality.Name, items: Int),
            _ isInside: Bool
        ) async throws
    {
        try await World.open(world.personality) { [count = world.items] world in
            let ada = try await world.person()
            let folder = try await ada.elsewhere.addFolder("work")
            let place = #""folderId":"\#(folder)""#
            var ids: [String] = []
            for number in 0..<count {
                let rest = isInside ? ",\(place)" : ""
                let item = #"{"type":1,"name":"\#(number)"\#(rest)}"#
                ids.append(try await ada.elsewhere.add(item))
            }
            try await ada.refresh()
            for (number, id) in ids.enumerated() {
                if isInside || number > 1 {
                    try await ada.edit(id, #"{"name":"\#(number)","notes":"mine",\#(place)}"#)
                } else {
                    try await ada.wish(.move(.id(folder)), id)
                }
            }
            let other = try await ada.elsewhere.addFolder("home")
            for id in ids { try await ada.elsewhere.move(id, to: other) }
            try await ada.elsewhere.removeFolder(folder)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.count == count && items.allSatisfy { $0.cipher.folderID == other })
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
        try await withLogin(personality, Self.passkey) { world, ada, id in
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
        try await withLogin(.bitwarden, item) { world, ada, id in
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

    private static func noted(_ password: String) -> String {
        #"{"name":"mail","notes":"later","login":{"username":"ada","password":"\#(password)"}}"#
    }

    @Test(arguments: Personality.Name.allCases)
    func `P4, R-077 what has come up from here is not kept for the passwords that came with it`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            for number in 1...4 { try await ada.edit(id, password("mine \(number)")) }
            world.wire.interrupt("/api/ciphers/\(id)", isCarriedOut: true) {
                try await ada.edit(id, Self.noted("mine 4"))
            }
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.first { $0.id == id }?.notes == "later")
            let copies = items.filter { $0.id != id }
            #expect(copies.map { $0.login?.password } == ["first"])
            #expect(try ada.resolutions.map(\.backupCipherID) == copies.map(\.id))
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func
        `P4, R-077 nor is a new item whose answer was lost, however often its password was changed`(
            _ personality: Personality.Name
        ) async throws
    {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let id = try await ada.add(mail)
            for number in 1...4 { try await ada.edit(id, password("mine \(number)")) }
            await world.server.inject(Fault(Self.lost, on: .createCipher))
            try await ada.run()
            try await ada.edit(id, Self.noted("mine 4"))
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map(\.notes) == ["later"])
        }
    }
}
