import System
import TestSupport
import Testing

@testable import Sync

struct RunTurnsTests {
    @Test(arguments: [(0, 48), (1, 48), (2, 24), (5, 9), (16, 4), (800, 4)])
    func `the more runs are under way, the less each tries side by side`(
        _ runs: Int,
        _ workers: Int
    ) {
        let count = RunTurns()
        for _ in 0..<runs { count.join() }
        #expect(count.workers == workers)
        for _ in 0..<runs { count.leave() }
        #expect(count.workers == 48)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `so many have their turn at once, the others in the order of their coming`(
        _ seed: UInt64
    ) throws {
        try SeededExecutor.run(seed: seed) { _, time in
            let (count, order) = (RunTurns(), Order())
            var places: [RunTurns.Place] = []
            for number in 0..<RunTurns.mostAtOnce {
                places.append(await count.begin("early \(number)", isInsistent: false))
            }
            await withTaskGroup(of: Void.self) { runs in
                for number in 0..<5 {
                    runs.addTask {
                        let place = await count.begin("late \(number)", isInsistent: false)
                        order.note(number)
                        count.end(place)
                    }
                    try? await time.sleep(for: .seconds(1))
                }
                #expect(order.numbers.isEmpty)
                // Somebody waits for the answer to these; they take nobody's place, and give none.
                for _ in 0..<100 { count.end(await count.begin("ada", isInsistent: true)) }
                #expect(order.numbers.isEmpty)
                // Somebody asks for what stands in line.
                #expect(count.hurry("late 3"))
                #expect(!count.hurry("late 3") && !count.hurry("nobody"))
                try? await time.sleep(for: .seconds(1))
                #expect(order.numbers == [3])
                // Whoever has had a turn makes room for the next.
                count.end(places.removeLast())
                try? await time.sleep(for: .seconds(1))
                #expect(order.numbers == [3, 0, 1, 2, 4])
                for place in places { count.end(place) }
            }
            let place = await count.begin("grace", isInsistent: false)
            #expect(place == .counted)
            count.end(place)
        }
    }

    @Test func `those that somebody waits for do not keep the others in line`() throws {
        try SeededExecutor.run(seed: 1) { _, time in
            let (count, order) = (RunTurns(), Order())
            for number in 0..<RunTurns.mostAtOnce * 2 {
                _ = await count.begin("asked for \(number)", isInsistent: true)
            }
            count.end(await count.begin("patient", isInsistent: false))
            order.note(1)
            #expect(order.numbers == [1])
        }
    }
}

private final class Order: Sendable {
    private let list = Lock<[Int]>([])

    var numbers: [Int] { list.withLock { $0 } }
    func note(_ number: Int) { list.withLock { $0.append(number) } }
}
