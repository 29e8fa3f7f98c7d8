import EmbeddedUpstream
import MeshSupport
import Messaging
import SQLite
import Testing
import Vault

@testable import Sync

/// The disk takes an edit down, and nothing of what comes of it.
@Suite(.timeLimit(.minutes(2))) struct UnsettledTests {
    private static func isUnsettled(_ refusal: Repository.Refusal?) -> Bool {
        if case .unsettled? = refusal { true } else { false }
    }

    @Test func `an edit that is recorded is not told as refused, and goes upstream`() async throws {
        try await atHome { world, home, id in
            world.wire.interrupt("/\(id)") {
                try await world.store.database.execute(
                    """
                    CREATE TRIGGER no_room BEFORE UPDATE ON pending_change
                    BEGIN SELECT RAISE(ABORT, 'no room'); END
                    """
                )
                throw Unexpected("cut")
            }
            let refusal = try await refusal { try await home.update(id, password("second")) }
            #expect(Self.isUnsettled(refusal), "\(String(describing: refusal))")
            #expect(try home.person.changes.count == 1)
            try await world.store.database.execute("DROP TRIGGER no_room")
            try await home.person.run()
            #expect(try home.person.changes.isEmpty)
            #expect(try await home.person.elsewhere.item(id).login?.password == "second")

            home.schedulerMail.close()
            var isQueued = false
            for await message in home.schedulerMail {
                if case .trigger(.queued) = message { isQueued = true }
            }
            #expect(isQueued)
        }
    }

    @Test func `a copy that was made is not told as refused when its change cannot be dropped`()
        async throws
    {
        try await atHome { world, home, id in
            try await home.person.edit(id, password("waiting"))
            let change = try #require(try home.person.change(id)).id
            try await world.store.database.execute(
                """
                CREATE TRIGGER no_room BEFORE DELETE ON pending_change WHEN OLD.seq = 1
                BEGIN SELECT RAISE(ABORT, 'no room'); END
                """
            )
            let refusal = await #expect(throws: Repository.Refusal.self) {
                _ = try await home.saveCopy(change)
            }
            #expect(Self.isUnsettled(refusal), "\(String(describing: refusal))")
            #expect(try home.person.change(id)?.id == change)
            let passwords = try await home.person.elsewhere.items.map { $0.login?.password }
            #expect(Set(passwords) == ["first", "waiting"])
        }
    }

    /// Nothing of it waits, so whoever heard that it is not there, or saw it as it was, would have it done twice.
    @Test func `what is not recorded is shown as upstream has it, also if that is not taken down`()
        async throws
    {
        try await atHome(.bitwarden, .off) { world, home, id in
            try await world.store.database.execute(
                """
                CREATE TRIGGER no_room BEFORE INSERT ON base_cipher
                BEGIN SELECT RAISE(ABORT, 'no room'); END
                """
            )
            let changed = try ItemBody(Array(password("second").utf8))
            #expect(try await home.shownInVain(.update(id, changed)).login?.password == "second")
            let made = try await home.shownInVain(.add(try ItemBody(Array(note.utf8))))
            #expect(made.name == "note" && made.notes == "kept")
            #expect(try await home.list.map(\.item.login?.password) == ["first"])

            try await world.store.database.execute("DROP TRIGGER no_room")
            try await home.person.refresh()
            #expect(try await home.view(#require(made.id))?.item.notes == "kept")
            #expect(try await home.view(id)?.item.login?.password == "second")
            #expect(try await home.person.elsewhere.items.count == 2)
        }
    }
}

extension Home {
    /// What is shown after an edit of which the disk takes nothing down, however often that is tried.
    fileprivate func shownInVain(_ wish: Repository.Wish) async throws -> Item {
        let time = person.world.time
        time.pass(.seconds(10))
        async let written = repository.address.ask { .write(wish, $0) }
        for pause in [Duration.milliseconds(50), .milliseconds(500), .seconds(2)] {
            let moment = time.elapsed + pause
            while !time.hasAlarm(at: moment) { await Task.yield() }
            time.pass(pause)
        }
        return try await written.get().value.item
    }
}
