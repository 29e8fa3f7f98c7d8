import Glibc
import System
import TestSupport
import Testing

@testable import Messaging

struct SeededExecutorTests {
    @Test func `the same seed gives the same history`() throws {
        let (first, firstOrder) = try history(seed: 7)
        let (second, secondOrder) = try history(seed: 7)
        #expect(first == second)
        #expect(firstOrder == secondOrder)
    }

    @Test func `other seeds give other histories`() throws {
        let all = try (0..<50).map { try history(seed: $0) }
        #expect(Set(all.map(\.0)).count == 50)
        #expect(Set(all.map(\.1)).count > 40, "The order of events should differ, too.")
    }

    @Test func `another process sees the same history`() async throws {
        let here = try history(seed: 7).0
        await #expect(processExitsWith: .success) { [here = here as UInt64] in
            let there = try history(seed: 7).0
            exit(here == there ? EXIT_SUCCESS : EXIT_FAILURE)
        }
        await #expect(processExitsWith: .failure) { [here = here as UInt64] in
            let there = try history(seed: 8).0
            exit(here == there ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test func `what the body returns or throws comes out`() throws {
        struct Mishap: Error {}
        #expect(try SeededExecutor.run(seed: 1) { _, _ in 42 } == 42)
        #expect(throws: Mishap.self) {
            try SeededExecutor.run(seed: 1) { _, _ in throw Mishap() }
        }
    }

    @Test func `a deadlock is told, and who can be cancelled is not left lying`() throws {
        let journal = Journal<String>()
        let failure = #expect(throws: SimulationFailure.self) {
            try SeededExecutor.run(seed: 3) { _, _ in
                let mailbox = Mailbox<Int>(name: "silent")
                for await _ in mailbox {}
                journal.note("unwound")
            }
        }
        #expect(failure?.reason == .stuck)
        #expect(failure?.description.contains("Seed 3") == true)
        #expect(journal.entries == ["unwound"])
    }

    @Test func `a body that runs forever is stopped, and unwound if it can be cancelled`() throws {
        let executor = SeededExecutor(seed: 1, jobLimit: 1000)
        let journal = Journal<String>()
        let failure = #expect(throws: SimulationFailure.self) {
            try executor.run { _, _ in
                while !Task.isCancelled { await Task.yield() }
                journal.note("unwound")
            }
        }
        #expect(failure?.reason == .endless)
        #expect(journal.entries == ["unwound"])
    }

    @Test func `a body for which no time passes is stopped long before one that only takes long`()
        throws
    {
        func fail(_ body: @escaping @Sendable (VirtualTimekeeper) async throws -> Void) -> Int? {
            let executor = SeededExecutor(seed: 1, jobLimit: 100_000, momentLimit: 1_000)
            let failure = #expect(throws: SimulationFailure.self) {
                try executor.run { _, time in try await body(time) }
            }
            #expect(failure?.reason == .endless)
            return failure?.jobCount
        }
        let still = fail { _ in while !Task.isCancelled { await Task.yield() } }
        let slow = fail { time in while true { try await time.sleep(for: .microseconds(1)) } }
        #expect((still ?? .max) < 3_000 && (slow ?? 0) >= 100_000)
    }

    @Test func `a job from another thread is told`() throws {
        let failure = #expect(throws: SimulationFailure.self) {
            try SeededExecutor.run(seed: 1) { _, _ in
                let sleepers = Journal<UnsafeContinuation<Void, Never>>()
                await withDiscardingTaskGroup { group in
                    group.addTask { await withUnsafeContinuation { sleepers.note($0) } }
                    group.addTask {
                        while sleepers.entries.isEmpty { await Task.yield() }
                        Thread.start(name: "stray") { sleepers.entries.first?.resume() }.join()
                    }
                }
            }
        }
        #expect(failure?.reason == .strayJob)
    }

    /// The optimiser leaves out what is not needed.
    @Test func `how often a task goes to an actor and back is no matter of chance`() throws {
        func story(hops: Int) throws -> (UInt64, [Int]) {
            let executor = SeededExecutor(seed: 7)
            let order = try executor.run { executor, _ in
                let (plain, own) = (PlainCounter(), OwnCounter(executor: executor))
                let journal = Journal<Int>()
                await withDiscardingTaskGroup { group in
                    for number in 0..<20 {
                        group.addTask {
                            for _ in 0..<hops {
                                await plain.increment()
                                await own.increment()
                            }
                            await Task.yield()
                            journal.note(number)
                        }
                    }
                }
                return journal.entries
            }
            return (executor.history, order)
        }
        let (one, oneOrder) = try story(hops: 1)
        let (many, manyOrder) = try story(hops: 9)
        #expect(one == many && oneOrder == manyOrder)
        #expect(oneOrder != Array(0..<20))
    }

    @Test func `default actors and actors with this executor run on it`() throws {
        let count = try SeededExecutor.run(seed: 5) { executor, _ in
            let plain = PlainCounter()
            let own = OwnCounter(executor: executor)
            await withDiscardingTaskGroup { group in
                for _ in 0..<100 {
                    group.addTask {
                        await plain.increment()
                        await own.increment()
                    }
                }
            }
            return await (plain.count, own.count)
        }
        #expect(count == (100, 100))
    }
}

private func history(seed: UInt64) throws -> (UInt64, [String]) {
    let executor = SeededExecutor(seed: seed)
    let order = try executor.run(story)
    return (executor.history, order)
}

/// A service, three producers who dawdle, and what was read in which order.
private func story(executor: SeededExecutor, time: VirtualTimekeeper) async throws -> [String] {
    let mailbox = Mailbox<String>(name: "story", capacity: 2)
    let address = mailbox.address
    return try await withThrowingTaskGroup { group in
        for name in ["a", "b", "c"] {
            group.addTask {
                for number in 0..<5 {
                    try await time.sleep(for: .milliseconds(executor.chance.number(in: 0..<3)))
                    try await address.tell("\(name)\(number)")
                }
            }
        }
        var order: [String] = []
        for await message in mailbox {
            order.append(message)
            await Task.yield()
            if order.count == 15 { break }
        }
        try await group.waitForAll()
        return order
    }
}

private actor PlainCounter {
    private(set) var count = 0
    func increment() { count += 1 }
}

private actor OwnCounter {
    private let executor: SeededExecutor
    private(set) var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(executor: SeededExecutor) {
        self.executor = executor
    }

    func increment() {
        assumeIsolated { $0.count += 1 }
    }
}
