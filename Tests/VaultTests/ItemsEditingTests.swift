import Crypto
import JSON
import Testing

@testable import Vault

@Suite struct ItemsEditingTests {
    let samples: Samples

    init() throws { samples = try Samples() }

    @Test(arguments: Full.all)
    func `what is created is read back as it was sent`(_ body: String) throws {
        let item = try samples.item(body)
        #expect(item.flaws.isEmpty)
        let sent = try Samples.leaves(Array(body.utf8))
        let read = try Samples.leaves(Array(JSON.Raw(item).bytes))
        for (path, text) in sent { #expect(read[path] == text, "\(path)") }
    }

    @Test(arguments: Full.all)
    func `R-086, T-54 putting back what was read changes no byte`(_ body: String) throws {
        for cipher in [
            try samples.cipher(body), try samples.cipher(body, ownKey: false),
        ] {
            let item = Item(cipher, keys: samples.keys)
            let edited = try samples.edited(item, Samples.text(item))
            #expect(edited.cipher.bytes == cipher.bytes)
            #expect(!edited.changesPassword)
        }
    }

    /// As a form leaves one that nobody has filled in.
    @Test(arguments: ["uris", "fields"])
    func `an empty row is a change, at the end as well`(_ member: String) throws {
        let row = member == "uris" ? #"{"uri":"","match":null}"# : #"{"name":null,"type":0}"#
        func body(_ rows: Int) -> String {
            let list =
                "\"\(member)\":[\(Array(repeating: row, count: rows).joined(separator: ","))]"
            let parts = member == "uris" ? #""login":{\#(list)}"# : #""login":{},\#(list)"#
            return #"{"type":1,"name":"n",\#(parts)}"#
        }
        let item = try samples.item(body(1))
        #expect(try samples.edited(item, Samples.text(item)).cipher == item.cipher)
        for rows in [0, 2] {
            let edited = try samples.edited(item, body(rows)).cipher
            #expect(
                edited.fingerprint != item.cipher.fingerprint && edited.core != item.cipher.core
            )
            #expect(!edited.isUnchanged(from: item.cipher))
            #expect(!edited.saysTheSame(as: item.cipher, in: samples.keys))
        }
    }

    @Test func `T-56, T-58 only what the user changed has new ciphertext`() throws {
        let item = try samples.item(Full.login)
        let before = try Samples.leaves(item.cipher.bytes)
        let body = Samples.text(item)
            .replacing("\"ada\"", with: "\"eve\"", maxReplacements: 2)
            .replacing("\"8443\"", with: "\"8444\"")
        let after = try Samples.leaves(samples.edited(item, body).cipher.bytes)
        let changed = after.filter { before[$0.key] != $0.value }.keys.sorted()
        #expect(
            changed == [
                ".fields[0].value", ".login.fido2Credentials[0].userName", ".login.username",
            ]
        )
        #expect(Set(before.keys) == Set(after.keys))
    }

    @Test func `a number of a newer client is kept, and cannot be set`() throws {
        let body = """
            {"type":1,"name":"x","login":{"uris":[{"uri":"https://a.test","match":3}]},\
            "fields":[{"name":"f","value":"v","type":1}]}
            """
        let text = String(decoding: try samples.cipher(body).bytes, as: UTF8.self)
            .replacing(#""match":3"#, with: #""match":9"#)
            .replacing(#""type":1,"value""#, with: #""type":7,"value""#)
        let item = Item(try Cipher(JSON.Raw(Array(text.utf8))), keys: samples.keys)
        let shown = Samples.text(item)
        try #require(shown.contains(#""match":9"#))
        #expect(try samples.edited(item, shown).cipher.bytes == item.cipher.bytes)
        let renamed = shown.replacing(#""name":"x""#, with: #""name":"y""#)
        let edited = String(decoding: try samples.edited(item, renamed).cipher.bytes, as: UTF8.self)
        #expect(edited.contains(#""match":9"#))
        for (member, number) in [("login.uris[0].match", 8), ("login.uris[0].match", -1)] {
            let set = shown.replacing(#""match":9"#, with: "\"match\":\(number)")
            let refusal = #expect(throws: EditRefusal.self) { try samples.edited(item, set) }
            #expect(refusal?.description == "\(member) must be a number from 0 to 5.")
        }
    }

    @Test func `a password that is longer than history has room for can still be changed`() throws {
        let body = #"{"type":1,"name":"x","login":{"password":"short"}}"#
        let cipher = try samples.cipher(body)
        let long = String(repeating: "p", count: 6_000)
        let short = try #require(try Samples.leaves(cipher.bytes)[".login.password"])
        let sealed = try cipher.sealer(in: samples.keys).seal(long)
        let text = String(decoding: cipher.bytes, as: UTF8.self)
            .replacing(short, with: "\"\(sealed)\"")
        let item = Item(try Cipher(JSON.Raw(Array(text.utf8))), keys: samples.keys)
        let edited = Item(try samples.edited(item, body).cipher, keys: samples.keys)
        #expect(edited.login?.password == "short")
        #expect(edited.passwordHistory.map(\.password) == [long])
        let other = body.replacing("short", with: long + "q")
        #expect(throws: EditRefusal.self) { try samples.edited(item, other) }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a long list of elements with one name takes as long as it is`() {
        func field(_ value: String) -> Contents {
            var field = Contents(.field)
            (field["name"], field["value"]) = (.text("same"), .text(value))
            return field
        }
        let old = (0..<20_000).map { field("old \($0)") }
        let new = old.indices.map { field("new \($0)") }
        #expect(Pairing.origins(of: new, in: old) == Array(old.indices))
        #expect(Pairing.origins(of: Array(old.dropFirst()), in: old) == Array(1..<20_000))
        #expect(Pairing.origins(of: [new[0]] + old, in: old) == [nil] + Array(old.indices))
    }

    @Test func `elements that move keep their bytes`() throws {
        let item = try samples.item(Full.login)
        let before = try Samples.leaves(item.cipher.bytes)
        let swapped = Samples.text(item).replacing(
            #"[{"match":3,"uri":"https://ci.example.test"},{"match":null,"uri":"https://b.test"}]"#,
            with:
                #"[{"match":null,"uri":"https://b.test"},{"match":1,"uri":"https://ci.example.test"}]"#
        )
        let after = try Samples.leaves(samples.edited(item, swapped).cipher.bytes)
        for name in ["uri", "uriChecksum"] {
            #expect(after[".login.uris[0].\(name)"] == before[".login.uris[1].\(name)"])
            #expect(after[".login.uris[1].\(name)"] == before[".login.uris[0].\(name)"])
        }
        #expect(after[".login.uris[1].match"] == "1")
    }

    @Test func `a changed URI has a checksum of its own`() throws {
        let item = try samples.item(Full.login)
        let body = Samples.text(item).replacing("https://b.test", with: "https://c.test")
        let cipher = try samples.edited(item, body).cipher
        let sealer = try cipher.sealer(in: samples.keys)
        let uris = cipher["login"]?["uris"]?.elements ?? []
        let checksums = try uris.map { try sealer.open($0["uriChecksum"]?.string ?? "") }
        #expect(checksums == ["https://ci.example.test", "https://c.test"].map(URIChecksum.of))
    }

    @Test func `texts that only look the same are different`() throws {
        let composed = #"{"type":1,"name":"n","login":{"password":"\u00e9"}}"#
        let item = try samples.item(composed)
        let edited = try samples.edited(
            item,
            #"{"type":1,"name":"n","login":{"password":"e\u0301"}}"#
        )
        #expect(edited.changesPassword)
        #expect(
            Item(edited.cipher, keys: samples.keys).login?.password?.unicodeScalars.count == 2
        )
    }

    @Test func `a body replaces by the rules of the API`() throws {
        let item = try samples.item(Full.login)
        let cleared = Item(
            try samples.edited(item, #"{"name":"other"}"#).cipher,
            keys: samples.keys
        )
        #expect(cleared.name == "other")
        #expect(cleared.notes == nil)
        #expect(cleared.cipher.folderID == nil)
        #expect(!cleared.cipher.isFavorite && cleared.cipher["reprompt"]?.int == 0)
        #expect(cleared.login?.password == "c0rrect-horse")
        #expect(cleared.fields.count == 4 && cleared.passwordHistory.count == 2)
        #expect(cleared.cipher.archivedDate != nil)

        let replaced = Item(
            try samples.edited(item, #"{"name":"n","login":{"username":"x"},"fields":[]}"#).cipher,
            keys: samples.keys
        )
        #expect(
            replaced.login?.password == nil
                && replaced.cipher["login"]?["fido2Credentials"]?.array?.count ?? 0 == 0
        )
        #expect(replaced.fields.isEmpty)
    }

    @Test func `what belongs to no organisation comes into no collection`() throws {
        let body = #"{"type":2,"name":"Note","organizationId":"","collectionIds":["c"]}"#
        let item = try samples.item(body)
        #expect(item.cipher.collectionIDs.isEmpty)
        let edited = try samples.edited(item, #"{"name":"New","collectionIds":["c"]}"#)
        #expect(edited.cipher.collectionIDs.isEmpty)
    }

    @Test func `ids are taken in either case, each once, and an empty one is none`() throws {
        let json = """
            {"type":2,"name":"n","folderId":"","organizationId":"","collectionIds":["A","a","b"]}
            """
        let body = try ItemBody(Array(json.utf8))
        #expect(body.folderID == nil && body.organizationID == nil)
        #expect(body.collectionIDs == ["a", "b"])
        let other = try ItemBody(Array(#"{"type":2,"name":"n","folderId":"AB"}"#.utf8))
        #expect(other.folderID == "ab")
    }

    @Test(arguments: [
        "2025-11-03T10:15:30Z", "2025-11-03T10:15:30.0004Z", "2025-11-03T12:15:30+02:00",
        "2025-11-03T04:45:30.000-05:30", "2025-11-03T10:15:30", "2025-11-03 10:15:30Z",
    ])
    func `a date is taken in whatever spelling, and kept in upstream's`(_ date: String) throws {
        let kept = "2025-11-03T10:15:30.000Z"
        let made = try samples.item(Full.login.replacing(kept, with: date))
        let leaves = try Samples.leaves(made.cipher.bytes)
        #expect(leaves[".passwordHistory[0].lastUsedDate"] == "\"\(kept)\"")
        let body = Samples.text(made).replacing(kept, with: date)
        #expect(try samples.edited(made, body).cipher == made.cipher)
    }

    @Test func `a request leaves out what only upstream sets`() throws {
        let item = try samples.item(Full.login)
        var edit = JSON.Edit(item.cipher.document)
        edit.put("{}", at: "data")
        edit.put(.array { $0.object { $0.add("id", "f") } }, at: "attachments")
        edit.put(7, at: "inventedLater")
        try edit.set(["login", "uri"], to: "2.stale")
        var sending = Sending()
        sending.lastKnownRevisionDate = "2026-01-01T00:00:00.1234567Z"
        sending.encryptedFor = "me"
        sending.encryptedByKeyID = samples.keys.user.keyID
        let root = try JSON.Document(Cipher(edit).request(sending)).root
        for name in ["id", "data", "attachments", "revisionDate", "creationDate", "deletedDate"] {
            #expect(root[name] == nil, "\(name)")
        }
        #expect(root["login"]?["uri"] == nil)
        #expect(root["inventedLater"]?.int == 7)
        #expect(root["key"]?.string == item.cipher.key)
        #expect(root["archivedDate"]?.string != nil)
        #expect(root["lastKnownRevisionDate"]?.string == "2026-01-01T00:00:00.1234567Z")
        #expect(root["encryptedFor"]?.string == "me")
        #expect(root["encryptedByKeyId"]?.string == samples.keys.user.keyID.description)
        #expect(Cipher(edit).request(sending) == Cipher(edit).request(sending))
    }

    @Test func `upstream's limits are met before anything is sent`() throws {
        let fits = String(repeating: "x", count: 687)
        #expect(Sealer.byteCount(fitting: 1000) == 687)
        #expect(Sealer.byteCount(fitting: 5000) == 3695)
        #expect(Sealer.byteCount(fitting: 10_000) == 7439)
        _ = try samples.item(#"{"type":2,"name":"\#(fits)"}"#)
        #expect(throws: EditRefusal.tooLong(["name"], bytes: 687)) {
            try samples.item(#"{"type":2,"name":"\#(fits)x"}"#)
        }
        #expect(throws: EditRefusal.tooLong(["fields", 0, "name"], bytes: 687)) {
            try samples.item(#"{"type":2,"name":"n","fields":[{"name":"\#(fits)x"}]}"#)
        }
    }

    private static let tooEarly = #"{"password":"p","lastUsedDate":"0001-01-01T00:00:00+14:00"}"#

    @Test(arguments: [
        #"{"name":"n"}"#, #"{"type":9,"name":"n"}"#, #"{"type":6,"name":"n"}"#, #"{"type":1}"#,
        #"{"type":1,"name":""}"#, #"{"type":1,"name":5}"#, #"{"type":1,"name":"n","login":[]}"#,
        #"{"type":1,"name":"n","fields":[{"type":4}]}"#, #"{"type":1,"name":"n","favorite":"yes"}"#,
        #"{"type":1,"name":"n","login":{"uris":[{"match":6}]}}"#, #"["#, #"[]"#,
        #"{"type":1,"name":"n","login":{"fido2Credentials":[{"credentialId":"c"}]}}"#,
        #"{"type":1,"name":"n","fields":[{"type":3,"linkedId":3000000000}]}"#,
        #"{"type":1,"name":"n","archivedDate":"yesterday"}"#,
        #"{"type":1,"name":"n","archivedDate":"9999-12-31T23:59:59-01:00"}"#,
        #"{"type":1,"name":"n","archivedDate":"0000-01-01T00:00:00+01:00"}"#,
        #"{"type":1,"name":"n","archivedDate":"0000-12-31T23:59:59.000Z"}"#,
        #"{"type":1,"name":"n","passwordHistory":[\#(tooEarly)]}"#,
        #"{"type":5,"name":"n"}"#,
        #"{"type":5,"name":"n","sshKey":{"privateKey":"a","publicKey":" ","keyFingerprint":"b"}}"#,
    ])
    func `a body that does not fit is refused`(_ body: String) throws {
        #expect(throws: EditRefusal.self) { try samples.cipher(body) }
    }

    @Test(arguments: Shape.passkey.required.sorted())
    func
        `a passkey that is sent lacks nothing, and one that upstream has is left with what it lacks`(
            _ name: String
        ) throws
    {
        let path: JSON.Path = ["login", "fido2Credentials", 0, .member(name)]
        let whole = try samples.item(Full.login)
        var sent = JSON.Edit(try JSON.Document(JSON.Raw(whole)))
        try sent.set(path, to: .null)
        let body = String(decoding: sent.bytes, as: UTF8.self)
        let refusal = #expect(throws: EditRefusal.self) { try samples.edited(whole, body) }
        #expect(refusal?.description == "\(path) is missing.")
        #expect(throws: EditRefusal.self) { try samples.cipher(body) }

        var edit = JSON.Edit(whole.cipher.document)
        try edit.set(path, to: .null)
        let item = Item(Cipher(edit), keys: samples.keys)
        let shown = Samples.text(item)
        #expect(try samples.edited(item, shown).cipher == item.cipher)
        let renamed = shown.replacing(#""userName":"ada""#, with: #""userName":"eve""#)
        let leaves = try Samples.leaves(samples.edited(item, renamed).cipher.bytes)
        #expect(leaves[".\(path)"] == "null")
    }

    @Test func `a date that is none is left as upstream has it, and taken from nobody else`() throws
    {
        let path: JSON.Path = ["passwordHistory", 1, "lastUsedDate"]
        var edit = JSON.Edit(try samples.cipher(Full.login).document)
        try edit.set(path, to: "2016-12-31T23:59:60Z")
        let item = Item(Cipher(edit), keys: samples.keys)
        let shown = Samples.text(item)
        #expect(try samples.edited(item, shown).cipher == item.cipher)
        let other = shown.replacing("23:59:60.000Z", with: "23:59:61.000Z")
        let refusal = #expect(throws: EditRefusal.self) { try samples.edited(item, other) }
        #expect(refusal?.description == "\(path) must be a date like 2026-01-05T08:12:44.901Z.")
        #expect(throws: EditRefusal.self) {
            try samples.body(#"{"type":1,"name":"n","revisionDate":"yesterday"}"#)
        }
    }

    @Test func `an item keeps its type and its owner`() throws {
        let item = try samples.item(Full.card)
        #expect(throws: EditRefusal.self) {
            try samples.edited(item, #"{"name":"n","organizationId":"another"}"#)
        }
        #expect(throws: EditRefusal.typeChanged) {
            try samples.edited(item, #"{"type":1,"name":"n"}"#)
        }
    }

    @Test func `passwords that an organisation hides are neither shown nor lost`() throws {
        var edit = JSON.Edit(try samples.cipher(Full.login).document)
        edit.put(false, at: "viewPassword")
        let item = Item(Cipher(edit), keys: samples.keys)
        #expect(item.login?.password == nil && item.login?.totp == nil)
        #expect(item.passwordHistory.isEmpty)
        #expect(!Samples.text(item).contains("c0rrect-horse"))
        #expect(try samples.edited(item, Samples.text(item)).cipher == item.cipher)

        let body = Samples.text(item).replacing(#""password":null"#, with: #""password":"new""#)
        let edited = try samples.edited(item, body).cipher
        try edit.set(["x"], to: .null)
        var open = JSON.Edit(edited.document)
        open.put(true, at: "viewPassword")
        let whole = Item(Cipher(open), keys: samples.keys)
        #expect(whole.login?.password == "new" && whole.login?.totp == "JBSWY3DPEHPK3PXP")
        #expect(
            whole.passwordHistory.map(\.password) == ["c0rrect-horse", "old-one", "older"]
        )
    }
}
