import System
import Testing

@testable import HTTP

/// Many requests over one connection. Skipped where there is no nginx to speak HTTP/2 with.
@Suite(.serialized, .enabled(if: FrontServer.program != nil)) struct ClientHTTP2Tests {
    private func withClient(
        script: @escaping @Sendable (ScriptedConnection) -> Void = { $0.waitForEnd() },
        _ body: (Client, _ url: String) async throws -> Void
    ) async throws {
        try await withFront(script: script) { front in
            var configuration = Client.Configuration()
            configuration.extraAuthoritiesPath = front.authorityPath
            let client = try Client(configuration: configuration)
            try await body(client, "https://127.0.0.1:\(front.port)")
            #expect(await client.load() == Client.Load(underWay: 0, waiting: 0))
            await client.close()
        }
    }

    /// The protocol, and the number of the connection.
    private func connection(_ client: Client, _ url: String) async throws -> String {
        String(decoding: try await client.send(.init(.get, url)).body, as: UTF8.self)
    }

    @Test func `requests that come at once share one connection`() async throws {
        try await withClient { client, url in
            let connections = try await withThrowingTaskGroup { tasks in
                for _ in 0..<300 { tasks.addTask { try await connection(client, url) } }
                return try await tasks.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(connections.count == 1, "\(connections)")
            #expect(connections.first?.hasPrefix("HTTP/2") == true, "\(connections)")
        }
    }

    @Test func `bodies go both ways, in streams of their own`() async throws {
        try await withClient { connection in
            while let (_, body) = connection.request() { connection.respond(body: body) }
        } _: { client, url in
            try await withThrowingTaskGroup { tasks in
                for index in 0..<16 {
                    tasks.addTask {
                        let body = [UInt8](repeating: UInt8(index), count: index * 100_000)
                        let left = Lock(body[...])
                        let upload = Client.Upload(length: index % 2 == 0 ? body.count : nil) {
                            left.withLock { left in
                                defer { left = left.dropFirst(30_000) }
                                return left.isEmpty ? nil : Array(left.prefix(30_000))
                            }
                        }
                        let request = Client.Request(.post, url + "/through", body: .stream(upload))
                        let answer = try await client.send(request)
                        #expect(answer.status == .ok)
                        #expect(answer.body == body)
                    }
                }
                try await tasks.waitForAll()
            }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a stream whose reader is slow, or goes away, holds no other`() async throws {
        try await withClient { connection in
            guard connection.request() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 99000000000\r\n\r\n")
            while connection.send([UInt8](repeating: 1, count: 100_000)) {}
        } _: { client, url in
            let before = try await connection(client, url)
            try await {
                let flood = try await client.open(.init(.get, url + "/through"))
                for _ in 0..<20 {
                    let during = try await connection(client, url)
                    #expect(during == before)
                }
                for try await piece in flood.body {
                    #expect(!piece.isEmpty)
                    break
                }
            }()
            let after = try await connection(client, url)
            #expect(after == before)
        }
    }
}
