import Testing

@testable import HTTP

/// Requests that two readers could understand in two ways. What the library lets through is noted
/// beside it; each of those would be answered 200 without a look of our own.
@Suite struct ServerSuspicionTests {
    private struct Case: CustomTestStringConvertible {
        let text: String
        let status: Int?

        init(_ text: String, _ status: Int? = 400) {
            self.text = text
            self.status = status
        }

        var testDescription: String { text.debugDescription }
    }

    private static let cases: [Case] = [
        // How long is the body?
        Case("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
        Case("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc"),
        Case("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 3\r\n\r\nabc"),
        Case("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc"),
        Case("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x3\r\n\r\nabc"),
        Case("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"),
        Case("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \r\n\r\n"),
        Case(
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        Case(
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        Case(
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
            501
        ),
        Case("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\nabc", 501),
        Case("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501),
        Case("POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Case("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
        Case("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        Case("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n"),
        Case("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n"),
        Case(
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
            413
        ),
        // Where does a line end?
        Case("GET / HTTP/1.1\nHost: x\r\n\r\n"),
        Case("GET / HTTP/1.1\r\nHost: x\nX: y\r\n\r\n"),
        Case("GET / HTTP/1.1\r\nHost: x\r\nX: y\r\n\n"),
        Case("GET / HTTP/1.1\r\nHost: x\r\nX: y\r\n z\r\n\r\n"),
        Case("GET / HTTP/1.1\r\nHost: x\r\nX: y\r\n\tz\r\n\r\n"),
        Case("GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n"),
        Case("GET / HTTP/1.1\r\n Host: x\r\n\r\n"),
        // What is a name, what is a value?
        Case("GET / HTTP/1.1\r\nHost: x\r\nX : y\r\n\r\n"),
        Case("GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n"),
        Case("GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n"),
        Case("GET / HTTP/1.1\r\nHost: x\r\nX(): y\r\n\r\n"),
        Case("GET / HTTP/1.1\r\nHost: x\r\nX: a\u{0}b\r\n\r\n"),
        Case("GET / HTTP/1.1\r\nHost: x\r\nX\u{0}: b\r\n\r\n"),
        Case("GET / HTTP/1.1\r\nHost: x\r\nX: a\u{1}b\r\n\r\n"),
        Case("GET / HTTP/1.1\r\nHost: x\r\nX: a\u{7F}b\r\n\r\n"),
        // Whom is it for?
        Case("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"),
        // Which hosts are ours is for whoever answers to say.
        Case("GET / HTTP/1.1\r\nHost: x y\r\n\r\n", 200),
        Case("GET / HTTP/1.1\r\nHost: user@x\r\n\r\n", 200),
        Case("GET / HTTP/1.1\r\nHost: x/y\r\n\r\n", 200),
        Case("GET http://other/ HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("GET http://x@other/ HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("GET https://x/ HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("GET http://X/ HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        Case("CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n"),
        Case("GET * HTTP/1.1\r\nHost: x\r\n\r\n"),
        // What is the request line?
        Case("GET  / HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("GET /  HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("GET / x HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("G<T / HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("GET /\u{0} HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("GET /?%ff HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("GET /é HTTP/1.1\r\nHost: x\r\n\r\n"),
        Case("GET / HTTP/1.1 \r\nHost: x\r\n\r\n"),
        Case("GET / http/1.1\r\nHost: x\r\n\r\n"),
        Case("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
        Case("GET / HTTP/0.9\r\nHost: x\r\n\r\n", 505),
        Case("GET /\r\n\r\n"),
        Case(" GET / HTTP/1.1\r\nHost: x\r\n\r\n", nil),
        Case("nonsense\r\n\r\n", nil),
        Case("\u{16}\u{3}\u{1}\u{2}\r\n\r\n", nil),
        Case("GET / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n", 417),
        // Nothing wrong with these. Whether somebody who names no host is heard is for the handler to say.
        Case("GET / HTTP/1.1\r\n\r\n", 200),
        Case("\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        Case("GET /?a=b&c HTTP/1.1\r\nHost:x\r\nX:\r\nY: \t z \t\r\n\r\n", 200),
        Case("GET / HTTP/1.1\r\nHost: [::1]:80\r\nX-é: y\r\n\r\n"),
        Case("GET / HTTP/1.1\r\nHost: [::1]:80\r\nX: é\r\n\r\n", 200),
    ]

    @Test func `what is in doubt is refused and ends the connection`() async throws {
        let handler: Handler = { request in
            do throws(BodyError) {
                _ = try await request.body(limit: 1_000)
                return .text("taken")
            } catch {
                return .refusing(error)
            }
        }
        try await serve(handler) { server async throws in
            for suspicious in Self.cases {
                let client = try server.client()
                try client.send(suspicious.text + "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
                let answers = String(decoding: client.restSoon(), as: UTF8.self)
                let status = answers.split(separator: " ").dropFirst().first.flatMap { Int($0) }
                #expect(status == suspicious.status, "\(suspicious.text.debugDescription)")
                if suspicious.status != 200 {
                    #expect(!answers.contains("taken"), "\(suspicious.text.debugDescription)")
                }
            }
        }
    }

    @Test(arguments: [
        ("/?search=%00", "query"), ("/a?search=%ff", "query"),
        ("/%ff", "path"), ("/%ff?search=%ff", "path"), ("a?b", "path"),
    ])
    func `it is told whether the path or the query cannot be read`(
        _ target: String,
        _ part: String
    ) async throws {
        try await serve({ _ in .text("taken") }) { server async throws in
            let answer = try server.ask("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(answer.status == .badRequest && answer.text.contains(part), "\(answer.text)")
        }
    }

    @Test func `what is around a value is not part of it`() async throws {
        let handler: Handler = { .text("[\($0.headers["X"] ?? "-")]") }
        try await serve(handler) { server async throws in
            #expect(
                try server.ask("GET / HTTP/1.1\r\nHost: x\r\nX: \t a b \t \r\n\r\n").text == "[a b]"
            )
        }
    }

    @Test func `a query of thousands of parts does not keep the server busy`() async throws {
        try await serve({ .text("\($0.target.query.pairs.count)") }) { server async throws in
            let query = Array(repeating: "a&", count: 5_000).joined()
            let client = try server.client()
            try client.send("GET /?\(query) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().text == "5000")
            #expect(try server.ask("GET /?a HTTP/1.1\r\nHost: x\r\n\r\n").text == "1")
        }
    }
}

extension RawClient {
    /// What comes after the client has said all it has to say.
    fileprivate func restSoon() -> [UInt8] {
        closeSending()
        return rest()
    }
}
