import Glibc
import HTTP
import Metrics
import System
import TestSupport
import Testing

@testable import Host

/// Who gets in, over real sockets.
struct GateTests {
    private func visit(_ body: (ShellVenue) async throws -> Void) async throws {
        let venue = try await ShellVenue()
        do {
            try await body(venue)
        } catch {
            await venue.close()
            throw error
        }
        await venue.close()
    }

    private func ask(
        _ venue: ShellVenue,
        _ line: String,
        token: String? = nil,
        _ headers: [String] = [],
        body: String = ""
    ) throws -> ShellWire.Answer {
        let fields = token.map { ["Authorization: Bearer \($0)"] } ?? []
        return try ShellWire(venue.api).ask(line, [venue.host] + fields + headers, body: body)
    }

    @Test func `without a token there is an envelope and no more`() async throws {
        try await visit { venue in
            for headers in [[], ["Authorization: Basic YTpi"], ["Authorization: Bearer wrong"]] {
                let answer = try ask(venue, "GET /status", headers)
                #expect(answer.status == 401)
                #expect(answer.body.hasPrefix(#"{"success":false,"message":""#))
                #expect(answer.header("Content-Type") == "application/json; charset=utf-8")
                #expect(answer.header("WWW-Authenticate") == "Bearer")
            }
        }
    }

    @Test func `a token lets in whoever has it, as far as its scope reaches`() async throws {
        try await visit { venue in
            let read = try await venue.tokens.create(.read, accountID: "a").text
            let admin = try venue.adminToken
            let write = try await venue.tokens.create(.write, accountID: nil).text
            let answer = try ask(venue, "GET /status", token: read)
            #expect(answer.status == 200)
            #expect(answer.body == "/status for read of a")
            for (line, token, status) in [
                ("POST /object/item", read, 403), ("POST /object/item", write, 200),
                ("POST /accounts", write, 403), ("POST /accounts", admin, 200),
            ] {
                let answer = try ask(venue, line, token: token)
                #expect(answer.status == status, "\(line)")
                if status == 403 { #expect(answer.body.hasPrefix(#"{"success":false"#)) }
            }
            let lower = try ask(venue, "GET /status", ["authorization: bEARER   \(read)"])
            #expect(lower.status == 200)
        }
    }

    /// The order on TCP: host and origin, then the root, then the token, then the scope, then the route.
    @Test func `the first objection is the one that is heard`() async throws {
        try await visit { venue in
            let read = try await venue.tokens.create(.read, accountID: nil).text
            let host = venue.host
            let bearer = "Authorization: Bearer \(read)"
            let cases: [(line: String, headers: [String], status: Int, text: String?)] = [
                ("GET /", ["Host: evil.example"], 403, "Forbidden"),
                ("GET /status", [host + "/"], 403, "Forbidden"),
                ("GET /status", ["Host: \(venue.api)@evil"], 403, "Forbidden"),
                ("GET /status", ["Host: \(venue.api), evil"], 403, "Forbidden"),
                ("GET /status", ["Host: *"], 403, "Forbidden"),
                ("GET /", [host, "Origin: null"], 403, "Forbidden"),
                (
                    "POST /accounts", [host, "Origin: http://\(venue.api)", bearer], 403,
                    "Forbidden"
                ),
                ("GET /nowhere", [host, "Origin:"], 403, "Forbidden"),
                ("GET /", [host], 404, "Not Found"),
                ("GET /", [host, bearer], 404, "Not Found"),
                ("POST /accounts", [host], 401, nil),
                ("POST /accounts", [host, bearer], 403, nil),
                ("GET /nowhere", [host], 401, nil),
                ("GET /nowhere", [host, bearer], 200, nil),
            ]
            for (line, headers, status, text) in cases {
                let answer = try ShellWire(venue.api).ask(line, headers)
                #expect(answer.status == status, "\(line) \(headers)")
                if let text {
                    #expect(answer.body == text)
                    #expect(answer.header("Content-Type") == "text/plain; charset=utf-8")
                }
            }
        }
    }

    @Test func `no number of wrong tokens keeps a right one out`() async throws {
        try await visit { venue in
            let token = try venue.adminToken
            var statuses: [Int] = []
            for number in 0..<60 {
                let answer = try ask(venue, "GET /status", token: "hf_\(number)")
                statuses.append(answer.status)
                if answer.status == 429 { #expect(answer.header("Retry-After") != nil) }
                #expect(try ask(venue, "GET /status", token: token).status == 200)
            }
            #expect(Set(statuses) == [401, 429])
            #expect(statuses.prefix(20).allSatisfy { $0 == 401 })
        }
    }

    @Test func `tokens are made, listed and taken back by an administrator of all accounts`()
        async throws
    {
        try await visit { venue in
            let admin = try venue.adminToken
            let made = try ask(
                venue,
                "POST /tokens",
                token: admin,
                body: #"{"scope":"write","account":"a"}"#
            )
            #expect(made.status == 200)
            let token = try #require(made.body.firstMatch(of: /"token":"(hf_[^"]+)"/)?.1)
            let id = try #require(made.body.firstMatch(of: /"id":"([^"]+)"/)?.1)
            #expect(
                try ask(venue, "GET /status", token: String(token)).body.hasSuffix("write of a")
            )
            let list = try ask(venue, "GET /tokens", token: admin).body
            #expect(list.contains(id) && !list.contains(token))
            #expect(
                try ask(venue, "DELETE /tokens/\(id.uppercased())", token: admin).body
                    == #"{"success":true}"#
            )
            #expect(try ask(venue, "GET /status", token: String(token)).status == 401)
            let again = try ask(venue, "DELETE /tokens/\(id)", token: admin)
            #expect(again.status == 400 && again.body.contains("Not found."))
            for body in ["{", "{}", #"{"scope":"king"}"#, #"{"scope":"read","account":"a@b"}"#] {
                let count = venue.tokens.all.count
                #expect(try ask(venue, "POST /tokens", token: admin, body: body).status == 400)
                #expect(venue.tokens.all.count == count)
            }
            let bound = try await venue.tokens.create(.admin, accountID: "a").text
            #expect(try ask(venue, "POST /accounts", token: bound).status == 200)
            #expect(try ask(venue, "GET /tokens", token: bound).status == 403)
            #expect(try ask(venue, "PUT /tokens", token: admin).status == 405)
        }
    }

    @Test func `the socket is for the host's own user, who needs no token and no name`()
        async throws
    {
        try await visit { venue in
            let path = try #require(venue.server.addresses.socket)
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let answer = try ShellWire(socket: path).ask(
                "POST /accounts",
                ["Host: anything", "Origin: null"]
            )
            #expect(answer.status == 200)
            #expect(answer.body.hasSuffix("for admin of all"))
            #expect(try ShellWire(socket: path).ask("GET /", ["Host: x"]).status == 404)
        }
    }

    @Test func `every refusal and every act of an administrator is written down, without secrets`()
        async throws
    {
        try await visit { venue in
            let admin = try venue.adminToken
            _ = try ask(venue, "GET /object/item/secret-name?search=hidden", token: "hf_stolen")
            _ = try ask(venue, "GET /status", ["Origin: https://evil.example"])
            _ = try ShellWire(venue.api).ask("GET /status", ["Host: vault.lan:8443"])
            _ = try ask(venue, "POST /tokens", token: admin, body: #"{"scope":"read"}"#)
            let lines = venue.log.lines
            #expect(lines.contains { $0.contains(#""reason":"wrongToken""#) })
            #expect(lines.contains { $0.contains(#""reason":"foreignOrigin""#) })
            let foreign = try #require(lines.first { $0.contains(#""reason":"foreignHost""#) })
            #expect(foreign.contains(#""host":"vault.lan:8443""#))
            let act = try #require(lines.first { $0.contains("An administrator acted.") })
            #expect(act.contains(#""route":"/tokens""#) && act.contains(#""status":200"#))
            for secret in ["secret-name", "hidden", "hf_stolen", "evil.example", admin] {
                #expect(!lines.contains { $0.contains(secret) }, "\(secret)")
            }
        }
    }

    @Test func `without tokens everybody on this machine may do everything, and no page may`()
        async throws
    {
        let venue = try await ShellVenue(flags: ["no-auth": [""]])
        let answer = try ask(venue, "POST /accounts")
        #expect(answer.status == 200 && answer.body.hasSuffix("for admin of all"))
        #expect(try ask(venue, "POST /accounts", ["Origin: null"]).status == 403)
        #expect(try ShellWire(venue.api).ask("GET /status", ["Host: evil.example"]).status == 403)
        let read = try await venue.tokens.create(.read, accountID: nil).text
        #expect(try ask(venue, "POST /accounts", token: read).status == 403)
        await venue.close()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a stream ends when the token that it was asked with is taken back, and no other does`()
        async throws
    {
        let (news, newspaper) = AsyncStream.makeStream(of: Void.self)
        let venue = try await ShellVenue(answer: { _, caller in
            .events { stream in
                try await stream.comment("for \(caller.accountID ?? "all")")
                if caller.accountID == "quiet" {
                    try await SystemTimekeeper().sleep(for: .seconds(600))
                }
                for await _ in news { try await stream.comment("news") }
            }
        })
        let quiet = try await venue.tokens.create(.read, accountID: "quiet")
        let other = try await venue.tokens.create(.read, accountID: "other")
        let wires = try [quiet, other].map { fresh in
            let wire = try ShellWire(venue.api)
            wire.send(
                "GET /status HTTP/1.1\r\n\(venue.host)\r\nAuthorization: Bearer \(fresh.text)\r\n\r\n"
            )
            let account = try #require(fresh.token.accountID)
            _ = try wire.read(until: "for \(account)")
            return wire
        }
        #expect(try await venue.tokens.revoke(quiet.token.id))
        #expect(!(try wires[0].read()).contains("0\r\n\r\n"))
        newspaper.yield()
        #expect(try wires[1].read(until: "news").contains("news"))
        await venue.close()
    }

    @Test func `requests are counted by their routes, whatever they ask for`() async throws {
        try await visit { venue in
            let token = try venue.adminToken
            for line in [
                "GET /status", "GET /accounts/abc/status", "POST /object/item",
                "GET /nowhere/secret",
            ] {
                _ = try ask(venue, line, token: token)
            }
            _ = try ask(venue, "GET /status")
            let page = String(decoding: await venue.registry.page(.prometheus), as: UTF8.self)
            let name = "holdfast_http_requests_total"
            #expect(page.contains("\(name){route=\"/status\",code=\"200\"} 2\n"))
            #expect(page.contains("\(name){route=\"/status\",code=\"401\"} 1\n"))
            #expect(page.contains("\(name){route=\"/object/{kind}\",code=\"200\"} 1\n"))
            #expect(page.contains("\(name){route=\"/tokens/{id}\",code=\"200\"} 0\n"))
            #expect(page.contains("\(name){route=\"other\",code=\"200\"} 1\n"))
            #expect(!page.contains("secret") && !page.contains("abc"))
        }
    }

    @Test func `who does not get as far as the gate is counted as well`() async throws {
        try await visit { venue in
            let long = "X: \(String(repeating: "v", count: 20_000))"
            let answers = [
                try ask(venue, "GET /status", [long]), try ask(venue, "GET nowhere"),
            ]
            #expect(answers.map(\.status) == [431, 400])
            let page = String(decoding: await venue.registry.page(.prometheus), as: UTF8.self)
            let name = "holdfast_http_requests_total"
            #expect(page.contains("\(name){route=\"other\",code=\"other\"} 1\n"))
            #expect(page.contains("\(name){route=\"other\",code=\"400\"} 1\n"))
        }
    }
}
