import Testing

@testable import HTTP

/// What must not be read where it does not belong.
@Suite struct ClientSecretTests {
    /// All the texts that are made of a value when nobody takes care.
    private func texts(of value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [
            "\(value)", String(reflecting: value), dumped,
            "\(Array(Mirror(reflecting: value).children))",
        ]
    }

    @Test func `no text of a configuration shows a proxy's password`() {
        let proxies = Proxies(
            http: "http://user:hunter2@proxy.test:3128",
            https: "user:hun@ter2@proxy.test:3128",
            exceptions: ["direct.test"]
        )
        var client = Client.Configuration()
        client.proxies = proxies
        var sockets = WebSocketClient.Configuration()
        sockets.proxies = proxies
        let all = texts(of: proxies) + texts(of: client) + texts(of: sockets) + texts(of: [proxies])
        for text in all {
            #expect(!text.contains("ter2") && !text.contains("user:"), "\(text)")
            #expect(text.contains("proxy.test:3128"), "\(text)")
        }
    }

    @Test func `no text of a request shows its path, headers and body`() throws {
        var request = Client.Request(
            .post,
            "https://vault.test/hub?token=hunter2",
            headers: ["Authorization": "Bearer hunter2"],
            body: .bytes(Array("hunter2".utf8)),
            operation: "login"
        )
        for text in texts(of: request) + texts(of: [request]) {
            #expect(!text.contains("hunter2") && !text.contains("104"), "\(text)")
        }
        #expect("\(request)" == "login (POST at https://vault.test:443)")
        request.url = "nowhere"
        #expect("\(request)" == "login (POST at no server)")
    }

    @Test func `an error about a proxy does not show its password`() async throws {
        for proxy in [
            "http://user:hunter2@127.0.0.1:1", "ftp://user:hunter2@h", "http://u:hunter2@",
        ] {
            var configuration = Client.Configuration()
            configuration.proxies = Proxies(http: proxy)
            let client = try Client(configuration: configuration)
            let error = await failure { () throws(ClientError) in
                try await client.send(.init(.get, "http://vault.test/"))
            }
            #expect(error != nil)
            #expect(!"\(String(reflecting: error))".contains("hunter2"))
            await client.close()
        }
    }

    @Test func `what is meant for one origin does not travel to another`() async throws {
        let other = try ScriptedServer { connection in
            while let (head, _) = connection.request() {
                connection.respond(body: Array(head.utf8))
            }
        }
        try await withClient { connection in
            while let (head, _) = connection.request() {
                guard !head.hasPrefix("GET /near") else {
                    connection.respond(body: Array(head.utf8))
                    continue
                }
                let location = head.hasPrefix("GET /away") ? other.url : "/near"
                connection.respond("302 Found", headers: ["Location: \(location)"])
            }
        } _: { client, server in
            var request = Client.Request(.get, server.url + "/away")
            request.headers = [
                "Authorization": "hunter2", "cookie": "hunter2", "x-api-key": "hunter2",
                "X-Plain": "seen",
            ]
            request.confidentialFields = ["X-API-Key"]
            request.redirectLimit = 1
            let far = String(decoding: try await client.send(request).body, as: UTF8.self)
            #expect(!far.contains("hunter2"))
            #expect(far.contains("X-Plain: seen"))

            request.url = server.url + "/start"
            let near = String(decoding: try await client.send(request).body, as: UTF8.self)
            #expect(near.components(of: "hunter2") == 3)
        }
        other.stop()
    }
}

extension String {
    fileprivate func components(of word: String) -> Int { ranges(of: word).count }
}
