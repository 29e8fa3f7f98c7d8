import Crypto
import System
import TestSupport
import Testing

@testable import Host

/// Who is on duty, and who rests.
@Suite(.timeLimit(.minutes(1)))
struct RosterTests {
    @Test func `those who rest are woken when they are due, and not all at once`() {
        let roster = Roster()
        for number in 1...300 { roster.rest("\(number)", until: .seconds(number)) }
        roster.rest("12", until: .seconds(900))
        roster.remove("13")
        #expect(roster.takeDue(at: .milliseconds(500)) == [])
        let first: [String] = (1...14).filter { $0 < 12 || $0 > 13 }.map { "\($0)" }
        #expect(roster.takeDue(at: .seconds(14)) == first)
        #expect(roster.takeDue(at: .seconds(800)).count == 256)
        #expect(roster.takeDue(at: .seconds(800)).count == 30)
        #expect(roster.restingCount == 1)
        #expect(roster.takeDue(at: .seconds(900)) == ["12"])
    }

    @Test func `services rest when nobody needs them, and are there when somebody does`()
        async throws
    {
        let timekeeper = VirtualTimekeeper()
        try await RestingHost(of: 3, timekeeper).open { accounts in
            let roster = accounts.office.roster
            #expect(roster.restingCount == 3 && roster.onDuty.isEmpty)
            let account = try #require(accounts.everybody.first)
            for _ in 1...2 {
                #expect(await isAtWork(account))
                #expect(roster.onDuty.contains { $0 === account })
                await pass(timekeeper) { !roster.onDuty.contains { $0 === account } }
                #expect(!roster.onDuty.contains { $0 === account })
            }
        }
    }

    @Test func `an open vault has its services for as long as it is open`() async throws {
        let timekeeper = VirtualTimekeeper()
        try await RestingHost(of: 1, timekeeper).open { accounts in
            let account = try #require(accounts.everybody.first)
            try await account.open(SymmetricKey(from: SystemEntropy()))
            let end = timekeeper.elapsed + Account.quiet * 10
            await pass(timekeeper) { timekeeper.elapsed > end }
            #expect(accounts.office.roster.onDuty.contains { $0 === account })
            account.lockKeys()
            await pass(timekeeper) { accounts.office.roster.restingCount == 1 }
            #expect(accounts.office.roster.restingCount == 1)
        }
    }

    @Test func `whoever kept an account that was taken away is told so`() async throws {
        try await RestingHost(of: 2).open { accounts in
            let account = try #require(accounts.everybody.first)
            accounts.forget(account)
            #expect(await !isAtWork(account))
            #expect(accounts.office.roster.restingCount == 1)
        }
    }

    @Test func `all accounts are at work when they are needed, however many there are`()
        async throws
    {
        try await RestingHost(of: 1_100).open { accounts in
            var idle = 0
            for account in accounts.everybody where await !isAtWork(account) { idle += 1 }
            #expect(idle == 0)
            let summary = await accounts.summary
            #expect(summary.accounts.values.reduce(0, +) == 1_100)
        }
    }

    /// Until it has come to that. How long that takes by the machine's clock is the disk's, so only the
    /// suite's limit ends it.
    private func pass(_ timekeeper: VirtualTimekeeper, until hasCome: () -> Bool) async {
        while !hasCome(), !Task.isCancelled {
            timekeeper.advance()
            // Whoever was woken acts, and sleeps again, before more time passes.
            for _ in 0..<20 { await Task.yield() }
        }
    }

    /// Whoever is at work finds no such change; whoever is not is busy.
    private func isAtWork(_ account: Account) async -> Bool {
        do throws(DeskRefusal) {
            try await account.discard("none")
        } catch {
            if case .notFound = error { return true }
        }
        return false
    }
}
