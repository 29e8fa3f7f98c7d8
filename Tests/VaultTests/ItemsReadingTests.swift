import Crypto
import FuzzProperties
import JSON
import System
import Testing

@testable import Vault

@Suite struct ItemsReadingTests {
    let samples: Samples

    init() throws { samples = try Samples() }

    private func changed(_ cipher: Cipher, _ path: JSON.Path, to value: JSON.Raw) throws -> Item {
        var edit = JSON.Edit(cipher.document)
        try edit.set(path, to: value)
        return Item(Cipher(edit), keys: samples.keys)
    }

    @Test func `a known login is opened under its item's key`() throws {
        let vector = try JSON.Document(Samples.fixture("login_item.json")).root
        let keys = try KeyRing(
            user: SymmetricKey(base64: try #require(vector["user_key_b64"]?.string)),
            account: WrappedKeys(privateKey: nil)
        )
        let cipher = try Cipher(try #require(vector["item"]?.raw))
        let item = Item(cipher, keys: keys)
        let plain = try #require(vector["plain"])
        #expect(item.flaws.isEmpty)
        #expect(item.name == plain["name"]?.string)
        #expect(item.notes == plain["notes"]?.string)
        #expect(item.login?.username == plain["username"]?.string)
        #expect(item.login?.password == plain["password"]?.string)
        #expect(item.login?.totp == plain["totp"]?.string)
        #expect(item.login?.uris.map(\.uri) == [plain["uri"]?.string ?? ""])
        #expect(item.fields.map(\.value) == [plain["field_value"]?.string])
        #expect(item.passwordHistory.map(\.password) == [plain["history"]?.string])
        let passkey = try JSON.Document(Array(JSON.Raw(item).bytes)).root["login"]?[
            "fido2Credentials"
        ]?[0]
        for member in try #require(plain["fido2"]).members {
            #expect(passkey?[member.name.string]?.string == member.value.string)
        }
    }

    @Test func `what a server answers is kept to the byte`() throws {
        let ciphers = try Samples.vaultwarden
        #expect(ciphers.count == 24)
        for cipher in ciphers {
            #expect(try Cipher(cipher.bytes).bytes == cipher.bytes)
            #expect(cipher.type != nil && cipher.revisionDate != nil && cipher.id != nil)
            let sent = try Samples.leaves(cipher.request())
            let held = try Samples.leaves(cipher.bytes)
            for (path, text) in sent where text.hasPrefix("\"2.") {
                #expect(held[path] == text, "\(path)")
            }
        }
    }

    @Test func `capital letters and missing lists are read alike`() throws {
        let camel = try samples.cipher(Full.login)
        let text = String(decoding: camel.bytes, as: UTF8.self)
        var pascal = text
        for name in try Samples.leaves(camel.bytes).keys.flatMap({ $0.split(separator: ".") }) {
            let bare = name.prefix { $0 != "[" }
            pascal = pascal.replacing(
                "\"\(bare)\":",
                with: "\"\(bare.prefix(1).uppercased())\(bare.dropFirst())\":"
            )
        }
        #expect(pascal != text)
        let item = Item(try Cipher(Array(pascal.utf8)), keys: samples.keys)
        #expect(Samples.text(item) == Samples.text(Item(camel, keys: samples.keys)))
        #expect(try samples.edited(item, Samples.text(item)).cipher == item.cipher)
        #expect(item.cipher.request() == camel.request(), "It is sent as servers read it.")
        let escaped = text.replacing("/", with: "\\/")
        let other = Item(try Cipher(Array(escaped.utf8)), keys: samples.keys)
        #expect(Samples.text(other) == Samples.text(item))
    }

    @Test func `the API shows members in its order`() throws {
        let shown = Samples.text(try samples.item(#"{"type":2,"name":"n"}"#))
        #expect(
            shown == #"{"object":"item","id":"one","organizationId":null,"folderId":null,"type":2,"#
                + #""reprompt":0,"name":"n","notes":null,"favorite":false,"fields":[],"#
                + #""secureNote":{"type":0},"collectionIds":[],"attachments":[],"#
                + #""passwordHistory":[],"revisionDate":"2026-01-11T07:12:44.901Z","#
                + #""creationDate":"2026-01-11T07:12:44.901Z","deletedDate":null,"archivedDate":null}"#
        )
    }

    @Test(arguments: [
        "name", "notes", "login.password", "fields[1].value", "passwordHistory[0].password",
    ])
    func `one bad field spoils nothing but itself`(_ place: String) throws {
        let path: JSON.Path =
            switch place {
            case "name": ["name"]
            case "notes": ["notes"]
            case "login.password": ["login", "password"]
            case "fields[1].value": ["fields", 1, "value"]
            default: ["passwordHistory", 0, "password"]
            }
        let foreign = try Samples(seed: 9).keys.user.seal("secret")
        for bad: JSON.Raw in [JSON.Raw(foreign), "2.x", "7.AAAA", 5, "plain"]
        where bad != 5 || !place.hasPrefix("passwordHistory") {
            let cipher = try samples.cipher(Full.login)
            let item = try changed(cipher, path, to: bad)
            #expect(item.flaws.map(\.path) == [path])
            #expect(!item.flaws.isEmpty)
            #expect(item.login?.username == "ada")
            #expect(throws: EditRefusal.self) { try samples.edited(item, Samples.text(item)) }
            #expect(throws: Flaw.self) {
                try item.cipher.backup(
                    at: Samples.now,
                    keys: samples.keys,
                    entropy: samples.entropy
                )
            }
            if place == "name" { #expect(Samples.text(item).contains(Item.unreadableName)) }
        }
    }

    /// Some servers keep one where a client has left something empty.
    @Test(
        arguments: [
            ["notes"], ["login", "username"], ["login", "password"], ["login", "totp"],
            ["login", "uris", 0, "uri"], ["login", "fido2Credentials", 0, "userName"],
            ["fields", 0, "name"], ["fields", 1, "value"],
        ] as [JSON.Path]
    )
    func `an empty text in place of an encrypted one is nothing, and is sent on as that`(
        _ path: JSON.Path
    ) throws {
        let item = try changed(samples.cipher(Full.login), path, to: "")
        #expect(item.flaws.isEmpty)
        #expect(try Samples.leaves(Array(JSON.Raw(item).bytes))[".\(path)"] == "null")
        #expect(try samples.edited(item, Samples.text(item)).cipher == item.cipher)
        let renamed = Samples.text(item).replacing("Build server", with: "other")
        let edited = try samples.edited(item, renamed).cipher
        #expect(Item(edited, keys: samples.keys).name == "other")
        #expect(try Samples.leaves(edited.bytes)[".\(path)"] == "\"\"")
        #expect(try Samples.leaves(edited.request())[".\(path)"] == "null")
        let backup = try item.cipher.backup(
            at: Samples.now,
            keys: samples.keys,
            entropy: samples.entropy
        )
        #expect(Item(backup, keys: samples.keys).flaws.isEmpty)
        #expect(try Samples.leaves(backup.bytes)[".\(path)"] == "null")
    }

    /// No server takes null for it.
    @Test func `an item without a name is sent as it is`() throws {
        let item = try changed(samples.cipher(Full.note), ["name"], to: "")
        #expect(item.flaws.isEmpty && item.name == nil)
        let body = Samples.text(item).replacing("\"text\"", with: "\"other\"")
        let request = try Samples.leaves(samples.edited(item, body).cipher.request())
        #expect(request[".name"] == "\"\"")
    }

    @Test func `an item that cannot be opened at all is still shown and kept`() throws {
        let cipher = try samples.cipher(Full.login)
        let other = try Samples(seed: 3)
        let cases: [(Item, Flaw.Reason)] = [
            (try changed(cipher, ["type"], to: 6), .unknownType(6)),
            (try changed(cipher, ["type"], to: 99), .unknownType(99)),
            (try changed(cipher, ["type"], to: .null), .unknownType(nil)),
            (try changed(cipher, ["organizationId"], to: "nobody"), .noOrganizationKey),
            (try changed(cipher, ["key"], to: "2.x"), .key(.malformed(.pieceCount))),
            (Item(cipher, keys: other.keys), .key(.notAuthentic)),
        ]
        for (item, reason) in cases {
            #expect(item.flaws.map(\.reason) == [reason])
            #expect(item.id == "one" && item.name == nil && !item.flaws.isEmpty)
            #expect(item.cipher.folderID == cipher.folderID)
            #expect(Samples.text(item).contains(Item.unreadableName))
            #expect(throws: EditRefusal.self) { try samples.edited(item, #"{"name":"x"}"#) }
        }
    }

    /// What an account of version 2 leaves behind in one of version 1, or a type 7 in a field.
    @Test func `whatever is of version 2 is named as such, shown as unreadable and kept`() throws {
        let cipher = try samples.cipher(Full.login)
        let (type7, cose) = (JSON.Raw("7.g1gcowE6AAERcAM="), [UInt8](repeating: 1, count: 80))
        let wrapped = try cose.withUnsafeBytes { try samples.keys.user.seal(bytes: $0) }
        let cases: [(JSON.Path, JSON.Raw, Flaw.Reason)] = [
            (["name"], type7, .sealed(.unsupported(.version2))),
            (["login", "uris", 0, "uri"], type7, .sealed(.unsupported(.version2))),
            (["key"], type7, .key(.unsupported(.version2))),
            (["key"], JSON.Raw(wrapped), .key(.unsupported(.version2))),
        ]
        for (path, value, reason) in cases {
            let item = try changed(cipher, path, to: value)
            try expectUnreadable(item, Flaw(reason, at: path))
            #expect("\(try #require(item.flaws.first))".contains("version 2"))
        }
        try expectUnreadable(Item(blob(cipher, "AA"), keys: samples.keys), Flaw(.blob))
    }

    @Test func `items of version 2 are told apart by the one piece in which all of them lies`()
        throws
    {
        let cipher = try samples.cipher(Full.login)
        let (one, other) = (blob(cipher, "AA"), blob(cipher, "AQ"))
        #expect(one.fingerprint != other.fingerprint && one.core != other.core)
        #expect(one.fingerprint == blob(cipher, "AA").fingerprint)
        #expect(one.hasOtherContent(than: other))
    }

    private func blob(_ cipher: Cipher, _ envelope: String) -> Cipher {
        var edit = JSON.Edit(cipher.document)
        edit.put(
            JSON.Raw(#"{"format_version":1,"wrapped_cek":"7.AA","envelope":"\#(envelope)"}"#),
            at: "data"
        )
        for name in ["name", "notes", "login", "fields", "passwordHistory"] {
            edit.put(.null, at: name)
        }
        return Cipher(edit)
    }

    @Test(arguments: [(6, "bankAccount"), (7, "driversLicense"), (8, "passport"), (9, "boat")])
    func `an item of a type that is not opened here is known by its content all the same`(
        _ type: Int,
        _ member: String
    ) throws {
        let known = try samples.cipher(#"{"type":2,"name":"n"}"#)
        func holding(_ text: String) throws -> Cipher {
            let sealed = try samples.keys.user.seal(text)
            var edit = JSON.Edit(known.document)
            edit.put(JSON.Raw(type), at: "type")
            edit.put(.object { $0.add("pin", sealed) }, at: member)
            return Cipher(edit)
        }
        let (one, other) = (try holding("1"), try holding("2"))
        #expect(one.fingerprint != other.fingerprint && one.core != other.core)
        #expect(one.hasOtherContent(than: other))
    }

    private func expectUnreadable(_ item: Item, _ flaw: Flaw) throws {
        let bytes = item.cipher.bytes
        #expect(item.flaws == [flaw])
        #expect(!item.flaws.isEmpty && item.id == "one")
        #expect(throws: EditRefusal.self) { try samples.edited(item, Samples.text(item)) }
        #expect(throws: Flaw.self) {
            try item.cipher.backup(at: Samples.now, keys: samples.keys, entropy: samples.entropy)
        }
        #expect(item.cipher.bytes == bytes && Samples.text(item).contains(#""id":"one""#))
    }

    @Test(arguments: [
        ("2024-05-31T09:35:55.12Z", "2024-05-31T09:35:55.120Z"),
        ("2024-05-31T09:35:58.4566667Z", "2024-05-31T09:35:58.456Z"),
        ("2024-05-31T09:35:05Z", "2024-05-31T09:35:05.000Z"),
        ("2024-05-31T09:35:59.999999Z", "2024-05-31T09:35:59.999Z"),
        ("2024-05-31T11:35:59.999999+02:00", "2024-05-31T09:35:59.999Z"),
        ("2024-05-31 09:35:59", "2024-05-31T09:35:59.000Z"),
    ])
    func `dates are shown with three digits and keep their own`(_ stamp: String, _ shown: String)
        throws
    {
        let item = try changed(samples.cipher(Full.login), ["revisionDate"], to: JSON.Raw(stamp))
        #expect(Samples.text(item).contains(#""revisionDate":"\#(shown)""#))
        #expect(try samples.edited(item, Samples.text(item)).cipher.revisionDate == stamp)
    }

    @Test(arguments: 0..<40)
    func `members nobody has heard of survive every edit and copy`(_ seed: Int) throws {
        let chance = SeededChance(seed: UInt64(seed))
        let cipher = try samples.cipher(Full.all[chance.number(in: 0..<5)])
        let invented = inventing(in: cipher.document.root, chance)
        let item = Item(try Cipher(invented), keys: samples.keys)
        #expect(item.flaws.isEmpty, "seed \(seed)")
        let before = try Samples.leaves(item.cipher.bytes).filter { $0.key.contains("invented") }
        let edited = try samples.edited(
            item,
            Samples.text(item).replacing("ada", with: "eve").replacing("8443", with: "1")
                .replacing("\"L\"", with: "\"M\"")
        ).cipher
        let backup = try edited.backup(
            at: Samples.now,
            keys: samples.keys,
            entropy: samples.entropy
        )
        for bytes in [edited.bytes, backup.bytes, edited.request()] {
            let after = try Samples.leaves(bytes).filter { $0.key.contains("invented") }
            #expect(after == before, "seed \(seed)")
        }
    }

    /// Puts members of its own into every object of the JSON.
    private func inventing(in value: JSON.Value, _ chance: SeededChance) -> [UInt8] {
        func write(_ value: JSON.Value) -> JSON.Raw {
            if value.kind == .array { return JSON.Raw(value.elements.map(write)) }
            guard value.kind == .object else { return value.raw }
            return .object { object in
                for member in value.members {
                    if chance.number(in: 0..<4) == 0 {
                        object.add("invented\(chance.number(in: 0..<1_000_000))", 1.description)
                    }
                    object.add(member.name.string, write(member.value))
                }
                object.add("inventedLast", JSON.Raw.array { $0.add(chance.number(in: 0..<9)) })
            }
        }
        return Array(write(value).bytes)
    }

    @Test func `no error says a word of what is secret`() throws {
        let marker = "MARKER-9f3a"
        var said: [String] = []
        for body in [
            #"{"type":1,"name":"\#(marker)","login":{"password":5}}"#,
            #"{"type":1,"name":"\#(String(repeating: marker, count: 100))"}"#,
            #"{"type":1,"name":"n","login":{"uris":"\#(marker)"}}"#,
            #"{"type":"\#(marker)"}"#, #"{"type":1,"name":"n","archivedDate":"\#(marker)"}"#,
            marker,
        ] {
            do {
                _ = try samples.cipher(body)
                Issue.record("It was taken.")
            } catch {
                said += ["\(error)", String(reflecting: error)]
            }
        }
        let item = try samples.item(#"{"type":1,"name":"\#(marker)","notes":"\#(marker)"}"#)
        let bad = try changed(item.cipher, ["notes"], to: JSON.Raw(marker))
        said += bad.flaws.map { "\($0) \(String(reflecting: $0))" }
        said += ["\(item)", String(reflecting: item), "\(item.cipher)", "\(bad)"]
        do { _ = try samples.edited(bad, Samples.text(bad)) } catch { said.append("\(error)") }
        #expect(said.count > 12)
        #expect(!said.contains { $0.contains(marker) })
    }

    @Test(arguments: 0..<300)
    func `no bytes lead astray`(_ seed: Int) throws {
        let chance = SeededChance(seed: UInt64(seed))
        var bytes = try samples.cipher(Full.all[chance.number(in: 0..<5)]).bytes
        for _ in 0..<chance.number(in: 1..<6) {
            let index = chance.number(in: 0..<bytes.count)
            switch chance.number(in: 0..<3) {
            case 0: bytes[index] = UInt8(truncatingIfNeeded: chance.next())
            case 1: bytes.remove(at: index)
            default: bytes.replaceSubrange(index..<index, with: Array("null".utf8))
            }
        }
        let violation = try ItemReading().violation(by: bytes)
        #expect(violation == nil, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
    }

    @Test func `what holds for any bytes holds for a server's and for ours`() throws {
        let property = try ItemReading()
        for cipher in try Samples.vaultwarden + Full.all.map({ try samples.cipher($0) }) {
            #expect(property.violation(by: cipher.bytes) == nil)
        }
    }
}
