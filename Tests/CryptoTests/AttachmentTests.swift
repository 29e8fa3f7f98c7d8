import System
import Testing

@testable import Crypto

struct AttachmentTests {
    private let chance = SeededChance(seed: 6)
    private var key: SymmetricKey { SymmetricKey(from: SeededChance(seed: 60)) }

    @Test(arguments: [0, 1, 15, 16, 17, 1_000, 70_000])
    func `a file that goes through in pieces is the file that is sealed whole`(_ count: Int) throws
    {
        let file = Secret(random: count, from: chance).revealedBytes()
        let sealed = try seal(file, pieces: 999)
        #expect(sealed.count == AttachmentSeal.sealedCount(of: count))
        let sealer = Sealer(key.duplicate())
        #expect(try sealer.open(buffer: sealed).revealedBytes() == file)
        for pieces in [1_000, 16, 4_099] where count < 2_000 || pieces > 100 {
            #expect(try open(sealed, pieces: pieces) == file)
            #expect(try open(sealer.seal(buffer: file), pieces: pieces) == file)
        }
    }

    @Test func `a file with any byte changed yields nothing`() throws {
        let sealed = try seal(Array("a file that somebody changes".utf8), pieces: 10)
        for index in sealed.indices {
            var forged = sealed
            forged[index] ^= 1
            #expect(throws: CryptoError.self, "byte \(index)") { try open(forged, pieces: 16) }
        }
    }

    @Test func `a file that lacks its end yields nothing`() throws {
        let sealed = try seal(Array("a file that was cut off".utf8), pieces: 10)
        for count in 0..<sealed.count {
            #expect(throws: CryptoError.self) { try open(Array(sealed.prefix(count)), pieces: 16) }
        }
    }

    @Test func `a file that was changed after its check yields nothing`() throws {
        let sealed = try seal(Array("a file that changes between two readings".utf8), pieces: 10)
        for index in AttachmentSeal.headerCount..<sealed.count {
            var forged = sealed
            forged[index] ^= 1
            #expect(throws: CryptoError.notAuthentic, "byte \(index)") {
                try open(sealed, thenReading: forged, pieces: 16)
            }
        }
        #expect(throws: CryptoError.notAuthentic) {
            try open(sealed, thenReading: Array(sealed.dropLast(16)), pieces: 16)
        }
    }

    @Test func `a header of another type is refused by its name`() throws {
        for (type, error) in [
            (0, CryptoError.downgrade), (4, .wrongFamily), (7, .unsupported(.version2)),
            (9, .malformed(.unknownType)),
        ] {
            let header = [UInt8(type)] + [UInt8](repeating: 0, count: 48)
            #expect(
                refusal { () throws(CryptoError) in try AttachmentCheck(header: header, key) }
                    == error
            )
        }
        let old = SymmetricKey(unchecked: Secret(random: 32, from: chance))
        #expect(refusal { () throws(CryptoError) in try AttachmentSeal(old) } == .downgrade)
    }

    private func seal(_ file: [UInt8], pieces: Int) throws -> [UInt8] {
        var seal = try AttachmentSeal(key, entropy: chance)
        var body: [UInt8] = []
        for piece in split(file, pieces) { body += try seal.update(piece) }
        let (tail, header) = try seal.finish()
        return header + body + tail
    }

    private func open(
        _ sealed: [UInt8],
        thenReading second: [UInt8]? = nil,
        pieces: Int
    ) throws -> [UInt8] {
        let header = Array(sealed.prefix(AttachmentSeal.headerCount))
        let body = split(Array(sealed.dropFirst(AttachmentSeal.headerCount)), pieces)
        var check = try AttachmentCheck(header: header, key)
        for piece in body { try check.update(piece) }
        var opening = try check.finish()
        var file: [UInt8] = []
        let read = split(Array((second ?? sealed).dropFirst(AttachmentSeal.headerCount)), pieces)
        for piece in read { file += try opening.update(piece).revealedBytes() }
        file += try opening.finish().revealedBytes()
        return file
    }

    private func split(_ bytes: [UInt8], _ count: Int) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: count).map {
            Array(bytes[$0..<min($0 + count, bytes.count)])
        }
    }
}
