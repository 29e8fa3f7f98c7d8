import Messaging
import Sync
import System
import TestSupport
import Testing
import Vault

@testable import Host

/// What all accounts come to.
struct RollTests {
    /// Who was asked, in that order.
    private final class Asked: Sendable {
        let ids = Lock<[String]>([])
    }

    private let roll = Roll()
    private let asked = Asked()

    private func moment(_ seconds: Int64) -> Moment {
        Moment(ticks: seconds * Moment.ticksPerSecond)
    }

    private func summary(
        _ entries: [String: Roll.Entry],
        queues: [String: PendingQueue] = [:],
        servers: [Int: Roll.Road] = [0: .init(), 1: .init(state: .offline)]
    ) -> HouseholdSummary {
        roll.summary(at: moment(1_000), .seconds(500), queues: queues, servers: servers) { id in
            asked.ids.withLock { $0.append(id) }
            return entries[id]
        }
    }

    private func entry(
        _ status: AccountStanding.Status = .unlocked,
        server: Int = 0,
        _ outlook: SyncScheduler.Outlook = .init(lastSync: Moment(ticks: 0))
    ) -> Roll.Entry {
        Roll.Entry(status: status, server: server, outlook: outlook)
    }

    @Test func `of two who ask at once, whoever asked later knows better`() {
        roll.note("a")
        let now = moment(1_000)
        let first = roll.summary(at: now, .seconds(500), queues: [:], servers: [:]) { _ in
            roll.note("a")
            _ = summary(["a": entry(.unlocked)])
            return entry(.locked)
        }
        #expect(first.accounts[.unlocked] == 1)
        #expect(summary([:]).accounts == [.locked: 0, .unlocked: 1, .signedOut: 0])
    }

    @Test func `only those are asked of whom something is new`() {
        var entries: [String: Roll.Entry] = [:]
        for number in 0..<1_000 {
            entries["\(number)"] = entry(.locked)
            roll.note("\(number)")
        }
        #expect(summary(entries).accounts[.locked] == 1_000)
        #expect(asked.ids.withLock(\.count) == 1_000)
        entries["7"] = entry(.unlocked)
        entries["8"] = nil
        roll.note("7")
        roll.note("8")
        roll.note("7")
        let later = summary(entries)
        #expect(later.accounts == [.locked: 998, .unlocked: 1, .signedOut: 0])
        #expect(asked.ids.withLock { $0.suffix(2).sorted() } == ["7", "8"])
        #expect(asked.ids.withLock(\.count) == 1_002)
        // Who was there before may come back.
        entries["8"] = entry(.signedOut)
        roll.note("8")
        #expect(summary(entries).accounts[.signedOut] == 1)
    }

    @Test func `what is put off counts until its time has come`() {
        let waits: [(Agenda.Delay?, Moment?)] = [
            (Agenda.Delay(until: .seconds(530), length: .seconds(60)), nil),
            (Agenda.Delay(until: .seconds(400), length: .seconds(900)), moment(1_200)),
            (nil, moment(900)),
        ]
        for (number, wait) in waits.enumerated() {
            roll.note("\(number)")
            let outlook = SyncScheduler.Outlook(
                lastSync: moment(Int64(100 + number)),
                delay: wait.0,
                due: wait.1
            )
            _ = summary(["\(number)": entry(.unlocked, outlook)])
        }
        let all = summary([:])
        #expect(all.nextRetry == moment(1_030))
        #expect(all.longestBackoff == .seconds(200))
        #expect(all.lastSync == moment(100))
        roll.note("new")
        #expect(summary(["new": entry(.locked, .init())]).lastSync == nil, "One never was.")
    }

    @Test func `what can be delivered is what open vaults have for servers that answer`() {
        func queue(
            _ counts: [PendingChange.State.Kind: Int],
            since seconds: Int64,
            live: Int64? = nil
        ) -> PendingQueue {
            PendingQueue(
                counts: counts,
                oldest: moment(seconds),
                oldestLive: live.map(moment)
            )
        }
        let entries = [
            "open": entry(), "locked": entry(.locked), "away": entry(.unlocked, server: 1),
            "aside": entry(),
        ]
        for id in entries.keys { roll.note(id) }
        let all = summary(
            entries,
            queues: [
                "open": queue([.ready: 2, .backingOff: 1, .quarantined: 4], since: 40, live: 45),
                "locked": queue([.ready: 5], since: 10), "away": queue([.ready: 7], since: 20),
                "aside": queue([.quarantined: 9], since: 30),
                "gone": queue([.ready: 1], since: 1),
            ]
        )
        #expect(all.deliverable == 3)
        #expect(all.oldestDeliverable == moment(45), "What is set aside is not sent.")
        #expect(all.oldest == moment(10))
        #expect(all.networks == [.online: 1, .offline: 1])
    }

    @Test func `what waits because a server wants to be left alone has a time of its own`() {
        roll.note("a")
        let road = Roll.Road(heldUntil: moment(1_008))
        func all(_ counts: [PendingChange.State.Kind: Int]) -> HouseholdSummary {
            let queue = PendingQueue(counts: counts, oldest: moment(1))
            return summary(["a": entry()], queues: ["a": queue], servers: [0: road])
        }
        #expect(all([.ready: 1]).nextRetry == moment(1_008))
        #expect(all([.ready: 1]).longestBackoff == .seconds(8))
        #expect(all([.ready: 1]).deliverable == 0, "It is known why it is not sent.")
        #expect(all([.quarantined: 1]).nextRetry == nil)

        var backingOff = entry()
        backingOff.outlook.due = moment(1_003)
        let queue = PendingQueue(counts: [.backingOff: 1], oldest: moment(1))
        let held = summary(["a": backingOff], queues: ["a": queue], servers: [0: road])
        #expect(held.nextRetry == moment(1_008), "Nothing is tried before that.")
        #expect(all([:]).longestBackoff == .zero)
    }
}
