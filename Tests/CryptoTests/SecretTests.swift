import System
import Testing

@testable import Crypto

/// One after the other, because one of them fills the arena.
@Suite(.serialized) struct SecretTests {
    private static let marker = [UInt8](
        "MARKER-of-a-secret-that-must-not-show-anywhere-at-all-0123456789".utf8
    )

    @Test func `the arena is there`() {
        #expect(SecretMemory.state != .absent)
        #expect(SecretMemory.totalCount >= 16_384)
    }

    /// The arena stays mapped, so the place where a secret lay can be looked at afterwards. (The
    /// first two words of a free slot are the arena's own list.)
    @Test func `a secret is wiped when it is let go`() {
        let place = place(of: Secret(Self.marker))
        #expect(!contains(place, Self.marker.dropFirst(16)))
    }

    @Test func `a key is wiped when its sealer is let go`() throws {
        let bytes = Array(Self.marker.prefix(64))
        let key = try SymmetricKey(bytes)
        let place = key.withUnsafeBytes { $0 }
        var sealer: Sealer? = Sealer(key)
        #expect(contains(place, bytes.dropFirst(16)))
        _ = try sealer?.seal("text")
        sealer = nil
        #expect(!contains(place, bytes.dropFirst(16)))
    }

    @Test func `a secret in ordinary memory is wiped before it is freed`() {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
        UnsafeMutableRawBufferPointer(start: memory, count: 64).copyBytes(
            from: Self.marker.prefix(64)
        )
        var seen: [UInt8] = []
        SecretMemory.release(memory, 64, isInArena: false) { freed in
            seen = Array(UnsafeRawBufferPointer(start: freed, count: 64))
            freed.deallocate()
        }
        #expect(seen == [UInt8](repeating: 0, count: 64))
    }

    @Test func `what was decrypted is wiped when the caller has seen it`() throws {
        let key = SymmetricKey(from: SystemEntropy())
        let text = String(decoding: Self.marker, as: UTF8.self)
        let sealed = try Sealer(key.duplicate()).seal(text)
        let contexts = try KeyedContexts(key)
        let place = try sealed.withUTF8Bytes { sealed throws(CryptoError) in
            try contexts.open(sealed) { plaintext in
                #expect(Array(plaintext) == Self.marker)
                return plaintext
            }
        }
        #expect(place.count == Self.marker.count)
        #expect(place.allSatisfy { $0 == 0 })
        withExtendedLifetime(contexts) {}
    }

    @Test func `a secret larger than the arena goes to ordinary memory`() {
        let count = SecretMemory.totalCount + 1
        let large = Secret(count: count) { $0.initializeMemory(as: UInt8.self, repeating: 0x5A) }
        #expect(large.isInArena == false)
        #expect(large.withUnsafeBytes { $0.allSatisfy { $0 == 0x5A } })
    }

    @Test func `a full arena sends secrets to ordinary memory and takes them again afterwards`()
        throws
    {
        var secrets: [Holder] = []
        while secrets.last?.secret.isInArena != false {
            secrets.append(Holder(Secret(random: 4_096, from: SystemEntropy())))
            try #require(secrets.count < 2_000)
        }
        #expect(SecretMemory.usedCount <= SecretMemory.totalCount)

        let sealer = Sealer(SymmetricKey(from: SystemEntropy()))
        #expect(try sealer.open(sealer.seal("still works")) == "still works")
        let rsa = try rsaKey()
        #expect(try !rsa.publicKey().isEmpty)

        secrets = []
        #expect(Secret(random: 64, from: SystemEntropy()).isInArena == true)
    }

    @Test func `thousands of unlocked accounts leave room for seeds, keys and everything else`()
        async throws
    {
        var cases: [KeyCase] = []
        for _ in 0..<1_500 {
            let sealer = Sealer(SymmetricKey(from: SystemEntropy()))
            _ = try sealer.seal("first")
            cases.append(KeyCase(try rsaKey(), sealer))
        }
        // A thread that is new has a generator of its own to be seeded.
        let numbers = await withCheckedContinuation { continuation in
            Thread.start(name: "new") {
                continuation.resume(returning: (0..<64).map { _ in SystemEntropy().next() })
            }
        }
        #expect(Set(numbers).count == 64)
        let last = try #require(cases.last)
        #expect(try last.sealer.open(last.sealer.seal("still works")) == "still works")
        #expect(try !last.key.publicKey().isEmpty)
    }

    @Test func `secrets compare by their bytes`() {
        let secret = Secret(Self.marker)
        #expect(secret.isEqual(to: Secret(Self.marker)) == true)
        #expect(secret.isEqual(to: Secret(Self.marker.reversed())) == false)
        #expect(secret.isEqual(to: Secret(Array(Self.marker.dropLast()))) == false)
        #expect(Secret([]).isEqual(to: Secret([])) == true)
    }

    @Test func `no error shows what was handed in`() throws {
        let marker = String(decoding: Self.marker, as: UTF8.self)
        let sealer = Sealer(try SymmetricKey(Secret(Array(Self.marker.prefix(64)))))
        let invalid = try sealer.seal(Secret(Self.marker + [0xFF]))
        let rsa = try rsaKey()
        let errors: [CryptoError?] = [
            refusal { () throws(CryptoError) in try sealer.open(marker) },
            refusal { () throws(CryptoError) in try sealer.open("2.\(marker)|\(marker)|\(marker)")
            },
            refusal { () throws(CryptoError) in try sealer.open(invalid) },
            refusal { () throws(CryptoError) in try SymmetricKey(Secret(Self.marker + Self.marker))
            },
            refusal { () throws(CryptoError) in try SymmetricKey(base64: marker) },
            refusal { () throws(CryptoError) in try PrivateKey(pkcs8: Secret(Self.marker)) },
            refusal { () throws(CryptoError) in try PublicKey(Self.marker) },
            refusal { () throws(CryptoError) in try rsa.open("4.\(marker)") },
            refusal { () throws(CryptoError) in try EncString(marker) },
            refusal { () throws(CryptoError) in
                try MasterKey(
                    password: Secret(Self.marker),
                    salt: marker,
                    derivation: .pbkdf2(iterations: 1)
                )
            },
        ]
        for error in errors {
            let text = try "\(#require(error)) \(String(reflecting: error))"
            #expect(!text.contains("MARKER"))
            #expect(!text.contains("secret-that"))
        }
        #expect(!String(reflecting: sealer).contains("MARKER"))
        var dumped = ""
        dump(sealer, to: &dumped)
        #expect(!dumped.contains("MARKER"))
    }

    @Test func `every error says what happened and what can be done`() {
        let errors: [CryptoError] = [
            .malformed(.base64), .unsupported(.version2), .unsupported(.aes128), .wrongFamily,
            .unsupported(.userKeyWithoutMAC), .downgrade, .keyWithoutMAC, .notAuthentic,
            .undecryptable, .notText, .keyLength(3), .keyUnreadable, .unknownDerivation(7),
            .noSecret, .tooLong(limit: 1), .libraryFailed(.digest),
            .outOfBounds(.argon2Lanes, value: 0, allowed: 1...16),
        ]
        #expect(Set(errors.map(\.summary)).count == errors.count)
        for error in errors {
            #expect(error.description == "\(error.summary) \(error.hint)")
            #expect(error.description.hasSuffix("."))
        }
    }

    private func place(of secret: consuming Secret) -> UnsafeRawBufferPointer {
        secret.withUnsafeBytes { $0 }
    }

    private func contains(_ place: UnsafeRawBufferPointer, _ bytes: some Collection<UInt8>) -> Bool
    {
        Array(place).suffix(bytes.count).elementsEqual(bytes)
    }
}

private final class Holder {
    let secret: Secret
    init(_ secret: consuming Secret) { self.secret = secret }
}

/// What an account that is unlocked keeps open.
private final class KeyCase {
    let key: PrivateKey
    let sealer: Sealer

    init(_ key: consuming PrivateKey, _ sealer: Sealer) {
        self.key = key
        self.sealer = sealer
    }
}
