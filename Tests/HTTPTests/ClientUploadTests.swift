import System
import Testing

@testable import HTTP

/// Bodies that are made while they are sent, and the lengths that were declared for them.
@Suite struct ClientUploadTests {
    @Test(arguments: [
        (pieces: [4, 4, 4], declared: 10, given: 12), ([20], 10, 20), ([10, 1], 10, 11),
        ([4], 10, 4), ([], 10, 0), ([5, 0, 4], 10, 9),
    ])
    func `a source that gives more or less than declared ends the request before the last byte`(
        _ pieces: [Int],
        _ declared: Int,
        _ given: Int
    ) async throws {
        let wasWhole = Lock(false)
        try await withClient { connection in
            guard connection.head() != nil, connection.bytes(declared) != nil else { return }
            wasWhole.withLock { $0 = true }
            connection.respond()
        } _: { client, server in
            let left = Lock(pieces[...])
            let upload = Client.Upload(length: declared) {
                left.withLock { $0.popFirst() }.map { [UInt8](repeating: 7, count: $0) }
            }
            let error = await failure { () throws(ClientError) in
                try await client.send(.init(.post, server.url, body: .stream(upload)))
            }
            #expect(error?.reason == .wrongLength(declared: declared, given: given))
            #expect(error?.isOutcomeUnknown == false)
        }
        #expect(!wasWhole.withLock { $0 })
    }

    @Test func `an empty source is not asked, a negative length is refused`() async throws {
        try await withClient { connection in
            while let (head, _) = connection.request() {
                connection.respond(headers: ["X: \(field("content-length", of: head) ?? "-")"])
            }
        } _: { client, server in
            let empty = Client.Upload(length: 0) { [1, 2, 3] }
            let response = try await client.send(.init(.put, server.url, body: .stream(empty)))
            #expect(response.headers["x"] == "0")
            let negative = Client.Upload(length: -1) { nil }
            let error = await failure { () throws(ClientError) in
                try await client.send(.init(.put, server.url, body: .stream(negative)))
            }
            #expect(error?.reason == .invalidRequest("a body of less than no bytes"))
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [nil, 6])
    func `an early head is there while the source is still silent`(_ length: Int?) async throws {
        let received = Lock<[UInt8]>([])
        try await withClient { connection in
            guard let head = connection.head() else { return }
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let count = field("content-length", of: head) == nil ? 16 : 6
            let body = connection.bytes(count) ?? []
            received.withLock { $0 = body }
            connection.send("2\r\nok\r\n0\r\n\r\n")
        } _: { client, server in
            let (pieces, source) = AsyncStream.makeStream(of: [UInt8].self)
            let upload = Client.Upload(length: length) {
                for await piece in pieces { return piece }
                return nil
            }
            let response = try await client.open(.init(.post, server.url, body: .stream(upload)))
            #expect(response.status == .ok)

            source.yield([1, 2, 3])
            source.yield([4, 5, 6])
            source.finish()
            var body: [UInt8] = []
            for try await piece in response.body { body += piece }
            #expect(body == Array("ok".utf8))
        }
        let sent = received.withLock { $0 }
        #expect(sent.filter { $0 < 7 } == [1, 2, 3, 4, 5, 6])
    }

    @Test(.timeLimit(.minutes(1)))
    func `letting go of the response ends a source that is silent`() async throws {
        let isCancelled = AsyncStream.makeStream(of: Void.self)
        try await withClient { connection in
            _ = connection.head()
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            connection.waitForEnd()
        } _: { client, server in
            let (pieces, source) = AsyncStream.makeStream(of: [UInt8].self)
            let upload = Client.Upload(length: nil) {
                for await piece in pieces { return piece }
                isCancelled.continuation.yield()
                return nil
            }
            _ = try await client.open(.init(.post, server.url, body: .stream(upload)))
            for await _ in isCancelled.stream { break }
            withExtendedLifetime(source) {}
        }
    }

    @Test func `a source that fails after the head breaks the answer`() async throws {
        struct Broken: Error {}
        try await withClient { connection in
            _ = connection.head()
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            connection.waitForEnd()
        } _: { client, server in
            let (signals, signal) = AsyncStream.makeStream(of: Void.self)
            let upload = Client.Upload(length: nil) {
                for await _ in signals { throw Broken() }
                return nil
            }
            let response = try await client.open(.init(.post, server.url, body: .stream(upload)))
            signal.yield()
            let error = await failure { () async throws(ClientError) in
                for try await _ in response.body {}
            }
            #expect(error?.reason == .bodyUnreadable("its source failed"))
        }
    }
}
