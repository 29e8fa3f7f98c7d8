import Crypto
import EmbeddedUpstream
import MeshSupport
import Messaging
import Metrics
import Records
import SQLite
import System
import Testing
import Vault

@testable import Sync

/// What hardly ever happens.
@Suite(.timeLimit(.minutes(2))) struct ResolvingEdgesTests {
    /// The same change without a baseline, which no edit makes.
    private static func forgetBaseline(_ id: String, _ ada: Person) async throws {
        let change = try #require(try ada.change(id))
        let blind = PendingChange(
            id: change.id,
            userID: change.userID,
            cipherID: change.cipherID,
            version: change.version,
            intent: change.intent,
            baseline: nil,
            created: change.created,
            updated: change.updated,
            clock: change.clock
        )
        try await ada.world.store.write { (db) throws(DatabaseError) in
            guard let stored = try PendingTable.summary(id: blind.id, db) else { return }
            _ = try PendingTable.replace(stored, by: PendingRecord(blind), db)
        }
    }

    @Test func `row 100: T-21 without a baseline the edit is put, and upstream's copy is kept`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.edit(id, password("theirs"))
            try await Self.forgetBaseline(id, ada)
            try await ada.run()
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
            let passwords = try await ada.elsewhere.items.map { $0.login?.password }
            #expect(Set(passwords) == ["mine", "theirs"])
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `T-21 without a baseline nothing is deleted`() async throws {
        try await withLogin { world, ada, id in
            try await ada.wish(.hardDelete, id)
            try await Self.forgetBaseline(id, ada)
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 1)
            #expect(try ada.changes.isEmpty)
            #expect(try ada.resolutions.map(\.outcome) == [.restoredServer])
        }
    }

    @Test func `row 102: a backup of an item with an empty name is called by its stamp`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let (name, notes) = (try ada.ring.user.seal(""), try ada.ring.user.seal("0"))
            let note = """
                {"type":2,"name":"\(name)","notes":"\(notes)","secureNote":{"type":0}}
                """
            let id = try await ada.elsewhere.post("/api/ciphers", note)
            try await ada.refresh()
            try await ada.elsewhere.edit(id, #"{"name":"","notes":"theirs"}"#)
            try await ada.edit(id, #"{"name":"","notes":"mine"}"#)
            try await ada.run()
            let backup = try #require(try await ada.elsewhere.items.first { $0.id != id })
            let called = try #require(backup.name)
            #expect(called.wholeMatch(of: #/ - [-0-9]{10} [:0-9]{8}/#) != nil)
        }
    }

    @Test(arguments: [-2, 2])
    func `T-19 G-CLOCK a host whose clock is hours wrong lets the right side win`(
        _ hours: Int
    ) async throws {
        try await World.open { world in
            world.time.step(.seconds(hours * 3_600))
            let ada = try await world.person()
            let (one, two) = (
                try await ada.elsewhere.add(mail), try await ada.elsewhere.add(mail)
            )
            try await ada.refresh()
            try await ada.elsewhere.edit(one, password("theirs"))
            try await ada.edit(one, password("mine"))
            try await ada.edit(two, password("mine"))
            try await ada.elsewhere.edit(two, password("theirs"))
            try await ada.run()
            #expect(try await ada.elsewhere.item(one).login?.password == "mine")
            #expect(try await ada.elsewhere.item(two).login?.password == "theirs")
        }
    }

    @Test func `G-CLOCK a clock that is set between edit and run changes nothing`() async throws {
        try await World.open { world in
            world.time.step(.seconds(7_200))
            let ada = try await world.person()
            let id = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.edit(id, password("theirs"))
            world.time.step(.seconds(-7_200))
            try await ada.run()
            #expect(try await ada.elsewhere.item(id).login?.password == "theirs")
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-67 what is made anew twice over keeps one id after another`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            var last = id
            for number in 1...2 {
                try await ada.edit(id, password("mine \(number)"))
                try await ada.elsewhere.delete(last)
                try await ada.run()
                last = try #require(try await ada.elsewhere.items.first?.id)
                #expect(try ada.base(id)?.lane.cipherID == last)
                #expect(try world.store.reader.layers(of: ada.userID).base.count == 1)
            }
        }
    }

    @Test func `T-26 what was edited and trashed here and is gone there comes back to the trash`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.wish(.trash, id)
            try await ada.elsewhere.delete(id)
            try await ada.run()
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == ["mine"])
            let trashed = items.filter { $0.cipher.isInTrash }
            #expect(trashed.count == items.count)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `G-U2 every wish at once goes out in order`(_ personality: Personality.Name)
        async throws
    {
        try await withLogin(personality) { world, ada, id in
            try await ada.elsewhere.trash(id)
            try await ada.refresh()
            try await ada.wish(.restore, id)
            try await ada.edit(id, password("mine"))
            try await ada.wish(.archive, id)
            try await ada.wish(.favour(true), id)
            try await ada.run()
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "mine" && !item.cipher.isInTrash)
            #expect(item.cipher.isFavorite && item.cipher.archivedDate != nil)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `what a clock that was a day ahead put off goes once the clock is right`()
        async throws
    {
        try await withLogin { world, ada, id in
            world.time.step(.seconds(86_400))
            try await ada.edit(id, password("mine"))
            let body = Array(#"{"object":"error","message":"no"}"#.utf8)
            let answer = Canned(status: 500, contentType: "application/json", body: body)
            await world.server.inject(
                Fault(.answer(answer, isCarriedOut: false), on: .updateCipher)
            )
            try await ada.run()
            #expect(try ada.changes.count == 1)
            world.time.step(.seconds(-86_400))
            world.time.pass(.seconds(1))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `a create of a clock that was a day ahead is looked for once the clock is right`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            world.time.step(.seconds(86_400))
            try await ada.add(mail)
            await world.server.inject(Fault(.loseAnswer, on: .createCipher))
            try await ada.run()
            world.time.step(.seconds(-86_400))
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.names == ["mail"])
        }
    }

    @Test func `P14 what was written within the same second is told apart by what it says`()
        async throws
    {
        try await World.open { world in
            await world.server.setStampDigits(0)
            let ada = try await world.person()
            let id = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let item = try await ada.elsewhere.item(id)
            let theirs = password("theirs")
            try await ada.elsewhere.edit(id, theirs, after: .zero)
            try #require(
                try await ada.elsewhere.item(id).cipher.revisionDate == item.cipher.revisionDate
            )
            world.time.pass(.seconds(5))
            try await ada.edit(id, password("mine"))
            try await ada.run()
            let items = try await ada.elsewhere.items
            #expect(Set(items.map { $0.login?.password }) == ["mine", "theirs"])
        }
    }

    @Test func `P14 two versions of the same second are both kept`() async throws {
        try await World.open { world in
            await world.server.setStampDigits(0)
            let ada = try await world.person()
            let id = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            func write(_ text: String) async throws {
                let item = try await ada.elsewhere.item(id)
                let edited = try item.edited(
                    by: ItemBody(Array(password(text).utf8)),
                    at: world.surroundings.now,
                    keys: ada.ring,
                    entropy: world.chance
                )
                try await ada.elsewhere.put(id, edited.cipher, over: item.cipher)
            }
            world.time.pass(.seconds(5))
            try await write("theirs")
            try await ada.edit(id, password("mine"))
            let refusal = Canned.refusal(400, "No cats allowed.")
            await world.server.inject(
                Fault(.answer(refusal, isCarriedOut: false), on: .updateCipher)
            )
            try await ada.run()
            let stamp = try await ada.elsewhere.item(id).cipher.revisionDate
            await world.server.shiftClock(seconds: -10)
            try await write("theirs too")
            try #require(try await ada.elsewhere.item(id).cipher.revisionDate == stamp)
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["mine", "theirs", "theirs too"])
        }
    }

    @Test func `P14 what others made of a create in doubt within the same second is kept`()
        async throws
    {
        try await World.open { world in
            await world.server.setStampDigits(0)
            let ada = try await world.person()
            let made = try await ada.addUnheard(mail)
            let item = try #require(try await ada.elsewhere.items.first)
            let theirs = try item.edited(
                by: ItemBody(Array(password("theirs").utf8)),
                at: world.surroundings.now,
                keys: ada.ring,
                entropy: world.chance
            )
            try await ada.elsewhere.put(item.id ?? "", theirs.cipher, over: item.cipher)
            try await ada.edit(made, password("mine"))
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(Set(items.map { $0.login?.password }) == ["mine", "theirs"])
        }
    }

    @Test func `P4 the same content is kept once, wherever upstream puts it meanwhile`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            world.time.pass(.seconds(5))
            try await ada.edit(id, password("mine"))
            await world.server.inject(Fault(.loseAnswer, on: .createCipher))
            try await ada.run()
            let placed = password("theirs").dropLast() + #","favorite":true}"#
            try await ada.elsewhere.edit(id, String(placed))
            world.time.pass(.seconds(5))
            try await ada.edit(id, password("later"))
            world.time.pass(.seconds(60))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password ?? "" }.sorted() == ["later", "theirs"])
        }
    }

    @Test func `P4 what gave way is known here, and gives way once, whatever becomes of the edit`()
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
            let change = try #require(try ada.change(id))
            _ = try await world.store.discard(
                change.id,
                expecting: change.version,
                at: world.surroundings.now
            )
            #expect(try ada.item(id).login?.password == "theirs")
            try await ada.edit(id, password("again"))
            try await ada.run()
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["again", "theirs"])
        }
    }

    @Test func `I5 a list from before the content went out takes nothing back in the trash`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.wish(.trash, id)
            // The same content with another stamp: base will follow, and nobody gives way.
            let there = try await ada.elsewhere.item(id).cipher
            try await ada.elsewhere.put(id, there, over: there)
            let recorded = try await ada.edit(id, password("mine again"), atOnce: true)
            // Right before the PUT is carried out; the GET's path ends in /details.
            world.wire.interrupt("/ciphers/\(id)") { try await ada.refresh() }
            guard case .saved = try await ada.attempt(recorded) else {
                throw Unexpected("not saved")
            }
            #expect(try ada.item(id).login?.password == "mine again")
            #expect(try ada.base(id)?.isTrashed == true)
            // Nor is it taken for something that upstream has undone.
            let scheduler = try await ada.scheduler()
            for _ in 0..<2 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).login?.password == "mine again")
        }
    }

    @Test func `P4, T-11 what gave way within a second gives way once, though the edit is refused`()
        async throws
    {
        try await World.open { world in
            await world.server.setStampDigits(0)
            let ada = try await world.person()
            let id = try await ada.elsewhere.add(mail)
            // An edit in the trash asks first.
            try await ada.elsewhere.trash(id)
            try await ada.refresh()
            let item = try await ada.elsewhere.item(id)
            let theirs = try item.edited(
                by: ItemBody(Array(password("theirs").utf8)),
                at: world.surroundings.now,
                keys: ada.ring,
                entropy: world.chance
            )
            try await ada.elsewhere.put(id, theirs.cipher, over: item.cipher)
            let revision = try await ada.elsewhere.item(id).cipher.revisionDate
            try #require(revision == item.cipher.revisionDate)
            for mine in ["mine", "mine again"] {
                let refusal = Canned.refusal(400, "No cats allowed.")
                await world.server.inject(
                    Fault(.answer(refusal, isCarriedOut: false), on: .updateCipher)
                )
                let recorded = try await ada.edit(id, password(mine), atOnce: true)
                guard case .refused(_, let version) = try await ada.attempt(recorded) else {
                    throw Unexpected("not refused")
                }
                #expect(try await world.store.withdraw(recorded, expecting: version))
                #expect(try ada.item(id).login?.password == "theirs")
            }
            #expect(try await ada.elsewhere.items.count == 2, "The item and one copy.")
        }
    }

    @Test func `I7 what upstream shows when it restores is compared before it is overwritten`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.trash(id)
            world.wire.interrupt("/restore") {
                try await ada.elsewhere.edit(id, password("theirs"))
            }
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["mine", "theirs"])
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `I7 where upstream shows an item to lie when it restores it, there it stays`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let folder = try await ada.elsewhere.addFolder("work")
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.trash(id)
            world.wire.interrupt("/restore") { try await ada.elsewhere.move(id, to: folder) }
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "mine" && item.cipher.folderID == folder)
        }
    }

    @Test
    func `T-02 a step that upstream has answered is known for done by an edit before the next`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.trash(id)
            world.wire.interrupt("/restore", isCarriedOut: true) {
                try await ada.wish(.trash, id)
            }
            try await ada.run()
            // A restore that might come late would have the trash wait.
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `P4 who gives way is decided once, although restoring gives upstream a later stamp`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.elsewhere.trash(id)
            try await ada.edit(id, password("mine"))
            world.time.pass(.seconds(60))
            let refusal = Canned.refusal(400, "No cats allowed.")
            await world.server.inject(
                Fault(.answer(refusal, isCarriedOut: false), on: .updateCipher)
            )
            try await ada.run()
            try #require(try ada.changes.count == 1)
            try await ada.run(.all)
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["mine", "theirs"])
        }
    }

    @Test func `I13 what a list has said of an item stands when it goes into the trash`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.wish(.trash, id)
            world.wire.interrupt("/delete") {
                try await ada.elsewhere.edit(id, password("theirs"))
                try await ada.refresh()
            }
            try await ada.run()
            let base = try #require(try ada.base(id))
            #expect(try ada.item(id).login?.password == "theirs" && base.isTrashed)
            #expect(try await ada.elsewhere.item(id).cipher.isInTrash)
        }
    }

    @Test(arguments: [false, true])
    func `G-RES1 a create in doubt waits for what was edited under its new id`(
        _ isEdited: Bool
    ) async throws {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.addUnheard(mail)
            try await ada.refresh()
            let id = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.edit(id, password("second"))
            if isEdited { try await ada.edit(made, password("third")) }
            for _ in 0..<4 {
                world.time.pass(.seconds(60))
                #expect(try await ada.run(.all).stop == nil)
            }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(Set(passwords) == (isEdited ? ["second", "third"] : ["second"]))
            #expect(try await ada.elsewhere.names.count { $0 == "mail" } == 1)
        }
    }

    @Test func `what was made, changed and trashed while nobody knew is in the trash`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.add(mail)
            await world.server.inject(Fault(.drop, on: .createCipher))
            try await ada.run()
            try await ada.edit(made, password("second"))
            try await ada.wish(.trash, made)
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == ["second"])
            #expect(items.first?.cipher.isInTrash == true)
        }
    }

    @Test func `I17 what was begun with the keys of one session is not sent with another`()
        async throws
    {
        try await withLogin { world, ada, id in
            let kit = try #require(ada.resolver.kit(.patient))
            ada.keys.lock()
            #expect(ada.resolver.kit(.patient) == nil)
            ada.signInAgain()
            ada.keys.unlock(ada.ring)
            await #expect(throws: Setback(.cancelled, operation: "trash cipher")) {
                try await kit.upstream.trash(id, .patient)
            }
            #expect(world.wire.requests.isEmpty)
            let next = try #require(ada.resolver.kit(.patient))
            try await next.upstream.trash(id, .patient)
            #expect(try await ada.elsewhere.item(id).cipher.isInTrash)
        }
    }

    /// Where the vault is locked: when upstream's copy is known, and when the backup copy is there.
    @Test(arguments: ["/details", "/ciphers"])
    func `1.R a vault that is locked amid a run sends nothing more, and goes on where it was`(
        _ ending: String
    ) async throws {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.edit(id, password("theirs"))
            world.time.pass(.seconds(5))
            try await ada.edit(id, password("mine, later"))
            world.wire.interrupt(ending, isCarriedOut: true) { ada.keys.lock() }
            world.wire.forget()
            try await ada.run()
            let isBackedUp = ending == "/ciphers"
            #expect(
                world.wire.requests
                    == ["GET /api/ciphers/\(id)/details"]
                    + (isBackedUp ? ["POST /api/ciphers"] : [])
            )
            let waiting = try #require(try ada.change(id))
            #expect(waiting.state == .ready && waiting.failures == 0 && waiting.isBlameless)
            ada.keys.unlock(ada.ring)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.items.map { $0.login?.password ?? "" }
            #expect(passwords.sorted() == ["mine, later", "theirs"])
        }
    }

    @Test func `1.R of many changes those that come after the lock are not tried`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            for number in 0..<30 {
                _ = try await ada.add(#"{"type":1,"name":"\#(number)"}"#)
            }
            let before = Lock(0)
            world.wire.interrupt("/ciphers", isCarriedOut: true) {
                ada.keys.lock()
                before.withLock { $0 = world.wire.requests.count }
            }
            world.wire.forget()
            try await ada.run()
            // Each other worker may have one in its hands.
            let most = before.withLock(\.self) + RunTurns.fewestWorkers - 1
            #expect(world.wire.requests.count <= most)
            #expect(most < 30)
            ada.keys.unlock(ada.ring)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.count == 30)
        }
    }
}
