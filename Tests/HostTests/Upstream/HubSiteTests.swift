import Bitwarden
import EmbeddedUpstream
import Metrics
import System
import Testing
import Vault

@testable import Host

/// The account's line to a hub that is really there.
@Suite struct HubSiteTests {
    /// What was told, in order, with somebody waiting for it.
    private final class Ear: Sendable {
        private let stream: AsyncStream<HubNews>
        private let continuation: AsyncStream<HubNews>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }

        func hear(_ news: HubNews) { continuation.yield(news) }

        /// The first that fits; what comes before is passed over.
        func first(where fits: (HubNews) -> Bool) async -> HubNews? {
            for await news in stream where fits(news) { return news }
            return nil
        }

        func firstEvent() async -> (event: HubEvent, isOwn: Bool)? {
            let news = await first { if case .event = $0 { true } else { false } }
            guard case .event(let event, let isOwn) = news else { return nil }
            return (event, isOwn)
        }
    }

    private func listening(
        _ account: UpstreamAccount,
        _ story: (Ear) async throws -> Void
    ) async throws {
        let ear = Ear()
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { await Hub(account).run { ear.hear($0) } }
            #expect(await ear.first { $0 == .connected } != nil)
            try await story(ear)
            tasks.cancelAll()
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `what another device does is heard, and what this one does is known as its own`(
        _ name: Personality.Name
    ) async throws {
        try await Site.open(name) { site in
            let account = try await site.account()
            try await listening(account) { ear in
                let made = try await account.create(loginRequest(1))
                let own = try #require(await ear.firstEvent())
                #expect(own.event.kind == .cipherCreated && own.event.id == made.id && own.isOwn)
                let other = try await elsewhere(site)
                _ = try await other.update(try #require(made.id), loginRequest(2))
                let news = try #require(await ear.firstEvent())
                #expect(news.event.kind == .cipherUpdated && news.event.id == made.id)
                #expect(!news.isOwn)
            }
        }
    }

    /// The same user at another device.
    private func elsewhere(_ site: Site) async throws -> UpstreamAccount {
        let device = Device(type: 8, identifier: "2d9f5a0c-7b51-4f0e-9d0b-0c6f0a6f1c22", name: "b")
        let upstream = Upstream(
            site.upstream.bases,
            identity: ClientIdentity(device: device),
            world: site.upstream.world,
            metrics: UpstreamMetrics(Registry(timekeeper: SystemTimekeeper()))
        )
        let grant = PasswordGrant(email: "a@example.com", masterPasswordHash: Site.hash)
        guard case .signedIn(let signedIn) = try await upstream.signIn(grant) else {
            throw Unexpected("not signed in elsewhere")
        }
        return UpstreamAccount(upstream, upstream.session(signedIn.tokens) { _ in })
    }

    @Test(.timeLimit(.minutes(1)))
    func `a line that is lost is opened again, and that is told`() async throws {
        try await Site.open(.vaultwarden) { site in
            let account = try await site.account()
            try await listening(account) { ear in
                await site.server.goAway()
                #expect(await ear.first { $0 == .lost } != nil)
                try site.server.comeBack()
                #expect(await ear.first { $0 == .connected } != nil)
            }
        }
    }
}
