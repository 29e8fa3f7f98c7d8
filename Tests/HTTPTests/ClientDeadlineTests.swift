import FoundationEssentials
import System
import TestSupport
import Testing

@testable import HTTP

@Suite struct ClientDeadlineTests {
    @Test func `a long line that has run out of time ends at once`() async throws {
        let time = HandTurnedTime()
        let count = 20_000
        try await withClient {
            $0.requestsPerHost = 1
            $0.timekeeper = time
        } against: { connection in
            while connection.request() != nil {}
        } _: { client, server in
            let request = Client.Request(.get, server.url + "/")
            let send: @Sendable () async -> ClientError? = {
                await failure { () async throws(ClientError) in try await client.send(request) }
            }
            await withTaskGroup { first in
                first.addTask { await send() }
                while await client.load().underWay == 0 {}
                await withTaskGroup { line in
                    for _ in 0..<count { line.addTask { await send() } }
                    while await client.load().waiting < count {}
                    time.advance(by: .seconds(61))
                    // Whoever ends passes its place on, and everybody in the line is too late for it.
                    first.cancelAll()
                    var late = 0
                    for await error in line where error?.reason == .timedOut(.total) { late += 1 }
                    #expect(late == count)
                }
            }
        }
    }

    @Test func `redirects do not begin the deadline anew`() async throws {
        let time = HandTurnedTime()
        try await withClient {
            $0.timekeeper = time
        } against: { connection in
            while connection.request() != nil {
                time.advance(by: .seconds(25))
                connection.respond("302 Found", headers: ["Location: /on"])
            }
        } _: { client, server in
            var request = Client.Request(.get, server.url + "/")
            request.redirectLimit = 10
            let error = await failure { () async throws(ClientError) in
                try await client.send(request)
            }
            #expect(error?.reason == .timedOut(.total))
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a source that gives nothing does not outlast the deadline`() async throws {
        try await withClient { connection in
            while connection.request() != nil {}
        } _: { client, server in
            let (pieces, source) = AsyncStream.makeStream(of: [UInt8].self)
            var request = Client.Request(.post, server.url + "/")
            var deadlines = Client.Deadlines()
            deadlines.total = .milliseconds(100)
            request.deadlines = deadlines
            request.body = .stream(
                Client.Upload(length: nil) {
                    for await piece in pieces { return piece }
                    return nil
                }
            )
            let error = await failure { () async throws(ClientError) in
                try await client.send(request)
            }
            #expect(error?.reason == .timedOut(.total))
            source.finish()
        }
    }

    private func request(_ url: String, within deadline: Duration) -> Client.Request {
        var request = Client.Request(.get, url)
        var deadlines = Client.Deadlines()
        deadlines.total = deadline
        request.deadlines = deadlines
        return request
    }

    @Test(.timeLimit(.minutes(1))) func `a silent server is asked by each on its own`() async throws
    {
        let asked = AsyncStream.makeStream(of: Void.self)
        try await withClient { connection in
            while connection.request() != nil { asked.continuation.yield() }
        } _: { client, server in
            await withTaskGroup { tasks in
                for _ in 1...3 {
                    tasks.addTask { _ = try? await client.send(.init(.get, server.url)) }
                }
                for await _ in asked.stream.prefix(3) {}
                #expect(server.acceptedCount == 3)
                tasks.cancelAll()
            }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `whoever asks a silent server after another ends by its own deadline`() async throws {
        let asked = AsyncStream.makeStream(of: Void.self)
        try await withClient { connection in
            while connection.request() != nil { asked.continuation.yield() }
        } _: { client, server in
            await withTaskGroup { tasks in
                tasks.addTask { _ = try? await client.send(.init(.get, server.url)) }
                for await _ in asked.stream { break }
                let hasty = request(server.url, within: .seconds(2))
                let error = await failure { () async throws(ClientError) in
                    try await client.send(hasty)
                }
                #expect(error?.reason == .timedOut(.total))
                #expect(error?.progress.sent == .whole)
                #expect(await client.load() == Client.Load(underWay: 1, waiting: 0))
                tasks.cancelAll()
            }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `whoever asks while a handshake goes unanswered ends by its own deadline`() async throws {
        let greeted = AsyncStream.makeStream(of: Void.self)
        try await withClient { connection in
            guard connection.bytes(5) != nil else { return }
            greeted.continuation.yield()
            connection.waitForEnd()
        } _: { client, server in
            let url = "https://127.0.0.1:\(server.port)/"
            await withTaskGroup { tasks in
                tasks.addTask { _ = try? await client.send(patient(url)) }
                for await _ in greeted.stream { break }
                let hasty = request(url, within: .milliseconds(300))
                let error = await failure { () async throws(ClientError) in
                    try await client.send(hasty)
                }
                #expect(error?.reason == .timedOut(.total))
                #expect(error?.progress == .init())
                #expect(await client.load() == Client.Load(underWay: 1, waiting: 0))
                tasks.cancelAll()
            }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `whoever would share a connection makes one of its own when that takes long`()
        async throws
    {
        let time = HandTurnedTime()
        let greeted = AsyncStream.makeStream(of: Void.self)
        try await withClient {
            $0.timekeeper = time
        } against: { connection in
            guard connection.bytes(5) != nil else { return }
            greeted.continuation.yield()
            connection.waitForEnd()
        } _: { client, server in
            let url = "https://127.0.0.1:\(server.port)/"
            await withTaskGroup { tasks in
                tasks.addTask { _ = try? await client.send(patient(url)) }
                for await _ in greeted.stream { break }
                for _ in 1...2 { tasks.addTask { _ = try? await client.send(patient(url)) } }
                var load = await client.load()
                while load.underWay + load.waiting < 3 { load = await client.load() }
                #expect(load == Client.Load(underWay: 1, waiting: 2))
                time.advance(by: .seconds(1))
                // Wakes the client, which sleeps by another clock.
                _ = await client.load()
                for await _ in greeted.stream.prefix(2) {}
                #expect(server.acceptedCount == 3)
                tasks.cancelAll()
            }
        }
    }

    /// Its connection may take as long as the test.
    private func patient(_ url: String) -> Client.Request {
        var request = request(url, within: .seconds(600))
        request.deadlines?.connect = .seconds(600)
        return request
    }
}

/// Time that passes when the test says so.
private final class HandTurnedTime: Timekeeper {
    private let passed = Lock(Duration.zero)

    var now: Date { Date(timeIntervalSince1970: 0) }
    var elapsed: Duration { passed.withLock { $0 } }
    func sleep(for duration: Duration) async throws(CancellationError) {}

    func advance(by duration: Duration) {
        passed.withLock { $0 += duration }
    }
}
