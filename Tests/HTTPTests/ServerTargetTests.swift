import Testing

@testable import HTTP

@Suite struct ServerTargetTests {
    @Test(
        arguments: [
            ("/", []),
            ("/a", ["a"]),
            ("/a/", ["a"]),
            ("/a//b", ["a", "", "b"]),
            ("//a", ["", "a"]),
            ("/%41%2f%2F", ["A//"]),
            ("/%E2%82%AC", ["€"]),
            ("/a+b", ["a+b"]),
            ("/./%2e%2E", [".", ".."]),
            ("/a?b/c", ["a"]),
            ("/%", ["%"]),
            ("/%4", ["%4"]),
            ("/%zz%41%4%41", ["%zzA%4A"]),
        ] as [(String, [String])]
    )
    func `a path is cut at its slashes and then decoded`(_ pair: (String, [String])) throws {
        #expect(try #require(Target(pair.0)).segments == pair.1)
    }

    @Test(
        arguments: [
            "", "a", "a/b", "/a b", "/a\tb", "/a\u{0}", "/ä", "/a#b", "/%00", "/%C3", "/%FF",
            "/%C0%AF", "/%ED%A0%80", "/?a=%00", "/?a=%80", "/?a=%%00",
            "http://host/", "host:80", "/\u{7F}",
        ]
    )
    func `what cannot be meant is no target`(_ text: String) {
        #expect(Target(text) == nil)
    }

    @Test func `a query is pairs in order`() throws {
        let query = try #require(Target("/?a=1&b=x+y&a=%26%3D&&flag&=v&e=")).query
        #expect(query["a"] == "1")
        #expect(query.all("a") == ["1", "&="])
        #expect(query["b"] == "x y")
        #expect(query["flag"] == "")
        #expect(query[""] == "v")
        #expect(query["e"] == "")
        #expect(query["missing"] == nil)
        #expect(query.pairs.map(\.name) == ["a", "b", "a", "flag", "", "e"])
        let loose = try #require(Target("/?search=100%&%4=5%zz+%26")).query
        #expect(loose["search"] == "100%" && loose["%4"] == "5%zz &")
    }

    @Test func `what was sent is kept`() throws {
        let target = try #require(Target("/A%20b?c=%41"))
        #expect(target.raw == "/A%20b?c=%41")
    }
}
