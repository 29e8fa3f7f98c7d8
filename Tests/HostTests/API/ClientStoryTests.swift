import HTTP
import JSON
import Testing

/// What programs ask that nobody here has written, call by call.
@Suite struct ClientStoryTests {
    private static let login = #"""
        {"type":1,"name":"db","notes":"of the shop","login":{"username":"ada","password":"p",
        "uris":[{"uri":"https://db.example"}]},"fields":[{"name":"port","value":"5432","type":0}]}
        """#

    @Test(arguments: Venue.allCases)
    func `a secrets operator reads properties, notes, fields and files, and probes by syncing`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.make(Self.login)
            let item = try await guest.get("/object/item/\(id)").data
            #expect(item?["login"]?["username"]?.string == "ada")
            #expect(item?["login"]?["password"]?.string == "p")
            #expect(item?["notes"]?.string == "of the shop")
            let field = item?["fields"]?.array?.first { $0["name"]?.string == "port" }
            #expect(field?["value"]?.string == "5432")
            let up = try await guest.upload(
                Array("-----".utf8),
                "key.pem",
                "/attachment?itemid=\(id)"
            )
            let files = up.data?["attachments"]?.array
            let file = try #require(files?.first { _ in true }?["id"]?.string)
            let down = try await guest.get("/object/attachment/\(file)?itemid=\(id)")
            #expect(down.body == Array("-----".utf8))
            let probe = try await guest.send(
                .post,
                "/sync?force=true",
                "",
                type: "application/x-www-form-urlencoded"
            )
            #expect(probe.isSuccess)
        }
    }

    @Test(arguments: Venue.allCases, ["username", "password", "uri", "notes"])
    func `a reader of references gets one string for each kind`(
        _ venue: Venue,
        _ kind: String
    ) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.make(Self.login)
            let reply = try await guest.get("/object/\(kind)/\(id)")
            let expected = [
                "username": "ada", "password": "p", "uri": "https://db.example",
                "notes": "of the shop",
            ]
            #expect(reply.isSuccess)
            #expect(reply.data?["object"]?.string == "string")
            #expect(reply.string == expected[kind])
        }
    }

    @Test(arguments: Venue.allCases)
    func `an automation searches, makes from templates, updates and attaches`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            #expect(try await guest.get("/status").data?["template"]?["status"] != nil)
            #expect(try await guest.post("/sync").isSuccess)
            for name in ["item", "item.login", "item.login.uri"] {
                #expect(try await guest.get("/object/template/\(name)").isSuccess, "\(name)")
            }
            let id = try await guest.make(Self.login)
            let hits = try await guest.get("/list/object/items?search=db").elements
            let hit = try #require(hits.first { $0["id"]?.string == id })
            // It compares these itself, so they have to be there, null or not.
            for name in ["folderId", "organizationId", "collectionIds"] {
                #expect(hit[name] != nil, "\(name)")
            }
            #expect(hit["login"]?["username"]?.string == "ada")
            let changed = Self.login.replacing(#""password":"p""#, with: #""password":"q""#)
            let put = try await guest.put("/object/item/\(id)", changed)
            #expect(put.data?["login"]?["password"]?.string == "q")
            let up = try await guest.upload([1, 2], "notes.txt", "/attachment?itemId=\(id)")
            #expect(up.isSuccess)
        }
    }

    @Test(arguments: Venue.allCases)
    func `an agent unlocks, fills templates in, and takes away what it made`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            #expect(try await guest.post("/lock").isSuccess)
            let body = #"{"password":"\#(guest.stage.password)"}"#
            #expect(try await guest.post("/unlock", body).isSuccess)
            for name in ["item", "item.login", "item.card", "collection"] {
                #expect(try await guest.get("/object/template/\(name)").isSuccess, "\(name)")
            }
            let id = try await guest.make(Self.login)
            #expect(try await guest.get("/object/item/\(id)").isSuccess)
            #expect(try await guest.delete("/object/item/\(id)").isSuccess)
            #expect(try await guest.get("/list/object/items").elements.isEmpty)
        }
    }
}
