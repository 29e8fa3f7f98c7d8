import System
import Testing

@testable import Host

/// The line beside the plainest one that keeps the same promises.
struct FairLineTests {
    private struct Waiter: Sendable {
        let account: String
        let pace: Pace
        let deadline: Duration
    }

    private var line = FairLine<Waiter, Pace>()
    private var waiting: [Int: Waiter] = [:]
    private var lastTicket = 0
    /// Who has been served since whom, and has not come anew since.
    private var servedSince: [String: Set<String>] = [:]

    @Test(arguments: 0..<10)
    mutating func `whoever comes, leaves or loses patience, the line stays fair`(
        seed: UInt64
    ) throws {
        let chance = SeededChance(seed: seed)
        for step in 0..<600 {
            let now = Duration.seconds(step)
            switch chance.number(in: 0..<10) {
            case 0..<5: come(chance, at: now)
            case 5: leave(chance)
            case 6: expire(at: now, seed)
            default: try serve(Pace.allCases, seed)
            }
            #expect(line.count == waiting.count, "seed \(seed), step \(step)")
            #expect(line.tickets == waiting.keys.sorted(), "seed \(seed), step \(step)")
            #expect(
                line.kinds
                    == Pace.allCases.filter { pace in
                        waiting.values.contains { $0.pace == pace }
                    },
                "seed \(seed), step \(step)"
            )
        }
        while !waiting.isEmpty { try serve(Pace.allCases, seed) }
        let nobody = line.next(of: Pace.allCases)
        #expect(nobody == nil, "seed \(seed)")
    }

    @Test(arguments: 0..<10)
    mutating func `of the paces that may go, each account's first is next, and nobody else`(
        seed: UInt64
    ) throws {
        let chance = SeededChance(seed: seed)
        for step in 0..<600 {
            if chance.number(in: 0..<2) == 0 {
                come(chance, at: .seconds(step))
            } else {
                servedSince = [:]
                try serve(Pace.allCases.filter { _ in chance.number(in: 0..<2) == 0 }, seed)
            }
        }
    }

    @Test mutating func `what comes and leaves again and again leaves nothing behind`() {
        for round in 0..<100_000 {
            let waiter = Waiter(account: "\(round)", pace: .read, deadline: .seconds(round + 9))
            line.append(
                waiter,
                ticket: round,
                account: waiter.account,
                kind: .read,
                until: waiter.deadline
            )
            line.remove(round)
        }
        #expect(line.count == 0 && line.tickets.isEmpty && line.kinds.isEmpty)
        let deadline = line.firstDeadline
        #expect(deadline == nil)
        #expect(line.remembered < 256)
    }

    private mutating func come(_ chance: SeededChance, at now: Duration) {
        lastTicket += 1
        let waiter = Waiter(
            account: "account \(chance.number(in: 0..<6))",
            pace: Pace.allCases[chance.number(in: 0..<Pace.allCases.count)],
            deadline: now + .seconds(1 + chance.number(in: 0..<2_000))
        )
        waiting[lastTicket] = waiter
        line.append(
            waiter,
            ticket: lastTicket,
            account: waiter.account,
            kind: waiter.pace,
            until: waiter.deadline
        )
    }

    private mutating func leave(_ chance: SeededChance) {
        guard !waiting.isEmpty else { return }
        let ticket = waiting.keys.sorted()[chance.number(in: 0..<waiting.count)]
        let gone = waiting.removeValue(forKey: ticket)
        let (removed, again) = (line.remove(ticket), line.remove(ticket))
        #expect(removed?.account == gone?.account)
        #expect(again == nil)
        forget()
    }

    private mutating func expire(at now: Duration, _ seed: UInt64) {
        let deadline = line.firstDeadline
        #expect(deadline == waiting.values.map(\.deadline).min(), "seed \(seed)")
        while let first = waiting.values.map(\.deadline).min(), first <= now {
            let overdue = line.overdue(at: now)
            let ticket = overdue?.ticket ?? 0
            line.remove(ticket)
            #expect(waiting[ticket]?.deadline == first, "seed \(seed)")
            waiting[ticket] = nil
        }
        let another = line.overdue(at: now)
        #expect(another == nil, "seed \(seed)")
        forget()
    }

    private mutating func serve(_ paces: [Pace], _ seed: UInt64) throws {
        let ready = waiting.filter { paces.contains($0.value.pace) }
        guard let next = line.next(of: paces) else {
            #expect(ready.isEmpty, "seed \(seed)")
            return
        }
        let account = try #require(ready[next.ticket], "seed \(seed)").account
        let firstOfAccount = ready.filter { $0.value.account == account }.keys.min()
        #expect(next.ticket == firstOfAccount, "seed \(seed)")
        waiting[next.ticket] = nil
        forget()
        for other in Set(waiting.values.map(\.account)) where other != account {
            let isNew = servedSince[other, default: []].insert(account).inserted
            #expect(isNew, "seed \(seed): \(account) was served twice while \(other) waited")
        }
        servedSince[account] = nil
    }

    private mutating func forget() {
        let present = Set(waiting.values.map(\.account))
        servedSince = servedSince.filter { present.contains($0.key) }
    }
}
