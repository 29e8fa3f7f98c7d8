import Testing

@testable import HTTP

/// Whoever gives up is free at once, wherever the request stands.
@Suite struct ClientCancellationTests {
    /// Cancels what `body` does once `signal` has come, and returns how it ended.
    private func cancelled(
        after signal: AsyncStream<Void>,
        _ body: @escaping @Sendable () async -> ClientError?
    ) async -> ClientError? {
        await withTaskGroup { tasks in
            tasks.addTask { await body() }
            for await _ in signal { break }
            tasks.cancelAll()
            return await tasks.next() ?? nil
        }
    }

    @Test(.timeLimit(.minutes(1))) func `while it waits for a place`() async throws {
        try await withClient {
            $0.requestsPerHost = 1
        } against: { connection in
            while connection.request() != nil {}
        } _: { client, server in
            await withTaskGroup { first in
                let send: @Sendable () async -> ClientError? = {
                    await failure { () throws(ClientError) in
                        try await client.send(.init(.get, server.url))
                    }
                }
                first.addTask { await send() }
                while await client.load().underWay == 0 {}
                let second = await withTaskGroup { tasks in
                    tasks.addTask { await send() }
                    while await client.load().waiting == 0 {}
                    tasks.cancelAll()
                    return await tasks.next() ?? nil
                }
                #expect(second?.reason == .cancelled)
                #expect(second?.progress == .init())
                first.cancelAll()
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func `while the connection is made`() async throws {
        let greeted = AsyncStream.makeStream(of: Void.self)
        try await withClient { connection in
            // The beginning of a TLS handshake that nobody answers.
            guard connection.bytes(5) != nil else { return }
            greeted.continuation.yield()
            connection.waitForEnd()
        } _: { client, server in
            let error = await cancelled(after: greeted.stream) {
                await failure { () throws(ClientError) in
                    try await client.send(.init(.get, "https://127.0.0.1:\(server.port)/"))
                }
            }
            #expect(error?.reason == .cancelled)
            #expect(error?.progress == .init())
        }
    }

    @Test(.timeLimit(.minutes(1))) func `while the body is sent`() async throws {
        let begun = AsyncStream.makeStream(of: Void.self)
        let hold = Gate()
        try await withClient { connection in
            guard connection.head() != nil else { return }
            begun.continuation.yield()
            hold.pass()
        } _: { client, server in
            let body = [UInt8](repeating: 1, count: 50 << 20)
            let error = await cancelled(after: begun.stream) {
                await failure { () throws(ClientError) in
                    try await client.send(.init(.put, server.url, body: .bytes(body)))
                }
            }
            #expect(error?.reason == .cancelled)
            #expect(error?.progress.sent == .part)
            hold.open()
        }
    }

    @Test(.timeLimit(.minutes(1))) func `while the body is read`() async throws {
        let isReading = AsyncStream.makeStream(of: Void.self)
        try await withClient { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            connection.waitForEnd()
        } _: { client, server in
            let error = await cancelled(after: isReading.stream) {
                await failure { () async throws(ClientError) in
                    let response = try await client.open(.init(.get, server.url))
                    for try await _ in response.body { isReading.continuation.yield() }
                }
            }
            #expect(error?.reason == .cancelled)
            #expect(error?.progress == .init(sent: .whole, isAnswered: true))
        }
    }

    @Test func `before it has begun`() async throws {
        try await withClient { connection in
            connection.waitForEnd()
        } _: { client, server in
            let error = await withTaskGroup(of: ClientError?.self) { tasks in
                tasks.cancelAll()
                tasks.addTask {
                    await failure { () throws(ClientError) in
                        try await client.send(.init(.get, server.url))
                    }
                }
                return await tasks.next() ?? nil
            }
            #expect(error?.reason == .cancelled)
            #expect(server.acceptedCount == 0)
        }
    }
}
