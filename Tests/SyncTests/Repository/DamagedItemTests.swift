import MeshSupport
import Messaging
import SQLite
import Testing
import Vault

@testable import Sync

/// One item that the disk has not kept is in nobody's way.
@Suite(.timeLimit(.minutes(2))) struct DamagedItemTests {
    private static func damage(_ id: String, _ world: World) async throws {
        try await world.store.database.execute(
            "UPDATE base_cipher SET json = x'7b7d' WHERE cipher_id = ?",
            .text(id)
        )
    }

    @Test func `rows 114 to 117, T-69, G-VI1: one damaged item among many is shown as that`()
        async throws
    {
        try await atHome { world, home, id in
            for number in 0..<20 {
                try await home.person.elsewhere.add(
                    #"{"type":1,"name":"item \#(number)","login":{"password":"p"}}"#
                )
            }
            try await home.person.refresh()
            try await Self.damage(id, world)
            let list = try await home.list
            #expect(list.count == 21)
            #expect(list.count { !$0.item.flaws.isEmpty } == 1)
            let shown = try #require(try await home.view(id))
            #expect(shown.item.id == id && shown.item.login == nil && !shown.item.flaws.isEmpty)
            // Whoever looks has it fetched anew.
            let mail = home.schedulerMail
            mail.close()
            var triggers: [SyncScheduler.Trigger] = []
            for await message in mail {
                if case .trigger(let trigger) = message { triggers.append(trigger) }
            }
            #expect(triggers.contains(.baseDamaged))
            try await home.person.refresh()
            #expect(try await home.view(id)?.item.login?.password == "first")
        }
    }

    @Test func `T-69 a damaged item takes no edit, and says why`() async throws {
        try await atHome { world, home, id in
            try await Self.damage(id, world)
            let refusal = try await refusal { try await home.edit(.trash(id)) }
            #expect(refusal != nil)
            #expect(try home.person.changes.isEmpty)
        }
    }
}
