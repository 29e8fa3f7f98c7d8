import HTTP
import JSON
import Testing

/// Points 14 to 19 of the contract with clients of `bw serve`: locked and unlocked.
@Suite(.timeLimit(.minutes(1)))
struct StatePointTests {
    @Test(arguments: Venue.allCases)
    func `point 14: a locked vault shows where it stands and nothing else`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            _ = try await guest.post("/lock")
            let status = try await guest.get("/status").data
            #expect(status?["object"]?.string == "template")
            let template = status?["template"]
            #expect(template?["status"]?.string == "locked")
            #expect(template?["userId"]?.string == guest.stage.userID)
            #expect(template?["userEmail"]?.string?.contains("@") == true)
            #expect(template?["serverUrl"]?.string?.hasPrefix("http") == true)
            for path in ["/list/object/items", "/object/item/x", "/object/thing/x", "/send/list"] {
                let reply = try await guest.get(path)
                #expect(reply.status == .badRequest)
                #expect(reply.text == #"{"success":false,"message":"Vault is locked."}"#)
            }
            #expect(try await guest.post("/object/item", "{}").message == "Vault is locked.")
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 15: a locked vault syncs and generates`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            _ = try await guest.post("/lock")
            let sync = try await guest.post("/sync")
            #expect(sync.data?["title"]?.string == "Syncing complete.")
            #expect(sync.data?["message"]?.isNull == true)
            #expect(try await guest.get("/generate").string?.count == 14)
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 16: a wrong password changes nothing`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            for state in ["unlocked", "locked"] {
                let reply = try await guest.post("/unlock", #"{"password":"wrong"}"#)
                #expect(reply.status == .badRequest)
                #expect(reply.message == "Invalid master password.")
                let status = try await guest.get("/status").data?["template"]?["status"]
                #expect(status?.string == state)
                _ = try await guest.post("/lock")
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 17: unlocking gives a key that nobody needs`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            _ = try await guest.post("/lock")
            var keys: Set<String> = []
            for _ in 0..<2 {
                let password = #"{"password":"\#(guest.stage.password)"}"#
                let path = "/unlock?passwordFile=/etc/passwd&passwordenv=HOME"
                let reply = try await guest.post(path, password)
                #expect(reply.data?["title"]?.string == "Your vault is now unlocked!")
                let raw = try #require(reply.data?["raw"]?.string)
                #expect(raw.count == 88 && raw.hasSuffix("=="))
                #expect(reply.data?["message"]?.string?.contains(raw) == true)
                keys.insert(raw)
            }
            #expect(keys.count == 2)
            #expect(try await guest.get("/list/object/items").isSuccess)
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 18: locking twice is locking`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            for _ in 0..<2 {
                let reply = try await guest.post("/lock", "junk")
                #expect(
                    reply.text
                        == """
                        {"success":true,"data":{"noColor":false,"object":"message",\
                        "title":"Your vault is locked.","message":null}}
                        """
                )
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 19: templates and fingerprints want an unlocked vault`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            #expect(try await guest.get("/object/template/item").isSuccess)
            let words = try await guest.get("/object/fingerprint/me").string
            #expect(words?.split(separator: "-").count == 5)
            _ = try await guest.post("/lock")
            for path in ["/object/template/item", "/object/fingerprint/me"] {
                #expect(try await guest.get(path).message == "Vault is locked.")
            }
        }
    }

    @Test(arguments: [Venue.host])
    func `a form of more than 56 KB is too large`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let type = "application/x-www-form-urlencoded"
            for (length, status) in [(57_344, Status.badRequest), (57_345, .contentTooLarge)] {
                let form = String(repeating: "a", count: length)
                let reply = try await guest.send(.post, "/unlock", form, type: type)
                #expect(reply.status == status)
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `an empty password is no password`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            for body in [
                #"{"password":""}"#, #"{"password":null}"#, "{}", "[]", #"{"password":7}"#,
            ] {
                let message = try await guest.post("/unlock", body).message
                #expect(message?.hasPrefix("Master password is required.") == true, "\(body)")
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `the last sync is a date with three digits behind the point`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            _ = try await guest.post("/sync?force=true")
            let last = try #require(try await guest.post("/sync?last").string)
            #expect(last.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
            let status = try await guest.get("/status").data?["template"]?["lastSync"]
            #expect(status?.string == last)
        }
    }
}
