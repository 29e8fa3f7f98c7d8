import EmbeddedUpstream
import HTTP
import JSON
import Messaging
import Sync
import System
import TestSupport
import Testing
import Vault

@testable import Host
@testable import Sync

/// Whoever asks for something and leaves before the answer comes leaves nothing behind that is half done.
@Suite(.timeLimit(.minutes(1)))
struct LeavingTests {
    /// Whether each who was answered heard that a drill goes on, in the order of the answers.
    private final class Answers: Sendable {
        private let drills = Lock<[Bool]>([])

        var all: [Bool] { drills.withLock(\.self) }

        func note(_ standing: NetworkStanding) { drills.withLock { $0.append(standing.isDrill) } }
    }

    /// The store begins to answer when whoever has asked it for something has left.
    private static func leave(
        during deed: @escaping @Sendable (Accounts, Account) async throws -> Void,
        then look: @escaping @Sendable (Accounts, Account) throws -> Void
    ) async throws {
        var host = RestingHost(of: 2)
        let beginning = Gate()
        host.beginning = beginning
        try await host.open { accounts in
            let account = try #require(accounts.everybody.first)
            let asker = Task { try await deed(accounts, account) }
            while accounts.office.store.address.traffic.depth == 0 { await Task.yield() }
            asker.cancel()
            beginning.open()
            _ = await asker.result
            try look(accounts, account)
        }
    }

    @Test func `an account that is erased in the store is gone from here as well`() async throws {
        try await Self.leave { accounts, account in
            try await accounts.remove(account.id, discardingPending: false)
        } then: { accounts, account in
            #expect(accounts.account(account.id) == nil && account.isGone)
            let stored = try accounts.office.store.reader.accounts()
            #expect(stored.map(\.id) == accounts.everybody.map(\.id) && stored.count == 1)
            // What follows from that is done, too: the other one is the default now.
            #expect(accounts.everybody.first?.record.choice == 1)
        }
    }

    @Test func `an account that has another server in the store is there already`() async throws {
        let other = "http://127.0.0.1:10"
        try await Self.leave { accounts, account in
            try await accounts.setServer(other, of: account.id)
        } then: { accounts, account in
            let moved = try #require(accounts.account(account.id))
            #expect(moved !== account && moved.record.server == other)
            let stored = try accounts.office.store.reader.accounts().map(AccountRecord.init)
            #expect(stored.first { $0.id == account.id }?.server == other)
        }
    }

    @Test func `an account that is chosen while it moves is the default where it is by then`()
        async throws
    {
        try await RestingHost(of: 2).open { accounts in
            let (id, records) = (try #require(accounts.everybody.first).id, accounts.office.records)
            let (move, choice) = await records.hold(id) {
                let move = Task { try await accounts.setServer("http://127.0.0.1:10", of: id) }
                while records.line(for: id) < 1 { await Task.yield() }
                let choice = Task { try await accounts.makeDefault(id) }
                while records.line(for: id) < 2 { await Task.yield() }
                return (move, choice)
            }
            try await move.value
            try await choice.value
            let moved = try #require(accounts.account(id))
            #expect(moved.record.server == "http://127.0.0.1:10" && moved.record.choice > 0)
            let stored = try accounts.office.store.reader.accounts().map(AccountRecord.init)
            #expect(stored.first { $0.id == id }?.choice == moved.record.choice)
        }
    }

    @Test func `a new account is not there if whoever signs it in leaves before it is fetched`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let accounts = try #require(guest.accounts)
            let stage = try #require(guest.stage as? HostStage)
            try await accounts.remove(stage.userID, discardingPending: false)
            let silence = await upstream.inject(Fault(.hang, on: .sync))
            var request = SignInRequest(email: HostVenue.email, password: HostVenue.password)
            request.server = stage.server
            let asker = Task { [request] in _ = try await accounts.signIn(request) }
            while await upstream.hits(silence) == 0 { await Task.yield() }
            #expect(accounts.account(stage.userID) != nil)
            asker.cancel()
            await #expect(throws: DeskRefusal.self) { try await asker.value }
            #expect(accounts.everybody.isEmpty)
            #expect(try accounts.office.store.reader.accounts().isEmpty)
            _ = try await accounts.signIn(request)
            #expect(accounts.account(stage.userID)?.syncing.lastSync != nil)
        }
    }

    @Test func `a token that was renewed for somebody who has left is kept all the same`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(guest.stage.userID))
            let (id, records) = (account.id, accounts.office.records)
            let before = account.session.tokens.access
            account.session.doubt()
            let asker = await records.hold(id) {
                let asker = Task { _ = try await account.publicKey(of: id) }
                while records.line(for: id) == 0 { await Task.yield() }
                asker.cancel()
                return asker
            }
            _ = await asker.result
            let present = account.session.tokens.access
            #expect(present != before)
            let record = try #require(accounts.office.store.reader.accounts().first)
            let kept = try AccountRecord(record).sealedTokens.flatMap(
                accounts.office.key.openTokens
            )
            #expect(kept?.access == present)
        }
    }

    @Test func `a move that was given up may come for as long as one that was not answered`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let (organization, collection) = try await guest.stage.addOrganization()
            let made = try await guest.login("x")
            let account = try #require(guest.accounts?.account(guest.stage.userID))
            let id = try #require(try await account.item(made)?.item.id)
            let silence = await upstream.inject(Fault(.hang, on: .shareCipher))
            let asker = Task {
                _ = try await account.share(id, with: organization, in: [collection])
            }
            while await upstream.hits(silence) == 0 { await Task.yield() }
            let (office, lane) = (account.office, Lane(userID: account.id, cipherID: id))
            let cut = office.surroundings.now
            asker.cancel()
            await #expect(throws: DeskRefusal.self) { try await asker.value }
            let now = office.surroundings.now
            let last: Moment? = try await office.ask {
                .change(.expectLateCall(.share, of: lane, at: now, $0))
            }
            #expect(try #require(last) >= cut)
        }
    }

    @Test func `an edit whose account is erased while it is sent is not told that it will be sent`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(guest.stage.userID))
            let made = try await guest.login("x")
            let id = try #require(try await account.item(made)?.item.id)
            let silence = await upstream.inject(Fault(.hang, on: .trashCipher))
            let asker = Task { _ = try await account.trash(id) }
            while await upstream.hits(silence) == 0 { await Task.yield() }
            try await accounts.remove(account.id, discardingPending: true)
            await #expect { try await asker.value } throws: { error in
                if case DeskRefusal.noAccount = error { true } else { false }
            }
        }
    }

    @Test func `an account is made the default though the one before it is taken away meanwhile`()
        async throws
    {
        try await RestingHost(of: 3).open { accounts in
            let (first, second) = (accounts.everybody[0], accounts.everybody[1])
            try await accounts.makeDefault(first.id)
            let records = accounts.office.records
            let gate = Gate()
            let holder = Task { await records.hold(first.id) { await gate.pass() } }
            await gate.arrivals(1)
            let choice = Task { try await accounts.makeDefault(second.id) }
            while records.line(for: first.id) == 0 { await Task.yield() }
            accounts.forget(first)
            gate.open()
            await holder.value
            try await choice.value
            #expect(accounts.defaultDesk?.id == second.id)
        }
    }

    @Test
    func `of two who wish for a drill and for its end at once, the last answered has their way`()
        async throws
    {
        let timekeeper = VirtualTimekeeper()
        var host = RestingHost(of: 1, timekeeper)
        // Nobody tells how the network stands, so whoever asks is waited for as long as anybody is.
        host.beginning = Gate()
        try await host.open { accounts in
            let answers = Answers()
            let drill = Task { await answers.note(accounts.setDrill(true)) }
            while !accounts.drill.isDrill { await Task.yield() }
            let end = Task { await answers.note(accounts.setDrill(false)) }
            while accounts.drill.isDrill, accounts.drills.line(for: Accounts.drillLane) == 0 {
                await Task.yield()
            }
            while answers.all.count < 2 {
                timekeeper.advance()
                await Task.yield()
            }
            await drill.value
            await end.value
            #expect(answers.all == [true, false])
            #expect(!accounts.network.isDrill && !accounts.drill.isDrill)
        }
    }

    @Test func `a drill that has begun is known to all who look at the network`() async throws {
        try await RestingHost(of: 1, VirtualTimekeeper()).open { accounts in
            let monitor = try #require(accounts.everybody.first).link.monitor
            await withDiscardingTaskGroup { tasks in
                tasks.cancelAll()
                tasks.addTask { await accounts.setDrill(true) }
            }
            try await monitor.address.ask { .pulse($0) }
            #expect(accounts.drill.isDrill && monitor.standing.state == .offline)
        }
    }
}
