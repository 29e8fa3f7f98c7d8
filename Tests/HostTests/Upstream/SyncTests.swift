import FoundationEssentials
import HTTP
import Metrics
import System
import TestSupport
import Testing
import Vault

@testable import Host

/// What is asked for a sync, in which order, and what of its answer is taken.
@Suite struct SyncTests {
    private static func answer(_ text: String) -> NetworkAnswer {
        let type: Headers = ["Content-Type": "application/json"]
        return NetworkAnswer(status: 200, headers: type, body: Array(text.utf8))
    }

    private static func account(
        _ answers: [String: String]
    ) throws -> (UpstreamAccount, ScriptedNetwork) {
        let network = ScriptedNetwork { (request: Client.Request) in
            let path = request.url.dropFirst("https://vault.example/api".count)
            let body = answers[String(path.prefix { $0 != "?" })]
            return body.map(answer) ?? NetworkAnswer(status: 404)
        }
        let time = VirtualTimekeeper()
        let upstream = Upstream(
            try Bases("https://vault.example"),
            identity: ClientIdentity(device: Site.device),
            world: .init(network: network, timekeeper: time, chance: SeededChance(seed: 1)),
            metrics: UpstreamMetrics(Registry(timekeeper: time))
        )
        return (UpstreamAccount(upstream, upstream.session(.unquestioned) { _ in }), network)
    }

    private static func sync(_ ciphers: String) -> String {
        """
        {"object":"sync","profile":{"id":"u","email":"a@example.com"},"folders":[],\
        "ciphers":\(ciphers)}
        """
    }

    /// The other way around, a change between the two would never be fetched.
    @Test func `B2 the revision is asked for before the rest`() async throws {
        let (account, network) = try Self.account([
            "/accounts/revision-date": "7", "/sync": Self.sync("[]"),
        ])
        let fetched = try await account.sync()
        #expect(fetched.revision == .number(7) && fetched.picture.accountRevision == 7)
        let paths = network.requests.map { $0.url.dropFirst("https://vault.example".count) }
        #expect(paths == ["/api/accounts/revision-date", "/api/sync?excludeDomains=true"])
    }

    @Test(arguments: ["-1", "-9223372036854775808"])
    func `B2 a negative revision says that the account is gone`(_ number: String) async throws {
        let (account, _) = try Self.account(["/accounts/revision-date": number])
        let setback = await setback { () async throws(Setback) in _ = try await account.revision() }
        #expect(setback?.reason == .signedOut)
    }

    @Test func `B2 an upstream may have no revision to tell`() async throws {
        let (account, _) = try Self.account([
            "/accounts/revision-date": "null", "/sync": Self.sync("[]"),
        ])
        #expect(try await account.sync().revision == .unknown)
    }

    /// Who is not in the list counts as gone, so a list that cannot be read is no list.
    @Test(arguments: ["[{}]", "[1]", #"[{"id":7},null]"#])
    func `T-46 a list of things that are no ciphers is not believed`(
        _ ciphers: String
    ) async throws {
        let (account, _) = try Self.account([
            "/accounts/revision-date": "7", "/sync": Self.sync(ciphers),
        ])
        let picture = try await account.sync().picture
        let footing = SyncFooting(userID: "u", ciphers: [:], accountRevision: nil)
        let belief = Belief(in: picture, on: footing, at: Moment(ticks: 0))
        #expect(belief == .refused(.noCiphers))
    }

    @Test(arguments: [
        #"{"object":"list","data":[]}"#, "{}", "[]", "null",
        #"{"object":"sync","profile":{"id":"u","email":"a"},"folders":[]}"#,
        #"{"object":"sync","profile":{"id":"u","email":"a"},"folders":[],"ciphers":null}"#,
        #"{"object":"sync","folders":[],"ciphers":[]}"#,
    ])
    func `T-46 what is no whole sync is malformed`(_ body: String) async throws {
        let (account, _) = try Self.account(["/accounts/revision-date": "7", "/sync": body])
        let setback = await setback { () async throws(Setback) in _ = try await account.sync() }
        #expect(setback?.reason.kind == "malformed", "\(setback as Any)")
        #expect(setback?.mayHaveLanded == false)
    }

    /// The guard before the cloud would only be angered.
    @Test func `P16 after a ban page nothing is sent for a quarter of an hour at least`()
        async throws
    {
        let time = VirtualTimekeeper()
        let network = ScriptedNetwork { (_: Client.Request) in
            NetworkAnswer(
                status: 403,
                headers: ["Content-Type": "text/html"],
                body: Array("<html>".utf8)
            )
        }
        let upstream = Upstream(
            try Bases("https://vault.example"),
            identity: ClientIdentity(device: Site.device),
            world: .init(network: network, timekeeper: time, chance: SeededChance(seed: 1)),
            metrics: UpstreamMetrics(Registry(timekeeper: time))
        )
        let account = UpstreamAccount(upstream, upstream.session(.unquestioned) { _ in })
        let ban = await setback { () async throws(Setback) in _ = try await account.revision() }
        #expect(ban?.reason == .foreign(.page(status: 403)))
        let held = await setback { () async throws(Setback) in _ = try await account.revision() }
        guard case .unreachable(.held(let until)) = held?.reason else {
            throw Unexpected("nothing is held: \(held as Any)")
        }
        #expect(until >= Moment(time.now).advanced(bySeconds: 900))
        #expect(upstream.isBanned && upstream.restsFor.map { $0 >= .seconds(900) } == true)
        #expect(network.requests.count == 1)
    }

    /// A calendar that was wrong when it was kept, or is wrong now, is no reason to wait for years.
    @Test func `T-43 a kept time is waited for, but for no longer than an hour`() throws {
        let (account, _) = try Self.account([:])
        let now = Moment(VirtualTimekeeper().now)
        for (seconds, wait) in [(60, 60), (3_600, 3_600), (10 * 365 * 86_400, 3_600)] {
            let kept = now.advanced(bySeconds: Int64(seconds))
            account.upstream.holds = Holds(api: kept)
            let ahead = account.upstream.holds.api.map { $0 - now }
            #expect(ahead == .seconds(wait))
        }
    }

    @Test func `F39 a clock that was set back makes no kept time longer than it was`() throws {
        let (account, _) = try Self.account([:])
        let now = Moment(VirtualTimekeeper().now)
        let yesterday = now.advanced(bySeconds: 86_400)
        let holds = Holds(api: yesterday.advanced(bySeconds: 4), noted: yesterday)
        account.upstream.holds = try #require(Holds(holds.text))
        #expect(account.upstream.holds.api.map { $0 - now } == .seconds(4))
        #expect(Holds("\(now.ticks) ") == Holds(api: now), "As an earlier version wrote it.")
    }
}
