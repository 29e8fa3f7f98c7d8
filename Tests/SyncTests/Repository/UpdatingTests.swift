import Crypto
import EmbeddedUpstream
import MeshSupport
import Messaging
@testable import Sync
import Testing
import Vault

/// Rows 44 to 56 and 67 of the test map: an item is edited.
@Suite(.timeLimit(.minutes(2))) struct UpdatingTests {
    /// That others have deleted it nobody may have heard.
    @Test(arguments: Personality.Name.allCases, [false, true])
    func `who edits what upstream has no more has all that upstream holds looked at`(
        _ personality: Personality.Name,
        _ keepsEdits: Bool
    ) async throws {
        let switches = Switches(offlineChanges: keepsEdits, resolution: true)
        try await atHome(personality, switches) { world, home, id in
            try await home.person.elsewhere.delete(id)
            let refusal = try await refusal { try await home.update(id, password("mine")) }
            #expect(refusal != nil)
            home.schedulerMail.close()
            var isTold = false
            for await message in home.schedulerMail {
                if case .trigger(.upstreamChanged) = message { isTold = true }
            }
            #expect(isTold)
        }
    }

    /// From now on such calls are answered with nothing at all.
    private static func silence(_ operations: [Operation], _ world: World) async {
        for operation in operations {
            let nothing = Canned(status: 404, contentType: nil)
            var fault = Fault(.answer(nothing, isCarriedOut: false), on: operation)
            fault.times = nil
            await world.server.inject(fault)
        }
    }

    @Test(arguments: [true, false])
    func
        `R-028 the way into the archive or out of it is kept where somebody says nothing to anything`(
            _ isArchived: Bool
        ) async throws
    {
        try await atHome { world, home, id in
            if !isArchived { _ = try await home.edit(.archive(id)) }
            await Self.silence([.archiveCipher, .readCipher], world)
            let wish: Repository.Wish = isArchived ? .archive(id) : .unarchive(id)
            #expect(try await home.edit(wish).isQueued)
            await world.server.withdrawAll()
            world.time.pass(.seconds(901))
            try await home.person.run()
            #expect(try home.person.changes.isEmpty)
            let item = try await home.person.elsewhere.items.first { $0.id == id }
            #expect((item?.cipher.archivedDate != nil) == isArchived)
        }
    }

    /// As Bitwarden before 2025.9 does.
    @Test func `an archive that the server alone says nothing to is refused, and not kept`()
        async throws
    {
        try await atHome { world, home, id in
            await Self.silence([.archiveCipher], world)
            let refusal = try await refusal { try await home.edit(.archive(id)) }
            guard case .upstream(let setback)? = refusal else {
                Issue.record("\(String(describing: refusal))")
                return
            }
            #expect(setback.rejection?.status == 404)
            #expect(try home.person.changes.isEmpty)
            let asked = "GET /api/ciphers/\(id)/details"
            #expect(world.wire.requests.last == asked, "\(world.wire.requests)")
        }
    }

    @Test(arguments: Outage.allCases)
    func `rows 44, 51, 52: an edit that cannot be sent is kept`(_ outage: Outage) async throws {
        try await atHome { world, home, id in
            let revision = try #require(try home.person.base(id)).revision
            await outage.begin(world, on: .updateCipher)
            let written = try await home.update(id, password("second"))
            #expect(written.isQueued && written.value == id)
            let change = try #require(try home.person.changes.first)
            #expect(change.type == .update && change.baseline == revision)
            #expect(try await home.view(id)?.item.login?.password == "second")
            let mark = try #require(try await home.view(id)).mark
            #expect(mark.state == .pending && mark.changes == [.update])
            #expect(mark.since == change.created)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 45: an item that was never sent stays one when it is edited`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, _ in
            world.wire.isCut = true
            let id = try await home.add(note).value
            _ = try await home.update(id, #"{"name":"note","notes":"newer"}"#)
            let change = try #require(try home.person.changes.first)
            #expect(change.type == .create && change.baseline == nil)
            world.wire.isCut = false
            world.wire.forget()
            _ = try await home.person.run()
            #expect(world.wire.requests.filter { $0.hasPrefix("POST") } == ["POST /api/ciphers"])
            #expect(!world.wire.requests.contains { $0.hasPrefix("PUT") || $0.contains(id) })
            let upstream = try await home.person.elsewhere.items
            #expect(upstream.map(\.notes).contains("newer"))
            #expect(upstream.count == 2)
        }
    }

    @Test func `an item with empty texts in place of encrypted ones is edited like any other`()
        async throws
    {
        try await World.open(.vaultwarden) { world in
            let ada = try await world.person()
            let name = try ada.ring.user.seal("bare")
            let id = try await ada.elsewhere.post(
                "/api/ciphers",
                #"""
                {"type":1,"name":"\#(name)","notes":"","fields":[{"type":0,"name":"","value":""}],
                "login":{"username":"","password":"","totp":"","uris":[{"uri":"","match":null}]}}
                """#
            )
            try await ada.refresh()
            let home = try await ada.home()
            #expect(try await home.view(id)?.item.flaws.isEmpty == true)
            world.wire.isCut = true
            _ = try await home.update(id, #"{"name":"bare","notes":"mine"}"#)
            try await ada.elsewhere.edit(id, #"{"name":"bare","notes":"theirs"}"#)
            world.wire.isCut = false
            _ = try await home.person.run()
            #expect(try ada.changes.isEmpty)
            let upstream = try await ada.elsewhere.items
            #expect(upstream.count == 2 && upstream.allSatisfy(\.flaws.isEmpty))
            #expect(Set(upstream.map(\.notes)) == ["mine", "theirs"])
        }
    }

    static let passwordRows: [(passwords: [String], count: Int64)] = [
        (["second"], 1), (["first"], 0), (["second", "third"], 2), (["a", "a"], 1),
    ]

    @Test(arguments: passwordRows)
    func `rows 46 to 49: each edit that changes the password counts`(
        _ passwords: [String],
        _ count: Int64
    ) async throws {
        try await atHome { world, home, id in
            world.wire.isCut = true
            for text in passwords { _ = try await home.update(id, password(text)) }
            #expect(try home.person.changes.map(\.passwordChanges) == [count])
        }
    }

    @Test func `row 50: an organisation's item is not edited offline`() async throws {
        try await atHome { world, home, id in
            try await home.person.elsewhere.share(id)
            try await home.person.refresh()
            world.wire.isCut = true
            let refusal = try await refusal { try await home.edit(.favour(id, true)) }
            #expect(refusal?.isOutage == true)
            #expect(try home.person.changes.isEmpty)
        }
    }

    @Test(arguments: [
        Switches(offlineChanges: false, resolution: true),
        Switches(offlineChanges: true, resolution: false),
    ])
    func `rows 53, 54, 119, 120 and 121: with a switch off no edit is kept`(
        _ switches: Switches
    ) async throws {
        try await atHome(.bitwarden, switches) { world, home, id in
            world.wire.isCut = true
            let refusal = try await refusal { try await home.update(id, password("second")) }
            #expect(refusal?.isOutage == true)
            guard case .upstream(let setback)? = refusal else {
                Issue.record("the edit was not refused for upstream's sake")
                return
            }
            #expect(setback.description.contains("network"), "\(setback)")
            #expect(try home.person.changes.isEmpty)
            #expect(try await home.view(id)?.item.login?.password == "first")
        }
    }

    @Test(arguments: Rebuff.allCases)
    func `rows 55 and 56: an edit that upstream refuses leaves the item as it was`(
        _ rebuff: Rebuff
    ) async throws {
        try await atHome { world, home, id in
            await rebuff.begin(world, on: .updateCipher)
            let refusal = try await refusal { try await home.update(id, password("second")) }
            #expect(rebuff.isHeard(in: refusal))
            #expect(try home.person.changes.isEmpty)
            #expect(try await home.view(id)?.item.login?.password == "first")
        }
    }

    /// With one of the servers it takes a call of its own to get an item out of the archive.
    private func withArchived(
        _ switches: Switches = .on,
        refusals: Int? = nil,
        story: @Sendable (World, Home, String, Repository.Wish) async throws -> Void
    ) async throws {
        try await atHome(.vaultwarden, switches) { world, home, id in
            try await home.person.elsewhere.archive(id)
            try await home.person.refresh()
            await world.server.inject(
                FailureScopeTests.refusal(400, on: .archiveCipher, times: refusals)
            )
            let body = try ItemBody(Array(password("second").utf8)).outOfArchive()
            try await story(world, home, id, .update(id, body))
        }
    }

    @Test func `an edit is not refused of which upstream has a part, and what is left can go`()
        async throws
    {
        try await withArchived { _, home, id, wish in
            #expect(try await home.edit(wish).isQueued)
            #expect(try await home.person.elsewhere.item(id).login?.password == "second")
            let change = try #require(try home.person.changes.first)
            #expect(try await home.discard(change.id))
            let shown = try #require(try await home.view(id))
            #expect(shown.item.login?.password == "second" && shown.item.cipher.isArchived)
            #expect(shown.mark == .clean)
        }
    }

    @Test func `what is left of it goes up later, and all of it came from here`() async throws {
        try await withArchived(refusals: 1) { _, home, id, wish in
            let ada = home.person
            let seen = try #require(try ada.base(id)).revision.text
            guard case .queued(let receiptID) = try await home.edit(wish).disposition else {
                throw Unexpected("it does not wait")
            }
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "second" && !item.cipher.isArchived)
            let receipt = try ada.world.store.reader.receipt(receiptID, of: ada.userID)
            #expect(receipt?.status == .sent)
            let stale = #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"x"}}"#
            #expect(!(try await home.update(id, stale)).isQueued)
        }
    }

    @Test
    func `what upstream has of an edit that is not kept is shown, though the rest is refused`()
        async throws
    {
        let switches = Switches(offlineChanges: false, resolution: true)
        try await withArchived(switches) { _, home, id, wish in
            guard case .upstream? = try await refusal({ try await home.edit(wish) }) else {
                throw Unexpected("it was not refused")
            }
            #expect(try home.person.changes.isEmpty)
            let shown = try #require(try await home.view(id)).item
            #expect(shown.login?.password == "second" && shown.cipher.isArchived)
        }
    }

    @Test func `a refused edit gives the earlier one back that it was folded into`() async throws {
        try await atHome { world, home, id in
            world.wire.isCut = true
            _ = try await home.update(id, password("second"))
            let before = try #require(try home.person.changes.first)
            world.wire.isCut = false
            await Rebuff.worded.begin(world, on: .updateCipher)
            let refusal = try await refusal { try await home.update(id, password("third")) }
            #expect(Rebuff.worded.isHeard(in: refusal))
            let after = try #require(try home.person.changes.first)
            #expect(after.intent == before.intent && after.id == before.id)
            #expect(try await home.view(id)?.item.login?.password == "second")
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 67: an edit online is one request and leaves nothing`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            let written = try await home.update(id, password("second"))
            #expect(!written.isQueued)
            #expect(world.wire.requests == ["PUT /api/ciphers/\(id)"])
            #expect(try home.person.changes.isEmpty)
            #expect(try await home.person.elsewhere.item(id).login?.password == "second")
            #expect(try await home.view(id)?.mark == .clean)
        }
    }

    @Test func `T-34: an edit of what was never sent brings the whole of it upstream`() async throws
    {
        try await atHome { world, home, _ in
            world.wire.isCut = true
            let id = try await home.add(note).value
            world.wire.isCut = false
            let written = try await home.update(id, #"{"name":"note","notes":"newer"}"#)
            #expect(!written.isQueued && written.value != id)
            #expect(try home.person.changes.isEmpty)
            let upstream = try await home.person.elsewhere.item(written.value)
            #expect(upstream.notes == "newer")
            #expect(try await home.view(id)?.item.id == written.value)
        }
    }

    /// A sync brings it while the account is asked after.
    @Test(arguments: Personality.Name.allCases)
    func `what a sync brings of others is not written over by an edit that is not kept`(
        _ personality: Personality.Name
    ) async throws {
        let switches = Switches(offlineChanges: false, resolution: true)
        try await atHome(personality, switches) { world, home, id in
            let seen = try #require(try home.person.base(id)).revision.text
            let edit = #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"mine"}}"#
            for isDeletion in [false, true] {
                world.wire.interrupt(Wire.account) {
                    try await home.person.elsewhere.edit(id, password("theirs"))
                    try await home.person.refresh()
                }
                let refusal = try await refusal {
                    isDeletion ? try await home.edit(.delete(id)) : try await home.update(id, edit)
                }
                guard case .outOfDate? = refusal else {
                    throw Unexpected("\(String(describing: refusal))")
                }
                #expect(world.wire.requests.isEmpty)
                #expect(try await home.person.elsewhere.passwords == ["theirs"])
            }
            #expect(try await home.view(id)?.item.login?.password == "theirs")
        }
    }

    /// Servers take for up to date what is sent over a copy of the same second.
    @Test(arguments: Personality.Name.allCases)
    func `nor is it within a second by an edit that would be kept`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.refresh()
            world.wire.interrupt(Wire.account) {
                let again = password("theirs again")
                try await ada.elsewhere.edit(id, again, after: .milliseconds(300))
                try await ada.refresh()
            }
            let edit = Repository.Wish.update(id, try ItemBody(Array(password("mine").utf8)))
            let refusal = try await refusal {
                try await home.repository.address.ask { .edit(edit, $0) }.get()
            }
            guard case .outOfDate? = refusal else {
                throw Unexpected("\(String(describing: refusal))")
            }
            #expect(try ada.changes.isEmpty && world.wire.requests.isEmpty)
            #expect(try await ada.elsewhere.passwords == ["theirs again"])
            #expect(try await home.view(id)?.item.login?.password == "theirs again")
        }
    }

    /// It was opened while an edit of it waited, and that went up where others had put it meanwhile.
    @Test(arguments: Personality.Name.allCases)
    func `a copy that shows an item where it is no more is refused`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            let folder = try await ada.elsewhere.addFolder("work")
            world.wire.isCut = true
            #expect(try await home.update(id, password("mine")).isQueued)
            let shown = try #require(try await home.view(id)).item.cipher
            let seen = try #require(shown.revision).text
            world.wire.isCut = false
            try await ada.elsewhere.move(id, to: folder)
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let stale = """
                {"name":"mail","revisionDate":"\(seen)","folderId":null,"login":{"password":"x"}}
                """
            try await Self.refuses(stale, of: id, home)
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "mine" && item.cipher.folderID == folder)
        }
    }

    /// As it would have been online, one after the other.
    @Test(arguments: Personality.Name.allCases)
    func `G-U1 a place that was wished by itself is still wished after an edit of the item`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            let folder = try await ada.elsewhere.addFolder("work")
            world.wire.isCut = true
            _ = try await home.edit(.move(id, to: .none))
            _ = try await home.update(id, password("mine"))
            world.wire.isCut = false
            try await ada.elsewhere.move(id, to: folder)
            try await ada.run(.all)
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "mine" && item.cipher.folderID == nil)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `a copy older than upstream's is refused, unless only this host has written`()
        async throws
    {
        try await atHome { world, home, id in
            let seen = try #require(try home.person.base(id)).revision.text
            let stale = #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"x"}}"#
            _ = try await home.update(id, password("second"))
            #expect(!(try await home.update(id, stale)).isQueued)
            try await home.person.elsewhere.edit(id, password("theirs"))
            try await home.person.refresh()
            try await Self.refuses(stale, of: id, home)
            #expect(try await home.view(id)?.item.login?.password == "theirs")
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `nor is it refused where a list has shown what this host wrote before that was answered`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            let seen = try #require(try home.person.base(id)).revision.text
            let stale = #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"x"}}"#
            world.wire.interrupt("/api/ciphers/\(id)", isCarriedOut: true) {
                try await home.person.refresh()
            }
            _ = try await home.update(id, password("second"))
            #expect(!(try await home.update(id, stale)).isQueued)
            #expect(try await home.person.elsewhere.passwords == ["x"])
        }
    }

    /// Another edit's refusal may bring it, or a sync; who names no stamp has not seen it.
    @Test(arguments: Personality.Name.allCases)
    func `what others write while an edit waits for its turn is not written over unseen`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            let told = try await home.besideHolder(of: id) { leave in
                async let told = refusal { try await home.update(id, password("mine")) }
                await home.haveWaiting(1, for: id)
                try await ada.elsewhere.edit(id, password("theirs"), after: .seconds(3))
                try await ada.refresh()
                leave()
                return try await told
            }
            guard case .outOfDate = told else { throw Unexpected("it was taken") }
            #expect(try await ada.elsewhere.item(id).login?.password == "theirs")
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `an edit that waited behind another one of this host is not refused`() async throws {
        try await atHome { world, home, id in
            try await home.besideHolder(of: id) { leave in
                async let first = home.update(id, password("second"))
                await home.haveWaiting(1, for: id)
                // At once, so that the first still waits.
                let body = try ItemBody(Array(password("third").utf8))
                async let second = home.repository.address.ask { .edit(.update(id, body), $0) }
                await home.haveWaiting(2, for: id)
                leave()
                _ = try await (first, second.get())
            }
            #expect(try home.person.changes.isEmpty)
            #expect(try await home.person.elsewhere.item(id).login?.password == "third")
        }
    }

    /// What clients send who do not know whether the first one has arrived.
    @Test(arguments: [#""favorite":true"#, #""folderId":"FOLDER""#, #""favorite":false"#])
    func `T-07, T-34 what is wished once more waits once more, and goes once upstream is there`(
        _ place: String
    ) async throws {
        try await atHome { world, home, id in
            let ada = home.person
            let folder = try await ada.elsewhere.addFolder("folder")
            try await ada.refresh()
            try await home.loseNetwork()
            let body =
                #"{"name":"mail",\#(place.replacing("FOLDER", with: folder)),"#
                + #""login":{"username":"ada","password":"first"}}"#
            let first = try await home.update(id, body)
            let second = try await home.update(id, body)
            let receipts = try [first, second].map { written in
                guard case .queued(let receiptID) = written.disposition else {
                    throw Unexpected("\(written.disposition)")
                }
                return try world.store.reader.receipt(receiptID, of: ada.userID)?.status
            }
            #expect(receipts == [.superseded, .queued])
            #expect(try ada.changes.count == 1)
            try await home.regainNetwork()
            #expect(try await !home.update(id, body).isQueued)
            #expect(try ada.changes.isEmpty)
            let item = try await ada.elsewhere.item(id).cipher
            #expect(item.isFavorite == place.contains("true"))
            #expect(item.folderID == (place.contains("FOLDER") ? folder : nil))
        }
    }

    @Test(arguments: [Edit.Wish.trash, .archive, .unarchive, .restore])
    func `T-34 saving an item as it is shown takes nothing from a wish that waits, and sends it`(
        _ wish: Edit.Wish
    ) async throws {
        try await atHome { world, home, id in
            let ada = home.person
            if wish == .unarchive { try await ada.elsewhere.archive(id) }
            if wish == .restore { try await ada.elsewhere.trash(id) }
            try await ada.refresh()
            try await home.loseNetwork()
            try await ada.wish(wish, id)
            let shown = #"{"name":"mail","login":{"username":"ada","password":"first"}}"#
            #expect(try await home.update(id, shown).isQueued)
            #expect(try ada.change(id)?.intent.snapshot == nil)
            try await home.regainNetwork()
            #expect(try await !home.update(id, shown).isQueued)
            #expect(try ada.changes.isEmpty)
            let item = try await ada.elsewhere.item(id).cipher
            #expect(item.isInTrash == (wish == .trash) && item.isArchived == (wish == .archive))
        }
    }

    @Test
    func `R-055 what is pending can be edited as it is shown, whatever others write meanwhile`()
        async throws
    {
        try await atHome { world, home, id in
            try await home.loseNetwork()
            #expect(try await home.update(id, password("second")).isQueued)
            let shown = try #require(try await home.view(id)?.item.cipher.revisionDate)
            let third = #"{"name":"mail","revisionDate":"\#(shown)","login":{"password":"third"}}"#
            try await home.regainNetwork()
            try await home.person.elsewhere.edit(id, password("theirs"))
            try await home.person.refresh()
            try await home.loseNetwork()
            #expect(try await home.update(id, third).isQueued)
            #expect(try home.person.changes.count == 1)
            try await home.regainNetwork()
            try await home.person.run(.all)
            let passwords = try await home.person.elsewhere.items.map { $0.login?.password }
            #expect(Set(passwords) == ["theirs", "third"])
            // Once that is decided, the old stamp stands for what nobody sees any more.
            try await Self.refuses(third, of: id, home)
        }
    }

    /// A folder that others have deleted meanwhile.
    @Test(arguments: Personality.Name.allCases)
    func `T-49 a favourite goes up although the folder beside it is gone`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            let folder = try await ada.elsewhere.addFolder("gone")
            try await ada.refresh()
            try await home.loseNetwork()
            func body(_ isFavourite: Bool) -> String {
                #"{"name":"mail","folderId":"\#(folder)","favorite":\#(isFavourite),"#
                    + #""login":{"username":"ada","password":"first"}}"#
            }
            #expect(try await home.update(id, body(false)).isQueued)
            #expect(try await home.update(id, body(true)).isQueued)
            #expect(try ada.changes.map(\.type) == [.update])
            try await home.regainNetwork()
            try await ada.elsewhere.removeFolder(folder)
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).cipher.isFavorite)
        }
    }

    @Test func `who also takes it out of the archive does not only make it a favourite`()
        async throws
    {
        try await atHome { world, home, id in
            try await home.loseNetwork()
            let body =
                #"{"name":"mail","favorite":true,"archivedDate":"2026-01-01T00:00:00.000Z","#
                + #""login":{"username":"ada","password":"first"}}"#
            #expect(try await home.update(id, body).isQueued)
            let shown = try #require(try await home.view(id)).item.cipher
            #expect(shown.isFavorite && shown.isArchived)
        }
    }

    /// Clients send the whole item back.
    @Test(arguments: [false, true])
    func
        `G-U2, T-25 who only makes an item a favourite, or moves it, too, writes over nothing of it`(
            _ isMoved: Bool
        ) async throws
    {
        try await atHome { world, home, id in
            let folder = isMoved ? try await home.person.elsewhere.addFolder("work") : nil
            try await home.person.refresh()
            try await home.loseNetwork()
            let place = folder.map { #""folderId":"\#($0)","# } ?? ""
            let edited =
                #"{"name":"mail",\#(place)"favorite":true,"#
                + #""login":{"username":"ada","password":"first"}}"#
            #expect(try await home.update(id, edited).isQueued)
            #expect(try home.person.changes.map(\.type) == [.update])
            let shown = try #require(try await home.view(id)).item.cipher
            #expect(shown.isFavorite && shown.folderID == folder)
            try await home.regainNetwork()
            try await home.person.elsewhere.edit(id, password("theirs"))
            try await home.person.run(.all)
            let items = try await home.person.elsewhere.items
            #expect(items.map { $0.login?.password } == ["theirs"])
            #expect(items.first?.cipher.isFavorite == true)
            #expect(items.first?.cipher.folderID == folder)
            #expect(try home.person.changes.isEmpty)
        }
    }

    @Test func `nor is one refused that is older than what left a copy after many passwords`()
        async throws
    {
        try await atHome { world, home, id in
            let seen = try #require(try home.person.base(id)).revision.text
            let stale = #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"x"}}"#
            try await home.loseNetwork()
            for number in 1...4 { _ = try await home.update(id, password("\(number)")) }
            try await home.regainNetwork()
            try await home.person.run(.all)
            try #require(try await home.person.elsewhere.items.count == 2)
            #expect(!(try await home.update(id, stale)).isQueued)
            #expect(try await home.person.elsewhere.item(id).login?.password == "x")
        }
    }

    private static func refuses(_ stale: String, of id: String, _ home: Home) async throws {
        guard case .outOfDate? = try await refusal({ try await home.update(id, stale) }) else {
            throw Unexpected("the stale copy was taken")
        }
    }

    @Test func `one is refused that is older than what others wrote and this host wrote over`()
        async throws
    {
        try await atHome { world, home, id in
            let seen = try #require(try home.person.base(id)).revision.text
            let stale = #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"x"}}"#
            try await home.loseNetwork()
            try await home.person.elsewhere.edit(id, password("theirs"))
            world.time.pass(.seconds(5))
            _ = try await home.update(id, password("second"))
            try await home.regainNetwork()
            try await home.person.run(.all)
            try #require(try await home.person.elsewhere.item(id).login?.password == "second")
            try await Self.refuses(stale, of: id, home)
        }
    }

    @Test(arguments: [Operation.trashCipher, .restoreCipher])
    func `nor is one refused whose trashing or restoring was not answered`(
        _ unanswered: Operation
    ) async throws {
        try await atHome { world, home, id in
            let seen = try #require(try home.person.base(id)).revision.text
            let stale = #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"x"}}"#
            await world.server.inject(Fault(.loseAnswer, on: unanswered))
            for wish in [Repository.Wish.trash(id), .restore(id)] {
                _ = try await home.edit(wish)
                world.time.pass(.seconds(25))
                try await home.person.run(.all)
                try await home.person.refresh()
            }
            try #require(try home.person.changes.isEmpty)
            #expect(!(try await home.update(id, stale)).isQueued)
            #expect(try await home.person.elsewhere.item(id).login?.password == "x")
        }
    }

    /// It may be edited on before anybody has found out that upstream has it.
    @Test(arguments: Personality.Name.allCases, [false, true])
    func `nor is one refused that is older than what a list has brought of an unanswered edit`(
        _ personality: Personality.Name,
        _ isEditedOn: Bool
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            let seen = try #require(try ada.base(id)).revision.text
            let stale = #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"x"}}"#
            await world.server.inject(Fault(.loseAnswer, on: .updateCipher))
            #expect(try await home.update(id, password("second")).isQueued)
            try await ada.refresh()
            try #require(try ada.base(id)?.revision.text != seen)
            if isEditedOn {
                try await home.loseNetwork()
                #expect(try await home.update(id, password("third")).isQueued)
                try await home.regainNetwork()
            }
            world.time.pass(.seconds(25))
            try await ada.run(.all)
            try #require(try ada.changes.isEmpty)
            #expect(!(try await home.update(id, stale)).isQueued)
            #expect(try await ada.elsewhere.item(id).login?.password == "x")
            #expect(try await ada.elsewhere.items.count == 1)
        }
    }

    /// What others wrote a list may have shown before.
    @Test(arguments: Personality.Name.allCases, [false, true])
    func `one is refused where that was sent over what others wrote`(
        _ personality: Personality.Name,
        _ isListed: Bool
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            let seen = try #require(try ada.base(id)).revision.text
            let stale = #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"x"}}"#
            try await home.loseNetwork()
            #expect(try await home.update(id, password("second")).isQueued)
            try await ada.elsewhere.edit(id, password("theirs"))
            if isListed { try await ada.refresh() }
            #expect(try await home.update(id, password("third")).isQueued)
            try await home.regainNetwork()
            await world.server.inject(Fault(.loseAnswer, on: .updateCipher))
            try await ada.run(.all)
            try #require(try ada.changes.count == 1)
            try #require(try await ada.elsewhere.item(id).login?.password == "third")
            try await ada.refresh()
            world.time.pass(.seconds(25))
            try await ada.run(.all)
            try #require(try ada.changes.isEmpty)
            try await Self.refuses(stale, of: id, home)
            #expect(try await ada.elsewhere.item(id).login?.password == "third")
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `one is refused where others wrote over what a list has brought of an unanswered edit`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            let seen = try #require(try ada.base(id)).revision.text
            let stale = #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"x"}}"#
            await world.server.inject(Fault(.loseAnswer, on: .updateCipher))
            #expect(try await home.update(id, password("second")).isQueued)
            try await ada.refresh()
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.refresh()
            world.time.pass(.seconds(25))
            try await ada.run(.all)
            try #require(try ada.changes.isEmpty)
            try await Self.refuses(stale, of: id, home)
            #expect(try await ada.elsewhere.item(id).login?.password == "theirs")
        }
    }

    /// As clients do that try again, or save without having changed anything.
    @Test(arguments: Personality.Name.allCases)
    func `G-U2, P4 what is sent back as it was shown writes over nothing`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            let same = #"{"name":"mail","login":{"username":"ada","password":"first"}}"#
            try await home.loseNetwork()
            try await ada.elsewhere.edit(id, password("theirs"))
            #expect(try await home.update(id, same).isQueued)
            try await home.regainNetwork()
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["theirs"])
            try await ada.elsewhere.trash(id)
            try await home.loseNetwork()
            let stale = #"{"name":"mail","login":{"username":"ada","password":"theirs"}}"#
            #expect(try await home.update(id, stale).isQueued)
            try await home.regainNetwork()
            try await ada.run(.all)
            #expect(try await ada.elsewhere.item(id).cipher.isInTrash)
        }
    }

    @Test func `G-U1 all who have waited too long behind one call are queued, not only the first`()
        async throws
    {
        try await atHome { world, home, id in
            try await home.besideHolder(of: id) { leave in
                let queued = try await withThrowingTaskGroup(of: Bool.self) { edits in
                    for number in 1...6 {
                        edits.addTask {
                            let body = try ItemBody(Array(password("\(number)").utf8))
                            return try await home.repository.address.ask {
                                .edit(.update(id, body), $0)
                            }
                            .get().isQueued
                        }
                    }
                    await home.haveWaiting(6, for: id)
                    // Who stands in line has an alarm a moment later.
                    while home.person.lanes.line(for: id) > 0, !Task.isCancelled {
                        world.time.pass(.seconds(5))
                        for _ in 0..<50 { await Task.yield() }
                    }
                    return try await edits.reduce(into: []) { $0.append($1) }
                }
                #expect(queued == Array(repeating: true, count: 6))
                #expect(home.person.lanes.line(for: id) == 0)
                leave()
            }
            try await home.person.run(.all)
            #expect(try home.person.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `G-U2, P4 nor does it take the place of what waits`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            try await home.loseNetwork()
            try await ada.elsewhere.edit(id, password("theirs"))
            _ = try await home.edit(.archive(id))
            _ = try await home.update(id, password("first"))
            #expect(try ada.changes.map(\.type) == [.other])
            try await home.regainNetwork()
            try await ada.run(.all)
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == ["theirs"])
            #expect(items.first?.cipher.isArchived == true)
        }
    }

    /// Clients say in the same way, with the whole item, where they want to find it.
    @Test(arguments: Personality.Name.allCases, [false, true])
    func `P4 nor does who then makes it a favourite, whether or not others' edit is shown by then`(
        _ personality: Personality.Name,
        _ isShown: Bool
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            try await home.loseNetwork()
            #expect(try await home.update(id, password("first")).isQueued)
            try await ada.elsewhere.edit(id, password("theirs"))
            if isShown { try await ada.refresh() }
            let shown = isShown ? "theirs" : "first"
            #expect(try await home.view(id)?.item.login?.password == shown)
            let favourite =
                #"{"name":"mail","favorite":true,"#
                + #""login":{"username":"ada","password":"\#(shown)"}}"#
            #expect(try await home.update(id, favourite).isQueued)
            #expect(try await home.view(id)?.item.cipher.isFavorite == true)
            try await home.regainNetwork()
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == ["theirs"])
            #expect(items.first?.cipher.isFavorite == true)
        }
    }

    @Test func `P4 nor does who then puts it into the trash, and nothing of it is kept as a copy`()
        async throws
    {
        try await atHome { world, home, id in
            let ada = home.person
            try await home.loseNetwork()
            #expect(try await home.update(id, password("first")).isQueued)
            try await ada.elsewhere.edit(id, password("theirs"))
            #expect(try await home.edit(.trash(id)).isQueued)
            try await home.regainNetwork()
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let items = try await ada.elsewhere.items
            #expect(items.map { $0.login?.password } == ["theirs"])
            #expect(items.first?.cipher.isInTrash == false)
        }
    }

    /// Of what is in the trash upstream does not say which stamp it has.
    @Test func `nor is one refused that is older than what this host put into the trash and back`()
        async throws
    {
        try await atHome { world, home, id in
            let seen = try #require(try home.person.base(id)).revision.text
            let stale = #"{"name":"mail","revisionDate":"\#(seen)","login":{"password":"x"}}"#
            try await home.loseNetwork()
            _ = try await home.edit(.trash(id))
            try await home.regainNetwork()
            try await home.person.run(.all)
            try await home.person.refresh()
            _ = try await home.edit(.restore(id))
            #expect(!(try await home.update(id, stale)).isQueued)
            #expect(try await home.person.elsewhere.item(id).login?.password == "x")
        }
    }

    @Test func `a trashing that was never sent makes nobody wait`() async throws {
        try await atHome { world, home, id in
            await Outage.serverErrorInJSON.begin(world, on: .updateCipher)
            #expect(try await home.update(id, password("second")).isQueued)
            #expect(!(try await home.edit(.trash(id))).isQueued)
            #expect(!(try await home.edit(.restore(id))).isQueued)
            let item = try await home.person.elsewhere.item(id)
            #expect(item.login?.password == "second" && !item.cipher.isInTrash)
        }
    }

    @Test(arguments: [
        (Fault.Effect.drop, "transport"), (.loseAnswer, "transport"),
        (.answer(.badGateway, isCarriedOut: false), "serverError"),
    ])
    func `G-R3 what is tried and waits is counted as a retry`(
        _ effect: Fault.Effect,
        _ cause: String
    ) async throws {
        try await atHome { world, home, id in
            await world.server.inject(Fault(effect, on: .updateCipher))
            let edit = #"{"name":"mail","login":{"password":"mine"}}"#
            #expect(try await home.update(id, edit).isQueued)
            world.time.pass(.seconds(60))
            try await home.loseNetwork()
            #expect(try await home.add(note).isQueued)
            home.schedulerMail.close()
            var causes: [String] = []
            for await message in home.schedulerMail {
                if case .hindered(let cause) = message { causes.append(cause.rawValue) }
            }
            #expect(causes == [cause], "Of the second, nobody was asked.")
        }
    }

    @Test func `T-34, G-CLOCK: a copy dated here is older than what others made of it upstream`()
        async throws
    {
        try await atHome { world, home, _ in
            let ada = home.person
            await world.server.shiftClock(seconds: -600)
            await world.server.inject(Fault(.loseAnswer, on: .createCipher))
            let made = try await home.add(note).value
            let seen = try #require(try await home.view(made)?.item.cipher.revisionDate)
            let id = try #require(try await ada.elsewhere.items.first { $0.name == "note" }?.id)
            try await ada.elsewhere.edit(id, #"{"type":2,"name":"note","notes":"theirs"}"#)
            world.time.pass(.seconds(25))
            _ = try await ada.run(.all)
            try #require(try ada.changes.isEmpty)
            let stale = #"{"name":"note","revisionDate":"\#(seen)","notes":"mine"}"#
            guard case .outOfDate? = try await refusal({ try await home.update(made, stale) })
            else { throw Unexpected("the copy was taken") }
            #expect(try await ada.elsewhere.item(id).notes == "theirs")
        }
    }

    /// An item that was shown under the id that was made here, and was edited under both: what was edited under the
    /// first has given way.
    ///
    /// - Returns: Both, and the stamp under which it was shown before.
    private static func yield(
        _ world: World,
        _ home: Home
    ) async throws -> (made: String, id: String, seen: String) {
        let ada = home.person
        await world.server.inject(Fault(.loseAnswer, on: .createCipher))
        let made = try await home.add(note).value
        try await ada.refresh()
        let id = try #require(try await ada.elsewhere.items.first { $0.name == "note" }?.id)
        try await home.loseNetwork()
        let first = #"{"name":"note","notes":"first"}"#
        #expect(try await home.update(made, first).isQueued)
        let seen = try #require(try await home.view(made)?.item.cipher.revisionDate)
        try await home.regainNetwork()
        world.time.pass(.seconds(25))
        #expect(try await !home.update(id, #"{"name":"note","notes":"second"}"#).isQueued)
        _ = try await ada.run(.all)
        try #require(try ada.changes.isEmpty)
        return (made, id, seen)
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-34, I1: who has what gave way open does not write over what stands`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, _ in
            let ada = home.person
            let (made, _, seen) = try await Self.yield(world, home)
            let third = #"{"name":"third","revisionDate":"\#(seen)","notes":"first"}"#
            guard case .outOfDate? = try await refusal({ try await home.update(made, third) })
            else { throw Unexpected("the copy was taken") }
            let notes = try await ada.elsewhere.items.compactMap(\.notes)
            #expect(notes.sorted() == ["first", "second"])
            // Who looks again sees what stands, and may edit it.
            #expect(try await home.view(made)?.item.notes == "second")
            let fourth = #"{"name":"note","notes":"fourth"}"#
            #expect(try await !home.update(made, fourth).isQueued)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func
        `whoever sees what stands may edit it behind another edit, under the id that was made here`(
            _ personality: Personality.Name
        ) async throws
    {
        try await atHome(personality) { world, home, _ in
            let (made, id, _) = try await Self.yield(world, home)
            let edits = try ["third", "fourth"].map { notes in
                let body = try ItemBody(Array(#"{"name":"note","notes":"\#(notes)"}"#.utf8))
                return Repository.Wish.update(made, body)
            }
            let address = home.repository.address
            world.time.pass(.seconds(10))
            try await home.besideHolder(of: id) { leave in
                async let third = address.ask { .edit(edits[0], $0) }
                await home.haveWaiting(1, for: id)
                async let fourth = address.ask { .edit(edits[1], $0) }
                await home.haveWaiting(2, for: id)
                leave()
                _ = try await (third.get(), fourth.get())
            }
            #expect(try home.person.changes.isEmpty)
            #expect(try await home.person.elsewhere.item(id).notes == "fourth")
        }
    }

    @Test func `G-U1: while the network is known to be gone nothing is tried`() async throws {
        try await atHome { world, home, id in
            try await home.loseNetwork()
            #expect(try await home.update(id, password("second")).isQueued)
            #expect(world.wire.requests.isEmpty)
            try await home.regainNetwork()
            #expect(!(try await home.update(id, password("third"))).isQueued)
            #expect(try await home.person.elsewhere.item(id).login?.password == "third")
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-35 what waits comes out of the trash, also when it is edited there once more`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            world.wire.isCut = true
            #expect(try await home.update(id, password("mine")).isQueued)
            world.wire.isCut = false
            try await ada.elsewhere.trash(id)
            try await ada.refresh()
            #expect(try await home.view(id)?.item.cipher.isInTrash == true)
            world.wire.isCut = true
            #expect(try await home.update(id, password("mine again")).isQueued)
            world.wire.isCut = false
            _ = try await ada.run()
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "mine again")
            #expect(!item.cipher.isInTrash)
        }
    }

    /// As it may be while the vault is locked, or while the edit is set aside.
    @Test(arguments: Personality.Name.allCases, [#""notes":"more""#, #""favorite":true"#])
    func `what others archive beneath an edit stays so when that is edited once more`(
        _ personality: Personality.Name,
        _ more: String
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            try await home.loseNetwork()
            #expect(try await home.update(id, password("mine")).isQueued)
            try await ada.elsewhere.archive(id)
            try await ada.refresh()
            let again =
                #"{"name":"mail",\#(more),"login":{"username":"ada","password":"mine"}}"#
            #expect(try await home.update(id, again).isQueued)
            try await home.regainNetwork()
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "mine" && item.cipher.isArchived)
            #expect(item.notes == "more" || item.cipher.isFavorite)
        }
    }

    @Test(arguments: [false, true])
    func `whoever locks the vault while an edit is on its way changes nothing about its answer`(
        isCut: Bool
    ) async throws {
        try await atHome { world, home, id in
            world.wire.interrupt("/\(id)", isCarriedOut: !isCut) {
                home.person.keys.lock()
                world.wire.isCut = isCut
                if isCut { throw Unexpected("cut") }
            }
            let body = try ItemBody(Array(password("second").utf8))
            let written = try await home.repository.address
                .ask { .write(.update(id, body), $0) }.get()
            #expect(written.value.item.login?.password == "second")
            #expect((written.disposition == .saved) != isCut)
            await #expect(throws: Repository.Refusal.self) { _ = try await home.view(id) }
        }
    }

    @Test func `row 103: a locked vault takes no edit and shows nothing`() async throws {
        try await atHome { world, home, id in
            home.person.keys.lock()
            guard case .locked? = try await refusal({ try await home.edit(.trash(id)) }) else {
                Issue.record("a locked vault was edited")
                return
            }
            await #expect(throws: Repository.Refusal.self) { _ = try await home.view(id) }
            #expect(try home.person.changes.isEmpty)
        }
    }

    @Test func `T-61 and T-65: a refresh never hides what is pending`() async throws {
        try await atHome { world, home, id in
            world.wire.isCut = true
            _ = try await home.update(id, password("mine"))
            let made = try await home.add(note).value
            world.wire.isCut = false
            try await home.person.elsewhere.edit(id, password("theirs"))
            try await home.person.refresh()
            #expect(try await home.view(id)?.item.login?.password == "mine")
            #expect(try await home.view(made) != nil)
            _ = try await home.update(id, #"{"name":"mail","notes":"and this"}"#)
            let item = try #require(try await home.view(id)).item
            #expect(item.notes == "and this", "The later of two edits is the one that is seen.")
            #expect(item.login?.password != "theirs")
        }
    }
}
