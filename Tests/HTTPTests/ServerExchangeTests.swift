import Testing

@testable import HTTP

/// Ordinary clients and what they may expect.
@Suite struct ServerExchangeTests {
    private static let echo: Handler = { request in
        do throws(BodyError) {
            let body = try await request.body(limit: 100_000)
            return .text(
                "\(request.method) \(request.target.raw) \(body.count) \(String(decoding: body.prefix(20), as: UTF8.self))"
            )
        } catch {
            return .refusing(error)
        }
    }

    private static let hello = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test(arguments: Venue.allCases)
    func `a body reaches the handler`(_ venue: Venue) async throws {
        try await venue.host(Self.echo) { client async throws in
            let answer = try await client.send(.post, "/a?b", body: "hello")
            #expect(answer.text == "POST /a?b 5 hello")
            #expect(answer.headers["Content-Length"] == "17")
        }
    }

    @Test(arguments: Venue.allCases)
    func `headers reach the handler and the client`(_ venue: Venue) async throws {
        let handler: Handler = { request in
            Response(
                .noContent,
                headers: ["X-Seen": request.headers.all("x-two").joined(separator: "|")]
            )
        }
        try await venue.host(handler) { client async throws in
            let answer = try await client.send(
                .get,
                "/",
                headers: ["X-Two": "one", "x-TWO": "and another that is longer"]
            )
            #expect(answer.status == .noContent)
            #expect(answer.headers["X-Seen"] == "one|and another that is longer")
        }
    }

    @Test(arguments: [1, 1_000, 32_768, 32_769, 300_000])
    func `an answer of any size arrives whole`(_ size: Int) async throws {
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await serve({ _ in Response(body: .bytes(body)) }) { server async throws in
            let answer = try server.ask(Self.hello)
            #expect(answer.body == body)
        }
    }

    @Test func `a connection serves one request after the other`() async throws {
        try await serve(Self.echo) { server async throws in
            let client = try server.client()
            for number in 0..<5 {
                try client.send("GET /\(number) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try client.answer().text == "GET /\(number) 0 ")
            }
            #expect(server.connections <= 1)
        }
    }

    @Test func `a connection ends when the client says so`() async throws {
        try await serve(Self.echo) { server async throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(try client.answer().headers["Connection"] == "close")
            #expect(client.isClosed)
        }
    }

    @Test func `a client of the old version gets an answer and the end`() async throws {
        try await serve(Self.echo) { server async throws in
            let client = try server.client()
            try client.send("GET /old HTTP/1.0\r\n\r\n")
            #expect(try client.answer().text == "GET /old 0 ")
            #expect(client.isClosed)
        }
    }

    @Test func `a hundred requests sent at once are answered in order`() async throws {
        try await serve(Self.echo) { server async throws in
            let client = try server.client()
            let requests = (0..<100).map { number in
                number % 3 == 0
                    ? "POST /\(number) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"
                    : "GET /\(number) HTTP/1.1\r\nHost: localhost\r\n\r\n"
            }
            try client.send(requests.joined())
            for number in 0..<100 {
                let expected = number % 3 == 0 ? "POST /\(number) 3 abc" : "GET /\(number) 0 "
                #expect(try client.answer().text == expected)
            }
        }
    }

    @Test func `requests sent at once wait for a handler that takes its time`() async throws {
        let gate = Signals()
        let handler: Handler = { request in
            if request.target.raw == "/slow" { await gate.happened() }
            return .text(request.target.raw)
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            try client.send(
                "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\nGET /fast HTTP/1.1\r\nHost: localhost\r\n\r\n"
            )
            #expect(client.isSilent)
            gate.happen()
            #expect(try client.answer().text == "/slow")
            #expect(try client.answer().text == "/fast")
        }
    }

    @Test func `a body in chunks is read as one, and the connection is not used again`()
        async throws
    {
        try await serve(Self.echo) { server async throws in
            let client = try server.client()
            try client.send(
                "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
            try client.send("3\r\nabc\r\n")
            try client.send("2;name=value\r\nde\r\n0\r\nTrailer: x\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.text == "POST / 5 abcde")
            #expect(answer.headers["Connection"] == "close")
            #expect(client.isClosed)
        }
    }

    @Test func `a body that comes byte by byte is read as one`() async throws {
        try await serve(Self.echo) { server async throws in
            let client = try server.client()
            let request = "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nwxyz"
            for byte in request.utf8 { try client.send([byte]) }
            #expect(try client.answer().text == "POST /x 4 wxyz")
        }
    }

    @Test func `a client that asks before it sends is told to go on`() async throws {
        try await serve(Self.echo) { server async throws in
            let client = try server.client()
            try client.send(
                "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
            )
            #expect(try client.take(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            try client.send("wxyz")
            #expect(try client.answer().text == "POST / 4 wxyz")
        }
    }

    @Test(arguments: [200_000, 2_000_000])
    func `a body too long by its own account is refused before it is sent`(_ length: Int)
        async throws
    {
        try await serve(Self.echo) { server async throws in
            let client = try server.client()
            try client.send(
                "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: \(length)\r\n\r\n"
            )
            #expect(try client.answer().status == .contentTooLarge)
            #expect(client.isClosed)
        }
    }

    @Test func `a handler may answer without reading a small body`() async throws {
        try await serve({ _ in .text("no") }) { server async throws in
            let client = try server.client()
            for _ in 0..<3 {
                try client.send(
                    "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nwxyz"
                )
                #expect(try client.answer().text == "no")
            }
        }
    }

    @Test func `head of a stream of unknown length leaves nothing behind it`() async throws {
        let handler: Handler = { _ in
            Response(
                headers: ["X-Kind": "stream"],
                body: .stream(length: nil) { try await $0.write("never") }
            )
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            try client.send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let (status, headers) = try client.head()
            #expect(status == .ok)
            #expect(headers["X-Kind"] == "stream")
            #expect(headers["Content-Length"] == nil)
            #expect(client.rest().isEmpty)
        }
    }

    @Test(arguments: ["a\r\nSet-Cookie: x", "a\nb", "a\u{0}b"])
    func `a header that would become two is not sent`(_ value: String) async throws {
        try await serve({ _ in Response(headers: ["X-Echo": value]) }) { server async throws in
            let answer = try server.ask(Self.hello)
            #expect(answer.status == .internalError)
            #expect(answer.headers["Set-Cookie"] == nil)
        }
    }

    @Test func `lengths and connections are the server's business`() async throws {
        let handler: Handler = { _ in
            Response(
                headers: [
                    "Content-Length": "1", "transfer-encoding": "chunked", "Connection": "close",
                ],
                body: .bytes(Array("hello".utf8))
            )
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            for _ in 0..<2 {
                try client.send(Self.hello)
                let answer = try client.answer()
                #expect(answer.text == "hello")
                #expect(answer.headers.all("Content-Length") == ["5"])
                #expect(answer.headers["Connection"] == nil)
            }
        }
    }

    @Test func `a handler on another executor is waited for`() async throws {
        let worker = Worker()
        try await serve({ _ in .text(await worker.work()) }) { server async throws in
            let client = try server.client()
            for number in 1...50 {
                try client.send(Self.hello)
                #expect(try client.answer().text == "done \(number)")
            }
        }
    }

    @Test func `a client that asks is told nothing before the handler wants the body`() async throws
    {
        let (asked, gate) = (Signals(), Signals())
        let handler: Handler = { request in
            asked.happen()
            await gate.happened()
            return await Self.echo(request)
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            try client.send(
                "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
            )
            await asked.happened()
            #expect(client.isSilent)
            gate.happen()
            #expect(try client.take(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            try client.send("wxyz")
            #expect(try client.answer().text == "POST / 4 wxyz")
        }
    }
}

/// Runs on a thread of its own, as a database would.
private actor Worker {
    private let thread = WorkerThread()
    private var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.executor.asUnownedSerialExecutor()
    }

    func work() -> String {
        count += 1
        return "done \(count)"
    }
}
