import CCrypto

/// Five words by which two people compare an account's public key over the telephone.
public struct FingerprintPhrase: Equatable, Sendable, CustomStringConvertible {
    public let words: [String]

    /// The phrase of a public key (a SubjectPublicKeyInfo document) and its user's id.
    public init(publicKey: [UInt8], userID: String) throws(CryptoError) {
        let digest = publicKey.span.withUnsafeBytes { Digest.sha256(of: $0) }
        let hash = try digest.span.withUnsafeBytes { Secret(copying: $0) }
            .expanded(userID, count: 32)
        words = hash.withUnsafeBytes(Self.words(of:))
    }

    public var description: String { words.joined(separator: "-") }

    /// The number that the bytes are, written to the base of the word list. Five words carry the 64
    /// bits that a fingerprint should have at least.
    static func words(of hash: UnsafeRawBufferPointer) -> [String] {
        var numbers = [Int32](repeating: 0, count: 5)
        let isDone = cc_word_numbers(hash.baseAddress, &numbers, Int32(numbers.count)) == 1
        precondition(isDone, "OpenSSL has no room for a number of 32 bytes.")
        return numbers.map { WordList.word(Int($0)) }
    }
}
