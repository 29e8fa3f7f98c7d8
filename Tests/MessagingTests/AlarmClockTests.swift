import FoundationEssentials
import System
import TestSupport
import Testing

@testable import Messaging

struct AlarmClockTests {
    /// Runs a clock for as long as the story takes.
    private func play(
        seed: UInt64,
        _ story: @escaping @Sendable (AlarmClock, SeededExecutor) async throws -> Void
    ) throws {
        try SeededExecutor.run(seed: seed) { executor, time in
            let clock = AlarmClock(timekeeper: time)
            try await withThrowingDiscardingTaskGroup { tasks in
                tasks.addTask { await clock.run() }
                try await story(clock, executor)
                clock.close()
            }
        }
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `every alarm rings once, at its moment, in whatever order they were set`(
        seed: UInt64
    ) throws {
        let rung = Journal<String>()
        try play(seed: seed) { clock, executor in
            let time = executor.time
            for seconds in [5, 1, 3, 2, 4, 1, 60] {
                clock.set(for: .seconds(seconds)) {
                    rung.note("\(seconds) at \(time.elapsed / .seconds(1))")
                }
                if seconds.isMultiple(of: 2) { await executor.dawdle() }
            }
            try await time.sleep(for: .seconds(61))
        }
        let expected = [1, 1, 2, 3, 4, 5, 60].map { "\($0) at \(Double($0))" }
        #expect(rung.entries == expected, "seed \(seed)")
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `one that was cancelled does not ring, and holds nothing any more`(seed: UInt64) throws {
        let rung = Journal<String>()
        try play(seed: seed) { clock, executor in
            weak var held: Journal<String>?
            let first = {
                let ear = Journal<String>()
                held = ear
                return clock.set(for: .seconds(1)) { ear.note("never") }
            }()
            clock.set(for: .seconds(2)) { rung.note("second") }
            #expect(held != nil)
            clock.cancel(first)
            clock.cancel(first)
            #expect(held == nil)
            try await executor.time.sleep(for: .seconds(3))
        }
        #expect(rung.entries == ["second"], "seed \(seed)")
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `a bell may set another alarm, and one without a wait rings without one`(
        seed: UInt64
    ) throws {
        let rung = Journal<String>()
        try play(seed: seed) { clock, executor in
            let time = executor.time
            clock.set(for: .seconds(-1)) {
                rung.note("now at \(time.elapsed / .seconds(1))")
                clock.set(for: .seconds(1)) { rung.note("then at \(time.elapsed / .seconds(1))") }
            }
            try await time.sleep(for: .seconds(2))
        }
        #expect(rung.entries == ["now at 0.0", "then at 1.0"], "seed \(seed)")
    }

    @Test func `for a thousand that wait at the same time, one sleeps`() throws {
        let rung = Journal<String>()
        let most = try SeededExecutor.run(seed: 1) { _, time in
            let bed = Bed(time)
            let clock = AlarmClock(timekeeper: bed)
            try await withThrowingDiscardingTaskGroup { tasks in
                tasks.addTask { await clock.run() }
                for number in 1...1_000 { clock.set(for: .seconds(number)) { rung.note("") } }
                try await time.sleep(for: .seconds(1_001))
                clock.close()
            }
            return bed.sleepers.withLock(\.most)
        }
        #expect(rung.entries.count == 1_000)
        #expect(most == 1)
    }

    @Test func `a clock that has ended holds nobody, and nobody new`() throws {
        try SeededExecutor.run(seed: 1) { _, time in
            let clock = AlarmClock(timekeeper: time)
            weak var held: Journal<String>?
            func set() {
                let ear = Journal<String>()
                held = ear
                clock.set(for: .seconds(1)) { ear.note("never") }
            }
            set()
            #expect(held != nil)
            clock.close()
            await clock.run()
            #expect(held == nil)
            set()
            #expect(held == nil)
        }
    }

    @Test func `what was set before the clock runs rings when it does`() throws {
        let rung = Journal<String>()
        try SeededExecutor.run(seed: 1) { _, time in
            let clock = AlarmClock(timekeeper: time)
            clock.set(for: .seconds(1)) { rung.note("late") }
            try await time.sleep(for: .seconds(5))
            try await withThrowingDiscardingTaskGroup { tasks in
                tasks.addTask { await clock.run() }
                try await time.sleep(for: .seconds(1))
                clock.close()
            }
        }
        #expect(rung.entries == ["late"])
    }
}

/// Counts who sleeps.
private final class Bed: Timekeeper {
    private let time: VirtualTimekeeper
    let sleepers = Lock((now: 0, most: 0))

    init(_ time: VirtualTimekeeper) { self.time = time }

    var now: Date { time.now }
    var elapsed: Duration { time.elapsed }

    func sleep(for duration: Duration) async throws(CancellationError) {
        sleepers.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        defer { sleepers.withLock { $0.now -= 1 } }
        try await time.sleep(for: duration)
    }
}
