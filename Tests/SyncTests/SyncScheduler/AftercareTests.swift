import Bitwarden
import Crypto
import EmbeddedUpstream
import Host
import MeshSupport
import Messaging
import SQLite
import Testing
import Vault

@testable import Sync

/// Upstream does late what it never answered.
@Suite(.timeLimit(.minutes(2))) struct AftercareTests {
    // MARK: Carried out late

    /// Until upstream has as many items.
    private static func wait(for count: Int, _ world: World, _ ada: Person) async throws {
        for _ in 0..<1_000 where try await ada.elsewhere.items.count < count {
            world.time.pass(.seconds(1))
            await Task.yield()
        }
    }

    /// A create that upstream carries out after it was asked for again.
    private static func late(
        _ world: World,
        _ story: (_ ada: Person, _ made: String, _ extra: String) async throws -> Void
    ) async throws {
        let ada = try await world.person()
        let made = try await ada.add(mail)
        await world.server.inject(Fault(.commitLate(.seconds(60)), on: .createCipher))
        try await ada.run()
        world.time.pass(.seconds(25))
        try await ada.run()
        #expect(try ada.changes.isEmpty)
        let keeper = try #require(try ada.base(made)).lane.cipherID
        try await wait(for: 2, world, ada)
        let ids = try await ada.elsewhere.items.compactMap(\.id)
        #expect(ids.count == 2)
        try await story(ada, made, try #require(ids.first { $0 != keeper }))
    }

    @Test(arguments: Personality.Name.allCases)
    func `F41, I4 what an older state knows as not yet sent is looked for before it is`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let id = world.chance.identifier()
            let cipher = try Cipher(
                creating: ItemBody(Array(mail.utf8)),
                id: id,
                at: world.surroundings.now,
                keys: ada.ring,
                entropy: world.chance
            )
            // What came after the state that was put back.
            _ = try await ada.elsewhere.account.create(cipher.request())
            let before = world.surroundings.began.advanced(bySeconds: -60)
            _ = try await world.store.record(
                Edit(.add(Snapshot(cipher, keys: ada.ring)), at: before),
                in: ada.lane(id),
                as: .queued
            )
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.count == 1)
        }
    }

    @Test func `what is gone is not looked for by the empty texts that other items have, too`()
        async throws
    {
        try await World.open(.vaultwarden) { world in
            let ada = try await world.person()
            var ids: [String] = []
            for name in ["gone", "other"] {
                let sealed = try ada.ring.user.seal(name)
                let body = #"{"type":1,"name":"\#(sealed)","notes":"","login":{"username":""}}"#
                ids.append(try await ada.elsewhere.post("/api/ciphers", body))
            }
            try await ada.refresh()
            let content = try ada.content(of: ids[0], #"{"name":"mine"}"#)
            let before = world.surroundings.began.advanced(bySeconds: -60)
            _ = try await world.store.record(
                Edit(.update(content, changesPassword: false), at: before),
                in: ada.lane(ids[0]),
                as: .queued
            )
            try await ada.elsewhere.delete(ids[0])
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(ids[1]).name == "other")
            #expect(try await Set(ada.elsewhere.names) == ["mine", "other"])
            #expect(try await ada.elsewhere.items.count == 2)
        }
    }

    @Test func `F41 what waits from before the start goes up although no list can be had`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let before = world.surroundings.began.advanced(bySeconds: -60)
            let id = world.chance.identifier()
            let cipher = try Cipher(
                creating: ItemBody(Array(mail.utf8)),
                id: id,
                at: before,
                keys: ada.ring,
                entropy: world.chance
            )
            _ = try await world.store.record(
                Edit(.add(Snapshot(cipher, keys: ada.ring)), at: before),
                in: ada.lane(id),
                as: .queued
            )
            var fault = Fault(.answer(.refusal(500, "no"), isCarriedOut: false), on: .sync)
            fault.times = nil
            await world.server.inject(fault)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `G-RES1 a create that upstream carries out a minute late leaves one item`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            try await Self.late(world) { ada, made, extra in
                let scheduler = try await ada.scheduler()
                let report = try await scheduler.sync(isFull: false)
                #expect(report.outcome == .completed)
                #expect(try await ada.elsewhere.item(extra).cipher.isInTrash)
                #expect(try ada.base(extra)?.isTrashed == true)
                let keeper = try #require(try ada.base(made))
                #expect(try await !ada.elsewhere.item(keeper.lane.cipherID).cipher.isInTrash)
            }
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-05 what was deleted for good before upstream made it goes when it turns up`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let made = try await ada.add(mail)
            await world.server.inject(Fault(.commitLate(.seconds(60)), on: .createCipher))
            try await ada.run()
            try await ada.wish(.hardDelete, made)
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            try await Self.wait(for: 1, world, ada)
            try await Self.sync(world, ada)
            let late = try #require(try await ada.elsewhere.items.first)
            #expect(late.cipher.isInTrash)
            #expect(try ada.base(try #require(late.id))?.isTrashed == true)
        }
    }

    @Test func `I4 what was kept as a copy before upstream made it is there once`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.add(mail)
            await world.server.inject(Fault(.commitLate(.seconds(60)), on: .createCipher))
            try await ada.run()
            let change = try #require(try ada.change(made))
            let copy = try await ada.add(mail)
            let isGone = try await world.store.discard(
                change.id,
                expecting: change.version,
                at: world.surroundings.now,
                keptAs: copy
            )
            #expect(isGone)
            world.time.pass(.seconds(25))
            try await ada.run()
            let kept = try #require(try ada.base(copy)).lane.cipherID
            try await Self.wait(for: 2, world, ada)
            try await Self.sync(world, ada)
            let left = try await ada.elsewhere.items.filter { !$0.cipher.isInTrash }
            #expect(left.map(\.id) == [kept])
        }
    }

    @Test func `G-RES1 a late copy that somebody has edited since stays`() async throws {
        try await World.open { world in
            try await Self.late(world) { ada, _, extra in
                try await ada.elsewhere.edit(extra, password("theirs"))
                let scheduler = try await ada.scheduler()
                try await scheduler.sync()
                #expect(try await !ada.elsewhere.item(extra).cipher.isInTrash)
            }
        }
    }

    @Test(arguments: [true, false])
    func `G-RES1 a late copy that is edited here while the list is on its way stays`(
        _ isSaved: Bool
    ) async throws {
        try await World.open { world in
            try await Self.late(world) { ada, _, extra in
                try await ada.refresh()
                world.wire.interrupt("/sync?excludeDomains=true", isCarriedOut: true) {
                    let recorded = try await ada.edit(extra, password("mine"), atOnce: isSaved)
                    guard isSaved else { return }
                    guard case .saved = try await ada.attempt(recorded) else {
                        throw Unexpected("not saved")
                    }
                }
                try await Self.sync(world, ada)
                #expect(try await !ada.elsewhere.item(extra).cipher.isInTrash)
                #expect(try ada.item(extra).login?.password == "mine")
                try await Self.sync(world, ada)
                #expect(try await ada.elsewhere.item(extra).login?.password == "mine")
            }
        }
    }

    @Test func `G-RES1 a late copy stays if the other one is gone`() async throws {
        try await World.open { world in
            try await Self.late(world) { ada, made, extra in
                let keeper = try #require(try ada.base(made)).lane.cipherID
                try await ada.elsewhere.delete(keeper)
                let scheduler = try await ada.scheduler()
                try await scheduler.sync()
                #expect(try await !ada.elsewhere.item(extra).cipher.isInTrash)
            }
        }
    }

    @Test(arguments: [Side.local, .upstream])
    func `G-RES1 a backup that upstream makes late is there once, whoever gives way`(
        _ later: Side
    ) async throws {
        try await withLogin { world, ada, id in
            if later == .upstream { try await ada.edit(id, password("mine")) }
            try await ada.elsewhere.edit(id, password("theirs"))
            if later == .local { try await ada.edit(id, password("mine")) }
            await world.server.inject(Fault(.commitLate(.seconds(60)), on: .createCipher))
            try await ada.run()
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            try await Self.wait(for: 3, world, ada)
            let scheduler = try await ada.scheduler()
            try await scheduler.sync()
            let passwords = try await ada.elsewhere.items.filter { !$0.cipher.isInTrash }
                .compactMap { $0.login?.password }
            #expect(passwords.sorted() == ["mine", "theirs"])
        }
    }

    @Test func `T-11 a copy that was refused the second time is looked for all the same`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.edit(id, password("mine"))
            await world.server.inject(Fault(.commitLate(.seconds(60)), on: .createCipher))
            try await ada.run()
            world.time.pass(.seconds(25))
            var refusal = Fault(
                .answer(.refusal(409, "no"), isCarriedOut: false),
                on: .createCipher
            )
            refusal.times = 1
            await world.server.inject(refusal)
            try await ada.run()
            try await Self.wait(for: 2, world, ada)
            world.time.pass(.seconds(1_000))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.count == 2)
        }
    }

    @Test(arguments: [true, false])
    func `G-RES1 of a copy that was sent twice and is needed no more one stays`(
        _ isDiscarded: Bool
    ) async throws {
        try await Self.copyTwice { world, ada, id in
            if isDiscarded {
                try await Self.discard(id, world, ada)
            } else {
                try await ada.elsewhere.delete(id)
                try await ada.run(.all)
            }
            #expect(try ada.changes.isEmpty)
            try await Self.sync(world, ada)
            #expect(try await Self.copies(ada).count == 1)
        }
    }

    @Test func `G-RES1 while one of two copies may be on its way out the other stays`() async throws
    {
        try await Self.copyTwice { world, ada, id in
            try await Self.discard(id, world, ada)
            try await ada.refresh()
            let first = try #require(try await Self.copies(ada).min())
            try await ada.wish(.trash, first)
            let change = try #require(try ada.change(first))
            _ = try await world.store.update(change.id, expecting: change.version) {
                $0.state = .quarantined
            }
            try await Self.sync(world, ada)
            #expect(try await Self.copies(ada).count == 2)
        }
    }

    @Test func `G-RES1 of an item that was sent twice and discarded one stays`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.add(mail)
            try await Self.sendTwice(world, ada)
            try await Self.wait(for: 2, world, ada)
            try await Self.discard(made, world, ada)
            try await Self.sync(world, ada)
            let items = try await ada.elsewhere.items
            #expect(items.count { !$0.cipher.isInTrash } == 1)
        }
    }

    /// Whatever lies in between has repeated the request, and every answer came.
    @Test(arguments: [true, false])
    func `G-RES1 what is delivered twice is there once, an item as well as a copy`(
        _ isCopy: Bool
    ) async throws {
        try await withLogin { world, ada, id in
            await world.server.inject(Fault(.twice, on: .createCipher))
            if isCopy {
                try await ada.elsewhere.edit(id, password("theirs"))
                world.time.pass(.seconds(5))
                try await ada.edit(id, password("mine"))
                try await ada.run()
            } else {
                let recorded = try await ada.addAtOnce(mail)
                guard case .saved = try await ada.attempt(recorded) else {
                    throw Unexpected("not saved")
                }
            }
            #expect(try ada.changes.isEmpty)
            try #require(try await ada.elsewhere.items.count == 3)
            try await Self.sync(world, ada)
            let items = try await ada.elsewhere.items
            #expect(items.count { !$0.cipher.isInTrash } == 2)
            try await Self.sync(world, ada)
            #expect(try await ada.elsewhere.items.count { !$0.cipher.isInTrash } == 2)
        }
    }

    @Test(arguments: [true, false], [true, false])
    func
        `G-RES1 what is delivered twice is there once, though it is edited or deleted before that shows`(
            _ isDeleted: Bool,
            _ isQueued: Bool
        ) async throws
    {
        try await withLogin { world, ada, id in
            await world.server.inject(Fault(.twice, on: .createCipher))
            let made: String
            if isQueued {
                made = try await ada.add(mail)
                try await ada.run()
            } else {
                let recorded = try await ada.addAtOnce(mail)
                made = recorded.change.cipherID
                guard case .saved = try await ada.attempt(recorded) else {
                    throw Unexpected("not saved")
                }
            }
            if isDeleted {
                try await ada.wish(.hardDelete, made)
            } else {
                try await ada.edit(made, password("newer"))
            }
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            try #require(try await ada.elsewhere.items.count == (isDeleted ? 2 : 3))
            for _ in 1...2 {
                try await Self.sync(world, ada)
                let live = try await ada.elsewhere.items.filter { !$0.cipher.isInTrash }
                #expect(live.count == (isDeleted ? 1 : 2))
                #expect(live.contains { $0.login?.password == "newer" } == !isDeleted)
            }
        }
    }

    @Test func `a copy that is known to be the one stays it, whoever has heard of none`()
        async throws
    {
        try await withLogin { world, ada, id in
            let now = world.surroundings.now
            for keeper in [Stray.Keeper.item("one"), .whichever] {
                try await world.store.write { (db) throws(DatabaseError) in
                    try Aftercare.watch([Stray([7], keeper: keeper)], of: ada.userID, now, db)
                }
                let strays = try world.store.reader.strays(of: ada.userID)
                #expect(strays == [Stray([7], keeper: .item("one"))])
            }
        }
    }

    /// A conflict whose copy upstream makes twice, and late.
    private static func copyTwice(
        _ story:
            @Sendable @escaping (_ world: World, _ ada: Person, _ id: String) async throws -> Void
    ) async throws {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.edit(id, password("theirs"))
            try await sendTwice(world, ada)
            try await wait(for: 3, world, ada)
            try await story(world, ada, id)
        }
    }

    private static func sendTwice(_ world: World, _ ada: Person) async throws {
        var late = Fault(.commitLate(.seconds(60)), on: .createCipher)
        late.times = 2
        await world.server.inject(late)
        for _ in 1...2 {
            try await ada.run()
            world.time.pass(.seconds(25))
        }
    }

    private static func discard(_ id: String, _ world: World, _ ada: Person) async throws {
        let change = try #require(try ada.change(id))
        let version = change.version
        _ = try await world.store.discard(change.id, expecting: version, at: change.updated)
    }

    private static func sync(_ world: World, _ ada: Person) async throws {
        let scheduler = try await ada.scheduler()
        try await scheduler.sync()
    }

    /// The ids of those that are not in the trash.
    private static func copies(_ ada: Person) async throws -> [String] {
        try await ada.elsewhere.items
            .filter { !$0.cipher.isInTrash && $0.name?.hasPrefix("mail - ") == true }
            .compactMap(\.id)
    }

    @Test func `G-RES1 what a slow upstream undoes is done again`() async throws {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let first = try await ada.edit(id, password("early")).change
            await world.server.inject(Fault(.drop, on: .updateCipher))
            try await ada.run()
            try await ada.edit(id, password("second"))
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let late = try Cipher(#require(first.intent.snapshot).json)
            try await ada.elsewhere.put(id, late, over: ada.elsewhere.item(id).cipher)
            let scheduler = try await ada.scheduler()
            try await scheduler.sync()
            #expect(try ada.item(id).login?.password == "second")
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).login?.password == "second")
        }
    }

    enum Meanwhile: CaseIterable {
        case nothing, damage, oldList
    }

    @Test(arguments: Meanwhile.allCases)
    func `G-RES1 what a slow upstream undoes is done again though a list has left it out`(
        _ meanwhile: Meanwhile
    ) async throws {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let old = try await ada.upstream.fetch(.patient)
            let first = try await ada.edit(id, password("one")).change
            await world.server.inject(Fault(.drop, on: .updateCipher))
            try await ada.run()
            try await ada.edit(id, password("second"))
            try await ada.run(.all)
            let late = try Cipher(#require(first.intent.snapshot).json)
            try await ada.elsewhere.put(id, late, over: ada.elsewhere.item(id).cipher)
            _ = try await Self.take(ada.upstream.fetch(.patient), without: id, world, ada)
            #expect(try ada.base(id) == nil)
            switch meanwhile {
            case .nothing: break
            case .damage:
                try await world.store.database.execute(
                    "UPDATE brought_up SET left_out_digest = x'00'"
                )
            case .oldList:
                _ = try await Self.take(old, world, ada)
                #expect(try ada.item(id).login?.password == "first")
            }
            let scheduler = try await ada.scheduler()
            for _ in 1...2 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            let password = try await ada.elsewhere.item(id).login?.password
            #expect(password == (meanwhile == .damage ? "one" : "second"))
        }
    }

    @Test func `G-RES1 what an old list has put back is not done again over what landed`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let old = try await ada.upstream.fetch(.patient)
            try await ada.edit(id, password("mine"))
            await world.server.inject(Fault(.drop, on: .updateCipher))
            try await ada.run()
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let new = try await ada.upstream.fetch(.patient)
            _ = try await Self.take(new, without: id, world, ada)
            _ = try await Self.take(old, world, ada)
            #expect(try await Self.take(new, world, ada).offered == 0)
            try await ada.run(.all)
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
        }
    }

    @Test func `A6-N3 what a list denied, so that it was made anew, is there once when it is back`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            try await ada.add(mail)
            try await ada.run()
            let first = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.refresh()
            let list = try await ada.upstream.fetch(.patient)
            let taken = try await Self.take(list, without: first, isFallback: true, world, ada)
            #expect(taken.offered == 1)
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 2)
            let scheduler = try await ada.scheduler()
            try await scheduler.sync()
            let left = try await ada.elsewhere.items.filter { !$0.cipher.isInTrash }
            #expect(left.count == 1)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `A6-N3 what was edited while upstream and its list denied it is there once afterwards`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.edit(id, password("mine"))
            await world.server.inject(Fault(.missing, on: .readCipher))
            await world.server.inject(Fault(.keepOnly(0), on: .sync))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.count == 2)
            let scheduler = try await ada.scheduler()
            try await scheduler.sync()
            let left = try await ada.elsewhere.items.filter { !$0.cipher.isInTrash }
            #expect(left.map { $0.login?.password } == ["mine"])
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `A6-N3 a create that is found does not hide that upstream has forgotten a later edit`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            try await ada.add(mail)
            await world.server.inject(Fault(.loseAnswer, on: .createCipher))
            try await ada.run()
            let id = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.refresh()
            await world.server.remember()
            try await ada.elsewhere.edit(id, password("later"))
            try await ada.refresh()
            let known = try #require(try ada.base(id))
            await world.server.rollBack()
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try ada.base(id) == known)
            #expect(try ada.changes.map(\.lastFailure?.kind) == [.behind])
            #expect(try await ada.elsewhere.items.count == 1)
        }
    }

    enum Meantime: CaseIterable {
        case fileAttached, keeperTrashed
    }

    /// What others have done to it, or with what was made in its place.
    @Test(arguments: Personality.Name.allCases, Meantime.allCases)
    func `what upstream denied stays if it has more to it, or is all that there is`(
        _ personality: Personality.Name,
        _ meantime: Meantime
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            if meantime == .fileAttached {
                try await ada.elsewhere.attach("deed", to: id)
                try await ada.refresh()
            }
            try await ada.edit(id, password("mine"))
            await world.server.inject(Fault(.missing, on: .readCipher))
            await world.server.inject(Fault(.keepOnly(0), on: .sync))
            try await ada.run()
            let made = try #require(try await ada.elsewhere.items.first { $0.id != id }?.id)
            switch meantime {
            case .fileAttached: break
            case .keeperTrashed: try await ada.elsewhere.trash(made)
            }
            let scheduler = try await ada.scheduler()
            try await scheduler.sync()
            #expect(try await !ada.elsewhere.item(id).cipher.isInTrash)
        }
    }

    /// A list comes and is believed.
    private static func take(
        _ fetched: Fetched,
        without missing: String? = nil,
        isFallback: Bool = false,
        _ world: World,
        _ ada: Person
    ) async throws -> Refreshed {
        try await world.store.refresh(
            ada.userID,
            ciphers: fetched.ciphers.filter { $0.lane.cipherID != missing },
            slices: fetched.slices,
            since: try world.store.reader.refreshMark(of: ada.userID),
            isFallback: isFallback
        )
    }

    @Test func `G-RES1 what a slow upstream undoes is done again though its clock was set back`()
        async throws
    {
        try await withLogin { world, ada, id in
            let other = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            await world.server.shiftClock(seconds: -3_600)
            // Its earlier stamp makes the list look like one from before.
            try await ada.elsewhere.edit(other, password("theirs"))
            try await Self.undo(id, world, ada)
            let scheduler = try await ada.scheduler()
            let doubted = try await scheduler.sync()
            #expect(doubted.outcome == .failed)
            world.time.pass(.seconds(70))
            try await scheduler.sync()
            #expect(try ada.item(id).login?.password == "second")
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).login?.password == "second")
        }
    }

    /// Upstream carries out an edit that it never answered after a later one.
    private static func undo(_ id: String, _ world: World, _ ada: Person) async throws {
        let first = try await ada.edit(id, password("first here")).change
        await world.server.inject(Fault(.drop, on: .updateCipher))
        try await ada.run()
        try await ada.edit(id, password("second"))
        try await ada.run(.all)
        #expect(try ada.changes.isEmpty)
        world.time.pass(.seconds(1))
        let late = try Cipher(#require(first.intent.snapshot).json)
        try await ada.elsewhere.put(id, late, over: ada.elsewhere.item(id).cipher)
    }

    /// How it is first seen that upstream has carried out an earlier edit after a later one.
    enum Sighting: CaseIterable {
        case alone, whileEdited, moved, movedAtOnce, trashed
    }

    @Test(arguments: Personality.Name.allCases, Sighting.allCases)
    func `G-RES1 what a slow upstream undoes is done again, however that is seen first`(
        _ personality: Personality.Name,
        _ sighting: Sighting
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let folder = try await ada.elsewhere.addFolder("work")
            try await Self.undo(id, world, ada)
            let there = try await ada.elsewhere.item(id).cipher
            let seen = try #require(BaseCipher(there, of: ada.userID))
            switch sighting {
            case .alone:
                try await world.store.putBase(seen)
            case .whileEdited:
                let refused = try await ada.edit(id, password("refused")).change
                try await world.store.putBase(seen)
                try await ada.refresh()
                let (id, version) = (refused.id, refused.version)
                let now = world.surroundings.now
                #expect(try await world.store.discard(id, expecting: version, at: now))
            case .moved:
                try await ada.wish(.move(.id(folder)), id)
                try await ada.run()
            case .movedAtOnce:
                guard case .done = try await ada.carryOut(.move(.id(folder)), of: id) else {
                    throw Unexpected("not moved")
                }
            case .trashed:
                try await ada.wish(.trash, id)
                try await ada.run()
            }
            try await ada.refresh()
            #expect(try ada.item(id).login?.password == "second")
            try await ada.run(.all)
            let left = try await ada.elsewhere.item(id)
            #expect(left.login?.password == "second")
            #expect(left.cipher.isInTrash == (sighting == .trashed))
            let isMoved = sighting == .moved || sighting == .movedAtOnce
            #expect(left.cipher.folderID == (isMoved ? folder : nil))
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.count == 1)
        }
    }

    @Test func `a create that was answered leaves nothing to watch`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            try await ada.add(mail)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try world.store.reader.strays(of: ada.userID).isEmpty)
        }
    }

    // MARK: What is no late call

    /// Folders and favourites have no stamps.
    @Test(arguments: Personality.Name.allCases)
    func `T-48 what others move back is not taken for something that was undone`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let folder = try await ada.elsewhere.addFolder("work")
            await world.server.inject(Fault(.loseAnswer, on: .updateCipher))
            try await ada.edit(id, password("mine"))
            try await ada.run()
            world.time.pass(.seconds(60))
            try await ada.run(.all)
            #expect(try !world.store.reader.strays(of: ada.userID).isEmpty)
            try await ada.wish(.move(.id(folder)), id)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let place = PartialRequest(folderID: nil, isFavorite: false)
            _ = try await ada.elsewhere.account.update(id, place)
            try await ada.refresh()
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `T-06 an edit that comes during a push leaves no doubt about what was answered`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            world.wire.interrupt("/api/ciphers/\(id)", isCarriedOut: true) {
                try await ada.edit(id, password("newest"))
            }
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["newest"])
            #expect(try world.store.reader.strays(of: ada.userID).isEmpty)
        }
    }
}
