import Crypto
import EmbeddedUpstream
import JSON
import MeshSupport
import Metrics
import Sync
import Testing
import Vault

/// Rows 70 to 92 of the test map: what a run does upstream.
@Suite(.timeLimit(.minutes(2))) struct ResolvingRowsTests {
    @Test func `row 70: with nothing pending a run asks nothing`() async throws {
        try await withLogin { world, ada, _ in
            let report = try await ada.run()
            #expect(report == RunReport())
            #expect(world.wire.requests.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 71: a create is posted once and known by upstream's id`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let made = try await ada.add(mail)
            let report = try await ada.run()
            #expect(report.tried == 1 && report.settled == 1 && report.stop == nil)
            #expect(world.wire.requests == ["POST /api/ciphers"])
            #expect(try ada.changes.isEmpty)
            let id = try #require(try await ada.elsewhere.items.first?.id)
            #expect(id != made)
            #expect(try ada.base(made)?.lane.cipherID == id)
            #expect(try world.store.reader.layers(of: ada.userID).base.count == 1)
            #expect(try ada.resolutions.map(\.outcome) == [.pushed])
        }
    }

    @Test func `row 72: a snapshot without an id is posted and settles`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            let made = world.chance.identifier()
            let cipher = try Cipher(
                creating: ItemBody(Array(mail.utf8)),
                id: nil,
                at: world.surroundings.now,
                keys: ada.ring,
                entropy: world.chance
            )
            try await ada.wish(.add(Snapshot(cipher, keys: ada.ring)), made)
            try await ada.run()
            #expect(world.wire.requests == ["POST /api/ciphers"])
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 73: an update without a conflict is read and put`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.edit(id, password("second"))
            try await ada.run()
            #expect(
                world.wire.requests == ["GET /api/ciphers/\(id)/details", "PUT /api/ciphers/\(id)"]
            )
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).login?.password == "second")
            #expect(try ada.item(id).login?.password == "second")
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 74: a trash without a conflict is read and carried out`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.wish(.trash, id)
            try await ada.run()
            #expect(
                world.wire.requests == [
                    "GET /api/ciphers/\(id)/details", "PUT /api/ciphers/\(id)/delete",
                ]
            )
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).cipher.isInTrash)
            #expect(try ada.base(id)?.isTrashed == true)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 75: a deletion without a conflict is read and carried out`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.wish(.hardDelete, id)
            try await ada.run()
            #expect(
                world.wire.requests == [
                    "GET /api/ciphers/\(id)/details", "DELETE /api/ciphers/\(id)",
                ]
            )
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.isEmpty)
            #expect(try ada.base(id) == nil)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 76: T-15 the later edit here wins and upstream's is kept`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.edit(id, password("mine"))
            try await ada.run()
            #expect(
                world.wire.requests == [
                    "GET /api/ciphers/\(id)/details", "POST /api/ciphers",
                    "PUT /api/ciphers/\(id)",
                ]
            )
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
            let backup = try #require(try await ada.elsewhere.items.first { $0.id != id })
            #expect(backup.login?.password == "theirs")
            #expect(try ada.changes.isEmpty)
            let note = try #require(try ada.resolutions.first)
            #expect(note.outcome == .backedUpServer && note.winner == .local)
            #expect(note.backupCipherID == backup.id)
            #expect(try ada.base(#require(backup.id)) != nil, "It shows here at once, too.")
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 77: upstream's later edit wins and the one here is kept`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.run()
            #expect(
                world.wire.requests == ["GET /api/ciphers/\(id)/details", "POST /api/ciphers"]
            )
            #expect(try await ada.elsewhere.item(id).login?.password == "theirs")
            #expect(try ada.item(id).login?.password == "theirs")
            let backup = try #require(try await ada.elsewhere.items.first { $0.id != id })
            #expect(backup.login?.password == "mine")
            #expect(try ada.changes.isEmpty)
            #expect(try ada.resolutions.map(\.winner) == [.upstream])
        }
    }

    @Test func `row 78: four changed passwords keep upstream's copy`() async throws {
        try await withLogin { world, ada, id in
            for number in 1...4 { try await ada.edit(id, password("p\(number)")) }
            #expect(try ada.change(id)?.passwordChanges == 4)
            try await ada.run()
            #expect(
                world.wire.requests == [
                    "GET /api/ciphers/\(id)/details", "POST /api/ciphers",
                    "PUT /api/ciphers/\(id)",
                ]
            )
            let backup = try #require(try await ada.elsewhere.items.first { $0.id != id })
            #expect(backup.login?.password == "first")
            #expect(try ada.changes.isEmpty)
            let kind = #"holdfast_conflicts_total{kind="soft",winner="local"}"#
            #expect(await world.registry.figure(kind) == 1)
        }
    }

    static func history(_ passwords: String...) -> String {
        passwords.map {
            #"{"password":"\#($0)","lastUsedDate":"2025-01-01T00:00:00.000Z"}"#
        }.joined(separator: ",")
    }

    @Test func `row 79: a winner here and its backup keep their own histories`() async throws {
        let item = #"{"type":1,"name":"mail","login":{"password":"first"}}"#
        try await withLogin(.bitwarden, item) { world, ada, id in
            let theirs = Self.history("t1", "t2")
            try await ada.elsewhere.edit(
                id,
                #"{"name":"theirs","login":{"password":"first"},"passwordHistory":[\#(theirs)]}"#
            )
            let mine = Self.history("m1", "m2", "m3")
            try await ada.edit(
                id,
                #"{"name":"mine","login":{"password":"first"},"passwordHistory":[\#(mine)]}"#
            )
            try await ada.run()
            let pushed = try await ada.elsewhere.item(id)
            #expect(pushed.passwordHistory.map(\.password) == ["m1", "m2", "m3"])
            let backup = try #require(try await ada.elsewhere.items.first { $0.id != id })
            #expect(backup.passwordHistory.map(\.password) == ["t1", "t2"])
        }
    }

    @Test func `row 80: a winner upstream and its backup keep their own histories`() async throws {
        let item = #"{"type":1,"name":"mail","login":{"password":"first"}}"#
        try await withLogin(.bitwarden, item) { world, ada, id in
            let mine = Self.history("m1", "m2", "m3")
            try await ada.edit(
                id,
                #"{"name":"mine","login":{"password":"first"},"passwordHistory":[\#(mine)]}"#
            )
            let theirs = Self.history("t1", "t2")
            try await ada.elsewhere.edit(
                id,
                #"{"name":"theirs","login":{"password":"first"},"passwordHistory":[\#(theirs)]}"#
            )
            try await ada.run()
            #expect(try ada.item(id).passwordHistory.map(\.password) == ["t1", "t2"])
            let backup = try #require(try await ada.elsewhere.items.first { $0.id != id })
            #expect(backup.passwordHistory.map(\.password) == ["m1", "m2", "m3"])
        }
    }

    @Test func `row 81: a soft conflict leaves both histories as they were`() async throws {
        try await withLogin { world, ada, id in
            for number in 1...4 { try await ada.edit(id, password("p\(number)")) }
            try await ada.run()
            let pushed = try await ada.elsewhere.item(id)
            #expect(pushed.passwordHistory.map(\.password) == ["p3", "p2", "p1", "first"])
            let backup = try #require(try await ada.elsewhere.items.first { $0.id != id })
            #expect(backup.passwordHistory.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 82: what was edited elsewhere is not trashed`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.wish(.trash, id)
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.run()
            #expect(world.wire.requests == ["GET /api/ciphers/\(id)/details"])
            #expect(try ada.item(id).login?.password == "theirs")
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.count == 1)
            #expect(try ada.resolutions.map(\.outcome) == [.restoredServer])
            let kind = #"holdfast_conflicts_total{kind="delete",winner="server"}"#
            #expect(await world.registry.figure(kind) == 1)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 82: a trash that upstream has carried out unheard is not told to be withdrawn`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            let receiptID = try #require(try await ada.wish(.trash, id).made.receiptID)
            // As from a caller whose answer was lost, so nobody had looked before.
            try await ada.elsewhere.trash(id)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).cipher.isInTrash)
            #expect(try ada.item(id).cipher.isInTrash)
            #expect(try world.store.reader.receipt(receiptID, of: ada.userID)?.status == .sent)
            #expect(try ada.resolutions.map(\.outcome) != [.restoredServer])
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 82: what was wished for before a trash that is withdrawn is carried out`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.wish(.place(.none, isFavourite: true), id)
            try await ada.wish(.trash, id)
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.run()
            let item = try await ada.elsewhere.item(id)
            #expect(item.cipher.isFavorite && !item.cipher.isInTrash)
            #expect(item.login?.password == "theirs")
            #expect(try ada.item(id).cipher.isFavorite)
            #expect(try ada.changes.isEmpty)
            #expect(try ada.resolutions.map(\.outcome) == [.restoredServer, .pushed])
            #expect(try ada.resolutions.map(\.winner) == [.upstream, nil])
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 82: what upstream refuses of that is set aside alone, and the trash is withdrawn`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.wish(.archive, id)
            let receiptID = try #require(try await ada.wish(.trash, id).made.receiptID)
            try await ada.elsewhere.edit(id, password("theirs"))
            await world.server.inject(FailureScopeTests.refusal(422, on: .archiveCipher))
            for _ in 0..<2 { try await ada.run(.all) }
            let left = try #require(try ada.change(id))
            #expect(left.state == .quarantined && left.type == .other)
            #expect(try ada.item(id).login?.password == "theirs")
            #expect(try ada.base(id)?.isTrashed == false)
            #expect(try ada.resolutions.map(\.outcome) == [.restoredServer])
            let receipt = try world.store.reader.receipt(receiptID, of: ada.userID)
            #expect(receipt?.status == .restored)
        }
    }

    @Test func `row 82: that the trash is withdrawn is told once, whenever what is left is done`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.wish(.archive, id)
            try await ada.wish(.trash, id)
            try await ada.elsewhere.edit(id, password("theirs"))
            await world.server.inject(
                FailureScopeTests.refusal(503, on: .archiveCipher, times: 1)
            )
            try await ada.run()
            #expect(try ada.resolutions.map(\.outcome) == [.restoredServer])
            #expect(try ada.changes.map(\.type) == [.other])
            world.time.pass(.seconds(1_000))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try ada.resolutions.map(\.outcome) == [.restoredServer, .pushed])
            #expect(try await ada.elsewhere.item(id).cipher.isArchived)
            let kind = #"holdfast_conflicts_total{kind="delete",winner="server"}"#
            #expect(await world.registry.figure(kind) == 1)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 82: of what was wished for before that, a folder that is gone is left out`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let folder = try await ada.elsewhere.addFolder("letters")
            try await ada.refresh()
            try await ada.wish(.place(.id(folder), isFavourite: true), id)
            try await ada.wish(.trash, id)
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.elsewhere.removeFolder(folder)
            try await ada.run()
            let item = try await ada.elsewhere.item(id)
            #expect(item.cipher.isFavorite && !item.cipher.isInTrash)
            if personality == .vaultwarden { #expect(item.cipher.folderID == nil) }
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 83: G-VR2 what was edited elsewhere is not deleted, and that is told`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.wish(.hardDelete, id)
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.run()
            #expect(world.wire.requests == ["GET /api/ciphers/\(id)/details"])
            #expect(try ada.item(id).login?.password == "theirs")
            #expect(try ada.changes.isEmpty)
            let told = world.events.all.contains {
                if case .resolution(_, _, let note) = $0 {
                    note.outcome == .restoredServer
                } else {
                    false
                }
            }
            #expect(told)
        }
    }

    /// Nobody here can open a bank account, and anybody can delete it.
    @Test func `what was edited elsewhere is not deleted, though nobody here can open its type`()
        async throws
    {
        try await World.open { world in
            await world.server.setFeature("pm-32009-new-item-types", true)
            let ada = try await world.person()
            let key = SymmetricKey(from: world.chance)
            let wrapped = try ada.ring.user.wrap(key)
            let sealer = Sealer(key, entropy: world.chance)
            let name = try sealer.seal("bank")
            func holding(_ pin: String) throws -> String {
                let pin = try sealer.seal(pin)
                return
                    #"{"type":6,"key":"\#(wrapped)","name":"\#(name)","bankAccount":{"pin":"\#(pin)"}}"#
            }
            let id = try await ada.elsewhere.post("/api/ciphers", holding("first"))
            try await ada.refresh()
            try await ada.wish(.hardDelete, id)
            world.time.pass(.seconds(10))
            let known = try await ada.elsewhere.item(id).cipher
            let edited = try Cipher(Array(holding("theirs").utf8))
            try await ada.elsewhere.put(id, edited, over: known)
            try await ada.run()
            #expect(try await !ada.elsewhere.lacks(id))
            #expect(try ada.changes.isEmpty)
            #expect(try ada.resolutions.map(\.outcome) == [.restoredServer])
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 84: what is gone upstream is created anew, once its list confirms that`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            // With another item there, the list does not look as if everything were gone.
            try await ada.elsewhere.add(#"{"type":2,"name":"note","secureNote":{"type":0}}"#)
            try await ada.refresh()
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.delete(id)
            try await ada.run()
            #expect(
                world.wire.requests == [
                    "GET /api/ciphers/\(id)/details", "GET /api/sync", "POST /api/ciphers",
                ]
            )
            let again = try #require(try await ada.elsewhere.items.first { $0.name == "mail" })
            #expect(again.login?.password == "mine")
            #expect(try ada.changes.isEmpty)
            #expect(try ada.base(id)?.lane.cipherID == again.id, "T-67: the old id leads there.")
            #expect(try ada.resolutions.map(\.outcome) == [.recreated])
            #expect(try ada.resolutions.map(\.winner) == [.local])
            let kind = #"holdfast_conflicts_total{kind="delete",winner="local"}"#
            #expect(await world.registry.figure(kind) == 1)
        }
    }

    /// Upstream is away when the archive's turn has come, or the vault is locked by then.
    @Test(arguments: [false, true])
    func `row 84: that is told, too, if the run ends before all that is wished is done`(
        _ isLocked: Bool
    ) async throws {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.add(#"{"type":2,"name":"note","secureNote":{"type":0}}"#)
            try await ada.refresh()
            try await ada.edit(id, password("mine"))
            try await ada.wish(.archive, id)
            try await ada.elsewhere.delete(id)
            if isLocked {
                world.wire.interrupt("/ciphers", isCarriedOut: true) { ada.keys.lock() }
            } else {
                await world.server.inject(
                    FailureScopeTests.refusal(503, on: .archiveCipher, times: 1)
                )
            }
            try await ada.run()
            #expect(try ada.changes.count == 1)
            #expect(try ada.resolutions.isEmpty)
            ada.keys.unlock(ada.ring)
            world.time.pass(.seconds(1_000))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let again = try #require(try await ada.elsewhere.items.first { $0.name == "mail" })
            #expect(again.login?.password == "mine" && again.cipher.isArchived)
            #expect(try ada.resolutions.map(\.outcome) == [.recreated])
            #expect(try ada.resolutions.map(\.winner) == [.local])
            let kind = #"holdfast_conflicts_total{kind="delete",winner="local"}"#
            #expect(await world.registry.figure(kind) == 1)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 84: that is told, too, if the answer was lost`(_ personality: Personality.Name)
        async throws
    {
        try await withLogin(personality) { world, ada, id in
            try await ada.elsewhere.add(#"{"type":2,"name":"note","secureNote":{"type":0}}"#)
            try await ada.refresh()
            try await ada.edit(id, password("mine"))
            try await ada.elsewhere.delete(id)
            await world.server.inject(Fault(.loseAnswer, on: .createCipher))
            try await ada.run()
            world.time.pass(.seconds(25))
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.names.sorted() == ["mail", "note"])
            #expect(try ada.resolutions.map(\.outcome) == [.recreated])
            #expect(try ada.resolutions.map(\.winner) == [.local])
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 85: what is gone upstream need not be trashed`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.elsewhere.add(#"{"type":2,"name":"note","secureNote":{"type":0}}"#)
            try await ada.refresh()
            try await ada.wish(.trash, id)
            try await ada.elsewhere.delete(id)
            try await ada.run()
            #expect(!world.wire.requests.contains { $0.hasSuffix("/delete") })
            #expect(try ada.base(id) == nil)
            #expect(try ada.changes.isEmpty)
            #expect(try ada.resolutions.map(\.outcome) == [.cleanedUp])
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `row 86: what is gone upstream need not be deleted`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.elsewhere.add(#"{"type":2,"name":"note","secureNote":{"type":0}}"#)
            try await ada.refresh()
            try await ada.wish(.hardDelete, id)
            try await ada.elsewhere.delete(id)
            try await ada.run()
            #expect(!world.wire.requests.contains { $0.hasPrefix("DELETE") })
            #expect(try ada.base(id) == nil)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: [(200, 0), (400, 1), (500, 1), (404, 0)])
    func `rows 111, 112 and 113: an item is read by its path, and gone only if upstream says so`(
        _ status: Int,
        _ left: Int
    ) async throws {
        try await withLogin { world, ada, id in
            try await ada.wish(.trash, id)
            world.wire.forget()
            let body = #"{"object":"error","message":"Resource not found."}"#
            let answer = Canned(
                status: status,
                contentType: "application/json",
                body: Array(body.utf8)
            )
            if status != 200 {
                if status == 404 { try await ada.elsewhere.delete(id) }
                await world.server.inject(
                    Fault(.answer(answer, isCarriedOut: false), on: .readCipher)
                )
            }
            try await ada.run()
            #expect(world.wire.requests.first == "GET /api/ciphers/\(id)/details")
            #expect(try ada.changes.count == left)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-16 what somebody else wrote within the same second is seen, and kept`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let seen = try await ada.elsewhere.item(id)
            try await ada.edit(id, password("mine"))
            world.time.pass(.milliseconds(300))
            let theirs = try seen.edited(
                by: ItemBody(Array(password("theirs").utf8)),
                at: world.surroundings.now,
                keys: ada.ring,
                entropy: world.chance
            )
            try await ada.elsewhere.put(id, theirs.cipher, over: seen.cipher)
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["mine", "theirs"])
        }
    }

    @Test func `T-64, G-VR6 what two people write at once goes to each one's own vault`()
        async throws
    {
        try await World.open { world in
            let (ada, bob) = (
                try await world.person(), try await world.person("bob@example.com")
            )
            world.wire.isCut = true
            for number in 0..<10 {
                try await ada.add(#"{"type":1,"name":"ada \#(number)","login":{}}"#)
                try await bob.add(#"{"type":1,"name":"bob \#(number)","login":{}}"#)
            }
            world.wire.isCut = false
            async let one = ada.run()
            async let other = bob.run()
            _ = try await (one, other)
            #expect(try await ada.elsewhere.names.sorted() == (0..<10).map { "ada \($0)" })
            #expect(try await bob.elsewhere.names.sorted() == (0..<10).map { "bob \($0)" })
        }
    }
}
