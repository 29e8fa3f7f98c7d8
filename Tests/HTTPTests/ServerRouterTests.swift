import Testing

@testable import HTTP

@Suite struct ServerRouterTests {
    private static func router() -> Router {
        var router = Router()
        router.on(.get, "/status") { _ in .text("fine") }
        router.on(.post, "/status") { _ in .text("set") }
        router.on(.get, "/object/item/{id}") { .text("item \($0.parameters[0])") }
        router.on(.get, "/object/{kind}/{id}") { request in
            .text("\(request.parameters[0]) \(request.parameters[1])")
        }
        router.on(.get, "/object/item/special") { _ in .text("special") }
        router.on(.get, "/accounts/{id}/object/item/{id}") { request in
            .text("\(request.parameters[0])/\(request.parameters[1])")
        }
        router.on(.get, "/pages/{number}", Int.self) { _, number in .text("page \(number + 1)") }
        router.on(.get, "/both/{name}/{number}", String.self, Int.self) { _, name, number in
            .text("\(name) \(number)")
        }
        return router
    }

    @Test(
        arguments: Venue.allCases,
        [
            ("/status", "fine"),
            ("/STATUS/", "fine"),
            ("/status?verbose", "fine"),
            ("/object/item/7", "item 7"),
            ("/Object/ITEM/AbC", "item AbC"),
            ("/object/item/special", "special"),
            ("/object/folder/special", "folder special"),
            ("/object/item/a%2Fb", "item a/b"),
            ("/object/item/%C3%A4%20", "item ä "),
            ("/object/item/..", "item .."),
            ("/accounts/me/object/item/3", "me/3"),
            ("/pages/41", "page 42"),
            ("/both/x/5", "x 5"),
        ]
    )
    func `a path leads to its handler`(_ venue: Venue, _ pair: (String, String)) async throws {
        try await venue.host(Self.router().respond) { client async throws in
            let answer = try await client.send(.get, pair.0)
            #expect(answer.status == .ok)
            #expect(answer.text == pair.1)
        }
    }

    @Test(
        arguments: Venue.allCases,
        [
            "/", "/stat", "/status/more", "//status", "/object/item/", "/object", "/pages/x",
            "/pages/-1", "/both/x/y",
        ]
    )
    func `a path that nobody has is not found`(_ venue: Venue, _ path: String) async throws {
        try await venue.host(Self.router().respond) { client async throws in
            let answer = try await client.send(.get, path)
            #expect(answer.status == .notFound)
            #expect(answer.text == "Not Found")
            #expect(answer.headers["Content-Type"] == "text/plain; charset=utf-8")
        }
    }

    @Test(arguments: Venue.allCases)
    func `a method that a path does not have is refused with those it has`(_ venue: Venue)
        async throws
    {
        try await venue.host(Self.router().respond) { client async throws in
            let answer = try await client.send(.delete, "/status")
            #expect(answer.status == .methodNotAllowed)
            #expect(answer.text == "Method Not Allowed")
            #expect(answer.headers["Allow"] == "GET, POST, HEAD, OPTIONS")

            let strange = try await client.send(HTTP.Method(rawValue: "BREW"), "/status")
            #expect(strange.status.rawValue == 501)
            #expect(strange.headers["Allow"] == "GET, POST, HEAD, OPTIONS")
        }
    }

    @Test(arguments: Venue.allCases)
    func `options tells what a path has`(_ venue: Venue) async throws {
        try await venue.host(Self.router().respond) { client async throws in
            let answer = try await client.send(.options, "/status")
            #expect(answer.status == .ok)
            #expect(answer.body.isEmpty)
            #expect(answer.headers["Allow"] == "GET, POST, HEAD, OPTIONS")
            #expect(try await client.send(.options, "*").status == .ok)
            #expect(try await client.send(.options, "/nowhere").status == .notFound)
        }
    }

    @Test(arguments: Venue.allCases)
    func `head is get without the body`(_ venue: Venue) async throws {
        try await venue.host(Self.router().respond) { client async throws in
            let answer = try await client.send(.head, "/status")
            #expect(answer.status == .ok)
            #expect(answer.body.isEmpty)
            #expect(answer.headers["Content-Length"] == "4")
        }
    }

    @Test func `a path of many segments is looked up in no time`() {
        var tree = RouteTree()
        for depth in 1...12 {
            let text = (0..<depth).map { $0 % 2 == 0 ? "/a" : "/{x}" }.joined()
            tree.add(depth, at: Template(text), for: .get)
        }
        let path = Array(repeating: "a", count: 20_000)
        #expect(tree.match(path) == nil)
        #expect(tree.match(Array(path.prefix(12)))?.values == Array(repeating: "a", count: 6))
    }
}
