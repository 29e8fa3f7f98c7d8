import EmbeddedUpstream
import MeshSupport
@testable import Sync
import Testing
import Vault

/// Rows 34 to 43, 57 to 65, 68 and 69 of the test map: an item goes to the trash, or for good.
@Suite(.timeLimit(.minutes(2))) struct RemovingTests {
    enum Way: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case trash, delete

        var testDescription: String { rawValue }
        var operation: Operation {
            self == .trash ? .trashCipher : .deleteCipher
        }
        var type: ChangeType { self == .trash ? .softDelete : .hardDelete }

        func wish(_ id: String) -> Repository.Wish { self == .trash ? .trash(id) : .delete(id) }
    }

    @Test(arguments: Way.allCases, Outage.allCases)
    func `rows 34, 36, 37, 57, 60, 61: a removal that cannot be sent is kept`(
        _ way: Way,
        _ outage: Outage
    ) async throws {
        try await atHome { world, home, id in
            let revision = try #require(try home.person.base(id)).revision
            await outage.begin(world, on: way.operation)
            #expect(try await home.edit(way.wish(id)).isQueued)
            let change = try #require(try home.person.changes.first)
            #expect(change.type == way.type && change.baseline == revision)
            #expect(change.intent.snapshot == nil && change.passwordChanges == 0)
            let seen = try await home.view(id)
            #expect(way == .trash ? seen?.item.cipher.isInTrash == true : seen == nil)
        }
    }

    @Test(arguments: Way.allCases)
    func `rows 35 and 58: what was never sent goes without a trace`(_ way: Way) async throws {
        try await atHome { world, home, _ in
            world.wire.isCut = true
            let made = try await home.add(note).value
            world.wire.isCut = false
            world.wire.forget()
            try await home.loseNetwork()
            #expect(!(try await home.edit(way.wish(made))).isQueued)
            #expect(try await home.view(made) == nil)
            #expect(try home.person.changes.isEmpty)
            _ = try await home.person.run()
            #expect(world.wire.requests.isEmpty)
        }
    }

    @Test(arguments: Way.allCases, Personality.Name.allCases)
    func `P1 who takes back a removal that nobody answered loses no later edit to it`(
        _ way: Way,
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            await world.server.inject(Fault(.commitLate(.seconds(9)), on: way.operation))
            #expect(try await home.edit(way.wish(id)).isQueued)
            let change = try #require(try home.person.change(id)).id
            #expect(try await home.discard(change))
            #expect(try await home.update(id, password("kept")).isQueued)
            for _ in 0..<6 {
                world.time.pass(.seconds(10))
                try await home.person.run(.all)
            }
            #expect(try home.person.changes.isEmpty)
            let items = try await home.person.elsewhere.items
            let present = items.filter { !$0.cipher.isInTrash }
            #expect(present.map { $0.login?.password } == ["kept"])
        }
    }

    /// Files are shown whatever is pending.
    @Test
    func `T-37, G-VR2 a file that is shown beside what waits keeps nothing from being deleted`()
        async throws
    {
        try await atHome { world, home, id in
            let ada = home.person
            try await home.loseNetwork()
            #expect(try await home.update(id, password("second")).isQueued)
            try await ada.elsewhere.attach("deed", to: id)
            try await home.regainNetwork()
            try await ada.refresh()
            try await home.loseNetwork()
            try #require(try await home.view(id)?.item.attachments.count == 1)
            #expect(try await home.edit(.delete(id)).isQueued)
            try await home.regainNetwork()
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.isEmpty)
        }
    }

    /// What a deletion comes to that waits for its turn while something else happens.
    private func deleting(
        _ id: String,
        _ home: Home,
        losesPatience: Bool = false,
        meanwhile: () async throws -> Void
    ) async throws -> Repository.Refusal? {
        try await home.besideHolder(of: id) { leave in
            async let told = refusal { try await home.edit(.delete(id)) }
            await home.haveWaiting(1, for: id)
            try await meanwhile()
            if losesPatience {
                home.person.world.time.pass(.seconds(5))
                _ = try await told
            }
            leave()
            return try await told
        }
    }

    /// Sooner than a deletion loses patience.
    private func theirs(_ ada: Person, _ id: String) async throws {
        let edit = #"{"type":1,"name":"mail","notes":"theirs"}"#
        try await ada.elsewhere.edit(id, edit, after: .seconds(3))
    }

    @Test func `I15 what others write while a deletion waits for its turn is not deleted unseen`()
        async throws
    {
        try await atHome { world, home, id in
            let ada = home.person
            let told = try await deleting(id, home) {
                try await theirs(ada, id)
                try await ada.refresh()
            }
            guard case .outOfDate = told else { throw Unexpected("it was deleted") }
            #expect(try await ada.elsewhere.item(id).notes == "theirs")
            #expect(try ada.changes.isEmpty)
        }
    }

    /// Then it is to be queued.
    @Test(arguments: [true, false])
    func `I15 nor is it by a deletion whose patience ends`(_ isHeardOf: Bool) async throws {
        try await atHome { world, home, id in
            let ada = home.person
            let told = try await deleting(id, home, losesPatience: true) {
                try await theirs(ada, id)
                if isHeardOf { try await ada.refresh() }
            }
            if isHeardOf {
                guard case .outOfDate = told else { throw Unexpected("it was queued") }
            } else {
                #expect(told == nil)
                #expect(try ada.changes.map(\.type) == [.hardDelete])
                try await ada.run(.all)
            }
            #expect(try await ada.elsewhere.item(id).notes == "theirs")
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `I15 what an edit hid is not deleted unseen after the edit has given way`()
        async throws
    {
        try await atHome { world, home, id in
            let ada = home.person
            try await ada.edit(id, #"{"type":1,"name":"mail","notes":"mine"}"#)
            world.time.pass(.seconds(5))
            try await ada.elsewhere.edit(id, #"{"type":1,"name":"mail","notes":"theirs"}"#)
            try await ada.refresh()
            let told = try await deleting(id, home) {
                let pending = try #require(try ada.change(id))
                let moment = pending.updated
                #expect(
                    try await world.store.discard(
                        pending.id,
                        expecting: pending.version,
                        at: moment
                    )
                )
            }
            guard case .outOfDate = told else { throw Unexpected("it was deleted") }
            #expect(try await ada.elsewhere.item(id).notes == "theirs")
        }
    }

    /// An edit waits for the same item, so all of it is decided as a run would.
    @Test(arguments: [true, false])
    func `I15 a removal that gives way to what others wrote is not called done`(
        _ isForGood: Bool
    ) async throws {
        try await atHome { world, home, id in
            let ada = home.person
            try await home.loseNetwork()
            #expect(try await home.update(id, password("mine")).isQueued)
            try await home.regainNetwork()
            world.time.pass(.seconds(5))
            try await ada.elsewhere.edit(id, password("theirs"))
            let told = try await refusal {
                try await home.edit(isForGood ? .delete(id) : .trash(id))
            }
            let item = try await ada.elsewhere.item(id)
            guard case .outOfDate? = told else { throw Unexpected("it was called done") }
            #expect(item.login?.password == "theirs" && !item.cipher.isInTrash)
            // What had waited before it waits still, and is kept beside what others wrote.
            #expect(try ada.changes.map(\.type) == [.update])
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(Set(passwords) == ["theirs", "mine"])
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `I15 what others wrote and this host has never heard of is not deleted for good`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            world.time.pass(.seconds(5))
            try await ada.elsewhere.edit(id, #"{"type":1,"name":"mail","notes":"theirs"}"#)
            let told = try await refusal { try await home.edit(.delete(id)) }
            guard case .upstream(let setback) = told, case .stale = setback.reason else {
                throw Unexpected("it was deleted")
            }
            #expect(try await ada.elsewhere.item(id).notes == "theirs")
            #expect(try ada.changes.isEmpty)
            // Now it is shown, and whoever still wants to delete it does.
            #expect(try await home.view(id)?.item.notes == "theirs")
            #expect(try await !home.edit(.delete(id)).isQueued)
            #expect(try await ada.elsewhere.items.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `I15 a file that this host has never heard of is not deleted with its item`(
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            let ada = home.person
            try await ada.elsewhere.attach("deed", to: id)
            let told = try await refusal { try await home.edit(.delete(id)) }
            guard case .upstream(let setback) = told, case .stale = setback.reason else {
                throw Unexpected("it was deleted")
            }
            #expect(try await ada.elsewhere.item(id).cipher.attachmentIDs.count == 1)
            #expect(try await !home.edit(.delete(id)).isQueued)
        }
    }

    @Test func `I15 a deletion before which nobody answers waits, and nothing counts as sent`()
        async throws
    {
        try await atHome { world, home, id in
            let ada = home.person
            await world.server.inject(
                Fault(.answer(.badGateway, isCarriedOut: false), on: .readCipher)
            )
            #expect(try await home.edit(.delete(id)).isQueued)
            let change = try #require(try ada.change(id))
            #expect(change.attempts.map(\.outcome) == [.refused])
            world.time.pass(.seconds(60))
            try await ada.run()
            #expect(try await ada.elsewhere.items.isEmpty)
        }
    }

    @Test func `row 38 and G-S7: removing what is not here does nothing`() async throws {
        try await atHome { (world, home, _) async throws in
            world.wire.isCut = true
            let written = try await home.edit(.delete("nobody"))
            #expect(!written.isQueued)
            #expect(try home.person.changes.isEmpty)
            #expect(world.wire.requests.isEmpty)
        }
    }

    @Test(arguments: Way.allCases)
    func `rows 39 and 59, G-ORG: an organisation's item is not removed offline`(_ way: Way)
        async throws
    {
        try await atHome { world, home, id in
            try await home.person.elsewhere.share(id)
            try await home.person.refresh()
            world.wire.isCut = true
            let refusal = try await refusal { try await home.edit(way.wish(id)) }
            #expect(refusal?.isOutage == true)
            #expect(try home.person.changes.isEmpty)
            #expect(try home.person.base(id) != nil)
        }
    }

    @Test(
        arguments: Way.allCases,
        [
            Switches(offlineChanges: false, resolution: true),
            Switches(offlineChanges: true, resolution: false),
        ]
    )
    func `rows 40, 41, 62, 63: with a switch off no removal is kept`(
        _ way: Way,
        _ switches: Switches
    ) async throws {
        try await atHome(.bitwarden, switches) { world, home, id in
            world.wire.isCut = true
            let refusal = try await refusal { try await home.edit(way.wish(id)) }
            #expect(refusal?.isOutage == true)
            #expect(try home.person.changes.isEmpty)
            #expect(try await home.view(id)?.item.cipher.isInTrash == false)
        }
    }

    @Test(arguments: Way.allCases, Rebuff.allCases)
    func `rows 42, 43, 64, 65: a removal that upstream refuses leaves the item`(
        _ way: Way,
        _ rebuff: Rebuff
    ) async throws {
        try await atHome { world, home, id in
            await rebuff.begin(world, on: way.operation)
            let refusal = try await refusal { try await home.edit(way.wish(id)) }
            #expect(rebuff.isHeard(in: refusal))
            #expect(try home.person.changes.isEmpty)
            #expect(try await home.view(id)?.item.cipher.isInTrash == false)
        }
    }

    @Test(arguments: Personality.Name.allCases, [true, false])
    func `T-20 an item without a key of its own goes to the trash by one write, and gets none`(
        _ personality: Personality.Name,
        _ isOffline: Bool
    ) async throws {
        try await atHome(personality) { world, home, _ in
            let id = try await home.person.elsewhere.addWithoutKey(name: "old", password: "p")
            try await home.person.refresh()
            world.wire.isCut = isOffline
            #expect(try await home.edit(.trash(id)).isQueued == isOffline)
            world.wire.isCut = false
            try await home.person.run(.all)
            #expect(try home.person.changes.isEmpty)
            let writes = world.wire.requests.filter { !$0.hasPrefix("GET ") }
            #expect(writes == ["PUT /api/ciphers/\(id)/delete"])
            let item = try await home.person.elsewhere.item(id)
            #expect(item.cipher.isInTrash && item.cipher.key == nil)
        }
    }

    @Test(arguments: Way.allCases, Personality.Name.allCases)
    func `rows 68 and 69: a removal online is one write and leaves nothing`(
        _ way: Way,
        _ personality: Personality.Name
    ) async throws {
        try await atHome(personality) { world, home, id in
            #expect(!(try await home.edit(way.wish(id))).isQueued)
            let wanted =
                way == .trash
                ? ["PUT /api/ciphers/\(id)/delete"]
                : ["GET /api/ciphers/\(id)/details", "DELETE /api/ciphers/\(id)"]
            #expect(world.wire.requests == wanted)
            #expect(try home.person.changes.isEmpty)
            let seen = try await home.view(id)
            #expect(way == .trash ? seen?.item.cipher.isInTrash == true : seen == nil)
        }
    }

    @Test func `T-26: what was edited before it was trashed is upstream when it is restored`()
        async throws
    {
        try await atHome { world, home, id in
            world.wire.isCut = true
            _ = try await home.update(id, password("last"))
            _ = try await home.edit(.trash(id))
            let mark = try #require(try await home.view(id)).mark
            #expect(mark.changes == [.update, .softDelete])
            world.wire.isCut = false
            _ = try await home.person.run()
            let item = try await home.person.elsewhere.item(id)
            #expect(item.cipher.isInTrash && item.login?.password == "last")
        }
    }

    @Test func `what goes along with an edit that waits is told beside it`() async throws {
        try await atHome { world, home, id in
            world.wire.isCut = true
            func changes() async throws -> [ChangeType]? {
                try await home.view(id)?.mark.changes
            }
            _ = try await home.update(id, password("last"))
            #expect(try await changes() == [.update])
            _ = try await home.edit(.archive(id))
            #expect(try await changes() == [.update, .other])
            _ = try await home.edit(.trash(id))
            #expect(try await changes() == [.update, .softDelete, .other])
        }
    }

    @Test func `an edit of what is in the trash tells that it comes out of there besides`()
        async throws
    {
        try await atHome { world, home, id in
            _ = try await home.edit(.trash(id))
            world.wire.isCut = true
            _ = try await home.edit(.restore(id))
            _ = try await home.update(id, password("last"))
            #expect(try await home.view(id)?.mark.changes == [.update, .other])
        }
    }

    @Test(arguments: Way.allCases)
    func `T-28: what its owner has seen is removed, though something of it waited before`(
        _ way: Way
    ) async throws {
        try await atHome { world, home, id in
            world.wire.isCut = true
            _ = try await home.edit(.favour(id, true))
            world.wire.isCut = false
            try await home.person.elsewhere.edit(id, password("theirs"))
            try await home.person.refresh()
            #expect(try await home.view(id)?.item.login?.password == "theirs")
            #expect(!(try await home.edit(way.wish(id))).isQueued)
            #expect(try home.person.changes.isEmpty)
            let seen = try await home.view(id)
            #expect(way == .trash ? seen?.item.cipher.isInTrash == true : seen == nil)
        }
    }

    @Test(arguments: Way.allCases)
    func `T-28: what its owner has seen is removed, also when that has to wait`(
        _ way: Way
    ) async throws {
        try await atHome { world, home, id in
            world.wire.isCut = true
            _ = try await home.edit(.favour(id, true))
            world.wire.isCut = false
            try await home.person.elsewhere.edit(id, password("theirs"))
            try await home.person.refresh()
            world.wire.isCut = true
            #expect(try await home.edit(way.wish(id)).isQueued)
            world.wire.isCut = false
            try await home.person.run(.all)
            #expect(try home.person.changes.isEmpty)
            let item = try await home.person.elsewhere.items.first { $0.id == id }
            #expect(way == .trash ? item?.cipher.isInTrash == true : item == nil)
        }
    }

    @Test func `T-28: what was to be trashed and showed what others wrote is deleted for good`()
        async throws
    {
        try await atHome { world, home, id in
            world.wire.isCut = true
            #expect(try await home.edit(.trash(id)).isQueued)
            world.wire.isCut = false
            try await home.person.elsewhere.edit(id, password("theirs"))
            try await home.person.refresh()
            world.wire.isCut = true
            #expect(try await home.edit(.delete(id)).isQueued)
            world.wire.isCut = false
            try await home.person.run(.all)
            #expect(try home.person.changes.isEmpty)
            #expect(try await !home.person.elsewhere.items.contains { $0.id == id })
        }
    }

    @Test func `what its owner takes back while upstream is asked is not sent`() async throws {
        try await atHome { world, home, id in
            world.wire.isCut = true
            _ = try await home.update(id, password("mine"))
            world.wire.isCut = false
            let person = home.person
            world.wire.interrupt("/details", isCarriedOut: true) {
                for change in try person.changes {
                    let moment = world.surroundings.now
                    let version = change.version
                    _ = try await world.store.discard(change.id, expecting: version, at: moment)
                }
            }
            _ = try? await home.edit(.delete(id))
            #expect(!world.wire.requests.contains { $0.hasPrefix("DELETE") })
            #expect(try await person.elsewhere.items.contains { $0.id == id })
            #expect(try person.changes.isEmpty)
        }
    }

    @Test func `T-29: restoring what is to be trashed takes that back`() async throws {
        try await atHome { world, home, id in
            world.wire.isCut = true
            _ = try await home.edit(.trash(id))
            _ = try await home.edit(.restore(id))
            #expect(try await home.view(id)?.item.cipher.isInTrash == false)
            world.wire.isCut = false
            _ = try await home.person.run()
            #expect(try await home.person.elsewhere.item(id).cipher.isInTrash == false)
            #expect(try home.person.changes.isEmpty)
        }
    }

    @Test func `T-31: whoever still has it open can save what is to be deleted`() async throws {
        try await atHome { world, home, id in
            world.wire.isCut = true
            _ = try await home.edit(.delete(id))
            #expect(try await home.view(id) == nil)
            _ = try await home.update(id, password("after all"))
            #expect(try await home.view(id)?.item.login?.password == "after all")
            world.wire.isCut = false
            _ = try await home.person.run()
            #expect(try await home.person.elsewhere.item(id).login?.password == "after all")
        }
    }
}
