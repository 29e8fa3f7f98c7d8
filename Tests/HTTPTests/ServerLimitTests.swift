import Glibc
import System
import Testing

@testable import HTTP

@Suite struct ServerLimitTests {
    private static let read: Handler = { request in
        return await countingBody(request, limit: .max)
    }

    private static func request(headers: String) -> String {
        "GET / HTTP/1.1\r\nHost: x\r\n\(headers)\r\n"
    }

    @Test func `headers may be as large as the limit and no larger`() async throws {
        try await serve(Self.read) { server async throws in
            let empty = Self.request(headers: "X: \r\n").utf8.count
            for (size, status) in [(16_384, 200), (16_385, 431), (24_000, 431), (300_000, 431)] {
                let value = String(repeating: "v", count: size - empty)
                let client = try server.client()
                client.trySend(Self.request(headers: "X: \(value)\r\n"))
                #expect(try client.answer().status.rawValue == status, "\(size)")
            }
        }
    }

    @Test func `a target may be as long as the limit allows`() async throws {
        try await serve(Self.read) { server async throws in
            for (size, status) in [(16_000, 200), (16_400, 414), (100_000, 414)] {
                let client = try server.client()
                client.trySend(
                    "GET /\(String(repeating: "t", count: size)) HTTP/1.1\r\nHost: x\r\n\r\n"
                )
                #expect(try client.answer().status.rawValue == status, "\(size)")
            }
        }
    }

    @Test func `there may be so many headers and no more`() async throws {
        try await serve(Self.read) { server async throws in
            for (count, status) in [(399, 200), (400, 431), (1_000, 431), (4_000, 431)] {
                let fields = (0..<count).map { _ in "a:\r\n" }.joined()
                let answer = try server.ask(Self.request(headers: fields))
                #expect(answer.status.rawValue == status, "\(count)")
            }
        }
    }

    @Test func `as many headers as there may be fit into as large a head as there may be`()
        async throws
    {
        #expect(Limits().connectionMemory == 45 << 10)
        try await serve(Self.read) { server async throws in
            let empty = Self.request(headers: (0..<399).map { _ in "a: \r\n" }.joined()).utf8.count
            let value = String(repeating: "v", count: (16_384 - empty) / 399)
            let fields = (0..<399).map { _ in "a: \(value)\r\n" }.joined()
            let client = try server.client()
            for _ in 0..<2 {
                try client.send(Self.request(headers: fields))
                #expect(try client.answer().status == .ok)
            }
        }
    }

    @Test func `cookies do not count twice`() async throws {
        try await serve(Self.read) { server async throws in
            let cookies = (0..<20).map { "name\($0)=value" }.joined(separator: "; ")
            let answer = try server.ask(Self.request(headers: "Cookie: \(cookies)\r\n"))
            #expect(answer.status == .ok)
        }
    }

    @Test func `what is said past the library has the same words in its first line`() {
        let lines: [(Refusal, String)] = [
            (.tooSlow, "408 Request Timeout"), (.bodyTooLarge, "413 Content Too Large"),
            (.tooManyConnections, "503 Service Unavailable"),
        ]
        for (refusal, line) in lines {
            let text = String(decoding: refusal.response.wholeForm, as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 \(line)\r\n"))
        }
        let plain = String(decoding: Response.text("x").wholeForm, as: UTF8.self)
        #expect(plain.hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func `a body may be as large as the limit and no larger`() async throws {
        var limits = Limits()
        limits.body = 200_000
        try await serve(Self.read, limits: limits) { server async throws in
            for (size, status) in [(200_000, 200), (200_001, 413), (5_000_000, 413)] {
                let client = try server.client()
                try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n")
                client.trySend([UInt8](repeating: 7, count: size))
                #expect(try client.answer().status.rawValue == status, "\(size)")
            }
        }
    }

    @Test func `a body in chunks may be as large as the limit and no larger`() async throws {
        var limits = Limits()
        limits.body = 200_000
        try await serve(Self.read, limits: limits) { server async throws in
            for (count, status) in [(20, 200), (21, 413), (400, 413)] {
                let client = try server.client()
                try client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
                let chunk = "2710\r\n" + String(repeating: "c", count: 10_000) + "\r\n"
                for _ in 0..<count where !client.trySend(chunk) { break }
                client.trySend("0\r\n\r\n")
                #expect(try client.answer().status.rawValue == status, "\(count)")
            }
        }
    }

    @Test func `a handler's own limit holds as well`() async throws {
        let handler: Handler = { request in
            return await countingBody(request, limit: 1_000)
        }
        try await serve(handler) { server async throws in
            for (size, status) in [(1_000, 200), (1_001, 413), (900_000, 413)] {
                let client = try server.client()
                try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n")
                client.trySend([UInt8](repeating: 7, count: size))
                #expect(try client.answer().status.rawValue == status, "\(size)")
            }
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<90 {
                client.trySend("2710\r\n" + String(repeating: "c", count: 10_000) + "\r\n")
            }
            #expect(try client.answer().status == .contentTooLarge)
        }
    }

    @Test func `a chunk extension without end is refused and does not keep the server busy`()
        async throws
    {
        try await serve(Self.read) { server async throws in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;")
            client.trySend([UInt8](repeating: UInt8(ascii: "e"), count: 200_000))
            // Others are served meanwhile, and that does not spare it.
            let other = try server.client()
            while client.isSilent {
                try other.send(Self.request(headers: ""))
                #expect(try other.answer().status == .ok)
            }
            #expect(try client.answer().status == .badRequest)
            #expect(try server.ask(Self.request(headers: "")).status == .ok)
        }
    }

    @Test func `what comes just after a look is not taken for such an extension`() async throws {
        let time = SteppedTime()
        let acts = Lock<[String: @Sendable () -> Void]>([:])
        let handler: Handler = { request in
            let act = request.target.segments.first.flatMap { name in acts.withLock { $0[name] } }
            act?()
            return await countingBody(request)
        }
        try await serve(handler, timekeeper: time) { server async throws in
            let (late, endless) = (try server.client(), try server.client())
            let (first, second) = (try server.client(), try server.client())
            try late.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n")
            while server.exchanges == 0 { await Task.yield() }
            try second.send(Self.request(headers: ""))
            #expect(try second.answer().status == .ok)
            await time.pass(.milliseconds(10), at: server)
            try endless.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;")
            endless.trySend([UInt8](repeating: UInt8(ascii: "e"), count: 200_000))
            while server.exchanges < 2 { await Task.yield() }
            // The loop itself says all this, so that it comes when the library has looked for this turn.
            let (afterwards, atLast) = (second.descriptor, late.descriptor)
            acts.withLock { acts in
                acts["time"] = {
                    time.pass(.milliseconds(60))
                    say("GET /body HTTP/1.1\r\nHost: x\r\n\r\n", at: afterwards)
                }
                acts["body"] = { say("{}", at: atLast) }
            }
            try first.send("GET /time HTTP/1.1\r\nHost: x\r\n\r\n")
            for client in [first, second] { #expect(try client.answer().status == .ok) }
            #expect(try late.answer().text == "2")
            while endless.isSilent { await time.pass(.milliseconds(60), at: server) }
            #expect(try endless.answer().status == .badRequest)
        }
    }

    @Test func `trailers without end are refused`() async throws {
        try await serve(Self.read) { server async throws in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
            for _ in 0..<4_000 where !client.trySend("Trailer: value\r\n") { break }
            #expect(try client.answer().status == .headersTooLarge)
        }
    }

    @Test func `connections beyond the limit are told to come again while all are busy`()
        async throws
    {
        var limits = Limits()
        limits.connections = 3
        let (begun, gate) = (Signals(), Signals())
        let handler: Handler = { _ in
            begun.happen()
            await gate.happened()
            return .text("done")
        }
        let refusals = Refusals()
        try await serve(handler, limits: limits, refused: refusals.hear) { server async throws in
            var kept: [RawClient] = []
            for number in 1...3 {
                let client = try server.client()
                try client.send(Self.request(headers: ""))
                await begun.happened(number)
                kept.append(client)
            }
            let refused = try server.client()
            refused.trySend(Self.request(headers: ""))
            let answer = try refused.answer()
            #expect(answer.status == .unavailable)
            #expect(answer.headers["Retry-After"] == "1")
            #expect(refused.isClosed)
            #expect(refusals.heard == [.unavailable])

            gate.happen()
            for client in kept { #expect(try client.answer().status == .ok) }
            #expect(try server.ask(Self.request(headers: "")).status == .ok)
        }
    }

    @Test func `who is answered although no handler has seen them is heard of, and nobody else`()
        async throws
    {
        var limits = Limits()
        limits.body = 100
        let refusals = Refusals()
        try await serve(Self.read, limits: limits, refused: refusals.hear) { server async throws in
            let long = "X: \(String(repeating: "v", count: 20_000))\r\n"
            let chunk = "65\r\n\(String(repeating: "c", count: 0x65))\r\n"
            for (headers, status) in [
                ("", 200), (long, 431), ("Expect: what\r\n", 417), ("Host: b\r\n", 400),
                ("Content-Length: 101\r\n", 413),
                ("Transfer-Encoding: chunked\r\n\r\n\(chunk)0\r\n", 413),
            ] {
                let client = try server.client()
                client.trySend(Self.request(headers: headers))
                #expect(try client.answer().status.rawValue == status, "\(headers.prefix(20))")
            }
        }
        #expect(refusals.heard.map(\.rawValue) == [431, 417, 400, 413])
    }

    @Test func `whoever rests longest makes room for whoever comes`() async throws {
        var limits = Limits()
        limits.connections = 3
        try await serve(Self.read, limits: limits) { server async throws in
            let kept = try (0..<3).map { _ in try Self.answered(server) }
            // The first has something answered once more, so it is the second that has rested longest.
            try kept[0].send(Self.request(headers: ""))
            #expect(try kept[0].answer().status == .ok)
            let late = try Self.answered(server)
            #expect(kept[1].isClosed)
            for client in [kept[0], kept[2], late] {
                try client.send(Self.request(headers: ""))
                #expect(try client.answer().status == .ok)
            }
            while server.connections != 3 { await Task.yield() }
        }
    }

    /// A client whose first request was answered, and that is still connected.
    private static func answered(_ server: Server) throws -> RawClient {
        let client = try server.client()
        try client.send(request(headers: ""))
        #expect(try client.answer().status == .ok)
        return client
    }

    @Test
    func `whoever rests longest makes room also where no descriptor is left for whoever comes`()
        async throws
    {
        try await serve(Self.read) { server async throws in
            let kept = try (0..<3).map { _ in try Self.answered(server) }
            await withTaskExecutorPreference(server.loop.executor) {
                await Self.runOutOfDescriptors(server)
            }
            let late = try Self.answered(server)
            #expect(kept[0].isClosed)
            for client in [kept[1], kept[2], late] {
                try client.send(Self.request(headers: ""))
                #expect(try client.answer().status == .ok)
            }
        }
    }

    /// As the server's own thread would find out. Concurrent, so that it leaves the caller's executor.
    @concurrent
    private static func runOutOfDescriptors(_ server: Server) async {
        server.loop.rest(after: EMFILE)
    }

    @Test func `a crowd that comes at once and asks is let in up to the limit, and hardly beyond`()
        async throws
    {
        var limits = Limits()
        limits.connections = 8
        let (held, gate) = (Signals(), Signals())
        let release = Gate()
        let handler: Handler = { _ in
            await gate.happened()
            return .text("done")
        }
        try await serve(handler, limits: limits) { server async throws in
            async let hold: Void = withTaskExecutorPreference(server.loop.executor) {
                await Self.holdLoop(held, until: release)
            }
            await held.happened()
            let crowd = try (0..<40).map { _ in
                let client = try server.client()
                client.trySend(Self.request(headers: ""))
                return client
            }
            release.open()
            await hold
            for client in crowd.dropFirst(8 + limits.newcomers) {
                #expect(try client.answer().status == .unavailable)
            }
            #expect(server.connections <= 8 + limits.newcomers)
            gate.happen()
            for client in crowd.prefix(8) { #expect(try client.answer().status == .ok) }
        }
    }

    /// Keeps the server's thread, so that all who come meanwhile are there in its next turn. Concurrent, so that it
    /// leaves the caller's executor.
    @concurrent
    private static func holdLoop(_ held: Signals, until release: Gate) async {
        held.happen()
        release.pass()
    }

    @Test(arguments: ["", "GET / HT"])
    func `a crowd that asks nothing keeps nobody out`(_ beginning: String) async throws {
        var limits = Limits()
        limits.connections = 8
        try await serve(Self.read, limits: limits) { server async throws in
            var crowd: [RawClient] = []
            for _ in 0..<100 {
                let client = try server.client()
                client.trySend(beginning)
                crowd.append(client)
                #expect(server.connections <= 8 + 2 * 64)
            }
            for _ in 0..<5 {
                #expect(try server.ask(Self.request(headers: "")).status == .ok)
            }
            while server.connections > 8 { await Task.yield() }
            withExtendedLifetime(crowd) {}
        }
    }

    @Test func `a crowd that is refused and owes its bodies keeps nobody out`() async throws {
        var limits = Limits()
        limits.connections = 8
        let handler: Handler = { request in
            request.method == .post ? Response(.unauthorized) : .text("ok")
        }
        try await serve(handler, limits: limits) { server async throws in
            var crowd: [RawClient] = []
            for _ in 0..<40 {
                let client = try server.client()
                try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
                crowd.append(client)
            }
            for _ in 0..<5 {
                #expect(try server.ask(Self.request(headers: "")).status == .ok)
            }
            #expect(try crowd[0].answer().status == .unauthorized)
            #expect(crowd[0].isClosed)
        }
    }
}

private func say(_ text: String, at descriptor: Int32) {
    _ = Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL))
}
