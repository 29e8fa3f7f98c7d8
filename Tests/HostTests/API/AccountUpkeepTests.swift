import EmbeddedUpstream
import HTTP
import JSON
import System
import Testing

@testable import Crypto
@testable import Host
@testable import Sync

/// What accounts do not do more often, or share more widely, than they have to.
@Suite(.timeLimit(.minutes(1)))
struct AccountUpkeepTests {
    @Test func `keys of which nothing is new are opened once, however often the account syncs`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let account = try #require(guest.accounts?.account(guest.stage.userID))
            #expect(try await guest.post("/sync?force=true", "").isSuccess)
            let ring = try #require(account.keyholder.keys)
            for _ in 0..<3 { #expect(try await guest.post("/sync?force=true", "").isSuccess) }
            #expect(account.keyholder.keys === ring)
            let (organization, _) = try await guest.stage.addOrganization()
            let renewed = try #require(account.keyholder.keys)
            #expect(renewed !== ring)
            #expect(renewed.owner(organizationID: organization) != nil)
            #expect(ring.owner(organizationID: organization) == nil)
        }
    }

    /// Where keys are opened, something else is done until the sync has ended.
    @Test func `an organisation that a sync brings while the vault is being opened is open, too`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let stage = try #require(guest.stage as? HostStage)
            let account = try #require(guest.accounts?.account(stage.userID))
            account.lockKeys()
            let hasBegun = Lock(false)
            let end = Semaphore()
            let other = Task { [workshop = account.office.workshop] in
                try await workshop.run(0) { _ throws(CryptoError) in
                    hasBegun.withLock { $0 = true }
                    end.wait()
                    return 0
                }
            }
            while !hasBegun.withLock(\.self) { await Task.yield() }
            let opening = Task.immediate { try await account.open(stage.userKey()) }
            let added = await Result { try await stage.addOrganization() }
            end.signal()
            _ = try await (opening.value, other.value)
            let organization = try added.get().organization
            while account.keyholder.keys?.owner(organizationID: organization) == nil {
                try Task.checkCancellation()
                #expect(try await guest.post("/sync").isSuccess)
            }
        }
    }

    @Test func `runs stand in line with those for the same server, and for no other`() async throws
    {
        try await HostVenue().open { guest async throws in
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(guest.stage.userID))
            let other = try accounts.link(to: "https://other.example.test")
            var places: [RunTurns.Place] = []
            for number in 0..<RunTurns.mostAtOnce {
                places.append(await other.runs.begin("\(number)", isInsistent: false))
            }
            try await guest.editWhileAway()
            while try await !guest.get("/pending").elements.isEmpty { await Task.yield() }
            for number in 0..<RunTurns.mostAtOnce {
                places.append(await account.link.runs.begin("\(number)", isInsistent: false))
            }
            try await guest.editWhileAway()
            while !account.link.runs.hurry(account.id) { await Task.yield() }
            while try await !guest.get("/pending").elements.isEmpty { await Task.yield() }
            #expect(places.allSatisfy { $0 == .counted })
        }
    }

    @Test func `the server that an account has already, in other words, changes nothing about it`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(guest.stage.userID))
            let server = account.record.server
            let other = server + "/"
            let reply = try await guest.put("/accounts/\(account.id)", #"{"server":"\#(other)"}"#)
            #expect(reply.isSuccess && account.record.server == other)
            #expect(accounts.account(account.id) === account)
            let shown = try await guest.get("/accounts/\(account.id)").data?["server"]?.string
            #expect(shown == server)
            let status = try await guest.get("/status").data?["template"]
            #expect(status?["serverUrl"]?.string == shown)
            // It goes on hearing that the network is back.
            try await guest.editWhileAway()
            while try await !guest.get("/pending").elements.isEmpty { await Task.yield() }
        }
    }

    @Test func `the services on another server begin when those on the former have ended`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(guest.stage.userID))
            let former = account.staff.shift
            try await accounts.moveElsewhere(account)
            let moved = try #require(accounts.account(account.id))
            #expect(moved !== account && moved.staff.former === former)
            try await guest.editWhileAway()
            while try await !guest.get("/pending").elements.isEmpty { await Task.yield() }
        }
    }

    @Test func `who is signed in again hears of the network whenever the services of before end`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(guest.stage.userID))
            // That the line to the hub is back would be a reason to sync.
            var deafness = Fault(.drop, on: .hub)
            deafness.times = nil
            await upstream.inject(deafness)
            let former = account.staff.shift
            let silence = await upstream.inject(Fault(.hang, on: .sync))
            async let cut = guest.post("/sync?force=true")
            while await upstream.hits(silence) == 0 { await Task.yield() }
            try await accounts.remove(account.id, discardingPending: true)
            var request = SignInRequest(email: HostVenue.email, password: HostVenue.password)
            request.server = account.record.server
            _ = try await accounts.signIn(request)
            let again = try #require(accounts.account(account.id))
            #expect(again !== account && again.staff.former === former && former.isOver)
            await former.ended()
            try await guest.editWhileAway()
            while try await !guest.get("/pending").elements.isEmpty { await Task.yield() }
            _ = try await cut
        }
    }

    @Test func `who syncs while somebody signs in hears of the sync that comes after that`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let accounts = try #require(guest.accounts)
            let stage = try #require(guest.stage as? HostStage)
            let late = await upstream.inject(Fault(.delayAnswer(.milliseconds(500)), on: .sync))
            async let syncing = guest.post("/sync?force=true")
            while await upstream.hits(late) == 0 { await Task.yield() }
            _ = try await accounts.signIn(stage.signIn)
            let synced = try await syncing
            #expect(synced.isSuccess, "\(synced.text)")
        }
    }

    @Test func `who syncs an account that is taken away meanwhile reads that it is not here`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let accounts = try #require(guest.accounts)
            let silence = await upstream.inject(Fault(.hang, on: .sync))
            async let syncing = guest.post("/sync?force=true")
            while await upstream.hits(silence) == 0 { await Task.yield() }
            try await accounts.remove(guest.stage.userID, discardingPending: true)
            #expect(try await syncing.message == "You are not logged in.")
        }
    }

    @Test func `who unlocks an account while it moves is not told that it is open`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(guest.stage.userID))
            account.lockKeys()
            try await accounts.moveElsewhere(account)
            let moved = try #require(accounts.account(account.id))
            try #require(moved !== account)
            let refusal = await #expect(throws: DeskRefusal.self) {
                try await account.unlock(Secret(utf8: HostVenue.password))
            }
            #expect(refusal?.status == .unavailable)
            #expect(moved.keyholder.isLocked)
            try await moved.unlock(Secret(utf8: HostVenue.password))
            #expect(!moved.keyholder.isLocked)
        }
    }

    @Test func `an edit that is on its way is answered although its account moves meanwhile`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(guest.stage.userID))
            await upstream.forgetTraffic()
            await upstream.inject(Fault(.delay(.seconds(2)), on: .createCipher))
            async let made = guest.post("/object/item", Sample.login)
            while await upstream.traffic.calls["createCipher"] == nil { await Task.yield() }
            try await accounts.moveElsewhere(account)
            #expect(try await made.headers["Holdfast-Disposition"] == "saved")
            #expect(try await guest.get("/list/object/items").elements.count == 1)
        }
    }

    @Test func `a file that is on its way is told as attached though its account moves meanwhile`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(guest.stage.userID))
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let late = await upstream.inject(Fault(.delay(.milliseconds(500)), on: .uploadFile))
            async let attaching = guest.upload([1], "file", "/attachment?itemid=\(id)")
            while await upstream.hits(late) == 0 { await Task.yield() }
            try await accounts.moveElsewhere(account)
            let attached = try await attaching
            #expect(attached.data?["attachments"]?.array?.count == 1, "\(attached.text)")
        }
    }

    @Test func `what could not be sent from where its account was goes out from where it is`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(guest.stage.userID))
            // That the line to the hub is back would be a reason to sync.
            var deafness = Fault(.drop, on: .hub)
            deafness.times = nil
            await upstream.inject(deafness)
            account.upstream.doubtAccount()
            let silence = await upstream.inject(Fault(.hang, on: .profile))
            async let made = guest.post("/object/item", Sample.login)
            while await upstream.hits(silence) == 0 { await Task.yield() }
            try await accounts.moveElsewhere(account)
            #expect(try await made.headers["Holdfast-Disposition"] == "queued")
            while try await !guest.get("/pending").elements.isEmpty { await Task.yield() }
            #expect(try await guest.get("/list/object/items").elements.count == 1)
        }
    }

    @Test func `whoever was announced is waited for, though nothing of them runs yet`() async {
        let shift = Shift()
        await shift.ended()
        shift.begin()
        await withTaskGroup(of: String.self) { tasks in
            tasks.addTask {
                await shift.ended()
                return "waited"
            }
            tasks.addTask {
                await Task.yield()
                return "ran"
            }
            #expect(await tasks.next() == "ran")
            await shift.run {}
            #expect(await tasks.next() == "waited")
        }
    }

    @Test func `what is tried right after a drill finds the network as it is`() async throws {
        try await HostVenue().open { guest async throws in
            for number in 0..<10 {
                #expect(try await guest.put("/network", #"{"mode":"offline"}"#).isSuccess)
                let back = try await guest.put("/network", #"{"mode":"auto"}"#)
                #expect(back.data?["state"]?.string == "online")
                let folder = try await guest.post("/object/folder", #"{"name":"f\#(number)"}"#)
                #expect(folder.isSuccess, "\(folder.text)")
                let item = try await guest.post("/object/item", Sample.login)
                #expect(item.headers["Holdfast-Disposition"] == "saved")
            }
        }
    }

    /// A time that is longer than anybody waits is deferred anyway; a short one was waited for.
    @Test func `who asks for a sync is told of a time that upstream has set, and sits it out not`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let item = try await guest.login("house")
            let throttle = Canned.tooManyRequests(retryAfter: "8")
            await upstream.inject(Fault(.answer(throttle, isCarriedOut: false), on: .updateCipher))
            let edit = #"{"type":1,"name":"mine","login":{"password":"q"}}"#
            let reply = try await guest.put("/object/item/\(item)", edit)
            #expect(reply.headers["Holdfast-Disposition"] == "queued")
            let sync = try await guest.post("/sync")
            #expect(sync.isSuccess && sync.data?["outcome"]?.string == "deferred")
            #expect(sync.data?["pending"]?["total"]?.int == 1)
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `a server that does not say how old it is is the one that it was, and no other`(
        _ name: String
    ) async throws {
        try await HostVenue().open { guest, upstream in
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(guest.stage.userID))
            #expect(!account.record.dropsItemKeys)
            let former = account.record.server
            var fault = Fault(.drop, on: .config)
            fault.times = nil
            let silence = await upstream.inject(fault)
            var request = SignInRequest(email: HostVenue.email, password: HostVenue.password)
            let server = former.replacing("127.0.0.1", with: name)
            request.server = server
            _ = try await accounts.signIn(request)
            #expect(await upstream.hits(silence) > 0)
            let now = try #require(accounts.account(guest.stage.userID))
            #expect(now.record.dropsItemKeys == (server != former))
        }
    }

    @Test func `what is heard of an account that was taken away is not kept`() async throws {
        try await HostVenue().open { guest async throws in
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(guest.stage.userID))
            try await accounts.remove(account.id, discardingPending: false)
            await #expect(throws: DeskRefusal.self) { try await account.change { $0.number = 7 } }
            #expect(try account.office.store.reader.accounts().isEmpty)
        }
    }
}

extension Guest {
    /// An item that is made while the network is away, which is back at the end.
    fileprivate func editWhileAway() async throws {
        #expect(try await put("/network", #"{"mode":"offline"}"#).isSuccess)
        let reply = try await post("/object/item", Sample.login)
        #expect(reply.headers["Holdfast-Disposition"] == "queued")
        #expect(try await put("/network", #"{"mode":"auto"}"#).isSuccess)
    }
}

extension Accounts {
    /// To what is the same server under a name that nobody here knows to be the same.
    fileprivate func moveElsewhere(_ account: Account) async throws {
        let other = account.record.server.replacing("127.0.0.1", with: "localhost")
        try #require(other != account.record.server)
        try await setServer(other, of: account.id)
    }
}
