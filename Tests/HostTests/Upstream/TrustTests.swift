import Bitwarden
import EmbeddedUpstream
import Glibc
import HTTP
import JSON
import System
import TestSupport
import Testing
import Vault

@testable import Host

/// The way to an upstream, with all that may stand in it.
@Suite(.serialized, .timeLimit(.minutes(1))) struct TrustTests {
    /// An upstream behind a front server, and an account at it.
    private func withFront(
        _ story: @Sendable (Site, Front, UpstreamAccount) async throws -> Void
    ) async throws {
        try await Site.open(.vaultwarden) { site in
            let account = try await site.account()
            let front = try Front(before: site.server)
            let result = await Swift.Result { try await story(site, front, account) }
            front.stop()
            try result.get()
        }
    }

    private func configurations(
        trusting path: String?,
        _ proxies: Proxies = Proxies()
    ) -> (Client.Configuration, WebSocketClient.Configuration) {
        var client = Client.Configuration()
        client.extraAuthoritiesPath = path
        client.proxies = proxies
        client.deadlines.connect = .seconds(10)
        var sockets = WebSocketClient.Configuration()
        sockets.extraAuthoritiesPath = path
        sockets.proxies = proxies
        return (client, sockets)
    }

    @Test func `a server below a path is trusted with the extra authority, and all calls reach it`()
        async throws
    {
        try await withFront { site, front, account in
            let (client, sockets) = configurations(trusting: front.authorityPath)
            let address = "https://127.0.0.1:\(front.port(.good))/vw"
            let tokens = account.session.tokens
            try await withAccount(at: address, tokens: tokens, client, sockets) { account in
                let id = try #require(try await account.create(loginRequest(1)).id)
                let sync = try await account.sync()
                #expect(sync.picture.ciphers?.keys.sorted() == [id])
                try await fileGoesUpAndDown(account, id)
                let news = try await firstNews(account)
                #expect(news == .connected)
            }
            // It writes them down when they are over, which the client may know before.
            while front.requests.count <= 6, !Task.isCancelled { await Task.yield() }
            #expect(front.requests.count > 6)
        }
    }

    @Test func `who is trusted besides can be read anew, and what cannot be read changes nothing`()
        async throws
    {
        try await withFront { _, front, account in
            let scratch = try Scratch()
            let path = scratch.file("extra.pem")
            let (client, sockets) = configurations(trusting: nil)
            let network = try TrustingNetwork(requests: client, lines: sockets, trusting: nil)
            let address = "127.0.0.1:\(front.port(.good))/vw"
            func isTrusted() async -> Bool {
                let request = Client.Request(.get, "https://\(address)/api/config")
                do {
                    return try await network.send(request).status == 200
                } catch {
                    return false
                }
            }
            #expect(await !isTrusted())
            #expect(throws: (any Error).self) { try network.trust(path) }
            let authority = try Files.read(front.authorityPath)
            try Files.replace(path, with: authority)
            #expect(try network.trust(path) && !network.trust(path))
            #expect(await isTrusted())
            try Files.replace(path, with: [])
            let error = #expect(throws: (any Error).self) { try network.trust(path) }
            #expect("\(try #require(error))" == "No PEM certificate can be read from \(path).")
            #expect(await isTrusted())
            // A line that is open stays so, whoever is trusted now.
            try Files.replace(path, with: authority + [0x0A])
            #expect(try network.trust(path))
            let token = account.session.tokens.access
            let line = try await network.openLine(
                "wss://\(address)/notifications/hub?access_token=\(token)",
                headers: [:]
            )
            #expect(try network.trust(nil))
            #expect(await !isTrusted())
            try await line.send(text: String(decoding: HubHandshake.request, as: UTF8.self))
            #expect(try await line.next() != nil)
            await network.close()
        }
    }

    private func fileGoesUpAndDown(_ account: UpstreamAccount, _ id: String) async throws {
        let file = [UInt8](repeating: 2, count: 70_000)
        let request = AttachmentRequest(
            key: sealed(2, bytes: 80),
            fileName: sealed(3),
            size: 70_000
        )
        let announced = try await account.announceAttachment(request, to: id)
        let rest = Lock<[UInt8]?>(file)
        let source = FileSource(length: file.count) { rest.withLock { $0.take() } }
        try await account.upload(source, as: announced)
        let found = try await account.attachment(announced.attachmentID, of: id)
        // The server does not know of its front, so the address it gives is its own.
        #expect(found.size == file.count)
    }

    private func firstNews(_ account: UpstreamAccount) async throws -> HubNews? {
        let (stream, news) = AsyncStream<HubNews>.makeStream()
        return await withTaskGroup { tasks in
            tasks.addTask { await Hub(account).run { news.yield($0) } }
            defer { tasks.cancelAll() }
            var heard = stream.makeAsyncIterator()
            return await heard.next()
        }
    }

    static let faults: [(Front.Kind, Bool, String)] = [
        (.expired, true, "certificate has expired"),
        (.other, true, "no alternative certificate subject name"),
        (.stranger, true, "self-signed certificate in certificate chain|local issuer certificate"),
        (.good, false, "self-signed certificate in certificate chain|local issuer certificate"),
        (.plain, true, "wrong version number"),
    ]

    @Test(arguments: faults)
    func `F3 nothing is sent to a server that is not who it should be, on any way`(
        _ kind: Front.Kind,
        _ isAuthorityKnown: Bool,
        _ words: String
    ) async throws {
        try await withFront { site, front, account in
            let relay = try Relay()
            let address = "https://127.0.0.1:\(front.port(kind))/vw"
            for proxies in [Proxies(), Proxies(https: relay.url)] {
                let path = isAuthorityKnown ? front.authorityPath : nil
                let (client, sockets) = configurations(trusting: path, proxies)
                let tokens = account.session.tokens
                try await withAccount(at: address, tokens: tokens, client, sockets) { account in
                    try await expectDistrust(account, words)
                }
            }
            relay.stop()
            #expect(front.requests.isEmpty)
            #expect(try await account.ciphers().isEmpty)
        }
    }

    /// A call, a download and the hub.
    private func expectDistrust(_ account: UpstreamAccount, _ words: String) async throws {
        let write = await setback { () async throws(Setback) in
            try await account.create(loginRequest(1))
        }
        #expect(write?.reason.kind == "unreachable" && write?.mayHaveLanded == false)
        let text = "\(write as Any)"
        #expect(text.contains("no trusted connection"), "\(text)")
        #expect(words.split(separator: "|").contains { text.contains($0) }, "\(text)")
        let bases = account.upstream.bases
        let file = AttachmentAnswer(id: "a", url: bases.api + "/x", fileName: "", key: nil, size: 1)
        let read = await setback { () async throws(Setback) in
            _ = try await account.download(file)
        }
        #expect("\(read as Any)".contains("no trusted connection"), "\(read as Any)")
        await #expect(throws: NetworkFailure.self) {
            _ = try await account.upstream.world.network.openLine(bases.hub, headers: [:])
        }
    }

    enum Noise: CaseIterable, Sendable {
        case garbage, silence, farewell

        func make(_ descriptor: Int32) {
            var byte: UInt8 = 0
            guard read(descriptor, &byte, 1) == 1 else { return }
            switch self {
            case .garbage:
                sendAll(descriptor, (0..<2_000).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 5) })
            case .silence: while read(descriptor, &byte, 1) == 1 {}
            case .farewell: return
            }
            while read(descriptor, &byte, 1) == 1 {}
        }
    }

    @Test(arguments: Noise.allCases)
    func `F3 a handshake that fails leaves nothing in doubt`(_ noise: Noise) async throws {
        let server = try LoopbackServer { noise.make($0) }
        var (client, sockets) = configurations(trusting: nil)
        // Silence is all that has to be waited for.
        let patience: Duration = noise == .silence ? .milliseconds(300) : .seconds(10)
        client.deadlines.connect = patience
        sockets.connectDeadline = patience
        try await withAccount(at: "https://127.0.0.1:\(server.port)", client, sockets) { account in
            let setback = await setback { () async throws(Setback) in
                try await account.create(loginRequest(1))
            }
            #expect(setback?.reason.kind == "unreachable" && setback?.mayHaveLanded == false)
            let words = noise == .silence ? "no connection in time" : "no trusted connection"
            #expect("\(setback as Any)".contains(words), "\(setback as Any)")
            await #expect(throws: NetworkFailure.self) {
                let address = account.upstream.bases.hub
                _ = try await account.upstream.world.network.openLine(address, headers: [:])
            }
        }
        server.stop()
    }

    @Test func `F2 a name that nobody knows is unreachable, and says so`() async throws {
        let (client, sockets) = configurations(trusting: nil)
        try await withAccount(at: "http://nowhere.invalid", client, sockets) { account in
            let setback = await setback { () async throws(Setback) in
                try await account.create(loginRequest(1))
            }
            let words = "the name cannot be resolved at http://nowhere.invalid:80"
            #expect(setback?.reason == .unreachable(.tried(words)))
            #expect(setback?.mayHaveLanded == false)
        }
    }

    @Test func `proxies from the environment are gone through, and past where it says so`()
        async throws
    {
        try await withFront { site, front, account in
            let relay = try Relay()
            let proxies = Proxies(environment: [
                "http_proxy": relay.url, "HTTPS_PROXY": relay.url, "no_proxy": "127.0.0.1",
            ])
            let (client, sockets) = configurations(trusting: front.authorityPath, proxies)
            let secure = front.port(.good)
            let tokens = account.session.tokens
            func create(_ address: String, _ andListen: Bool = false) async throws {
                try await withAccount(at: address, tokens: tokens, client, sockets) { account in
                    _ = try await account.create(loginRequest(1))
                    if andListen { #expect(try await firstNews(account) == .connected) }
                }
            }
            try await create("https://127.0.0.1:\(secure)/vw", true)
            #expect(relay.lines.isEmpty)

            // Only the proxy knows that name; what it passes on it cannot read.
            try await create("https://vault.test:\(secure)/vw", true)
            #expect(
                relay.lines
                    == Array(repeating: "CONNECT vault.test:\(secure) HTTP/1.1", count: 2)
            )
            try await create("http://vault.test:\(front.port(.plain))/vw")
            let last = relay.lines.last
            let url = "http://vault.test:\(front.port(.plain))/vw/api/ciphers"
            #expect(last == "POST \(url) HTTP/1.1")
            relay.stop()
            #expect(try await account.ciphers().count == 3)
        }
    }

    /// The cloud mails a code when it does not know the device.
    @Test func `a new device is asked for the code that was mailed`() async throws {
        try await Site.open(.bitwarden) { site in
            _ = try await site.account()
            await site.server.shiftClock(seconds: 2 * 86_400)
            let device = Device(type: 25, identifier: "another", name: "another")
            try await withAccount(at: site.server.url, device: device) { stranger in
                var grant = PasswordGrant(email: "a@example.com", masterPasswordHash: Site.hash)
                for code in [nil, "not it"] {
                    grant.newDeviceCode = code
                    guard case .needsNewDeviceCode = try await stranger.upstream.signIn(grant)
                    else { throw Unexpected("a device that is new was let in with \(code as Any)") }
                }
                grant.newDeviceCode = try await mailedCode(site, "a@example.com")
                guard case .signedIn(let signedIn) = try await stranger.upstream.signIn(grant)
                else { throw Unexpected("the code was not taken") }
                #expect(signedIn.login != nil)
                grant.newDeviceCode = nil
                guard case .signedIn = try await stranger.upstream.signIn(grant) else {
                    throw Unexpected("the device is still new")
                }
            }
        }
    }

    private func mailedCode(_ site: Site, _ email: String) async throws -> String {
        let url = "\(site.server.url)/_faults/mail/\(email)"
        let mail = try await site.client.send(Client.Request(.get, url))
        return try #require(try JSON.Document(mail.body).root["code"]?.string)
    }
}
