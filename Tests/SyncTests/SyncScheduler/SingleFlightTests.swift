import Messaging
import System
import TestSupport
import Testing
import Vault

@testable import Sync

/// One run at a time, whoever asks for it, and nobody who asks is forgotten.
@Suite struct SingleFlightTests {
    @Test(arguments: 1...20)
    func `T-01 runs never overlap, however many want one`(_ seed: UInt64) throws {
        try Stage.play(seed: seed) { stage in
            stage.upstream.edit { $0.latency = .milliseconds(100) }
            for number in 0..<8 { try await stage.edit("c\(number)") }
            let outcomes = try await withThrowingTaskGroup(of: SyncReport.Outcome.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        try await stage.pass(.milliseconds(number * 37))
                        if number % 5 == 0 { try await stage.trigger(.networkReturned) }
                        return try await stage.sync(isFull: number % 3 == 0).outcome
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count == 20, "Seed \(seed): somebody was forgotten.")
            #expect(outcomes.allSatisfy { $0 == .completed || $0 == .notNeeded }, "Seed \(seed)")
            #expect(stage.resolver.script.withLock { $0.mostAtOnce } == 1, "Seed \(seed)")
            let pushes = stage.upstream.names.count { $0 == "push" }
            #expect(pushes == 8, "Seed \(seed): a change was sent twice.")
        }
    }

    @Test func `T-01 whoever asks during a run hears of the next, which sees what they did`() throws
    {
        try Stage.play { stage in
            stage.upstream.edit { $0.latency = .seconds(1) }
            async let first = stage.sync()
            try await stage.pass(.milliseconds(500))
            stage.upstream.edit { $0.ciphers["a"] = 30 }
            async let second = stage.sync(isFull: true)
            let ends = try await [first.ended, second.ended]
            #expect(ends[1] - ends[0] == .seconds(1))
            #expect(stage.upstream.names == ["fetch", "fetch"])
            #expect(try stage.baseTicks() == 30)
        }
    }

    @Test func `those who ask for the same meanwhile share one run`() throws {
        try Stage.play { stage in
            stage.upstream.edit { $0.latency = .seconds(1) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await stage.sync(isFull: true) }
                for _ in 0..<50 {
                    group.addTask {
                        try await stage.pass(.milliseconds(500))
                        _ = try await stage.sync(isFull: true)
                    }
                }
                try await group.waitForAll()
            }
            #expect(stage.upstream.names == ["fetch", "fetch"])
        }
    }

    @Test func `messages are read while a run is under way`() throws {
        try Stage.play { stage in
            stage.upstream.edit { $0.latency = .seconds(600) }
            async let report = stage.sync()
            try await stage.pass(.seconds(1))
            try await stage.scheduler.address.ask { .pulse($0) }
            #expect(stage.time.elapsed == .seconds(1))
            #expect(try await report.outcome == .completed)
        }
    }

    @Test func `a retry tries one change, whatever it waits for, and then looks at the rest`()
        throws
    {
        try Stage.play { stage in
            let poison = try await stage.edit("a").change.id
            stage.resolver.edit { $0.poison = ["a": .seconds(600)] }
            #expect(try await stage.sync().outcome == .deferred)
            stage.resolver.edit { $0.poison = [:] }
            #expect(try await stage.retry(poison).outcome == .completed)
            #expect(stage.resolver.asks.last == Resolver.Run(.only(poison), .insistent))
            #expect(stage.upstream.names == ["push", "push", "fetch"])
        }
    }

    @Test func `a retry that leaves others pending takes nothing over`() throws {
        try Stage.play { stage in
            let one = try await stage.edit("a").change.id
            try await stage.edit("b")
            stage.resolver.edit { $0.poison = ["b": .seconds(600)] }
            #expect(try await stage.sync().outcome == .deferred)
            let report = try await stage.retry(one)
            #expect(report.outcome == .deferred)
            #expect(stage.upstream.names.last == "push")
        }
    }

    @Test func `a retry needs an unlocked vault, and says so`() throws {
        try Stage.play { stage in
            let id = try await stage.edit().change.id
            stage.keys.lock()
            let report = try await stage.retry(id)
            #expect(report.outcome == .deferred)
            #expect(report.reason == "The vault is locked.")
            #expect(stage.upstream.names.isEmpty)
        }
    }

    @Test func `T-74 who closes lets the run under way end, and answers those it will not serve`()
        throws
    {
        try Stage.play { stage in
            stage.upstream.edit { $0.latency = .seconds(1) }
            async let first = stage.sync()
            try await stage.pass(.milliseconds(500))
            async let second = stage.sync(isFull: true)
            try await stage.pass(.milliseconds(100))
            stage.scheduler.close()
            #expect(try await second.outcome == .failed)
            #expect(try await second.reason == "The host is stopping.")
            #expect(try await first.outcome == .completed)
            #expect(try stage.baseTicks() == 10)
            #expect(stage.upstream.names == ["fetch"])
        }
    }

    @Test func `T-74 a run that is cancelled loses nothing, and the next one does it`() throws {
        try Stage.play { stage in
            stage.upstream.edit { $0.latency = .seconds(5) }
            try await stage.edit()
            let scheduler = stage.newScheduler()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await scheduler.run() }
                try? await stage.pass(.seconds(1))
                group.cancelAll()
            }
            #expect(stage.upstream.names == ["push"])
            #expect(try stage.live == 1)
            #expect(try await stage.sync().outcome == .completed)
            #expect(try stage.live == 0)
        }
    }
}
