import FoundationEssentials
import MeshSupport
import Messaging
import System
import Testing

@testable import Sync

@Suite struct LedgerTests {
    /// A clock on which every wait is over at once.
    private struct Hasty: Timekeeper {
        var now: Date { WorldTime().now }
        var elapsed: Duration { .zero }
        func sleep(for duration: Duration) async throws(CancellationError) {}
    }

    private static let full = StoreError.system(SystemError("write", code: 28))

    /// A store that refuses so often before it does as it is told.
    private static func play(
        refusals: Int,
        cancelled: Bool = false
    ) async -> (asked: Int, error: StoreError?) {
        let mailbox = Mailbox<PendingStore.Message>(name: "store")
        let ledger = Ledger(store: mailbox.address, timekeeper: Hasty())
        return await withTaskGroup(of: StoreError?.self) { tasks in
            if cancelled { tasks.cancelAll() }
            tasks.addTask {
                defer { mailbox.close() }
                do throws(StoreError) {
                    try await ledger.insist {
                        .base(.remove(Lane(userID: "u", cipherID: "c"), $0))
                    }
                    return nil
                } catch {
                    return error
                }
            }
            var asked = 0
            for await case .base(.remove(_, let reply)) in mailbox {
                asked += 1
                reply.answer(asked <= refusals ? .failure(full) : .success(()))
            }
            return (asked, await tasks.next() ?? nil)
        }
    }

    @Test func `G-P2T3 what upstream has done is written down although the disk refuses at first`()
        async
    {
        let (asked, error) = await Self.play(refusals: 2)
        #expect(asked == 3 && error == nil)
    }

    @Test func `G-P2T3 a disk that refuses for good is given up on`() async {
        let (asked, error) = await Self.play(refusals: .max)
        #expect(asked == 4 && error == Self.full)
    }

    @Test func `T-74 what upstream has done is written down in spite of cancellation`() async {
        let (asked, error) = await Self.play(refusals: 0, cancelled: true)
        #expect(asked == 1 && error == nil)
    }
}
