import Bitwarden
import EmbeddedUpstream
import HTTP
import JSON
import Testing
import Vault

@testable import Host
@testable import Sync

/// Upstream ends sessions, and another device says so. Nothing that is kept here is lost by it.
@Suite(.timeLimit(.minutes(1)))
struct ForcedSignOutTests {
    /// The story is played when the host has been told of no session's end but by a sync.
    private static func deaf(
        _ story: @escaping @Sendable (Guest, HostStage, EmbeddedUpstream) async throws -> Void
    ) async throws {
        var venue = HostVenue()
        venue.personality = .bitwarden
        venue.parting = { guest, upstream, end in
            defer { end() }
            var fault = Fault(.drop, on: .hub)
            fault.times = nil
            await upstream.inject(fault)
            await upstream.goAway()
            try upstream.comeBack()
            try await story(guest, #require(guest.stage as? HostStage), upstream)
        }
        try await venue.open { _ in }
    }

    /// Once the account is known to be synced, so that nothing else is under way.
    private static func queueItem(_ guest: Guest) async throws {
        while try await !guest.post("/sync?force=true", "").isSuccess { await Task.yield() }
        #expect(try await guest.put("/network", #"{"mode":"offline"}"#).isSuccess)
        let made = try await guest.post("/object/item", #"{"type":1,"name":"kept"}"#)
        #expect(made.headers["Holdfast-Disposition"] == "queued")
    }

    @Test func `T-63 another security stamp ends the session, and what waits is there after it`()
        async throws
    {
        try await Self.deaf { guest, stage, _ in
            try await Self.queueItem(guest)
            try await stage.endSessions()
            #expect(try await guest.put("/network", #"{"mode":"auto"}"#).isSuccess)
            _ = try await guest.post("/sync?force=true", "")
            let path = "/accounts/\(stage.userID)"
            while try await guest.get(path).data?["status"]?.string != "signedOut" {
                _ = try await guest.post("/sync?force=true", "")
            }
            // T-57 Under keys of yesterday nothing is sent, though this server would take it.
            let waiting = try await guest.get("/pending").elements
            #expect(waiting.map { $0["attempts"]?.int } == [0])
            let refused = try await guest.post("/object/item", #"{"type":1,"name":"refused"}"#)
            #expect(refused.message == "You are not logged in.")
            let sync = try await guest.post("/sync?force=true", "")
            #expect(sync.data?["outcome"]?.string == "deferred", "\(sync.text)")
            #expect(sync.data?["reason"]?.string?.contains("ended the session") == true)
            #expect(sync.data?["pending"]?["total"]?.int == 1)
            _ = try await guest.accounts?.signIn(stage.signIn)
            while try await !guest.get("/pending").elements.isEmpty { await Task.yield() }
            #expect(try await guest.post("/sync?force=true", "").isSuccess)
            #expect(try await guest.get("/list/object/items").names == ["kept"])
            #expect(try await guest.get(path).data?["status"]?.string == "unlocked")
            // With nothing left that waits, there is nobody whose sync could be put off.
            try await stage.endSessions()
            while try await guest.get(path).data?["status"]?.string != "signedOut" {
                _ = try await guest.post("/sync?force=true", "")
            }
            let none = try await guest.post("/sync?force=true", "")
            #expect(none.status == .badRequest && none.message == "You are not logged in.")
        }
    }

    @Test
    func `T-63 what comes late of an ended session does not end the one that was begun since`()
        async throws
    {
        try await Self.deaf { guest, stage, upstream in
            while try await !guest.post("/sync?force=true", "").isSuccess { await Task.yield() }
            let account = try #require(guest.accounts?.account(stage.userID))
            account.upstream.doubtAccount()
            let late = await upstream.inject(Fault(.delayAnswer(.seconds(2)), on: .profile))
            async let folder = guest.post("/object/folder", #"{"name":"f"}"#)
            while await upstream.hits(late) == 0 {
                try Task.checkCancellation()
                await Task.yield()
            }
            try await stage.endSessions()
            _ = try await guest.accounts?.signIn(stage.signIn)
            _ = try await folder
            let path = "/accounts/\(stage.userID)"
            #expect(try await guest.get(path).data?["status"]?.string == "unlocked")
            #expect(!account.record.isSignedOut)
        }
    }

    @Test func `T-63 what upstream said before it ended a session does not take that back`()
        async throws
    {
        try await Self.deaf { guest, stage, upstream in
            while try await !guest.post("/sync?force=true", "").isSuccess { await Task.yield() }
            let account = try #require(guest.accounts?.account(stage.userID))
            let late = await upstream.inject(Fault(.delayAnswer(.seconds(2)), on: .sync))
            async let sync = guest.post("/sync?force=true", "")
            while await upstream.hits(late) == 0 {
                try Task.checkCancellation()
                await Task.yield()
            }
            var end = Fault(.invalidGrant, on: .token)
            end.times = nil
            await upstream.inject(end)
            account.session.doubt()
            let folder = try await guest.post("/object/folder", #"{"name":"f"}"#)
            #expect(!folder.isSuccess && account.record.isSignedOut)
            _ = try await sync
            #expect(account.record.isSignedOut)
        }
    }

    @Test func `T-63 what is asked while somebody signs in does not sign them out again`()
        async throws
    {
        try await Self.deaf { guest, stage, upstream in
            while try await !guest.post("/sync?force=true", "").isSuccess { await Task.yield() }
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(stage.userID))
            try await stage.endSessions()
            account.upstream.doubtAccount()
            let (id, records) = (account.id, account.office.records)
            let (beginning, isHeld) = AsyncStream<Never>.makeStream()
            async let turn: Void = records.hold(id) {
                isHeld.finish()
                while records.line(for: id) < 2 {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            for await _ in beginning {}
            let request = stage.signIn
            async let signedIn = accounts.signIn(request)
            while records.line(for: id) < 1 {
                try Task.checkCancellation()
                await Task.yield()
            }
            let profiles = await upstream.inject(Fault(.delayAnswer(.zero), on: .profile))
            async let asked = try? account.upstream.requireSameAccount(.interactive)
            try await turn
            #expect(await upstream.hits(profiles) > 0)
            _ = try await signedIn
            _ = await asked
            let status = try await guest.get("/accounts/\(id)").data?["status"]?.string
            #expect(status == "unlocked")
            #expect(!account.record.isSignedOut)
        }
    }

    @Test
    func `T-57 keys that are changed after another sign-in are noticed before anything is sent`()
        async throws
    {
        try await Self.deaf { guest, stage, upstream in
            while try await !guest.post("/sync?force=true", "").isSuccess { await Task.yield() }
            _ = try await guest.accounts?.signIn(stage.signIn)
            try await stage.endSessions()
            await upstream.forgetTraffic()
            let refused = try await guest.post("/object/item", #"{"type":1,"name":"refused"}"#)
            #expect(!refused.isSuccess, "\(refused.text)")
            #expect(await upstream.traffic.calls["createCipher"] == nil)
            let path = "/accounts/\(stage.userID)"
            #expect(try await guest.get(path).data?["status"]?.string == "signedOut")
        }
    }

    @Test(arguments: [false, true])
    func `a session that another host.key has sealed goes on once that is back`(
        _ hasLostItsKey: Bool
    ) async throws {
        var host = RestingHost(of: 1)
        host.hasLostItsKey = hasLostItsKey
        try await host.open { accounts in
            let account = try #require(accounts.everybody.first)
            account.session.doubt()
            let setback = await #expect(throws: Setback.self) {
                try await account.upstream.revision(.interactive)
            }
            #expect(setback?.reason == .signedOut)
            #expect(try await account.status == .signedOut)
            let stored = try #require(accounts.office.store.reader.accounts().first)
            #expect(try AccountRecord(stored).isSignedOut == !hasLostItsKey)
        }
    }

    /// Until upstream has said who it is, nobody is known there by the address.
    @Test func `T-57 what waits comes under the new key at whatever address its owner signs in`()
        async throws
    {
        try await Self.deaf { guest, stage, _ in
            try await Self.queueItem(guest)
            try await stage.changeKeys()
            #expect(try await guest.put("/network", #"{"mode":"auto"}"#).isSuccess)
            var request = stage.signIn
            request.server = stage.server.replacing("127.0.0.1", with: "localhost")
            try #require(request.server != stage.server)
            _ = try await guest.accounts?.signIn(request)
            let states = try await guest.get("/pending").elements.map { $0["state"]?.string }
            #expect(!states.contains("quarantined"))
            #expect(try await guest.post("/sync?force=true", "").isSuccess)
            #expect(try await guest.get("/pending").elements.isEmpty)
            #expect(try await guest.get("/list/object/items").names == ["kept"])
        }
    }

    /// What is known here, and what upstream shows.
    struct Comparison {
        let stamps: (known: String?, shown: String?)
        let keys: (known: String?, shown: String?)
        let isRecognised: Bool
    }

    @Test(arguments: [
        Comparison(stamps: ("s", "s"), keys: ("k", "k"), isRecognised: true),
        Comparison(stamps: ("s", "s"), keys: ("k", "other"), isRecognised: true),
        Comparison(stamps: ("s", "other"), keys: ("k", "k"), isRecognised: false),
        Comparison(stamps: (nil, "s"), keys: ("k", "k"), isRecognised: true),
        Comparison(stamps: (nil, "s"), keys: ("k", "other"), isRecognised: false),
        Comparison(stamps: ("s", nil), keys: ("k", "other"), isRecognised: false),
        Comparison(stamps: ("s", ""), keys: ("k", "k"), isRecognised: true),
        Comparison(stamps: (nil, "s"), keys: (nil, "k"), isRecognised: true),
    ])
    func `T-57 where stamps cannot be compared, other keys show in the private one`(
        _ comparison: Comparison
    ) throws {
        let (stamps, keys) = (comparison.stamps, comparison.keys)
        var record = AccountRecord(id: "u", email: HostVenue.email, server: "s", number: 1)
        (record.securityStamp, record.wrappedPrivateKey) = (stamps.known, keys.known)
        let text = JSON.Raw.object {
            $0.add("id", "u")
            $0.add("email", HostVenue.email)
            $0.add("securityStamp", stamps.shown)
            $0.add("privateKey", keys.shown)
        }
        let profile = try Profile(json: JSON.Document(text).root)
        #expect(record.recognises(profile) == comparison.isRecognised)
    }

    @Test func `T-63 who is told to log out locks, and asks whether the session goes on`()
        async throws
    {
        var venue = HostVenue()
        venue.personality = .bitwarden
        try await venue.open { guest async throws in
            let stage = try #require(guest.stage as? HostStage)
            try await stage.endSessions()
            let path = "/accounts/\(stage.userID)"
            while try await guest.get(path).data?["status"]?.string != "signedOut" {
                await Task.yield()
            }
            #expect(guest.accounts?.account(stage.userID)?.keyholder.isLocked == true)
        }
    }

    @Test func `T-63 an end of the session of which the line to the hub hears first is kept, too`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            while try await !guest.post("/sync?force=true", "").isSuccess { await Task.yield() }
            let account = try #require(guest.accounts?.account(guest.stage.userID))
            var end = Fault(.invalidGrant, on: .token)
            end.times = nil
            await upstream.inject(end)
            account.session.doubt()
            // The line is opened anew, for which a token is needed.
            await upstream.goAway()
            try upstream.comeBack()
            func kept() throws -> AccountRecord {
                try AccountRecord(#require(account.office.store.reader.accounts().first))
            }
            while try !kept().isSignedOut {
                try Task.checkCancellation()
                await Task.yield()
            }
            #expect(account.keyholder.isLocked)
        }
    }

    @Test func `who logs out other devices only goes on after a new token, once it is unlocked`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let account = try #require(guest.accounts?.account(guest.stage.userID))
            let token = account.session.tokens.access
            account.heedLogOut()
            #expect(account.keyholder.isLocked)
            let unlocked = try await guest.post(
                "/unlock",
                #"{"password":"\#(HostVenue.password)"}"#
            )
            #expect(unlocked.isSuccess)
            #expect(try await guest.post("/sync?force=true", "").isSuccess)
            #expect(account.session.tokens.access != token)
        }
    }

    /// As a client that tries again would.
    @Test func `an account that is signed in twice at once is there once`() async throws {
        try await HostVenue().open { guest, upstream in
            let accounts = try #require(guest.accounts)
            let stage = try #require(guest.stage as? HostStage)
            #expect(try await guest.delete("/accounts/\(stage.userID)").isSuccess)
            let wish = stage.signIn
            try await withThrowingTaskGroup(of: Void.self) { entrants in
                for _ in 0..<6 { entrants.addTask { _ = try await accounts.signIn(wish) } }
                try await entrants.waitForAll()
            }
            #expect(accounts.everybody.count == 1)
            #expect((accounts.everybody.first?.record.choice ?? 0) > 0)
            // Whoever is not there any more asks upstream nothing.
            #expect(try await guest.delete("/accounts/\(stage.userID)").isSuccess)
            await upstream.forgetTraffic()
            try await stage.endSessions()
            let traffic = await upstream.traffic.calls
            #expect(traffic["sync"] == nil && traffic["revisionDate"] == nil, "\(traffic)")
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `an account that moves and is taken away at once has one home, and then none`()
        async throws
    {
        try await HostVenue().open { guest, _ in
            let accounts = try #require(guest.accounts)
            let id = guest.stage.userID
            let onDuty = { accounts.office.roster.onDuty.filter { $0.id == id }.count }
            await withTaskGroup(of: Void.self) { moves in
                for port in 1...8 {
                    moves.addTask {
                        try? await accounts.setServer("http://127.0.0.1:\(port)", of: id)
                    }
                }
            }
            let account = try #require(accounts.account(id))
            #expect(accounts.everybody.count == 1 && onDuty() == 1)
            #expect(try accounts.link(to: account.record.server).number == account.link.number)
            await withTaskGroup(of: Void.self) { fates in
                fates.addTask {
                    try? await accounts.setServer("http://127.0.0.1:9", of: id)
                }
                fates.addTask { try? await accounts.remove(id, discardingPending: true) }
                fates.addTask {
                    try? await accounts.setServer("http://127.0.0.1:10", of: id)
                }
            }
            #expect(accounts.everybody.isEmpty && onDuty() == 0)
            #expect(try accounts.office.store.reader.accounts().isEmpty)
        }
    }

    @Test func `T-39 a token that is not renewed sets nothing aside, and edits go on waiting`()
        async throws
    {
        var venue = HostVenue()
        venue.personality = .bitwarden
        venue.parting = { guest, upstream, end in
            defer { end() }
            let account = try #require(guest.accounts?.account(guest.stage.userID))
            var fault = Fault(.answer(.refusal(400, "no"), isCarriedOut: false), on: .token)
            fault.times = nil
            let number = await upstream.inject(fault)
            account.session.doubt()
            for name in ["a", "b", "c"] {
                let made = try await guest.post("/object/item", #"{"type":1,"name":"\#(name)"}"#)
                #expect(made.headers["Holdfast-Disposition"] == "queued", "\(made.text)")
            }
            for _ in 0..<3 { _ = try await guest.post("/sync") }
            let states = try await guest.get("/pending").elements.map { $0["state"]?.string }
            #expect(states.count == 3 && !states.contains("quarantined"), "\(states)")
            await upstream.withdraw(number)
            #expect(try await guest.post("/sync").isSuccess)
            #expect(try await guest.get("/pending").elements.isEmpty)
        }
        try await venue.open { _ in }
    }

    @Test func `in a drill nothing is heard of upstream either`() async throws {
        var venue = HostVenue()
        venue.personality = .bitwarden
        try await venue.open { guest async throws in
            let stage = try #require(guest.stage as? HostStage)
            #expect(try await guest.put("/network", #"{"mode":"offline"}"#).isSuccess)
            try await stage.endSessions()
            for number in 0..<50 {
                let made = try await guest.post("/object/item", #"{"type":1,"name":"\#(number)"}"#)
                #expect(made.headers["Holdfast-Disposition"] == "queued", "\(made.text)")
            }
        }
    }

    @Test func `I1 a sign-in that cannot be finished takes no edit along`() async throws {
        try await HostVenue().open { guest, upstream in
            let accounts = try #require(guest.accounts)
            let stage = try #require(guest.stage as? HostStage)
            let path = "/accounts/\(stage.userID)"
            #expect(try await guest.delete(path).isSuccess)
            await upstream.forgetTraffic()
            await upstream.inject(Fault(.hang, on: .sync))
            let request = stage.signIn
            async let signedIn = accounts.signIn(request)
            while try await guest.get(path).data?["status"]?.string != "unlocked" {
                await Task.yield()
            }
            // The drill is to meet nothing that comes before it.
            while await upstream.traffic.calls["sync"] == nil { await Task.yield() }
            #expect(try await guest.put("/network", #"{"mode":"offline"}"#).isSuccess)
            let made = try await guest.post("/object/item", #"{"type":1,"name":"kept"}"#)
            #expect(made.headers["Holdfast-Disposition"] == "queued")
            await upstream.goAway()
            #expect(try await signedIn.id == stage.userID)
            #expect(try await guest.get("/list/object/items").names == ["kept"])
            #expect(try await guest.get("/pending").elements.count == 1)
        }
    }
}
