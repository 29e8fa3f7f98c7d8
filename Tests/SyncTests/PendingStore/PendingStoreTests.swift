import Messaging
import Testing
import Vault

@testable import Sync

@Suite struct PendingStoreTests {
    @Test func `edits that are asked together are all answered and all there`() async throws {
        let shelf = try await Shelf()
        let service = PendingStore(shelf.store) { _ in }
        let address = service.address
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await service.run() }
            try await withThrowingTaskGroup(of: Void.self) { callers in
                for number in 0..<300 {
                    callers.addTask {
                        let edit = Edit(.add(Shelf.snapshot("\(number)")), at: Shelf.moment(1))
                        let lane = Shelf.lane("made-\(number)")
                        _ = try await address.ask {
                            .change(.record(edit, in: lane, as: .queued, expecting: nil, $0))
                        }.get().made
                    }
                }
                try await callers.waitForAll()
            }
            service.close()
            try await group.waitForAll()
        }
        #expect(try shelf.changes().count == 300)
    }

    @Test func `an error of the store is the answer`() async throws {
        var limits = Store.Limits()
        limits.changes = 0
        let shelf = try await Shelf(limits: limits)
        let service = PendingStore(shelf.store) { _ in }
        let edit = Edit(.add(Shelf.snapshot("x")), at: Shelf.moment(1))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await service.run() }
            await #expect(throws: StoreError.queueFull(limit: 0)) {
                try await service.address.ask {
                    .change(.record(edit, in: Shelf.lane("x"), as: .queued, expecting: nil, $0))
                }.get()
            }
            service.close()
        }
    }
}
