import MeshSupport
import Messaging
import Sync
import Testing
import Vault

/// The scheduler with the real resolver, against an upstream that holds everybody to the rules.
@Suite(.timeLimit(.minutes(2))) struct WholeRoadTests {
    static func scheduler(_ world: World, _ person: Person) async throws -> SyncScheduler {
        let monitor = NetworkMonitor(
            upstream: "http://localhost",
            probe: { .unreachable },
            surroundings: world.surroundings
        )
        let scheduler = SyncScheduler(
            userID: person.userID,
            store: world.pendingStore.address,
            reader: world.store.reader,
            resolver: person.resolver.address,
            upstream: person.upstream,
            keys: person.keys,
            switches: SwitchBoard(offlineChanges: .on, resolution: .on),
            monitor: monitor,
            policy: SyncPolicy(),
            surroundings: world.surroundings
        )
        try await world.start(monitor)
        try await world.start(scheduler)
        return scheduler
    }

    @Test func `an edit made offline goes up with the next sync, and that one shows it`()
        async throws
    {
        try await ResolvingRowsTests.open { world, ada, id in
            let edit = try await ada.edit(id, ResolvingRowsTests.password("second"))
            let receipt = try #require(edit.receiptID)
            let news = try await ada.elsewhere.add(ResolvingRowsTests.mail)
            world.wire.isCut = true
            let scheduler = try await Self.scheduler(world, ada)

            let cut = try await scheduler.address.ask { .sync(isFull: false, $0) }
            #expect(cut.outcome == .deferred)
            #expect(try ada.base(news) == nil)
            #expect(try ada.changes.count == 1)

            world.wire.isCut = false
            let report = try await scheduler.address.ask { .sync(isFull: false, $0) }
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
        try await ResolvingRowsTests.open { world, ada, id in
            _ = try await ada.elsewhere.add(ResolvingRowsTests.mail)
            try await ada.refresh()
            let recorded = try await ada.wish(.hardDelete, id).made
            let receipt = try #require(recorded.receiptID)
            let scheduler = try await Self.scheduler(world, ada)
            let report = try await scheduler.address.ask { .sync(isFull: true, $0) }
            #expect(report.outcome == .completed, "\(report)")
            let kept = try world.store.reader.receipt(receipt, of: ada.userID)
            #expect(kept?.status == .observed)
        }
    }
}
