import Glibc
import HTTP
import JSON
@testable import Sync
import System
import TestSupport
import Testing
import Vault

@testable import Host

/// What operators and their machines are told.
struct OpsTests {
    private func get(
        _ venue: ShellVenue,
        _ path: String,
        _ headers: [String] = []
    ) throws -> ShellWire.Answer {
        let host = headers.contains { $0.hasPrefix("Host:") } ? [] : [venue.opsHost]
        return try ShellWire(venue.ops).ask("GET \(path)", host + headers)
    }

    @Test func `health is told plainly, and in parts to whoever asks for more`() async throws {
        let isReadable = Lock(true)
        let venue = try await ShellVenue(
            household: ShellHousehold([], network: .offline),
            tally: { isReadable.withLock { $0 } ? [] : nil }
        )
        #expect(try get(venue, "/livez").status == 200)
        #expect(try get(venue, "/healthz").status == 200)
        #expect(try get(venue, "/readyz").body == "ok\n")
        #expect(try get(venue, "/readyz?verbose").body == "[+]host ok\n[+]store ok\nok\n")
        isReadable.withLock { $0 = false }
        let answer = try get(venue, "/readyz")
        #expect(answer.status == 503 && answer.body.contains("[-]store unreadable"))
        #expect(try get(venue, "/livez").status == 200)
        await venue.close()
    }

    @Test func `the root leads to the status page, which needs nothing but itself`() async throws {
        let venue = try await ShellVenue()
        let root = try get(venue, "/")
        #expect(root.status == 302 && root.header("Location") == "/status")
        let page = try get(venue, "/status")
        #expect(page.status == 200)
        #expect(page.header("Content-Type") == "text/html; charset=utf-8")
        #expect(!page.body.contains("http://") && !page.body.contains("https://"))
        #expect(page.body.matches(of: /(src|href)="(?!#|\/readyz|\/metrics)/).isEmpty)
        #expect(page.body.contains("role=\"status\"") && page.body.contains("lang=\"en\""))
        let policy = try #require(page.header("Content-Security-Policy"))
        #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'sha256-"))
        #expect(!policy.contains("unsafe"))
        await venue.close()
    }

    @Test func `what the page shows names nobody`() async throws {
        var pending = AccountStanding.Pending()
        pending.total = 2
        pending.quarantined = 2
        let venue = try await ShellVenue(
            household: ShellHousehold([
                .sample("ada-1", pending: pending), .sample("bob-2", .locked, network: .offline),
            ])
        )
        let wire = try ShellWire(venue.ops)
        wire.send("GET /status/events HTTP/1.1\r\n\(venue.opsHost)\r\n\r\n")
        let text = try wire.read(until: "\n\n\r\n")
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("data: ") })
        let status = try JSON.Document(Array(line.dropFirst(6).utf8)).root
        let accounts = try #require(status["accounts"])
        #expect(accounts[0]?["name"]?.string == "Account 1")
        #expect(accounts[0]?["pending"]?["total"]?.int == 2)
        #expect(accounts[1]?["status"]?.string == "locked")
        #expect(accounts[1]?["network"]?.string == "offline")
        let page = try get(venue, "/status").body
        for card in [
            "<h3>Account 1</h3><p>unlocked, online, 2 pending, 2 quarantined</p>",
            "<h3>Account 2</h3><p>locked, offline, 0 pending, 0 quarantined</p>",
        ] { #expect(page.contains(card)) }
        for name in ["ada", "bob", "@example", "vault.example"] {
            #expect(!line.contains(name) && !page.contains(name))
        }
        await venue.close()
    }

    @Test func `of very many accounts the page shows those that want to be looked at`() async throws
    {
        var stuck = AccountStanding.Pending()
        (stuck.total, stuck.quarantined) = (3, 3)
        var waiting = AccountStanding.Pending()
        (waiting.total, waiting.ready) = (2, 2)
        let household = ShellHousehold(
            (1...1_000).map { number in
                let pending = number == 900 ? stuck : number == 700 ? waiting : .init()
                return .sample(
                    "a-\(number)",
                    number == 800 ? .signedOut : .locked,
                    pending: pending
                )
            }
        )
        let snapshot = await StatusSnapshot(of: household)
        #expect(snapshot.accounts.map(\.number) == Array(1...97) + [700, 800, 900])
        #expect(snapshot.others == 900 && snapshot.pending == 5)
    }

    @Test func `the page says when what waits is tried, also where a server holds it back`()
        async throws
    {
        let household = StillHousehold()
        let desk = try household.add("a", "ada@example.test")
        let now = Moment(ticks: 17_681_155_649_012_345)
        let (soon, held, late) = (
            now.advanced(bySeconds: 5), now.advanced(bySeconds: 600), now.advanced(bySeconds: 900)
        )
        func next(heldUntil: Moment?, _ states: PendingChange.State...) async -> Moment? {
            desk.change { state in
                state.heldUntil = heldUntil
                state.pending = states.enumerated().map { number, state in
                    let lane = Lane(userID: desk.id, cipherID: "c\(number)")
                    return .still(.update, "p\(number)", lane, now, state)
                }
            }
            return await StatusSnapshot(of: household).accounts.first?.nextAttempt
        }
        #expect(await next(heldUntil: held, .ready) == held)
        #expect(await next(heldUntil: held, .backingOff(until: soon)) == held)
        #expect(await next(heldUntil: held, .backingOff(until: late)) == late)
        #expect(await next(heldUntil: held, .backingOff(until: late), .ready) == held)
        #expect(await next(heldUntil: held, .quarantined, .inFlight) == nil)
        #expect(await next(heldUntil: nil, .backingOff(until: late), .ready) == late)
        #expect(await next(heldUntil: nil, .ready) == nil)
    }

    @Test func `what waits of accounts that are not here is shown, and they count as signed out`()
        async throws
    {
        let household = ShellHousehold([.sample("ada")], strangers: ["bob": 4, "eve": 3])
        let venue = try await ShellVenue(household: household)
        let snapshot = await StatusSnapshot(of: household)
        #expect(snapshot.pending == 7 && snapshot.strangersChanges == 7)
        #expect(try get(venue, "/status").body.contains("7 wait until their owners sign in again"))
        let figures = try get(venue, "/metrics").body
        #expect(figures.contains("holdfast_accounts{status=\"signedOut\"} 2\n"))
        await venue.close()
    }

    @Test func `the page hears of a change while it is open`() async throws {
        let venue = try await ShellVenue()
        let wire = try ShellWire(venue.ops)
        wire.send("GET /status/events HTTP/1.1\r\n\(venue.opsHost)\r\n\r\n")
        #expect(try wire.read(until: "\n\n\r\n").contains("\"accounts\":[]"))
        venue.household.replace([.sample("ada")])
        #expect(try wire.read(until: "\n\n\r\n").contains("Account 1"))
        await venue.close()
    }

    /// A browser may only come by this listener's own name and from its own pages; a machine that
    /// scrapes calls it what it likes.
    @Test(arguments: [
        ("/metrics", ["Host: holdfast.example:9187"], 200),
        ("/readyz", ["Host: 10.0.0.7:9187"], 200),
        ("/status", ["Host: evil.example"], 403),
        ("/status/events", ["Host: evil.example"], 403),
        ("/", ["Host: evil.example"], 403),
        ("/metrics", ["Host: evil.example", "Sec-Fetch-Site: same-origin"], 403),
        ("/metrics", ["Origin: https://evil.example"], 403),
        ("/status/events", ["Origin: null"], 403),
        ("/status", ["Origin: OWN"], 200),
        ("/metrics", ["Sec-Fetch-Site: none"], 200),
    ])
    func `a page of somebody else's learns nothing`(
        _ path: String,
        _ headers: [String],
        _ status: Int
    ) async throws {
        let venue = try await ShellVenue()
        let headers = headers.map { $0.replacing("OWN", with: "http://\(venue.ops)") }
        #expect(try get(venue, path, headers).status == status)
        await venue.close()
    }

    @Test func `the figures are written as they are asked for, and promtool has nothing to say`()
        async throws
    {
        let venue = try await ShellVenue()
        let plain = try get(venue, "/metrics")
        #expect(plain.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
        let open = try get(venue, "/metrics", ["Accept: application/openmetrics-text"])
        #expect(open.header("Content-Type")?.hasPrefix("application/openmetrics-text") == true)
        #expect(open.body.hasSuffix("# EOF\n"))
        let verdict = try Child.run("promtool", ["check", "metrics"], input: plain.body)
        #expect(verdict.status == 0)
        #expect(verdict.output + verdict.complaint == "")
        await venue.close()
    }

    @Test func `the figures are packed for whoever takes that`() async throws {
        let venue = try await ShellVenue()
        let client = try Client()
        let whole = try get(venue, "/metrics")
        #expect(whole.header("Vary") == "Accept, Accept-Encoding")
        #expect(whole.header("Content-Encoding") == nil)
        for (coding, isPacked) in [
            ("gzip", true), ("deflate, GZIP;q=0.5", true), ("gzip;q=0", false), ("br", false),
        ] {
            let answer = try get(venue, "/metrics", ["Accept-Encoding: \(coding)"])
            #expect((answer.header("Content-Encoding") == "gzip") == isPacked, "\(coding)")
            let length = Int(answer.header("Content-Length") ?? "") ?? 0
            #expect((length < whole.body.utf8.count / 3) == isPacked, "\(coding)")
        }
        // Our own client asks for it and unpacks it.
        let page = try await client.send(.init(.get, "http://\(venue.ops)/metrics"))
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(text.contains("\nholdfast_accounts{status=\"locked\"} 0\n"))
        await client.close()
        await venue.close()
    }

    @Test func `every label is there from the start, at nothing`() async throws {
        let venue = try await ShellVenue()
        let page = try get(venue, "/metrics").body
        for type in ["create", "update", "softDelete", "hardDelete", "other"] {
            for state in ["ready", "inFlight", "backingOff", "quarantined"] {
                let labels = "{type=\"\(type)\",state=\"\(state)\"}"
                #expect(page.contains("holdfast_pending_changes\(labels) 0\n"))
            }
        }
        for line in [
            "holdfast_accounts{status=\"locked\"} 0", "holdfast_accounts{status=\"unlocked\"} 0",
            "holdfast_accounts{status=\"signedOut\"} 0", "holdfast_pending_bytes 0",
            "holdfast_pending_oldest_timestamp_seconds 0",
            "holdfast_sync_last_success_timestamp_seconds 0",
            "holdfast_network_state{state=\"online\"} 0",
            "holdfast_network_state{state=\"degraded\"} 0",
            "holdfast_network_state{state=\"offline\"} 0",
        ] {
            #expect(page.contains(line + "\n"), "\(line)")
        }
        await venue.close()
    }

    @Test func `the figures are those of the accounts and of the store`() async throws {
        var pending = AccountStanding.Pending()
        pending.oldest = Moment(ticks: 50 * Moment.ticksPerSecond)
        let venue = try await ShellVenue(
            household: ShellHousehold([
                .sample("a", lastSync: Moment(ticks: 70 * Moment.ticksPerSecond)),
                .sample("b", .locked, lastSync: Moment(ticks: 60 * Moment.ticksPerSecond)),
                .sample(
                    "c",
                    .signedOut,
                    network: .offline,
                    server: "https://other.example",
                    lastSync: Moment(ticks: 80 * Moment.ticksPerSecond),
                    pending: pending
                ),
            ]),
            tally: {
                [
                    PendingTally(type: .update, state: .quarantined, count: 3, bytes: 10),
                    PendingTally(type: .other, state: .ready, count: 4, bytes: 7),
                ]
            }
        )
        let page = try get(venue, "/metrics").body
        for line in [
            "holdfast_accounts{status=\"locked\"} 1", "holdfast_accounts{status=\"signedOut\"} 1",
            "holdfast_pending_changes{type=\"update\",state=\"quarantined\"} 3",
            "holdfast_pending_changes{type=\"other\",state=\"ready\"} 4",
            "holdfast_pending_bytes 17", "holdfast_pending_oldest_timestamp_seconds 50",
            "holdfast_sync_last_success_timestamp_seconds 60",
            "holdfast_network_state{state=\"online\"} 1",
            "holdfast_network_state{state=\"offline\"} 1",
        ] {
            #expect(page.contains(line + "\n"), "\(line)")
        }
        await venue.close()
    }

    @Test func `what waits behind a lock, an outage or quarantine is not deliverable`() async throws
    {
        func waiting(since seconds: Int64, live: Int, quarantined: Int) -> AccountStanding.Pending {
            var pending = AccountStanding.Pending()
            (pending.total, pending.backingOff) = (live + quarantined, live)
            pending.quarantined = quarantined
            pending.oldest = Moment(ticks: seconds * Moment.ticksPerSecond)
            return pending
        }
        let venue = try await ShellVenue(
            household: ShellHousehold([
                .sample("a", pending: waiting(since: 40, live: 3, quarantined: 1)),
                .sample("b", .locked, pending: waiting(since: 10, live: 5, quarantined: 0)),
                .sample(
                    "c",
                    network: .offline,
                    pending: waiting(since: 20, live: 7, quarantined: 0)
                ),
                .sample("d", pending: waiting(since: 30, live: 0, quarantined: 9)),
                .sample(
                    "e",
                    network: .degraded,
                    pending: waiting(since: 50, live: 2, quarantined: 0)
                ),
            ])
        )
        let page = try get(venue, "/metrics").body
        #expect(page.contains("\nholdfast_pending_deliverable_changes 5\n"))
        #expect(page.contains("\nholdfast_pending_deliverable_oldest_timestamp_seconds 40\n"))
        #expect(page.contains("\nholdfast_pending_locked_oldest_timestamp_seconds 10\n"))
        #expect(page.contains("\nholdfast_pending_oldest_timestamp_seconds 10\n"))
        await venue.close()
    }
}
