import Bitwarden
import Crypto
import HTTP
import JSON
import Testing
import Vault

@testable import EmbeddedUpstream

/// The table of differences between the two servers, line by line.
struct PersonalityTests {
    private static let nobody = "00000000-0000-4000-8000-000000000000"

    /// One of the servers keeps the first three groups of an id as numbers, lowest byte first.
    @Test(arguments: [
        (Personality.bitwarden, [3, 2, 1, 0, 5, 4, 7, 6]),
        (.vaultwarden, [0, 1, 2, 3, 4, 5, 6, 7]),
    ])
    func `the address of a send has the bytes of its id`(
        _ personality: Personality,
        _ order: [Int]
    ) async throws {
        let guest = try await Guest(personality)
        let body =
            #"{"type":0,"key":"2.o|l|d","name":"2.n|n|n","text":{"text":"2.t|t|t"},"#
            + #""deletionDate":"2200-01-01T00:00:00.000Z"}"#
        let send = try await guest.ask(.post, "/api/sends", body).json
        let access = try #require(send["accessId"]?.string)
        #expect(access.count == 22 && access.allSatisfy { !"+/=".contains($0) })
        let text = access.replacing("-", with: "+").replacing("_", with: "/") + "=="
        let bytes = try Base64.bytes(of: text)
        let digits = (order.map { bytes[$0] } + bytes[8...]).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        #expect(digits.joined() == send["id"]?.string?.replacing("-", with: ""))
    }

    @Test(arguments: [
        (Personality.bitwarden, Status.notFound, "Resource not found."),
        (.vaultwarden, .badRequest, "Cipher doesn't exist"),
    ])
    func `what is missing is said differently`(
        _ personality: Personality,
        _ status: Status,
        _ message: String
    ) async throws {
        let guest = try await Guest(personality)
        for (method, path) in [
            (HTTP.Method.get, ""), (.delete, ""), (.put, "/delete"), (.put, "/restore"),
        ] {
            let answer = try await guest.ask(method, "/api/ciphers/\(Self.nobody)\(path)")
            #expect(answer.status == status, "\(method) \(path)")
            #expect(answer.message == message)
        }
    }

    @Test(arguments: [
        (Personality.bitwarden, Int64(1_000), Status.ok), (.bitwarden, 1_001, .badRequest),
        (.bitwarden, -1_001, .badRequest), (.vaultwarden, 1_999, .ok),
        (.vaultwarden, 2_000, .badRequest), (.vaultwarden, -600_000, .ok),
    ])
    func `a copy is too old after another time`(
        _ personality: Personality,
        _ milliseconds: Int64,
        _ status: Status
    ) async throws {
        let guest = try await Guest(personality)
        let id = try await guest.make()
        let text = try #require(try await guest.cipher(id)["revisionDate"]?.string)
        let revised = try #require(Revision(text)).moment
        let known = Moment(ticks: revised.ticks - milliseconds * Moment.ticksPerMillisecond)
        let stamp = Stamp.text(known, digits: 7, padded: true)
        let more = #","lastKnownRevisionDate":"\#(stamp)""#
        let answer = try await guest.ask(.put, "/api/ciphers/\(id)", Guest.login(more: more))
        #expect(answer.status == status)
        if status != .ok { #expect(answer.message?.contains("out of date") == true) }
    }

    @Test(arguments: [
        (Personality.bitwarden, "zzz", Status.badRequest), (.vaultwarden, "zzz", .ok),
        (.vaultwarden, "2001-01-01T00:00:00", .ok),
        (.vaultwarden, "2001-01-01T00:00:00Z", .badRequest),
    ])
    func `a date that is none is refused or passed over`(
        _ personality: Personality,
        _ text: String,
        _ status: Status
    ) async throws {
        let guest = try await Guest(personality)
        let id = try await guest.make()
        let more = #","lastKnownRevisionDate":"\#(text)""#
        let answer = try await guest.ask(.put, "/api/ciphers/\(id)", Guest.login(more: more))
        #expect(answer.status == status)
    }

    @Test(arguments: ["5", "true", "{}", "[]"])
    func `what is neither a text nor left open is no date and no id on the one server`(
        _ value: String
    ) async throws {
        for name in ["lastKnownRevisionDate", "encryptedFor", "encryptedByKeyId"] {
            for personality in [Personality.bitwarden, .vaultwarden] {
                let guest = try await Guest(personality)
                let path = "/api/ciphers/\(try await guest.make())"
                let more = #","\#(name)":\#(value)"#
                let answer = try await guest.ask(.put, path, Guest.login(more: more))
                let isRefused = answer.status == .badRequest
                #expect(isRefused == (personality.name == .bitwarden), "\(name) \(answer)")
                let open = Guest.login(more: #","\#(name)":null"#)
                #expect(try await guest.ask(.put, path, open).status == .ok)
            }
        }
    }

    @Test func `dates have six digits, or those that are needed`() async throws {
        for (personality, pattern) in [
            (Personality.vaultwarden, #/.*\.[0-9]{6}Z/#),
            (.bitwarden, #/[^.]*(?:\.[0-9]*[1-9])?Z/#),
        ] {
            let guest = try await Guest(personality)
            for _ in 0..<20 {
                let id = try await guest.make()
                let stamp = try #require(try await guest.cipher(id)["revisionDate"]?.string)
                #expect(try pattern.wholeMatch(in: stamp) != nil, "\(personality): \(stamp)")
                guest.clock.advance(bySeconds: 1)
            }
        }
    }

    @Test func `the answer to a change is detailed on the one server only`() async throws {
        for (personality, name) in [
            (Personality.bitwarden, "cipher"), (.vaultwarden, "cipherDetails"),
        ] {
            let guest = try await Guest(personality)
            let answer = try await guest.ask(.post, "/api/ciphers", Guest.login()).json
            #expect(answer["object"]?.string == name)
            #expect((answer["collectionIds"] == nil) == (name == "cipher"))
            let details = try await guest.cipher(try #require(answer["id"]?.string))
            #expect(details["object"]?.string == "cipherDetails")
        }
    }

    @Test func `the content stands there twice, as a text or as an object`() async throws {
        let strict = try await Guest(.bitwarden)
        let text = try #require(try await strict.cipher(strict.make())["data"]?.string)
        let mirror = try JSON.Document(Array(text.utf8)).root
        #expect(mirror["Name"]?.string == Guest.sealed)
        #expect(mirror["Username"]?.string == Guest.sealed)
        let lax = try await Guest(.vaultwarden)
        #expect(try await lax.cipher(lax.make())["data"]?["name"]?.string == Guest.sealed)
    }

    @Test func `members that nobody knows are kept or dropped`() async throws {
        let strict = try await Guest(.bitwarden)
        #expect(try await strict.cipher(strict.make())["login"]?["extra"] == nil)
        let lax = try await Guest(.vaultwarden)
        #expect(try await lax.cipher(lax.make())["login"]?["extra"]?.int == 1)
    }

    @Test func `what a change leaves out is kept or taken away`() async throws {
        for (personality, stays) in [(Personality.bitwarden, false), (.vaultwarden, true)] {
            let guest = try await Guest(personality)
            let id = try await guest.make(more: #","favorite":true"#)
            #expect(try await guest.ask(.put, "/api/ciphers/\(id)/archive").status == .ok)
            #expect(try await guest.ask(.put, "/api/ciphers/\(id)", Guest.login()).status == .ok)
            let cipher = try await guest.cipher(id)
            #expect(cipher["favorite"]?.bool == stays, "\(personality)")
            #expect(cipher["archivedDate"]?.isNull == !stays, "\(personality)")
        }
    }

    @Test func `archiving twice is refused or done again, and moves the date or does not`()
        async throws
    {
        for (personality, status) in [
            (Personality.bitwarden, Status.badRequest), (.vaultwarden, .ok),
        ] {
            let guest = try await Guest(personality)
            let id = try await guest.make()
            let before = try await guest.cipher(id)["revisionDate"]?.string
            _ = try await guest.ask(.put, "/api/ciphers/\(id)/archive")
            let after = try await guest.cipher(id)["revisionDate"]?.string
            #expect((before == after) == (personality.name == .vaultwarden))
            #expect(try await guest.ask(.put, "/api/ciphers/\(id)/archive").status == status)
        }
    }

    @Test func `a bulk call passes over what is missing, or stops there and keeps what it did`()
        async throws
    {
        for (personality, status) in [
            (Personality.bitwarden, Status.ok), (.vaultwarden, .badRequest),
        ] {
            let guest = try await Guest(personality)
            let (first, last) = (try await guest.make(), try await guest.make())
            let body = #"{"ids":["\#(first)","\#(Self.nobody)","\#(last)"]}"#
            #expect(try await guest.ask(.put, "/api/ciphers/delete", body).status == status)
            #expect(try await guest.cipher(first)["deletedDate"]?.isNull == false)
            #expect(try await guest.cipher(last)["deletedDate"]?.isNull == (status != .ok))
        }
    }

    @Test func `what a bulk call did before it stopped can be seen in the account's revision`()
        async throws
    {
        let guest = try await Guest(.vaultwarden)
        let id = try await guest.make()
        for (method, path) in [
            (HTTP.Method.put, "delete"), (.put, "restore"), (.put, "move"), (.post, "delete"),
        ] {
            let before = try await guest.revisionDate()
            guest.clock.advance(bySeconds: 1)
            let body = #"{"ids":["\#(id)","\#(Self.nobody)"],"folderId":null}"#
            let answer = try await guest.ask(method, "/api/ciphers/\(path)", body)
            #expect(answer.status == .badRequest)
            #expect(try await guest.revisionDate() > before, "\(method) \(path)")
            let nothing = #"{"ids":["\#(Self.nobody)"],"folderId":null}"#
            let after = try await guest.revisionDate()
            guest.clock.advance(bySeconds: 1)
            _ = try await guest.ask(method, "/api/ciphers/\(path)", nothing)
            #expect(try await guest.revisionDate() == after, "\(method) \(path)")
        }
    }

    @Test(arguments: [
        (HTTP.Method.put, "/delete", "soft delete"), (.put, "/restore", "restore"),
        (.delete, "", "delete"), (.post, "/delete", "delete"), (.put, "/move", "move"),
        (.put, "/archive", "archive"), (.put, "/unarchive", "unarchive"),
    ])
    func `a bulk call may name so many items on the one server`(
        _ method: HTTP.Method,
        _ path: String,
        _ word: String
    ) async throws {
        func ask(_ personality: Personality, _ count: Int) async throws -> String? {
            let ids = [String](repeating: "\"\(Self.nobody)\"", count: count)
            let body = "{\"ids\":[\(ids.joined(separator: ","))],\"folderId\":null}"
            return try await Guest(personality).ask(method, "/api/ciphers\(path)", body).message
        }
        let refusal = "You can only \(word) up to 500 items at a time."
        #expect(try await ask(.bitwarden, 501) == refusal)
        #expect(try await ask(.bitwarden, 500) != refusal)
        #expect(try await ask(.vaultwarden, 501) == "Cipher doesn't exist")
    }

    @Test func `an import is done whole or not at all, or item by item`() async throws {
        for (personality, count) in [(Personality.bitwarden, 0), (.vaultwarden, 1)] {
            let guest = try await Guest(personality)
            let before = try await guest.revisionDate()
            guest.clock.advance(bySeconds: 1)
            let items = #"[\#(Guest.login()),{"type":99,"name":"x"}]"#
            let body = #"{"ciphers":\#(items),"folders":[{"name":"\#(Guest.sealed)"}]}"#
            let answer = try await guest.ask(.post, "/api/ciphers/import", body)
            #expect(answer.status == .badRequest)
            let sync = try await guest.ask(.get, "/api/sync").json
            #expect(sync["ciphers"]?.array?.count == count)
            #expect(sync["folders"]?.array?.count == count)
            #expect((try await guest.revisionDate() > before) == (count > 0))
        }
    }

    @Test func `an import has its limits on the one server`() async throws {
        let folder = #"{"name":"\#(Guest.sealed)"}"#
        let folders = [String](repeating: folder, count: 2_001).joined(separator: ",")
        let body = #"{"ciphers":[],"folders":[\#(folders)]}"#
        let strict = try await Guest(.bitwarden).ask(.post, "/api/ciphers/import", body)
        #expect(strict.status == .badRequest)
        #expect(strict.message == "You cannot import this much data at once.")
        let lax = try await Guest(.vaultwarden).ask(.post, "/api/ciphers/import", body)
        #expect(lax.status == .ok)
    }

    @Test func `who still has a token of an account that is gone is told by its revision, or not`()
        async throws
    {
        for (personality, isTold) in [(Personality.bitwarden, true), (.vaultwarden, false)] {
            let guest = try await Guest(personality)
            _ = try await guest.make()
            let proof = #"{"masterPasswordHash":"hash"}"#
            let wrong = #"{"masterPasswordHash":"other"}"#
            #expect(try await guest.ask(.delete, "/api/accounts", wrong).status == .badRequest)
            #expect(try await guest.ask(.delete, "/api/accounts", proof).status == .ok)
            let answer = try await guest.ask(.get, "/api/accounts/revision-date")
            #expect(answer.json.int == (isTold ? -62_135_596_800_000 : nil))
            #expect(answer.status == (isTold ? .ok : .unauthorized))
            #expect(try await guest.ask(.get, "/api/sync").status == .unauthorized)
            await #expect(throws: Unexpected.self) { try await guest.friend() }
            // The address is free again, and nothing of the old account is there.
            let next = try await guest.friend(guest.email)
            #expect(try await next.ask(.get, "/api/sync").json["ciphers"]?.array?.count == 0)
        }
    }

    @Test func `trashing what is in the trash changes its dates on the one server only`()
        async throws
    {
        for personality in [Personality.bitwarden, .vaultwarden] {
            let guest = try await Guest(personality)
            let id = try await guest.make()
            _ = try await guest.ask(.put, "/api/ciphers/\(id)/delete")
            let first = try await guest.cipher(id)
            _ = try await guest.ask(.put, "/api/ciphers/\(id)/delete")
            let second = try await guest.cipher(id)
            let isSame = first["deletedDate"]?.string == second["deletedDate"]?.string
            #expect(isSame == (personality.name == .bitwarden))
            let isOneInstant = first["deletedDate"]?.string == first["revisionDate"]?.string
            #expect(isOneInstant == (personality.name == .bitwarden))
        }
    }

    @Test func `after a new security stamp a token is worth nothing, or can only not be renewed`()
        async throws
    {
        for (personality, status) in [
            (Personality.bitwarden, Status.ok), (.vaultwarden, .unauthorized),
        ] {
            let guest = try await Guest(personality)
            let proof = #"{"masterPasswordHash":"hash"}"#
            _ = try await guest.ask(.post, "/api/accounts/security-stamp", proof)
            #expect(try await guest.ask(.get, "/api/sync").status == status)
            let renewal = "grant_type=refresh_token&refresh_token=\(guest.refreshToken)"
            let answer = try await guest.ask(.post, "/identity/connect/token", renewal)
            #expect(answer.status == .badRequest)
            #expect(answer.json["error"]?.string == "invalid_grant")
        }
    }

    @Test func `without a token there is an empty body or a page`() async throws {
        for (personality, isEmpty) in [(Personality.bitwarden, true), (.vaultwarden, false)] {
            var guest = try await Guest(personality)
            guest.token = "wrong"
            let answer = try await guest.ask(.get, "/api/sync")
            #expect(answer.status == .unauthorized)
            #expect(answer.body.isEmpty == isEmpty)
        }
    }

    @Test func `a token ends after its time`() async throws {
        for (personality, seconds) in [
            (Personality.bitwarden, Int64(3_600)), (.vaultwarden, 7_200),
        ] {
            let guest = try await Guest(personality)
            guest.clock.advance(bySeconds: seconds - 1)
            #expect(try await guest.ask(.get, "/api/sync").status == .ok)
            guest.clock.advance(bySeconds: 2)
            #expect(try await guest.ask(.get, "/api/sync").status == .unauthorized)
        }
    }

    @Test func `a log-in without a version, and the key items that it is not shown`() async throws {
        var strict = try await Guest(.bitwarden)
        strict.token = ""
        let refused = try await strict.ask(
            .post,
            "/identity/connect/token",
            "grant_type=password",
            version: nil
        )
        #expect(refused.json["error"]?.string == "version_header_missing")
        let lax = try await Guest(.vaultwarden)
        let key = Guest.sealed
        let body = """
            {"type":5,"name":"\(key)","sshKey":{"privateKey":"\(key)","publicKey":"\(key)",
            "keyFingerprint":"\(key)"}}
            """
        #expect(try await lax.ask(.post, "/api/ciphers", body).status == .ok)
        for (version, count) in [(nil, 0), ("2024.11.0", 0), ("2024.12.0", 1)] as [(String?, Int)] {
            let sync = try await lax.ask(.get, "/api/sync", version: version).json
            #expect(sync["ciphers"]?.array?.count == count, "\(version ?? "none")")
        }
    }

    @Test(arguments: [
        ("name", String(repeating: "A", count: 1_004), "Name"),
        ("name", "plain text", "Name"), ("notes", String(repeating: "A", count: 10_004), "Notes"),
    ])
    func `one server holds texts to a length and a shape`(
        _ member: String,
        _ text: String,
        _ field: String
    ) async throws {
        let sealed = text.first == "A" ? "2.\(text)==|AAAA|AAAA" : text
        let name = member == "name" ? sealed : Guest.sealed
        let more = member == "notes" ? #","notes":"\#(sealed)""# : ""
        let strict = try await Guest(.bitwarden)
        let refused = try await strict.ask(
            .post,
            "/api/ciphers",
            Guest.login(name, more: more)
        )
        #expect(refused.status == .badRequest)
        #expect(refused.json["validationErrors"]?[field] != nil)
        let lax = try await Guest(.vaultwarden)
        let answer = try await lax.ask(.post, "/api/ciphers", Guest.login(name, more: more))
        #expect(answer.status == (member == "notes" ? .badRequest : .ok))
    }

    @Test func `what was encrypted for somebody else is refused on the one server only`()
        async throws
    {
        for (personality, status) in [
            (Personality.bitwarden, Status.badRequest), (.vaultwarden, .ok),
        ] {
            let guest = try await Guest(personality)
            let more = #","encryptedFor":"\#(Self.nobody)""#
            let answer = try await guest.ask(.post, "/api/ciphers", Guest.login(more: more))
            #expect(answer.status == status)
        }
    }

    @Test func `whoever sends an answer back with its content in it twice keeps the old one`()
        async throws
    {
        let guest = try await Guest(.bitwarden)
        let id = try await guest.make()
        let former = try await guest.cipher(id)
        let body = String(decoding: former.raw.bytes, as: UTF8.self)
            .replacing("\"name\":\"\(Guest.sealed)\"", with: "\"name\":\"2.b|b|b\"")
        #expect(body.contains("2.b|b|b"))
        #expect(try await guest.ask(.put, "/api/ciphers/\(id)", body).status == .ok)
        let cipher = try await guest.cipher(id)
        for member in ["name", "notes", "login", "fields", "passwordHistory", "data"] {
            #expect(cipher[member]?.raw == former[member]?.raw, "\(member)")
        }
        #expect(cipher["name"]?.string == Guest.sealed)
    }

    @Test func `a sealed text wins over everything beside it`() async throws {
        let guest = try await Guest(.bitwarden)
        let id = try await guest.make(more: #","data":"{\"format_version\":1}""#)
        let cipher = try await guest.cipher(id)
        #expect(cipher["name"]?.isNull == true)
        #expect(cipher["login"]?.isNull == true)
        #expect(cipher["data"]?.string == #"{"format_version":1}"#)
    }

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `every change of an item moves the account's revision`(
        _ personality: Personality
    ) async throws {
        let guest = try await Guest(personality)
        let id = try await guest.make()
        for (method, path, body) in [
            (HTTP.Method.put, "", Guest.login()), (.put, "/partial", #"{"favorite":true}"#),
            (.put, "/delete", ""), (.put, "/restore", ""), (.put, "/archive", ""),
            (.put, "/unarchive", ""), (.delete, "", ""),
        ] {
            let before = try await guest.revisionDate()
            guest.clock.advance(bySeconds: 1)
            let answer = try await guest.ask(method, "/api/ciphers/\(id)\(path)", body)
            #expect(answer.status == .ok, "\(path)")
            #expect(try await guest.revisionDate() > before, "\(method) \(path)")
        }
    }

    @Test func `an unknown address is told settings, always the same`() async throws {
        for (personality, isUsual) in [(Personality.bitwarden, false), (.vaultwarden, true)] {
            let guest = try await Guest(personality)
            var told: Set<JSON.Raw> = []
            for name in ["a", "b", "c", "d", "e", "f", "a"] {
                let body = #"{"email":"\#(name)@example.org"}"#
                let answer = try await guest.ask(.post, "/identity/accounts/prelogin", body)
                #expect(answer.status == .ok)
                told.insert(answer.json.raw.copy)
            }
            #expect((told.count == 1) == isUsual)
        }
    }

    @Test func `a device that nobody knows needs the code that was mailed`() async throws {
        let guest = try await Guest(.bitwarden)
        guest.clock.advance(bySeconds: 86_401)
        await #expect(throws: Unexpected.self) { try await guest.friend(device: "new") }
        let path = "/_faults/mail/guest@example.com"
        let code = try #require(try await guest.ask(.get, path).json["code"]?.string)
        var other = guest
        try await other.logIn(device: "new", more: "&newDeviceOtp=\(code)")
        #expect(!other.token.isEmpty)
        let lax = try await Guest(.vaultwarden)
        lax.clock.advance(bySeconds: 86_401)
        _ = try await lax.friend(device: "new")
    }
}
