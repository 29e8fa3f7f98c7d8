import System
import Testing

@testable import Crypto

struct MasterKeyTests {
    private let password = "correct horse"
    private let floor = KeyDerivation.pbkdf2(iterations: 5_000)

    private func key(_ derivation: KeyDerivation? = nil) throws -> MasterKey {
        try MasterKey(
            password: Secret(utf8: password),
            salt: "user@example.com",
            derivation: derivation ?? floor
        )
    }

    @Test func `the numbers of the wire become a derivation`() throws {
        #expect(
            try KeyDerivation(kdf: 0, iterations: 600_000, memory: nil, parallelism: nil)
                == .pbkdf2(iterations: 600_000)
        )
        #expect(
            try KeyDerivation(kdf: 1, iterations: 3, memory: 64, parallelism: 4)
                == .argon2id(iterations: 3, mebibytes: 64, lanes: 4)
        )
        #expect(throws: CryptoError.unknownDerivation(2)) {
            try KeyDerivation(kdf: 2, iterations: 3, memory: 64, parallelism: 4)
        }
        #expect(throws: CryptoError.outOfBounds(.argon2Mebibytes, value: 0, allowed: 16...1_024)) {
            try KeyDerivation(kdf: 1, iterations: 3, memory: nil, parallelism: 4)
        }
    }

    @Test(arguments: [
        (KeyDerivation.pbkdf2(iterations: 4_999), false),
        (.pbkdf2(iterations: 5_000), true),
        (.pbkdf2(iterations: 10_000_000), true),
        (.pbkdf2(iterations: 10_000_001), false),
        (.pbkdf2(iterations: -1), false),
        (.pbkdf2(iterations: .max), false),
        (.argon2id(iterations: 1, mebibytes: 64, lanes: 4), false),
        (.argon2id(iterations: 2, mebibytes: 16, lanes: 1), true),
        (.argon2id(iterations: 33, mebibytes: 64, lanes: 4), false),
        (.argon2id(iterations: 3, mebibytes: 15, lanes: 4), false),
        (.argon2id(iterations: 32, mebibytes: 1_024, lanes: 16), true),
        (.argon2id(iterations: 3, mebibytes: 1_025, lanes: 4), false),
        (.argon2id(iterations: 3, mebibytes: 64, lanes: 0), false),
        (.argon2id(iterations: 3, mebibytes: 64, lanes: 17), false),
    ]) func `floors and ceilings hold`(_ derivation: KeyDerivation, _ isAccepted: Bool) {
        let refused = refusal { () throws(CryptoError) in try derivation.check() }
        #expect((refused == nil) == isAccepted)
        guard !isAccepted else { return }
        #expect(
            refusal { () throws(CryptoError) in
                try MasterKey(
                    password: Secret(utf8: password),
                    salt: "salt",
                    derivation: derivation
                )
            } == refused
        )
    }

    @Test func `Argon2id derives at its floor`() throws {
        let derivation = KeyDerivation.argon2id(iterations: 2, mebibytes: 16, lanes: 1)
        #expect(try key(derivation).serverHash == key(derivation).serverHash)
        #expect(try key(derivation).serverHash != key().serverHash)
    }

    @Test func `the salt is the upstream's, else the email`() {
        #expect(KeyDerivation.salt(server: " As Is ", email: "a@b.c") == " As Is ")
        #expect(
            KeyDerivation.salt(server: nil, email: "\t User@Example.COM\n") == "user@example.com"
        )
        #expect(KeyDerivation.salt(server: nil, email: "  ") == "")
    }

    @Test func `a wrong password does not open the account's key`() throws {
        let user = SymmetricKey(from: SeededChance(seed: 9))
        let right = try key()
        let wrapped = try Sealer(right.stretched()).wrap(user)
        #expect(try right.unwrapUserKey(wrapped).isEqual(to: user) == true)
        let wrong = try MasterKey(
            password: Secret(utf8: ""),
            salt: "user@example.com",
            derivation: floor
        )
        #expect(throws: CryptoError.notAuthentic) { try wrong.unwrapUserKey(wrapped).id }
    }

    @Test func `an empty password and an empty salt derive a key`() throws {
        let empty = try MasterKey(password: Secret(utf8: ""), salt: "", derivation: floor)
        #expect(try Base64.bytes(of: empty.serverHash).count == 32)
    }

    /// RFC 7914, section 11, and the SHA-256 twins of RFC 6070.
    @Test(arguments: [
        ("passwd", "salt", 1, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"),
        ("password", "salt", 1, "120fb6cffcf8b32c43e7225256c4f837a86548c92ccc35480805987cb70be17b"),
        ("password", "salt", 2, "ae4d0c95af6b46d32d0adff928f06dd02a303f8ef3c251dfd6e2d85a95474c43"),
        (
            "password", "salt", 4_096,
            "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a"
        ),
    ]) func `PBKDF2 answers as the RFCs do`(
        _ password: String,
        _ salt: String,
        _ iterations: Int,
        _ expected: String
    ) throws {
        let derived = try Secret(utf8: password).pbkdf2(
            salt: Array(salt.utf8),
            iterations: iterations
        )
        #expect(hex(derived.revealedBytes()) == expected)
    }

    /// RFC 5869, test case 3: the step from its PRK to its OKM.
    @Test func `HKDF expands as the RFC does`() throws {
        let key = JSON.string("19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04")
        let expanded = try Secret(#require(key.bytes)).expanded("", count: 42)
        #expect(
            hex(expanded.revealedBytes())
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
                + "9d201395faa4b61a96c8"
        )
    }
}
