import JSON
import System

/// Sync bodies that look like a real one: same members, same lengths, nothing in them.
enum SyncBody {
    static func bytes(ciphers count: Int) -> [UInt8] {
        let body = JSON.Raw.object(capacity: count * 2_200) { body in
            body.add("object", "sync")
            body.object("profile") { $0.add("id", id(0)) }
            body.array("folders") { $0.object { $0.add("id", id(1)) } }
            body.array("ciphers") { ciphers in
                for number in 0..<count { ciphers.add(Cipher(number: number)) }
            }
            body.array("sends") { _ in }
        }
        return Array(body.bytes)
    }

    static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        let tail = String(repeating: "0", count: 12 - digits.count) + digits
        return "0553b326-4054-424c-bf2d-" + tail
    }

    /// As long as an encrypted string of that many bytes, and with its letters.
    static func encrypted(_ seed: Int, length: Int) -> String {
        let chance = SeededChance(seed: UInt64(seed))
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        func base64(_ count: Int) -> String {
            var bits = chance.next()
            return String(
                (0..<count).map { _ in
                    bits = bits &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return letters[Int(bits >> 58)]
                }
            )
        }
        return "2.\(base64(22))==|\(base64(length))|\(base64(43))="
    }

    struct URI {
        var uri: String?
        var match: Int?
    }

    struct Field {
        var type = 0
        var name: String?
        var value: String?
    }

    struct Former {
        var password: String?
        var lastUsedDate: String?
    }

    struct Login {
        var username: String?
        var password: String?
        var totp: String?
        var uris: [URI] = []
    }

    struct Cipher {
        var id = ""
        var organizationID: String?
        var folderID: String?
        var revisionDate: String?
        var creationDate: String?
        var deletedDate: String?
        var key: String?
        var name: String?
        var notes: String?
        var type = 0
        var reprompt = 0
        var isFavorite = false
        var login: Login?
        var fields: [Field] = []
        var passwordHistory: [Former] = []
    }
}
