import System
import TestSupport
import Testing

@testable import Sync

struct RunTurnsTests {
    @Test(arguments: [(0, 48), (1, 48), (2, 24), (5, 9), (16, 4), (800, 4)])
    func `the more runs are under way, the less each tries side by side`(
        _ runs: Int,
        _ lanes: Int
    ) async {
        let count = RunTurns()
        for _ in 0..<runs { await count.begin(isInsistent: true) }
        #expect(count.lanes == lanes)
        for _ in 0..<runs { count.end() }
        #expect(count.lanes == 48)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `so many have their turn at once, the others in the order of their coming`(
        _ seed: UInt64
    ) throws {
        try SeededExecutor.run(seed: seed) { _, time in
            let (count, order) = (RunTurns(), Order())
            for _ in 0..<RunTurns.mostAtOnce { await count.begin(isInsistent: false) }
            await withTaskGroup(of: Void.self) { runs in
                for number in 0..<5 {
                    runs.addTask {
                        await count.begin(isInsistent: false)
                        order.note(number)
                        count.end()
                    }
                    try? await time.sleep(for: .seconds(1))
                }
                #expect(order.numbers.isEmpty)
                // Somebody waits for the answer to this one.
                await count.begin(isInsistent: true)
                count.end()
                #expect(order.numbers.isEmpty)
                // Whoever has had a turn makes room for the next.
                count.end()
                try? await time.sleep(for: .seconds(1))
                #expect(order.numbers == Array(0..<5))
                for _ in 1..<RunTurns.mostAtOnce { count.end() }
            }
            #expect(count.lanes == 48)
        }
    }
}

private final class Order: Sendable {
    private let list = Lock<[Int]>([])

    var numbers: [Int] { list.withLock { $0 } }
    func note(_ number: Int) { list.withLock { $0.append(number) } }
}
