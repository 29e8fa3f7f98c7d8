import MeshSupport
import Sync
import Testing
import Vault

/// A person keeps what waits as a copy, while the world goes on.
@Suite(.timeLimit(.minutes(2))) struct KeepingCopiesTests {
    private static func open(
        _ story: @Sendable (World, Person, Home, String) async throws -> Void
    ) async throws {
        try await World.open { world in
            let ada = try await world.person()
            let id = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            try await ada.edit(id, password("waiting"))
            try await story(world, ada, try await ada.home(), id)
        }
    }

    @Test func `I1, T-02 what is edited while a copy is made stays pending`() async throws {
        try await Self.open { world, ada, home, id in
            let change = try #require(try ada.change(id)).id
            world.wire.interrupt("/ciphers") {
                try await home.loseNetwork()
                let written = try await home.update(id, password("meanwhile"))
                guard case .queued = written.disposition else {
                    throw Unexpected("\(written.disposition)")
                }
            }
            #expect(try await home.saveCopy(change) != nil)
            let kept = try #require(try ada.change(id))
            #expect(kept.id == change)
            #expect(try ada.item(id).login?.password == "meanwhile")
            try await ada.run(.all)
            let passwords = try await ada.elsewhere.passwords
            #expect(passwords.sorted() == ["meanwhile", "waiting"])
        }
    }

    @Test func `of a change that was kept as a copy nothing is left`() async throws {
        try await Self.open { world, ada, home, id in
            let change = try #require(try ada.change(id)).id
            #expect(try await home.saveCopy(change) != nil)
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.item(id).login?.password == "first")
        }
    }

    @Test func `T-04 the id of an item that was never sent leads to the copy that it became`()
        async throws
    {
        try await Self.open { world, ada, home, _ in
            try await home.loseNetwork()
            let made = try await ada.add(mail)
            let change = try #require(try ada.change(made)).id
            let copyID = try #require(try await home.saveCopy(change)).value
            #expect(try await home.view(made)?.item.id == copyID)
            try await ada.run(.all)
            let id = try #require(try ada.base(copyID)).lane.cipherID
            #expect(id != copyID)
            #expect(try await home.view(made)?.item.id == id)
        }
    }

    @Test(arguments: [false, true])
    func `a copy is made and its change gone, though somebody locks the vault on its way`(
        isCarriedOut: Bool
    ) async throws {
        try await Self.open { world, ada, home, id in
            let change = try #require(try ada.change(id)).id
            world.wire.interrupt("/ciphers", isCarriedOut: isCarriedOut) { ada.keys.lock() }
            let copyID = try #require(try await home.saveCopy(change)).value
            #expect(try await ada.elsewhere.item(copyID).login?.password == "waiting")
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.items.count == 2)
        }
    }

    @Test func `who asks for a copy twice at once gets one`() async throws {
        try await Self.open { world, ada, home, id in
            let change = try #require(try ada.change(id)).id
            async let first = home.saveCopy(change)
            async let second = home.saveCopy(change)
            let copies = try await [first, second].compactMap(\.self)
            #expect(copies.count == 1)
            #expect(try await ada.elsewhere.items.count == 2)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `N10 the receipt of what was kept as a copy names the copy`() async throws {
        try await Self.open { world, ada, home, id in
            let edit = try await ada.edit(id, password("more"))
            let receiptID = try #require(edit.receiptID)
            let copy = try await home.saveCopy(edit.change.id)
            let receipt = try world.store.reader.receipt(receiptID, of: ada.userID)
            #expect(receipt?.status == .backedUp)
            #expect(receipt?.backupCipherID == copy?.value)
            #expect(receipt?.sent == nil, "The change itself went nowhere.")
        }
    }

    @Test func `what is on its way is not discarded, and who wants that hears that it is gone`()
        async throws
    {
        try await Self.open { world, ada, home, id in
            let change = try #require(try ada.change(id)).id
            let (asked, ask) = AsyncStream.makeStream(of: Bool.self)
            world.wire.interrupt(id) {
                Task {
                    ask.yield(try await home.discard(change))
                    ask.finish()
                }
                for _ in 0..<100 { await Task.yield() }
            }
            try await ada.run(.all)
            var answers: [Bool] = []
            for await answer in asked { answers.append(answer) }
            #expect(answers == [false])
            #expect(try await ada.elsewhere.item(id).login?.password == "waiting")
        }
    }
}
