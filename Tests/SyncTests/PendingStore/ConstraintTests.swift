import Records
import SQLite
import Testing
import Vault

@testable import Sync

/// What the database itself refuses, whoever asks.
@Suite struct ConstraintTests {
    private func refused(_ sql: StaticString) async throws -> Bool {
        let shelf = try await Shelf()
        try await shelf.edit("a")
        do {
            try await shelf.byHand(sql)
            return false
        } catch {
            #expect(error.code?.primary == .constraint, "\(error)")
            #expect(try shelf.changes().count == 1)
            return true
        }
    }

    @Test func `R-003 a second record of the same cipher is refused`() async throws {
        #expect(
            try await refused(
                """
                INSERT INTO pending_change SELECT NULL, '00000000-0000-4000-8000-000000000000',
                    user_id, cipher_id, 1, 'hardDelete', 'ready', 0, 1, 1, NULL, NULL, 0, NULL,
                    NULL, x'00' FROM pending_change
                """
            )
        )
    }

    @Test func `G-RES9 a create or an update without content is refused`() async throws {
        #expect(try await refused("UPDATE pending_change SET snapshot = NULL"))
        #expect(
            try await refused(
                "UPDATE pending_change SET snapshot = NULL, change_type = 'create', baseline_text = NULL, baseline_ticks = NULL"
            )
        )
        #expect(try await refused("UPDATE pending_change SET change_type = 'hardDelete'"))
    }

    @Test func `G-PCDS1, G-PCDS2 nothing that has to be there can be emptied`() async throws {
        #expect(try await refused("UPDATE pending_change SET id = NULL"))
        #expect(try await refused("UPDATE pending_change SET id = 'short'"))
        #expect(try await refused("UPDATE pending_change SET user_id = NULL"))
        #expect(try await refused("UPDATE pending_change SET cipher_id = ''"))
        #expect(try await refused("UPDATE pending_change SET change_type = NULL"))
        #expect(try await refused("UPDATE pending_change SET created_ticks = NULL"))
        #expect(try await refused("UPDATE pending_change SET updated_ticks = NULL"))
        #expect(try await refused("UPDATE pending_change SET updated_ticks = 'soon'"))
        #expect(try await refused("UPDATE pending_change SET record = NULL"))
    }

    @Test func `numbers and states that make no sense are refused`() async throws {
        #expect(try await refused("UPDATE pending_change SET password_changes = -1"))
        #expect(try await refused("UPDATE pending_change SET version = 0"))
        #expect(try await refused("UPDATE pending_change SET state = 'asleep'"))
        #expect(try await refused("UPDATE pending_change SET due_ticks = NULL"))
        #expect(try await refused("UPDATE pending_change SET baseline_ticks = NULL"))
        #expect(try await refused("UPDATE pending_change SET change_type = 'create'"))
    }

    @Test func `a damaged or newer record is kept, told apart and set aside`() async throws {
        let shelf = try await Shelf()
        let recorded = try await shelf.edit("a")
        try await shelf.byHand("UPDATE pending_change SET record = ?", .blob([1, 2, 3]))
        let stored = try #require(try shelf.store.reader.changes(of: Shelf.user).first)
        guard case .damaged = stored.reading else {
            Issue.record("It was read: \(stored.reading)")
            return
        }
        guard case .unreadable = try await shelf.record(.trash, "a") else {
            Issue.record("An edit folded into what cannot be read.")
            return
        }
        let id = recorded.change.id
        #expect(try await shelf.store.quarantineUnreadable(id, expecting: 1))
        #expect(try await !shelf.store.quarantineUnreadable(id, expecting: 1))
        let kept = try #require(try shelf.store.reader.change(id))
        #expect(kept.summary.state == .quarantined)
        #expect(try shelf.store.reader.tally().map(\.state) == [.quarantined])
    }
}
