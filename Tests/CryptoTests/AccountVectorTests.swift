import Testing

@testable import Crypto

/// The vectors that tell a whole story: an account from its password to a file, and one item.
extension VectorTests {
    static func rsa(_ section: JSON) throws {
        #expect(Set(section.members.keys) == rsaMembers)
        let der = try Base64.bytes(of: #require(section["private_key_b64"].text))
        let key = try PrivateKey(pkcs8: Secret(der))
        let pem = try #require(section["private_key_pem"].text).split(separator: "\n")
        #expect(pem.dropFirst().dropLast().joined() == section["private_key_b64"].text)

        #expect(section["cases"].elements.count == 3)
        for vector in section["cases"].elements {
            let text = try #require(vector["encstring"].text)
            #expect(Int(try EncString(text).kind.rawValue) == vector["type"].number)
            #expect(hex(try key.open(text).revealedBytes()) == rsaPlaintext)
        }
        for vector in section["raw"].elements {
            let text = try "4." + #require(vector["ciphertext_b64"].text)
            #expect(try key.open(text).revealedText() == vector["plaintext"].text)
        }
    }

    private static let rsaMembers: Set = [
        "private_key_pem", "private_key_b64", "cases", "raw", "expected_key_rule",
    ]

    /// What `expected_key_rule` says in words: 64 bytes of ChaCha20 under SHA-256 of "test".
    private static let rsaPlaintext =
        "7d27e477be91d0464a7ce2ce3e54e48f3965f44b79a910acd0330cbf93bfe7a9"
        + "fa49684b813c1eec33abb9f2e9a70c515d49c063ed43ee3b26546f303b925d84"

    static func accountChain(_ section: JSON) throws {
        let (derived, wrapped) = (section["derived"], section["organization"])
        let salt = KeyDerivation.salt(server: nil, email: try #require(section["email"].text))
        let master = try MasterKey(
            password: Secret(utf8: #require(section["password"].text)),
            salt: salt,
            derivation: .pbkdf2(iterations: #require(section["iterations"].number))
        )
        #expect(master.legacyKey().bytes == derived["master_key"].bytes)
        #expect(master.serverHash == derived["master_password_hash_b64"].text)
        #expect(try master.stretched().bytes == derived["stretched_key"].bytes)

        let user = try master.unwrapUserKey(#require(section["wrapped_user_key"].text))
        #expect(user.base64 == derived["user_key_b64"].text)
        let organization = try #require(wrapped["id"].text)
        let account = WrappedKeys(
            privateKey: section["wrapped_private_key"].text,
            organizations: [organization: try #require(wrapped["key"].text)]
        )
        let ring = try KeyRing(user: user, account: account)
        let publicKey = ring.publicKey ?? []
        #expect(Base64.text(of: publicKey) == section["public_key_b64"].text)
        try organizationItem(
            wrapped["cipher"],
            under: #require(ring.owner(organizationID: organization))
        )
        let item = section["user_cipher"]
        #expect(try ring.user.open(#require(item["name"].text)) == item["name_plain"].text)
        try attachments(section, of: ring.user)
    }

    private static func organizationItem(_ item: JSON, under key: Sealer) throws {
        for (field, plain) in [
            ("name", "name_plain"), ("username", "username_plain_derived"),
            ("password", "password_plain_derived"),
        ] {
            #expect(try key.open(#require(item[field].text)) == item[plain].text)
        }
    }

    /// One from before there were attachment keys, under the user's key itself, and one with its own.
    private static func attachments(_ section: JSON, of user: Sealer) throws {
        let (old, new) = (section["attachment_legacy"], section["attachment_v2"])
        let own = Sealer(try user.unwrapKey(#require(new["key"].text)))
        for (attachment, key) in [(old, user), (new, own)] {
            let name = try user.open(#require(attachment["file_name"].text))
            #expect(name == attachment["file_name_plain"].text)
            let file = try key.open(buffer: #require(attachment["buffer"].bytes))
            #expect(try file.revealedText() == attachment["content"].text)
        }
    }

    static func loginItem(_ section: JSON) throws {
        let (item, plain) = (section["item"], section["plain"])
        let user = try Sealer(base64: #require(section["user_key_b64"].text))
        let key = try user.unwrapKey(#require(item["key"].text))
        #expect(key.base64 == section["cipher_key_b64"].text)
        let sealer = Sealer(key)
        let (login, field) = (item["login"], item["fields"].elements[0])
        let uri = login["uris"].elements[0]
        let pairs = [
            (item["name"], "name"), (item["notes"], "notes"), (login["username"], "username"),
            (login["password"], "password"), (login["totp"], "totp"), (uri["uri"], "uri"),
            (uri["uriChecksum"], "uriChecksum"), (field["name"], "field_name"),
            (field["value"], "field_value"),
            (item["passwordHistory"].elements[0]["password"], "history"),
        ]
        for (sealed, name) in pairs {
            #expect(try sealer.open(#require(sealed.text)) == plain[name].text)
        }
        #expect(Set(plain.members.keys) == Set(pairs.map(\.1) + ["fido2"]))
        let passkey = login["fido2Credentials"].elements[0]
        for (name, value) in plain["fido2"].members {
            #expect(try sealer.open(#require(passkey[name].text)) == value.text)
        }
        #expect(
            try plain["uriChecksum"].text == URIChecksum.of(#require(plain["uri"].text))
        )
    }

    /// What belongs to an account of version 2 is recognised and refused by that name.
    static func versionTwo(_ section: JSON) throws {
        let account = section["account"]
        let cose = try Base64.bytes(of: #require(account["user_key_b64"].text))
        #expect(
            refusal { () throws(CryptoError) in try SymmetricKey(Secret(cose)) }
                == .unsupported(.version2)
        )

        let user = SymmetricKey(from: SystemEntropy())
        for name in ["wrapped_private_key", "wrapped_signing_key"] {
            let wrapped = try #require(account[name].text)
            #expect(try EncString(wrapped).kind == .cose)
            let keys = WrappedKeys(privateKey: wrapped)
            #expect(throws: CryptoError.unsupported(.version2)) {
                try KeyRing(user: user.duplicate(), account: keys)
            }
        }
        let sealed = section["sealed_blob"]
        let data = try #require(sealed["data"].text)
        let wrappedKey = try #require(data.split(separator: "\"").first { $0.hasPrefix("2.") })
        let wrapping = try Sealer(base64: #require(sealed["wrapping_key_b64"].text))
        #expect(
            refusal { () throws(CryptoError) in try wrapping.unwrapKey(String(wrappedKey)) }
                == .unsupported(.version2)
        )
    }
}
