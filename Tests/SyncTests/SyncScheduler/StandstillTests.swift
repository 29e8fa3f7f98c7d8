import Messaging
import TestSupport
import Testing
import Vault

@testable import Sync

/// A6-N9: changes wait, upstream is there, and nothing moves.
@Suite struct StandstillTests {
    @Test func `A6-N9, P11 a run that hangs is given up, told of once, and begun anew`() throws {
        try Stage.play { stage in
            try await stage.edit()
            let time = stage.time
            stage.resolver.edit {
                $0.answer = {
                    try? await time.sleep(for: .seconds(1_000_000))
                    return .nothingDone
                }
            }
            try await stage.trigger(.unlocked)
            try await stage.pass(Vigil.patience * 2 + .seconds(60))
            let text = "nothing moves: beginning anew"
            #expect(stage.lines.count(text) == 1)
            #expect(await stage.figure("holdfast_sync_standstills_total") == 2)
            stage.resolver.edit { $0.answer = nil }
            try await stage.pass(Vigil.patience)
            #expect(try stage.live == 0)
            #expect(stage.scheduler.lastReport?.outcome == .completed)
        }
    }

    @Test func `a moment that lies ahead is slept until, however near it is`() {
        let now = Moment(ticks: 1_000)
        for ticks in 1...20 as ClosedRange<Int64> {
            let sleep = Moment(ticks: 1_000 + ticks) - now
            #expect(sleep >= .nanoseconds(100 * ticks) && sleep < .nanoseconds(100 * ticks + 1_000))
        }
    }

    @Test func `an outage is no standstill`() throws {
        try Stage.play { stage in
            try await stage.edit()
            stage.upstream.isDown(true)
            try await stage.sync()
            try await stage.pass(Vigil.patience * 5)
            #expect(await stage.figure("holdfast_sync_standstills_total") == 0)
        }
    }

    @Test func `a change that is tried and fails again and again is no standstill`() throws {
        try Stage.play { stage in
            try await stage.edit()
            stage.resolver.edit { $0.poison = ["a": .seconds(800)] }
            try await stage.sync()
            try await stage.pass(Vigil.patience * 5)
            #expect(await stage.figure("holdfast_sync_standstills_total") == 0)
        }
    }
}

/// The heartbeats of the mesh.
@Suite struct HeartTests {
    private func beat(_ stage: Stage, _ actor: String) async -> Double {
        let series = "holdfast_heartbeat_timestamp_seconds{actor=\"\(actor)\"}"
        return (await stage.figure(series) ?? 0) - Double(1_700_000_000)
    }

    @Test func `a heartbeat advances every five seconds, also of those who are not there`() throws {
        try Stage.play { stage in
            let heart = Heart(surroundings: stage.surroundings)
            _ = heart.join(.syncScheduler, stage.scheduler.address) { .pulse($0) }
            _ = heart.join(.pendingStore, stage.pendingStore.address) { .pulse($0) }
            _ = heart.join(.networkMonitor, stage.monitor.address) { .pulse($0) }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await heart.run() }
                for _ in 0..<20 {
                    try? await stage.pass(.seconds(7))
                    for actor in SyncMetrics.Actor.allCases {
                        let age =
                            stage.time.elapsed / .seconds(1) - (await beat(stage, actor.rawValue))
                        #expect(age <= 10, "\(actor): \(age)")
                    }
                }
                heart.close()
            }
        }
    }

    @Test
    func `the heartbeat of a service that hangs stands still, and goes on when it reads again`()
        throws
    {
        try Stage.play { stage in
            let heart = Heart(surroundings: stage.surroundings)
            let (hung, alive) = (
                Mailbox<NetworkMonitor.Message>(name: "hung"), stage.monitor.address
            )
            _ = heart.join(.networkMonitor, alive) { .pulse($0) }
            let pulse = heart.join(.networkMonitor, hung.address) { .pulse($0) }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await heart.run() }
                try? await stage.pass(Heart.patience - .seconds(1))
                #expect(heart.isBeating)
                try? await stage.pass(.seconds(33))
                #expect(await beat(stage, "network-monitor") == 0)
                #expect(hung.address.traffic.depth == 1, "It is asked again and again.")
                #expect(!heart.isBeating)
                heart.leave(pulse)
                #expect(heart.isBeating)
                try? await stage.pass(.seconds(10))
                #expect(await beat(stage, "network-monitor") >= 65)
                heart.close()
            }
        }
    }

    @Test func `of a thousand services some are asked at a time, and each every five seconds`()
        throws
    {
        try Stage.play { stage in
            let heart = Heart(surroundings: stage.surroundings)
            let busy = (0..<1_000).map { _ in Mailbox<NetworkMonitor.Message>(name: "busy") }
            for mailbox in busy {
                _ = heart.join(.networkMonitor, mailbox.address) { .pulse($0) }
            }
            func asked() -> Int { busy.count { $0.address.traffic.depth == 1 } }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await heart.run() }
                try? await stage.pass(.seconds(1))
                #expect((1...300).contains(asked()))
                try? await stage.pass(.milliseconds(1_500))
                #expect((301...900).contains(asked()))
                try? await stage.pass(.milliseconds(2_500))
                #expect(asked() == 1_000)
                heart.close()
            }
        }
    }

    @Test func `who stands at an empty mailbox is alive, and is not asked`() throws {
        try Stage.play { stage in
            let heart = Heart(surroundings: stage.surroundings)
            let idle = Mailbox<NetworkMonitor.Message>(name: "idle")
            _ = heart.join(.networkMonitor, idle.address) { .pulse($0) }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await heart.run() }
                group.addTask { for await _ in idle {} }
                try? await stage.pass(.seconds(62))
                #expect(heart.isBeating)
                #expect(await beat(stage, "network-monitor") >= 55)
                #expect(idle.address.traffic.taken <= 1, "Once at most, before it stood there.")
                heart.close()
                idle.close()
            }
        }
    }
}
