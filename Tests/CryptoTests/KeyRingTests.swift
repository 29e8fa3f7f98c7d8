import System
import Testing

@testable import Crypto

struct KeyRingTests {
    private let chance = SeededChance(seed: 4)

    @Test func `a ring knows its own key and its organisations'`() throws {
        let user = SymmetricKey(from: chance)
        let organization = SymmetricKey(from: chance)
        let rsa = try rsaKey()
        let account = WrappedKeys(
            privateKey: try Sealer(user.duplicate()).seal(rsa.pkcs8()),
            organizations: ["o": try PublicKey(rsa.publicKey()).wrap(organization)]
        )
        let ring = try KeyRing(user: user.duplicate(), account: account)
        #expect(ring.user.keyID == user.id)
        #expect(ring.owner(organizationID: nil)?.keyID == user.id)
        #expect(ring.owner(organizationID: "o")?.keyID == organization.id)
        #expect(ring.owner(organizationID: "p") == nil)
        #expect(ring.unreadable.isEmpty)
        #expect(try ring.publicKey == rsa.publicKey())
    }

    @Test func `one unreadable organisation does not spoil another`() throws {
        let user = SymmetricKey(from: chance)
        let organization = SymmetricKey(from: chance)
        let rsa = try rsaKey()
        let account = WrappedKeys(
            privateKey: try Sealer(user.duplicate()).seal(rsa.pkcs8()),
            organizations: [
                "good": try PublicKey(rsa.publicKey()).wrap(organization), "bad": "4.AAAA",
                "worse": "nothing",
            ]
        )
        let ring = try KeyRing(user: user, account: account)
        #expect(ring.owner(organizationID: "good") != nil)
        #expect(ring.owner(organizationID: "bad") == nil)
        #expect(
            ring.unreadable == ["bad": .undecryptable, "worse": .malformed(.pieceCount)]
        )
    }

    @Test func `an unreadable private key spoils the organisations' items and no others`() throws {
        let user = SymmetricKey(from: chance)
        let sealer = Sealer(user.duplicate())
        for (wrapped, flaw) in [
            ("nothing", CryptoError.malformed(.pieceCount)), ("4.AAAA", .wrongFamily),
            (try sealer.seal(Secret([1, 2, 3])), .keyUnreadable),
            (try Sealer(SymmetricKey(from: chance)).seal(rsaKey().pkcs8()), .notAuthentic),
        ] {
            let account = WrappedKeys(privateKey: wrapped, organizations: ["o": "4.AAAA"])
            let ring = try KeyRing(user: user.duplicate(), account: account)
            #expect(ring.privateKeyFlaw == flaw)
            #expect(ring.unreadable == ["o": .keyUnreadable])
            #expect(ring.owner(organizationID: nil)?.keyID == user.id)
            #expect(ring.publicKey == nil)
        }
    }

    @Test func `an account without a private key has no organisations`() throws {
        let account = WrappedKeys(privateKey: nil, organizations: ["o": "4.AAAA"])
        let ring = try KeyRing(user: SymmetricKey(from: chance), account: account)
        #expect(ring.unreadable == ["o": .keyUnreadable])
        #expect(ring.privateKeyFlaw == nil)
        #expect(ring.publicKey == nil)
    }

    @Test func `an account of version 2 is refused by its security state and by its private key`() {
        for account in [
            WrappedKeys(privateKey: nil, hasSecurityState: true), WrappedKeys(privateKey: "7.AAAA"),
        ] {
            #expect(throws: CryptoError.unsupported(.version2)) {
                try KeyRing(user: SymmetricKey(from: chance), account: account)
            }
        }
    }

    @Test func `a new RSA key is read back from its document`() throws {
        let key = try PrivateKey()
        let copy = try PrivateKey(pkcs8: key.pkcs8())
        #expect(try copy.publicKey() == key.publicKey())
        let secret = Secret(random: 64, from: chance)
        for kind in [EncString.Kind.rsaSHA1, .rsaSHA256] {
            let sealed = try PublicKey(key.publicKey()).seal(secret, as: kind)
            #expect(try EncString(sealed).kind == kind)
            #expect(try copy.open(sealed).isEqual(to: secret) == true)
        }
        #expect(throws: CryptoError.wrongFamily) {
            try PublicKey(key.publicKey()).seal(secret, as: .aesWithMAC)
        }
        let tooMuch = Secret(random: 300, from: chance)
        #expect(throws: CryptoError.libraryFailed(.publicKey)) {
            try PublicKey(key.publicKey()).seal(tooMuch)
        }
    }

    @Test func `a document with something behind it is no key`() throws {
        let key = try rsaKey()
        let document = try key.pkcs8().revealedBytes()
        for bytes in [document + [0], Array(document.dropLast()), []] {
            #expect(
                refusal { () throws(CryptoError) in try PrivateKey(pkcs8: Secret(bytes)) }
                    == .keyUnreadable
            )
        }
        let spki = try key.publicKey()
        for bytes in [spki + [0], Array(spki.dropLast()), []] {
            #expect(refusal { () throws(CryptoError) in try PublicKey(bytes) } == .keyUnreadable)
        }
    }

    @Test func `a Send's key comes from the bytes in its link`() throws {
        let user = Sealer(SymmetricKey(from: chance))
        let send = SendKey(from: chance)
        let again = try SendKey(user.openSecret(send.wrapped(by: user)))
        #expect(try again.key().isEqual(to: send.key()) == true)
        #expect(send.revealedBytes().count == 16)
        #expect(refusal { () throws(CryptoError) in try SendKey(Secret([1, 2])) } == .keyLength(2))

        let fixed = try SendKey(Secret(Array(0..<16)))
        #expect(
            try fixed.passwordHash(Secret(utf8: "password"))
                == "op/qD+2FxbhhDC5Wl+pBtVhxOeWKOI4Me3ztMNTm2N8="
        )
        #expect(
            try fixed.key().base64
                == "BjqVWhwBtOGqy3zTWckZssthBBwMBclMDrdvuanhRLP77KB03hQ3oaIzCtKDMTir874lYaOjCuHzPhXhovfKBA=="
        )
    }
}
