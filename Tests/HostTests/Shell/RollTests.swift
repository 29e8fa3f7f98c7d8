import Sync
import System
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
        queues: [String: [PendingChange.State.Kind: Int]] = [:],
        servers: [Int: Roll.Road] = [0: .init(), 1: .init(state: .offline)],
        oldestLive: (Set<String>) -> Moment? = { _ in nil }
    ) -> HouseholdSummary {
        roll.summary(at: moment(1_000), .seconds(500), servers: servers) {
            queues.mapValues(PendingQueue.init)
        } oldestLive: {
            oldestLive($0)
        } ask: { id in
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

    @Test func `of the clocks of upstreams in use that is shown which is furthest from ours`() {
        let servers: [Int: Roll.Road] = [
            0: .init(clockOffset: 3), 1: .init(clockOffset: -45), 2: .init(clockOffset: 900),
            3: .init(),
        ]
        for (used, offset) in [([0, 1, 3], -45), ([0, 3], 3), ([3], 0), ([], 0)] as [([Int], Int64)]
        {
            let entries = Dictionary(
                uniqueKeysWithValues: used.map { ("\($0)", entry(server: $0)) }
            )
            for id in ["0", "1", "2", "3"] { roll.note(id) }
            #expect(summary(entries, servers: servers).clockOffset == offset)
        }
    }

    @Test func `of two who ask at once, whoever asked later knows better`() {
        roll.note("a")
        let now = moment(1_000)
        let first = roll.summary(at: now, .seconds(500), servers: [:]) {
            [:]
        } oldestLive: { _ in
            nil
        } ask: { _ in
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
        let waits: [(Agenda.Wait?, Moment?)] = [
            (Agenda.Wait(until: .seconds(530), length: .seconds(60)), nil),
            (Agenda.Wait(until: .seconds(400), length: .seconds(900)), moment(1_200)),
            (nil, moment(900)),
        ]
        for (number, wait) in waits.enumerated() {
            roll.note("\(number)")
            let outlook = SyncScheduler.Outlook(
                lastSync: moment(Int64(100 + number)),
                wait: wait.0,
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
        var entries = [
            "open": entry(), "locked": entry(.locked), "away": entry(.unlocked, server: 1),
            "aside": entry(), "off": entry(), "lockedOff": entry(.locked),
        ]
        for id in ["off", "lockedOff"] { entries[id]?.canResolve = false }
        for id in entries.keys { roll.note(id) }
        let all = summary(
            entries,
            queues: [
                "off": [.ready: 3], "lockedOff": [.ready: 3],
                "open": [.ready: 2, .backingOff: 1, .quarantined: 4], "locked": [.ready: 5],
                "away": [.ready: 7], "aside": [.quarantined: 9], "gone": [.ready: 1],
            ]
        ) { $0 == ["open"] ? moment(45) : nil }
        #expect(all.deliverable == 3)
        #expect(all.oldestDeliverable == moment(45), "What is set aside is not sent.")
        #expect(all.networks == [.online: 1, .offline: 1])
    }

    @Test func `what waits only for its owner is what locked vaults have for servers that answer`()
    {
        let entries = [
            "open": entry(), "locked": entry(.locked), "away": entry(.locked, server: 1),
            "held": entry(.locked, server: 2), "out": entry(.signedOut), "aside": entry(.locked),
        ]
        for id in entries.keys { roll.note(id) }
        let all = summary(
            entries,
            queues: [
                "open": [.ready: 1], "locked": [.ready: 1, .quarantined: 2], "away": [.ready: 1],
                "held": [.backingOff: 1], "out": [.ready: 1], "aside": [.quarantined: 1],
            ],
            servers: [0: .init(), 1: .init(state: .offline), 2: .init(heldUntil: moment(1_008))]
        ) { $0 == ["locked"] ? moment(45) : nil }
        #expect(all.oldestLocked == moment(45), "Unlocking helps none of the others.")
        #expect(all.deliverable == 1 && all.oldestDeliverable == nil)
        #expect(all.nextRetry == nil && all.longestBackoff == .zero)
        #expect(summary(entries, queues: ["open": [.ready: 1]]).oldestLocked == nil)
    }

    @Test func `while no server can be reached nobody counts what waits`() {
        roll.note("a")
        let away = entry(.unlocked, server: 1)
        let all = roll.summary(
            at: moment(1_000),
            .seconds(500),
            servers: [1: .init(state: .offline)]
        ) {
            Issue.record("The queues were read.")
            return [:]
        } oldestLive: { _ in
            nil
        } ask: { _ in
            away
        }
        #expect(all.deliverable == 0 && all.networks == [.offline: 1])
    }

    @Test func `what waits because a server wants to be left alone has a time of its own`() {
        roll.note("a")
        let road = Roll.Road(heldUntil: moment(1_008))
        func all(_ counts: [PendingChange.State.Kind: Int]) -> HouseholdSummary {
            summary(["a": entry()], queues: ["a": counts], servers: [0: road])
        }
        #expect(all([.ready: 1]).nextRetry == moment(1_008))
        #expect(all([.ready: 1]).longestBackoff == .seconds(8))
        #expect(all([.ready: 1]).deliverable == 0, "It is known why it is not sent.")
        #expect(all([.quarantined: 1]).nextRetry == nil)

        var backingOff = entry()
        backingOff.outlook.due = moment(1_003)
        let held = summary(
            ["a": backingOff],
            queues: ["a": [.backingOff: 1]],
            servers: [0: road]
        )
        #expect(held.nextRetry == moment(1_008), "Nothing is tried before that.")
        #expect(all([:]).longestBackoff == .zero)
    }
}
