import FoundationEssentials
import System
import TestSupport
import Testing

struct VirtualTimekeeperTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `sleepers wake in the order of their alarms`(seed: UInt64) throws {
        let journal = Journal<Int>()
        try SeededExecutor.run(seed: seed) { _, time in
            try await withThrowingDiscardingTaskGroup { group in
                for hours in [5, 1, 4, 2, 3] {
                    group.addTask {
                        try await time.sleep(for: .seconds(hours * 3600))
                        #expect(time.elapsed == .seconds(hours * 3600))
                        journal.note(hours)
                    }
                }
            }
        }
        #expect(journal.entries == [1, 2, 3, 4, 5])
    }

    @Test func `time stands still while there is something to do`() throws {
        try SeededExecutor.run(seed: 1) { _, time in
            for _ in 0..<100 { await Task.yield() }
            #expect(time.elapsed == .zero)
        }
    }

    @Test func `the calendar goes with the time that passes`() throws {
        try SeededExecutor.run(seed: 1) { _, time in
            let before = time.now
            try await time.sleep(for: .seconds(90))
            #expect(time.now.timeIntervalSince(before) == 90)
        }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `a sleeper that is cancelled wakes at once`(seed: UInt64) throws {
        let elapsed = try SeededExecutor.run(seed: seed) { _, time in
            await withTaskGroup { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) {
                        try await time.sleep(for: .seconds(3600))
                    }
                }
                await Task.yield()
                group.cancelAll()
            }
            return time.elapsed
        }
        #expect(elapsed == .zero, "seed \(seed)")
    }
}
