import Logging
import Messaging
import Metrics
import System
import TestSupport
import Testing
import Vault

@testable import Sync

/// What is known of the way to an upstream, and who is told.
@Suite struct NetworkMonitorTests {
    private func hear(_ stage: Stage, _ evidence: Evidence) async throws {
        try await stage.monitor.address.tell(.heard(evidence))
        try await settle(stage)
    }

    /// Until the monitor has read what it was told.
    private func settle(_ stage: Stage) async throws {
        try await stage.monitor.address.ask { .pulse($0) }
    }

    private func probes(_ stage: Stage) -> [Duration] {
        stage.upstream.calls.filter { $0.name == "probe" }.map(\.at)
    }

    @Test func `the last word counts, and a change is counted, announced and logged once`() throws {
        try Stage.play { stage in
            #expect(stage.monitor.standing.state == .online)
            try await stage.pass(.seconds(5))
            for evidence: Evidence in [.unreachable, .unreachable, .troubled, .answered, .answered]
            {
                try await hear(stage, evidence)
            }
            #expect(stage.announced.states == [.offline, .degraded, .online])
            #expect(stage.monitor.standing.since == Moment(stage.time.now))
            for state in NetworkState.allCases {
                let series = "holdfast_network_transitions_total{to=\"\(state.rawValue)\"}"
                #expect(await stage.figure(series) == 1)
            }
            #expect(stage.lines.count("The way to an upstream has changed.") == 3)
        }
    }

    /// After a start in an outage, nobody may ask upstream for half an hour.
    @Test func `whoever relies on an upstream that was never heard has it asked once`() throws {
        try Stage.play { stage in
            stage.upstream.isDown(true)
            try await stage.monitor.address.tell(.reliedOn)
            try await stage.pass(.seconds(20))
            #expect(stage.monitor.standing.state == .offline)
            #expect(probes(stage).count == 1)
        }
    }

    @Test func `G-U1 one call that nobody answers makes it offline, and one answer ends that`()
        throws
    {
        try Stage.play { stage in
            try await hear(stage, .unreachable)
            #expect(stage.monitor.standing.state == .offline)
            try await hear(stage, .answered)
            #expect(stage.monitor.standing.state == .online)
        }
    }

    @Test(arguments: 1...10)
    func `while something waits, probes are 5 to 30 seconds apart`(_ seed: UInt64) throws {
        try Stage.play(seed: seed) { stage in
            stage.upstream.isDown(true)
            try await hear(stage, .unreachable)
            try await stage.monitor.address.tell(.waits(userID: "x", true))
            try await stage.pass(.seconds(3_600))
            let moments = [.zero] + probes(stage)
            let gaps = zip(moments.dropFirst(), moments).map { $0 - $1 }
            #expect(gaps.count > 100, "Seed \(seed)")
            #expect(gaps.allSatisfy { $0 >= .seconds(5) && $0 <= .seconds(30) }, "\(seed) \(gaps)")
        }
    }

    @Test func `what waits since an earlier start is no proof that upstream is there`() throws {
        try Stage.play { stage in
            stage.upstream.isDown(true)
            try await stage.monitor.address.tell(.waits(userID: "x", true))
            try await stage.pass(.seconds(3))
            #expect(probes(stage).count == 1)
            #expect(stage.monitor.standing.state == .offline)
        }
    }

    @Test func `nothing is probed while nothing waits`() throws {
        try Stage.play { stage in
            stage.upstream.isDown(true)
            try await hear(stage, .unreachable)
            try await stage.monitor.address.tell(.waits(userID: "x", true))
            try await stage.pass(.seconds(60))
            let count = probes(stage).count
            #expect(count > 0)
            try await stage.monitor.address.tell(.waits(userID: "x", false))
            try await stage.pass(.seconds(3_600))
            #expect(probes(stage).count == count)
            try await stage.monitor.address.tell(.waits(userID: "x", true))
            try await stage.pass(.seconds(1))
            try await stage.monitor.address.tell(.leave(userID: "x"))
            try await stage.pass(.seconds(3_600))
            #expect(probes(stage).count == count + 1, "The last one was long ago; then no more.")
        }
    }

    @Test func `who is refused because upstream is away has it looked for`() throws {
        try Stage.play { stage in
            stage.upstream.isDown(true)
            try await hear(stage, .unreachable)
            try await stage.pass(.seconds(60))
            #expect(probes(stage).isEmpty)
            stage.upstream.isDown(false)
            try await stage.monitor.address.tell(.refused)
            try await stage.pass(.seconds(11))
            #expect(probes(stage).count == 1)
            #expect(stage.monitor.standing.state == .online)
        }
    }

    @Test func `nothing is probed while upstream answers`() throws {
        try Stage.play { stage in
            try await hear(stage, .answered)
            try await stage.monitor.address.tell(.waits(userID: "x", true))
            try await stage.pass(.seconds(3_000))
            #expect(probes(stage).isEmpty)
        }
    }

    @Test func `a change of the links is probed at once`() throws {
        try Stage.play { stage in
            stage.upstream.isDown(true)
            try await hear(stage, .unreachable)
            stage.upstream.isDown(false)
            try await stage.monitor.address.tell(.linksChanged)
            try await stage.pass(.milliseconds(1))
            #expect(probes(stage) == [.zero])
            #expect(stage.monitor.standing.state == .online)
        }
    }

    @Test
    func `in a drill it is offline whatever is heard, and a probe ends the drill's doubt at once`()
        throws
    {
        try Stage.play { stage in
            try await hear(stage, .answered)
            try await stage.monitor.address.tell(.waits(userID: "x", true))
            try await stage.monitor.address.tell(.drill(true))
            try await hear(stage, .answered)
            #expect(stage.monitor.standing.state == .offline)
            try await stage.monitor.address.tell(.linksChanged)
            try await stage.pass(.seconds(600))
            #expect(probes(stage).isEmpty)
            let end = stage.time.elapsed
            try await stage.monitor.address.tell(.drill(false))
            try await stage.pass(.milliseconds(1))
            #expect(probes(stage) == [end])
            #expect(stage.announced.states == [.offline, .online])
        }
    }

    @Test(arguments: [true, false])
    func `whoever ends a drill hears of it when it is known how the network stands`(
        _ isDown: Bool
    ) throws {
        try Stage.play { stage in
            try await stage.monitor.address.ask { .drill(true, $0) }
            #expect(stage.monitor.standing.state == .offline)
            stage.upstream.isDown(isDown)
            async let known: Void = stage.monitor.address.ask { .drill(false, $0) }
            try await stage.pass(.milliseconds(1))
            try await known
            #expect(probes(stage).count == 1)
            #expect(stage.monitor.standing.state == (isDown ? .offline : .online))
            // Where there is no drill, nothing has to be found out.
            try await stage.monitor.address.ask { .drill(false, $0) }
        }
    }

    @Test func `a probe that hangs has found nobody, and the next one is sent`() throws {
        try SeededExecutor.run(seed: 1) { executor, time in
            let registry = Registry(timekeeper: time)
            let count = Lines()
            let surroundings = Surroundings(
                timekeeper: time,
                chance: executor.chance,
                bootID: "boot",
                metrics: SyncMetrics(registry),
                log: Logger(Logbook(sink: Lines(), timekeeper: time))
            )
            let probe: @Sendable () async -> Evidence = {
                _ = count.write(Array("probe".utf8))
                try? await time.sleep(for: .seconds(100_000))
                return .answered
            }
            let monitor = NetworkMonitor(upstream: "u", probe: probe, surroundings: surroundings)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await monitor.run() }
                try? await monitor.address.tell(.waits(userID: "x", true))
                try? await monitor.address.tell(.heard(.unreachable))
                try? await time.sleep(for: .seconds(300))
                #expect(monitor.standing.state == .offline)
                #expect(count.count("probe") >= 9)
                monitor.close()
            }
        }
    }

    @Test func `a probe that cannot be sent says nothing, and another one is sent`() throws {
        try SeededExecutor.run(seed: 1) { executor, time in
            let count = Lines()
            let surroundings = Surroundings(
                timekeeper: time,
                chance: executor.chance,
                bootID: "boot",
                metrics: SyncMetrics(Registry(timekeeper: time)),
                log: Logger(Logbook(sink: Lines(), timekeeper: time))
            )
            let found = Lock<Evidence?>(nil)
            let probe: @Sendable () async -> Evidence? = {
                _ = count.write(Array("probe".utf8))
                return found.withLock(\.self)
            }
            let monitor = NetworkMonitor(upstream: "u", probe: probe, surroundings: surroundings)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await monitor.run() }
                try? await monitor.address.tell(.waits(userID: "x", true))
                try? await time.sleep(for: .seconds(1))
                #expect(count.count("probe") == 1)
                #expect(monitor.standing.state == .online)
                // Whoever ends a drill waits for one that was sent.
                try? await monitor.address.ask { .drill(true, $0) }
                async let known: ()? = try? monitor.address.ask { .drill(false, $0) }
                try? await time.sleep(for: .seconds(1))
                #expect(count.count("probe") == 2)
                found.withLock { $0 = .answered }
                await known
                #expect(count.count("probe") == 3)
                #expect(monitor.standing.state == .online)
                monitor.close()
            }
        }
    }

    @Test func `everybody who joined hears of the return at once, and nobody who left`() throws {
        try Stage.play { stage in
            let boxes = ["x", "y", "z"].map {
                Mailbox<SyncScheduler.Message>(name: $0, capacity: 1)
            }
            for (box, id) in zip(boxes, ["x", "y", "z"]) {
                try await stage.monitor.address.tell(.join(userID: id, box.address))
            }
            try await boxes[1].address.tell(.trigger(.queued))
            try await stage.monitor.address.tell(.leave(userID: "z"))
            try await hear(stage, .unreachable)
            try await hear(stage, .answered)
            try await hear(stage, .answered)
            #expect(boxes.map(\.address.traffic.depth) == [1, 1, 0])
            // The one without room hears it when there is some.
            for _ in 0..<100 where boxes[1].address.traffic.waitingSenders == 0 {
                await Task.yield()
            }
            #expect(boxes[1].address.traffic.waitingSenders == 1)
            for await message in boxes[0] {
                guard case .trigger(.networkReturned) = message else {
                    Issue.record("\(message)")
                    break
                }
                break
            }
        }
    }

    /// What a scheduler hears, word for word.
    private func news(of evidence: [Evidence], _ stage: Stage) async throws -> [String] {
        let box = Mailbox<SyncScheduler.Message>(name: "x", capacity: 8)
        try await stage.monitor.address.tell(.join(userID: "x", box.address))
        for word in evidence { try await hear(stage, word) }
        box.close()
        var news: [String] = []
        for await message in box {
            if case .trigger(let trigger) = message { news.append(trigger.rawValue) }
        }
        return news
    }

    @Test func `an upstream that was troubled has recovered, and one that was away has returned`()
        throws
    {
        try Stage.play { stage in
            let troubled: [Evidence] = [.troubled, .answered, .troubled, .troubled, .answered]
            let first = try await news(of: troubled, stage)
            #expect(first == ["recovered", "recovered"])
            let away: [Evidence] = [.unreachable, .troubled, .answered, .troubled, .answered]
            let second = try await news(of: away, stage)
            #expect(second == ["networkReturned", "recovered"])
        }
    }
}
