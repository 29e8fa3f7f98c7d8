import FoundationEssentials
@testable import LoadTest
import System
import Testing

/// Who looks now and then, and what may be said of the time in between.
struct WatchTests {
    @Test func `what goes between two looks took no longer than from the one to the other`() {
        var watch = DrainWatch(100, at: .seconds(10))
        watch.note(100, at: .seconds(11))
        watch.note(0, at: .seconds(12))
        #expect(watch.drain.perSecond == 100)
        #expect(watch.drain.seconds == 1)
        #expect(watch.drain.secondsUntilFirst == 1)
        #expect(watch.drain.secondsUntilLast == 1)
    }

    @Test func `a drain begins at the last look at which nothing had gone`() {
        var watch = DrainWatch(100, at: .seconds(10))
        watch.note(100, at: .seconds(11))
        watch.note(60, at: .seconds(12))
        watch.note(4, at: .seconds(15))
        watch.note(0, at: .seconds(20))
        #expect(watch.drain.secondsUntilFirst == 1)
        #expect(watch.drain.seconds == 4)
        #expect(watch.drain.perSecond == 24)
        #expect(watch.drain.secondsUntilLast == 9)
    }

    @Test func `of several rounds only those count for the rate that were measured`() {
        let measured = LoadReport.Drain(changes: 100, seconds: 4, gone: 96)
        let sum = LoadReport.Drain(changes: 10, removals: 2).adding(measured)
        #expect(sum.changes == 110)
        #expect(sum.removals == 2)
        #expect(sum.perSecond == 24)
    }

    @Test func `what hosts have counted that were killed is added up`() {
        let name = "holdfast_resolutions_total"
        let pages = [("pushed", 3), ("deleted", 2), ("pushed", 4)].map { outcome, count in
            MetricsPage("\(name){type=\"update\",outcome=\"\(outcome)\"} \(count)\n")
        }
        #expect(pages.sums(name, by: "outcome") == ["pushed": 7, "deleted": 2])
    }

    @Test func `what is no number, or too large for one, is not counted`() {
        let values = ["NaN", "+Inf", "-Inf", "1e300", "7"]
        let page = MetricsPage(values.map { "memory{of=\"\($0)\"} \($0)\n" }.joined())
        #expect(page.sum("memory") == 7)
        #expect(page.sums("memory", by: "of") == ["7": 7])
    }

    @Test func `nobody is held back where there is nothing to wait for any more`() async {
        let barrier = Barrier(SystemTimekeeper())
        barrier.close()
        barrier.giveUp()
        #expect(!barrier.isClosed)
        await #expect(throws: CancellationError.self) { try await barrier.pass() }
    }

    @Test func `a look that takes long makes nobody faster`() async {
        let (meter, time) = (Meter(), Strides(sleeps: 2))
        let sampler = Sampler(
            meter,
            nil,
            every: .seconds(1),
            since: .zero,
            time,
            memory: {
                // While the host stands still nine edits are answered.
                time.pass(.seconds(9))
                for _ in 0..<9 {
                    meter.note(.init(outcome: .acknowledged), of: .update, after: .zero)
                }
                return nil
            },
            narrate: { _ in }
        )
        await sampler.run()
        #expect(sampler.samples.map(\.seconds) == [1, 11])
        #expect(sampler.samples.map(\.acceptedPerSecond) == [0, 0.9])
    }
}

/// Time that passes when somebody sleeps, a few times, or says so.
private final class Strides: Timekeeper {
    private let state: Lock<(elapsed: Duration, sleeps: Int)>

    init(sleeps: Int) {
        state = Lock((elapsed: .zero, sleeps: sleeps))
    }

    var now: Date { Date(timeIntervalSince1970: 0) }
    var elapsed: Duration { state.withLock { $0.elapsed } }
    func pass(_ duration: Duration) { state.withLock { $0.elapsed += duration } }

    func sleep(for duration: Duration) async throws(CancellationError) {
        let isOver = state.withLock { state in
            state.sleeps -= 1
            return state.sleeps < 0
        }
        if isOver { throw CancellationError() }
        pass(duration)
    }
}
