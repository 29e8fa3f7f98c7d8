import TestSupport
import Testing
import Vault

@testable import Sync

/// What a run makes of failures that are nobody's own: G-R3 and what belongs to it.
@Suite(.timeLimit(.minutes(2))) struct SetbackTests {
    private func throttle(_ stage: Stage, for seconds: Int) {
        let time = stage.time
        stage.upstream.edit {
            $0.failure = { _, at in
                at < .seconds(seconds)
                    ? .throttled(until: Moment(time.now) + (.seconds(seconds) - at)) : nil
            }
        }
    }

    @Test(arguments: 1...10)
    func `G-R3, T-43 after "Retry-After: 37" the first request goes out at exactly 37 s`(
        _ seed: UInt64
    ) throws {
        try Stage.play(seed: seed) { stage in
            try await stage.edit()
            throttle(stage, for: 37)
            #expect(try await stage.sync().outcome == .deferred)
            for trigger in SyncScheduler.Trigger.allCases where trigger != .moved {
                try await stage.trigger(trigger)
            }
            try await stage.pass(.seconds(60))
            #expect(stage.upstream.calls.map(\.at) == [.zero, .seconds(37), .seconds(37)])
            #expect(stage.upstream.names == ["push", "push", "fetch"])
            #expect(try stage.live == 0)
            let scheduled = "holdfast_retries_scheduled_total{cause=\"rateLimited\"}"
            #expect(await stage.figure(scheduled) == 1)
        }
    }

    @Test func `T-43 a restart does not make it earlier, and who insists does not either`() throws {
        try Stage.play { stage in
            try await stage.edit()
            throttle(stage, for: 37)
            try await stage.sync()
            try await stage.pass(.seconds(10))
            try await stage.restart()
            let backoff = stage.backoff
            #expect(backoff?.retry == Moment(stage.time.now) + .seconds(27))
            #expect(backoff?.longest == .seconds(37))
            let report = try await stage.sync()
            #expect(report.outcome == .deferred)
            #expect(report.setback?.failureClass == .batch)
            let id = try #require(try stage.store.reader.changes(of: Shelf.user).first?.summary.id)
            #expect(try await stage.retry(id).outcome == .deferred)
            #expect(stage.upstream.calls.count == 1)
            try await stage.pass(.seconds(60))
            #expect(stage.upstream.calls.map(\.at) == [.zero, .seconds(37), .seconds(37)])
        }
    }

    @Test
    func `who insists while upstream wants to be left alone and nothing is pending is told why`()
        throws
    {
        try Stage.play { stage in
            throttle(stage, for: 37)
            #expect(try await stage.sync().outcome == .failed)
            let report = try await stage.sync()
            #expect(report.outcome == .failed)
            guard case .throttled(let until, _) = report.setback?.reason else {
                Issue.record("\(report)")
                return
            }
            #expect(until - Moment(stage.time.now) == .seconds(37))
            #expect(stage.upstream.calls.count == 1)
        }
    }

    @Test func `what a server has asked for is not asked for by the one that the account moves to`()
        throws
    {
        try Stage.play { stage in
            try await stage.edit()
            throttle(stage, for: 3_000)
            try await stage.sync()
            stage.upstream.edit { $0.failure = { _, _ in nil } }
            try await stage.trigger(.moved)
            try await stage.pass(.milliseconds(1))
            #expect(try stage.live == 0)
            #expect(stage.backoff == nil && stage.scheduler.plan.heldUntil == nil)
        }
    }

    @Test func `upstream's wish to be left alone is heeded for an hour at most`() throws {
        try Stage.play { stage in
            throttle(stage, for: 7_200)
            try await stage.sync()
            try await stage.pass(.seconds(3_700))
            #expect(stage.upstream.calls.map(\.at) == [.zero, .seconds(3_600)])
        }
    }

    @Test(arguments: 1...5)
    func `failures put the next run off longer and longer, half of it by chance`(
        _ seed: UInt64
    ) throws {
        try Stage.play(seed: seed, policy: SyncPolicy(interval: .seconds(100_000))) { stage in
            stage.upstream.isDown(true)
            try await stage.sync()
            try await stage.pass(.seconds(20_000))
            let moments = stage.upstream.calls.map(\.at)
            let waits = zip(moments.dropFirst(), moments).map { $0 - $1 }
            for (wait, whole) in zip(waits, [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]) {
                let range = Duration.seconds(Double(whole) / 2)...Duration.seconds(whole)
                #expect(range.contains(wait), "Seed \(seed): \(waits)")
            }
            #expect(waits.count >= 20, "Seed \(seed): \(waits)")
        }
    }

    @Test func `the backoff goes on where it was after a restart`() throws {
        try Stage.play { stage in
            stage.upstream.isDown(true)
            try await stage.sync()
            try await stage.pass(.seconds(600))
            let (backoff, count) = (try #require(stage.backoff), stage.upstream.calls.count)
            #expect(backoff.longest > .seconds(60))
            try await stage.restart()
            let after = try #require(stage.backoff)
            #expect(after.retry == backoff.retry && after.longest == backoff.longest)
            try await stage.trigger(.unlocked)
            try await stage.pass(.seconds(1))
            #expect(stage.upstream.calls.count == count)
        }
    }

    @Test(arguments: [7])
    func `G-R3, T-72, P7 three days without upstream and 500 triggers: few requests, nobody blamed`(
        _ seed: UInt64
    ) throws {
        try Stage.play(seed: seed) { stage in
            for id in ["a", "b", "c"] { try await stage.edit(id) }
            stage.upstream.isDown(true)
            let triggers: [SyncScheduler.Trigger] = [.queued, .unlocked, .upstreamChanged]
            for number in 0..<500 {
                try await stage.trigger(triggers[number % 3])
                try await stage.pass(.seconds(518))
            }
            let changes = try stage.store.reader.changes(of: Shelf.user).compactMap(\.change)
            #expect(changes.map(\.state) == [.ready, .ready, .ready])
            #expect(changes.allSatisfy { $0.failures == 0 })
            // One for each wait, which is seven and a half minutes at least in the end.
            let pushes = stage.upstream.names.count { $0 == "push" }
            #expect(pushes < 600, "Seed \(seed): \(pushes)")
            #expect(!stage.upstream.names.contains("fetch"))
            stage.upstream.isDown(false)
            #expect(try await stage.sync().outcome == .completed)
            #expect(try stage.live == 0)
        }
    }

    @Test
    func `P7 a failing run asks one thing, whatever is pending and however the switches are read`()
        throws
    {
        let board = SwitchBoard(offlineChanges: .server, resolution: .server, told: .on)
        try Stage.play(switches: board) { stage in
            for number in 0..<10 { try await stage.edit("c\(number)") }
            stage.upstream.isDown(true)
            #expect(try await stage.sync().outcome == .deferred)
            #expect(stage.upstream.names == ["switches"])
        }
    }

    @Test func `T-39 a token that is not taken stops the run, counts against nobody, and is told`()
        throws
    {
        try Stage.play { stage in
            try await stage.edit()
            stage.upstream.edit { $0.failure = { _, _ in .unauthorised } }
            let report = try await stage.sync()
            // It waits still, and nobody has to sign in.
            #expect(report.outcome == .deferred)
            #expect(await stage.figure("holdfast_sync_aborts_total{reason=\"auth\"}") == 1)
            let changes = try stage.store.reader.changes(of: Shelf.user).compactMap(\.change)
            #expect(changes.map(\.failures) == [0])
        }
    }

    @Test func `G-R3 whoever asks again and again does not put off what was to be tried`() throws {
        try Stage.play { stage in
            try await stage.edit()
            stage.upstream.edit { $0.failure = { _, _ in .unauthorised } }
            try await stage.sync()
            let planned = try #require(stage.scheduler.plan.next)
            let change = try #require(try stage.store.reader.changes(of: Shelf.user).first)
            for _ in 0..<10 {
                #expect(try await stage.sync().outcome == .deferred)
                _ = try await stage.retry(change.summary.id)
            }
            #expect(stage.scheduler.plan.next == planned)
            stage.upstream.edit { $0.failure = { _, _ in nil } }
            try await stage.pass(planned - Moment(stage.time.now) + .milliseconds(1))
            #expect(try stage.live == 0)
        }
    }

    /// Upstream has done nothing to make anybody wait longer.
    @Test func `what was not sent because there was no turn for it is no failure of upstream`()
        throws
    {
        try Stage.play { stage in
            try await stage.edit()
            let time = stage.time
            stage.upstream.edit {
                $0.failure = { _, _ in .throttled(until: Moment(time.now) + .seconds(2), .paced) }
            }
            for _ in 0..<8 { #expect(try await stage.sync().outcome == .deferred) }
            let next = try #require(stage.scheduler.plan.next)
            #expect(next - Moment(time.now) <= .seconds(8))
            #expect(stage.announced.states.isEmpty)
            #expect(await stage.figure("holdfast_retry_backoff_seconds_count") == 0)
            stage.upstream.edit { $0.failure = { _, _ in nil } }
            try await stage.pass(.seconds(9))
            #expect(try stage.live == 0)
        }
    }

    @Test func `G-U1 whoever asks for a sync is not kept by a server that says nothing`() throws {
        try Stage.play { stage in
            try await stage.edit()
            let time = stage.time
            stage.upstream.edit { $0.latency = .seconds(100) }
            let report = try await stage.sync()
            #expect(report.outcome == .deferred && time.elapsed == SyncScheduler.patience)
            #expect(report.reason?.contains("still pending") == true)
            try await stage.pass(.seconds(600))
            #expect(try stage.live == 0)
        }
    }

    @Test func `P9 a session that has ended is told of at every interval, and a sign-in ends that`()
        throws
    {
        try Stage.play { stage in
            try await stage.edit()
            stage.upstream.edit { $0.failure = { _, _ in .signedOut } }
            let report = try await stage.sync()
            #expect(report.outcome == .deferred)
            #expect(report.reason?.contains("session") == true)
            try await stage.pass(.seconds(3_600))
            let aborts = await stage.figure("holdfast_sync_aborts_total{reason=\"auth\"}")
            #expect(aborts.map { (2...4).contains($0) } == true, "\(aborts as Any)")
            #expect(try stage.live == 1)
            stage.upstream.edit { $0.failure = { _, _ in nil } }
            try await stage.trigger(.signedIn)
            try await stage.pass(.milliseconds(1))
            #expect(try stage.live == 0)
            #expect(stage.scheduler.lastReport?.outcome == .completed)
        }
    }

    @Test func `nothing pending and nobody there is a failure, with what stood in the way`() throws
    {
        try Stage.play { stage in
            stage.upstream.isDown(true)
            let report = try await stage.sync()
            #expect(report.outcome == .failed)
            #expect(report.setback?.reason == .unreachable(.tried("no route")))
            #expect(report.reason == report.setback?.description)
            #expect(stage.scheduler.outlook.lastSync == nil)
        }
    }

    @Test func `who asks is heard in spite of the backoff`() throws {
        try Stage.play { stage in
            try await stage.edit()
            stage.upstream.isDown(true)
            for _ in 0..<5 { try await stage.sync() }
            stage.upstream.isDown(false)
            #expect(try await stage.sync().outcome == .completed)
            #expect(stage.time.elapsed == .zero)
        }
    }

    @Test
    func
        `P10, T-68 one poisoned change keeps the others' news out only under the policy of the whole`()
        throws
    {
        for abort in SyncPolicy.Abort.allCases {
            try Stage.play(policy: SyncPolicy(abort: abort)) { stage in
                for number in 0..<10 { try await stage.edit("c\(number)") }
                stage.resolver.edit { $0.poison = ["c3": .seconds(100_000)] }
                stage.upstream.edit { $0.ciphers["news"] = 50 }
                let report = try await stage.sync()
                #expect(report.outcome == .deferred)
                #expect(try stage.live == 1)
                #expect(try stage.baseTicks("news") == (abort == .whole ? nil : 50))
            }
        }
    }

    @Test(arguments: SyncPolicy.Abort.allCases)
    func
        `a sync that upstream stops is stopped by what is pending under the policy of the whole only`(
            _ abort: SyncPolicy.Abort
        ) throws
    {
        try Stage.play(policy: SyncPolicy(abort: abort)) { stage in
            try await stage.edit()
            stage.upstream.isDown(true)
            #expect(try await stage.sync().outcome == .deferred)
            let aborts = await stage.figure("holdfast_sync_aborts_total{reason=\"pending\"}")
            #expect(aborts == (abort == .whole ? 1 : 0))
        }
    }

    @Test func `G-DELAY the network returns and the run begins at once, without anybody's doing`()
        throws
    {
        try Stage.play { stage in
            try await stage.edit()
            stage.upstream.isDown(true)
            try await stage.sync()
            #expect(stage.monitor.standing.state == .offline)
            try await stage.pass(.seconds(7_200))
            let healed = stage.time.elapsed
            stage.upstream.isDown(false)
            try await stage.pass(.seconds(60))
            let push = try #require(stage.upstream.calls.last { $0.name == "push" })
            #expect(push.at > healed && push.at <= healed + .seconds(30))
            #expect(try stage.live == 0)
        }
    }

    @Test func `a return in the middle of a run that fails is not forgotten`() throws {
        try Stage.play { stage in
            try await stage.edit()
            stage.upstream.edit { $0.latency = .seconds(10) }
            stage.upstream.isDown(true)
            async let report = stage.sync()
            try await stage.pass(.seconds(5))
            stage.upstream.isDown(false)
            try await stage.trigger(.networkReturned)
            #expect(try await report.outcome == .deferred)
            try await stage.pass(.milliseconds(1))
            #expect(stage.upstream.calls.last?.at == .seconds(10))
        }
    }

    @Test func `a line that comes and goes does not make requests without end`() throws {
        try Stage.play { stage in
            try await stage.edit()
            // It answers whether it is there, and then never again in this run.
            stage.upstream.edit {
                $0.failure = { name, _ in name == "push" ? .unreachable(.tried("gone")) : nil }
            }
            try await stage.sync()
            try await stage.pass(.seconds(24 * 3_600))
            let pushes = stage.upstream.names.count { $0 == "push" }
            #expect(pushes < 450, "\(pushes)")
        }
    }
}
