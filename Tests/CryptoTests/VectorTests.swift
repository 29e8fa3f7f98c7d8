import Testing

@testable import Crypto

/// Every vector of the fixture is checked: a section without a check fails, and each check goes
/// through all that its section holds.
struct VectorTests {
    typealias Check = @Sendable (JSON) throws -> Void

    private static let checks: [String: Check] = [
        "kdf": each(masterKey),
        "master_password_hash": each(passwordHash),
        "stretch": each(stretch),
        "hkdf_expand_sha256": each(expand),
        "shareable_key": each(shareableKey),
        "aes_cbc_hmac": each(aes),
        "encstring_parse": each(parse),
        "encstring_reject": each(reject),
        "encstring_type2": each(typeTwo),
        "legacy_user_key_type0": each(legacyUserKey),
        "rsa": rsa,
        "account_chain": accountChain,
        "per_cipher_key": each(perCipherKey),
        "login_item": loginItem,
        "uri_checksum": each(uriChecksum),
        "totp": each(oneTimePassword),
        "base32_lenient": each(base32),
        "otpauth_label": each(label),
        "key_thumbprint": each(thumbprint),
        "v2": versionTwo,
    ]

    /// `_about` describes the file; `signalr` is no cryptography and belongs to the wire.
    private static let others: Set = ["_about", "signalr"]

    @Test(arguments: Vectors.sections.keys.sorted().filter { !others.contains($0) })
    func `the vectors are answered as known`(_ section: String) throws {
        let check = try #require(Self.checks[section], "Nobody checks \(section).")
        try check(Vectors[section])
    }

    @Test func `the fixture holds all sections`() {
        #expect(Set(Vectors.sections.keys) == Set(Self.checks.keys).union(Self.others))
    }

    private static func each(_ check: @escaping Check) -> Check {
        { section in
            let isEmpty = section.elements.isEmpty
            try #require(!isEmpty)
            for vector in section.elements { try check(vector) }
        }
    }

    // MARK: Derivation

    private static func derivation(_ vector: JSON) throws -> KeyDerivation {
        try KeyDerivation(
            kdf: #require(vector["kdf"].number),
            iterations: #require(vector["iterations"].number),
            memory: vector["memory_mib"].number,
            parallelism: vector["parallelism"].number
        )
    }

    private static func derive(_ vector: JSON, salt: String) throws -> MasterKey {
        try MasterKey(
            password: Secret(utf8: #require(vector["password"].text)),
            salt: salt,
            derivation: derivation(vector)
        )
    }

    private static func masterKey(_ vector: JSON) throws {
        let key = try derive(vector, salt: #require(vector["salt"].text))
        #expect(key.bytes == vector["master_key"].bytes)
    }

    private static func passwordHash(_ vector: JSON) throws {
        let salt = KeyDerivation.salt(server: nil, email: try #require(vector["email"].text))
        #expect(salt == vector["salt"].text)
        #expect(try derive(vector, salt: salt).serverHash == vector["hash_b64"].text)
    }

    private static func stretch(_ vector: JSON) throws {
        let key = try MasterKey(
            key: Secret(#require(vector["master_key"].bytes)),
            password: Secret(utf8: "")
        )
        #expect(
            try key.stretched().bytes
                == #require(vector["enc"].bytes) + #require(vector["mac"].bytes)
        )
    }

    private static func expand(_ vector: JSON) throws {
        let key = Secret(try #require(vector["prk"].bytes))
        let info = try #require(vector["info"].text)
        let expanded = try key.expanded(info, count: #require(vector["length"].number))
        #expect(expanded.revealedBytes() == vector["okm"].bytes)
    }

    private static func shareableKey(_ vector: JSON) throws {
        let key = try SymmetricKey(
            shared: Secret(utf8: #require(vector["secret"].text)),
            name: #require(vector["name"].text),
            info: vector["info"].text
        )
        #expect(key.base64 == vector["key_b64"].text)
    }

    // MARK: EncStrings

    private static func aes(_ vector: JSON) throws {
        let bytes = try #require(vector["key"].bytes)
        let plaintext = vector["plaintext"].bytes
        let sealed = try #require(vector["iv"].bytes) + (vector["mac"].bytes ?? [])
        let ciphertext = try #require(vector["ciphertext"].bytes)
        guard vector["mac"] != .null else {
            let legacy = Sealer(SymmetricKey(unchecked: Secret(Array(bytes.prefix(32)))))
            #expect(try legacy.open(buffer: [0] + sealed + ciphertext).revealedBytes() == plaintext)
            return
        }
        let sealer = Sealer(try SymmetricKey(bytes))
        #expect(try sealer.open(buffer: [2] + sealed + ciphertext).revealedBytes() == plaintext)
        var forged = sealed
        forged[16] ^= 1
        #expect(throws: CryptoError.notAuthentic) {
            try sealer.open(buffer: [2] + forged + ciphertext).count
        }
    }

    private static func parse(_ vector: JSON) throws {
        let text = try #require(vector["encstring"].text)
        guard vector["error"] == .null else {
            #expect(throws: CryptoError.self) { try EncString(text) }
            return
        }
        let parsed = try EncString(text)
        #expect(Int(parsed.kind.rawValue) == vector["type"].number)
        #expect(parsed.iv == vector["iv"].bytes)
        #expect(parsed.ciphertext == vector["data"].bytes)
        #expect(parsed.mac == vector["mac"].bytes ?? [])
    }

    private static func reject(_ vector: JSON) throws {
        let sealer = try Sealer(base64: #require(vector["key_b64"].text))
        let text = try #require(vector["encstring"].text)
        #expect(throws: CryptoError.downgrade) { try sealer.open(text) }
    }

    private static func typeTwo(_ vector: JSON) throws {
        let sealer = try Sealer(base64: #require(vector["key_b64"].text))
        let sealed = try #require(vector["encstring"].text)
        let text = try sealer.open(sealed)
        #expect(text == vector["plaintext"].text ?? text)
        #expect(sealed.utf8.count == Sealer.textCount(sealing: text.utf8.count))
        guard let code = vector["totp_code"].text else { return }
        let now = seconds(of: try #require(vector["totp_at"].text))
        #expect(try OneTimePassword(text).code(atSeconds: now) == code)
    }

    private static func legacyUserKey(_ vector: JSON) throws {
        let master =
            if let bytes = vector["master_key_b64"].text {
                try MasterKey(key: Secret(Base64.bytes(of: bytes)), password: Secret(utf8: ""))
            } else {
                try derive(vector, salt: #require(vector["email"].text))
            }
        let user = try master.unwrapUserKey(#require(vector["wrapped"].text))
        #expect(user.bytes == vector["user_key"].bytes)
        guard let wrapped = vector["wrapped_private_key"].text else { return }
        let key = try PrivateKey(pkcs8: Sealer(user).openSecret(wrapped))
        #expect(try !key.publicKey().isEmpty)
    }

    private static func perCipherKey(_ vector: JSON) throws {
        var sealer = try Sealer(base64: #require(vector["user_key_b64"].text))
        for wrapped in [vector["cipher_key"].text, vector["attachment_key"].text] {
            if let wrapped { sealer = Sealer(try sealer.unwrapKey(wrapped)) }
        }
        let buffer = try Base64.bytes(of: #require(vector["file_buffer_b64"].text))
        let file = try sealer.open(buffer: buffer)
        #expect(Base64.text(of: file.revealedBytes()) == vector["file_plain_b64"].text)
    }

    // MARK: Codes and identifiers

    private static func uriChecksum(_ vector: JSON) throws {
        let checksum = URIChecksum.of(try #require(vector["uri"].text))
        #expect((checksum == vector["checksum_b64"].text) == (vector["valid"] != .bool(false)))
    }

    private static func oneTimePassword(_ vector: JSON) throws {
        let password = try OneTimePassword(#require(vector["key"].text))
        let now = seconds(of: try #require(vector["at"].text))
        #expect(try password.code(atSeconds: now) == vector["code"].text)
        #expect(Int(password.periodSeconds) == vector["period"].number)
    }

    private static func base32(_ vector: JSON) throws {
        let secret = Base32.secret(of: try #require(vector["text"].text))
        #expect(secret.revealedBytes() == vector["bytes"].bytes)
    }

    private static func label(_ vector: JSON) throws {
        let password = try OneTimePassword(#require(vector["key"].text))
        #expect(password.account == vector["account"].text)
        #expect(password.issuer == vector["issuer"].text)
    }

    private static func thumbprint(_ vector: JSON) throws {
        let bytes = try vector["key"].bytes ?? symmetricPart(ofCOSE: vector["cose_key_b64"])
        let thumbprint = bytes.withUnsafeBytes { KeyID.thumbprint(of: $0) }
        #expect(thumbprint == vector["thumbprint"].bytes)
        guard bytes.count == SymmetricKey.count else { return }
        #expect(try SymmetricKey(bytes).id.description == vector["key_id"].text)
    }

    /// The value behind label -1, of 32 bytes.
    private static func symmetricPart(ofCOSE key: JSON) throws -> [UInt8] {
        let bytes = try Base64.bytes(of: #require(key.text))
        let start = try #require(
            bytes.indices.dropLast(34).first { Array(bytes[$0..<$0 + 3]) == [0x20, 0x58, 0x20] }
        )
        return Array(bytes[start + 3..<start + 35])
    }
}

extension MasterKey {
    fileprivate var bytes: [UInt8] { legacyKey().bytes }
}
