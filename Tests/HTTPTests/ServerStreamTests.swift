import System
import Testing

@testable import HTTP

@Suite struct ServerStreamTests {
    private static let ask = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test(arguments: Venue.allCases, [nil, 11])
    func `a stream arrives as it was written`(_ venue: Venue, _ length: Int?) async throws {
        let handler: Handler = { _ in
            Response(
                body: .stream(length: length) { writer in
                    try await writer.write("hello ")
                    try await writer.write([])
                    try await writer.write("there")
                }
            )
        }
        try await venue.host(handler) { client async throws in
            let answer = try await client.send(.get, "/")
            #expect(answer.text == "hello there")
            #expect(answer.headers["Content-Length"] == length.map { String($0) })
        }
    }

    @Test func `a connection goes on after a stream`() async throws {
        let handler: Handler = { request in
            Response(body: .stream(length: nil) { try await $0.write(request.target.raw) })
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            for path in ["/a", "/b", "/c"] {
                try client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try client.answer().text == path)
            }
        }
    }

    @Test func `a piece reaches the client before the next is written`() async throws {
        let gate = Signals()
        let handler: Handler = { _ in
            Response(
                body: .stream(length: nil) { writer in
                    for number in 1...20 {
                        await gate.happened(number)
                        try await writer.write("\(number)")
                    }
                }
            )
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            try client.send(Self.ask)
            _ = try client.head()
            for number in 1...20 {
                gate.happen()
                #expect(String(decoding: try client.chunk(), as: UTF8.self) == "\(number)")
            }
            #expect(try client.chunk().isEmpty)
        }
    }

    @Test func `a writer waits for a slow reader`() async throws {
        let written = Lock(0)
        let handler: Handler = { request in
            guard request.target.raw == "/endless" else { return .text("done") }
            return Response(
                body: .stream(length: nil) { writer in
                    for _ in 0..<1_000 {
                        try await writer.write([UInt8](repeating: 1, count: 100_000))
                        written.withLock { $0 += 1 }
                    }
                }
            )
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            client.receiveLittle()
            try client.send("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.head()
            // A writer that did not wait would be through before anybody else is answered.
            for _ in 0..<20 { #expect(try server.ask(Self.ask).text == "done") }
            // What the kernel keeps for both ends is a few megabytes at the most.
            #expect(written.withLock { $0 } < 200)
            for _ in 0..<3 { #expect(try client.chunk().count > 0) }
            client.reset()
        }
        #expect(written.withLock { $0 } < 200)
    }

    @Test func `a reader of a body makes the client wait`() async throws {
        let (begun, gate) = (Signals(), Signals())
        let handler: Handler = { request in
            begun.happen()
            await gate.happened()
            return await countingPieces(request)
        }
        var limits = Limits()
        limits.body = 100_000_000
        try await serve(handler, limits: limits) { server async throws in
            let client = try server.client()
            let size = 30_000_000
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n\r\n")
            await begun.happened()
            let sent = client.sendWhatFits(limit: size)
            #expect(sent < size, "The kernel's buffers and ours hold less than the body.")
            gate.happen()
            try client.send([UInt8](repeating: 0, count: size - sent))
            #expect(try client.answer().text == "\(size)")
        }
    }

    @Test func `a producer that fails cuts the answer short`() async throws {
        struct Trouble: Error {}
        let handler: Handler = { _ in
            Response(
                body: .stream(length: nil) { writer in
                    try await writer.write("so far")
                    throw Trouble()
                }
            )
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            try client.send(Self.ask)
            _ = try client.head()
            #expect(String(decoding: try client.chunk(), as: UTF8.self) == "so far")
            #expect(client.isClosed, "No last chunk: the client knows that it is not all.")
        }
    }

    @Test func `a body that breaks off behind its answer is not taken for whole`() async throws {
        let told = Lock<[String]>([])
        let ended = Signals()
        let handler: Handler = { request in
            Response(
                body: .stream(length: nil) { _ in
                    var count = 0
                    do throws(BodyError) {
                        for try await piece in request.body { count += piece.count }
                        told.withLock { $0.append("whole: \(count)") }
                    } catch {
                        told.withLock { $0.append(error.description) }
                    }
                    ended.happen()
                }
            )
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
            while server.exchanges == 0 { await Task.yield() }
            try client.send("012")
            client.close()
            await ended.happened()
            #expect(told.withLock(\.self) == [BodyError.cancelled.description])
        }
    }

    @Test func `a producer that has written all it promised is not told that its client left`()
        async throws
    {
        let after = Signals()
        let handler: Handler = { _ in
            Response(
                body: .stream(length: 200_000) { writer in
                    try await writer.write([UInt8](repeating: 1, count: 200_000))
                    if !Task.isCancelled { after.happen() }
                }
            )
        }
        try await serve(handler) { server async throws in
            for round in 1...20 {
                let answer = try server.ask(Self.ask)
                #expect(answer.body.count == 200_000)
                await after.happened(round)
            }
        }
    }

    @Test(arguments: [HTTP.Method.get, .head])
    func `a header of two lines is not sent beside a stream either`(
        _ method: HTTP.Method
    ) async throws {
        let handler: Handler = { _ in
            Response(headers: ["X": "a\r\nSet-Cookie: b"], body: .stream(length: nil) { _ in })
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            try client.send("\(method) / HTTP/1.1\r\nHost: x\r\n\r\n")
            let (status, headers) = try client.head()
            #expect(status.rawValue == 500)
            #expect(headers["Set-Cookie"] == nil)
        }
    }

    @Test func `jobs that go on for ever do not keep others from their answers`() async throws {
        let isOver = Flag()
        let handler: Handler = { request in
            guard request.target.raw == "/restless" else { return .text("served") }
            while !isOver.isSet { await Task.yield() }
            return .text("over")
        }
        try await serve(handler) { server async throws in
            let restless = try server.client()
            try restless.send("GET /restless HTTP/1.1\r\nHost: x\r\n\r\n")
            while server.exchanges == 0 { await Task.yield() }
            for _ in 0..<5 { #expect(try server.ask(Self.ask).text == "served") }
            isOver.set()
            #expect(try restless.answer().text == "over")
        }
    }

    @Test func `events are told apart whatever they hold`() {
        #expect(Event("a").wireForm == "data: a\n\n")
        #expect(Event("").wireForm == "data: \n\n")
        #expect(
            Event("a\nb\r\nc\rd\n").wireForm == "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"
        )
        #expect(
            Event("x", name: "sync", id: "7", retry: 500).wireForm
                == "id: 7\nevent: sync\nretry: 500\ndata: x\n\n"
        )
        #expect(
            Event("x", name: "a\ndata: forged", id: "1\r\nevent: forged").wireForm
                == "id: 1\nevent: a\ndata: x\n\n"
        )
        #expect(Event("\u{2028}\u{85}").wireForm == "data: \u{2028}\u{85}\n\n")
    }

    @Test func `a client takes up an event stream where it left it`() async throws {
        let handler: Handler = { request in
            let last = request.lastEventID.flatMap { Int($0) } ?? 0
            return .events { stream in
                try await stream.comment("hello")
                for number in (last + 1)...(last + 2) {
                    try await stream.send(Event("number \(number)", id: "\(number)"))
                }
            }
        }
        try await serve(handler) { server async throws in
            let answer = try server.ask("GET / HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 41\r\n\r\n")
            #expect(answer.headers["Content-Type"] == "text/event-stream")
            #expect(
                answer.text == ": hello\n\nid: 42\ndata: number 42\n\nid: 43\ndata: number 43\n\n"
            )
        }
    }
}

extension RawClient {
    /// Sends until the other end takes no more, and returns how much it took.
    fileprivate func sendWhatFits(limit: Int) -> Int {
        let piece = [UInt8](repeating: 0, count: 65_536)
        var sent = 0
        var refusals = 0
        while refusals < 1_000, sent < limit {
            let count = sendNow(Array(piece.prefix(limit - sent)))
            sent += count
            refusals = count == 0 ? refusals + 1 : 0
        }
        return sent
    }
}
