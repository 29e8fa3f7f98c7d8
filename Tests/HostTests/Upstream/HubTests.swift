import Bitwarden
import FoundationEssentials
import HTTP
import JSON
import Metrics
import System
import TestSupport
import Testing
import Vault

@testable import Host

/// The account's line to the hub, in virtual time.
@Suite struct HubLineTests {
    private static let event = HubEvent(.cipherUpdated, userID: "me")

    /// What was told, and when.
    private final class Ear: Sendable {
        let heard = Lock<[(news: HubNews, at: Double)]>([])
        var news: [HubNews] { heard.withLock { $0.map(\.news) } }
        var seconds: [Double] { heard.withLock { $0.map(\.at) } }
    }

    /// Listens for so many seconds of virtual time after the story.
    private static func listen(
        _ executor: SeededExecutor,
        _ network: ScriptedNetwork,
        seconds: Int,
        secondsLeft: Int64 = 1_000_000,
        holds: Holds = Holds(),
        after story: (Session) async throws -> Void = { _ in }
    ) async throws -> Ear {
        let time = executor.time
        let upstream = Upstream(
            try Bases("https://vault.example"),
            identity: ClientIdentity(device: Site.device),
            world: .init(network: network, timekeeper: time, chance: executor.chance),
            metrics: UpstreamMetrics(Registry(timekeeper: time))
        )
        upstream.holds = holds
        let tokens = Self.tokens("old", secondsLeft, at: time)
        let account = UpstreamAccount(upstream, upstream.session(tokens) { _ in })
        let ear = Ear()
        try await withThrowingTaskGroup(of: Void.self) { parts in
            parts.addTask { await upstream.run() }
            parts.addTask {
                await Hub(account).run { news in
                    ear.heard.withLock { $0.append((news, time.elapsed / .seconds(1))) }
                }
            }
            defer { parts.cancelAll() }
            try await story(account.session)
            try await time.sleep(for: .seconds(seconds))
        }
        return ear
    }

    private static func tokens(
        _ access: String,
        _ secondsLeft: Int64,
        at time: any Timekeeper
    ) -> Tokens {
        Tokens(
            userID: "me",
            access: access,
            expires: Moment(time.now).advanced(bySeconds: secondsLeft),
            renewal: .refresh(token: "r", clientID: "cli")
        )
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `news are told in order, also what overtakes the greeting`(_ seed: UInt64) throws {
        try SeededExecutor.run(seed: seed) { executor, _ in
            let own = HubEvent(.cipherCreated, userID: "me").from(Site.device.identifier)
            let network = ScriptedNetwork(line: { number throws(NetworkFailure) in
                guard number == 1 else { throw .scripted(.lost) }
                return ScriptedLine(
                    HubMessage.event(Self.event).frame(),
                    HubHandshake.answer,
                    HubMessage.ping.frame() + HubMessage.event(own).frame()
                )
            })
            let ear = try await Self.listen(executor, network, seconds: 1)
            let expected: [HubNews] = [
                .event(Self.event, isOwn: false), .connected, .event(own, isOwn: true),
            ]
            #expect(ear.news == expected, "seed \(seed)")
        }
    }

    /// All of them are at one device.
    @Test
    func
        `what another account of this host does to an organisation's item is not taken for one's own`()
        throws
    {
        try SeededExecutor.run(seed: 1) { executor, _ in
            var shared = HubEvent(.cipherUpdated, userID: nil).from(Site.device.identifier)
            (shared.id, shared.organizationID) = ("c", "o")
            let others = HubEvent(.cipherUpdated, userID: "you").from(Site.device.identifier)
            let own = HubEvent(.cipherUpdated, userID: "ME").from(Site.device.identifier)
            let events = [shared, others, own]
            let network = ScriptedNetwork(line: { number throws(NetworkFailure) in
                guard number == 1 else { throw .scripted(.lost) }
                let frames = events.map { HubMessage.event($0).frame() }
                return ScriptedLine(HubHandshake.answer, frames.reduce([], +))
            })
            let ear = try await Self.listen(executor, network, seconds: 1)
            let expected: [HubNews] = [
                .connected, .event(shared, isOwn: false), .event(others, isOwn: false),
                .event(own, isOwn: true),
            ]
            #expect(ear.news == expected)
        }
    }

    @Test func `the address holds the token, escaped, and the greeting goes out first`() throws {
        try SeededExecutor.run(seed: 1) { executor, _ in
            let line = ScriptedLine(HubHandshake.answer)
            let network = ScriptedNetwork(line: { _ in line })
            _ = try await Self.listen(executor, network, seconds: 40)
            let address = "wss://vault.example/notifications/hub?access_token=old"
            #expect(network.lineURLs == [address])
            let ping = HubMessage.ping.frame()
            #expect(line.sentMessages == [HubHandshake.request, ping, ping], "Every 15 s.")
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a lost line is opened again, later each time, and each opening is told`(
        _ seed: UInt64
    ) throws {
        try SeededExecutor.run(seed: seed) { executor, _ in
            let opened = Lock<[Double]>([])
            let network = ScriptedNetwork(line: { number throws(NetworkFailure) in
                opened.withLock { $0.append(executor.time.elapsed / .seconds(1)) }
                guard number % 5 == 0 else { throw .scripted(.lost) }
                let line = ScriptedLine(HubHandshake.answer)
                line.hangUp()
                return line
            })
            let ear = try await Self.listen(executor, network, seconds: 60)
            let times = opened.withLock(\.self)
            let waits = zip(times, times.dropFirst()).map { $1 - $0 }
            for (wait, whole) in zip(waits, [1, 2, 4, 8, 1, 2, 4, 8] as [Double]) {
                #expect((whole / 2...whole).contains(wait), "seed \(seed): \(waits)")
            }
            #expect(ear.news.prefix(2) == [.connected, .lost], "seed \(seed)")
        }
    }

    @Test func `a line is not kept longer than a token may live`() throws {
        try SeededExecutor.run(seed: 3) { executor, _ in
            let network = ScriptedNetwork(line: { _ in ScriptedLine(HubHandshake.answer) })
            let ear = try await Self.listen(executor, network, seconds: 3 * 3_600 + 10)
            #expect(ear.news == [.connected, .lost, .connected])
        }
    }

    @Test func `a token that the hub does not take is renewed`() throws {
        try SeededExecutor.run(seed: 4) { executor, time in
            let fresh = TokenAnswer.scripted(at: time)
            let network = ScriptedNetwork(
                line: { number throws(NetworkFailure) in
                    if number == 1 { throw .scripted(.refused(status: 401)) }
                    return ScriptedLine(HubHandshake.answer)
                },
                answering: { _ in .json(fresh) }
            )
            let ear = try await Self.listen(executor, network, seconds: 10)
            #expect(ear.news == [.connected])
            #expect(network.requests.count == 1)
            #expect(network.lineURLs.last?.hasSuffix("token=\(fresh.accessToken)") == true)
        }
    }

    @Test func `a hub that takes no token at all has none renewed for it twice`() throws {
        try SeededExecutor.run(seed: 5) { executor, time in
            let fresh = TokenAnswer.scripted(at: time)
            let network = ScriptedNetwork(
                line: { _ throws(NetworkFailure) in throw .scripted(.refused(status: 401)) },
                answering: { _ in .json(fresh) }
            )
            let ear = try await Self.listen(executor, network, seconds: 600)
            #expect(ear.news.isEmpty)
            #expect(network.requests.count == 1)
            #expect(network.lineURLs.count > 3)
        }
    }

    @Test func `G-R3 while upstream wants to be left alone no line is opened`() throws {
        try SeededExecutor.run(seed: 7) { executor, time in
            let network = ScriptedNetwork(line: { _ in ScriptedLine(HubHandshake.answer) })
            let holds = Holds(api: Moment(time.now) + .seconds(300))
            let ear = try await Self.listen(executor, network, seconds: 310, holds: holds)
            #expect(ear.news == [.connected])
            #expect(ear.seconds.allSatisfy { (300...305).contains($0) }, "\(ear.seconds)")
        }
    }

    @Test
    func `a server that refuses a line as too much is asked again after half a minute at least`()
        throws
    {
        try SeededExecutor.run(seed: 8) { executor, time in
            let opened = Lock<[Duration]>([])
            let network = ScriptedNetwork(line: { _ throws(NetworkFailure) in
                opened.withLock { $0.append(time.elapsed) }
                throw .scripted(.refused(status: 429))
            })
            _ = try await Self.listen(executor, network, seconds: 600)
            let times = opened.withLock(\.self)
            #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .seconds(30) })
            #expect((6...20).contains(times.count))
        }
    }

    @Test func `when upstream ends the session there is nothing more to hear`() throws {
        try SeededExecutor.run(seed: 5) { executor, _ in
            let network = ScriptedNetwork { _ in .invalidGrant }
            let ear = try await Self.listen(executor, network, seconds: 600, secondsLeft: 0)
            #expect(ear.news == [.signedOut(isNew: true)])
            #expect(network.lineURLs.isEmpty && network.requests.count == 1)
        }
    }

    @Test func `once the user has signed in again there is a line again, at once`() throws {
        try SeededExecutor.run(seed: 9) { executor, time in
            let network = ScriptedNetwork(
                line: { _ in ScriptedLine(HubHandshake.answer) },
                answering: { _ in .invalidGrant }
            )
            let ear = try await Self.listen(executor, network, seconds: 1, secondsLeft: 0) {
                try await time.sleep(for: .seconds(100))
                $0.signIn(Self.tokens("fresh", 3_600, at: time))
            }
            #expect(ear.news == [.signedOut(isNew: true), .connected])
            #expect(ear.seconds.last == 100)
        }
    }

    @Test func `an outage is waited out, however long`() throws {
        try SeededExecutor.run(seed: 6) { executor, time in
            let network = ScriptedNetwork(line: { _ throws(NetworkFailure) in
                guard time.elapsed > .seconds(7_200) else { throw .scripted(.lost) }
                return ScriptedLine(HubHandshake.answer)
            })
            let ear = try await Self.listen(executor, network, seconds: 7_200 + 130)
            #expect(ear.news == [.connected])
            #expect(network.lineURLs.count < 130, "At most twice in two minutes.")
        }
    }
}

extension HubEvent {
    fileprivate func from(_ device: String) -> HubEvent {
        var event = self
        event.contextID = device
        return event
    }
}

extension TokenAnswer {
    /// A token for `me`, good for an hour.
    static func scripted(at time: any Timekeeper) -> TokenAnswer {
        let claims = AccessClaims(
            userID: "me",
            validFrom: 0,
            validUntil: 4_000_000_000,
            issuer: "scripted",
            email: "a@example.com",
            clientID: "cli",
            scope: ["api"]
        )
        let number = UInt8(truncatingIfNeeded: Int(time.elapsed / .seconds(1)))
        return TokenAnswer(
            accessToken: claims.token(seal: [number]),
            secondsLeft: 3_600,
            refreshToken: "r2",
            scope: "api offline_access"
        )
    }
}

extension NetworkAnswer {
    /// A token is not renewed.
    fileprivate static var invalidGrant: NetworkAnswer {
        let body = Array(#"{"error":"invalid_grant"}"#.utf8)
        return NetworkAnswer(status: 400, headers: ["Content-Type": "application/json"], body: body)
    }

    static func json(_ token: TokenAnswer) -> NetworkAnswer {
        let body = JSON.Raw.object { object in
            object.add("access_token", token.accessToken)
            object.add("expires_in", token.secondsLeft)
            object.add("refresh_token", token.refreshToken)
        }
        return NetworkAnswer(
            status: 200,
            headers: ["Content-Type": "application/json"],
            body: Array(body.bytes)
        )
    }
}
