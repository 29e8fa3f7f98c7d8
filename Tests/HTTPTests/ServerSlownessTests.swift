import Glibc
import Testing

@testable import HTTP

/// Clients that take their time. The time is the test's own: it passes when the test says so.
@Suite struct ServerSlownessTests {
    private static let handler: Handler = { request in
        return await countingBody(request, limit: .max)
    }

    private static let head = "GET / HTTP/1.1\r\nHost: x\r\nX: "

    @Test func `a head that dribbles is cut off`() async throws {
        let time = SteppedTime()
        let refusals = Refusals()
        try await serve(Self.handler, timekeeper: time, refused: refusals.hear) {
            server async throws in
            let client = try server.client()
            try server.admit(client)
            try client.send(Self.head)
            while server.exchanges == 0 { await Task.yield() }
            let start = time.elapsed
            while client.isSilent {
                client.trySend("x")
                await time.pass(.milliseconds(100), at: server)
            }
            #expect(time.elapsed - start >= Limits().headTime)
            let answer = String(decoding: client.rest(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
        }
        #expect(refusals.heard == [.requestTimeout])
    }

    @Test func `a request line that dribbles is cut off`() async throws {
        let time = SteppedTime()
        try await serve(Self.handler, timekeeper: time) { server async throws in
            let client = try server.client()
            try server.admit(client)
            while client.isSilent {
                client.trySend("G")
                await time.pass(.milliseconds(100), at: server)
            }
            #expect(client.rest().isEmpty)
        }
    }

    @Test func `a client that says nothing is cut off`() async throws {
        let time = SteppedTime()
        try await serve(Self.handler, timekeeper: time) { server async throws in
            let client = try server.client()
            try server.admit(client)
            await time.pass(.seconds(16), at: server)
            #expect(client.isClosed)
        }
    }

    @Test func `a connection may rest for a while between requests`() async throws {
        let time = SteppedTime()
        try await serve(Self.handler, timekeeper: time) { server async throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().text == "0")
            await time.pass(.seconds(59), at: server)
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().text == "0")
            await time.pass(.seconds(61), at: server)
            #expect(client.isClosed)
        }
    }

    @Test func `a connection that was handed down may rest for ever`() async throws {
        var pair: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        let (time, client) = (SteppedTime(), RawClient(connected: pair[0]))
        try await serve(Self.handler, at: .connected(descriptor: pair[1]), timekeeper: time) {
            server async throws in
            for _ in 0..<2 {
                await time.pass(.seconds(7_200), at: server)
                try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try client.answer().text == "0")
            }
        }
        #expect(client.isClosed)
    }

    @Test(arguments: ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
    func `a body that dribbles is cut off`(_ framing: String) async throws {
        let time = SteppedTime()
        try await serve(Self.handler, timekeeper: time) { server async throws in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n")
            let piece = framing.hasPrefix("T") ? "1\r\nx\r\n" : "x"
            while server.exchanges == 0 { await Task.yield() }
            while client.isSilent {
                client.trySend(piece)
                await time.pass(.milliseconds(100), at: server)
            }
            let answer = String(decoding: client.rest(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
            client.close()
            await server.loop.quiet()
        }
    }

    @Test func `a handler's own time is not the client's fault`() async throws {
        let time = SteppedTime()
        let (begun, gate) = (Signals(), Signals())
        let handler: Handler = { _ in
            begun.happen()
            await gate.happened()
            return .text("at last")
        }
        try await serve(handler, timekeeper: time) { server async throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await begun.happened()
            await time.pass(.seconds(3_600), at: server)
            gate.happen()
            #expect(try client.answer().text == "at last")
        }
    }

    @Test(arguments: [true, false])
    func `a client that does not read is cut off`(_ isStream: Bool) async throws {
        let time = SteppedTime()
        let ended = Signals()
        let big = [UInt8](repeating: 1, count: 20_000_000)
        let handler: Handler = { _ in
            guard isStream else { return Response(body: .bytes(big)) }
            return Response(
                body: .stream(length: nil) { writer in
                    do {
                        for _ in 0..<1_000 {
                            try await writer.write([UInt8](repeating: 1, count: 100_000))
                        }
                    } catch {
                        ended.happen()
                        throw error
                    }
                }
            )
        }
        try await serve(handler, timekeeper: time) { server async throws in
            let client = try server.client()
            client.receiveLittle()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.head()
            // As long as the connection moves at all, its time begins anew.
            await time.passing(at: server, by: .seconds(60)) { await server.loop.quiet() }
            if isStream { await ended.happened() }
            #expect(server.exchanges == 0)
        }
    }

    @Test func `a client that reads slowly keeps its answer, and one that stops loses it soon`()
        async throws
    {
        let time = SteppedTime()
        let big = [UInt8](repeating: 1, count: 20_000_000)
        try await serve({ _ in Response(body: .bytes(big)) }, timekeeper: time) {
            server async throws in
            let client = try server.client()
            client.receiveLittle()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.head()
            for _ in 0..<3 {
                #expect(try client.take(20_000).count == 20_000)
                await time.pass(.seconds(29), at: server)
            }
            #expect(server.exchanges == 1)
            let start = time.elapsed
            await time.passing(at: server, by: .seconds(1)) { await server.loop.quiet() }
            #expect(server.exchanges == 0)
            // By `slowest` alone it would be more than an hour.
            #expect(time.elapsed - start < .seconds(600))
        }
    }

    @Test func `a client that takes too little altogether is cut off`() async throws {
        let time = SteppedTime()
        let big = [UInt8](repeating: 1, count: 20_000_000)
        var limits = Limits()
        limits.slowest = 400_000
        let longest = limits.answerTime + limits.time(for: big.count)
        let handler: Handler = { _ in Response(body: .bytes(big)) }
        try await serve(handler, limits: limits, timekeeper: time) { server async throws in
            let client = try server.client()
            client.receiveLittle()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.head()
            let start = time.elapsed
            // Far more than the client's socket holds, so something has moved each time.
            while server.exchanges > 0 {
                _ = try client.take(20_000)
                await time.pass(.seconds(25), at: server)
            }
            #expect(time.elapsed - start > longest - .seconds(60))
            #expect(time.elapsed - start < longest + .seconds(60))
        }
    }

    @Test func `answers that nobody fetches hold no more memory than is meant for them`()
        async throws
    {
        let time = SteppedTime()
        let big = [UInt8](repeating: 1, count: 20_000_000)
        var limits = Limits()
        limits.answers = 50_000_000
        let handler: Handler = { request in
            request.target.raw == "/small" ? .text("small") : Response(body: .bytes(big))
        }
        try await serve(handler, limits: limits, timekeeper: time) { server async throws in
            let idle = try (0..<2).map { _ in
                let client = try server.client()
                client.receiveLittle()
                try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try client.head().0 == .ok)
                return client
            }
            let refused = try server.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(refused.status == .unavailable && refused.headers["Retry-After"] == "1")
            #expect(try server.ask("GET /small HTTP/1.1\r\nHost: x\r\n\r\n").text == "small")
            // What was done is told.
            let edit = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
            #expect(try server.ask(edit).body.count == big.count)
            for client in idle { client.close() }
            await server.loop.quiet()
            #expect(try server.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n").body.count == big.count)
        }
    }
}

extension Server {
    /// Waits until the server has let the client in.
    fileprivate func admit(_ client: RawClient) throws {
        let other = try self.client()
        try other.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try other.answer()
    }
}
