import HTTP
import JSON
import System
import Testing

/// Points 36 to 49 of the contract with clients of `bw serve`: what clients change.
@Suite(.timeLimit(.minutes(1)))
struct WritePointTests {
    @Test(arguments: Venue.allCases)
    func `point 36: an item of each type comes back as it was sent`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            for sent in Sample.all {
                let id = try await guest.make(sent)
                let reply = try await guest.get("/object/item/\(id)")
                try expect(reply.data, has: sent)
                #expect(reply.data?["sync"]?["state"]?.string == "clean")
                #expect(reply.data?["key"] == nil)
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 37: a template is filled in, sent and read`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let item = try await guest.get("/object/template/item").data?["template"]
            let login = try await guest.get("/object/template/ITEM.LOGIN").data?["template"]
            let uri = try await guest.get("/object/template/item.login.uri").data?["template"]
            for name in ["folderId", "organizationId", "collectionIds", "card", "login"] {
                #expect(item?[name]?.isNull == true, "\(name)")
            }
            var login_ = JSON.Edit(try JSON.Document(try #require(login).raw))
            try login_.set(["uris"], to: JSON.Raw([try #require(uri).raw]))
            var edit = JSON.Edit(try JSON.Document(try #require(item).raw))
            try edit.set(["login"], to: try JSON.Raw(login_.bytes))
            try edit.set(["name"], to: "filled in")
            let id = try await guest.make(String(decoding: edit.bytes, as: UTF8.self))
            let made = try await guest.get("/object/item/\(id)").data
            #expect(made?["name"]?.string == "filled in")
            #expect(made?["login"]?["username"]?.string == "jdoe")
            #expect(made?["login"]?["uris"]?[0]?["uri"]?.string == "https://google.com")
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 38: what was read can be sent back and changes nothing`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            for sent in Sample.all {
                let id = try await guest.make(sent)
                let read = try #require(try await guest.get("/object/item/\(id)").data)
                let reply = try await guest.put("/object/item/\(id)", read.text)
                #expect(reply.isSuccess, "\(reply.text)")
                try expect(try await guest.get("/object/item/\(id)").data, has: sent)
                #expect(reply.data?["passwordHistory"]?.array?.count == 0)
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 39: a folder that is not named is left`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let folder = try await guest.folder("Infra")
            let id = try await guest.login("one", more: #","folderId":"\#(folder)""#)
            let reply = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"one"}"#)
            #expect(reply.data?["folderId"]?.isNull == true)
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 40: a login that is not sent is kept`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login("one", #""username":"ada""#)
            let reply = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"two"}"#)
            #expect(reply.data?["name"]?.string == "two")
            #expect(reply.data?["login"]?["username"]?.string == "ada")
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 41: an old password goes into the history`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login("one", #""password":"old""#)
            let body = #"{"type":1,"name":"one","login":{"password":"new"}}"#
            let reply = try await guest.put("/object/item/\(id)", body)
            #expect(reply.data?["passwordHistory"]?[0]?["password"]?.string == "old")
            #expect(reply.data?["login"]?["passwordRevisionDate"]?.string != nil)
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 42: what is in the trash cannot be edited`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login("one")
            _ = try await guest.delete("/object/item/\(id)")
            let reply = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"two"}"#)
            #expect(reply.status == .badRequest)
            #expect(
                reply.message == "You may not edit a deleted item. Use the restore command first."
            )
            let unknown = "0b0c8f5e-5a0e-4d62-9a5c-3f6d1f0b7a01"
            let other = try await guest.put("/object/item/\(unknown)", #"{"type":1,"name":"x"}"#)
            #expect(other.message == "Not found.")
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 43: into the trash and back`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login("one")
            let early = try await guest.post("/restore/item/\(id)")
            #expect(early.message == "Cipher is not in trash.")
            let deleted = try await guest.delete("/object/item/\(id)")
            #expect(deleted.text == #"{"success":true}"#)
            #expect(try await guest.get("/list/object/items").names == [])
            #expect(try await guest.get("/list/object/items?trash").names == ["one"])
            #expect(try await guest.post("/restore/item/\(id)").text == #"{"success":true}"#)
            #expect(try await guest.get("/list/object/items").names == ["one"])
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 44: permanent is for good, whatever it says`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            for query in ["permanent", "permanent=true", "permanent=false"] {
                let id = try await guest.login("one")
                #expect(try await guest.delete("/object/item/\(id)?\(query)").isSuccess)
                #expect(try await guest.get("/object/item/\(id)").message == "Not found.")
            }
            #expect(try await guest.get("/list/object/items?trash").names == [])
            let unknown = "0b0c8f5e-5a0e-4d62-9a5c-3f6d1f0b7a01"
            #expect(try await guest.delete("/object/item/\(unknown)").message == "Not found.")
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 45: a folder comes and goes and its items stay`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let folder = try await guest.folder("Infra")
            let id = try await guest.login("one", more: #","folderId":"\#(folder)""#)
            let renamed = try await guest.put("/object/folder/\(folder)", #"{"name":"Ops"}"#)
            #expect(
                renamed.text
                    == """
                    {"success":true,"data":{"object":"folder","id":"\(folder)","name":"Ops"}}
                    """
            )
            #expect(try await guest.get("/object/folder/ops").data?["id"]?.string == folder)
            #expect(try await guest.delete("/object/folder/\(folder)").text == #"{"success":true}"#)
            #expect(try await guest.delete("/object/folder/\(folder)").message == "Not found.")
            let item = try await guest.get("/object/item/\(id)")
            #expect(item.data?["folderId"]?.isNull == true)
            for body in ["{}", #"{"name":" "}"#, #"{"name":7}"#] {
                let reply = try await guest.post("/object/folder", body)
                #expect(reply.status == .badRequest && reply.message != nil, "\(body)")
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 46: a file goes up and comes down to the byte`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let item = try await guest.login("one")
            let chance = SeededChance(seed: 46)
            let file = (0..<70_000).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
            for (option, name) in [("itemid", "a.bin"), ("itemId", "b \"q\" é.bin"), ("id", "c")] {
                let up = try await guest.upload(file, name, "/attachment?\(option)=\(item)")
                let attachment = up.data?["attachments"]?.array?.first { _ in true }
                let id = try #require(attachment?["id"]?.string, "\(up.text)")
                #expect(up.headers["Holdfast-Disposition"] == "saved")
                let down = try await guest.get("/object/attachment/\(id)?itemid=\(item)")
                #expect(down.body == file)
                #expect(down.headers["Content-Type"] == "application/octet-stream")
                #expect(down.headers["Content-Length"] == "70000")
                let disposition = down.headers["Content-Disposition"]
                #expect(disposition?.hasPrefix("attachment; filename=\"") == true)
                let byName = try await guest.get("/object/attachment/b?itemId=one")
                #expect((byName.status == .ok) == name.contains("b"))
                let gone = try await guest.delete("/object/attachment/\(id)?itemId=\(item)")
                #expect(gone.text == #"{"success":true}"#)
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `what is wrong with a file is said`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let item = try await guest.login("one")
            let path = "/object/attachment/x"
            #expect(try await guest.get(path).message == "--itemid <itemid> required.")
            #expect(
                try await guest.get("\(path)?itemid=\(item)").message
                    == "No attachments available for this item."
            )
            let bare = try await guest.upload([1], "f", "/attachment")
            #expect(bare.message == "`itemid` option is required.")
            let none = try await guest.post("/attachment?itemid=\(item)", "{}")
            #expect(none.status == .badRequest && none.message?.contains("form") == true)
            #expect(
                try await guest.delete("\(path)?itemid=\(item)").message
                    == "Attachment `x` was not found."
            )
            _ = try await guest.upload([1], "f.txt", "/attachment?itemid=\(item)")
            #expect(
                try await guest.get("/object/attachment/zip?itemid=\(item)").message
                    == "Attachment `zip` was not found."
            )
            let other = try await guest.post("/object/attachment?itemid=\(item)", "{}")
            #expect(other.status == .badRequest)
        }
    }

    @Test(arguments: Venue.allCases)
    func `a send is found by what it says, and by the beginning of its id`(_ venue: Venue)
        async throws
    {
        try await venue.open { guest async throws in
            let end = #""deletionDate":"2200-01-01""#
            let made = try await guest.post(
                "/object/send",
                #"{"name":"one","notes":"by post","text":{"text":"Hello"},\#(end)}"#
            )
            let id = try #require(made.data?["id"]?.string, "\(made.text)")
            let accessID = try #require(made.data?["accessId"]?.string)
            let other = #"{"name":"two","text":{"text":"x"},\#(end)}"#
            #expect(try await guest.post("/object/send", other).isSuccess)
            for search in ["ONE", "post", "hello", String(id.prefix(8)), accessID] {
                for path in ["/list/object/send", "/send/list"] {
                    let found = try await guest.get("\(path)?search=\(search)").names
                    #expect(found == ["one"], "\(search)")
                }
                #expect(try await guest.get("/object/send/\(search)").data?["id"]?.string == id)
            }
            #expect(try await guest.get("/send/list?search=\(id.prefix(7))").names == [])
            // What is called so comes before what only speaks of it.
            let named = #"{"name":"post","text":{"text":"x"},\#(end)}"#
            #expect(try await guest.post("/object/send", named).isSuccess)
            #expect(try await guest.get("/object/send/post").data?["name"]?.string == "post")
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 47: a send ends in the future`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let words = "Must specify a valid deletion date after the current time"
            for date in ["2001-01-01T00:00:00.000Z", "tomorrow"] {
                let reply = try await guest.post("/object/send", Sample.send(date))
                #expect(reply.message == words)
            }
            let made = try await guest.post("/object/send", Sample.send("2200-01-01T00:00:00Z"))
            let id = try #require(made.data?["id"]?.string, "\(made.text)")
            #expect(made.data?["text"]?["text"]?.string == "hello")
            #expect(made.data?["deletionDate"]?.string == "2200-01-01T00:00:00.000Z")
            #expect(made.data?["passwordSet"]?.bool == true)
            #expect(try await guest.get("/send/list").names == ["note"])
            #expect(try await guest.get("/object/send/note").data?["id"]?.string == id)
            let bare = try await guest.post("/send/\(id)/remove-password")
            #expect(bare.data?["passwordSet"]?.bool == false)
            let day = try await guest.post("/object/send", Sample.send("2200-01-01"))
            #expect(day.data?["deletionDate"]?.string == "2200-01-01T00:00:00.000Z")
            let text = #""text":{"text":"x"},"deletionDate":"2200-01-01""#
            for emails in [#"["a@example.test"]"#, #""a@example.test""#] {
                let body = #"{"name":"n",\#(text),"emails":\#(emails)}"#
                let open = try await guest.post("/object/send", body)
                #expect(open.status == .badRequest && open.message?.contains("emails") == true)
            }
            for query in ["email=a@example.test", "emails=a@example.test&password=x"] {
                let path = "/object/send?\(query)"
                #expect(try await guest.post(path, #"{"name":"n",\#(text)}"#).status == .badRequest)
            }
            for member in [
                #""password":5"#, #""password":["x"]"#, #""hideEmail":"true""#,
                #""disabled":"true""#, #""type":2"#, #""name":5"#, #""notes":{}"#,
            ] {
                let odd = try await guest.post("/object/send", "{\(member),\(text)}")
                #expect(odd.status == .badRequest, "\(member): \(odd.text)")
            }
            let shown = #"{"text":{"text":"x","hidden":"yes"},"deletionDate":"2200-01-01"}"#
            #expect(try await guest.post("/object/send", shown).status == .badRequest)
            // Nothing else was wrong with them.
            #expect(try await guest.post("/object/send", "{\(text)}").isSuccess)
            let empty = try await guest.post(
                "/object/send",
                #"{"name":"n",\#(text),"emails":[],"password":""}"#
            )
            #expect(empty.data?["passwordSet"]?.bool == false, "\(empty.text)")
            let file = #"{"type":1,"name":"f","deletionDate":"2200-01-01T00:00:00Z"}"#
            #expect(
                try await guest.post("/object/send", file).message?.hasPrefix(
                    "Creating a file-based Send is unsupported"
                ) == true
            )
            let turned = try await guest.put("/object/send/\(id)", file)
            #expect(turned.message == "Cannot change a Send's type")
            #expect(try await guest.delete("/object/send/\(id)").text == #"{"success":true}"#)
            #expect(try await guest.get("/object/send/\(id)").message == "Not found.")
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 48: any text comes back as it went`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let name = "Ünï çødé 🔑 \u{202E}rtl e\u{301} \u{1F469}\u{200D}\u{1F4BB}"
            let notes = String(repeating: "a line\r\nand another\n\t\"quoted\" \\", count: 200)
            let sent = JSON.Raw.object { object in
                object.add("type", 2)
                object.add("name", name)
                object.add("notes", notes)
                object.object("secureNote") { $0.add("type", 0) }
            }
            let id = try await guest.make(String(decoding: sent.bytes, as: UTF8.self))
            let read = try await guest.get("/object/item/\(id)").data
            #expect(
                read?["name"]?.string?.unicodeScalars.elementsEqual(name.unicodeScalars) == true
            )
            #expect(read?["notes"]?.string == notes)
            #expect(try await guest.get("/object/notes/\(id)").string == notes)
        }
    }

    @Test(arguments: Venue.allCases)
    func `point 49: an edit of an old copy is refused`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login("one")
            let old = try #require(try await guest.get("/object/item/\(id)").data).text
            #expect(try await guest.put("/object/item/\(id)", old).isSuccess)
            try await guest.stage.renameElsewhere(id, to: "elsewhere")
            let reply = try await guest.put("/object/item/\(id)", old)
            #expect(reply.status == .badRequest)
            #expect(reply.message?.contains("out of date") == true)
            let kept = try await guest.get("/object/item/\(id)")
            #expect(kept.data?["name"]?.string == "elsewhere")
        }
    }

    @Test(arguments: Venue.allCases)
    func `an item that makes no sense is refused with a reason`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let bodies = [
                "{}", "[]", #"{"type":9,"name":"x"}"#, #"{"type":1,"name":7}"#,
                #"{"type":5,"name":"k","sshKey":{"privateKey":" ","publicKey":"a"}}"#,
                #"{"type":5.0,"name":"k","sshKey":{}}"#,
            ]
            for body in bodies {
                let reply = try await guest.post("/object/item", body)
                #expect(reply.status == .badRequest, "\(body)")
                #expect(reply.message?.isEmpty == false, "\(body)")
            }
            #expect(try await guest.send(.post, "/object/item", nil).status == .badRequest)
            #expect(try await guest.get("/list/object/items").names == [])
        }
    }

    @Test(arguments: Venue.allCases)
    func `an edit that leaves out the key of an SSH item keeps it`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.make(
                #"""
                {"type":5,"name":"k","sshKey":{"privateKey":"P","publicKey":"ssh-ed25519 A",
                "keyFingerprint":"SHA256:x"}}
                """#
            )
            for key in ["", #","sshKey":null"#] {
                let edited = try await guest.put(
                    "/object/item/\(id)",
                    #"{"type":5,"name":"other"\#(key)}"#
                )
                #expect(edited.data?["sshKey"]?["privateKey"]?.string == "P", "\(edited.text)")
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `an archive is entered once, and left by restoring`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login("one")
            #expect(try await guest.post("/archive/item/\(id)").text == #"{"success":true}"#)
            let again = try await guest.post("/archive/item/\(id)")
            #expect(again.message == "Item is already archived.")
            #expect(try await guest.post("/restore/item/\(id)").isSuccess)
            #expect(try await guest.get("/list/object/items").names == ["one"])
            _ = try await guest.delete("/object/item/\(id)")
            #expect(
                try await guest.post("/archive/item/\(id)").message
                    == "Item is in the trash, the item must be restored before archiving."
            )
        }
    }

    @Test(arguments: Venue.allCases)
    func `an item is given to an organization and moved between collections`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            let (owner, collection) = try await guest.stage.addOrganization()
            let id = try await guest.login("one")
            let list = #"["\#(collection)"]"#
            let early = try await guest.put("/object/item-collections/\(id)", list)
            #expect(
                early.message
                    == "Item does not belong to an organization. Consider moving it first."
            )
            let empty = try await guest.post("/move/\(id)/\(owner)", "[]")
            #expect(
                empty.message == "You must provide at least one collection id for this item."
            )
            let unknown = try await guest.post("/move/\(id)/\(id)", list)
            #expect(unknown.message == "Organization not found.")
            let moved = try await guest.post("/move/\(id)/\(owner)", #"{"array":\#(list)}"#)
            #expect(moved.data?["organizationId"]?.string == owner, "\(moved.text)")
            #expect(moved.data?["collectionIds"]?[0]?.string == collection)
            #expect(
                try await guest.post("/move/\(id)/\(owner)", list).message
                    == "This item already belongs to an organization."
            )
        }
    }

    @Test(arguments: Venue.allCases)
    func `what is for admins is refused in the known words`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let (owner, _) = try await guest.stage.addOrganization()
            let path = "/list/object/org-members"
            #expect(
                try await guest.get(path).message == "`organizationid` option is required."
            )
            #expect(
                try await guest.get("\(path)?organizationid=x").message == "`x` is not a GUID."
            )
            let other = "0b0c8f5e-5a0e-4d62-9a5c-3f6d1f0b7a01"
            #expect(
                try await guest.get("\(path)?organizationId=\(other)").message
                    == "Organization not found."
            )
            let body = #"{"organizationId":"\#(other)","name":"x"}"#
            #expect(
                try await guest.post("/object/org-collection?organizationId=\(owner)", body).message
                    == "`organizationid` option does not match request object."
            )
            #expect(
                try await guest.post("/confirm/org-member/\(other)").message
                    == "--organizationid <organizationid> required."
            )
            let last = try await guest.get("\(path)?organizationId=\(owner)")
            #expect(last.status == .badRequest)
            #expect(last.message?.contains("official client") == true)
        }
    }
}

extension Guest {
    func upload(_ file: [UInt8], _ name: String, _ path: String) async throws -> Reply {
        let name = name.replacing("\"", with: "%22")
        let head = """
            --cut\r
            Content-Disposition: form-data; name="note"\r
            \r
            not this\r
            --cut\r
            Content-Disposition: form-data; name="file"; filename="\(name)"\r
            Content-Type: application/octet-stream\r
            \r

            """
        var request = Client.Request(.post, base + path)
        request.headers = headers
        request.headers["Content-Type"] = "multipart/form-data; boundary=\"cut\""
        request.body = .bytes(Array(head.utf8) + file + Array("\r\n--cut--\r\n".utf8))
        let response = try await client.send(request)
        return Reply(status: response.status, headers: response.headers, body: response.body)
    }
}

extension JSON.Value {
    var text: String { String(decoding: raw.bytes, as: UTF8.self) }
}

/// Every member that was sent is there, and says the same.
func expect(_ value: JSON.Value?, has sent: String) throws {
    let value = try #require(value)
    func compare(_ value: JSON.Value?, _ sent: JSON.Value, _ path: String) {
        if let members = sent.object {
            for member in members {
                compare(value?[member.name.string], member.value, "\(path).\(member.name.string)")
            }
        } else if let elements = sent.array {
            #expect(value?.array?.count == elements.count, "\(path)")
            for (index, element) in elements.enumerated() {
                compare(value?[index], element, "\(path)[\(index)]")
            }
        } else {
            #expect(value?.raw == sent.raw, "\(path)")
        }
    }
    compare(value, try JSON.Document(Array(sent.utf8)).root, "")
}

enum Sample {
    static let login = """
        {"type":1,"name":"Build server","notes":"rack 4","favorite":true,"reprompt":1,
         "fields":[{"name":"port","value":"8443","type":0,"linkedId":null},
                   {"name":"pin","value":"9912","type":1,"linkedId":null}],
         "login":{"uris":[{"match":3,"uri":"https://ci.example.test"}],"username":"ada",
          "password":"c0rrect-horse","totp":"JBSWY3DPEHPK3PXP"}}
        """
    static let all = [
        login,
        #"{"type":2,"name":"Note","notes":"text","secureNote":{"type":0}}"#,
        """
        {"type":3,"name":"Card","card":{"cardholderName":"A Lovelace","brand":"Visa",
         "number":"4111111111111111","expMonth":"7","expYear":"2031","code":"321"}}
        """,
        """
        {"type":4,"name":"Identity","identity":{"title":"Dr","firstName":"Ada","middleName":null,
         "lastName":"Lovelace","address1":"1 Engine St","city":"London","country":"GB",
         "email":"ada@example.test","username":"ada","passportNumber":null}}
        """,
        """
        {"type":5,"name":"Key","sshKey":{"privateKey":"PRIVATE","publicKey":"ssh-ed25519 AAAA",
         "keyFingerprint":"SHA256:x"}}
        """,
    ]

    static func send(_ date: String) -> String {
        """
        {"type":0,"name":"note","notes":null,"text":{"text":"hello","hidden":false},
         "password":"open","maxAccessCount":3,"deletionDate":"\(date)"}
        """
    }
}
