import EmbeddedUpstream
import MeshSupport
import Messaging
import System
import Testing
import Vault

@testable import Sync

/// Servers take what is based on a revision of the same second for up to date, so what came from here
/// may be overwritten by somebody who has not seen it.
@Suite(.timeLimit(.minutes(2))) struct SameSecondTests {
    private static func sync(_ scheduler: SyncScheduler) async throws {
        for _ in 0..<2 { try await scheduler.sync() }
    }

    @Test(arguments: Personality.Name.allCases)
    func `P14, T-16 what was overwritten within the second, unseen, is kept as a copy`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let scheduler = try await ada.scheduler()
            let theirs = try await ada.elsewhere.draft(of: id, password("theirs"))
            try await Self.overwrite(world, ada, id, theirs, after: .milliseconds(300))
            try await Self.sync(scheduler)
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.count == 2)
            #expect(Set(items.compactMap { $0.login?.password }) == ["mine", "theirs"])
            #expect(items.first { $0.id == id }?.login?.password == "theirs")
            try await Self.sync(scheduler)
            #expect(try await ada.elsewhere.items.count == 2)
        }
    }

    /// What is to be kept is shown in its item's place until its copy is made.
    @Test func `P14, I1 saving the item as it is shown takes nothing from what is to be kept`()
        async throws
    {
        try await withLogin { world, ada, id in
            let (home, scheduler) = (try await ada.home(), try await ada.scheduler())
            let theirs = try await ada.elsewhere.draft(of: id, password("theirs"))
            try await Self.overwrite(world, ada, id, theirs, after: .milliseconds(300))
            world.wire.interrupt("/sync?excludeDomains=true", isCarriedOut: true) {
                try await home.loseNetwork()
            }
            try await scheduler.sync()
            try await home.loseNetwork()
            #expect(try ada.changes.count == 1)
            _ = try await home.update(id, #"{"name":"mail"}"#)
            try await home.regainNetwork()
            try await Self.sync(scheduler)
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.first { $0.id == id }?.login?.password == "theirs")
            #expect(Set(items.compactMap { $0.login?.password }) == ["mine", "theirs"])
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `P14, T-16 so is what has left a copy of what was there before, after many passwords`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let scheduler = try await ada.scheduler()
            let theirs = try await ada.elsewhere.draft(of: id, password("theirs"))
            for number in 1...4 {
                try await ada.edit(id, password("mine \(number)"), after: .milliseconds(50))
            }
            try await ada.run()
            try #require(try await ada.elsewhere.items.count == 2)
            world.time.pass(.milliseconds(300))
            try await ada.elsewhere.put(id, theirs)
            for _ in 0..<2 { try await Self.sync(scheduler) }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.contains("mine 4") && passwords.contains("theirs"))
            #expect(passwords.count == 3)
        }
    }

    /// Vaultwarden counts whole seconds.
    @Test func `P14, T-16 so is what was written over somebody else's, who goes on from their own`()
        async throws
    {
        try await withLogin(.vaultwarden) { world, ada, id in
            let scheduler = try await ada.scheduler()
            try await ada.elsewhere.edit(id, password("theirs"), after: .seconds(3))
            let again = try await ada.elsewhere.draft(of: id, password("theirs again"))
            try await ada.edit(id, password("mine"), after: .milliseconds(1_300))
            try await ada.run()
            try #require(try await ada.elsewhere.item(id).login?.password == "mine")
            world.time.pass(.milliseconds(300))
            try await ada.elsewhere.put(id, again)
            for _ in 0..<2 { try await Self.sync(scheduler) }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["mine", "theirs", "theirs again"])
        }
    }

    /// What comes between the overwriting and the next list.
    enum Call: String, CaseIterable, Sendable {
        case archive, trash, trashAtOnce, favour, save
    }

    @Test(arguments: Call.allCases, Personality.Name.allCases)
    func
        `P14, I1 it is kept, too, if the item's owner does something else to it before they see that`(
            _ call: Call,
            _ personality: Personality.Name
        ) async throws
    {
        try await withLogin(personality) { world, ada, id in
            let scheduler = try await ada.scheduler()
            let theirs = try await ada.elsewhere.draft(of: id, password("theirs"))
            try await Self.overwrite(world, ada, id, theirs, after: .milliseconds(300))
            switch call {
            case .archive: try await ada.wish(.archive, id)
            case .trash: try await ada.wish(.trash, id)
            case .favour: try await ada.wish(.favour(true), id)
            case .save: try await ada.edit(id, password("mine"))
            case .trashAtOnce:
                _ = try await ada.attempt(ada.wish(.trash, id, atOnce: true).made)
            }
            for _ in 0..<3 { try await Self.sync(scheduler) }
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.count == 2)
            #expect(Set(items.compactMap { $0.login?.password }) == ["mine", "theirs"])
            #expect(items.first { $0.id == id }?.login?.password == "theirs")
        }
    }

    private static func overwrite(
        _ world: World,
        _ ada: Person,
        _ id: String,
        _ theirs: Elsewhere.Draft,
        after time: Duration = .seconds(60)
    ) async throws {
        try await ada.edit(id, password("mine"), after: .milliseconds(300))
        try await ada.run()
        world.time.pass(time)
        try await ada.elsewhere.put(id, theirs)
    }

    /// Somebody with a login, and what another device makes of it that has not seen what comes after.
    ///
    /// - Parameter story: To overwrite what came from here; then it has to be in a copy.
    private static func keeps(
        _ personality: Personality.Name,
        theirs edits: (String, String),
        after story: @Sendable (World, Person, String, Elsewhere.Draft) async throws -> Void
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let theirs = try await ada.elsewhere.draft(of: id, edits.0, edits.1)
            try await story(world, ada, id, theirs)
            // It would take up what the story records.
            let scheduler = try await ada.scheduler()
            for _ in 0..<2 { try await sync(scheduler) }
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.first { $0.id == id }?.login?.password == "theirs")
            let copies = items.filter { $0.id != id }
            #expect(copies.map { $0.login?.password } == ["mine"])
            #expect(copies.allSatisfy { !$0.cipher.isInTrash })
        }
    }

    private static let passwords = (password("first theirs"), password("theirs"))
    private static let onePassword = (password("theirs"), password("theirs"))

    @Test(arguments: Personality.Name.allCases)
    func `P14, I1 it is kept, too, if what has overwritten it has a longer history`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.keeps(personality, theirs: Self.passwords) { world, ada, id, theirs in
            try await ada.save(id, password("mine"), after: .milliseconds(300))
            world.time.pass(.milliseconds(300))
            try await ada.elsewhere.put(id, theirs)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `P14, I1 it is kept, too, if it is overwritten late, since servers compare stamps only`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.keeps(personality, theirs: Self.onePassword) { world, ada, id, theirs in
            try await Self.overwrite(world, ada, id, theirs)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `P14, I1 it is kept, too, if others have trashed the item before that was known here`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.keeps(personality, theirs: Self.onePassword) { world, ada, id, theirs in
            try await ada.elsewhere.trash(id, after: .milliseconds(200))
            try await ada.save(id, password("mine"), after: .milliseconds(200))
            world.time.pass(.milliseconds(200))
            try await ada.elsewhere.put(id, theirs)
        }
    }

    @Test(arguments: Personality.Name.allCases, [true, false])
    func `P14, I1 it is kept, too, if it went into the trash after it, seen there or not`(
        _ personality: Personality.Name,
        _ isListed: Bool
    ) async throws {
        try await Self.keeps(personality, theirs: Self.onePassword) { world, ada, id, theirs in
            try await ada.edit(id, password("mine"), after: .milliseconds(200))
            try await ada.wish(.trash, id, after: .milliseconds(50))
            world.wire.interrupt("/api/ciphers/\(id)/delete") {
                world.time.pass(.milliseconds(100))
            }
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            if isListed { try await ada.refresh() }
            world.time.pass(.milliseconds(200))
            try await ada.elsewhere.put(id, theirs)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `P14, I1 it is kept, too, if something else was edited after the password`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.keeps(personality, theirs: Self.onePassword) { world, ada, id, theirs in
            try await ada.edit(id, password("mine"), after: .milliseconds(200))
            try await ada.run()
            let noted = #"{"name":"mail","notes":"n","login":{"username":"ada","password":"mine"}}"#
            try await ada.edit(id, noted, after: .milliseconds(200))
            try await ada.run()
            world.time.pass(.milliseconds(200))
            try await ada.elsewhere.put(id, theirs)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `P14, I1 it is kept, too, if that was listed here before its own answer had come`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.keeps(personality, theirs: Self.onePassword) { world, ada, id, theirs in
            world.wire.interrupt("/api/ciphers/\(id)", isCarriedOut: true) {
                world.time.pass(.milliseconds(300))
                try await ada.elsewhere.put(id, theirs)
                try await ada.refresh()
            }
            try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `P14, I1 it is kept, too, if nobody answered it, over what was not known here`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.keeps(personality, theirs: Self.onePassword) { world, ada, id, _ in
            try await ada.elsewhere.trash(id)
            try await ada.elsewhere.restore(id)
            let theirs = try await ada.elsewhere.draft(of: id, password("theirs"))
            await world.server.inject(Fault(.loseAnswer, on: .updateCipher))
            try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
            world.time.pass(.seconds(60))
            try await ada.run(.all)
            try #require(try ada.changes.isEmpty)
            try await ada.elsewhere.put(id, theirs)
        }
    }

    @Test(arguments: Personality.Name.allCases, [true, false])
    func `P14, I1 it is kept, too, if a list has left it out before, and an old one put it back`(
        _ personality: Personality.Name,
        _ isPutBack: Bool
    ) async throws {
        try await Self.keeps(personality, theirs: Self.onePassword) { world, ada, id, theirs in
            let old = try await ada.upstream.fetch(.patient)
            func take(_ ciphers: [BaseCipher]) async throws {
                _ = try await world.store.refresh(
                    ada.userID,
                    ciphers: ciphers,
                    slices: old.slices,
                    since: world.store.reader.refreshMark(of: ada.userID),
                    judge: Judge(ada.keys.keys)
                )
            }
            try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
            try await take([])
            #expect(try ada.base(id) == nil)
            if isPutBack { try await take(old.ciphers) }
            world.time.pass(.milliseconds(300))
            try await ada.elsewhere.put(id, theirs)
        }
    }

    /// What somebody wishes who has not seen yet that their password was written over.
    enum Blind: String, CaseIterable, Sendable {
        case deletion, edit

        func record(_ ada: Person, _ id: String, atOnce: Bool = false) async throws -> Recorded {
            switch self {
            case .deletion: try await ada.wish(.hardDelete, id, atOnce: atOnce).made
            case .edit: try await ada.edit(id, password("mine again"), atOnce: atOnce)
            }
        }
    }

    @Test(arguments: Blind.allCases, Personality.Name.allCases)
    func `P14, I1 it is kept, too, if its owner is refused something, because the item has moved`(
        _ wish: Blind,
        _ personality: Personality.Name
    ) async throws {
        try await Self.keeps(personality, theirs: Self.onePassword) { world, ada, id, theirs in
            try await Self.overwrite(world, ada, id, theirs)
            let recorded = try await wish.record(ada, id, atOnce: true)
            guard case .refused(_, let version) = try await ada.attempt(recorded) else {
                throw Unexpected("not refused")
            }
            try #require(try await world.store.withdraw(recorded, expecting: version))
            #expect(try ada.item(id).login?.password == "theirs")
        }
    }

    @Test(arguments: Blind.allCases)
    func `P14, I1 it is kept, too, if what waited when a list came is discarded`(
        _ wish: Blind
    ) async throws {
        try await Self.keeps(.bitwarden, theirs: Self.onePassword) { world, ada, id, theirs in
            try await Self.overwrite(world, ada, id, theirs)
            _ = try await wish.record(ada, id)
            for _ in 0..<2 { try await ada.refresh() }
            let change = try #require(try ada.change(id))
            let (version, moment) = (change.version, change.updated)
            _ = try await world.store.discard(change.id, expecting: version, at: moment)
        }
    }

    @Test(arguments: [true, false])
    func `P14, I1 it is kept, too, if its deletion yields to what has been written over it`(
        _ isListed: Bool
    ) async throws {
        try await Self.keeps(.bitwarden, theirs: Self.onePassword) { world, ada, id, theirs in
            try await Self.overwrite(world, ada, id, theirs)
            _ = try await Blind.deletion.record(ada, id)
            if isListed { try await ada.refresh() }
        }
    }

    @Test(arguments: [true, false])
    func `P4, P14 it is kept once, if an edit that was made on it gives way and has it, too`(
        _ isListed: Bool
    ) async throws {
        try await withLogin { world, ada, id in
            let scheduler = try await ada.scheduler()
            let theirs = try await ada.elsewhere.draft(of: id, password("theirs"))
            try await Self.overwrite(world, ada, id, theirs)
            _ = try await Blind.edit.record(ada, id)
            if isListed { try await ada.refresh() }
            for _ in 0..<2 { try await Self.sync(scheduler) }
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            let copies = items.filter { $0.login?.password != "theirs" }
            #expect(items.count == 2 && copies.map { $0.login?.password } == ["mine again"])
        }
    }

    @Test func `P4, P14 what is saved before the next list is seen, if that edit's copy has it`()
        async throws
    {
        try await withLogin { world, ada, id in
            let theirs = try await ada.elsewhere.draft(of: id, password("theirs"))
            try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
            let noted = #"{"name":"mail","notes":"n","login":{"username":"ada","password":"mine"}}"#
            try await ada.edit(id, noted)
            world.time.pass(.seconds(60))
            try await ada.elsewhere.put(id, theirs)
            try await ada.run()
            try #require(try ada.changes.isEmpty)
            try #require(try ada.item(id).login?.password == "theirs")
            try await ada.save(id, password("mine again"))
            #expect(try ada.changes.isEmpty)
            #expect(try ada.item(id).login?.password == "mine again")
            #expect(try await ada.elsewhere.items.count == 2)
        }
    }

    /// Vaultwarden counts whole seconds.
    @Test func `P14 what a list shows that comes before the sending is not written over unseen`()
        async throws
    {
        try await withLogin(.vaultwarden) { world, ada, id in
            // With a copy of an earlier conflict, each further one has a list looked into.
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.edit(id, password("mine"))
            try await ada.run()
            try #require(try await ada.elsewhere.items.count == 2)
            try await ada.elsewhere.edit(id, password("theirs again"))
            try await ada.edit(id, password("mine again"), after: .milliseconds(1_300))
            world.wire.interrupt("/sync?excludeDomains=true") {
                let last = password("theirs at last")
                try await ada.elsewhere.edit(id, last, after: .milliseconds(300))
            }
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.contains("theirs at last") && passwords.contains("mine again"))
        }
    }

    /// How a host hears of what somebody else has made at once of a password from here.
    enum Hearing: String, CaseIterable, Sendable {
        case list, answer
    }

    @Test(arguments: Hearing.allCases, Personality.Name.allCases)
    func `P14, I1 it is kept, too, if it was written over with what others made of it at once`(
        _ hearing: Hearing,
        _ personality: Personality.Name
    ) async throws {
        try await Self.keeps(personality, theirs: Self.onePassword) { world, ada, id, theirs in
            try await ada.edit(id, password("mine"), after: .milliseconds(200))
            try await ada.run()
            let noted = #"{"name":"mail","notes":"n","login":{"username":"ada","password":"mine"}}"#
            try await ada.elsewhere.edit(id, noted, after: .milliseconds(200))
            switch hearing {
            case .list: try await ada.refresh()
            case .answer:
                try await ada.wish(.favour(true), id, after: .milliseconds(50))
                try await ada.run()
            }
            try #require(try ada.item(id).notes == "n")
            world.time.pass(.milliseconds(200))
            try await ada.elsewhere.put(id, theirs)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `P14, I1 it is kept, too, if others saw the item when it was restored for it`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let scheduler = try await ada.scheduler()
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.trash(id)
            world.time.pass(.seconds(5))
            let seen = Lock<Elsewhere.Draft?>(nil)
            world.wire.interrupt("/api/ciphers/\(id)") {
                let draft = try await ada.elsewhere.draft(of: id, password("theirs"))
                seen.withLock { $0 = draft }
                world.time.pass(.milliseconds(300))
            }
            try await ada.run()
            world.time.pass(.milliseconds(300))
            try await ada.elsewhere.put(id, #require(seen.withLock { $0 }))
            for _ in 0..<2 { try await Self.sync(scheduler) }
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["mine", "theirs"])
        }
    }

    @Test(arguments: [passwords.1, passwords.0])
    func `P14 while the vault is locked nobody can tell, so whatever was overwritten is kept`(
        _ first: String
    ) async throws {
        try await Self.keeps(
            .bitwarden,
            theirs: (first, password("theirs"))
        ) { world, ada, id, theirs in
            try await Self.overwrite(world, ada, id, theirs, after: .milliseconds(300))
            ada.keys.lock()
            try await ada.refresh()
            #expect(try ada.changes.count == 1)
            ada.keys.unlock(ada.ring)
        }
    }

    @Test(arguments: [Edit.Wish.favour(true), .archive])
    func `P14 what others have seen and changed leaves no copy while the vault is locked`(
        _ wish: Edit.Wish
    ) async throws {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("first mine"))
            try await ada.run()
            try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
            try await ada.wish(wish, id)
            try await ada.run()
            try #require(try ada.changes.isEmpty)
            ada.keys.lock()
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.refresh()
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: [true, false], [passwords.1, passwords.0])
    func `P14, I1 what may be lost while the vault is locked is held until somebody can tell`(
        _ isMoved: Bool,
        _ first: String
    ) async throws {
        try await Self.keeps(
            .bitwarden,
            theirs: (first, password("theirs"))
        ) { world, ada, id, theirs in
            try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
            if isMoved {
                try await ada.wish(.favour(true), id)
                try await ada.run()
            }
            ada.keys.lock()
            world.time.pass(.seconds(60))
            try await ada.elsewhere.put(id, theirs)
            try await ada.refresh()
            #expect(try ada.changes.isEmpty)
            ada.keys.unlock(ada.ring)
            try await ada.refresh()
            #expect(try ada.changes.count == 1)
        }
    }

    @Test
    func `P14 the sync after the unlocking looks at what is held, though upstream is as it was`()
        async throws
    {
        try await withLogin { world, ada, id in
            let theirs = try await ada.elsewhere.draft(of: id, password("theirs"))
            try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
            world.time.pass(.seconds(60))
            try await ada.elsewhere.put(id, theirs)
            ada.keys.lock()
            world.time.pass(.seconds(60))
            let scheduler = try await ada.scheduler()
            try await Self.sync(scheduler)
            let locked = try await scheduler.sync(isFull: false)
            #expect(locked.outcome == .notNeeded, "\(locked)")
            ada.keys.unlock(ada.ring)
            for _ in 0..<2 { try await scheduler.sync(isFull: false) }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["mine", "theirs"])
        }
    }

    @Test func `what came up and was deleted elsewhere is no reason to look again`() async throws {
        try await withLogin { world, ada, id in
            _ = try await ada.furnish(1)
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.refresh()
            try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
            try await ada.elsewhere.delete(id)
            world.time.pass(.seconds(60))
            let scheduler = try await ada.scheduler()
            try await Self.sync(scheduler)
            #expect(try ada.base(id) == nil)
            let report = try await scheduler.sync(isFull: false)
            #expect(report.outcome == .notNeeded, "\(report)")
        }
    }

    @Test func `P14, I1 it is held still when others go on from what has overwritten it`()
        async throws
    {
        let first = password("first theirs")
        try await withLogin { world, ada, id in
            let theirs = try await ada.elsewhere.draft(of: id, first)
            try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
            ada.keys.lock()
            world.time.pass(.seconds(60))
            try await ada.elsewhere.put(id, theirs)
            try await ada.refresh()
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.refresh()
            #expect(try ada.changes.isEmpty)
            ada.keys.unlock(ada.ring)
            try await ada.refresh()
            #expect(try ada.changes.count == 1)
            #expect(try ada.item(id).login?.password == "mine")
        }
    }

    @Test func `P4 what others edit beside a password while the vault is locked leaves no copy`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
            ada.keys.lock()
            world.time.pass(.seconds(60))
            try await ada.elsewhere.edit(id, #"{"name":"theirs"}"#)
            try await ada.refresh()
            #expect(try ada.changes.isEmpty)
            ada.keys.unlock(ada.ring)
            try await ada.refresh()
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `P14, I1 so it is where the history is full`(_ isSeen: Bool) async throws {
        try await withLogin { world, ada, id in
            for number in 0..<6 {
                try await ada.elsewhere.edit(id, password("\(number)"))
            }
            try await ada.refresh()
            let theirs = try await ada.elsewhere.draft(of: id, password("theirs"))
            try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
            ada.keys.lock()
            world.time.pass(.seconds(60))
            if isSeen {
                try await ada.elsewhere.edit(id, password("theirs"))
            } else {
                try await ada.elsewhere.put(id, theirs)
            }
            try await ada.refresh()
            ada.keys.unlock(ada.ring)
            try await ada.refresh()
            #expect(try ada.changes.count == (isSeen ? 0 : 1))
        }
    }

    @Test(arguments: [-45, 0, 5])
    func `N10 the receipt of what was overwritten names its copy, whatever upstream's clock says`(
        _ seconds: Int64
    ) async throws {
        try await World.open { world in
            let ada = try await world.person()
            await world.server.shiftClock(seconds: seconds)
            let id = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let scheduler = try await ada.scheduler()
            let first = try await ada.edit(id, password("first mine"))
            try await Self.sync(scheduler)
            let theirs = try await ada.elsewhere.draft(of: id, password("theirs"))
            let edit = try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
            world.time.pass(.milliseconds(300))
            try await ada.elsewhere.put(id, theirs)
            try await Self.sync(scheduler)
            func receipt(_ edit: Recorded) throws -> Receipt? {
                let id = try #require(edit.receiptID)
                return try world.store.reader.receipt(id, of: ada.userID)
            }
            let copy = try await ada.elsewhere.items.first { $0.id != id }
            #expect(copy?.login?.password == "mine")
            #expect(try receipt(edit)?.status == .backedUp)
            #expect(try receipt(edit)?.backupCipherID == copy?.id)
            #expect(try receipt(first)?.backupCipherID == nil)
        }
    }

    @Test func `the receipt of what was wished beside it says that this was sent`() async throws {
        try await withLogin { world, ada, id in
            let scheduler = try await ada.scheduler()
            let theirs = try await ada.elsewhere.draft(of: id, password("theirs"))
            try await Self.overwrite(world, ada, id, theirs, after: .milliseconds(300))
            let wish = try await ada.wish(.favour(true), id).made
            for _ in 0..<3 { try await Self.sync(scheduler) }
            try #require(try await ada.elsewhere.items.count == 2)
            let receiptID = try #require(wish.receiptID)
            let receipt = try world.store.reader.receipt(receiptID, of: ada.userID)
            #expect(receipt?.status == .observed && receipt?.backupCipherID == nil)
        }
    }

    /// Two devices in turn, as fast as they can.
    @Test(arguments: [#"{"name":"theirs"}"#, password("theirs")])
    func `what somebody has seen and edited within the second leaves no copy, and is shown`(
        _ body: String
    ) async throws {
        try await withLogin { world, ada, id in
            let scheduler = try await ada.scheduler()
            try await ada.edit(id, password("mine"), after: .milliseconds(100))
            try await ada.run()
            try await ada.elsewhere.edit(id, body, after: .milliseconds(100))
            try await scheduler.sync()
            #expect(try ada.changes.isEmpty)
            let theirs = try await ada.elsewhere.item(id)
            #expect(try ada.item(id).name == theirs.name)
            #expect(try ada.item(id).login?.password == theirs.login?.password)
            #expect(try await ada.elsewhere.items.count == 1)
        }
    }

    @Test(arguments: [String?.none, "mine", "other"])
    func
        `P4, P14 of what another host has left a copy none is made here, and of anything else one is`(
            _ copied: String?
        ) async throws
    {
        try await withLogin { world, ada, id in
            let scheduler = try await ada.scheduler()
            let theirs = try await ada.elsewhere.draft(of: id, password("theirs"))
            try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
            if let copied {
                let login = #""login":{"username":"ada","password":"\#(copied)"}"#
                let name = "mail - 2026-01-01 00:00:00"
                try await ada.elsewhere.add(#"{"type":1,"name":"\#(name)",\#(login)}"#)
            }
            world.time.pass(.seconds(60))
            try await ada.elsewhere.put(id, theirs)
            for _ in 0..<2 { try await Self.sync(scheduler) }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.count(where: { $0 == "mine" }) == 1)
            #expect(passwords.count == (copied == "other" ? 3 : 2))
        }
    }

    @Test(arguments: [true, false])
    func `P4, P14 what has left a history by orderly changes leaves no copy, locked or not`(
        _ isLocked: Bool
    ) async throws {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"), after: .milliseconds(300))
            try await ada.run()
            for number in 0..<6 {
                try await ada.elsewhere.edit(id, password("\(number)"))
            }
            if isLocked { ada.keys.lock() }
            try await ada.refresh()
            #expect(try ada.changes.isEmpty)
            ada.keys.unlock(ada.ring)
            try await ada.refresh()
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `what somebody has edited later has been seen by them, and leaves no copy`()
        async throws
    {
        try await withLogin { world, ada, id in
            let scheduler = try await ada.scheduler()
            try await ada.edit(id, password("mine"))
            try await Self.sync(scheduler)
            try await ada.elsewhere.edit(id, password("theirs"), after: .seconds(3))
            try await Self.sync(scheduler)
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == ["theirs"])
        }
    }
}
