import CCrypto

/// Encrypts a file piece by piece, into the binary form of type 2.
///
/// The MAC stands in front of what it covers. So what ``update(_:)`` and ``finish()`` return goes
/// behind the first ``headerCount`` bytes of the target, and the header is written last.
public struct AttachmentSeal: ~Copyable {
    public static let headerCount = 49

    private let box: AttachmentBox
    private let iv: [UInt8]

    public init(
        _ key: borrowing SymmetricKey,
        entropy: any Entropy = SystemEntropy()
    ) throws(CryptoError) {
        var iv = [UInt8](repeating: 0, count: 16)
        iv.withUnsafeMutableBytes { entropy.fill($0) }
        let box = try AttachmentBox(key)
        try box.beginMAC(over: iv)
        try box.beginEncryption(iv)
        self.iv = iv
        self.box = box
    }

    public mutating func update(_ plaintext: [UInt8]) throws(CryptoError) -> [UInt8] {
        let sealed = try box.encrypt(plaintext)
        try box.updateMAC(sealed)
        return sealed
    }

    /// The last piece, and the header that goes in front of all.
    public consuming func finish() throws(CryptoError) -> (tail: [UInt8], header: [UInt8]) {
        let tail = try box.endEncryption()
        try box.updateMAC(tail)
        let header = try [EncString.Kind.aesWithMAC.rawValue] + iv + box.endMAC()
        return (tail, header)
    }

    /// The size of the whole in the upstream's storage.
    public static func sealedCount(of count: Int) -> Int {
        headerCount + 16 * (count / 16 + 1)
    }
}
