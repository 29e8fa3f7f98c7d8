import HTTP
import JSON
import Testing

@testable import EmbeddedUpstream

struct KeyRotationTests {
    private static func rotation(
        _ ciphers: [String],
        hash: String = "hash",
        more: String = "",
        sends: String = ""
    ) -> String {
        let items = ciphers.map { id in
            #"{"id":"\#(id)","#
                + Guest.login(more: #","key":"\#(Guest.sealed)"\#(more)"#).dropFirst()
        }
        return """
            {"oldMasterKeyAuthenticationHash":"\(hash)","accountUnlockData":{
              "masterPasswordUnlockData":{"masterKeyAuthenticationHash":"new hash",
              "masterKeyEncryptedUserKey":"2.n|e|w","containedKeyId":"key-2"}},
            "accountKeys":{"userKeyEncryptedAccountPrivateKey":"2.p|p|p","accountPublicKey":"pub"},
            "accountData":{"ciphers":[\(items.joined(separator: ","))],"folders":[],"sends":[\(sends)]}}
            """
    }

    private let path = "/api/accounts/key-management/rotate-user-account-keys"

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `every item gets a new date and content, and everybody has to log in again`(
        _ personality: Personality
    ) async throws {
        let guest = try await Guest(personality)
        let ids = [try await guest.make(), try await guest.make()]
        let before = try await guest.cipher(ids[0])["revisionDate"]?.string
        #expect(try await guest.ask(.post, path, Self.rotation(ids)).status == .ok)
        let renewal = "grant_type=refresh_token&refresh_token=\(guest.refreshToken)"
        let refused = try await guest.ask(.post, "/identity/connect/token", renewal)
        #expect(refused.json["error"]?.string == "invalid_grant")
        var again = guest
        try await again.logIn(hash: "new+hash")
        let cipher = try await again.cipher(ids[0])
        #expect(cipher["key"]?.string == Guest.sealed)
        #expect(cipher["revisionDate"]?.string != before)
        let profile = try await again.ask(.get, "/api/accounts/profile").json
        #expect(profile["key"]?.string == "2.n|e|w")
        #expect(profile["privateKey"]?.string == "2.p|p|p")
    }

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `files and sends are under the new key, too, and no send is left out`(
        _ personality: Personality
    ) async throws {
        let guest = try await Guest(personality)
        let id = try await guest.make()
        let file = try await guest.attach("content", to: id)
        let body =
            #"{"type":0,"key":"2.o|l|d","name":"2.n|n|n","text":{"text":"2.t|t|t"},"#
            + #""deletionDate":"2200-01-01T00:00:00.000Z"}"#
        let made = try await guest.ask(.post, "/api/sends", body).json
        let send = try #require(made["id"]?.string)
        let files = #","attachments2":{"\#(file)":{"fileName":"2.f|f|f","key":"\#(Guest.sealed)"}}"#
        let without = Self.rotation([id], more: files)
        #expect(try await guest.ask(.post, path, without).status != .ok)
        let sends = #"{"id":"\#(send)","key":"2.n|e|w"}"#
        let whole = Self.rotation([id], more: files, sends: sends)
        #expect(try await guest.ask(.post, path, whole).status == .ok)
        var again = guest
        try await again.logIn(hash: "new+hash")
        let attachment = try await again.cipher(id)["attachments"]?[0]
        #expect(attachment?["key"]?.string == Guest.sealed)
        #expect(attachment?["fileName"]?.string == "2.f|f|f")
        let shown = try await again.ask(.get, "/api/sends/\(send)").json
        #expect(shown["key"]?.string == "2.n|e|w")
        #expect(shown["name"]?.string == "2.n|n|n")
    }

    @Test func `what leaves out an item is refused whole, and so is a wrong password`() async throws
    {
        let guest = try await Guest(.bitwarden)
        let ids = [try await guest.make(), try await guest.make()]
        for body in [Self.rotation([ids[0]]), Self.rotation(ids, hash: "wrong")] {
            #expect(try await guest.ask(.post, path, body).status == .badRequest)
        }
        #expect(try await guest.cipher(ids[0])["key"]?.isNull == true)
    }

    @Test func `what is under the old key is refused afterwards, where that is looked at`()
        async throws
    {
        for (personality, status) in [
            (Personality.bitwarden, Status.badRequest), (.vaultwarden, .ok),
        ] {
            let guest = try await Guest(personality)
            let id = try await guest.make()
            _ = try await guest.ask(.post, path, Self.rotation([id]))
            var again = guest
            try await again.logIn(hash: "new+hash")
            for (key, wanted) in [("key-1", status), ("key-2", .ok)] {
                let more = #","encryptedByKeyId":"\#(key)""#
                let answer = try await again.ask(
                    .put,
                    "/api/ciphers/\(id)",
                    Guest.login(more: more)
                )
                #expect(answer.status == wanted, "\(personality), \(key)")
            }
        }
    }
}
