/// A ciphertext as Bitwarden writes it: a type, and the pieces that belong to it.
///
/// It holds what was parsed, in strict base64 and with the right lengths. To open one, or to make
/// one, see ``Sealer`` and ``PrivateKey``; they take the text directly and need no such value.
public struct EncString: Hashable, Sendable {
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// AES-256-CBC without a MAC. Opened with keys that have none, never made.
        case aes = 0
        /// AES-256-CBC and HMAC-SHA-256: what is made today.
        case aesWithMAC = 2
        case rsaSHA256 = 3
        case rsaSHA1 = 4
        /// RSA with a MAC that nobody checks, because nobody ever had a key for it.
        case rsaSHA256WithMAC = 5
        case rsaSHA1WithMAC = 6
        /// COSE, of accounts of version 2. Recognised only.
        case cose = 7
    }

    public let kind: Kind
    public let iv: [UInt8]
    public let ciphertext: [UInt8]
    public let mac: [UInt8]

    /// Parses `2.iv|ciphertext|mac` and its kin, and the old texts without a type.
    public init(_ text: String) throws(CryptoError) {
        self = try text.withUTF8Bytes { bytes throws(CryptoError) in try EncString(utf8: bytes) }
    }

    public init(utf8 text: UnsafeRawBufferPointer) throws(CryptoError) {
        let layout = try EncStringLayout(of: text)
        kind = layout.kind
        iv = try Self.piece(layout.iv, of: text)
        ciphertext = try Self.piece(layout.ciphertext, of: text)
        mac = try Self.piece(layout.mac, of: text)
        try checkLengths()
    }

    private func checkLengths() throws(CryptoError) {
        guard kind.isSymmetric else { return }
        guard iv.count == 16 else { throw .malformed(.ivLength) }
        guard kind == .aes || mac.count == 32 else { throw .malformed(.macLength) }
        guard !ciphertext.isEmpty, ciphertext.count % 16 == 0 else {
            throw .malformed(.ciphertextLength)
        }
    }

    private static func piece(
        _ range: Range<Int>,
        of text: UnsafeRawBufferPointer
    ) throws(CryptoError) -> [UInt8] {
        guard let bytes = Base64.bytes(of: UnsafeRawBufferPointer(rebasing: text[range])) else {
            throw .malformed(.base64)
        }
        return bytes
    }
}

extension EncString {
    /// Whether the text is encrypted by its form: a type, as many pieces as that has, and each of them
    /// base64. What was damaged on its way keeps the form and opens for nobody.
    public static func hasForm(_ text: String) -> Bool {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let count = pieceCount(ofType: parts[0]) else { return false }
        let pieces = parts[1].split(separator: "|", omittingEmptySubsequences: false)
        return pieces.count == count
            && pieces.allSatisfy { !$0.isEmpty && (try? Base64.bytes(of: String($0))) != nil }
    }

    /// Also of the type that is opened nowhere any more.
    private static func pieceCount(ofType digit: Substring) -> Int? {
        guard digit.utf8.count == 1 else { return nil }
        return digit == "1" ? 3 : UInt8(digit).flatMap(Kind.init)?.pieceCount
    }
}

extension EncString: CustomStringConvertible {
    public var description: String { "EncString of type \(kind.rawValue)" }
}

extension EncString.Kind {
    public var isSymmetric: Bool { self == .aes || self == .aesWithMAC }

    var pieceCount: Int {
        switch self {
        case .aesWithMAC: 3
        case .aes, .rsaSHA256WithMAC, .rsaSHA1WithMAC: 2
        case .rsaSHA256, .rsaSHA1, .cose: 1
        }
    }
}
