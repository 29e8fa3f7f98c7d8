import Glibc
import System
import TestSupport
import Testing

@testable import HTTP

/// Connections on which HTTP ends.
@Suite struct ServerUpgradeTests {
    private static let ask = """
        GET /line HTTP/1.1\r
        Host: x\r
        Connection: Upgrade\r
        Upgrade: echo\r
        \r

        """

    /// Somebody who takes connections, and keeps them for as long as the test wants.
    private final class Taker: Sendable {
        let (taken, gate, ended) = (Signals(), Signals(), Signals())
        private let connections = Lock<[UpgradedConnection]>([])

        var connection: UpgradedConnection? { connections.withLock(\.first) }

        func take(_ connection: UpgradedConnection) async {
            connections.withLock { $0.append(connection) }
            taken.happen()
            await gate.happened()
            ended.happen()
        }

        func answer(_ request: Request) -> Response {
            guard request.headers["Upgrade"] == "echo" else { return .text("plain") }
            return .upgrade(to: "echo", headers: ["X-Line": "1"]) { await self.take($0) }
        }
    }

    enum Kind: CaseIterable {
        case tcp
        case unix
    }

    private func serve(
        _ kind: Kind,
        _ body: (Server, Taker) async throws -> Void
    ) async throws {
        let taker = Taker()
        let scratch = try Scratch()
        let place: Listener.Place =
            switch kind {
            case .tcp: .tcp(SocketAddress(host: "127.0.0.1", port: 0))
            case .unix: .unix(path: scratch.file("line.socket"))
            }
        try await HTTPTests.serve({ taker.answer($0) }, at: place) { server in
            defer { taker.gate.happen() }
            try await body(server, taker)
        }
    }

    /// What can be read at once, or within ten seconds; `nil` for none, empty for the end.
    private func read(_ descriptor: Int32, wait: Bool = true) -> [UInt8]? {
        var wish = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&wish, 1, wait ? 10_000 : 0) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    @Test(arguments: Kind.allCases)
    func `the connection is somebody else's, and still counted`(_ kind: Kind) async throws {
        try await serve(kind) { server, taker in
            let client = try server.client()
            try client.send(Self.ask)
            await taker.taken.happened()
            let (status, headers) = try client.head()
            #expect(status == .switchingProtocols)
            #expect(headers["Upgrade"] == "echo")
            #expect(headers["Connection"] == "Upgrade")
            #expect(headers["X-Line"] == "1")
            #expect(headers["Content-Length"] == nil && headers["Transfer-Encoding"] == nil)
            let line = try #require(taker.connection)
            #expect(line.received.isEmpty)
            var byte: UInt8 = 0
            #expect(recv(line.descriptor, &byte, 1, 0) == -1 && errno == EAGAIN)
            #expect(send(line.descriptor, "hello", 5, 0) == 5)
            #expect(try client.take(5) == Array("hello".utf8))
            try client.send("good day")
            #expect(read(line.descriptor) == Array("good day".utf8))
            #expect(server.connections == 1)
            #expect(server.exchanges == 0)
            taker.gate.happen()
            #expect(client.isClosed)
        }
    }

    @Test(arguments: [11, 500_000])
    func `what is sent right behind the request is for whoever takes the connection`(
        _ count: Int
    ) async throws {
        try await serve(.tcp) { server, taker in
            let client = try server.client()
            let words = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try client.send(Array(Self.ask.utf8) + words.prefix(8_000))
            var rest = words.dropFirst(8_000)
            await taker.taken.happened()
            let line = try #require(taker.connection)
            var heard = line.received
            #expect(!heard.isEmpty, "Both came in one piece.")
            while heard.count < count {
                rest = rest.dropFirst(client.sendNow(Array(rest)))
                guard let more = read(line.descriptor), !more.isEmpty else { break }
                heard += more
            }
            #expect(heard == words)
        }
    }

    @Test func `a server that stops shuts upgraded connections down and cancels who has them`()
        async throws
    {
        let (begun, ended) = (Signals(), Signals())
        let address = Listener.Place.tcp(SocketAddress(host: "127.0.0.1", port: 0))
        let server = try Server.start([Listener(name: "test", address)]) { _ in
            .upgrade(to: "echo") { _ in
                begun.happen()
                await untilCancelled()
                ended.happen()
            }
        }
        let clients = try (0..<3).map { _ in try server.client() }
        for client in clients { try client.send(Self.ask) }
        await begun.happened(3)
        let report = await server.stop(within: .seconds(60))
        #expect(report == DrainReport(cut: 0, stillRunning: 0))
        #expect(ended.total == 3)
        for client in clients {
            _ = try client.head()
            #expect(client.isClosed)
        }
    }

    @Test func `whoever waits for the client only hears at once that the server stops`()
        async throws
    {
        let taker = Taker()
        let address = Listener.Place.tcp(SocketAddress(host: "127.0.0.1", port: 0))
        let server = try Server.start([Listener(name: "test", address)]) { taker.answer($0) }
        let client = try server.client()
        try client.send(Self.ask)
        await taker.taken.happened()
        let line = try #require(taker.connection)
        async let report = server.stop(within: .seconds(60))
        #expect(read(line.descriptor) == [])
        taker.gate.happen()
        #expect(await report == DrainReport(cut: 0, stillRunning: 0))
    }

    @Test func `whoever does not let go of a connection is reported`() async throws {
        let (time, taker) = (SteppedTime(), Taker())
        let address = Listener.Place.tcp(SocketAddress(host: "127.0.0.1", port: 0))
        let server = try Server.start([Listener(name: "test", address)], timekeeper: time) {
            taker.answer($0)
        }
        let client = try server.client()
        try client.send(Self.ask)
        await taker.taken.happened()
        let line = try #require(taker.connection)
        let report = await time.passing(at: server) { await server.stop(within: .seconds(10)) }
        #expect(report == DrainReport(cut: 0, stillRunning: 1))
        #expect(read(line.descriptor) == [], "It has been shut down meanwhile.")
        taker.gate.happen()
        await server.loop.quiet()
    }

    @Test(arguments: [false, true])
    func `whoever has the connection sees its client leave, and the server forgets both`(
        _ isReset: Bool
    ) async throws {
        try await serve(.tcp) { server, taker in
            let client = try server.client()
            try client.send(Self.ask)
            await taker.taken.happened()
            _ = try client.head()
            isReset ? client.reset() : client.close()
            let line = try #require(taker.connection)
            #expect(read(line.descriptor) == (isReset ? nil : []))
            #expect(server.connections == 1)
            taker.gate.happen()
            await server.loop.quiet()
            #expect(server.connections == 0)
        }
    }

    @Test func `a client that leaves before the answer leaves nobody with its connection`()
        async throws
    {
        let (begun, gate, taken) = (Signals(), Signals(), Signals())
        let handler: Handler = { _ in
            begun.happen()
            await gate.happened()
            return .upgrade(to: "echo") { _ in taken.happen() }
        }
        try await HTTPTests.serve(handler) { server in
            let client = try server.client()
            try client.send(Self.ask)
            await begun.happened()
            client.reset()
            gate.happen()
            await server.loop.quiet()
            #expect(taken.total == 0)
        }
    }

    @Test func `an upgraded connection has its place among the others`() async throws {
        var limits = Limits()
        limits.connections = 1
        let taker = Taker()
        try await HTTPTests.serve({ taker.answer($0) }, limits: limits) { server in
            let client = try server.client()
            try client.send(Self.ask)
            await taker.taken.happened()
            #expect(try server.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == .unavailable)
            taker.gate.happen()
            await server.loop.quiet()
            #expect(try server.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == .ok)
        }
    }

    @Test(arguments: [
        "GET /line HTTP/1.0\r\nUpgrade: echo\r\nConnection: keep-alive\r\n\r\n",
        "HEAD /line HTTP/1.1\r\nHost: x\r\nUpgrade: echo\r\n\r\n",
        "POST /line HTTP/1.1\r\nHost: x\r\nUpgrade: echo\r\nContent-Length: 2\r\n\r\nhi",
    ])
    func `what cannot leave HTTP is told so`(_ text: String) async throws {
        try await serve(.tcp) { server, taker in
            let client = try server.client()
            try client.send(text)
            let isHead = text.hasPrefix("HEAD")
            #expect(try client.answer(to: isHead ? .head : .get).status == .badRequest)
            try client.send("GET /plain HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().text == "plain")
            #expect(taker.connection == nil)
        }
    }

    @Test func `another status than that of an upgrade is our own mistake`() async throws {
        try await HTTPTests.serve({ _ in Response(body: .upgrade { _ in }) }) {
            server async throws in
            #expect(try server.ask(Self.ask).status.rawValue == 500)
        }
    }
}

/// Connections that are cut without a word.
@Suite struct ServerCutTests {
    private static let ask = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    private func serve(
        reset: Bool,
        _ read: @escaping @Sendable (Request) async -> Void = { _ in },
        at place: Listener.Place = .tcp(SocketAddress(host: "127.0.0.1", port: 0)),
        _ body: (Server) async throws -> Void
    ) async throws {
        let handler: Handler = { request in
            await read(request)
            return request.target.raw == "/kept"
                ? .text("kept") : Response(body: .cut(reset: reset))
        }
        try await HTTPTests.serve(handler, at: place, body)
    }

    @Test(arguments: [false, true])
    func `not a byte is sent, and a reset is one`(_ isReset: Bool) async throws {
        try await serve(reset: isReset) { server in
            let client = try server.client()
            try client.send("GET /kept HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().text == "kept")
            try client.send(Self.ask)
            #expect(client.ending == (isReset ? .reset : .closed))
        }
    }

    @Test(arguments: [1_000, 300_000], [true, false])
    func `neither is after a body, read or not`(_ count: Int, _ isRead: Bool) async throws {
        try await serve(reset: false) { request in
            if isRead { _ = try? await request.body(limit: .max) }
        } _: { server in
            let client = try server.client()
            let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(count)\r\n\r\n"
            client.trySend(Array(head.utf8) + [UInt8](repeating: 7, count: count))
            // What has not been read makes a reset of any close.
            #expect(isRead ? client.ending == .closed : client.ending != .words)
        }
    }

    @Test func `neither is in the middle of a body of which the beginning was enough`() async throws
    {
        try await serve(reset: false) { request in
            var pieces = request.body.makeAsyncIterator()
            _ = try? await pieces.next()
        } _: { server in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = Array("3e8\r\n".utf8) + [UInt8](repeating: 7, count: 1_000) + [13, 10]
            for _ in 0..<200 where !client.trySend(chunk) { break }
            #expect(client.ending != .words)
        }
    }

    @Test func `on a Unix socket a reset is a close`() async throws {
        let scratch = try Scratch()
        try await serve(reset: true, at: .unix(path: scratch.file("cut.socket"))) { server in
            let client = try server.client()
            try client.send(Self.ask)
            #expect(client.ending == .closed)
        }
    }

    @Test func `in memory it is an error`() async throws {
        let transport = MemoryTransport { _ in Response(body: .cut(reset: false)) }
        await #expect(throws: ConnectionCut.self) { try await transport.send(.get, "/") }
    }
}
