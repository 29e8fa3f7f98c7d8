import Bitwarden
import Crypto
import FoundationEssentials
import HTTP
import Metrics
import System
import TestSupport
import Testing
import Vault

@testable import Host

/// What comes back when a token is renewed.
@Suite struct RenewalTests {
    private static func token(of user: String) -> String {
        let claims = #"{"sub":"\#(user)","exp":4000000000,"client_id":"cli"}"#
        let text = Base64.text(of: Array(claims.utf8)).filter { $0 != "=" }
        return "e30.\(text).x"
    }

    private static func network(granting user: String) -> ScriptedNetwork {
        ScriptedNetwork { (_: Client.Request) in
            let body = """
                {"access_token":"\(token(of: user))","expires_in":3600,"token_type":"Bearer",\
                "refresh_token":"new","scope":"api offline_access"}
                """
            let type: Headers = ["Content-Type": "application/json"]
            return NetworkAnswer(status: 200, headers: type, body: Array(body.utf8))
        }
    }

    private static func upstream(_ network: ScriptedNetwork) throws -> Upstream {
        let time = VirtualTimekeeper()
        return Upstream(
            try Bases("https://vault.example"),
            identity: ClientIdentity(device: Site.device),
            world: .init(network: network, timekeeper: time, chance: SeededChance(seed: 1)),
            metrics: UpstreamMetrics(Registry(timekeeper: time))
        )
    }

    private static func session(renewedFor user: String) throws -> Session {
        let upstream = try upstream(network(granting: user))
        let tokens = Tokens(
            userID: "me",
            access: "old",
            expires: Moment(ticks: 0),
            renewal: .refresh(token: "old", clientID: "cli")
        )
        return upstream.session(tokens) { _ in }
    }

    @Test(arguments: [("Incorrect client_secret", true), ("Error saving device", false)])
    func `a key that is refused ends the session, and a store that cannot write does not`(
        _ words: String,
        _ isOver: Bool
    ) async throws {
        let network = ScriptedNetwork { (_: Client.Request) in
            let body = """
                {"message":"\(words)","validationErrors":{"":["\(words)"]},"error":"","object":"error"}
                """
            let type: Headers = ["Content-Type": "application/json"]
            return NetworkAnswer(status: 400, headers: type, body: Array(body.utf8))
        }
        let tokens = Tokens(
            userID: "me",
            access: "old",
            expires: Moment(ticks: 0),
            renewal: .apiKey(clientID: "user.me", secret: "s", device: Site.device)
        )
        let session = try Self.upstream(network).session(tokens) { _ in }
        let setback = await setback { () async throws(Setback) in try await session.token() }
        #expect(setback?.reason == (isOver ? .signedOut : .unavailable(status: 400)))
        #expect(session.isSignedOut == isOver)
    }

    @Test func `a sign-in with a password names the email in its head, as older servers want it`()
        async throws
    {
        let network = Self.network(granting: "me")
        let upstream = try Self.upstream(network)
        let grant = PasswordGrant(email: "Ä+b?~@example.com", masterPasswordHash: "h")
        _ = try await upstream.signIn(grant)
        _ = try await upstream.signIn(clientID: "user.me", secret: "s")
        let said = network.requests.map { $0.headers["Auth-Email"] }
        #expect(said == ["w4QrYj9-QGV4YW1wbGUuY29t", nil])
    }

    @Test func `a renewed token is used from then on, and so is the new right to renew`()
        async throws
    {
        let session = try Self.session(renewedFor: "me")
        let token = try await session.token()
        #expect(token == Self.token(of: "me"))
        #expect(session.tokens.renewal == .refresh(token: "new", clientID: "cli"))
    }

    @Test func `T-50 a token that is another account's is not taken`() async throws {
        let session = try Self.session(renewedFor: "somebody else")
        let setback = await setback { () async throws(Setback) in try await session.token() }
        #expect(setback?.reason.kind == "malformed")
        #expect(session.tokens.access == "old" && !session.isSignedOut)
    }
}
