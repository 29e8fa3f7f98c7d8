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

/// Upstream does late what it never answered, and forgets what it has taken.
@Suite(.timeLimit(.minutes(2))) struct AftercareTests {
    typealias Rows = ResolvingRowsTests

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
        let made = try await ada.add(Rows.mail)
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
                creating: ItemBody(Array(Rows.mail.utf8)),
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

    @Test func `F41 what waits from before the start goes up although no list can be had`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let before = world.surroundings.began.advanced(bySeconds: -60)
            let id = world.chance.identifier()
            let cipher = try Cipher(
                creating: ItemBody(Array(Rows.mail.utf8)),
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
                let scheduler = try await WholeRoadTests.scheduler(world, ada)
                let report = try await scheduler.address.ask { .sync(isFull: false, $0) }
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
            let made = try await ada.add(Rows.mail)
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
            let made = try await ada.add(Rows.mail)
            await world.server.inject(Fault(.commitLate(.seconds(60)), on: .createCipher))
            try await ada.run()
            let change = try #require(try ada.change(made))
            let copy = try await ada.add(Rows.mail)
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
                try await ada.elsewhere.edit(extra, Rows.password("theirs"))
                let scheduler = try await WholeRoadTests.scheduler(world, ada)
                _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
                #expect(try await !ada.elsewhere.item(extra).cipher.isInTrash)
            }
        }
    }

    @Test func `G-RES1 a late copy stays if the other one is gone`() async throws {
        try await World.open { world in
            try await Self.late(world) { ada, made, extra in
                let keeper = try #require(try ada.base(made)).lane.cipherID
                try await ada.elsewhere.delete(keeper)
                let scheduler = try await WholeRoadTests.scheduler(world, ada)
                _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
                #expect(try await !ada.elsewhere.item(extra).cipher.isInTrash)
            }
        }
    }

    @Test(arguments: [Side.local, .upstream])
    func `G-RES1 a backup that upstream makes late is there once, whoever gives way`(
        _ later: Side
    ) async throws {
        try await Rows.open { world, ada, id in
            if later == .upstream { try await ada.edit(id, Rows.password("mine")) }
            try await ada.elsewhere.edit(id, Rows.password("theirs"))
            if later == .local { try await ada.edit(id, Rows.password("mine")) }
            await world.server.inject(Fault(.commitLate(.seconds(60)), on: .createCipher))
            try await ada.run()
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            try await Self.wait(for: 3, world, ada)
            let scheduler = try await WholeRoadTests.scheduler(world, ada)
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            let passwords = try await ada.elsewhere.items.filter { !$0.cipher.isInTrash }
                .compactMap { $0.login?.password }
            #expect(passwords.sorted() == ["mine", "theirs"])
        }
    }

    @Test func `T-11 a copy that was refused the second time is looked for all the same`()
        async throws
    {
        try await Rows.open { world, ada, id in
            try await ada.elsewhere.edit(id, Rows.password("theirs"))
            try await ada.edit(id, Rows.password("mine"))
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
            let made = try await ada.add(Rows.mail)
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
        try await Rows.open { world, ada, id in
            await world.server.inject(Fault(.twice, on: .createCipher))
            if isCopy {
                try await ada.elsewhere.edit(id, Rows.password("theirs"))
                world.time.pass(.seconds(5))
                try await ada.edit(id, Rows.password("mine"))
                try await ada.run()
            } else {
                let recorded = try await ada.addAtOnce(Rows.mail)
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

    @Test func `a copy that is known to be the one stays it, whoever has heard of none`()
        async throws
    {
        try await Rows.open { world, ada, id in
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
        try await Rows.open { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            try await ada.elsewhere.edit(id, Rows.password("theirs"))
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
        let scheduler = try await WholeRoadTests.scheduler(world, ada)
        _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
    }

    /// The ids of those that are not in the trash.
    private static func copies(_ ada: Person) async throws -> [String] {
        try await ada.elsewhere.items
            .filter { !$0.cipher.isInTrash && $0.name?.hasPrefix("mail - ") == true }
            .compactMap(\.id)
    }

    @Test func `G-RES1 what a slow upstream undoes is done again`() async throws {
        try await Rows.open { world, ada, id in
            try await ada.elsewhere.add(Rows.mail)
            try await ada.refresh()
            let first = try await ada.edit(id, Rows.password("early")).change
            await world.server.inject(Fault(.drop, on: .updateCipher))
            try await ada.run()
            try await ada.edit(id, Rows.password("second"))
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let late = try Cipher(#require(first.intent.snapshot).json)
            try await ada.elsewhere.put(id, late, over: ada.elsewhere.item(id).cipher)
            let scheduler = try await WholeRoadTests.scheduler(world, ada)
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.item(id).login?.password == "second")
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
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
        try await Rows.open { world, ada, id in
            try await ada.elsewhere.add(Rows.mail)
            try await ada.refresh()
            let old = try await ada.upstream.fetch(.patient)
            let first = try await ada.edit(id, Rows.password("one")).change
            await world.server.inject(Fault(.drop, on: .updateCipher))
            try await ada.run()
            try await ada.edit(id, Rows.password("second"))
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
            let scheduler = try await WholeRoadTests.scheduler(world, ada)
            for _ in 1...2 { _ = try await scheduler.address.ask { .sync(isFull: true, $0) } }
            #expect(try ada.changes.isEmpty)
            let password = try await ada.elsewhere.item(id).login?.password
            #expect(password == (meanwhile == .damage ? "one" : "second"))
        }
    }

    @Test func `G-RES1 what an old list has put back is not done again over what landed`()
        async throws
    {
        try await Rows.open { world, ada, id in
            try await ada.elsewhere.add(Rows.mail)
            try await ada.refresh()
            let old = try await ada.upstream.fetch(.patient)
            try await ada.edit(id, Rows.password("mine"))
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
            try await ada.add(Rows.mail)
            try await ada.run()
            let first = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.refresh()
            let list = try await ada.upstream.fetch(.patient)
            let taken = try await Self.take(list, without: first, isFallback: true, world, ada)
            #expect(taken.offered == 1)
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 2)
            let scheduler = try await WholeRoadTests.scheduler(world, ada)
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            let left = try await ada.elsewhere.items.filter { !$0.cipher.isInTrash }
            #expect(left.count == 1)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `A6-N3 what was edited while upstream and its list denied it is there once afterwards`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            await world.server.inject(Fault(.missing, on: .readCipher))
            await world.server.inject(Fault(.keepOnly(0), on: .sync))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.count == 2)
            let scheduler = try await WholeRoadTests.scheduler(world, ada)
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
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
            try await ada.add(Rows.mail)
            await world.server.inject(Fault(.loseAnswer, on: .createCipher))
            try await ada.run()
            let id = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.refresh()
            await world.server.remember()
            try await ada.elsewhere.edit(id, Rows.password("later"))
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
        try await Rows.open(personality) { world, ada, id in
            if meantime == .fileAttached {
                try await ada.elsewhere.attach("deed", to: id)
                try await ada.refresh()
            }
            try await ada.edit(id, Rows.password("mine"))
            await world.server.inject(Fault(.missing, on: .readCipher))
            await world.server.inject(Fault(.keepOnly(0), on: .sync))
            try await ada.run()
            let made = try #require(try await ada.elsewhere.items.first { $0.id != id }?.id)
            switch meantime {
            case .fileAttached: break
            case .keeperTrashed: try await ada.elsewhere.trash(made)
            }
            let scheduler = try await WholeRoadTests.scheduler(world, ada)
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
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
        try await Rows.open { world, ada, id in
            let other = try await ada.elsewhere.add(Rows.mail)
            try await ada.refresh()
            await world.server.shiftClock(seconds: -3_600)
            // Its earlier stamp makes the list look like one from before.
            try await ada.elsewhere.edit(other, Rows.password("theirs"))
            let first = try await ada.edit(id, Rows.password("first here")).change
            await world.server.inject(Fault(.drop, on: .updateCipher))
            try await ada.run()
            try await ada.edit(id, Rows.password("second"))
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            world.time.pass(.seconds(1))
            let late = try Cipher(#require(first.intent.snapshot).json)
            try await ada.elsewhere.put(id, late, over: ada.elsewhere.item(id).cipher)
            let scheduler = try await WholeRoadTests.scheduler(world, ada)
            let doubted = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(doubted.outcome == .failed)
            world.time.pass(.seconds(70))
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.item(id).login?.password == "second")
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).login?.password == "second")
        }
    }

    @Test func `a create that was answered leaves nothing to watch`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            try await ada.add(Rows.mail)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try world.store.reader.strays(of: ada.userID).isEmpty)
        }
    }

    // MARK: Forgotten

    private static let fresh = #"{"type":1,"name":"new","login":{"password":"fresh"}}"#

    /// Upstream falls back to what it was before the edits, and says so for long enough.
    private static func fallBack(
        _ world: World,
        _ ada: Person,
        edits: () async throws -> Void,
        meanwhile: () async throws -> Void = {}
    ) async throws -> SyncScheduler {
        await world.server.remember()
        try await edits()
        try await ada.run()
        #expect(try ada.changes.isEmpty)
        let scheduler = try await WholeRoadTests.scheduler(world, ada)
        let before = try await scheduler.address.ask { .sync(isFull: true, $0) }
        #expect(before.outcome == .completed)
        await world.server.rollBack()
        try await meanwhile()
        let first = try await scheduler.address.ask { .sync(isFull: true, $0) }
        #expect(first.outcome == .failed, "\(first)")
        world.time.pass(.seconds(70))
        _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
        return scheduler
    }

    @Test(arguments: Personality.Name.allCases)
    func `A6-N3, P17 what upstream took and forgot is offered again, and arrives`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            let receipts = Receipts()
            let scheduler = try await Self.fallBack(world, ada) {
                receipts.ids.append(try await ada.edit(id, Rows.password("second")).receiptID)
                try await ada.add(Self.fresh)
            }
            #expect(try ada.item(id).login?.password == "second")
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.compactMap { $0.login?.password }.sorted() == ["fresh", "second"])
            let receipt = try #require(receipts.ids.first ?? nil)
            let kept = try world.store.reader.receipt(receipt, of: ada.userID)
            #expect(kept?.status == .observed)
        }
    }

    /// The same, and somebody writes there before that has shown for long enough.
    private static func fallBack(
        _ world: World,
        _ ada: Person,
        edits: () async throws -> Void,
        unseen: () async throws -> Void = {},
        onceSeen: () async throws -> Void
    ) async throws {
        await world.server.remember()
        try await edits()
        try await ada.run()
        let scheduler = try await WholeRoadTests.scheduler(world, ada)
        _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
        await world.server.rollBack()
        try await unseen()
        let first = try await scheduler.address.ask { .sync(isFull: true, $0) }
        #expect(first.outcome == .failed, "\(first)")
        world.time.pass(.seconds(5))
        try await onceSeen()
        for _ in 1...4 {
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            world.time.pass(.seconds(70))
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `A6-N3 who writes once it has been seen that upstream forgot hides nothing of that`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            try await Self.fallBack(world, ada) {
                try await ada.add(Self.fresh)
            } onceSeen: {
                try await ada.elsewhere.edit(id, Rows.password("theirs"))
            }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.items.compactMap { $0.login?.password }
            #expect(passwords.sorted() == ["fresh", "theirs"])
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `A6-N3, I1 what upstream forgot and somebody has written over since is kept as a copy`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            try await Self.fallBack(world, ada) {
                try await ada.add(Self.fresh)
                try await ada.edit(id, Rows.password("mine"))
            } onceSeen: {
                try await ada.elsewhere.edit(id, Rows.password("theirs"))
            }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).login?.password == "theirs")
            let passwords = try await ada.elsewhere.items.compactMap { $0.login?.password }
            #expect(passwords.sorted() == ["fresh", "mine", "theirs"])
        }
    }

    enum Writer: CaseIterable {
        case here, elsewhere
    }

    /// By its stamp upstream is not at an earlier time any more when that is looked at first.
    @Test(arguments: Writer.allCases)
    func `A6-N3, I1 who writes before and after it was seen hides nothing of what was forgotten`(
        _ writer: Writer
    ) async throws {
        try await Rows.open { world, ada, id in
            let other = try await ada.elsewhere.add(Rows.mail)
            try await ada.refresh()
            try await Self.fallBack(world, ada) {
                world.time.pass(.seconds(10))
                try await ada.edit(id, Rows.password("mine"))
                try await ada.add(Self.fresh)
            } unseen: {
                world.time.pass(.seconds(60))
                try await ada.elsewhere.edit(other, Rows.password("theirs"))
            } onceSeen: {
                switch writer {
                case .elsewhere: try await ada.elsewhere.edit(id, Rows.password("later"))
                case .here:
                    let recorded = try await ada.wish(.trash, id, atOnce: true).made
                    _ = try await ada.attempt(recorded)
                }
            }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.items.compactMap { $0.login?.password }
            #expect(passwords.contains("fresh") && passwords.contains("theirs"))
            if writer == .elsewhere {
                #expect(passwords.sorted() == ["fresh", "later", "mine", "theirs"])
            }
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `P7 by an old answer nothing is forgotten, so what others write after it leaves no copy`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            await world.server.remember()
            world.time.pass(.seconds(10))
            try await ada.edit(id, Rows.password("mine"))
            try await ada.run()
            let scheduler = try await WholeRoadTests.scheduler(world, ada)
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            await world.server.inject(Fault(.outdated, on: .sync))
            let old = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(old.outcome == .failed, "\(old)")
            world.time.pass(.seconds(5))
            try await ada.elsewhere.edit(id, Rows.password("later"))
            let right = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(right.outcome == .completed, "\(right)")
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["later"])
        }
    }

    @Test func `A6-N3, T-57 what was forgotten under a newer key is offered again under that`()
        async throws
    {
        try await Rows.open { world, ada, id in
            try await ada.elsewhere.add(Rows.mail)
            try await ada.edit(id, Rows.password("second"))
            try await ada.run()
            let rotated = try world.newRing()
            try await ada.elsewhere.reseal(id, with: rotated)
            ada.keys.unlock(rotated)
            try await ada.refresh()
            let scheduler = try await Self.fallBack(world, ada) {
                world.time.pass(.seconds(5))
                try await ada.elsewhere.reseal(id, with: rotated, from: rotated)
            }
            #expect(try ada.changes.count == 1)
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            _ = try await ada.reseal(from: ada.ring)
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items(openedWith: rotated)
            #expect(items.contains { $0.login?.password == "second" })
        }
    }

    private final class Receipts {
        var ids: [String?] = []
    }

    @Test(arguments: [
        Edit.Wish.trash, .archive, .favour(true), .hardDelete,
    ])
    func `A6-N3 whatever was done to an item is done again`(_ wish: Edit.Wish) async throws {
        try await Rows.open { world, ada, id in
            // Of two items, or the vault would be empty.
            try await ada.elsewhere.add(Rows.mail)
            try await ada.refresh()
            let scheduler = try await Self.fallBack(world, ada) { try await ada.wish(wish, id) }
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.changes.isEmpty)
            switch wish {
            case .trash: #expect(try await ada.elsewhere.item(id).cipher.isInTrash)
            case .archive: #expect(try await ada.elsewhere.item(id).cipher.archivedDate != nil)
            case .favour: #expect(try await ada.elsewhere.item(id).cipher.isFavorite)
            default: #expect(try await ada.elsewhere.lacks(id))
            }
        }
    }

    @Test func `A6-N3 what was trashed is brought up again as trash`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            try await ada.elsewhere.add(Rows.mail)
            try await ada.refresh()
            let scheduler = try await Self.fallBack(world, ada) {
                let made = try await ada.add(Self.fresh)
                try await ada.run()
                try await ada.wish(.trash, made)
            }
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.count == 2)
            let fresh = try #require(items.first { $0.login?.password == "fresh" })
            #expect(fresh.cipher.isInTrash)
        }
    }

    @Test func `A6-N3 what was overwritten is kept once more when that is done again`()
        async throws
    {
        try await Rows.open { world, ada, id in
            try await ada.elsewhere.edit(id, Rows.password("theirs"))
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, Rows.password("mine"))
            }
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.items.compactMap { $0.login?.password }
            #expect(passwords.sorted() == ["mine", "theirs"])
        }
    }

    @Test func `A6-N3 what was brought up while a list was on its way is not missed in it`()
        async throws
    {
        try await Rows.open { world, ada, id in
            let mark = try world.store.reader.refreshMark(of: ada.userID)
            let fetched = try await ada.upstream.fetch(.patient)
            try await ada.edit(id, Rows.password("mine"))
            _ = try await ada.add(Rows.mail)
            try await ada.run()
            let refreshed = try await world.store.refresh(
                ada.userID,
                ciphers: fetched.ciphers,
                slices: fetched.slices,
                since: mark,
                isFallback: true
            )
            #expect(refreshed.offered == 0 && refreshed.kept == 2)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test
    func `A6-N3 what others write after the fall stands, and what it is written over is kept`()
        async throws
    {
        try await Rows.open { world, ada, id in
            let other = try await ada.elsewhere.add(Rows.mail)
            try await ada.refresh()
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, Rows.password("second"))
                try await ada.edit(other, Rows.password("mine"))
            } meanwhile: {
                try await ada.elsewhere.edit(other, Rows.password("theirs"))
            }
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.items.compactMap { $0.login?.password }
            #expect(passwords.sorted() == ["mine", "second", "theirs"])
            #expect(try await ada.elsewhere.item(other).login?.password == "theirs")
        }
    }

    @Test func `A6-N3 what others write after the fall with an earlier stamp is kept`() async throws
    {
        try await Rows.open { world, ada, id in
            let scheduler = try await Self.fallBack(world, ada) {
                world.time.pass(.seconds(5))
                try await ada.edit(id, Rows.mail.replacing("ada", with: "mine"))
            } meanwhile: {
                await world.server.shiftClock(seconds: -13)
                try await ada.elsewhere.edit(id, Rows.mail.replacing("ada", with: "theirs"))
            }
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.changes.isEmpty)
            let names = try await ada.elsewhere.items.compactMap { $0.login?.username }
            #expect(names.sorted() == ["mine", "theirs"])
        }
    }

    @Test func `A6-N3 what others write after the fall within the same second is kept`()
        async throws
    {
        try await Rows.open { world, ada, id in
            let other = try await ada.elsewhere.add(Rows.mail)
            try await ada.refresh()
            let scheduler = try await Self.fallBack(world, ada) {
                world.time.pass(.seconds(5))
                await world.server.setStampDigits(0)
                try await ada.edit(id, Rows.mail.replacing("ada", with: "mine"))
                try await ada.edit(other, Rows.mail.replacing("ada", with: "second"))
            } meanwhile: {
                await world.server.shiftClock(seconds: -20)
                try await ada.elsewhere.edit(id, Rows.mail.replacing("ada", with: "theirs"))
            }
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.changes.isEmpty)
            let names = Set(try await ada.elsewhere.items.compactMap { $0.login?.username })
            #expect(names.isSuperset(of: ["mine", "theirs", "second"]))
        }
    }

    /// Here it is a day later than upstream says.
    @Test(arguments: [false, true])
    func `A6-N3 a deletion is done again, and not over what was written since upstream went back`(
        _ isEdited: Bool
    ) async throws {
        try await World.open { world in
            let ada = try await world.person()
            await world.server.shiftClock(seconds: -86_400)
            try await ada.elsewhere.add(Rows.mail)
            try await ada.refresh()
            let id = try #require(try await ada.elsewhere.items.first?.id)
            world.time.pass(.seconds(5))
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.wish(.hardDelete, id)
            } meanwhile: {
                world.time.pass(.seconds(5))
                if isEdited { try await ada.elsewhere.edit(id, Rows.password("theirs")) }
            }
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map(\.id) == (isEdited ? [id] : []))
        }
    }

    @Test func `A6-N3 what was found, gave way and was forgotten comes under the present key`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let scheduler = try await Self.fallBack(world, ada) {
                let made = try await ada.add(Rows.mail)
                await world.server.inject(Fault(.loseAnswer, on: .createCipher))
                try await ada.run()
                try await ada.edit(made, Rows.password("mine"))
                world.time.pass(.seconds(25))
                let landed = try #require(try await ada.elsewhere.items.first?.id)
                try await ada.elsewhere.edit(landed, Rows.password("theirs"))
            }
            for _ in 1...2 { _ = try await scheduler.address.ask { .sync(isFull: true, $0) } }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.items.compactMap { $0.login?.password }
            #expect(passwords == ["theirs"])
        }
    }

    @Test
    func `A6-N3 an edit that waits does not hide that upstream has forgotten what came after`()
        async throws
    {
        try await Rows.open { world, ada, id in
            await world.server.remember()
            try await ada.edit(id, Rows.password("first here"))
            try await ada.add(Rows.mail.replacing("mail", with: "new"))
            try await ada.run()
            try await ada.edit(id, Rows.password("mine"))
            await world.server.rollBack()
            let scheduler = try await WholeRoadTests.scheduler(world, ada)
            for _ in 1...4 {
                _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
                world.time.pass(.seconds(70))
            }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.names.contains("new"))
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
        }
    }

    @Test(arguments: [1, OwnHistory.depth, OwnHistory.depth + 3])
    func `A6-N3 of what was written here nothing is kept when it is what upstream falls back to`(
        _ edits: Int
    ) async throws {
        try await Rows.open { world, ada, id in
            for edit in 1...edits {
                world.time.pass(.seconds(5))
                try await ada.edit(id, Rows.password("first \(edit)"))
                try await ada.run()
            }
            let scheduler = try await Self.fallBack(world, ada) {
                world.time.pass(.milliseconds(5_200))
                try await ada.edit(id, Rows.password("second"))
            }
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.items.compactMap { $0.login?.password }
            #expect(passwords == ["second"])
            let known = try Self.ownHistory(world)
            #expect(known == min(edits + 2, OwnHistory.depth))
        }
    }

    @Test func `what is known of the history of an item is forgotten with it`() async throws {
        try await Rows.open { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            try await ada.run()
            try await world.store.forgetReceipts(before: world.surroundings.now)
            #expect(try Self.ownHistory(world) == 1)
            try await ada.wish(.hardDelete, id)
            try await ada.run()
            try await world.store.forgetReceipts(before: world.surroundings.now)
            #expect(try Self.ownHistory(world) == 0)
        }
    }

    private static func ownHistory(_ world: World) throws -> Int {
        try world.store.database.read { (db) throws(DatabaseError) in
            try db.first("SELECT count(*) FROM own_history") {
                (row) throws(DatabaseError) in try row.int(0)
            } ?? -1
        }
    }

    @Test func `A6-N3 of what upstream has lost a wish that waits makes the item anew`()
        async throws
    {
        try await Rows.open { world, ada, id in
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.add(Rows.mail.replacing("mail", with: "new"))
            } meanwhile: {
                let made = try #require(
                    try ada.world.store.reader.layers(of: ada.userID).base
                        .first { $0.lane.cipherID != id }
                )
                try await ada.wish(.favour(true), made.lane.cipherID)
                ada.keys.lock()
            }
            ada.keys.unlock(ada.ring)
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.contains { $0.name == "new" && $0.cipher.isFavorite })
        }
    }

    @Test
    func `A6-N3, T-57 what was forgotten under a key in between is brought under the present one`()
        async throws
    {
        try await Rows.open { world, ada, id in
            try await ada.elsewhere.add(Rows.mail)
            try await ada.edit(id, Rows.password("second"))
            try await ada.run()
            let (between, present) = (try world.newRing(), try world.newRing())
            try await ada.elsewhere.reseal(id, with: between)
            ada.keys.unlock(between)
            try await ada.refresh()
            let scheduler = try await Self.fallBack(world, ada) {
                world.time.pass(.seconds(5))
                try await ada.elsewhere.reseal(id, with: between, from: between)
            } meanwhile: {
                await world.server.shiftClock(seconds: -600)
                try await ada.elsewhere.reseal(id, with: present, from: between)
                ada.keys.unlock(present)
            }
            for former in [ada.ring, between] {
                _ = try await ada.reseal(from: former)
            }
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items(openedWith: present)
            #expect(items.contains { $0.login?.password == "second" })
        }
    }

    @Test func `A6-N3, G-CLOCK a clock that leaps by a month makes nothing old at once`()
        async throws
    {
        try await Rows.open { world, ada, id in
            let week: Int64 = 7 * 24 * 3_600
            func sweep(after seconds: Int64) async throws {
                let moment = world.surroundings.now.advanced(bySeconds: seconds - week)
                try await world.store.forgetReceipts(before: moment)
            }
            try await sweep(after: 0)
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, Rows.password("second"))
            } meanwhile: {
                for hour in 0..<12 { try await sweep(after: 4 * week + Int64(hour) * 3_600) }
            }
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try await ada.elsewhere.item(id).login?.password == "second")
            for _ in 0..<15 { try await sweep(after: 4 * week) }
            let brought = try world.store.reader.read { (db) throws(DatabaseError) in
                try db.first("SELECT count(*) FROM brought_up") {
                    (row) throws(DatabaseError) in try row.int(0)
                }
            }
            #expect(brought == 0, "A month later it is old after all.")
        }
    }

    @Test func `A6-N3, G-CLOCK what is settled under a clock that was set back is not old at once`()
        async throws
    {
        try await Rows.open { world, ada, id in
            let right = world.surroundings.now.advanced(bySeconds: 128 * 24 * 3_600)
            try await world.store.forgetReceipts(before: right)
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, Rows.password("second"))
            } meanwhile: {
                try await world.store.forgetReceipts(before: right)
            }
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(try await ada.elsewhere.item(id).login?.password == "second")
        }
    }

    @Test func `G-CLOCK a host that began in 1970 forgets in time all the same`() async throws {
        try await Rows.open { world, ada, id in
            let week: Int64 = 7 * 24 * 3_600
            try await world.store.forgetReceipts(before: Moment(ticks: 0))
            try await ada.edit(id, Rows.password("second"))
            try await ada.run()
            func brought() throws -> Int? {
                try world.store.reader.read { (db) throws(DatabaseError) in
                    try db.first("SELECT count(*) FROM brought_up") {
                        (row) throws(DatabaseError) in try row.int(0)
                    }
                }
            }
            for hour in 0..<(8 * 24 as Int64) {
                #expect(try brought() == (hour > 7 * 24 ? 0 : 1))
                let now = world.surroundings.now.advanced(bySeconds: (hour + 1) * 3_600 - week)
                try await world.store.forgetReceipts(before: now)
            }
        }
    }

    @Test func `A6-N3 what waits comes on top of what was forgotten and leaves no copy`()
        async throws
    {
        try await Rows.open { world, ada, id in
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, Rows.password("second"))
            } meanwhile: {
                world.wire.isCut = true
                try await ada.wish(.favour(true), id)
                world.wire.isCut = false
            }
            for _ in 1...2 { _ = try await scheduler.address.ask { .sync(isFull: true, $0) } }
            #expect(try ada.changes.isEmpty)
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "second")
            #expect(item.cipher.isFavorite)
            #expect(try await ada.elsewhere.items.count == 1)
        }
    }

    @Test func `A6-N3 an edit that waits comes on top of what was forgotten`() async throws {
        try await Rows.open { world, ada, id in
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, Rows.password("second"))
            } meanwhile: {
                world.wire.isCut = true
                try await ada.wish(.favour(true), id)
                world.wire.isCut = false
                ada.keys.lock()
            }
            #expect(try ada.item(id).login?.password == "second")
            ada.keys.unlock(ada.ring)
            _ = try await scheduler.address.ask { .sync(isFull: true, $0) }
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "second" && item.cipher.isFavorite)
        }
    }

    // MARK: What is no late call

    /// Folders and favourites have no stamps.
    @Test(arguments: Personality.Name.allCases)
    func `T-48 what others move back is not taken for something that was undone`(
        _ personality: Personality.Name
    ) async throws {
        try await Rows.open(personality) { world, ada, id in
            let folder = try await ada.elsewhere.addFolder("work")
            await world.server.inject(Fault(.loseAnswer, on: .updateCipher))
            try await ada.edit(id, Rows.password("mine"))
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
        try await Rows.open { world, ada, id in
            try await ada.edit(id, Rows.password("mine"))
            world.wire.interrupt("/api/ciphers/\(id)", isCarriedOut: true) {
                try await ada.edit(id, Rows.password("newest"))
            }
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["newest"])
            #expect(try world.store.reader.strays(of: ada.userID).isEmpty)
        }
    }
}
