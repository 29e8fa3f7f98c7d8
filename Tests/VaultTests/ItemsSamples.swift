import Crypto
import JSON
import System
import Testing

@testable import Vault

/// An account with keys of its own, and items sealed for it.
struct Samples {
    let entropy: SeededChance
    let keys: KeyRing
    static let now = Moment(ticks: 17_681_155_649_012_345)  // 2026-01-11T07:12:44.901Z

    init(seed: UInt64 = 1) throws {
        entropy = SeededChance(seed: seed)
        keys = try KeyRing(
            user: SymmetricKey(from: entropy),
            account: WrappedKeys(privateKey: nil),
            entropy: entropy
        )
    }

    func body(_ json: String) throws -> ItemBody { try ItemBody(Array(json.utf8)) }

    func cipher(_ json: String, id: String? = "one", ownKey: Bool = true) throws -> Cipher {
        try Cipher(
            creating: body(json),
            id: id,
            hasOwnKey: ownKey,
            at: Self.now,
            keys: keys,
            entropy: entropy
        )
    }

    func item(_ json: String, ownKey: Bool = true) throws -> Item {
        Item(try cipher(json, ownKey: ownKey), keys: keys)
    }

    func edited(_ item: Item, _ json: String) throws -> Edited {
        try item.edited(by: body(json), at: Self.now, keys: keys, entropy: entropy)
    }

    /// The strings of the cipher's JSON, by path.
    static func leaves(_ bytes: [UInt8]) throws -> [String: String] {
        var leaves: [String: String] = [:]
        func walk(_ value: JSON.Value, _ path: String) {
            for (index, element) in value.elements.enumerated() {
                walk(element, "\(path)[\(index)]")
            }
            for member in value.members { walk(member.value, path + "." + member.name.string) }
            if value.array == nil, value.object == nil {
                leaves[path] = String(decoding: value.raw.bytes, as: UTF8.self)
            }
        }
        walk(try JSON.Document(bytes).root, "")
        return leaves
    }

    static func text(_ item: Item) -> String {
        String(decoding: JSON.Raw(item).bytes, as: UTF8.self)
    }

    static func fixture(_ name: String) throws -> [UInt8] {
        let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        return try Files.read("/\(folder)/Fixtures/Items/\(name)")
    }

    /// Every ciphertext that a server answered with, as it spelled it.
    static var vaultwarden: [Cipher] {
        get throws {
            try JSON.Document(fixture("vaultwarden.json")).root.elements.map { try Cipher($0.raw) }
        }
    }
}

/// Every member that the API takes, none at its default.
enum Full {
    static let login = """
        {"type":1,"name":"Build server","notes":"rack 4","favorite":true,"reprompt":1,
         "folderId":"6d7d7c1a-2c6c-4a0e-8a5e-b1a1f20f9c02","organizationId":null,
         "fields":[{"name":"port","value":"8443","type":0,"linkedId":null},
                   {"name":"pin","value":"9912","type":1,"linkedId":null},
                   {"name":"on","value":"true","type":2,"linkedId":null},
                   {"name":"user","value":null,"type":3,"linkedId":100}],
         "login":{"fido2Credentials":[{"credentialId":"c1","keyType":"public-key",
           "keyAlgorithm":"ECDSA","keyCurve":"P-256","keyValue":"MIGH","rpId":"example.test",
           "userHandle":"aGFuZGxl","userName":"ada","counter":"7","rpName":"Example",
           "userDisplayName":"Ada L","discoverable":"true","creationDate":"2025-01-02T03:04:05.678Z"}],
          "uris":[{"match":3,"uri":"https://ci.example.test"},{"match":null,"uri":"https://b.test"}],
          "username":"ada","password":"c0rrect-horse","totp":"JBSWY3DPEHPK3PXP",
          "passwordRevisionDate":"2025-05-06T07:08:09.010Z"},
         "passwordHistory":[{"lastUsedDate":"2025-11-03T10:15:30.000Z","password":"old-one"},
                            {"lastUsedDate":"2025-10-03T10:15:30.000Z","password":"older"}],
         "archivedDate":"2026-01-09T00:00:00.000Z"}
        """
    static let note = """
        {"type":2,"name":"Note","notes":"text","secureNote":{"type":0}}
        """
    static let card = """
        {"type":3,"name":"Card","card":{"cardholderName":"A Lovelace","brand":"Visa",
         "number":"4111111111111111","expMonth":"7","expYear":"2031","code":"321"}}
        """
    static let identity = """
        {"type":4,"name":"Identity","identity":{"title":"Dr","firstName":"Ada","middleName":"B",
         "lastName":"Lovelace","address1":"1 Engine St","address2":"2","address3":"3",
         "city":"London","state":"L","postalCode":"N1","country":"GB","company":"C",
         "email":"ada@example.test","phone":"1","ssn":"2","username":"ada",
         "passportNumber":"3","licenseNumber":"4"}}
        """
    static let sshKey = """
        {"type":5,"name":"Key","sshKey":{"privateKey":"PRIVATE","publicKey":"ssh-ed25519 AAAA",
         "keyFingerprint":"SHA256:x"}}
        """
    static let all = [login, note, card, identity, sshKey]
}
