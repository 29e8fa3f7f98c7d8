import MeshSupport
import Messaging
import Sync
import Testing
import Vault

/// The scheduler with the real resolver, against an upstream that holds everybody to the rules.
@Suite(.timeLimit(.minutes(2))) struct WholeRoadTests {
    @Test func `an edit made offline goes up with the next sync, and that one shows it`()
        async throws
    {
        try await withLogin { world, ada, id in
            let edit = try await ada.edit(id, password("second"))
            let receipt = try #require(edit.receiptID)
            let news = try await ada.elsewhere.add(mail)
            world.wire.isCut = true
            let scheduler = try await ada.scheduler()

            let cut = try await scheduler.sync(isFull: false)
            #expect(cut.outcome == .deferred)
            #expect(try ada.base(news) == nil)
            #expect(try ada.changes.count == 1)

            world.wire.isCut = false
            let report = try await scheduler.sync(isFull: false)
            #expect(report.outcome == .completed, "\(report)")
            #expect(try ada.changes.isEmpty)
            #expect(try ada.base(news) != nil)
            let kept = try world.store.reader.receipt(receipt, of: ada.userID)
            #expect(kept?.status == .observed)
        }
    }

    @Test func `a deletion made offline is observed once upstream shows the item no more`()
        async throws
    {
        try await withLogin { world, ada, id in
            _ = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let recorded = try await ada.wish(.hardDelete, id).made
            let receipt = try #require(recorded.receiptID)
            let scheduler = try await ada.scheduler()
            let report = try await scheduler.sync()
            #expect(report.outcome == .completed, "\(report)")
            let kept = try world.store.reader.receipt(receipt, of: ada.userID)
            #expect(kept?.status == .observed)
        }
    }
}
