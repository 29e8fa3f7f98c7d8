import Testing

@testable import HTTP

/// Answers that come as gzip.
@Suite struct ClientPackingTests {
    private static let text = Array(
        (0..<40_000).map { "vault \($0 &* 2_654_435_761 % 997) " }.joined().utf8
    )

    private func fetch(
        _ packed: [UInt8],
        coding: [String] = ["gzip"],
        framing: Framing = .length
    ) async throws -> Result<[UInt8], ClientError> {
        var result: Result<[UInt8], ClientError>?
        try await withClient { connection in
            while connection.request() != nil {
                framing.send(packed, over: connection, coding.map { "Content-Encoding: \($0)" })
            }
        } _: { client, server in
            do throws(ClientError) {
                result = .success(try await client.send(.init(.get, server.url)).body)
            } catch {
                result = .failure(error)
            }
        }
        return try #require(result)
    }

    enum Framing: CaseIterable {
        case length, chunks

        func send(_ body: [UInt8], over connection: ScriptedConnection, _ headers: [String]) {
            guard self == .chunks else {
                connection.respond(headers: headers, body: body)
                return
            }
            let head = (["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"] + headers)
            connection.send(head.map { $0 + "\r\n" }.joined() + "\r\n")
            for start in stride(from: 0, to: body.count, by: 5_000) {
                let chunk = body[start..<min(start + 5_000, body.count)]
                connection.send("\(String(chunk.count, radix: 16))\r\n")
                connection.send(Array(chunk) + Array("\r\n".utf8))
            }
            connection.send("0\r\n\r\n")
        }
    }

    @Test(arguments: Framing.allCases, [1, 4, 8, 9, 1_000])
    func `what is cut short inside a whole frame is malformed`(_ framing: Framing, _ missing: Int)
        async throws
    {
        let packed = try gzip(Self.text)
        let whole = try await fetch(packed, framing: framing)
        #expect(try whole.get() == Self.text)
        let cut = try await fetch(Array(packed.dropLast(missing)), framing: framing)
        guard case .failure(let error) = cut else {
            Issue.record("A body without its last \(missing) bytes was accepted.")
            return
        }
        #expect(error.reason == .malformedAnswer("its body ends before what was packed"))
    }

    @Test func `several packed one behind the other are one body, and nothing else may follow`()
        async throws
    {
        let (one, two) = (try gzip(Self.text), try gzip([1, 2, 3]))
        #expect(try await fetch(one + two).get() == Self.text + [1, 2, 3])
        #expect(try await fetch([]).get() == [], "Without a body there is nothing to unpack.")
        for rest: [UInt8] in [[0], Array("more".utf8), Array(two.dropLast())] {
            let outcome = try await fetch(one + rest)
            #expect(throws: ClientError.self) { try outcome.get() }
        }
    }

    @Test(arguments: [["br"], ["deflate"], ["gzip", "gzip"], ["gzip, gzip"]])
    func `a coding that was not asked for is malformed`(_ coding: [String]) async throws {
        guard case .failure(let error) = try await fetch(gzip([1, 2, 3]), coding: coding),
            case .malformedAnswer = error.reason
        else {
            Issue.record("\(coding) was accepted.")
            return
        }
    }

    @Test(arguments: [["identity"], ["GZIP"], ["x-gzip"]])
    func `a coding goes by its usual names`(_ coding: [String]) async throws {
        let body: [UInt8] = coding == ["identity"] ? [1, 2, 3] : try gzip([1, 2, 3])
        #expect(try await fetch(body, coding: coding).get() == [1, 2, 3])
    }

    @Test func `a reader that is slow is not flooded by what it unpacks to`() async throws {
        let text = [UInt8](repeating: 7, count: 20_000_000)
        let packed = try gzip(text)
        #expect(packed.count < 50_000)
        try await withClient {
            $0.streamWindow = 64 << 10
        } against: { connection in
            while connection.request() != nil {
                Framing.chunks.send(packed, over: connection, ["Content-Encoding: gzip"])
            }
        } _: { client, server in
            let response = try await client.open(.init(.get, server.url))
            var body: [UInt8] = []
            for try await piece in response.body {
                #expect(piece.count <= 128 << 10)
                body += piece
            }
            #expect(body == text)
        }
    }

    /// Sends the beginning of a packed body, and the end once the reader has let the pipe fill.
    private func read(
        _ start: [UInt8],
        then end: [UInt8],
        limit: Int? = nil
    ) async throws -> ClientError? {
        let isFull = Gate()
        var error: ClientError?
        try await withClient {
            $0.streamWindow = 64 << 10
        } against: { connection in
            guard connection.request() != nil else { return }
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked"
            let size = String(start.count, radix: 16)
            connection.send(Array("\(head)\r\n\r\n\(size)\r\n".utf8) + start)
            isFull.pass()
            let chunk = end.isEmpty ? [] : Array("\(String(end.count, radix: 16))\r\n".utf8) + end
            connection.send(Array("\r\n".utf8) + chunk)
            connection.send(end.isEmpty ? "0\r\n\r\n" : "\r\n0\r\n\r\n")
            connection.waitForEnd()
        } _: { client, server in
            var request = Client.Request(.get, server.url)
            request.bodyLimit = limit
            let response = try await client.open(request)
            // What came with the head has been dealt with when the next question is answered.
            _ = await client.load()
            isFull.open()
            error = await failure { () async throws(ClientError) in
                for try await _ in response.body {}
            }
        }
        return error
    }

    @Test func `what turns out corrupt after a pause ends the transfer`() async throws {
        var packed = try gzip([UInt8](repeating: 7, count: 100 << 10))
        // In the check of what was packed, which is read last of all.
        packed[packed.count - 6] ^= 0xFF
        for end: [UInt8] in [[], [0x1F], Array("and more".utf8)] {
            let error = try await read(packed, then: end)
            #expect(error?.reason == .malformedAnswer("its body is not gzip as it says"))
        }
    }

    @Test func `what turns out too large after a pause ends the transfer`() async throws {
        let packed = try gzip([UInt8](repeating: 7, count: 100 << 10))
        #expect(try await read(packed, then: []) == nil)
        for end: [UInt8] in [[], Array(packed.prefix(10))] {
            let error = try await read(packed, then: end, limit: 90 << 10)
            #expect(error?.reason == .tooLarge(.body, limit: 90 << 10))
        }
    }

    @Test func `an unpacker that was refused takes a shorter piece after it`() throws {
        let unpacker = try #require(Unpacker())
        let packed = try gzip(Self.text)
        var parts = 0
        let refused = packed.withUnsafeBytes { piece in
            unpacker.unpack(piece, hasRoom: { true }) { _ in
                parts += 1
                return parts < 3
            }
        }
        #expect(refused == .refused)
        let next = [UInt8](repeating: 0xFF, count: 1).withUnsafeBytes { piece in
            unpacker.unpack(piece, hasRoom: { true }, give: { _ in true })
        }
        #expect(next == .taken || next == .broken)
        #expect(!unpacker.isWhole)
    }

    @Test func `the head of a packed body without the body is no error`() async throws {
        try await withClient { connection in
            while connection.request() != nil {
                connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\n"
                )
            }
        } _: { client, server in
            let response = try await client.send(.init(.head, server.url))
            #expect(response.status == .ok)
        }
    }
}
