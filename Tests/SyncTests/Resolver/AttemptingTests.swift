import EmbeddedUpstream
import MeshSupport
import Metrics
import Sync
import System
import Testing
import Vault

/// An edit's first attempt, while its caller waits.
@Suite(.timeLimit(.minutes(2))) struct AttemptingTests {
    @Test(arguments: Personality.Name.allCases)
    func `R-042 an edit that is saved leaves nothing behind`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let recorded = try await ada.edit(id, password("mine"), atOnce: true)
            guard case .saved(cipherID: id) = try await ada.attempt(recorded) else {
                throw Unexpected("not saved")
            }
            #expect(world.wire.requests == ["PUT /api/ciphers/\(id)"])
            #expect(try ada.changes.isEmpty && ada.resolutions.isEmpty)
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
            #expect(try ada.item(id).login?.password == "mine")
            let pushed = #"holdfast_resolutions_total{type="update",outcome="pushed"}"#
            #expect(await world.registry.figure(pushed) ?? 0 == 0)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `a new item is saved under upstream's id`(_ personality: Personality.Name) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let recorded = try await ada.addAtOnce(mail)
            let made = recorded.change.cipherID
            guard case .saved(let id) = try await ada.attempt(recorded) else {
                throw Unexpected("not saved")
            }
            #expect(world.wire.requests == ["POST /api/ciphers"])
            #expect(try await ada.elsewhere.items.map(\.id) == [id])
            #expect(try ada.base(made)?.lane.cipherID == id, "T-04: the old id leads there.")
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `G-RES1 how long nothing is made again counts from when nobody had answered`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let recorded = try await ada.addAtOnce(mail)
            // For so long a new session had to be waited for.
            world.time.pass(.seconds(40))
            await world.server.inject(Fault(.drop, on: .createCipher))
            guard case .unanswered = try await ada.attempt(recorded) else {
                throw Unexpected("it was answered")
            }
            world.wire.forget()
            try await ada.run()
            #expect(!world.wire.requests.contains { $0.hasPrefix("POST") })
            world.time.pass(.seconds(25))
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 1)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `every other wish is one writing call`(_ personality: Personality.Name) async throws {
        try await withLogin(personality) { world, ada, id in
            let calls: [(Edit.Wish, String)] = [
                (.archive, "PUT /api/ciphers/\(id)/archive"),
                (.unarchive, "PUT /api/ciphers/\(id)/unarchive"),
                (.favour(true), "PUT /api/ciphers/\(id)/partial"),
                (.trash, "PUT /api/ciphers/\(id)/delete"),
                (.restore, "PUT /api/ciphers/\(id)/restore"),
                (.hardDelete, "DELETE /api/ciphers/\(id)"),
            ]
            for (wish, call) in calls {
                let recorded = try await ada.wish(wish, id, atOnce: true).made
                guard case .saved = try await ada.attempt(recorded) else {
                    throw Unexpected("not saved: \(wish)")
                }
                #expect(world.wire.requests.filter { !$0.hasPrefix("GET") } == [call])
                world.wire.forget()
                #expect(try ada.changes.isEmpty)
            }
            #expect(try ada.base(id) == nil)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `a stale refusal is the caller's to hear`(_ personality: Personality.Name) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            let recorded = try await ada.edit(id, password("mine"), atOnce: true)
            guard case .refused(let setback, let version) = try await ada.attempt(recorded) else {
                throw Unexpected("not refused")
            }
            guard case .stale = setback.reason else { throw Unexpected("\(setback)") }
            // Whoever is told to look again is to find what there is, though nothing else is synced.
            #expect(
                world.wire.requests == ["PUT /api/ciphers/\(id)", "GET /api/ciphers/\(id)/details"]
            )
            #expect(try await world.store.withdraw(recorded, expecting: version))
            #expect(try ada.changes.isEmpty)
            #expect(try ada.item(id).login?.password == "theirs")
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["theirs"])
        }
    }

    /// Whatever lies in between has repeated the request, and only the second answer came.
    @Test(arguments: Personality.Name.allCases, [true, false])
    func `G-RES1 an edit that is delivered twice is saved, recorded or not`(
        _ personality: Personality.Name,
        _ isRecorded: Bool
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            await world.server.inject(Fault(.twice, on: .updateCipher))
            if isRecorded {
                let recorded = try await ada.edit(id, password("mine"), atOnce: true)
                guard case .saved(cipherID: id) = try await ada.attempt(recorded) else {
                    throw Unexpected("not saved")
                }
            } else {
                let content = try ada.content(of: id, password("mine"))
                let wish = Edit.Wish.update(content, changesPassword: true)
                guard case .done(cipherID: id) = try await ada.carryOut(wish, of: id) else {
                    throw Unexpected("not done")
                }
            }
            #expect(world.wire.requests.count { $0.hasPrefix("PUT") } == 1)
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.passwords == ["mine"])
            #expect(try ada.item(id).login?.password == "mine")
            let there = try await ada.elsewhere.item(id).cipher
            #expect(try ada.base(id)?.revision == there.revision)
        }
    }

    @Test func `a rejection comes back as upstream worded it`() async throws {
        try await withLogin { world, ada, id in
            let recorded = try await ada.edit(id, password("mine"), atOnce: true)
            let refusal = Canned.refusal(400, "No cats allowed.")
            await world.server.inject(Fault(.answer(refusal, isCarriedOut: false)))
            guard case .refused(let setback, _) = try await ada.attempt(recorded) else {
                throw Unexpected("not refused")
            }
            #expect(setback.rejection?.message == "No cats allowed.")
        }
    }

    @Test(arguments: [
        Fault.Effect.answer(.refusal(400, "No cats allowed."), isCarriedOut: false), .drop,
    ])
    func `T-02 what was edited while its item was created stays, whatever upstream says to that`(
        _ effect: Fault.Effect
    ) async throws {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.addAtOnce(mail)
            try await ada.edit(made.change.cipherID, password("later"))
            await world.server.inject(Fault(effect, on: .updateCipher))
            guard case .overtaken = try await ada.attempt(made) else {
                throw Unexpected("It was the later edit that failed.")
            }
            #expect(try ada.changes.count == 1)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["first"])
            world.time.pass(.seconds(60))
            try await ada.run(.all)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["later"])
        }
    }

    private static let waits: [Fault.Effect] = [
        .drop, .loseAnswer, .answer(.refusal(500, "broken"), isCarriedOut: false),
        .answer(.refusal(408, "slow"), isCarriedOut: false),
        .answer(.refusal(425, "early"), isCarriedOut: false),
        .answer(.tooManyRequests(retryAfter: "9"), isCarriedOut: false),
        .answer(.badGateway, isCarriedOut: false), .answer(.ban, isCarriedOut: false),
        .answer(.captivePortal, isCarriedOut: true),
        .answer(.redirect(302, to: "http://portal.example/"), isCarriedOut: false),
    ]

    @Test(arguments: waits.indices)
    func `T-44 T-45 what is nobody's word lets the edit wait, and it arrives once`(
        _ index: Int
    ) async throws {
        try await withLogin { world, ada, id in
            let recorded = try await ada.edit(id, password("mine"), atOnce: true)
            await world.server.inject(Fault(Self.waits[index], on: .updateCipher))
            guard case .unanswered(_, let version) = try await ada.attempt(recorded) else {
                throw Unexpected("not unanswered: \(Self.waits[index])")
            }
            let (_, receipt) = try await world.store.queue(
                recorded.change.id,
                expecting: version,
                at: world.surroundings.now
            ) { $0.state = .ready }
            #expect(receipt != nil)
            world.time.pass(.seconds(4_000))
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["mine"])
        }
    }

    @Test func `what was never sent is not looked for`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            let recorded = try await ada.addAtOnce(mail)
            let made = recorded.change.cipherID
            world.wire.isCut = true
            guard case .unanswered(_, let version) = try await ada.attempt(recorded) else {
                throw Unexpected("not unanswered")
            }
            #expect(try ada.change(made)?.mayHaveLanded(.create) == false)
            #expect(try ada.change(made)?.version == version)
            world.wire.isCut = false
            try await ada.run()
            #expect(world.wire.requests == ["POST /api/ciphers"])
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `T-34 an edit of what was never sent is posted in its newest form`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.add(mail)
            let recorded = try await ada.edit(made, password("newest"), atOnce: true)
            guard case .saved(let id) = try await ada.attempt(recorded) else {
                throw Unexpected("not saved")
            }
            #expect(world.wire.requests == ["POST /api/ciphers"])
            #expect(try await ada.elsewhere.item(id).login?.password == "newest")
            #expect(try ada.changes.isEmpty)
            #expect(try ada.resolutions.map(\.outcome) == [.pushed], "It had waited.")
        }
    }

    @Test func `an edit that comes in meanwhile is not taken back with the one that is refused`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("first"))
            let second = try await ada.edit(id, password("second"), atOnce: true)
            let third = Lock<String?>(nil)
            world.wire.interrupt("/ciphers/\(id)/details") {
                let receiptID = try await ada.edit(id, password("third")).receiptID
                third.withLock { $0 = receiptID }
            }
            await world.server.inject(
                FailureScopeTests.refusal(400, on: .updateCipher, times: 1)
            )
            guard case .overtaken = try await ada.attempt(second) else {
                throw Unexpected("not overtaken: \(world.wire.requests)")
            }
            #expect(try ada.item(id).login?.password == "third")
            let change = try #require(try ada.change(id))
            let queued = try await world.store.queue(
                change.id,
                expecting: change.version,
                at: world.surroundings.now,
                isEditedOver: true
            ) { $0.state = .ready }
            world.time.pass(.seconds(901))
            try await ada.run()
            #expect(try await ada.elsewhere.item(id).login?.password == "third")
            let late = third.withLock { $0 }
            let receiptIDs = [try #require(queued.receiptID), try #require(late)]
            let receipts = try receiptIDs.map { id in
                try world.store.reader.receipt(id, of: ada.userID)?.status
            }
            #expect(receipts == [.superseded, .sent])
        }
    }

    @Test func `the same wish once more is not taken back with the one that is refused`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("first"))
            guard case .recorded(let first) = try await ada.wish(.trash, id, atOnce: true) else {
                throw Unexpected("not recorded")
            }
            world.wire.interrupt("/ciphers/\(id)/delete", isCarriedOut: true) {
                _ = try await ada.wish(.trash, id)
            }
            await world.server.inject(
                FailureScopeTests.refusal(400, on: .trashCipher, times: 1)
            )
            guard case .refused(_, let version) = try await ada.attempt(first) else {
                throw Unexpected("not refused: \(world.wire.requests)")
            }
            #expect(try await !world.store.withdraw(first, expecting: version))
            #expect(try ada.change(id)?.intent.trash == .trashed)
        }
    }

    @Test func `an edit that is done is not taken back because what had waited is refused`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.wish(.favour(true), id)
            let recorded = try await ada.wish(.archive, id, atOnce: true).made
            await world.server.inject(FailureScopeTests.refusal(400, on: .placeCipher))
            guard case .overtaken = try await ada.attempt(recorded) else {
                throw Unexpected("not overtaken: \(world.wire.requests)")
            }
            #expect(try ada.base(id)?.isArchived == true)
            #expect(try ada.change(id)?.intent == recorded.change.intent)
        }
    }

    @Test func `what had waited is told of no conflict of an edit that is taken back`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.wish(.archive, id)
            try await ada.elsewhere.edit(id, password("theirs"))
            let recorded = try await ada.edit(id, password("mine"), atOnce: true)
            await world.server.inject(
                FailureScopeTests.refusal(400, on: .updateCipher, times: 1)
            )
            guard case .refused(_, let version) = try await ada.attempt(recorded) else {
                throw Unexpected("not refused: \(world.wire.requests)")
            }
            #expect(try await world.store.withdraw(recorded, expecting: version))
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).login?.password == "theirs")
            #expect(try ada.resolutions.map(\.outcome) == [.pushed])
            #expect(try ada.resolutions.allSatisfy { $0.winner == nil && $0.backupCipherID == nil })
            let kind = #"holdfast_conflicts_total{kind="hard",winner="local"}"#
            #expect(await world.registry.figure(kind) == 0)
        }
    }

    @Test func `an edit over one that had waited supersedes it although the item was in the trash`()
        async throws
    {
        try await withLogin { world, ada, id in
            let first = try await ada.edit(id, password("first"))
            try await ada.elsewhere.trash(id)
            let second = try await ada.edit(id, password("second"), atOnce: true)
            guard case .saved = try await ada.attempt(second) else {
                throw Unexpected("not saved: \(world.wire.requests)")
            }
            let receiptID = try #require(first.receiptID)
            let receipt = try world.store.reader.receipt(receiptID, of: ada.userID)
            #expect(receipt?.status == .superseded)
        }
    }

    @Test func `nor is an edit done that is refused after what had waited`() async throws {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("first"))
            let recorded = try await ada.wish(.archive, id, atOnce: true).made
            await world.server.inject(FailureScopeTests.refusal(400, on: .archiveCipher))
            guard case .refused(_, let version) = try await ada.attempt(recorded) else {
                throw Unexpected("not refused: \(world.wire.requests)")
            }
            #expect(try await world.store.withdraw(recorded, expecting: version))
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            let item = try await ada.elsewhere.item(id)
            #expect(item.login?.password == "first" && !item.cipher.isArchived)
        }
    }

    @Test func `what is edited while an earlier create is looked for is answered by itself`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.addUnheard(mail)
            world.time.pass(.seconds(30))
            let second = try await ada.edit(made, password("second"), atOnce: true)
            let third = Lock<String?>(nil)
            world.wire.interrupt("/sync?excludeDomains=true") {
                let receiptID = try await ada.edit(made, password("third")).receiptID
                third.withLock { $0 = receiptID }
            }
            guard case .saved(let id) = try await ada.attempt(second) else {
                throw Unexpected("not saved")
            }
            #expect(try await ada.elsewhere.item(id).login?.password == "third")
            let late = third.withLock { $0 }
            let receiptID = try #require(late)
            let receipt = try world.store.reader.receipt(receiptID, of: ada.userID)
            #expect(receipt?.status == .sent)
        }
    }

    /// Vaultwarden counts whole seconds.
    @Test func `what a sync brings before the sending is not written over unseen`() async throws {
        try await withLogin(.vaultwarden) { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.edit(id, password("mine"), after: .milliseconds(1_200))
            let again = password("mine again")
            let recorded = try await ada.edit(id, again, atOnce: true, after: .milliseconds(100))
            // Right before a copy is made of theirs.
            world.wire.interrupt("/api/ciphers") {
                let last = password("theirs at last")
                try await ada.elsewhere.edit(id, last, after: .milliseconds(200))
                try await ada.refresh()
            }
            guard case .saved = try await ada.attempt(recorded) else {
                throw Unexpected("not saved: \(world.wire.requests)")
            }
            #expect(try ada.changes.isEmpty)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.contains("theirs at last") && passwords.contains("mine again"))
        }
    }

    /// Nobody else would tell that it is not in the trash.
    @Test func `whoever trashes what was created unheard hears that others have edited it`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.addUnheard(mail)
            let id = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.elsewhere.edit(id, password("theirs"))
            world.time.pass(.seconds(30))
            let recorded = try await ada.wish(.trash, made, atOnce: true).made
            guard case .overruled(let version) = try await ada.attempt(recorded) else {
                throw Unexpected("not overruled: \(world.wire.requests)")
            }
            #expect(try await world.store.withdraw(recorded, expecting: version))
            #expect(try await ada.elsewhere.items.map(\.cipher.isInTrash) == [false])
            try await ada.run(.all)
            #expect(try ada.changes.isEmpty)
            #expect(try ada.base(made)?.lane.cipherID == id)
            #expect(try await ada.elsewhere.passwords == ["theirs"])
        }
    }

    @Test func `the receipt of what had waited says that a saved edit has taken its place`()
        async throws
    {
        try await withLogin { world, ada, id in
            let waiting = try await ada.edit(id, password("first"))
            let receiptID = try #require(waiting.receiptID)
            let recorded = try await ada.edit(id, password("second"), atOnce: true)
            guard case .saved = try await ada.attempt(recorded) else {
                throw Unexpected("not saved")
            }
            #expect(try await ada.elsewhere.item(id).login?.password == "second")
            let receipt = try world.store.reader.receipt(receiptID, of: ada.userID)
            #expect(receipt?.status == .superseded)
            #expect(receipt?.sent == nil && receipt?.ended != nil)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-07 an edit over one that waits is resolved with it`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.edit(id, password("mine"))
            let recorded = try await ada.edit(id, password("newest"), atOnce: true)
            guard case .saved = try await ada.attempt(recorded) else {
                throw Unexpected("not saved")
            }
            let passwords = try await ada.elsewhere.items.map { $0.login?.password }
            #expect(Set(passwords) == ["theirs", "newest"])
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-29 a restore over a trash that waits needs no call`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.wish(.trash, id)
            let recording = try await ada.wish(.restore, id, atOnce: true)
            guard case .gone = recording else { throw Unexpected("\(recording)") }
            try await ada.run()
            #expect(world.wire.requests.isEmpty)
        }
    }

    @Test func `T-02 T-03 an edit that is recorded while its item is pushed is sent too`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("first edit"))
            await world.server.inject(Fault(.delay(.seconds(60)), on: .updateCipher))
            async let report = ada.run()
            // The push is under way once upstream keeps it lying.
            let answer = world.time.elapsed + .seconds(60)
            while !world.time.hasAlarm(at: answer), !Task.isCancelled { await Task.yield() }
            try await ada.edit(id, password("second edit"))
            world.time.pass(.seconds(60))
            #expect(try await report.settled == 1)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["second edit"])
            #expect(try ada.item(id).login?.password == "second edit")
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `P7 an answer that was long on its way takes back nothing a list has said since`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            world.wire.interrupt("/ciphers/\(id)", isCarriedOut: true) {
                world.time.pass(.seconds(5))
                try await ada.elsewhere.edit(id, password("theirs"))
                try await ada.refresh()
            }
            #expect(try await ada.run().settled == 1)
            #expect(try ada.changes.isEmpty)
            #expect(try ada.item(id).login?.password == "theirs")
        }
    }

    @Test func `G-CLOCK an answer stands against a list from before it, whatever their stamps`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            world.wire.interrupt("/ciphers/\(id)") {
                // So close to what was seen that the server takes the edit all the same.
                await world.server.shiftClock(seconds: -10)
                try await ada.elsewhere.edit(id, password("theirs"), after: .zero)
                try await ada.refresh()
                await world.server.shiftClock(seconds: -3_600)
            }
            #expect(try await ada.run().settled == 1)
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
            #expect(try ada.item(id).login?.password == "mine")
            #expect(world.wire.requests.last == "GET /api/ciphers/\(id)/details")
        }
    }

    @Test func `T-02 an edit that is recorded while its item is created is sent too`() async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.add(mail)
            // More than the create is to be done, so the record goes on under the new id.
            try await ada.wish(.archive, made)
            world.wire.interrupt("/ciphers") {
                try await ada.edit(made, password("second edit"))
            }
            try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.map { $0.login?.password } == ["second edit"])
        }
    }

    @Test func `T-04 who knows an item by its new id waits until all of it is brought up`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.add(mail)
            try await ada.wish(.archive, made)
            let (said, say) = AsyncStream.makeStream(of: String.self)
            world.wire.interrupt("/archive") {
                let id = try #require(try await ada.elsewhere.items.first?.id)
                Task {
                    _ = await ada.lanes.hold(id) { say.yield("edited") }
                    say.finish()
                }
                for _ in 0..<100 { await Task.yield() }
                say.yield("archived")
            }
            try await ada.run()
            #expect(await said.reduce(into: []) { $0.append($1) } == ["archived", "edited"])
            #expect(try ada.changes.isEmpty)
        }
    }

    // MARK: Without a record

    @Test(arguments: Personality.Name.allCases)
    func `R-036 a wish that is not recorded is carried out, and base has the answer`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let content = try ada.content(of: id, password("mine"))
            let carried = try await ada.carryOut(.update(content, changesPassword: true), of: id)
            guard case .done(cipherID: id) = carried else { throw Unexpected("\(carried)") }
            #expect(world.wire.requests == ["PUT /api/ciphers/\(id)"])
            #expect(try ada.item(id).login?.password == "mine")
            for wish in [Edit.Wish.trash, .restore, .archive, .unarchive, .favour(true)] {
                guard case .done = try await ada.carryOut(wish, of: id) else {
                    throw Unexpected("\(wish)")
                }
            }
            #expect(try ada.base(id)?.isTrashed == false)
            guard case .done(nil) = try await ada.carryOut(.hardDelete, of: id) else {
                throw Unexpected("not deleted")
            }
            #expect(try ada.base(id) == nil && ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.isEmpty)
        }
    }

    @Test func `R-036 a wish that is not recorded fails with its caller`() async throws {
        try await withLogin { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            let content = try ada.content(of: id, password("mine"))
            let wish = Edit.Wish.update(content, changesPassword: true)
            guard case .refused(let setback) = try await ada.carryOut(wish, of: id) else {
                throw Unexpected("not refused")
            }
            guard case .stale = setback.reason else { throw Unexpected("\(setback)") }
            world.wire.isCut = true
            guard case .refused = try await ada.carryOut(.trash, of: id) else {
                throw Unexpected("not refused")
            }
            #expect(try ada.changes.isEmpty)
        }
    }

    /// Sent along, the newer copy's stamp would have upstream take it for an edit of that.
    @Test(arguments: Personality.Name.allCases)
    func `I1 what was made on one copy and is not recorded is not sent over a newer one`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let seen = try ada.base(id)
            let content = try ada.content(of: id, password("mine"))
            try await ada.elsewhere.edit(id, password("theirs"))
            try await ada.refresh()
            for wish in [Edit.Wish.update(content, changesPassword: true), .hardDelete] {
                guard case .moved = try await ada.carryOut(wish, of: id, madeOn: seen) else {
                    throw Unexpected("taken for one of the newer copy: \(wish)")
                }
            }
            #expect(world.wire.requests.isEmpty)
            #expect(try await ada.elsewhere.passwords == ["theirs"])
        }
    }

    /// As for an organisation's item, of which nothing is recorded. Nobody may have heard that others edited it.
    @Test(arguments: Personality.Name.allCases)
    func
        `who hears that what is not recorded is out of date finds the present copy, and edits that`(
            _ personality: Personality.Name
        ) async throws
    {
        try await withLogin(personality) { world, ada, id in
            try await ada.elsewhere.edit(id, password("theirs"))
            let old = Edit.Wish.update(
                try ada.content(of: id, password("mine")),
                changesPassword: true
            )
            guard case .refused = try await ada.carryOut(old, of: id) else {
                throw Unexpected("not refused")
            }
            #expect(try ada.item(id).login?.password == "theirs")
            let new = Edit.Wish.update(
                try ada.content(of: id, password("mine")),
                changesPassword: true
            )
            guard case .done(cipherID: id) = try await ada.carryOut(new, of: id) else {
                throw Unexpected("refused once more")
            }
            #expect(try await ada.elsewhere.item(id).login?.password == "mine")
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `I15 what others have given to an organisation is not deleted unseen`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { _, ada, id in
            try await ada.elsewhere.share(id)
            let recorded = try await ada.wish(.hardDelete, id, atOnce: true).made
            guard case .refused(let setback, _) = try await ada.attempt(recorded) else {
                throw Unexpected("not refused")
            }
            guard case .stale = setback.reason else { throw Unexpected("\(setback)") }
            #expect(try await ada.elsewhere.items.count == 1)
            #expect(try ada.base(id)?.organizationID != nil, "It is seen now.")
        }
    }

    /// A sync in between has read what somebody has written since.
    @Test(arguments: Personality.Name.allCases)
    func `I1, T-08 a slow answer to what is not recorded does not put base back`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let content = try ada.content(of: id, password("mine"))
            world.wire.interrupt("/api/ciphers/\(id)", isCarriedOut: true) {
                try await ada.elsewhere.edit(id, password("theirs"))
                try await ada.refresh()
            }
            let carried = try await ada.carryOut(.update(content, changesPassword: true), of: id)
            guard case .done(cipherID: id) = carried else { throw Unexpected("\(carried)") }
            #expect(try ada.item(id).login?.password == "theirs")
        }
    }
}
