import Messaging
import Testing
import Vault

@testable import Sync

/// What makes a run begin, and when.
@Suite struct TriggerTests {
    /// When something was asked of upstream.
    private func moments(_ stage: Stage, _ name: String = "fetch") -> [Duration] {
        stage.upstream.calls.filter { $0.name == name }.map(\.at)
    }

    @Test(arguments: [SyncScheduler.Trigger.signedIn, .unlocked, .networkReturned, .moved])
    func `what changes the state of affairs starts a run at once`(
        _ trigger: SyncScheduler.Trigger
    ) throws {
        try Stage.play { stage in
            try await stage.trigger(trigger)
            try await stage.pass(.milliseconds(1))
            #expect(moments(stage) == [.zero])
        }
    }

    @Test func `G-DELAY an upstream that has recovered is asked by those who have to catch up`()
        throws
    {
        try Stage.play { stage in
            try await stage.sync()
            try await stage.trigger(.recovered)
            try await stage.pass(.seconds(5))
            #expect(stage.upstream.calls.count == 1)
            // A run has failed, although nothing waits.
            stage.upstream.isDown(true)
            try await stage.sync()
            stage.upstream.isDown(false)
            let calls = stage.upstream.calls.count
            try await stage.trigger(.recovered)
            try await stage.pass(.milliseconds(1))
            #expect(stage.upstream.calls.count > calls)
        }
    }

    @Test(arguments: 1...10)
    func `the interval has a tenth of chance either way`(_ seed: UInt64) throws {
        try Stage.play(seed: seed, policy: SyncPolicy(interval: .seconds(1_000))) { stage in
            try await stage.sync()
            try await stage.pass(.seconds(899))
            #expect(stage.upstream.calls.count == 1, "Seed \(seed)")
            try await stage.pass(.seconds(202))
            #expect(moments(stage, "revision").count == 1, "Seed \(seed)")
        }
    }

    @Test func `an account that nobody signed in just now is synced all the same`() throws {
        try Stage.play { stage in
            try await stage.pass(.seconds(60))
            #expect(moments(stage) == [SyncScheduler.patienceWithSignIn])
        }
    }

    @Test func `a flock of events from upstream is one run, a moment later`() throws {
        try Stage.play { stage in
            for _ in 0..<20 {
                try await stage.trigger(.upstreamChanged)
                try await stage.pass(.milliseconds(20))
            }
            try await stage.pass(.seconds(5))
            #expect(moments(stage) == [Agenda.flock])
        }
    }

    @Test func `an edit that was queued while the network is there is tried soon`() throws {
        try Stage.play { stage in
            try await stage.edit()
            try await stage.trigger(.queued)
            try await stage.pass(.seconds(5))
            #expect(moments(stage, "push") == [Agenda.flock])
        }
    }

    @Test func `an edit that was queued offline waits as after a failure, or for the network`()
        throws
    {
        try Stage.play { stage in
            try await stage.monitor.address.tell(.drill(true))
            try await stage.pass(.milliseconds(1))
            try await stage.edit()
            try await stage.trigger(.queued)
            try await stage.pass(.seconds(2))
            #expect(stage.upstream.calls.isEmpty)
            try await stage.trigger(.networkReturned)
            try await stage.pass(.milliseconds(1))
            #expect(moments(stage, "push") == [.milliseconds(2_001)])
        }
    }

    @Test func `a change that backs off is tried when its time has come, without any trigger`()
        throws
    {
        try Stage.play { stage in
            try await stage.edit()
            stage.resolver.edit { $0.poison = ["a": .seconds(77)] }
            #expect(try await stage.sync().outcome == .deferred)
            stage.resolver.edit { $0.poison = [:] }
            #expect(stage.backoff?.longest == .seconds(77))
            try await stage.pass(.seconds(80))
            let pushes = moments(stage, "push")
            #expect(pushes.count == 2)
            #expect(pushes.last.map { $0 >= .seconds(77) && $0 < .seconds(77.1) } == true)
            #expect(try stage.live == 0)
        }
    }

    @Test func `what is ready when the host starts is tried at once`() throws {
        try Stage.play { stage in
            try await stage.sync()
            try await stage.edit()
            try await stage.restart()
            try await stage.pass(.seconds(1))
            #expect(stage.upstream.names == ["fetch", "push", "fetch"])
        }
    }

    @Test
    func
        `a run of its own accord leaves what backs off alone, and one that was asked for does not`()
        throws
    {
        try Stage.play { stage in
            try await stage.edit()
            try await stage.trigger(.unlocked)
            try await stage.pass(.seconds(1))
            try await stage.edit("b")
            try await stage.sync()
            #expect(stage.resolver.asks.map(\.reach) == [.due, .all])
            #expect(stage.resolver.asks.map(\.urgency) == [.patient, .insistent])
        }
    }

    @Test func `G-AGE a hundred and thirty changes go up in slices of fifty`() throws {
        try Stage.play { stage in
            for number in 0..<130 { try await stage.edit("c\(number)") }
            #expect(try await stage.sync().outcome == .completed)
            #expect(stage.resolver.asks.count == 3)
            #expect(stage.upstream.names.count { $0 == "push" } == 130)
        }
    }

    @Test
    func `G-AGE a long drain lets others in between, goes on by itself, and survives a restart`()
        throws
    {
        try Stage.play { stage in
            stage.upstream.edit { $0.latency = .seconds(2) }
            for number in 0..<130 { try await stage.edit("c\(number)") }
            async let report = stage.sync()
            try await stage.pass(.seconds(1))
            let one = try #require(try stage.store.reader.changes(of: Shelf.user).last?.summary.id)
            async let retried = stage.retry(one)
            #expect(try await report.outcome == .deferred)
            #expect(try stage.live == 30)
            #expect(try await retried.outcome == .deferred)
            #expect(try stage.live == 29)
            try await stage.restart()
            try await stage.pass(.seconds(400))
            #expect(try stage.live == 0)
            #expect(stage.upstream.names.count { $0 == "push" } == 130)
            #expect(stage.scheduler.lastReport?.outcome == .completed)
        }
    }
}
