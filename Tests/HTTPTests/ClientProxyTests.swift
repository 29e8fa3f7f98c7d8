import Glibc
import System
import TestSupport
import Testing

@testable import HTTP

@Suite struct ClientProxyTests {
    @Test func `a request goes through the proxy, and past it where an exception says so`()
        async throws
    {
        let proxy = try ScriptedServer { connection in
            while let (head, _) = connection.request() {
                connection.respond(body: Array(head.prefix { !$0.isNewline }.utf8))
            }
        }
        try await withClient {
            $0.proxies = Proxies(http: proxy.url, exceptions: ["direct.test", "127.0.0.0/8"])
        } against: { connection in
            while connection.request() != nil { connection.respond() }
        } _: { client, server in
            let through = try await client.send(Client.Request(.get, "http://vault.test/a"))
            let line = String(decoding: through.body, as: UTF8.self)
            #expect(line == "GET http://vault.test/a HTTP/1.1")
            let past = try await client.send(Client.Request(.get, server.url))
            #expect(past.body.isEmpty)
        }
        proxy.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a server that hangs behind a proxy takes no place from another behind it`() async throws {
        let asked = AsyncStream.makeStream(of: Void.self)
        let proxy = try ScriptedServer { connection in
            while let (head, _) = connection.request() {
                guard head.hasPrefix("GET http://silent.test/") else {
                    connection.respond()
                    continue
                }
                asked.continuation.yield()
            }
        }
        var configuration = Client.Configuration()
        configuration.proxies = Proxies(http: proxy.url)
        configuration.requestsPerHost = 1
        let client = try Client(configuration: configuration)
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { _ = try? await client.send(.init(.get, "http://silent.test/")) }
            for await _ in asked.stream { break }
            let answer = try await client.send(.init(.get, "http://vault.test/"))
            #expect(answer.status == .ok)
            tasks.cancelAll()
        }
        await client.close()
        proxy.stop()
    }

    /// What the first message of a handshake offers to speak.
    private func offersHTTP2(_ connection: ScriptedConnection) -> Bool? {
        guard let head = connection.bytes(5) else { return nil }
        let hello = connection.bytes(Int(head[3]) << 8 | Int(head[4]))
        return hello.map { !$0.ranges(of: Array("\u{2}h2\u{8}http/1.1".utf8)).isEmpty }
    }

    @Test func `HTTP/2 is offered directly and not through a proxy`() async throws {
        let offers = Lock<[Bool?]>([])
        let proxy = try ScriptedServer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 Connection established\r\n\r\n")
            let offer = offersHTTP2(connection)
            offers.withLock { $0.append(offer) }
        }
        try await withClient {
            $0.proxies = Proxies(https: proxy.url, exceptions: ["127.0.0.1"])
        } against: { connection in
            let offer = offersHTTP2(connection)
            offers.withLock { $0.append(offer) }
        } _: { client, server in
            _ = try? await client.send(.init(.get, "https://vault.test/"))
            _ = try? await client.send(.init(.get, "https://127.0.0.1:\(server.port)/"))
        }
        #expect(offers.withLock { $0 } == [false, true])
        proxy.stop()
    }

    @Test func `a proxy that is not there is told from a server that is not`() async throws {
        var configuration = Client.Configuration()
        configuration.proxies = Proxies(http: "http://proxy.invalid:3128")
        let client = try Client(configuration: configuration)
        let error = await failure { () throws(ClientError) in
            try await client.send(Client.Request(.get, "http://vault.test/"))
        }
        #expect(error?.reason == .unresolvable(.proxy))
        await client.close()
    }

    @Test func `whoever is refused by the proxy hears which one it is, and not its password`()
        async throws
    {
        let (listener, port) = try listenOnLoopback()
        close(listener)
        var configuration = Client.Configuration()
        configuration.proxies = Proxies(http: "http://user:hunter2@127.0.0.1:\(port)/")
        let client = try Client(configuration: configuration)
        let error = await failure { () throws(ClientError) in
            try await client.send(Client.Request(.get, "http://vault.test/"))
        }
        #expect(error?.reason == .unreachable(code: ECONNREFUSED))
        #expect(error?.place == "http://vault.test:80 through the proxy 127.0.0.1:\(port)")
        #expect(error?.description.contains("Check the proxy") == true)
        await client.close()
    }

    @Test func `a proxy that makes no way to the server is told from a connection that was lost`()
        async throws
    {
        let proxy = try ScriptedServer { connection in
            guard connection.head() != nil else { return }
            connection.send(
                "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
            )
        }
        var configuration = Client.Configuration()
        configuration.proxies = Proxies(https: proxy.url)
        let client = try Client(configuration: configuration)
        let error = await failure { () throws(ClientError) in
            try await client.send(Client.Request(.get, "https://vault.test/"))
        }
        #expect(error?.reason == .refusedByProxy("CONNECT tunnel failed, response 407"))
        #expect(error?.progress.sent == .nothing)
        await client.close()
        proxy.stop()
    }

    @Test(arguments: [
        ("", nil), ("h:1", "h:1"), ("http://h", "h"), ("http://u:p/w@h:1/", "h:1"),
        ("socks5h://u:p@q@[::1]:9?x", "[::1]:9"), ("http://u:p@", nil),
    ])
    func `a proxy is named by its place`(_ proxy: String, _ place: String?) {
        #expect(Proxies.place(of: proxy) == place)
    }

    @Test(arguments: [
        ("user:word", "dXNlcjp3b3Jk"), ("us%40er:w%2Ford%3A", "dXNAZXI6dy9vcmQ6"),
        ("user", "dXNlcjo="), ("user:50%", "dXNlcjo1MCU="),
    ])
    func `a WebSocket goes through the proxy, with the credentials that requests have there`(
        _ credentials: String,
        _ sent: String
    ) async throws {
        let heads = Lock<[String]>([])
        let proxy = try ScriptedServer { connection in
            guard let head = connection.head() else { return }
            heads.withLock { $0.append(head) }
            guard head.hasPrefix("CONNECT") else {
                connection.respond()
                return
            }
            connection.send("HTTP/1.1 200 Connection established\r\n\r\n")
            connection.upgrade()
            connection.sendFrame(Opcode.text, Array("through".utf8))
            connection.sendFrame(Opcode.close, [0x03, 0xE8])
            connection.waitForEnd()
        }
        let proxies = Proxies(http: "http://\(credentials)@127.0.0.1:\(proxy.port)")
        var configuration = WebSocketClient.Configuration()
        configuration.proxies = proxies
        let client = try WebSocketClient(configuration: configuration)
        let socket = try await client.connect("ws://vault.test/hub")
        var messages: [WebSocketMessage] = []
        for try await message in socket { messages.append(message) }
        #expect(messages == [.text("through")])
        let head = heads.withLock { $0.first } ?? ""
        #expect(head.hasPrefix("CONNECT vault.test:80 HTTP/1.1"))
        #expect(field("proxy-authorization", of: head) == "basic \(sent)")
        var requests = Client.Configuration()
        requests.proxies = proxies
        let asker = try Client(configuration: requests)
        _ = try await asker.send(Client.Request(.get, "http://vault.test/"))
        let other = heads.withLock { $0.last } ?? ""
        #expect(field("proxy-authorization", of: other) == "Basic \(sent)")
        await asker.close()
        await client.close()
        proxy.stop()
    }

    @Test func `a proxy is told an address of IPv6 in brackets`() async throws {
        let heads = Lock<[String]>([])
        let proxy = try ScriptedServer { connection in
            guard let head = connection.head() else { return }
            heads.withLock { $0.append(head) }
            connection.send("HTTP/1.1 200 Connection established\r\n\r\n")
            connection.upgrade()
            connection.sendFrame(Opcode.close, [0x03, 0xE8])
            connection.waitForEnd()
        }
        var configuration = WebSocketClient.Configuration()
        configuration.proxies = Proxies(http: proxy.url)
        let client = try WebSocketClient(configuration: configuration)
        for try await _ in try await client.connect("ws://[2001:db8::1]:8080/hub") {}
        #expect(heads.withLock { $0.first }?.hasPrefix("CONNECT [2001:db8::1]:8080 ") == true)
        await client.close()
        proxy.stop()
    }

    /// A proxy's name may lead to another address each day; what is kept for one must not add up.
    @Test func `a proxy may have any number of addresses, all with the same credentials`()
        async throws
    {
        let count = 40
        let proxy = try ScriptedServer(at: 0) { connection in
            guard let head = connection.head() else { return }
            connection.send("HTTP/1.1 200 Connection established\r\n\r\n")
            guard field("proxy-authorization", of: head) == "basic dXNlcjp3b3Jk" else { return }
            connection.upgrade()
            connection.sendFrame(Opcode.close, [0x03, 0xE8])
            connection.waitForEnd()
        }
        let asked = Lock(0)
        let lookup = NameLookup { _ in
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            return ["127.0.0.\(number)"]
        }
        var configuration = WebSocketClient.Configuration()
        configuration.proxies = Proxies(http: "http://user:word@proxy.test:\(proxy.port)")
        let client = try WebSocketClient(configuration: configuration, nameLookup: lookup)
        for _ in 1...count {
            let socket = try await client.connect("ws://vault.test/hub")
            for try await _ in socket {}
            #expect(socket.goodbye == 1_000)
        }
        #expect(asked.withLock { $0 } == count)
        #expect(proxy.acceptedCount == count)
        await client.close()
        proxy.stop()
    }
}
