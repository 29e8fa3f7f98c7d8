import Glibc
import System
import TestSupport
import Testing

@testable import HTTP

/// What goes wrong between a client and a server, each with its name.
@Suite struct ClientFailureTests {
    private func fail(
        _ request: Client.Request? = nil,
        script: @escaping @Sendable (ScriptedConnection) -> Void
    ) async throws -> ClientError? {
        var error: ClientError?
        try await withClient(against: script) { client, server in
            var request = request ?? Client.Request(.get, "")
            request.url = server.url + "/path?token=secret"
            error = await failure { () throws(ClientError) in try await client.send(request) }
        }
        if let error {
            let text = "\(error)"
            #expect(!text.contains("secret") && !text.contains("/path"), "\(text)")
        }
        return error
    }

    @Test func `a refused connection is unreachable, and nothing was sent`() async throws {
        let (listener, port) = try listenOnLoopback()
        close(listener)
        let client = try Client()
        let error = await failure { () throws(ClientError) in
            try await client.send(Client.Request(.get, "http://127.0.0.1:\(port)/"))
        }
        #expect(error?.reason == .unreachable(code: ECONNREFUSED))
        #expect(error?.progress == ClientError.Progress())
        #expect(error?.isOutcomeUnknown == false)
        await client.close()
    }

    @Test func `what no descriptor is left for is not what was refused before`() async throws {
        let client = try Client()
        let request = Client.Request(.get, "http://127.0.0.1:9", operation: "ask")
        let refused = await #expect(throws: ClientError.self) { try await client.send(request) }
        #expect(refused?.reason == .unreachable(code: ECONNREFUSED))
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        #expect(getrlimit(resource, &limit) == 0)
        var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
        #expect(setrlimit(resource, &none) == 0)
        let lacking = await #expect(throws: ClientError.self) { try await client.send(request) }
        #expect(setrlimit(resource, &limit) == 0)
        #expect(lacking?.reason == .exhausted(code: EMFILE))
        await client.close()
    }

    @Test func `a name that does not exist cannot be resolved`() async throws {
        let client = try Client()
        let error = await failure { () throws(ClientError) in
            try await client.send(Client.Request(.get, "http://holdfast.invalid/"))
        }
        #expect(error?.reason == .unresolvable(.server))
        await client.close()
    }

    @Test(arguments: [
        "ftp://127.0.0.1/", "http://", "http://u:p@h/", "http://h/a b", "127.0.0.1", "http://h:0/",
        "http://h/\r\nX: y", "file:///etc/passwd", "http://h\\@x/", "http://h/ä",
    ])
    func `an invalid address is not tried`(_ url: String) async throws {
        let client = try Client()
        let error = await failure { () throws(ClientError) in
            try await client.send(Client.Request(.get, url))
        }
        guard case .invalidRequest = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        await client.close()
    }

    @Test func `a header that would break out of its line is not sent`() async throws {
        var request = Client.Request(.get, "")
        request.headers = ["X": "a\r\nY: b"]
        let error = try await fail(request) { _ = $0.request() }
        #expect(error?.reason == .invalidRequest("the value of header X has a control character"))
    }

    @Test func `an answer lost after the request was sent leaves the outcome unknown`()
        async throws
    {
        let request = Client.Request(.post, "", body: .bytes([1, 2, 3]))
        let error = try await fail(request) { connection in
            _ = connection.request()
            connection.reset()
        }
        #expect(error?.reason == .connectionLost)
        #expect(error?.progress == .init(sent: .whole, isAnswered: false))
        #expect(error?.isOutcomeUnknown == true)
    }

    @Test func `a large body cut off on its way was sent in part`() async throws {
        let body = [UInt8](repeating: 7, count: 20 << 20)
        let error = try await fail(Client.Request(.put, "", body: .bytes(body))) { connection in
            _ = connection.head()
            _ = connection.bytes(1_000)
            connection.reset()
        }
        #expect(error?.reason == .connectionLost)
        #expect(error?.progress.sent == .part)
        #expect(error?.isOutcomeUnknown == false)
    }

    @Test func `a write on a connection that dies is not sent again`() async throws {
        let requests = Lock<[String]>([])
        try await withClient { connection in
            while let (head, _) = connection.request() {
                requests.withLock { $0.append(String(head.prefix { $0 != " " })) }
                guard connection.index == 1 else {
                    connection.respond()
                    continue
                }
                guard head.hasPrefix("GET /first") else { return }
                connection.respond()
            }
        } _: { client, server in
            _ = try await client.send(Client.Request(.get, server.url + "/first"))
            let write = Client.Request(.delete, server.url + "/second")
            let error = await failure { () throws(ClientError) in try await client.send(write) }
            #expect(error?.reason == .connectionLost)
            #expect(error?.isOutcomeUnknown == true)
            #expect(requests.withLock { $0 } == ["GET", "DELETE"])
        }
    }

    /// Curl then tries another connection, and says only of that how much was sent.
    @Test func `a write on a connection that dies with its server may have been carried out`()
        async throws
    {
        let taken = Lock<[[UInt8]]>([])
        try await withClient { connection in
            while let (head, body) = connection.request() {
                guard head.hasPrefix("GET") else { return taken.withLock { $0.append(body) } }
                connection.respond()
            }
        } _: { client, server in
            _ = try await client.send(Client.Request(.get, server.url))
            server.turnAway()
            let write = Client.Request(.post, server.url, body: .bytes([1, 2, 3]))
            let error = await failure { () throws(ClientError) in try await client.send(write) }
            #expect(taken.withLock { $0 } == [[1, 2, 3]])
            #expect(error?.isOutcomeUnknown == true)
        }
    }

    @Test func `a read on a connection that dies is sent again`() async throws {
        try await withClient { connection in
            while let (head, _) = connection.request() {
                guard connection.index > 1 || head.hasPrefix("GET /first") else { return }
                connection.respond(body: [UInt8(connection.index)])
            }
        } _: { client, server in
            _ = try await client.send(Client.Request(.get, server.url + "/first"))
            let second = try await client.send(Client.Request(.get, server.url + "/second"))
            #expect(second.body == [2])
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", true),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", true),
        ("HTTP/1.1 200 OK\r\nContent-Le", true),
        ("", false),
    ])
    func `an answer cut short is a lost connection`(_ text: String, _ isAnswered: Bool)
        async throws
    {
        let error = try await fail { connection in
            _ = connection.request()
            connection.send(text)
        }
        #expect(error?.reason == .connectionLost)
        #expect(error?.progress.isAnswered == isAnswered)
    }

    @Test(arguments: [
        "hello\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc",
    ])
    func `what is not HTTP is malformed`(_ text: String) async throws {
        let error = try await fail { connection in
            _ = connection.request()
            connection.send(text)
        }
        switch error?.reason {
        case .malformedAnswer, .connectionLost: break
        default: Issue.record("\(String(describing: error))")
        }
    }

    @Test func `a longer body than was announced is cut at its length`() async throws {
        try await withClient { connection in
            while connection.request() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef")
            }
        } _: { client, server in
            for _ in 1...2 {
                let response = try await client.send(Client.Request(.get, server.url))
                #expect(response.body == Array("abc".utf8))
            }
            #expect(server.acceptedCount == 2, "The connection is not used again.")
        }
    }

    @Test func `a body beyond the limit is refused, and a lie about it costs nothing`()
        async throws
    {
        var request = Client.Request(.get, "")
        request.bodyLimit = 10_000
        let error = try await fail(request) { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000\r\n\r\n")
            while connection.send([UInt8](repeating: 1, count: 1_000)) {}
        }
        #expect(error?.reason == .tooLarge(.body, limit: 10_000))
    }

    @Test func `a gzip bomb stops at the limit of what it decodes to`() async throws {
        let bomb = try gzip([UInt8](repeating: 0, count: 50 << 20))
        #expect(bomb.count < 100_000)
        var request = Client.Request(.get, "")
        request.bodyLimit = 1 << 20
        let error = try await fail(request) { connection in
            _ = connection.request()
            connection.respond(headers: ["Content-Encoding: gzip"], body: bomb)
            connection.waitForEnd()
        }
        #expect(error?.reason == .tooLarge(.body, limit: 1 << 20))
    }

    @Test func `a compressed answer is decoded`() async throws {
        let text = Array(String(repeating: "vault ", count: 10_000).utf8)
        let packed = try gzip(text)
        try await withClient { connection in
            while let (head, _) = connection.request() {
                let isAsked = field("accept-encoding", of: head)?.contains("gzip") == true
                connection.respond(headers: ["Content-Encoding: gzip"], body: isAsked ? packed : [])
            }
        } _: { client, server in
            let response = try await client.send(Client.Request(.get, server.url))
            #expect(response.body == text)
        }
    }

    @Test func `too long a head and too many fields are refused`() async throws {
        for fields in [
            ["X: " + String(repeating: "x", count: 70_000)],
            [String](repeating: "X: 1", count: 300),
        ] {
            let error = try await fail { connection in
                _ = connection.request()
                connection.respond(headers: fields)
            }
            guard case .tooLarge(.head, _) = error?.reason else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test func `an answer that does not come in time times out`() async throws {
        var request = Client.Request(.get, "")
        request.deadlines = Client.Deadlines()
        request.deadlines?.total = .seconds(3)
        let error = try await fail(request) { connection in
            _ = connection.request()
            connection.waitForEnd()
        }
        #expect(error?.reason == .timedOut(.total))
        #expect(error?.progress.sent == .whole)
    }

    @Test func `an answer that stops in the middle stalls`() async throws {
        var request = Client.Request(.get, "")
        request.deadlines = Client.Deadlines()
        request.deadlines?.stall = .seconds(3)
        let error = try await fail(request) { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            connection.waitForEnd()
        }
        #expect(error?.reason == .timedOut(.stalled))
        #expect(error?.progress.isAnswered == true)
    }

    @Test func `a server that does not accept is given up on after the connect deadline`()
        async throws
    {
        // TLS towards a server that never says a word: the connection is never ready.
        let server = try ScriptedServer { $0.waitForEnd() }
        let client = try Client()
        var request = Client.Request(.get, "https://127.0.0.1:\(server.port)/")
        request.deadlines = Client.Deadlines()
        request.deadlines?.connect = .milliseconds(200)
        let sent = request
        let error = await failure { () throws(ClientError) in try await client.send(sent) }
        #expect(error?.reason == .timedOut(.connect))
        #expect(error?.progress.sent == .nothing)
        await client.close()
        server.stop()
    }

    @Test func `a cancelled request ends at once and leaves nothing`() async throws {
        let hasArrived = AsyncStream.makeStream(of: Void.self)
        try await withClient { connection in
            _ = connection.request()
            hasArrived.continuation.yield()
            connection.waitForEnd()
        } _: { client, server in
            let error = await withTaskGroup { tasks in
                tasks.addTask {
                    await failure { () throws(ClientError) in
                        try await client.send(Client.Request(.get, server.url))
                    }
                }
                for await _ in hasArrived.stream { break }
                tasks.cancelAll()
                return await tasks.next() ?? nil
            }
            #expect(error?.reason == .cancelled)
            #expect(error?.progress.sent == .whole)
        }
    }
}
