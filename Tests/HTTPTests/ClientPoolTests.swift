import Testing

@testable import HTTP

/// How many connections there are, and for whom.
@Suite struct ClientPoolTests {
    @Test func `there are no more connections than places, and each is used again`() async throws {
        try await withClient {
            $0.requestsPerHost = 3
        } against: { connection in
            while connection.request() != nil { connection.respond() }
        } _: { client, server in
            try await withThrowingTaskGroup { tasks in
                for _ in 0..<100 {
                    tasks.addTask { try await client.send(.init(.get, server.url)).status }
                }
                for try await status in tasks {
                    #expect(status == .ok)
                    #expect(server.openCount <= 3)
                }
            }
            #expect((1...3).contains(server.acceptedCount))
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a server that hangs takes no place from another`()
        async throws
    {
        let other = try ScriptedServer { connection in
            while connection.request() != nil { connection.respond() }
        }
        try await withClient {
            $0.requestsPerHost = 2
        } against: { connection in
            while connection.request() != nil {}
        } _: { client, server in
            try await withThrowingTaskGroup { tasks in
                for _ in 0..<5 {
                    tasks.addTask { _ = try? await client.send(.init(.get, server.url)) }
                }
                while await client.load() != Client.Load(underWay: 2, waiting: 3) {}
                for _ in 0..<5 {
                    let answer = try await client.send(.init(.get, other.url))
                    #expect(answer.status == .ok)
                }
                tasks.cancelAll()
            }
        }
        other.stop()
    }
}
