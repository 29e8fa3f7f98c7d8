import System
import Testing

@testable import Crypto

struct SealerTests {
    let chance = SeededChance(seed: 1)
    let sealer: Sealer

    init() {
        sealer = Sealer(SymmetricKey(from: chance), entropy: chance)
    }

    @Test func `what is sealed opens again`() throws {
        let seed = SystemChance().next()
        let chance = SeededChance(seed: seed)
        let sealer = Sealer(SymmetricKey(from: chance), entropy: chance)
        for round in 0..<300 {
            let bytes = Secret(random: chance.number(in: 0..<round * 4 + 1), from: chance)
            let sealed = try sealer.seal(bytes)
            #expect(sealed.utf8.count == Sealer.textCount(sealing: bytes.count))
            let isSame = try sealer.openSecret(sealed).isEqual(to: bytes)
            #expect(isSame, "seed \(seed), round \(round)")
            let buffer = try sealer.seal(buffer: bytes.revealedBytes())
            #expect(buffer.count == 49 + 16 * (bytes.count / 16 + 1))
            let isSameFile = try sealer.open(buffer: buffer).isEqual(to: bytes)
            #expect(isSameFile, "seed \(seed), round \(round)")
        }
    }

    @Test(arguments: [
        "", "a", "fifteen bytes..", "sixteen bytes...", "ǻ😀", String(repeating: "x", count: 70_000),
    ])
    func `text opens as it was`(_ text: String) throws {
        #expect(try sealer.open(sealer.seal(text)) == text)
        #expect(try sealer.openSecret(sealer.seal(text)).revealedText() == text)
    }

    @Test func `the same text seals to another every time`() throws {
        let texts = try (0..<100).map { _ in try sealer.seal("same") }
        #expect(Set(texts).count == 100)
    }

    @Test func `the same seed seals to the same text`() throws {
        let texts = try (0..<2).map { _ in
            let chance = SeededChance(seed: 5)
            return try Sealer(SymmetricKey(from: chance), entropy: chance).seal("same")
        }
        #expect(texts[0] == texts[1])
    }

    @Test func `bytes that are no text are refused as text`() throws {
        let sealed = try sealer.seal(Secret([0xC3, 0x28]))
        #expect(throws: CryptoError.notText) { try sealer.open(sealed) }
        #expect(try sealer.openSecret(sealed).count == 2)
    }

    @Test func `another key is told from the MAC`() throws {
        let sealed = try sealer.seal("text")
        let other = Sealer(SymmetricKey(from: chance))
        #expect(throws: CryptoError.notAuthentic) { try other.open(sealed) }
    }

    @Test func `the MAC is checked before the padding`() throws {
        // The last block of a well padded text is replaced: without the MAC in front, this would
        // be an error of the padding.
        var sealed = try sealer.seal(buffer: Array("text".utf8))
        sealed[sealed.count - 1] ^= 0xFF
        #expect(throws: CryptoError.notAuthentic) { try sealer.open(buffer: sealed).count }
    }

    @Test func `each family and type is refused where it does not belong`() throws {
        let old = Sealer(SymmetricKey(unchecked: Secret(random: 32, from: chance)))
        let texts = EncStringTests.texts
        #expect(throws: CryptoError.downgrade) { try sealer.open(texts[0]) }
        #expect(throws: CryptoError.keyWithoutMAC) { try old.open(texts[1]) }
        for text in texts[2...5] {
            #expect(throws: CryptoError.wrongFamily) { try sealer.open(text) }
        }
        #expect(throws: CryptoError.unsupported(.version2)) { try sealer.open(texts[6]) }
    }

    @Test func `nothing is sealed without a MAC`() throws {
        let old = Sealer(SymmetricKey(unchecked: Secret(random: 32, from: chance)))
        #expect(throws: CryptoError.downgrade) { try old.seal("text") }
        #expect(throws: CryptoError.downgrade) { try old.seal(buffer: [1]) }
    }

    @Test func `a key opens under the key that wrapped it`() throws {
        let key = SymmetricKey(from: chance)
        let unwrapped = try sealer.unwrapKey(sealer.wrap(key))
        #expect(unwrapped.isEqual(to: key) == true)
        #expect(unwrapped.id == key.id)
        #expect(sealer.keyID != key.id)
    }

    @Test func `a lent key opens what is under it and nothing else`() throws {
        for round in 0..<3 {
            let key = SymmetricKey(from: chance)
            let wrapped = try sealer.wrap(key)
            let sealed = try Sealer(key).seal("field \(round)")
            let text = try sealer.withKey(wrapped) { item throws(CryptoError) in
                try item.open(sealed) + item.open(sealed)
            }
            #expect(text == "field \(round)field \(round)")
            #expect(throws: CryptoError.notAuthentic) {
                try sealer.withKey(wrapped) { item throws(CryptoError) in try item.open(wrapped) }
            }
        }
        let short = try sealer.seal("no key")
        #expect(throws: CryptoError.keyLength(6)) {
            try sealer.withKey(short) { item throws(CryptoError) in try item.open(short) }
        }
    }

    @Test(arguments: [0, 31, 32, 33, 63, 65, 80]) func `a key has 64 bytes`(_ count: Int) throws {
        let wrapped = try sealer.seal(Secret(random: count, from: chance))
        let expected: CryptoError =
            count > 64
            ? .unsupported(.version2)
            : count == 32 ? .unsupported(.userKeyWithoutMAC) : .keyLength(count)
        #expect(refusal { () throws(CryptoError) in try sealer.unwrapKey(wrapped) } == expected)
    }

    @Test func `many callers at once do not disturb each other`() async throws {
        let chance = SeededChance(seed: 2)
        let sealer = Sealer(SymmetricKey(from: chance))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask { try hammer(sealer, task) }
            }
            try await group.waitForAll()
        }
    }

    private func hammer(_ sealer: Sealer, _ task: Int) throws {
        for round in 0..<200 {
            let text = String(repeating: "\(task)", count: round)
            #expect(try sealer.open(sealer.seal(text)) == text)
        }
    }

    @Test func `a text inside a larger one opens where it lies`() throws {
        let sealed = try sealer.seal("inside")
        let body = Array("{\"name\":\"\(sealed)\"}".utf8)
        let range = 9..<9 + sealed.utf8.count
        let text = try body.span.withUnsafeBytes { body throws(CryptoError) in
            try sealer.open(utf8: UnsafeRawBufferPointer(rebasing: body[range]))
        }
        #expect(text == "inside")
    }
}
