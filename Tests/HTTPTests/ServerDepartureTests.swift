import Glibc
import System
import TestSupport
import Testing

@testable import HTTP

/// Clients that leave, at every moment at which one can.
@Suite struct ServerDepartureTests {
    @Test func `a handler is cancelled when its client is gone`() async throws {
        let (begun, cancelled) = (Signals(), Signals())
        let handler: Handler = { _ in
            begun.happen()
            await untilCancelled()
            cancelled.happen()
            return .text("to nobody")
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await begun.happened()
            client.reset()
            await cancelled.happened()
            await server.loop.quiet()
        }
    }

    @Test func `whoever has lingered longest makes room for whoever is refused next`() throws {
        var lingering = Lingering(capacity: 2)
        var clients: [RawClient] = []
        for identity in 1...3 as ClosedRange<UInt64> {
            var ends: [Int32] = [0, 0]
            try system("socketpair") { socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) }
            clients.append(RawClient(connected: ends[0]))
            lingering.add(ends[1], as: identity, until: .seconds(identity))
        }
        #expect(lingering.count == 2)
        #expect(clients[0].isClosed)
        #expect(clients[1].isSilent && clients[2].isSilent)
        lingering.endAll()
        #expect(clients[1].isClosed && clients[2].isClosed)
    }

    @Test func `a client that has closed its sending side is still answered`() async throws {
        let (begun, gate) = (Signals(), Signals())
        let handler: Handler = { request in
            if request.target.raw == "/slow" {
                begun.happen()
                await gate.happened()
            }
            return .text(request.target.raw)
        }
        try await serve(handler) { server async throws in
            for path in ["/fast", "/slow"] {
                let client = try server.client()
                try client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                client.closeSending()
                if path == "/slow" {
                    await begun.happened()
                    gate.happen()
                }
                #expect(try client.answer().text == path)
                #expect(client.isClosed)
            }
        }
    }

    @Test func `a client that has sent its chunks and closed its sending side is answered`()
        async throws
    {
        let (begun, gate) = (Signals(), Signals())
        let handler: Handler = { request in
            begun.happen()
            await gate.happened()
            return await countingPieces(request)
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            await begun.happened()
            for _ in 0..<10 {
                try client.send("2710\r\n" + String(repeating: "c", count: 10_000) + "\r\n")
            }
            try client.send("0\r\n\r\n")
            client.closeSending()
            gate.happen()
            #expect(try client.answer().text == "100000")
        }
    }

    @Test func `a half-closed client is waited for only so long`() async throws {
        let time = SteppedTime()
        let (begun, cancelled) = (Signals(), Signals())
        let handler: Handler = { _ in
            begun.happen()
            await untilCancelled()
            cancelled.happen()
            return .text("too late")
        }
        try await serve(handler, timekeeper: time) { server async throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await begun.happened()
            client.closeSending()
            // Until the loop has noticed, its deadline has not begun.
            while cancelled.total == 0 { await time.pass(.seconds(6), at: server) }
            #expect(client.rest().isEmpty)
        }
    }

    @Test func `on a Unix socket a client that leaves is missed at once`() async throws {
        let scratch = try Scratch()
        let (begun, cancelled) = (Signals(), Signals())
        let handler: Handler = { _ in
            begun.happen()
            await untilCancelled()
            cancelled.happen()
            return .text("to nobody")
        }
        try await serve(handler, at: .unix(path: scratch.file("s"))) { server async throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await begun.happened()
            client.close()
            await cancelled.happened()
        }
    }

    @Test func `a body that breaks off fails for its reader`() async throws {
        let (begun, failed) = (Signals(), Signals())
        let handler: Handler = { request in
            begun.happen()
            do throws(BodyError) {
                _ = try await request.body(limit: 1_000)
            } catch {
                if error == .clientLeft { failed.happen() }
            }
            return .text("to nobody")
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
            await begun.happened()
            client.close()
            await failed.happened()
        }
    }

    @Test func `a producer hears that its client is gone`() async throws {
        let (begun, left) = (Signals(), Signals())
        let handler: Handler = { _ in
            .events { stream in
                begun.happen()
                do {
                    while true { try await stream.send(Event("again")) }
                } catch {
                    left.happen()
                    throw error
                }
            }
        }
        try await serve(handler) { server async throws in
            for round in 1...10 {
                let client = try server.client()
                try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try client.head()
                await begun.happened(round)
                if round % 2 == 0 { client.reset() } else { client.close() }
                await left.happened(round)
            }
        }
    }

    @Test func `an event stream that is silent is ended when its client resets`() async throws {
        let (begun, left) = (Signals(), Signals())
        let handler: Handler = { _ in
            .events { stream in
                try await stream.send(Event("only"))
                begun.happen()
                await untilCancelled()
                left.happen()
            }
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.head()
            _ = try client.chunk()
            await begun.happened()
            client.reset()
            await left.happened()
        }
    }

    @Test(
        arguments: [
            "", "GET", "GET / HTTP/1.1\r\nHo",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhal",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
            "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
            "GET /big HTTP/1.1\r\nHost: x\r\n\r\n", "GET /events HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT",
        ],
        [true, false]
    )
    func `leaving at any moment leaves nothing behind`(_ text: String, _ isReset: Bool) async throws
    {
        let handler: Handler = { request in
            switch request.target.raw {
            case "/big": return Response(body: .bytes([UInt8](repeating: 1, count: 5_000_000)))
            case "/events":
                return .events { stream in while true { try await stream.send(Event("x")) } }
            default:
                _ = try? await request.body(limit: 1_000)
                return .text("fine")
            }
        }
        try await serve(handler) { server async throws in
            for _ in 0..<5 {
                let client = try server.client()
                client.trySend(text)
                if isReset { client.reset() } else { client.close() }
            }
            #expect(
                try server.ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").text
                    == "fine"
            )
            await server.loop.quiet()
            #expect(server.exchanges == 0)
        }
    }
}

/// Returns when the task is cancelled, and not before.
func untilCancelled() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    await withTaskCancellationHandler {
        for await _ in stream {}
    } onCancel: {
        continuation.finish()
    }
}
