import CCrypto

/// Reads an encrypted file once to check its MAC. Only a file that has passed yields an
/// ``AttachmentOpening``, so nothing is decrypted that was tampered with.
public struct AttachmentCheck: ~Copyable {
    private let box: AttachmentBox
    private let iv: [UInt8]
    private let mac: [UInt8]
    private var count = 0

    /// Begins with the first ``AttachmentSeal/headerCount`` bytes of the file.
    public init(
        header: [UInt8],
        _ key: borrowing SymmetricKey
    ) throws(CryptoError) {
        let kind = header.first.flatMap(EncString.Kind.init)
        guard let kind, header.count == AttachmentSeal.headerCount else {
            throw .malformed(.unknownType)
        }
        guard kind != .aes else { throw .downgrade }
        guard kind != .cose else { throw .unsupported(.version2) }
        guard kind == .aesWithMAC else { throw .wrongFamily }
        let iv = Array(header[1..<17])
        let box = try AttachmentBox(key)
        try box.beginMAC(over: iv)
        (self.iv, mac) = (iv, Array(header[17...]))
        self.box = box
    }

    /// Takes the next piece of what follows the header.
    public mutating func update(_ sealed: [UInt8]) throws(CryptoError) {
        count += sealed.count
        try box.updateMAC(sealed)
    }

    /// Passes the file, or refuses it.
    public consuming func finish() throws(CryptoError) -> AttachmentOpening {
        let actual = try box.endMAC()
        guard cc_equal(actual, mac, 32) == 1 else { throw .notAuthentic }
        guard count > 0, count % 16 == 0 else { throw .malformed(.ciphertextLength) }
        return try AttachmentOpening(box, iv: iv, mac: mac)
    }
}

/// Decrypts a file that has passed its check, in a second reading of the same bytes.
///
/// Somebody may change the file between the two readings. So the MAC is made once more, and what was
/// decrypted counts only when ``finish()`` has returned.
public struct AttachmentOpening: ~Copyable {
    private let box: AttachmentBox
    private let mac: [UInt8]

    init(_ box: consuming AttachmentBox, iv: [UInt8], mac: [UInt8]) throws(CryptoError) {
        try box.beginMAC(over: iv)
        try box.beginDecryption(iv)
        self.box = box
        self.mac = mac
    }

    /// What of the plaintext is known by now. It may be less than the piece, or nothing.
    public mutating func update(_ sealed: [UInt8]) throws(CryptoError) -> Secret {
        try box.updateMAC(sealed)
        return try box.decrypt(sealed)
    }

    /// The last piece; refused, and all before it void, if the bytes are not those that were checked.
    public consuming func finish() throws(CryptoError) -> Secret {
        let actual = try box.endMAC()
        guard cc_equal(actual, mac, 32) == 1 else { throw .notAuthentic }
        return try box.endDecryption()
    }
}
