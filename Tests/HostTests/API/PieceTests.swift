import Crypto
import HTTP
import JSON
import System
import TestSupport
import Testing

@testable import Host

/// The small pieces of which the API is made.
struct PieceTests {
    @Test(arguments: [
        ("{}", "{}"), ("[]", "[]"), (#"{"a":[]}"#, "{\n  \"a\": []\n}"),
        (
            #"{"a":1,"b":[true,{"c":null}]}"#,
            "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    {\n      \"c\": null\n    }\n  ]\n}"
        ),
        (#"{"a":"{[\"\\,:"}"#, "{\n  \"a\": \"{[\\\"\\\\,:\"\n}"),
    ])
    func `compact JSON is laid out as a person reads it`(_ compact: String, _ laid: String) {
        let text = String(decoding: Indenting.indented(Array(compact.utf8)), as: UTF8.self)
        #expect(text == laid)
    }

    @Test(arguments: [
        ("Café", "cafe", true), ("cafe", "CAFÉ", true), ("Ångström", "angstro", true),
        ("Ελλάδα", "ελλαδα", true), ("abc", "", true), ("", "a", false), ("ab", "abc", false),
        ("aab", "ab", true), ("é", "\u{301}", true), ("straße", "STRASSE", false),
    ])
    func `capital letters and accents do not count`(
        _ text: String,
        _ search: String,
        _ isFound: Bool
    ) {
        #expect(Folded(text).contains(Folded(search)) == isFound)
    }

    @Test func `what is numbered comes in the order of the numbers`() {
        let order = [
            "", "1", "2", "10", "99999999999999999999", "100000000000000000000", "a", "a 9 b",
            "a 010", "a 10", "a 10 b", "a10", "b", "v0.9", "v0.10",
        ]
        for (place, name) in order.enumerated() {
            for (otherPlace, other) in order.enumerated() {
                #expect((Folded(name) < Folded(other)) == (place < otherPlace), "\(name), \(other)")
            }
        }
    }

    @Test(arguments: [
        ("0b0c8f5e-5a0e-4d62-9a5c-3f6d1f0b7a01", true),
        ("0B0C8F5E-5A0E-4D62-9A5C-3F6D1F0B7A01", true),
        ("0b0c8f5e5a0e4d629a5c3f6d1f0b7a01", false), ("mail", false), ("", false),
        ("0b0c8f5e-5a0e-4d62-9a5c-3f6d1f0b7a0g", false),
        ("0b0c8f5e-5a0e-4d62-9a5c-3f6d1f0b7a0１", false),
    ])
    func `an id is known by its form`(_ text: String, _ isIdentifier: Bool) {
        #expect(text.isIdentifier == isIdentifier)
    }

    @Test(arguments: [PublicSuffixes.systemPath, "/nowhere"])
    func `a domain is what somebody owns`(_ path: String) {
        let suffixes = PublicSuffixes(path: path)
        let domains = [
            "a.b.example.com": "example.com", "example.com": "example.com", "com": "com",
            "a.example.co.uk": "example.co.uk", "co.uk": nil, "localhost": "localhost",
            "me.github.io": "me.github.io", "a.unheard-of": "a.unheard-of",
        ]
        for (host, domain) in domains { #expect(suffixes.domain(of: host) == domain, "\(host)") }
        let long = String(repeating: "a.", count: 100_000) + "example.co.uk"
        #expect(suffixes.domain(of: long) == "example.co.uk")
    }

    @Test func `exceptions and wildcards of the list are heeded`() throws {
        let scratch = try Scratch()
        let list = "// a comment\n\nck\n*.ck\n!www.ck\n"
        try Files.replace(scratch.file("list"), with: Array(list.utf8))
        let suffixes = PublicSuffixes(path: scratch.file("list"))
        #expect(suffixes.domain(of: "a.www.ck") == "www.ck")
        #expect(suffixes.domain(of: "a.b.other.ck") == "b.other.ck")
        #expect(suffixes.domain(of: "other.ck") == nil)
    }

    @Test(arguments: [
        ("xn--bcher-kva.example", "bücher.example"), ("a.xn--p1ai", "a.рф"),
        ("www.xn--wgv71a119e.jp", "www.日本語.jp"), ("xn--fiqs8s", "中国"), ("xn--e28h", "😀"),
        ("xn--mnchen-ost-9db.de", "münchen-ost.de"), ("bücher.example", "bücher.example"),
        ("example.com", "example.com"), ("xn--", "xn--"), ("xn--paypal-.com", "xn--paypal-.com"),
        ("xn--99999999999.com", "xn--99999999999.com"), ("xn--a-b-c.com", "xn--a-b-c.com"),
        ("xn--é.com", "xn--é.com"), (".xn--bcher-kva.", ".bücher."),
    ])
    func `a host is known by either way to write it`(_ wire: String, _ readable: String) {
        #expect(HostName.readable(wire) == readable)
    }

    @Test func `a label that is longer than any is not read`() {
        for letter in ["a", "9", "z", "-"] {
            let label = "xn--" + String(repeating: letter, count: 60)
            #expect(HostName.readable(label) == label)
        }
    }

    @Test(arguments: [
        ("https://User:pw@Example.com:8443/x?y#z", "example.com", "8443"),
        ("example.com", "example.com", nil), ("http://[::1]:80/", "[::1]", "80"),
        ("localhost:8080", "localhost", "8080"), ("androidapp://com.example", "com.example", nil),
        ("https://xn--bcher-kva.Example/x", "bücher.example", nil),
    ])
    func `an address is taken apart`(_ text: String, _ host: String, _ port: String?) throws {
        let address = try #require(WebAddress(text))
        #expect(address.host == host)
        #expect(address.port == port)
    }

    @Test(arguments: [
        ("https://a.net:443/x", "https://a.net", true), ("http://a.net:80", "http://a.net", true),
        ("https://a.net:80", "https://a.net", false), ("https://a.net:", "https://a.net", true),
        ("https://a.net:8443", "https://a.net", false),
    ])
    func `a port that the scheme has anyway makes no difference`(
        _ one: String,
        _ other: String,
        _ isSame: Bool
    ) throws {
        let (one, other) = (try #require(WebAddress(one)), try #require(WebAddress(other)))
        #expect((one.hostAndPort == other.hostAndPort) == isSame)
    }

    @Test(arguments: ["", "word", "https://", "https:///path"])
    func `what names no host is no address`(_ text: String) {
        #expect(WebAddress(text) == nil)
    }

    @Test func `a form without its end, its name or its file has no file`() {
        func file(_ form: String) -> UploadedFile? {
            UploadedFile(form: Array(form.utf8), boundary: "b")
        }
        let head = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"n\"\r\n\r\n"
        #expect(file(head + "bytes\r\n--b--")?.bytes == Array("bytes".utf8))
        #expect(file(head + "\r\n--b--")?.bytes == [])
        #expect(file(head + "a\r\n--not\r\n\r\n--b--")?.bytes == Array("a\r\n--not\r\n".utf8))
        #expect(file(head + "a\r\n--bb\r\n--b--")?.bytes == Array("a\r\n--bb".utf8))
        #expect(file(head + "a\r\n--b \t\r\n--b--")?.bytes == Array("a".utf8))
        #expect(file(head + "bytes") == nil)
        #expect(file("") == nil)
        #expect(file(head.replacing("\"file\"", with: "\"other\"") + "x\r\n--b--") == nil)
        #expect(file(head.replacing("; filename=\"n\"", with: "") + "x\r\n--b--") == nil)
    }

    /// What looks like its boundary over and over is not looked at again from each place.
    @Test(arguments: [("-", 70, true), ("-", 71, false), ("", 0, false)])
    func `a boundary is as long as the format allows`(
        _ letter: String,
        _ count: Int,
        _ isTaken: Bool
    ) {
        let boundary = String(repeating: letter, count: count)
        let head = "Content-Disposition: form-data; name=\"file\"; filename=\"n\"\r\n\r\n"
        let content = String(repeating: "-", count: 4_000)
        let form = "--\(boundary)\r\n\(head)x\(content)\r\n--\(boundary)--"
        let file = UploadedFile(form: Array(form.utf8), boundary: boundary)
        #expect(file.map { $0.bytes.count } == (isTaken ? content.utf8.count + 1 : nil))
    }

    @Test(arguments: [
        (#"filename="semi;colon=.txt""#, "semi;colon=.txt"),
        (#"filename="q\"uote.txt""#, #"q"uote.txt"#), ("filename = plain.txt ", "plain.txt"),
        (#"filename="a/b\c.txt""#, "c.txt"), (#"filename="C:\\d\\e.txt""#, "e.txt"),
        (#"filename="../..x""#, "..x"), (#"filename="a"; filename*=UTF-8''b%2Fc.txt"#, "c.txt"),
        (#"filename="na.txt"; filename*=UTF-8''na%C3%AFve.txt"#, "naïve.txt"),
        (#"filename="kept.txt"; filename*=latin-1''x"#, "kept.txt"),
        ("filename=\"a\u{2028}b\u{85}c.txt\"", "a\u{2028}b\u{85}c.txt"),
        ("filename=\"\u{301}x.txt\"", "\u{301}x.txt"),
        ("filename=\"x\u{200D}\"", "x\u{200D}"),
    ])
    func `a file is called what its form says`(_ field: String, _ name: String) {
        let head = "--b\r\nContent-Disposition: form-data; name=\"file\"; \(field)\r\n\r\n"
        let form = head + "x\r\n--b--"
        #expect(UploadedFile(form: Array(form.utf8), boundary: "b")?.name == name)
    }

    @Test(arguments: ["", ".", "..", "a/", #"a\"#, "a/..", #"a\."#])
    func `a path that leads to no file names none`(_ path: String) {
        let head = "--b\r\nContent-Disposition: form-data; name=\"file\"; "
        let form = head + "filename*=UTF-8''\(path)\r\n\r\nx\r\n--b--"
        #expect(UploadedFile(form: Array(form.utf8), boundary: "b") == nil)
        let quoted = path.replacing(#"\"#, with: #"\\"#)
        let other = head + "filename=\"\(quoted)\"\r\n\r\nx\r\n--b--"
        #expect(UploadedFile(form: Array(other.utf8), boundary: "b") == nil)
    }

    @Test(arguments: [
        ("a.txt", #"attachment; filename="a.txt""#),
        (
            "a \"b\"\\.txt",
            #"attachment; filename="a \"b\"\\.txt"; filename*=UTF-8''a%20%22b%22%5C.txt"#
        ),
        ("é\r\nX: y", #"attachment; filename="___X: y"; filename*=UTF-8''%C3%A9%0D%0AX%3A%20y"#),
    ])
    func `a file's name cannot leave its header`(_ name: String, _ text: String) {
        #expect(FileDisposition(name).text == text)
    }

    @Test func `a leaked password is asked for by a part of its digest`() async throws {
        let breaches = StillBreaches()
        #expect(try await breaches.count(of: "password") == 42)
        #expect(try await breaches.count(of: "another") == 0)
        #expect(breaches.asked.withLock(\.self).allSatisfy { $0.count == 5 })
    }

    @Test func `exposed counts, and says clearly when it cannot`() async throws {
        let venue = try StillVenue()
        try await venue.open { guest async throws in
            let id = try await guest.login("one", #""password":"password""#)
            #expect(try await guest.get("/object/exposed/\(id)").string == "42")
            venue.breaches.isAway.withLock { $0 = true }
            let reply = try await guest.get("/object/exposed/one")
            #expect(reply.status == .badRequest)
            #expect(reply.message?.contains("needs the network") == true)
        }
    }

    @Test func `some things are for accounts that are paid for`() async throws {
        let venue = try StillVenue()
        try await venue.open { guest async throws in
            let id = try await guest.login("one", #""totp":"JBSWY3DPEHPK3PXP""#)
            venue.desk.change { $0.isPremium = false }
            let words = "Premium status is required to use this feature."
            #expect(try await guest.get("/object/totp/\(id)").message == words)
            #expect(try await guest.post("/archive/item/\(id)").message == words)
            let upload = try await guest.upload([1], "f", "/attachment?itemid=\(id)")
            #expect(upload.message == words)
        }
    }

    @Test func `T-69 what cannot be decrypted is shown, and not called missing`() async throws {
        let venue = try StillVenue()
        try await venue.open { guest async throws in
            let good = try await guest.login("good")
            let id = try await guest.login("bad", #""password":"p""#)
            let other = try StillDesk(id: "x", email: "x", clock: venue.desk.clock, seed: 8)
            venue.desk.change { state in
                let cipher = state.ciphers[id]
                state.ciphers[id] = cipher?.with("key", try? other.keys.user.seal("k"))
            }
            let list = try await guest.get("/list/object/items")
            let ids = list.elements.compactMap { $0["id"]?.string }
            #expect(ids.contains(good))
            #expect(list.elements.count == 2)
            let item = try await guest.get("/object/item/\(id)")
            #expect(item.data?["name"]?.string == "[error: cannot decrypt]")
            let password = try await guest.get("/object/password/\(id)")
            #expect(password.status == .badRequest)
            #expect(password.message?.contains("No password available") == false)
            #expect(password.message != "Not found.")
        }
    }

    @Test(arguments: [
        ("", 14), ("?length=30", 30), ("?length=1", 5), ("?length=x", 14), ("?length=1000", 128),
    ])
    func `a password has the length that was asked for, or the nearest`(
        _ query: String,
        _ length: Int
    ) async throws {
        try await StillVenue().open { guest async throws in
            #expect(try await guest.get("/generate" + query).string?.count == length)
        }
    }

    @Test func `a password is made of what was asked for`() async throws {
        try await StillVenue().open { guest async throws in
            func text(_ query: String) async throws -> String {
                try #require(try await guest.get("/generate?length=40&\(query)").string)
            }
            #expect(try await text("lowercase=true").allSatisfy(\.isLowercase))
            #expect(try await text("uppercase=true").allSatisfy(\.isUppercase))
            #expect(try await text("number=true").allSatisfy(\.isNumber))
            #expect(try await text("special=true").allSatisfy { "!@#$%^&*".contains($0) })
            #expect(try await text("").allSatisfy { $0.isLetter || $0.isNumber })
            let words = try await text("passphrase=true&words=4&separator=-").split(separator: "-")
            #expect(words.count == 4)
            #expect(try await text("passphrase&separator=space").split(separator: " ").count == 6)
            #expect(!(try await text("passphrase&separator=empty").contains("-")))
            let capital = try await text("passphrase&words=1&capitalize&includeNumber")
            #expect(capital.split(separator: "-").count == 3)
            #expect(capital.contains(where: \.isNumber) && capital.first?.isUppercase == true)
        }
    }
}
