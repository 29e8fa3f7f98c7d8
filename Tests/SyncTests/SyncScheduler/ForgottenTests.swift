import EmbeddedUpstream
import MeshSupport
import Messaging
import SQLite
import Testing
import Vault

@testable import Sync

/// Upstream forgets what it has taken, and falls back to what it was before.
@Suite(.timeLimit(.minutes(2))) struct ForgottenTests {
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
        let scheduler = try await ada.scheduler()
        let before = try await scheduler.sync()
        #expect(before.outcome == .completed)
        await world.server.rollBack()
        try await meanwhile()
        let first = try await scheduler.sync()
        let isLive = try ada.changes.contains { $0.state != .quarantined }
        #expect(first.outcome == (isLive ? .deferred : .failed), "\(first)")
        world.time.pass(.seconds(70))
        try await scheduler.sync()
        return scheduler
    }

    @Test(arguments: Personality.Name.allCases)
    func `A6-N3, P17 what upstream took and forgot is offered again, and arrives`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let receipts = Receipts()
            let scheduler = try await Self.fallBack(world, ada) {
                receipts.ids.append(try await ada.edit(id, password("second")).receiptID)
                try await ada.add(Self.fresh)
            }
            #expect(try ada.item(id).login?.password == "second")
            try await scheduler.sync()
            try await scheduler.sync()
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
        let scheduler = try await ada.scheduler()
        try await scheduler.sync()
        await world.server.rollBack()
        try await unseen()
        let first = try await scheduler.sync()
        #expect(first.outcome == .failed, "\(first)")
        world.time.pass(.seconds(5))
        try await onceSeen()
        for _ in 1...4 {
            try await scheduler.sync()
            world.time.pass(.seconds(70))
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `A6-N3 who writes once it has been seen that upstream forgot hides nothing of that`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await Self.fallBack(world, ada) {
                try await ada.add(Self.fresh)
            } onceSeen: {
                try await ada.elsewhere.edit(id, password("theirs"))
            }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["fresh", "theirs"])
        }
    }

    /// What base has beside that item is what upstream has forgotten.
    private static func favourOther(than id: String, _ world: World, _ ada: Person) async throws {
        let base = try world.store.reader.layers(of: ada.userID).base
        let forgotten = try #require(base.first { $0.lane.cipherID != id })
        try await ada.wish(.favour(true), forgotten.lane.cipherID)
    }

    /// What others have written moves upstream on, so that no list shows by itself what has happened.
    @Test(arguments: Personality.Name.allCases)
    func `A6-N3 a wish for what upstream forgot is not taken for done while that is in doubt`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await Self.fallBack(world, ada) {
                try await ada.add(Self.fresh)
            } onceSeen: {
                try await ada.elsewhere.edit(id, password("theirs"))
                try await Self.favourOther(than: id, world, ada)
            }
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.contains { $0.login?.password == "fresh" && $0.cipher.isFavorite })
        }
    }

    @Test func `A6-N3 what was deleted and is there again tells a run that upstream fell back`()
        async throws
    {
        try await withLogin { world, ada, id in
            let doomed = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            await world.server.remember()
            try await ada.add(Self.fresh)
            try await ada.wish(.hardDelete, doomed)
            try await ada.run()
            let scheduler = try await ada.scheduler()
            try await scheduler.sync()
            await world.server.rollBack()
            try await ada.elsewhere.edit(id, password("theirs"))
            try await Self.favourOther(than: id, world, ada)
            for _ in 1...5 {
                try await scheduler.sync()
                world.time.pass(.seconds(70))
            }
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.contains { $0.login?.password == "fresh" && $0.cipher.isFavorite })
            #expect(!items.contains { $0.id == doomed })
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `A6-N3, I1 what upstream forgot and somebody has written over since is kept as a copy`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await Self.fallBack(world, ada) {
                try await ada.add(Self.fresh)
                try await ada.edit(id, password("mine"))
            } onceSeen: {
                try await ada.elsewhere.edit(id, password("theirs"))
            }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).login?.password == "theirs")
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["fresh", "mine", "theirs"])
        }
    }

    @Test(arguments: StoredStampTests.Keeping.all)
    func `A6-N3, I1 it is kept, too, if the store has given what came from here another stamp`(
        _ keeping: StoredStampTests.Keeping
    ) async throws {
        try await keeping.open { world, ada in
            let id = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            try await Self.fallBack(world, ada) {
                try await ada.add(Self.fresh)
                try await ada.edit(id, password("mine"))
            } onceSeen: {
                try await ada.elsewhere.edit(id, password("theirs"))
            }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["fresh", "mine", "theirs"])
        }
    }

    @Test func `A6-N3, I1 it is kept, too, if others had put it into the archive before`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await Self.fallBack(world, ada) {
                try await ada.add(Self.fresh)
                try await ada.edit(id, password("mine"))
                try await ada.run()
                try await ada.elsewhere.archive(id)
            } onceSeen: {
                try await ada.elsewhere.edit(id, password("theirs"))
            }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
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
        try await withLogin { world, ada, id in
            let other = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            try await Self.fallBack(world, ada) {
                world.time.pass(.seconds(10))
                try await ada.edit(id, password("mine"))
                try await ada.add(Self.fresh)
            } unseen: {
                world.time.pass(.seconds(60))
                try await ada.elsewhere.edit(other, password("theirs"))
            } onceSeen: {
                switch writer {
                case .elsewhere: try await ada.elsewhere.edit(id, password("later"))
                case .here:
                    let recorded = try await ada.wish(.trash, id, atOnce: true).made
                    _ = try await ada.attempt(recorded)
                }
            }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.contains("fresh") && passwords.contains("theirs"))
            if writer == .elsewhere {
                #expect(passwords.sorted() == ["fresh", "later", "mine", "theirs"])
            }
        }
    }

    /// Upstream falls back, which one item alone shows, and the host has asked it; some seconds later others have their
    /// turn, and in the end it is believed.
    private static func fallBack(
        by id: String,
        _ world: World,
        _ ada: Person,
        waiting: Edit.Wish? = nil,
        onceSeen: () async throws -> Void
    ) async throws {
        world.time.pass(.seconds(10))
        await world.server.remember()
        try await ada.edit(id, password("mine"))
        try await ada.run()
        let scheduler = try await ada.scheduler()
        try await scheduler.sync()
        await world.server.rollBack()
        if let waiting { try await ada.wish(waiting, id) }
        let first = try await scheduler.sync()
        #expect(first.outcome == (waiting == nil ? .failed : .deferred), "\(first)")
        world.time.pass(.seconds(5))
        try await onceSeen()
        for _ in 1...6 {
            try await scheduler.sync()
            world.time.pass(.seconds(70))
        }
        #expect(try ada.changes.isEmpty)
    }

    @Test(arguments: [nil, Edit.Wish.favour(true), .trash])
    func `A6-N3, I1 of one item that is set back, what others write next leaves a copy`(
        _ waiting: Edit.Wish?
    ) async throws {
        try await withLogin { world, ada, id in
            try await Self.fallBack(by: id, world, ada, waiting: waiting) {
                try await ada.elsewhere.edit(id, password("theirs"))
            }
            #expect(try await ada.elsewhere.passwords.sorted() == ["mine", "theirs"])
            #expect(try await ada.elsewhere.item(id).login?.password == "theirs")
        }
    }

    @Test func `A6-N3, I1 one item that is set back and then deleted by others is made anew`()
        async throws
    {
        try await withLogin { world, ada, id in
            _ = try await ada.furnish(1)
            try await Self.fallBack(by: id, world, ada) { try await ada.elsewhere.delete(id) }
            #expect(try await ada.elsewhere.passwords.contains("mine"))
        }
    }

    /// There is nothing of this host's to be kept.
    @Test func `A6-N3 who writes over what was set back, and never came from here, keeps nobody`()
        async throws
    {
        try await withLogin { world, ada, id in
            await world.server.remember()
            world.time.pass(.seconds(10))
            try await ada.elsewhere.edit(id, password("theirs"))
            let scheduler = try await ada.scheduler()
            try await scheduler.sync()
            await world.server.rollBack()
            #expect(try await scheduler.sync().outcome == .failed)
            try await ada.elsewhere.edit(id, password("theirs again"))
            #expect(try await scheduler.sync().outcome == .completed)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `P7 by an old answer nothing is forgotten, so what others write after it leaves no copy`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            await world.server.remember()
            world.time.pass(.seconds(10))
            try await ada.edit(id, password("mine"))
            try await ada.run()
            let scheduler = try await ada.scheduler()
            try await scheduler.sync()
            await world.server.inject(Fault(.outdated, on: .sync))
            let old = try await scheduler.sync()
            #expect(old.outcome == .failed, "\(old)")
            world.time.pass(.seconds(5))
            try await ada.elsewhere.edit(id, password("later"))
            let right = try await scheduler.sync()
            #expect(right.outcome == .completed, "\(right)")
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["later"])
        }
    }

    @Test func `A6-N3, T-57 what was forgotten under a newer key is offered again under that`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.add(mail)
            try await ada.edit(id, password("second"))
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
            try await scheduler.sync()
            _ = try await ada.reseal(from: ada.ring)
            try await scheduler.sync()
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
        try await withLogin { world, ada, id in
            // Of two items, or the vault would be empty.
            try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let scheduler = try await Self.fallBack(world, ada) { try await ada.wish(wish, id) }
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            switch wish {
            case .trash: #expect(try await ada.elsewhere.item(id).cipher.isInTrash)
            case .archive: #expect(try await ada.elsewhere.item(id).cipher.archivedDate != nil)
            case .favour: #expect(try await ada.elsewhere.item(id).cipher.isFavorite)
            default: #expect(try await ada.elsewhere.lacks(id))
            }
        }
    }

    /// What upstream falls back to was written by others, and is not what this host wrote over.
    @Test(arguments: Personality.Name.allCases, [false, true])
    func
        `A6-N3 what is offered again is put where it was: into its folder and the archive, or out of them`(
            _ personality: Personality.Name,
            _ wasInside: Bool
        ) async throws
    {
        try await withLogin(personality) { world, ada, id in
            let folder = try await ada.elsewhere.addFolder("work")
            let inside =
                #"{"name":"mail","folderId":"\#(folder)","favorite":true,"#
                + #""login":{"username":"ada","password":"mine"}}"#
            if wasInside {
                try await ada.elsewhere.edit(id, inside.replacing("mine", with: "first"))
                try await ada.elsewhere.archive(id)
            }
            try await ada.refresh()
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.elsewhere.edit(id, password("theirs"))
                try await ada.refresh()
                try await ada.edit(id, wasInside ? password("mine") : inside)
                try await ada.wish(wasInside ? .unarchive : .archive, id)
            }
            for _ in 1...2 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "mine")
            #expect(item.cipher.folderID == (wasInside ? nil : folder))
            #expect(item.cipher.isFavorite != wasInside && item.cipher.isArchived != wasInside)
        }
    }

    @Test func `A6-N3 what was trashed is brought up again as trash`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let scheduler = try await Self.fallBack(world, ada) {
                let made = try await ada.add(Self.fresh)
                try await ada.run()
                try await ada.wish(.trash, made)
            }
            try await scheduler.sync()
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
        try await withLogin { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, password("mine"))
            }
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["mine", "theirs"])
        }
    }

    @Test func `A6-N3 what was brought up while a list was on its way is not missed in it`()
        async throws
    {
        try await withLogin { world, ada, id in
            let mark = try world.store.reader.refreshMark(of: ada.userID)
            let fetched = try await ada.upstream.fetch(.patient)
            try await ada.edit(id, password("mine"))
            _ = try await ada.add(mail)
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
        try await withLogin { world, ada, id in
            let other = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, password("second"))
                try await ada.edit(other, password("mine"))
            } meanwhile: {
                try await ada.elsewhere.edit(other, password("theirs"))
            }
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["mine", "second", "theirs"])
            #expect(try await ada.elsewhere.item(other).login?.password == "theirs")
        }
    }

    @Test func `A6-N3 what others write after the fall with an earlier stamp is kept`() async throws
    {
        try await withLogin { world, ada, id in
            let scheduler = try await Self.fallBack(world, ada) {
                world.time.pass(.seconds(5))
                try await ada.edit(id, mail.replacing("ada", with: "mine"))
            } meanwhile: {
                await world.server.shiftClock(seconds: -13)
                try await ada.elsewhere.edit(id, mail.replacing("ada", with: "theirs"))
            }
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            let names = try await ada.elsewhere.items.compactMap { $0.login?.username }
            #expect(names.sorted() == ["mine", "theirs"])
        }
    }

    @Test func `A6-N3 what others write after the fall within the same second is kept`()
        async throws
    {
        try await withLogin { world, ada, id in
            let other = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let scheduler = try await Self.fallBack(world, ada) {
                world.time.pass(.seconds(5))
                await world.server.setStampDigits(0)
                try await ada.edit(id, mail.replacing("ada", with: "mine"))
                try await ada.edit(other, mail.replacing("ada", with: "second"))
            } meanwhile: {
                await world.server.shiftClock(seconds: -20)
                try await ada.elsewhere.edit(id, mail.replacing("ada", with: "theirs"))
            }
            try await scheduler.sync()
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
            try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let id = try #require(try await ada.elsewhere.items.first?.id)
            world.time.pass(.seconds(5))
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.wish(.hardDelete, id)
            } meanwhile: {
                world.time.pass(.seconds(5))
                if isEdited { try await ada.elsewhere.edit(id, password("theirs")) }
            }
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map(\.id) == (isEdited ? [id] : []))
        }
    }

    /// If it was, whatever others delete from then on would be taken for forgotten, and made anew.
    @Test func `A6-N3 what others have saved from a forgotten deletion is no sign of another fall`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.add(Self.fresh)
            try await ada.run()
            let made = try #require(try await ada.elsewhere.items.first { $0.id != id }?.id)
            try await ada.refresh()
            world.time.pass(.seconds(5))
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.wish(.hardDelete, id)
            } meanwhile: {
                try await ada.elsewhere.edit(id, password("theirs"))
            }
            let next = try await scheduler.sync()
            #expect(next.outcome == .completed, "\(next)")
            try await ada.elsewhere.delete(made)
            for _ in 1...3 {
                let later = try await scheduler.sync()
                #expect(later.outcome == .completed, "\(later)")
                world.time.pass(.seconds(70))
            }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map(\.id) == [id])
        }
    }

    @Test func `A6-N3 a deletion that is to be done again casts no doubt while nobody can read`()
        async throws
    {
        try await withLogin { world, ada, id in
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.wish(.hardDelete, id)
            } meanwhile: {
                ada.keys.lock()
            }
            let next = try await scheduler.sync()
            #expect(next.outcome == .deferred, "\(next)")
            ada.keys.unlock(ada.ring)
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.isEmpty)
        }
    }

    @Test func `A6-N3 what was found, gave way and was forgotten comes under the present key`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let scheduler = try await Self.fallBack(world, ada) {
                let made = try await ada.addUnheard(mail)
                try await ada.edit(made, password("mine"))
                world.time.pass(.seconds(25))
                let landed = try #require(try await ada.elsewhere.items.first?.id)
                try await ada.elsewhere.edit(landed, password("theirs"))
            }
            for _ in 1...2 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords == ["theirs"])
        }
    }

    @Test
    func `A6-N3 an edit that waits does not hide that upstream has forgotten what came after`()
        async throws
    {
        try await withLogin { world, ada, id in
            await world.server.remember()
            try await ada.edit(id, password("first here"))
            try await ada.add(mail.replacing("mail", with: "new"))
            try await ada.run()
            try await ada.edit(id, password("mine"))
            await world.server.rollBack()
            let scheduler = try await ada.scheduler()
            for _ in 1...4 {
                try await scheduler.sync()
                world.time.pass(.seconds(70))
            }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.names.contains("new"))
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
        }
    }

    /// Upstream falls back while something waits that was wished after it had taken the rest.
    private static func fallBack(
        _ world: World,
        _ ada: Person,
        _ id: String,
        remembers: Bool = true,
        waiting wish: (_ made: String) async throws -> Void
    ) async throws {
        if remembers { await world.server.remember() }
        let made = try await ada.add(fresh)
        try await ada.edit(id, password("mine"))
        try await ada.run()
        #expect(try ada.changes.isEmpty)
        try await ada.refresh()
        try await wish(made)
        await world.server.rollBack()
        let scheduler = try await ada.scheduler()
        for _ in 1...4 {
            try await scheduler.sync()
            world.time.pass(.seconds(70))
        }
        #expect(try ada.changes.isEmpty)
    }

    /// Clients save what nobody has changed.
    @Test(arguments: Personality.Name.allCases)
    func `A6-N3 what was saved as it was, and waits, keeps nothing of what was forgotten away`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await Self.fallBack(world, ada, id) { made in
                try await ada.edit(made, Self.fresh)
                try await ada.edit(id, password("mine"))
                #expect(try ada.changes.map(\.bringsNothing) == [true, true])
            }
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["fresh", "mine"])
        }
    }

    /// A run goes before base follows a list, and with few changes it needs none.
    @Test(arguments: [Edit.Wish.favour(true), .trash], [false, true])
    func `A6-N3, I1 no wish that waits hides what others write over since upstream went back`(
        _ wish: Edit.Wish,
        _ isOneOfMany: Bool
    ) async throws {
        try await withLogin { world, ada, id in
            try await Self.writeOver(id, world, ada, beside: wish, isOneOfMany: isOneOfMany)
        }
    }

    @Test(arguments: StoredStampTests.Keeping.all)
    func `A6-N3, I1 nor does one where the store has given what came from here another stamp`(
        _ keeping: StoredStampTests.Keeping
    ) async throws {
        try await keeping.open { world, ada in
            let id = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            try await Self.writeOver(id, world, ada, beside: .favour(true))
        }
    }

    @Test(arguments: [Edit.Wish.favour(true), .archive], [false, true])
    func `A6-N3, P4 a wish that waits is carried out on what others wrote, whoever came later`(
        _ wish: Edit.Wish,
        _ isLater: Bool
    ) async throws {
        try await withLogin { world, ada, id in
            try await Self.writeOver(id, world, ada, beside: wish, isLater: isLater)
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "theirs")
            #expect(wish == .archive ? item.cipher.isArchived : item.cipher.isFavorite)
            let copies = try await ada.elsewhere.items.filter { $0.login?.password == "mine" }
            #expect(copies.count == 1)
            #expect(copies.allSatisfy { !$0.cipher.isFavorite && !$0.cipher.isArchived })
        }
    }

    @Test
    func `A6-N3, I1 what gives way to a wish that is set aside is held until that is discarded`()
        async throws
    {
        try await withLogin { world, ada, id in
            _ = try await ada.furnish(1)
            try await Self.fallBack(world, ada) {
                try await ada.add(Self.fresh)
                try await ada.edit(id, password("mine"))
            } unseen: {
                try await ada.wish(.favour(true), id)
                try await Self.setAside(id, world, ada)
            } onceSeen: {
                try await ada.elsewhere.edit(id, password("theirs"))
            }
            let change = try #require(try ada.change(id))
            #expect(change.state == .quarantined && change.intent.snapshot == nil)
            let week = Int64(8 * 24 * 3_600)
            for hour in 0..<week / 3_600 {
                let seconds = (hour + 1) * 3_600 - 7 * 24 * 3_600
                let moment = world.surroundings.now.advanced(bySeconds: seconds)
                try await world.store.forgetReceipts(before: moment)
            }
            try await Self.discard(id, world, ada)
            try await ada.refresh()
            #expect(try ada.item(id).login?.password == "mine")
            try await ada.run()
            let passwords = try await ada.elsewhere.passwords
            #expect(Set(passwords) == ["fresh", "mine", "theirs"])
        }
    }

    private static func setAside(_ id: String, _ world: World, _ ada: Person) async throws {
        let change = try #require(try ada.change(id))
        _ = try await world.store.update(change.id, expecting: change.version) {
            $0.state = .quarantined
        }
    }

    private static func discard(_ id: String, _ world: World, _ ada: Person) async throws {
        let change = try #require(try ada.change(id))
        let now = world.surroundings.now
        let isGone = try await world.store.discard(
            change.id,
            expecting: change.version,
            at: now
        )
        #expect(isGone)
    }

    /// Upstream goes back, and others write over what it had got from here, while a wish waits; in the end all of
    /// that is there.
    private static func writeOver(
        _ id: String,
        _ world: World,
        _ ada: Person,
        beside wish: Edit.Wish,
        isOneOfMany: Bool = false,
        isLater: Bool = false
    ) async throws {
        let others = try await ada.furnish(3)
        await world.server.remember()
        try await ada.edit(id, password("mine"))
        try await ada.edit(others[0], #"{"name":"kept","login":{"password":"kept"}}"#)
        try await ada.run()
        try await ada.refresh()
        if !isLater { try await ada.wish(wish, id) }
        for other in isOneOfMany ? others[1...] : [] {
            try await ada.wish(.favour(true), other)
        }
        await world.server.rollBack()
        try await ada.elsewhere.edit(id, password("theirs"))
        if isLater { try await ada.wish(wish, id) }
        let scheduler = try await ada.scheduler()
        for _ in 1...6 {
            try await scheduler.sync()
            world.time.pass(.seconds(70))
        }
        #expect(try ada.changes.isEmpty)
        let passwords = try await ada.elsewhere.passwords
        #expect(Set(passwords).isSuperset(of: ["mine", "theirs", "kept"]))
    }

    @Test(arguments: Personality.Name.allCases)
    func `A6-N3 a trash that waits for what upstream forgot leaves that in the trash`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await Self.fallBack(world, ada, id) { made in try await ada.wish(.trash, made) }
            let items = try await ada.elsewhere.items
            let fresh = try #require(items.first { $0.login?.password == "fresh" })
            #expect(fresh.cipher.isInTrash)
            #expect(items.count == 2)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `A6-N3 a wish that waits keeps no trash that was forgotten from being done again`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let other = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            await world.server.remember()
            try await ada.wish(.trash, other)
            try await ada.run()
            try await ada.refresh()
            try await Self.fallBack(world, ada, id, remembers: false) { _ in
                try await ada.wish(.favour(true), other)
            }
            let item = try await ada.elsewhere.item(other)
            #expect(item.cipher.isInTrash && item.cipher.isFavorite)
        }
    }

    @Test(arguments: [1, OwnHistory.depth, OwnHistory.depth + 3])
    func `A6-N3 of what was written here nothing is kept when it is what upstream falls back to`(
        _ edits: Int
    ) async throws {
        try await withLogin { world, ada, id in
            for edit in 1...edits {
                world.time.pass(.seconds(5))
                try await ada.edit(id, password("first \(edit)"))
                try await ada.run()
            }
            let scheduler = try await Self.fallBack(world, ada) {
                world.time.pass(.milliseconds(5_200))
                try await ada.edit(id, password("second"))
            }
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords == ["second"])
            let known = try Self.ownHistory(world)
            #expect(known == min(edits + 2, OwnHistory.depth))
        }
    }

    @Test func `what is known of the history of an item is forgotten with it`() async throws {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
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
        try await withLogin { world, ada, id in
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.add(mail.replacing("mail", with: "new"))
            } meanwhile: {
                let made = try #require(
                    try ada.world.store.reader.layers(of: ada.userID).base
                        .first { $0.lane.cipherID != id }
                )
                try await ada.wish(.favour(true), made.lane.cipherID)
                ada.keys.lock()
            }
            ada.keys.unlock(ada.ring)
            try await scheduler.sync()
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.contains { $0.name == "new" && $0.cipher.isFavorite })
        }
    }

    @Test
    func `A6-N3, T-57 what was forgotten under a key in between is brought under the present one`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.add(mail)
            try await ada.edit(id, password("second"))
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
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items(openedWith: present)
            #expect(items.contains { $0.login?.password == "second" })
        }
    }

    @Test func `A6-N3, G-CLOCK a clock that leaps by a month makes nothing old at once`()
        async throws
    {
        try await withLogin { world, ada, id in
            let week: Int64 = 7 * 24 * 3_600
            func sweep(after seconds: Int64) async throws {
                let moment = world.surroundings.now.advanced(bySeconds: seconds - week)
                try await world.store.forgetReceipts(before: moment)
            }
            try await sweep(after: 0)
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, password("second"))
            } meanwhile: {
                for hour in 0..<12 { try await sweep(after: 4 * week + Int64(hour) * 3_600) }
            }
            try await scheduler.sync()
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
        try await withLogin { world, ada, id in
            let right = world.surroundings.now.advanced(bySeconds: 128 * 24 * 3_600)
            try await world.store.forgetReceipts(before: right)
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, password("second"))
            } meanwhile: {
                try await world.store.forgetReceipts(before: right)
            }
            try await scheduler.sync()
            #expect(try await ada.elsewhere.item(id).login?.password == "second")
        }
    }

    /// The clock may have been set only when something had been queued.
    @Test(arguments: [false, true])
    func `G-CLOCK a host that began in 1970 forgets in time all the same`(
        _ isQueuedThen: Bool
    ) async throws {
        try await withLogin { world, ada, id in
            let week: Int64 = 7 * 24 * 3_600
            try await world.store.forgetReceipts(before: Moment(ticks: 0))
            try await ada.edit(id, password("second"))
            try await ada.run()
            if isQueuedThen {
                try await world.store.write { (db) throws(DatabaseError) in
                    let moment = Moment(ticks: 0).advanced(bySeconds: 24 * 3_600)
                    try db.execute("UPDATE receipt SET queued_ticks = ?", .moment(moment))
                }
            }
            func count(_ question: StaticString) throws -> Int? {
                try world.store.reader.read { (db) throws(DatabaseError) in
                    try db.first(question) { (row) throws(DatabaseError) in try row.int(0) }
                }
            }
            for hour in 0..<(8 * 24 as Int64) {
                let left = hour > 7 * 24 ? 0 : 1
                #expect(try count("SELECT count(*) FROM brought_up") == left)
                #expect(try count("SELECT count(*) FROM receipt") == left)
                let now = world.surroundings.now.advanced(bySeconds: (hour + 1) * 3_600 - week)
                try await world.store.forgetReceipts(before: now)
            }
        }
    }

    @Test func `A6-N3 what waits comes on top of what was forgotten and leaves no copy`()
        async throws
    {
        try await withLogin { world, ada, id in
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, password("second"))
            } meanwhile: {
                world.wire.isCut = true
                try await ada.wish(.favour(true), id)
                world.wire.isCut = false
            }
            for _ in 1...2 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "second")
            #expect(item.cipher.isFavorite)
            #expect(try await ada.elsewhere.items.count == 1)
        }
    }

    @Test func `A6-N3 what was forgotten wakes a wish that was set aside, and goes with it`()
        async throws
    {
        try await withLogin { world, ada, id in
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, password("second"))
            } meanwhile: {
                try await ada.wish(.favour(true), id)
                try await Self.setAside(id, world, ada)
            }
            for _ in 1...2 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "second" && item.cipher.isFavorite)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `A6-N3, I1 what was forgotten beneath an edit is offered again once that is discarded`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let receipts = Receipts()
            let scheduler = try await Self.fallBack(world, ada) {
                receipts.ids.append(try await ada.edit(id, Self.noted("mine")).receiptID)
            } meanwhile: {
                try await ada.edit(id, Self.noted("mine again"))
                try await Self.setAside(id, world, ada)
            }
            try await Self.discard(id, world, ada)
            #expect(try ada.item(id).notes == "mine")
            for _ in 1...3 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map(\.notes) == ["mine"])
            let receipt = try #require(receipts.ids.first ?? nil)
            let kept = try world.store.reader.receipt(receipt, of: ada.userID)
            #expect(kept?.status == .observed)
        }
    }

    @Test(arguments: [Edit.Wish.favour(true), .trash, .archive, .hardDelete])
    func `A6-N3, I1 what was forgotten beneath a wish is offered again once that is discarded`(
        _ wish: Edit.Wish
    ) async throws {
        try await withLogin { world, ada, id in
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, Self.noted("mine"))
            } meanwhile: {
                try await ada.wish(wish, id)
                ada.keys.lock()
            }
            #expect(try ada.change(id)?.forgotten != nil)
            try await Self.discard(id, world, ada)
            ada.keys.unlock(ada.ring)
            for _ in 1...3 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map(\.notes) == ["mine"])
            let item = try await ada.elsewhere.item(id).cipher
            #expect(!item.isInTrash && !item.isArchived && !item.isFavorite)
        }
    }

    @Test(arguments: [false, true])
    func
        `A6-N3, I1 a deletion that gives way to what upstream fell back to keeps what was forgotten`(
            _ isOwn: Bool
        ) async throws
    {
        try await withLogin { world, ada, id in
            let scheduler = try await Self.fallBack(world, ada) {
                if !isOwn {
                    try await ada.elsewhere.edit(id, Self.noted("theirs"))
                    try await ada.refresh()
                }
                try await ada.edit(id, Self.noted("mine"))
            } meanwhile: {
                try await ada.wish(.hardDelete, id)
                ada.keys.lock()
            }
            ada.keys.unlock(ada.ring)
            for _ in 1...3 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            // What this host itself wrote over it may delete.
            let notes = try await ada.elsewhere.items.map(\.notes)
            #expect(isOwn ? notes.isEmpty : notes.contains("mine"), "\(notes)")
        }
    }

    private static func noted(_ notes: String) -> String {
        #"{"name":"mail","notes":"\#(notes)","login":{"username":"ada","password":"first"}}"#
    }

    @Test
    func `A6-N3, I1 an item that was forgotten beneath an edit is there once that is discarded`()
        async throws
    {
        try await withLogin { world, ada, id in
            let made = Receipts()
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.add(Self.fresh)
                try await ada.run()
                let items = try await ada.elsewhere.items
                made.ids = items.map(\.cipher.id).filter { $0 != id }
            } meanwhile: {
                let fresh = try #require(made.ids.first ?? nil)
                try await ada.edit(fresh, Self.fresh.replacing("fresh", with: "fresher"))
                try await Self.setAside(fresh, world, ada)
            }
            try await Self.discard(try #require(made.ids.first ?? nil), world, ada)
            for _ in 1...3 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.passwords.sorted() == ["first", "fresh"])
        }
    }

    @Test
    func `A6-N3 what was restored and is forgotten beneath a trash that is discarded is restored`()
        async throws
    {
        try await withLogin { world, ada, id in
            _ = try await ada.furnish(1)
            try await ada.wish(.trash, id)
            try await ada.run()
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.wish(.restore, id)
            } meanwhile: {
                try await ada.wish(.trash, id)
                try await Self.setAside(id, world, ada)
            }
            try await Self.discard(id, world, ada)
            for _ in 1...3 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            #expect(try await !ada.elsewhere.item(id).cipher.isInTrash)
        }
    }

    @Test(arguments: [Edit.Wish.trash, .archive])
    func
        `P3 of an item that was forgotten and is made anew nothing comes once what waits is discarded`(
            _ wish: Edit.Wish
        ) async throws
    {
        try await withLogin { world, ada, _ in
            let made = Receipts()
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.add(Self.fresh)
                made.ids = try ada.changes.map(\.cipherID)
            } meanwhile: {
                let first = try #require(made.ids.first ?? nil)
                let fresh = try #require(try ada.item(first).cipher.id)
                if wish == .trash {
                    try await ada.edit(fresh, Self.fresh.replacing("fresh", with: "fresher"))
                }
                try await ada.wish(wish, fresh)
                for operation in [Operation.trashCipher, .archiveCipher] {
                    let refusal = Fault.Effect.answer(.refusal(500, "no"), isCarriedOut: false)
                    var fault = Fault(refusal, on: operation)
                    fault.times = nil
                    await world.server.inject(fault)
                }
            }
            try await scheduler.sync()
            let waiting = try #require(try ada.changes.first)
            let id = waiting.cipherID
            #expect(waiting.forgotten == nil)
            try await Self.discard(id, world, ada)
            for _ in 1...3 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords.sorted()
            #expect(passwords == ["first", wish == .trash ? "fresher" : "fresh"])
            #expect(try ada.item(try #require(made.ids.first ?? nil)).cipher.id == id)
        }
    }

    /// Whoever wrote over it had not seen it.
    @Test
    func `A6-N3, I1 what was forgotten beneath an edit is a copy where others have written since`()
        async throws
    {
        try await withLogin { world, ada, id in
            _ = try await ada.furnish(1)
            try await Self.fallBack(world, ada) {
                try await ada.add(Self.fresh)
                try await ada.edit(id, Self.noted("mine"))
            } unseen: {
                try await ada.edit(id, Self.noted("mine again"))
                try await Self.setAside(id, world, ada)
            } onceSeen: {
                try await ada.elsewhere.edit(id, Self.noted("theirs"))
            }
            try await Self.discard(id, world, ada)
            try await ada.refresh()
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).notes == "theirs")
            #expect(Set(try await ada.elsewhere.items.map(\.notes)).contains("mine"))
        }
    }

    @Test func `A6-N3 what was forgotten beneath an edit that is brought up leaves nothing`()
        async throws
    {
        try await withLogin { world, ada, id in
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, Self.noted("mine"))
            } meanwhile: {
                try await ada.edit(id, Self.noted("mine again"))
                try await Self.setAside(id, world, ada)
            }
            #expect(try ada.change(id)?.forgotten != nil)
            try await ada.edit(id, Self.noted("mine at last"))
            try await ada.run()
            for _ in 1...2 { try await scheduler.sync() }
            #expect(try ada.changes.isEmpty)
            let notes = try await ada.elsewhere.items.map(\.notes)
            #expect(notes.contains("mine at last") && !notes.contains("mine"), "\(notes)")
        }
    }

    @Test func `A6-N3 an edit that waits comes on top of what was forgotten`() async throws {
        try await withLogin { world, ada, id in
            let scheduler = try await Self.fallBack(world, ada) {
                try await ada.edit(id, password("second"))
            } meanwhile: {
                world.wire.isCut = true
                try await ada.wish(.favour(true), id)
                world.wire.isCut = false
                ada.keys.lock()
            }
            #expect(try ada.item(id).login?.password == "second")
            ada.keys.unlock(ada.ring)
            try await scheduler.sync()
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "second" && item.cipher.isFavorite)
        }
    }
}
