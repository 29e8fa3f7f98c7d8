import System
import TestSupport
import Testing

@testable import HTTP

/// Bodies that come and go piece by piece.
@Suite struct ClientStreamTests {
    @Test func `the head is there before the body`() async throws {
        let gate = Gate()
        try await withClient { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nX-Head: yes\r\nContent-Length: 6\r\n\r\n")
            gate.pass()
            connection.send("abcdef")
        } _: { client, server in
            let response = try await client.open(Client.Request(.get, server.url))
            #expect(response.headers["x-head"] == "yes")
            gate.open()
            var body: [UInt8] = []
            for try await piece in response.body { body += piece }
            #expect(body == Array("abcdef".utf8))
        }
    }

    @Test func `a reader that is slow makes the server wait`() async throws {
        let total = 64 << 20
        let sent = Lock(0)
        try await withClient {
            $0.streamWindow = 64 << 10
        } against: { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            let piece = [UInt8](repeating: 5, count: 1 << 20)
            for _ in 0..<(total / piece.count) {
                guard connection.send(piece) else { return }
                sent.withLock { $0 += piece.count }
            }
        } _: { client, server in
            let response = try await client.open(Client.Request(.get, server.url))
            var received = 0
            for try await piece in response.body {
                received += piece.count
                #expect(piece.count <= 128 << 10)
                // What is ahead of us lies in the window and in the buffers of the two sockets.
                let ahead = sent.withLock { $0 } - received
                #expect(ahead < 32 << 20, "\(ahead) bytes are ahead of their reader.")
            }
            #expect(received == total)
        }
    }

    @Test func `a stream that breaks throws after what has come`() async throws {
        try await withClient { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        } _: { client, server in
            let response = try await client.open(Client.Request(.get, server.url))
            var body: [UInt8] = []
            let error = await failure { () async throws(ClientError) in
                for try await piece in response.body { body += piece }
            }
            #expect(body == Array("abc".utf8))
            #expect(error?.reason == .connectionLost)
        }
    }

    @Test func `letting go of a body ends its transfer`() async throws {
        let gone = AsyncStream.makeStream(of: Void.self)
        try await withClient { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            connection.waitForEnd()
            gone.continuation.yield()
        } _: { client, server in
            _ = try await client.open(Client.Request(.get, server.url))
            for await _ in gone.stream { break }
        }
    }

    @Test(arguments: [nil, 6_000_000])
    func `a body is sent as it is made`(_ length: Int?) async throws {
        try await withClient { connection in
            while let (head, body) = connection.request() {
                let coding = field("transfer-encoding", of: head) ?? "none"
                connection.respond(
                    headers: ["X-Coding: \(coding)"],
                    body: Array("\(body.count)".utf8)
                )
            }
        } _: { client, server in
            for _ in 1...2 {
                let made = Lock(0)
                let upload = Client.Upload(length: length) {
                    made.withLock { made in
                        guard made < 6_000_000 else { return nil }
                        made += 60_000
                        return [UInt8](repeating: 9, count: 60_000)
                    }
                }
                let request = Client.Request(.post, server.url, body: .stream(upload))
                let response = try await client.send(request)
                #expect(String(decoding: response.body, as: UTF8.self) == "6000000")
                #expect(response.headers["x-coding"] == (length == nil ? "chunked" : "none"))
            }
        }
    }

    @Test func `a source that fails ends the request`() async throws {
        struct Broken: Error {}
        try await withClient { connection in
            _ = connection.head()
            connection.waitForEnd()
        } _: { client, server in
            let made = Lock(0)
            let upload = Client.Upload(length: 1_000) {
                try made.withLock { made in
                    made += 1
                    guard made < 3 else { throw Broken() }
                    return [1, 2, 3]
                }
            }
            let error = await failure { () throws(ClientError) in
                try await client.send(Client.Request(.post, server.url, body: .stream(upload)))
            }
            #expect(error?.reason == .bodyUnreadable("its source failed"))
            #expect(error?.progress.sent == .part)
        }
    }

    @Test func `an answer that comes early ends the upload`() async throws {
        try await withClient { connection in
            _ = connection.head()
            connection.respond("413 Content Too Large", headers: ["Connection: close"])
            connection.waitForEnd()
        } _: { client, server in
            let upload = Client.Upload(length: nil) { [UInt8](repeating: 1, count: 10_000) }
            let response = try await client.send(
                Client.Request(.post, server.url, body: .stream(upload))
            )
            #expect(response.status == .contentTooLarge)
        }
    }
}
