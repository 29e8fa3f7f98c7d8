import System
import TestSupport
import Testing

@testable import HTTP

/// Runs a client against a scripted server, and checks that nothing is left of either.
func withClient(
    _ configure: (inout Client.Configuration) -> Void = { _ in },
    against script: @escaping @Sendable (ScriptedConnection) -> Void,
    _ body: (Client, ScriptedServer) async throws -> Void
) async throws {
    let server = try ScriptedServer(script)
    var configuration = Client.Configuration()
    configure(&configuration)
    let client = try Client(configuration: configuration)
    do {
        try await body(client, server)
        #expect(await client.load() == Client.Load(underWay: 0, waiting: 0))
    } catch {
        Issue.record("\(error)")
    }
    await client.close()
    server.stop()
    #expect(server.openCount == 0)
}

func failure(_ body: () async throws(ClientError) -> some Sendable) async -> ClientError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}

@Suite struct ClientTests {
    @Test func `a request goes out as asked and its answer comes back`() async throws {
        try await withClient { connection in
            while let (head, body) = connection.request() {
                connection.respond(
                    "201 Created",
                    headers: ["X-Head: \(head.replacing("\r\n", with: "|"))", "Dup: 1", "Dup: 2"],
                    body: body
                )
            }
        } _: { client, server in
            var request = Client.Request(.put, server.url + "/a/b?c=d", body: .bytes([1, 2, 3]))
            request.headers = ["Authorization": "Bearer t", "X-Empty": ""]
            let response = try await client.send(request)

            #expect(response.status.rawValue == 201)
            #expect(response.body == [1, 2, 3])
            #expect(response.headers.all("dup") == ["1", "2"])
            let head = try #require(response.headers["x-head"])
            #expect(head.hasPrefix("PUT /a/b?c=d HTTP/1.1|"))
            #expect(head.contains("|Authorization: Bearer t"))
            #expect(head.contains("|X-Empty:"))
            #expect(head.contains("|Content-Length: 3"))
            #expect(!head.contains("Expect"))
            #expect(!head.contains("Content-Type"))
        }
    }

    @Test(arguments: [Method.get, .head, .post, .put, .delete, .patch])
    func `every method goes out under its name`(_ method: Method) async throws {
        try await withClient { connection in
            while let (head, _) = connection.request() {
                connection.respond(headers: ["X-Line: \(head.prefix { !$0.isNewline })"])
            }
        } _: { client, server in
            for _ in 1...2 {
                let response = try await client.send(Client.Request(method, server.url + "/x"))
                #expect(response.headers["x-line"] == "\(method) /x HTTP/1.1")
            }
            #expect(server.acceptedCount == 1, "The connection is used again.")
        }
    }

    @Test func `a write after a read carries nothing of it, and the other way around`() async throws
    {
        try await withClient { connection in
            while let (head, body) = connection.request() {
                connection.respond(body: Array(head.prefix { $0 != " " }.utf8) + body)
            }
        } _: { client, server in
            for _ in 1...3 {
                let bytes = Array("body".utf8)
                let posted = try await client.send(
                    Client.Request(.post, server.url, body: .bytes(bytes))
                )
                let got = try await client.send(Client.Request(.get, server.url))
                let headed = try await client.send(Client.Request(.head, server.url))
                #expect(String(decoding: posted.body, as: UTF8.self) == "POSTbody")
                #expect(String(decoding: got.body, as: UTF8.self) == "GET")
                #expect(headed.body.isEmpty)
            }
        }
    }

    @Test func `a server answers over a Unix socket, over one connection`() async throws {
        let scratch = try Scratch()
        let path = scratch.file("s")
        let server = try ScriptedServer(path: path) { connection in
            while let (head, body) = connection.request() {
                connection.respond(
                    headers: ["X-Head: \(head.replacing("\r\n", with: "|"))"],
                    body: body
                )
            }
        }
        var configuration = Client.Configuration()
        configuration.proxies = Proxies(http: "http://127.0.0.1:1")
        let client = try Client(configuration: configuration)
        for length in [0, 3, 2_000_000] {
            let body = [UInt8](repeating: 5, count: length)
            var request = Client.Request(.put, "http://vault.test/a?b", body: .bytes(body))
            request.socketPath = path
            let response = try await client.send(request)
            #expect(response.body == body)
            #expect(response.headers["x-head"]?.hasPrefix("PUT /a?b HTTP/1.1|") == true)
            #expect(response.headers["x-head"]?.contains("Host: vault.test|") == true)
        }
        #expect(server.acceptedCount == 1)
        await client.close()
        server.stop()
    }

    @Test func `a Unix socket that is not there is unreachable`() async throws {
        let request = Client.Request(.get, "http://localhost/", operation: "status")
        var missing = request
        missing.socketPath = "/nonexistent/holdfast.sock"
        let client = try Client()
        let error = await failure { () throws(ClientError) in try await client.send(missing) }
        #expect(error?.server == "/nonexistent/holdfast.sock")
        guard case .unreachable = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        await client.close()
    }

    @Test func `a closed client refuses`() async throws {
        let client = try Client()
        await client.close()
        let error = await failure { () throws(ClientError) in
            try await client.send(Client.Request(.get, "http://127.0.0.1:1/"))
        }
        #expect(error?.reason == .local("the client is closed"))
    }

    @Test func `redirects are followed by reads that ask for it, without secrets to others`()
        async throws
    {
        let other = try ScriptedServer { connection in
            while let (head, _) = connection.request() {
                connection.respond(body: Array(head.utf8))
            }
        }
        try await withClient { connection in
            while let (head, _) = connection.request() {
                let path = head.split(separator: " ")[1]
                let location = path == "/away" ? other.url + "/there" : "/next"
                guard path != "/next" else {
                    connection.respond(body: Array(head.utf8))
                    continue
                }
                connection.respond("307 Temporary Redirect", headers: ["Location: \(location)"])
            }
        } _: { client, server in
            var request = Client.Request(.get, server.url + "/start")
            request.headers = ["Authorization": "Bearer secret"]
            #expect(try await client.send(request).status.rawValue == 307)

            request.redirectLimit = 2
            let near = try await client.send(request)
            #expect(near.url == server.url + "/next")
            #expect(String(decoding: near.body, as: UTF8.self).contains("secret"))

            request.url = server.url + "/away"
            let far = try await client.send(request)
            #expect(far.url == other.url + "/there")
            #expect(!String(decoding: far.body, as: UTF8.self).contains("secret"))

            request.method = .post
            #expect(try await client.send(request).status.rawValue == 307)
        }
        other.stop()
    }
}
