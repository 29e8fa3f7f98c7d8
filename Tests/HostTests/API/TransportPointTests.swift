import HTTP
import JSON
import TestSupport
import Testing

/// Points 6 to 13 of the contract with clients of `bw serve`: how it is talked to.
@Suite(.timeLimit(.minutes(1)))
struct TransportPointTests {
    @Test(arguments: Venue.allCases)
    func `point 6: a path that only takes POST says what it allows`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let reply = try await guest.get("/unlock")
            #expect(reply.status == .methodNotAllowed)
            #expect(reply.headers["Allow"] == "POST, OPTIONS")
            #expect(reply.headers["Content-Type"]?.hasPrefix("text/plain") == true)
            let options = try await guest.send(.options, "/object/folder/x")
            #expect(options.status == .ok)
            #expect(options.headers["Allow"] == "GET, PUT, DELETE, HEAD, OPTIONS")
            #expect(options.body.isEmpty)
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 7: what is no JSON is a bad request and not a failure`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            for body in [#"{"type":"#, #""a string""#, "null", "7"] {
                let reply = try await guest.post("/object/item", body)
                #expect(reply.status == .badRequest, "\(body)")
                #expect(reply.text == "Bad Request")
                #expect(reply.headers["Content-Type"]?.hasPrefix("text/plain") == true)
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `a body may begin with the mark of its encoding`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.make("\u{FEFF}" + #"{"type":1,"name":"marked"}"#)
            #expect(try await guest.get("/object/item/\(id)").data?["name"]?.string == "marked")
            let empty = try await guest.post("/object/item", "\u{FEFF}")
            #expect(empty.status == .badRequest && empty.message?.isEmpty == false)
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 8: a form unlocks nothing`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let form = "application/x-www-form-urlencoded"
            for body in [#"{"password":"x"}"#, "password=x"] {
                let reply = try await guest.send(.post, "/unlock", body, type: form)
                #expect(reply.status == .badRequest)
                #expect(
                    reply.message
                        == """
                        Master password is required. Try again in interactive mode or provide a \
                        password file or environment variable.
                        """
                )
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 9: a probe may send to sync whatever it likes`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let form = "application/x-www-form-urlencoded"
            for body in ["''", "", "{", "a=b"] {
                let reply = try await guest.send(.post, "/sync?force=true", body, type: form)
                #expect(reply.isSuccess, "\(body): \(reply.text)")
            }
            #expect(try await guest.post("/sync", "{not json").isSuccess)
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 10: what can be read can be asked for its head`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let head = try await guest.send(.head, "/status")
            let whole = try await guest.get("/status")
            #expect(head.status == .ok)
            #expect(head.body.isEmpty)
            #expect(head.headers["Content-Length"] == String(whole.body.count))
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 11: pretty indents by two, whatever it says`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            for query in ["pretty", "pretty=", "pretty=false"] {
                let reply = try await guest.get("/generate?\(query)")
                #expect(
                    reply.text.hasPrefix("{\n  \"success\": true,\n  \"data\": {\n    \"object\"")
                )
                #expect(reply.string?.count == 14)
            }
            #expect(try await guest.get("/generate").text.hasPrefix(#"{"success":true,"data":{"#))
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 12: JSON is called by its full name`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            for path in ["/status", "/object/item/none", "/list/object/items"] {
                let type = try await guest.get(path).headers["Content-Type"]
                #expect(type == "application/json; charset=utf-8")
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 13: one connection serves two requests`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let address = guest.base.dropFirst("http://".count)
            let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
            let fields =
                ["Host: \(address)"] + guest.headers.fields.map { "\($0.name): \($0.value)" }
            let head = (["GET /status HTTP/1.1"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
            let wire = try TextConnection("127.0.0.1", port: port)
            for _ in 0..<2 {
                wire.send(head)
                let answer = try wire.read(until: #""success":true"#)
                #expect(answer.contains("HTTP/1.1 200 "))
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `paths are matched without regard to case or a last slash`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            for path in ["/Status", "/STATUS/", "/status/", "/List/Object/Items/"] {
                #expect(try await guest.get(path).isSuccess, "\(path)")
            }
            let missing = try await guest.get("/nowhere")
            #expect(missing.status == .notFound)
            #expect(missing.text == "Not Found")
        }
    }

    @Test(arguments: Venue.allCases)
    func `an unknown object is said to be unknown`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            for path in ["/list/object/things", "/object/thing/x"] {
                let reply = try await guest.get(path)
                #expect(reply.status == .badRequest)
                #expect(reply.message == "Unknown object.")
            }
            let others: [(HTTP.Method, String)] = [
                (.put, "username"), (.put, "collection"), (.put, "attachment"),
                (.delete, "organization"), (.delete, "template"), (.delete, "password"),
                (.delete, "fingerprint"), (.get, "item-collections"), (.delete, "item-collections"),
            ]
            for (method, object) in others {
                for account in ["", "/accounts/\(guest.stage.userID)"] {
                    let reply = try await guest.send(method, "\(account)/object/\(object)/x")
                    #expect(reply.status == .badRequest, "\(method) \(object)")
                    #expect(reply.message == "Unknown object.", "\(method) \(object)")
                }
            }
            #expect(try await guest.post("/restore/folder/x").message == "Unknown object.")
            #expect(
                try await guest.get("/object/template/thing").message == "Unknown template object."
            )
        }
    }

    @Test(arguments: Venue.allCases)
    func `a body that is too large is refused`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let notes = String(repeating: "x", count: 1_100_000)
            let reply = try await guest.post("/object/item", #"{"notes":"\#(notes)"}"#)
            #expect(reply.status == .contentTooLarge)
            #expect(try await guest.get("/status").isSuccess)
        }
    }
}
