import Bitwarden
import EmbeddedUpstream
import HTTP
import Messaging
import JSON
import SQLite
import Sync
import System
import Testing

@testable import Host
@testable import Sync

/// The accounts of a host, and who may ask for which.
@Suite(.timeLimit(.minutes(1)))
struct AccountTests {
    @Test func `an account is shown as it stands`() async throws {
        let venue = try StillVenue()
        try await venue.open { guest async throws in
            let text = """
                {"object":"account","id":"\(guest.stage.userID)","email":"ada@example.test",\
                "server":"https://vault.example.test","status":"unlocked","default":true,\
                "lastSync":null,"lastOutcome":null,"network":"online",\
                "pending":{"total":0,"ready":0,"backingOff":0,"quarantined":0,"oldest":null}}
                """
            #expect(
                try await guest.get("/accounts").text
                    == #"{"success":true,"data":{"object":"list","data":[\#(text)]}}"#
            )
            #expect(
                try await guest.get("/accounts/\(guest.stage.userID)").text
                    == #"{"success":true,"data":\#(text)}"#
            )
            #expect(try await guest.get("/accounts/none").message == "Not found.")
        }
    }

    @Test func `what stands at the root stands below each account`() async throws {
        let venue = try StillVenue()
        let other = try venue.household.add(
            "8f0e7f0e-0000-4000-8000-000000000002",
            "b@example.test"
        )
        try await venue.open { guest async throws in
            let status = try await guest.get("/status").data?["template"]
            #expect(status?.text == #"{"serverUrl":null,"status":"unauthenticated"}"#)
            let refusals = [
                try await guest.get("/list/object/items"), try await guest.get("/pending"),
                try await guest.post("/sync"), try await guest.post("/lock"),
                try await guest.post("/unlock", #"{"password":"x"}"#),
            ]
            for refusal in refusals {
                #expect(refusal.message == DeskRefusal.noDefaultAccount.description)
                #expect(refusal.message?.hasPrefix("You are not logged in. None of") == true)
            }
            let first = "/accounts/\(guest.stage.userID.uppercased())"
            let second = "/accounts/\(other.id)"
            let made = try await guest.post("\(second)/object/item", #"{"type":1,"name":"x"}"#)
            #expect(made.isSuccess)
            #expect(try await guest.get("\(second)/list/object/items").names == ["x"])
            #expect(try await guest.get("\(first)/list/object/items").names == [])
            #expect(try await guest.get("\(first)/pending").isSuccess)
            other.change { $0.isAway = true }
            for (account, state) in [(first, "online"), (second, "offline")] {
                let network = try await guest.get("\(account)/network").data
                #expect(network?["state"]?.string == state, "Its own server counts.")
            }
            let unknown = try await guest.get("/accounts/none/list/object/items")
            #expect(unknown.message == "Not found.")
            let chosen = try await guest.put(second, #"{"default":true}"#)
            #expect(chosen.isSuccess)
            #expect(try await guest.get("/list/object/items").names == ["x"])
        }
    }

    @Test func `where nobody has signed in, the words are those of bw serve`() async throws {
        let venue = try StillVenue()
        try await venue.household.remove(venue.userID, discardingPending: false)
        try await venue.open { guest async throws in
            for path in ["/list/object/items", "/pending"] {
                #expect(try await guest.get(path).message == "You are not logged in.")
            }
            let unlock = try await guest.post("/unlock", #"{"password":"x"}"#)
            #expect(unlock.message == "No active account found")
            #expect(try await guest.post("/lock").isSuccess)
        }
    }

    @Test func `signing in wants what it says`() async throws {
        let venue = try StillVenue()
        try await venue.open { guest async throws in
            let bodies = [
                "{}": "email is missing.",
                #"{"email":"a@b.test"}"#: "password is missing.",
                #"{"email":"a@b.test","password":7}"#: "password must be a string.",
                #"{"email":" ","password":"x"}"#: "email is empty.",
                #"{"email":"a@b.test","password":"x","clientId":"y"}"#:
                    "clientId and clientSecret go together.",
                #"{"email":"a@b.test","password":"x"}"#:
                    "Username or password is incorrect. Try again.",
            ]
            for (body, message) in bodies {
                let reply = try await guest.post("/accounts", body)
                #expect(reply.status == .badRequest)
                #expect(reply.message == message)
            }
            let body = #"{"email":" c@b.test\n","password":"correct horse"}"#
            let reply = try await guest.post("/accounts", body)
            #expect(reply.data?["email"]?.string == "c@b.test")
            #expect(try await guest.get("/accounts").elements.count == 2)
        }
    }

    /// A second account of the same server. The answer is its id.
    private static func addBea(
        _ guest: Guest,
        _ stage: HostStage,
        as email: String = "bea@example.test"
    ) async throws -> String {
        let settings = DerivationSettings(kind: 0, iterations: 5_000)
        let bea = try Newcomer(email: email, password: stage.password, settings: settings)
        try await HostVenue.register(bea, at: stage.server, stage.client)
        let answer = try await guest.post(
            "/accounts",
            #"{"email":"\#(email)","password":"\#(stage.password)","server":"\#(stage.server)"}"#
        )
        return try #require(answer.data?["id"]?.string, "\(answer.text)")
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `the fingerprint of somebody else is the one that they see themselves`(
        _ personality: Personality.Name
    ) async throws {
        var venue = HostVenue()
        venue.personality = personality
        venue.parting = { guest, _, end in
            defer { end() }
            let stage = try #require(guest.stage as? HostStage)
            let bea = try await Self.addBea(guest, stage)
            let own = try await guest.get("/object/fingerprint/me").string
            let theirs = try await guest.get("/accounts/\(bea)/object/fingerprint/me").string
            let seen = try await guest.get("/object/fingerprint/\(bea.uppercased())")
            #expect(seen.string != nil && seen.string == theirs && seen.string != own)
            let nobody = "00000000-0000-4000-8000-000000000000"
            let unknown = try await guest.get("/object/fingerprint/\(nobody)")
            #expect(unknown.message == "Not found.", "\(unknown.text)")
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            #expect(try await guest.get("/object/fingerprint/me").string == own)
            let offline = try await guest.get("/object/fingerprint/\(bea)")
            #expect(offline.status == .badRequest && offline.message != "Not found.")
        }
        try await venue.open { _ in }
    }

    @Test func `whoever looks while another account is made the default sees one that is`()
        async throws
    {
        try await HostVenue().open { guest, _ in
            let stage = try #require(guest.stage as? HostStage)
            let other = try await Self.addBea(guest, stage)
            let isOver = Lock(false)
            async let looks = {
                var seen: [Int] = []
                while !isOver.withLock(\.self) {
                    let accounts = try await guest.get("/accounts").elements
                    seen.append(accounts.count { $0["default"]?.bool == true })
                    #expect(try await guest.get("/list/object/folders").isSuccess)
                }
                return seen
            }()
            for number in 0..<40 {
                let id = number.isMultiple(of: 2) ? other : stage.userID
                let answer = try await guest.put("/accounts/\(id)", #"{"default":true}"#)
                #expect(answer.data?["default"]?.bool == true)
            }
            isOver.withLock { $0 = true }
            #expect(Set(try await looks) == [1])
        }
    }

    /// The first account of a host comes to nothing, and others come meanwhile.
    private static func failFirst<Value>(
        _ guest: Guest,
        _ stage: HostStage,
        _ upstream: EmbeddedUpstream,
        meanwhile: () async throws -> Value
    ) async throws -> Value {
        let accounts = try #require(guest.accounts)
        #expect(try await guest.delete("/accounts/\(stage.userID)").isSuccess)
        let silence = await upstream.inject(Fault(.hang, on: .sync))
        let first = Task { [request = stage.signIn] in try await accounts.signIn(request) }
        while await upstream.hits(silence) == 0 { await Task.yield() }
        let value = try await meanwhile()
        first.cancel()
        await #expect(throws: DeskRefusal.self) { try await first.value }
        return value
    }

    @Test func `whoever came while the first account came to nothing is the default`() async throws
    {
        try await HostVenue().open { guest, upstream in
            let stage = try #require(guest.stage as? HostStage)
            let accounts = try #require(guest.accounts)
            let bea = try await Self.failFirst(guest, stage, upstream) {
                try await Self.addBea(guest, stage)
            }
            #expect(accounts.everybody.map(\.id) == [bea])
            #expect(accounts.account(bea)?.record.choice == 1)
            _ = try await accounts.signIn(stage.signIn)
            #expect(accounts.defaultDesk?.id == bea)
        }
    }

    @Test func `T-43 what a sign-in is asked to wait is kept, and told as what it is`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let accounts = try #require(guest.accounts)
            let stage = try #require(guest.stage as? HostStage)
            let refusal = Canned.tooManyRequests(retryAfter: "300")
            await upstream.inject(Fault(.answer(refusal, isCarriedOut: false), on: .token))
            let error = await #expect(throws: DeskRefusal.self) {
                _ = try await accounts.signIn(stage.signIn)
            }
            #expect(error?.description.hasPrefix("Could not sign in: ") == true)
            let kept = try accounts.office.store.reader.setting("not before \(stage.server)")
            #expect(kept.flatMap { Holds($0) }?.identity != nil)
        }
    }

    @Test
    func `of several who came while the first account came to nothing, the first is the default`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let stage = try #require(guest.stage as? HostStage)
            let accounts = try #require(guest.accounts)
            let newcomers = try await Self.failFirst(guest, stage, upstream) {
                let bea = try await Self.addBea(guest, stage)
                let cleo = try await Self.addBea(guest, stage, as: "cleo@example.test")
                #expect(accounts.defaultDesk?.id == stage.userID)
                return [bea, cleo]
            }
            #expect(accounts.everybody.map(\.id) == newcomers)
            #expect(accounts.everybody.map(\.record.choice) == [1, 0])
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `an account that was made anew is the default in place of the one that it was`(
        _ personality: Personality.Name
    ) async throws {
        var venue = HostVenue()
        venue.personality = personality
        try await venue.open { guest, _ in
            let stage = try #require(guest.stage as? HostStage)
            let accounts = try #require(guest.accounts)
            let bea = try await Self.addBea(guest, stage)
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            try await guest.login("waits")
            try await stage.makeAnew()
            _ = try await guest.put("/network", #"{"mode":"auto"}"#)
            let next = try await accounts.signIn(stage.signIn)
            #expect(accounts.everybody.map(\.id) == [stage.userID, bea, next.id])
            #expect(accounts.everybody.map { $0.record.choice > 0 } == [false, false, true])
            #expect(try await guest.get("/list/object/items").names == [])
            // What waits of the former one stays, sealed.
            let former = try #require(accounts.account(stage.userID))
            #expect(try await former.status == .signedOut)
            #expect(try await former.pending().count == 1)
        }
    }

    @Test func `whoever has the default account's former address is not the default for that`()
        async throws
    {
        try await HostVenue().open { guest, _ in
            let stage = try #require(guest.stage as? HostStage)
            let accounts = try #require(guest.accounts)
            let ada = try #require(accounts.account(stage.userID))
            // Here nobody has heard yet that it has another.
            try await ada.change { $0.email = "bea@example.test" }
            let bea = try await Self.addBea(guest, stage)
            #expect(accounts.defaultDesk?.id == ada.id && bea != ada.id)
            #expect(ada.record.email == HostVenue.email)
        }
    }

    /// As on a full disk.
    @Test func `an account that can neither be fetched nor taken back is not there`() async throws {
        try await HostVenue().open { guest, upstream in
            let stage = try #require(guest.stage as? HostStage)
            let accounts = try #require(guest.accounts)
            #expect(try await guest.delete("/accounts/\(stage.userID)").isSuccess)
            let reader = accounts.office.store.reader
            try await reader.database.execute(
                """
                CREATE TRIGGER kept BEFORE DELETE ON account
                BEGIN SELECT RAISE(ABORT, 'there is no room'); END
                """
            )
            await upstream.inject(Fault(.answer(.conflict, isCarriedOut: false), on: .sync))
            await #expect(throws: DeskRefusal.self) { try await accounts.signIn(stage.signIn) }
            #expect(accounts.everybody.isEmpty && accounts.defaultDesk == nil)
            let kept = try reader.accounts().map { try AccountRecord($0).isNewcomer }
            #expect(kept == [true], "The next start erases it.")
            try await reader.database.execute("DROP TRIGGER kept")
            let account = try await accounts.signIn(stage.signIn)
            #expect(accounts.account(account.id)?.record.isNewcomer == false)
            #expect(accounts.defaultDesk?.id == account.id)
        }
    }

    @Test func `a new account that cannot be made the default as it was wished is not there`()
        async throws
    {
        try await HostVenue().open { guest, _ in
            let stage = try #require(guest.stage as? HostStage)
            let accounts = try #require(guest.accounts)
            let bea = try await Self.addBea(guest, stage)
            #expect(try await guest.delete("/accounts/\(bea)").isSuccess)
            try await accounts.office.store.reader.database.execute(
                """
                CREATE TRIGGER kept BEFORE UPDATE ON account
                WHEN CAST(NEW.record AS TEXT) LIKE '%"choice":2%'
                BEGIN SELECT RAISE(ABORT, 'there is no room'); END
                """
            )
            var request = SignInRequest(email: "bea@example.test", password: stage.password)
            (request.server, request.isDefault) = (stage.server, true)
            let wish = request
            await #expect(throws: DeskRefusal.self) { try await accounts.signIn(wish) }
            #expect(accounts.everybody.map(\.id) == [stage.userID])
            #expect(try accounts.office.store.reader.accounts().map(\.id) == [stage.userID])
        }
    }

    @Test func `whom the last process had not let in yet is erased, and is not the default`()
        async throws
    {
        var host = RestingHost(of: 3)
        host.newcomer = 1
        try await host.open { accounts in
            let reader = accounts.office.store.reader
            #expect(accounts.everybody.map(\.record.number) == [2, 3])
            while try reader.accounts().count > 2 { await Task.yield() }
            while accounts.defaultDesk == nil { await Task.yield() }
            #expect(accounts.everybody.map(\.record.choice) == [1, 0])
        }
    }

    @Test func `a server that nobody came to be on is left after a while, and is met anew`()
        async throws
    {
        try await HostVenue().open { guest, _ in
            let stage = try #require(guest.stage as? HostStage)
            let accounts = try #require(guest.accounts)
            var request = SignInRequest(email: HostVenue.email, password: HostVenue.password)
            request.server = "http://127.0.0.1:9"
            let wish = request
            for _ in 0..<2 {
                await #expect(throws: DeskRefusal.self) { try await accounts.signIn(wish) }
                let now = accounts.office.surroundings.timekeeper.elapsed
                let wrong = try #require(
                    accounts.links.first { $0.upstream.bases.server == "http://127.0.0.1:9" }
                )
                accounts.leaveIdleServers(at: now + ServerLinks.patience - .seconds(60))
                #expect(accounts.links.count == 2)
                accounts.leaveIdleServers(at: now + ServerLinks.patience + .seconds(60))
                #expect(accounts.links.count == 1)
                #expect(throws: Undelivered.self) { try wrong.monitor.address.tryTell(.reliedOn) }
            }
            // Each is counted by whether it is asked, for as long as it is there.
            let figures = Client.Request(.get, stage.ops + "/metrics")
            var count = 0
            while count != 1 {
                let page = String(
                    decoding: try await stage.client.send(figures).body,
                    as: UTF8.self
                )
                count = page.split(separator: "\n")
                    .filter { $0.hasPrefix("holdfast_upstream_breakers{") }
                    .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
            }
            #expect(try await guest.post("/sync", "").isSuccess, "The other is kept.")
        }
    }

    @Test func `who signs in is fetched once`() async throws {
        try await HostVenue().open { guest, upstream in
            let stage = try #require(guest.stage as? HostStage)
            #expect(try await guest.delete("/accounts/\(stage.userID)").isSuccess)
            await upstream.forgetTraffic()
            var request = SignInRequest(email: HostVenue.email, password: HostVenue.password)
            request.server = stage.server
            _ = try await guest.accounts?.signIn(request)
            let answer = try await guest.post("/sync", "")
            #expect(answer.data?["outcome"]?.string == "notNeeded")
            #expect(await upstream.traffic.calls["sync"] == 1)
        }
    }

    @Test func `what goes with its account is counted as discarded`() async throws {
        try await HostVenue().open { guest, _ in
            let stage = try #require(guest.stage as? HostStage)
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            for name in ["one", "two"] { try await guest.login(name) }
            let gone = try await guest.delete("/accounts/\(stage.userID)?discardPending=true")
            #expect(gone.isSuccess, "\(gone.text)")
            let page = try await stage.client.send(Client.Request(.get, stage.ops + "/metrics"))
            let line = #"holdfast_resolutions_total{type="create",outcome="discarded"} 2"#
            #expect(String(decoding: page.body, as: UTF8.self).contains(line + "\n"))
        }
    }

    @Test func `T-63 an account with something pending goes only when told so`() async throws {
        let venue = try StillVenue()
        try await venue.open { guest async throws in
            let path = "/accounts/\(guest.stage.userID)"
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            try await guest.login("one")
            for query in ["", "?discardPending=false", "?discardPending=", "?discardPending=1"] {
                #expect(try await guest.delete(path + query).status == .badRequest, "\(query)")
            }
            #expect(try await guest.delete(path).message?.contains("1") == true)
            let gone = try await guest.delete(path + "?discardPending=true")
            #expect(gone.text == #"{"success":true}"#)
            #expect(try await guest.get("/accounts").elements.isEmpty)
            #expect(try await guest.get("/status").data?["template"]?["status"]?.string != nil)
        }
    }

    @Test func `a bad change of an account changes nothing`() async throws {
        let venue = try StillVenue()
        try await venue.open { guest async throws in
            let path = "/accounts/\(guest.stage.userID)"
            for body in [
                "{}", "[]", #"{"default":false}"#, #"{"default":"yes"}"#, #"{"server":1}"#,
            ] {
                let reply = try await guest.put(path, body)
                #expect(reply.status == .badRequest && reply.message != nil, "\(body)")
            }
        }
    }

    @Test func `how the network stands is told of the servers that somebody uses`() async throws {
        try await HostVenue().open { guest async throws in
            let path = "/accounts/\(guest.stage.userID)"
            let server = try #require(try await guest.get(path).data?["server"]?.string)
            let away = try await guest.put(path, #"{"server":"http://127.0.0.1:1"}"#)
            #expect(away.isSuccess, "\(away.text)")
            #expect(try await guest.post("/sync?force=true").status == .badRequest)
            // The monitor hears of it in its own time.
            func isNetwork(_ state: String) async throws -> Bool {
                try await guest.get("/network").data?["state"]?.string == state
            }
            while try await !isNetwork("offline"), !Task.isCancelled { await Task.yield() }
            #expect(try await guest.put(path, #"{"server":"\#(server)"}"#).isSuccess)
            #expect(try await guest.post("/sync?force=true").isSuccess)
            while try await !isNetwork("online"), !Task.isCancelled { await Task.yield() }
            #expect(try await isNetwork("online"))
        }
    }

    @Test func `a token for one account sees that account only`() async throws {
        var venue = try StillVenue()
        let other = try venue.household.add(
            "8f0e7f0e-0000-4000-8000-000000000002",
            "b@example.test"
        )
        venue.caller = Caller(.admin, accountID: other.id)
        try await venue.open { guest async throws in
            let mine = try await guest.get("/status").data?["template"]?["userId"]
            #expect(mine?.string == other.id)
            #expect(try await guest.get("/accounts/\(other.id)/status").isSuccess)
            #expect(try await guest.get("/accounts").elements.count == 1)
            let foreign = "/accounts/\(guest.stage.userID)"
            for path in [foreign, foreign + "/status", "/accounts/none/status"] {
                let reply = try await guest.get(path)
                #expect(reply.status == .forbidden)
                #expect(reply.json?["success"]?.bool == false)
            }
            let body = #"{"email":"c@b.test","password":"correct horse"}"#
            #expect(try await guest.post("/accounts", body).status == .forbidden)
            let drill = try await guest.put("/network", #"{"mode":"offline"}"#)
            #expect(drill.status == .forbidden)
            #expect(try await guest.get("/network").data?["mode"]?.string == "auto")
        }
    }

    @Test(arguments: Venue.allCases)
    func `the network can be taken away and given back`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let off = try await guest.put("/network", #"{"mode":"offline"}"#)
            #expect(off.data?["object"]?.string == "network")
            #expect(off.data?["mode"]?.string == "offline")
            #expect(off.data?["state"]?.string == "offline")
            for body in ["{}", #"{"mode":"on"}"#, #"{"mode":1}"#, "[]"] {
                #expect(try await guest.put("/network", body).status == .badRequest, "\(body)")
            }
            let on = try await guest.put("/network", #"{"mode":"auto"}"#)
            #expect(on.data?["mode"]?.string == "auto")
            #expect(on.data?["since"]?.string?.hasSuffix("Z") == true)
        }
    }

    @Test func `after a drill the network stands since then, also where nobody has signed in`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let accounts = try #require(guest.accounts)
            #expect(try await guest.delete("/accounts/\(guest.stage.userID)").isSuccess)
            await accounts.setDrill(true)
            let drill = accounts.network
            await accounts.setDrill(false)
            #expect(accounts.network.since >= drill.since)
        }
    }

    @Test func `a scope is needed as the table says, whatever the spelling of the path`() throws {
        let wanted: [(HTTP.Method, String, Caller.Scope)] = [
            (.get, "/status", .read), (.head, "/list/object/items", .read),
            (.post, "/unlock", .write), (.post, "/LOCK/", .write), (.post, "/sync", .write),
            (.put, "/object/item/x", .write), (.delete, "/pending/x", .write),
            (.post, "/accounts/a/pending/x/retry", .write), (.get, "/events", .read),
            (.get, "/accounts", .admin), (.post, "/Accounts", .admin),
            (.delete, "/accounts/x/", .admin), (.get, "/accounts/x", .admin),
            (.get, "/accounts/x/status", .read), (.put, "/network", .admin),
            (.put, "/accounts/a/NETWORK", .admin), (.get, "/network", .read),
            (.get, "/openapi.json", .read), (.get, "/nowhere", .read),
        ]
        for (method, path, scope) in wanted {
            let request = Request(method, try #require(Target(path)))
            #expect(VaultAPI.way(of: request).scope == scope, "\(method) \(path)")
        }
    }

    @Test func `a route has a name by which it is counted`() throws {
        for (method, path, name) in [
            (HTTP.Method.get, "/accounts/A/Object/item/x/", "/object/item/{id}"),
            (.get, "/object/item/x", "/object/item/{id}"),
            (.delete, "/accounts/A", "/accounts/{accountId}"), (.post, "/status", "/status"),
            (.get, "/nowhere", nil),
        ] {
            let request = Request(method, try #require(Target(path)))
            #expect(VaultAPI.way(of: request).name == name, "\(path)")
        }
        let templates = VaultAPI.requests.map(\.template)
        #expect(templates.contains("/accounts/{accountId}/object/item/{id}"))
    }
}
