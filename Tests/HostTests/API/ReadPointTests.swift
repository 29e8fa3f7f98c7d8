import Crypto
import HTTP
import JSON
import Testing

/// Points 20 to 35 of the contract with clients of `bw serve`: what the vault shows.
@Suite(.timeLimit(.minutes(1)))
struct ReadPointTests {
    @Test(arguments: Venue.allCases)
    func `point 20: a list is a list in a list`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            try await guest.login("b")
            try await guest.login("A")
            let reply = try await guest.get("/list/object/items")
            #expect(reply.data?["object"]?.string == "list")
            #expect(reply.names == ["A", "b"])
            #expect(reply.elements.allSatisfy { $0["object"]?.string == "item" })
            for kind in ["folders", "collections", "organizations", "send"] {
                let reply = try await guest.get("/list/object/\(kind)")
                #expect(reply.data?["object"]?.string == "list", "\(kind)")
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 21: of the places that are asked for one is enough`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let folder = try await guest.folder("Infra")
            try await guest.login("in the folder", more: #","folderId":"\#(folder)""#)
            try await guest.login("in none")
            let path = "/list/object/items"
            #expect(try await guest.get("\(path)?folderid=\(folder)").names == ["in the folder"])
            let both = try await guest.get("\(path)?folderid=\(folder)&organizationid=null").names
            #expect(both == ["in none", "in the folder"])
            let unknown = try await guest.get("\(path)?folderid=0&collectionid=1")
            #expect(unknown.isSuccess && unknown.elements.isEmpty)
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 22: a search narrows the places down`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let folder = try await guest.folder("Infra")
            try await guest.login("one", more: #","folderId":"\#(folder)""#)
            try await guest.login("two", more: #","folderId":"\#(folder)""#)
            try await guest.login("one too")
            let path = "/list/object/items?folderid=\(folder)&search=one"
            #expect(try await guest.get(path).names == ["one"])
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 23: null is none and notnull is any, in both spellings`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            let folder = try await guest.folder("Infra")
            try await guest.login("inside", more: #","folderId":"\#(folder)""#)
            try await guest.login("outside")
            for name in ["folderid", "folderId"] {
                let path = "/list/object/items?\(name)="
                #expect(try await guest.get(path + "null").names == ["outside"])
                #expect(try await guest.get(path + "notnull").names == ["inside"])
            }
            for name in ["organizationid", "organizationId", "collectionid", "collectionId"] {
                let path = "/list/object/items?\(name)="
                #expect(try await guest.get(path + "notnull").names == [])
                #expect(try await guest.get(path + "null").names.count == 2)
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 24: trash means yes, whatever it says`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let gone = try await guest.login("gone")
            let kept = try await guest.login("kept")
            _ = try await guest.delete("/object/item/\(gone)")
            for query in ["trash", "trash=", "trash=true", "trash=false"] {
                #expect(try await guest.get("/list/object/items?\(query)").names == ["gone"])
            }
            _ = try await guest.post("/archive/item/\(kept)")
            #expect(try await guest.get("/list/object/items").names == [])
            #expect(try await guest.get("/list/object/items?archived").names == ["kept"])
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 25: a search looks at names, users, addresses and ids, and nowhere else`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login(
                "Büro",
                #""username":"grace","password":"s3cret","uris":[{"uri":"https://ci.test"}]"#,
                more: #","notes":"rack four","fields":[{"name":"port","value":"8443","type":0}]"#
            )
            try await guest.make(
                #"{"type":3,"name":"Card","card":{"brand":"Visa","number":"4111111111111111"}}"#
            )
            let hits = ["b%C3%BCro", "BURO", "Grace", "ci.test", String(id.prefix(8))]
            for search in hits {
                let names = try await guest.get("/list/object/items?search=\(search)").names
                #expect(names == ["Büro"], "\(search)")
            }
            for search in ["visa", "1111"] {
                let names = try await guest.get("/list/object/items?search=\(search)").names
                #expect(names == ["Card"], "\(search)")
            }
            for search in ["rack", "port", "8443", "s3cret", String(id.prefix(7)), "4111"] {
                let names = try await guest.get("/list/object/items?search=\(search)").names
                #expect(names == [], "\(search)")
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 26: a site shows the logins that are for it`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let uris = [
                "domain": (#"null"#, "https://login.example.com/x"),
                "host": ("1", "https://a.example.com:8443"),
                "starts": ("2", "https://a.example.com/in"),
                "exact": ("3", "https://a.example.com/inside"),
                "regex": ("4", "^https://[ab]\\\\.example"),
                "never": ("5", "https://a.example.com/inside"),
                "other": ("null", "https://example.net"),
            ]
            for (name, (match, uri)) in uris {
                try await guest.login(name, #""uris":[{"match":\#(match),"uri":"\#(uri)"}]"#)
            }
            let path = "/list/object/items?url="
            let inside = try await guest.get(path + "https://a.example.com/inside").names
            #expect(inside == ["domain", "exact", "regex", "starts"])
            let port = try await guest.get(path + "https://a.example.com:8443/x").names
            #expect(port == ["domain", "host", "regex"])
            #expect(try await guest.get(path + "https://example.net").names == ["other"])
        }
    }

    /// Browsers tell what stands on the wire, and people write what they read.
    @Test(arguments: Venue.allCases)
    func `a site is found by either way to write its name`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            try await guest.login(
                "domain",
                #""uris":[{"match":null,"uri":"https://bücher.example"}]"#
            )
            try await guest.login("host", #""uris":[{"match":1,"uri":"xn--bcher-kva.example"}]"#)
            try await guest.login(
                "other",
                #""uris":[{"match":null,"uri":"https://bucher.example"}]"#
            )
            for host in ["xn--bcher-kva.example", "b%C3%BCcher.example", "B%C3%9CCHER.example"] {
                let found = try await guest.get("/list/object/items?url=https://\(host)/x").names
                #expect(found == ["domain", "host"], "\(host)")
            }
        }
    }

    /// As upstream has them; the still desk has none.
    @Test func `point 26: a site shows the logins of its owner's other domains, away or not`()
        async throws
    {
        try await Venue.host.open { guest async throws in
            try await guest.login("g", #""uris":[{"match":null,"uri":"https://google.com"}]"#)
            let path = "/list/object/items?url=https://www.youtube.com"
            #expect(try await guest.get(path).names == ["g"])
            _ = try await guest.post("/sync?force=true")
            #expect(try await guest.get(path).names == ["g"])
            #expect(try await guest.get("/list/object/items?url=https://apple.com").names == [])
        }
    }

    @Test func `point 26: who asked for them in vain finds them once the network is back`()
        async throws
    {
        try await Venue.host.open { guest async throws in
            try await guest.login("g", #""uris":[{"match":null,"uri":"https://google.com"}]"#)
            let path = "/list/object/items?url=https://www.youtube.com"
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            #expect(try await guest.get(path).names == [])
            _ = try await guest.put("/network", #"{"mode":"auto"}"#)
            _ = try await guest.post("/sync?force=true")
            #expect(try await guest.get(path).names == ["g"])
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 27: an item is found by its id in whatever case`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login("one")
            for path in [id, id.uppercased()] {
                let reply = try await guest.get("/object/item/\(path)")
                #expect(reply.data?["id"]?.string == id)
            }
            for path in ["0b0c8f5e-5a0e-4d62-9a5c-3f6d1f0b7a01", "nothing"] {
                let reply = try await guest.get("/object/item/\(path)")
                #expect(reply.status == .badRequest)
                #expect(reply.text == #"{"success":false,"message":"Not found."}"#)
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 30: the name itself comes before others that look like it`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            for name in ["Cafe", "Caf\u{e9}", "pad", "pad "] { try await guest.login(name) }
            for (asked, found) in [
                ("Cafe", "Cafe"), ("cafe", "Cafe"), ("Caf%C3%A9", "Caf\u{e9}"),
                ("CAF%C3%89", "Caf\u{e9}"), ("pad%20", "pad "), ("pad", "pad"),
            ] {
                let reply = try await guest.get("/object/item/\(asked)")
                #expect(reply.data?["name"]?.string == found, "\(asked)")
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 28: what could be two things is answered with their ids`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            let ids = [try await guest.login("mail a"), try await guest.login("mail b")].sorted()
            let reply = try await guest.get("/object/item/mail")
            #expect(reply.status == .badRequest)
            #expect(reply.message?.hasPrefix("More than one result was found. ") == true)
            #expect(reply.message?.hasSuffix(ids.joined(separator: "\n")) == true)
            #expect(reply.data?.array?.compactMap(\.string).sorted() == ids)
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 29: the one that has a password is meant when a password is wanted`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            try await guest.login("mail a", #""password":"pa""#)
            try await guest.login("mail b", #""username":"ub""#)
            #expect(try await guest.get("/object/password/mail").string == "pa")
            #expect(try await guest.get("/object/username/mail").string == "ub")
            #expect(try await guest.get("/object/totp/mail").message == "Not found.")
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 30: a name that is exactly so wins`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login("mail")
            try await guest.login("mail two")
            try await guest.login("three", #""username":"mail""#)
            #expect(try await guest.get("/object/item/MAIL").data?["id"]?.string == id)
            #expect(try await guest.get("/object/item/two").data?["name"]?.string == "mail two")
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 31: a one-time password is that of the second`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let keys = [
                "JBSWY3DPEHPK3PXP",
                "otpauth://totp/a:b?secret=JBSWY3DPEHPK3PXP&digits=8&period=60&algorithm=SHA256",
                "steam://JBSWY3DPEHPK3PXP",
            ]
            for (number, key) in keys.enumerated() {
                let id = try await guest.login("code \(number)", #""totp":"\#(key)""#)
                let before = try OneTimePassword(key).code(atSeconds: guest.stage.seconds)
                let code = try await guest.get("/object/totp/\(id)").string
                let after = try OneTimePassword(key).code(atSeconds: guest.stage.seconds)
                #expect(code == before || code == after, "\(key)")
            }
            let bad = try await guest.login("bad", #""totp":"!!!""#)
            let reply = try await guest.get("/object/totp/\(bad)")
            #expect(reply.message == "Couldn't generate TOTP code.")
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 32: of several addresses the first is given`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let uris = #""uris":[{"uri":"https://one.test"},{"uri":"https://two.test"}]"#
            let id = try await guest.login("two", uris)
            #expect(try await guest.get("/object/uri/\(id)").string == "https://one.test")
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 33: what is missing is said to be missing`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login("bare")
            let note = try await guest.make(#"{"type":2,"name":"note","secureNote":{"type":0}}"#)
            let words = [
                "notes": "No notes available for this item.",
                "username": "No username available for this login.",
                "password": "No password available for this login.",
                "uri": "No uri available for this login.",
                "totp": "No TOTP available for this login.",
            ]
            for (kind, message) in words {
                #expect(try await guest.get("/object/\(kind)/\(id)").message == message)
            }
            #expect(try await guest.get("/object/password/\(note)").message == "Not a login.")
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 34: the folder that is none comes last`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            try await guest.folder("Zoo")
            try await guest.folder("Infra")
            let reply = try await guest.get("/list/object/folders")
            #expect(reply.names == ["Infra", "Zoo", "No Folder"])
            #expect(reply.elements.last?["id"]?.isNull == true)
            #expect(try await guest.get("/list/object/folders?search=zoo").names == ["Zoo"])
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 35: what is in the trash is found by its id only`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login("gone", #""password":"p""#)
            _ = try await guest.delete("/object/item/\(id)")
            let reply = try await guest.get("/object/item/\(id)")
            #expect(reply.data?["deletedDate"]?.string != nil)
            #expect(try await guest.get("/object/password/\(id)").string == "p")
            #expect(try await guest.get("/object/item/gone").message == "Not found.")
        }
    }

    @Test(arguments: Venue.allCases)
    func `collections and organizations are listed and found`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let (organization, collection) = try await guest.stage.addOrganization()
            let organizations = try await guest.get("/list/object/organizations")
            #expect(
                organizations.text
                    == """
                    {"success":true,"data":{"object":"list","data":[{"object":"organization",\
                    "id":"\(organization)","name":"Acme","status":2,"type":0,"enabled":true}]}}
                    """
            )
            #expect(try await guest.get("/list/object/collections").names == ["Ops/Prod"])
            let other = "/list/object/collections?organizationId=none"
            #expect(try await guest.get(other).names == [])
            let found = try await guest.get("/object/collection/\(collection)")
            #expect(found.data?["organizationId"]?.string == organization)
            #expect(found.data?["externalId"]?.isNull == true)
            #expect(
                try await guest.get("/object/organization/acme").data?["id"]?.string
                    == organization
            )
        }
    }
}

extension Guest {
    @discardableResult
    func folder(_ name: String) async throws -> String {
        let reply = try await post("/object/folder", #"{"name":"\#(name)"}"#)
        return try #require(reply.data?["id"]?.string, "\(reply.text)")
    }
}
