import System
import Testing

@testable import Crypto

struct TamperingTests {
    let chance = SeededChance(seed: 3)

    /// Everything that can be wrong with one character.
    @Test func `a symmetric text with any character changed is refused`() throws {
        let sealer = Sealer(SymmetricKey(from: chance), entropy: chance)
        let sealed = Array(try sealer.seal("a text of two blocks, say").utf8)
        for index in sealed.indices {
            for flip in [0x01, 0x02, 0x20, 0x80] as [UInt8] {
                var forged = sealed
                forged[index] ^= flip
                let answer = refusal { () throws(CryptoError) in try open(forged, with: sealer) }
                #expect(answer != nil, "character \(index) with \(flip) flipped")
            }
        }
    }

    @Test func `a buffer with any bit changed is refused`() throws {
        let sealer = Sealer(SymmetricKey(from: chance), entropy: chance)
        let sealed = try sealer.seal(buffer: Array("a file".utf8))
        for bit in 0..<sealed.count * 8 {
            var forged = sealed
            forged[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: CryptoError.self, "bit \(bit)") {
                try sealer.open(buffer: forged).count
            }
        }
    }

    @Test func `every beginning of a text is refused`() throws {
        let sealer = Sealer(SymmetricKey(from: chance), entropy: chance)
        let sealed = Array(try sealer.seal("text").utf8)
        for count in 0..<sealed.count {
            let start = Array(sealed.prefix(count))
            #expect(throws: CryptoError.self, "\(count)") { try open(start, with: sealer) }
        }
        let buffer = try sealer.seal(buffer: [1, 2, 3])
        for count in 0..<buffer.count {
            #expect(throws: CryptoError.self) {
                try sealer.open(buffer: Array(buffer.prefix(count))).count
            }
        }
    }

    /// Flips in the type change which hash is used, flips in a piece what is decrypted.
    @Test func `an RSA text with any byte changed is refused`() throws {
        let key = try rsaKey()
        let secret = Secret(random: 64, from: chance)
        for kind in [EncString.Kind.rsaSHA1, .rsaSHA256] {
            let sealed = Array(try PublicKey(key.publicKey()).seal(secret, as: kind).utf8)
            for index in stride(from: 0, to: sealed.count, by: 13) {
                var forged = sealed
                forged[index] ^= 1
                let text = String(decoding: forged, as: UTF8.self)
                #expect(throws: CryptoError.self, "byte \(index)") { try key.open(text).count }
            }
        }
    }

    @Test func `a symmetric text is no RSA text`() throws {
        let key = try rsaKey()
        for text in EncStringTests.texts.prefix(2) {
            #expect(throws: CryptoError.wrongFamily) { try key.open(text).count }
        }
        #expect(throws: CryptoError.unsupported(.version2)) {
            try key.open(EncStringTests.texts[6]).count
        }
        #expect(throws: CryptoError.undecryptable) { try key.open(EncStringTests.texts[3]).count }
    }

    private func open(_ text: [UInt8], with sealer: Sealer) throws(CryptoError) -> String {
        try text.span.withUnsafeBytes { text throws(CryptoError) in try sealer.open(utf8: text) }
    }
}

/// The key of the fixture: to make one takes a while.
func rsaKey() throws -> PrivateKey {
    let document = try #require(Vectors["rsa"]["private_key_b64"].text)
    return try PrivateKey(pkcs8: Secret(Base64.bytes(of: document)))
}
