import HTTP
import JSON
import Testing

@testable import EmbeddedUpstream

struct FileTests {
    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `a file is announced, sent, listed, fetched and deleted`(
        _ personality: Personality
    ) async throws {
        let guest = try await Guest(personality)
        let id = try await guest.make()
        let before = try await guest.cipher(id)["revisionDate"]?.string
        let file = try await guest.attach("content", to: id)
        let cipher = try await guest.cipher(id)
        #expect(cipher["attachments"]?[0]?["id"]?.string == file)
        #expect(cipher["attachments"]?[0]?["size"]?.string == "7")
        let hasMoved = cipher["revisionDate"]?.string != before
        #expect(hasMoved == (personality.name == .bitwarden))
        #expect(try await guest.download(file, of: id) == "content")
        let deleted = try await guest.ask(.delete, "/api/ciphers/\(id)/attachment/\(file)")
        #expect(deleted.json["cipher"]?["attachments"]?.isNull == true)
    }

    @Test func `one server says of a file's address only the half`() async throws {
        let wish = #"{"key":"\#(Guest.sealed)","fileName":"\#(Guest.sealed)","fileSize":1}"#
        for personality in [Personality.bitwarden, .vaultwarden] {
            let guest = try await Guest(personality)
            let id = try await guest.make()
            let told = try await guest.ask(.post, "/api/ciphers/\(id)/attachment/v2", wish).json
            let half = "\(id)/attachment/\(try #require(told["attachmentId"]?.string))"
            let isWhole = personality.name == .vaultwarden
            #expect(told["url"]?.string == (isWhole ? "/ciphers/" + half : half))
        }
    }

    @Test func `a file is fetched with its own token and no other`() async throws {
        let guest = try await Guest(.vaultwarden)
        let id = try await guest.make()
        let file = try await guest.attach("content", to: id)
        for token in ["", "?token=", "?token=wrong"] {
            let answer = try await guest.ask(.get, "/attachments/\(id)/\(file)\(token)")
            #expect(!answer.status.isSuccess, "\(token)")
        }
    }

    @Test func `a file whose size is another than announced is refused where that counts`()
        async throws
    {
        let guest = try await Guest(.bitwarden)
        let id = try await guest.make()
        await #expect(throws: Unexpected.self) {
            try await guest.attach("content", to: id, announced: 6)
        }
        let lax = try await Guest(.vaultwarden)
        _ = try await lax.attach("content", to: try await lax.make(), announced: 6)
    }

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `one server takes a file for the newest copy of its item only`(
        _ personality: Personality
    ) async throws {
        let guest = try await Guest(personality)
        let id = try await guest.make()
        let known = try #require(try await guest.cipher(id)["revisionDate"]?.string)
        let isStrict = personality.name == .bitwarden
        for (date, isTaken) in [("2001-01-01T00:00:00Z", !isStrict), (known, true)] {
            let wish = """
                {"key":"\(Guest.sealed)","fileName":"\(Guest.sealed)","fileSize":1,
                "lastKnownRevisionDate":"\(date)"}
                """
            let answer = try await guest.ask(.post, "/api/ciphers/\(id)/attachment/v2", wish)
            #expect((answer.status == .ok) == isTaken, "\(answer.text)")
            #expect(isTaken || answer.message?.contains("out of date") == true)
        }
    }

    @Test(
        arguments: [Personality.bitwarden, .vaultwarden],
        [-1, 550_502_401, .max / 100 + 1, .max]
    )
    func `a file of less than no bytes, or of more than a server takes, is refused`(
        _ personality: Personality,
        _ size: Int
    ) async throws {
        let guest = try await Guest(personality)
        let id = try await guest.make()
        let wish = #"{"key":"\#(Guest.sealed)","fileName":"\#(Guest.sealed)","fileSize":\#(size)}"#
        let answer = try await guest.ask(.post, "/api/ciphers/\(id)/attachment/v2", wish)
        #expect(!answer.status.isSuccess)
        #expect(try await guest.cipher(id)["attachments"]?.isNull == true)
    }

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `keys of files are wrapped anew when their item goes to an organisation`(
        _ personality: Personality
    ) async throws {
        let guest = try await Guest(personality)
        let id = try await guest.make()
        let file = try await guest.attach("content", to: id)
        let firm = #"{"name":"Firm","key":"4.AAAA","collectionName":"2.n"}"#
        let made = try await guest.ask(.post, "/api/organizations", firm).json["id"]?.string ?? ""
        let list = try await guest.ask(.get, "/api/collections").json["data"]
        let collection = list?[0]?["id"]?.string ?? ""
        let more =
            #","organizationId":"\#(made)","attachments2":{"\#(file)":{"fileName":"#
            + #""\#(Guest.sealed)","key":"\#(Guest.sealed)"}}"#
        let body = #"{"cipher":\#(Guest.login(more: more)),"collectionIds":["\#(collection)"]}"#
        #expect(try await guest.ask(.put, "/api/ciphers/\(id)/share", body).status == .ok)
        let shared = try await guest.cipher(id)["attachments"]?[0]
        #expect(shared?["key"]?.string == Guest.sealed)
        #expect(shared?["fileName"]?.string == Guest.sealed)
    }

    @Test func `one server does not take the list of files that it has answered with`()
        async throws
    {
        for personality in [Personality.bitwarden, .vaultwarden] {
            let guest = try await Guest(personality)
            let id = try await guest.make()
            _ = try await guest.attach("content", to: id)
            let files = try #require(try await guest.cipher(id)["attachments"]?.raw)
            let text = String(decoding: files.bytes, as: UTF8.self)
            let body = Guest.login(more: #","attachments":\#(text)"#)
            let answer = try await guest.ask(.put, "/api/ciphers/\(id)", body)
            #expect((answer.status == .ok) == (personality.name == .vaultwarden))
            #expect(try await guest.cipher(id)["attachments"]?.array?.count == 1)
        }
    }

    @Test func `keys are wrapped anew where that is said, and forgotten where only names are`()
        async throws
    {
        let guest = try await Guest(.bitwarden)
        let id = try await guest.make()
        let file = try await guest.attach("content", to: id)
        let sealed = Guest.sealed
        let anew = #","attachments2":{"\#(file)":{"fileName":"\#(sealed)","key":"\#(sealed)"}}"#
        _ = try await guest.ask(.put, "/api/ciphers/\(id)", Guest.login(more: anew))
        #expect(try await guest.cipher(id)["attachments"]?[0]?["key"]?.string == sealed)
        let names = #","attachments":{"\#(file)":"\#(sealed)"}"#
        _ = try await guest.ask(.put, "/api/ciphers/\(id)", Guest.login(more: names))
        #expect(try await guest.cipher(id)["attachments"]?[0]?["key"]?.isNull == true)
    }
}
