import CCrypto

/// OpenSSL's contexts of one key, keyed once and used again and again, with the buffer they work in.
///
/// One call at a time. What is decrypted lies in the buffer only while the caller looks at it.
// @unchecked because whoever lends it out (a Sealer's pool, a stream) has it used by one call at a
// time.
final class KeyedContexts: @unchecked Sendable {
    private let box: OpaquePointer
    private let hasMAC: Bool
    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: 16)

    init(_ key: borrowing SymmetricKey) throws(CryptoError) {
        guard let box = cc_box_new() else { throw .libraryFailed(.contexts) }
        self.box = box
        hasMAC = key.hasMAC
        let isKeyed = key.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return Int32(0) }
            return cc_box_key(box, start, bytes.count == SymmetricKey.count ? start + 32 : nil)
        }
        guard isKeyed == 1 else { throw .libraryFailed(.contexts) }
    }

    deinit {
        cc_box_free(box)
        buffer.deallocate()
    }

    /// Opens the text and shows the plaintext, which is wiped when the closure returns.
    func open<Result: ~Copyable>(
        _ text: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        let layout = try EncStringLayout(of: text)
        try admit(layout.kind)
        let count = try decode(text, layout)
        if hasMAC { try authenticate(count) }
        return try decrypt(count, body)
    }

    /// Opens the binary form.
    func open<Result: ~Copyable>(
        buffer sealed: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        guard let type = sealed.first, let kind = EncString.Kind(rawValue: type) else {
            throw .malformed(.unknownType)
        }
        try admit(kind)
        let head = hasMAC ? 49 : 17
        guard sealed.count > head, (sealed.count - head) % 16 == 0 else {
            throw .malformed(.ciphertextLength)
        }
        let count = sealed.count - head
        makeRoom(for: count)
        ivAndText(0).copyMemory(from: .init(rebasing: sealed[1..<17]))
        ciphertext(count).copyMemory(from: .init(rebasing: sealed[head...]))
        if hasMAC {
            UnsafeMutableRawBufferPointer(rebasing: buffer[(16 + count)...])
                .copyMemory(from: .init(rebasing: sealed[17..<49]))
            try authenticate(count)
        }
        return try decrypt(count, body)
    }

    /// Encrypts and authenticates, and shows the three pieces.
    func seal<Result>(
        _ plaintext: UnsafeRawBufferPointer,
        entropy: any Entropy,
        _ body: (Sealed) -> Result
    ) throws(CryptoError) -> Result {
        guard hasMAC else { throw .downgrade }
        makeRoom(for: plaintext.count + 16)
        entropy.fill(ivAndText(0))
        guard let iv = buffer.baseAddress else { throw .libraryFailed(.contexts) }
        var count = 0
        guard cc_box_encrypt_begin(box, iv) == 1,
            cc_box_encrypt_update(box, plaintext.baseAddress, plaintext.count, iv + 16, &count)
                == 1,
            cc_box_encrypt_end(box, iv + 16 + count, &count) == 1
        else { throw .libraryFailed(.encryption) }
        guard cc_box_mac(box, iv, 16 + count, iv + 16 + count) == 1 else {
            throw .libraryFailed(.authentication)
        }
        return body(Sealed(bytes: UnsafeRawBufferPointer(buffer), ciphertextCount: count))
    }

    /// Whether this key may open this kind at all.
    func admit(_ kind: EncString.Kind) throws(CryptoError) {
        switch (kind, hasMAC) {
        case (.aesWithMAC, true), (.aes, false): return
        case (.aes, true): throw .downgrade
        case (.aesWithMAC, false): throw .keyWithoutMAC
        case (.cose, _): throw .unsupported(.version2)
        case (.rsaSHA1, _), (.rsaSHA256, _), (.rsaSHA1WithMAC, _), (.rsaSHA256WithMAC, _):
            throw .wrongFamily
        }
    }
}

/// The pieces of a text that was just sealed, where they lie: IV, ciphertext, MAC.
struct Sealed {
    let bytes: UnsafeRawBufferPointer
    let ciphertextCount: Int

    var iv: UnsafeRawBufferPointer { .init(rebasing: bytes[..<16]) }
    var ciphertext: UnsafeRawBufferPointer { .init(rebasing: bytes[16..<16 + ciphertextCount]) }
    var mac: UnsafeRawBufferPointer {
        .init(rebasing: bytes[(16 + ciphertextCount)..<(48 + ciphertextCount)])
    }
}

// The buffer holds IV, ciphertext and MAC one behind the other, so that the MAC is taken over one
// piece. Base64 may write up to two bytes too many behind each; the next piece writes over them.
extension KeyedContexts {
    private static let largestKept = 1 << 16

    private func makeRoom(for count: Int) {
        let needed = count + 16 + 33 + 32 + 16
        guard buffer.count < needed else { return }
        buffer.deallocate()
        buffer = .allocate(byteCount: max(needed, 512), alignment: 16)
    }

    private func ivAndText(_ count: Int) -> UnsafeMutableRawBufferPointer {
        .init(rebasing: buffer[..<(16 + count)])
    }

    private func ciphertext(_ count: Int) -> UnsafeMutableRawBufferPointer {
        .init(rebasing: buffer[16..<16 + count])
    }

    /// Decodes the pieces into the buffer; the length of the ciphertext.
    private func decode(
        _ text: UnsafeRawBufferPointer,
        _ layout: EncStringLayout
    ) throws(CryptoError) -> Int {
        makeRoom(for: Base64.capacity(for: layout.ciphertext.count))
        guard layout.iv.count == 24, try decode(layout.iv, of: text, at: 0) == 16 else {
            throw .malformed(.ivLength)
        }
        let count = try decode(layout.ciphertext, of: text, at: 16)
        guard count > 0, count % 16 == 0 else { throw .malformed(.ciphertextLength) }
        guard hasMAC else { return count }
        guard layout.mac.count == 44, try decode(layout.mac, of: text, at: 16 + count) == 32 else {
            throw .malformed(.macLength)
        }
        return count
    }

    private func decode(
        _ piece: Range<Int>,
        of text: UnsafeRawBufferPointer,
        at offset: Int
    ) throws(CryptoError) -> Int {
        guard let source = text.baseAddress, let target = buffer.baseAddress else { return 0 }
        let count = cc_base64_decode(source + piece.lowerBound, piece.count, target + offset)
        guard count >= 0 else { throw .malformed(.base64) }
        return count
    }

    private func authenticate(_ count: Int) throws(CryptoError) {
        guard let start = buffer.baseAddress else { throw .libraryFailed(.authentication) }
        let claimed = start + 16 + count
        let actual = claimed + 48
        guard cc_box_mac(box, start, 16 + count, actual) == 1 else {
            throw .libraryFailed(.authentication)
        }
        guard cc_equal(claimed, actual, 32) == 1 else { throw .notAuthentic }
    }

    /// In place: the plaintext lies where the ciphertext was.
    private func decrypt<Result: ~Copyable>(
        _ count: Int,
        _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        guard let iv = buffer.baseAddress else { throw .libraryFailed(.decryption) }
        let text = iv + 16
        defer { forget(count) }
        var plain = 0
        guard cc_box_decrypt_begin(box, iv) == 1,
            cc_box_decrypt_update(box, text, count, text, &plain) == 1,
            cc_box_decrypt_end(box, text + plain, &plain) == 1
        else { throw .undecryptable }
        return try body(UnsafeRawBufferPointer(start: text, count: plain))
    }

    private func forget(_ count: Int) {
        cc_wipe(buffer.baseAddress, 16 + count)
        guard buffer.count > Self.largestKept else { return }
        buffer.deallocate()
        buffer = .allocate(byteCount: 512, alignment: 16)
    }
}
