import Glibc

/// Where the pieces of an EncString's text lie. Nothing is decoded yet.
struct EncStringLayout {
    /// More than any upstream takes in one text.
    static let longest = 64 << 20

    let kind: EncString.Kind
    private(set) var iv = 0..<0
    private(set) var ciphertext = 0..<0
    private(set) var mac = 0..<0

    init(of text: UnsafeRawBufferPointer) throws(CryptoError) {
        guard text.count <= Self.longest else { throw .tooLong(limit: Self.longest) }
        guard text.count > 2 else { throw .malformed(.unknownType) }
        let hasType = text[1] == UInt8(ascii: ".")
        let pieces = try Pieces(of: text, from: hasType ? 2 : 0)
        kind = hasType ? try Self.kind(of: text[0]) : try Self.kind(ofUntyped: text, pieces.count)
        guard pieces.count == kind.pieceCount else { throw .malformed(.pieceCount) }
        switch kind {
        case .aes: (iv, ciphertext) = (pieces.first, pieces.second)
        case .aesWithMAC: (iv, ciphertext, mac) = (pieces.first, pieces.second, pieces.third)
        case .rsaSHA256, .rsaSHA1, .cose: ciphertext = pieces.first
        case .rsaSHA256WithMAC, .rsaSHA1WithMAC: (ciphertext, mac) = (pieces.first, pieces.second)
        }
    }

    private static func kind(of digit: UInt8) throws(CryptoError) -> EncString.Kind {
        guard digit != UInt8(ascii: "1") else { throw .unsupported(.aes128) }
        guard let kind = EncString.Kind(rawValue: digit &- UInt8(ascii: "0")) else {
            throw .malformed(.unknownType)
        }
        return kind
    }

    /// Texts from before there were types: three pieces are type 1, all others type 0.
    private static func kind(
        ofUntyped text: UnsafeRawBufferPointer,
        _ pieceCount: Int
    ) throws(CryptoError) -> EncString.Kind {
        guard !text.contains(UInt8(ascii: ".")) else { throw .malformed(.unknownType) }
        guard pieceCount != 3 else { throw .unsupported(.aes128) }
        return .aes
    }
}

/// Up to three ranges between bars. (No array: this stands in front of every decryption.)
private struct Pieces {
    var count = 0
    var first = 0..<0
    var second = 0..<0
    var third = 0..<0

    init(of text: UnsafeRawBufferPointer, from start: Int) throws(CryptoError) {
        var start = start
        while true {
            let end = Self.nextBar(in: text, from: start)
            try append(start..<(end ?? text.count))
            guard let end else { return }
            start = end + 1
        }
    }

    private mutating func append(_ piece: Range<Int>) throws(CryptoError) {
        count += 1
        switch count {
        case 1: first = piece
        case 2: second = piece
        case 3: third = piece
        default: throw .malformed(.pieceCount)
        }
    }

    static func nextBar(in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = text.baseAddress, start < text.count else { return nil }
        guard let bar = memchr(base + start, Int32(UInt8(ascii: "|")), text.count - start) else {
            return nil
        }
        return UnsafeRawPointer(bar) - base
    }
}
