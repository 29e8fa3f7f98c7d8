import System
import TestSupport
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
