import CCrypto

/// OpenSSL's contexts of one key, keyed once and used again and again, with the desk they work on.
///
/// One call at a time. What is decrypted lies on the desk only while the caller looks at it.
// @unchecked because whoever lends it out (a sealer's pool) has it used by one call at a time.
final class KeyedContexts: @unchecked Sendable {
    private let box: OpaquePointer
    private let hasMAC: Bool
    // Not checked for overlapping access at run time: it costs as much as the pool,
    // and one call at a time is what the pool is for.
    @exclusivity(unchecked)
    private var desk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_024, alignment: 16)
    @exclusivity(unchecked)
    private var vectors = VectorSupply()
    private static let largestDeskKept = 1 << 16

    /// Contexts that wait for a key of two halves.
    init() throws(CryptoError) {
        guard let box = cc_box_new() else { throw .libraryFailed(.contexts) }
        self.box = box
        hasMAC = true
    }

    init(_ key: borrowing SymmetricKey) throws(CryptoError) {
        guard let box = cc_box_new() else { throw .libraryFailed(.contexts) }
        self.box = box
        hasMAC = key.hasMAC
        try key.withUnsafeBytes { bytes throws(CryptoError) in try take(key: bytes) }
    }

    deinit {
        cc_box_free(box)
        desk.deallocate()
    }

    /// Takes the key in place of the one before.
    func take(key: UnsafeRawBufferPointer) throws(CryptoError) {
        guard let start = key.baseAddress, cc_box_key(box, start, hasMAC ? start + 32 : nil) == 1
        else { throw .libraryFailed(.contexts) }
    }

    /// Opens the text and shows the plaintext, which is wiped when the closure returns.
    func open<Result: ~Copyable>(
        _ text: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        let layout = try EncStringLayout(of: text)
        try admit(layout.kind)
        let desk = room(for: Base64.capacity(for: layout.ciphertext.count))
        let count = try decode(text, layout, to: desk)
        try authenticate(desk, count)
        return try decrypt(desk, count, body)
    }

    func openText(_ text: UnsafeRawBufferPointer) throws(CryptoError) -> String {
        try open(text) { plaintext throws(CryptoError) in
            let bytes = plaintext.bindMemory(to: UInt8.self)
            do {
                return String(copying: try UTF8Span(validating: bytes.span))
            } catch {
                throw .notText
            }
        }
    }

    /// Opens the binary form.
    func open<Result: ~Copyable>(
        buffer sealed: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        guard let source = sealed.baseAddress, let type = sealed.first,
            let kind = EncString.Kind(rawValue: type)
        else { throw .malformed(.unknownType) }
        try admit(kind)
        let head = hasMAC ? 49 : 17
        let count = sealed.count - head
        guard count > 0, count % 16 == 0 else { throw .malformed(.ciphertextLength) }
        let desk = room(for: count)
        desk.copyMemory(from: source + 1, byteCount: 16)
        (desk + 16).copyMemory(from: source + head, byteCount: count)
        (desk + 16 + count).copyMemory(from: source + 17, byteCount: head - 17)
        try authenticate(desk, count)
        return try decrypt(desk, count, body)
    }

    /// Encrypts and authenticates, and shows the three pieces.
    func seal<Result>(
        _ plaintext: UnsafeRawBufferPointer,
        entropy: any Entropy,
        _ body: (Sealed) -> Result
    ) throws(CryptoError) -> Result {
        guard hasMAC else { throw .downgrade }
        let iv = room(for: plaintext.count + 16)
        vectors.take(to: iv, from: entropy)
        var count = 0
        guard cc_box_encrypt_begin(box, iv) == 1,
            cc_box_encrypt_update(box, plaintext.baseAddress, plaintext.count, iv + 16, &count)
                == 1,
            cc_box_encrypt_end(box, iv + 16 + count, &count) == 1
        else { throw .libraryFailed(.encryption) }
        guard cc_box_mac(box, iv, 16 + count, iv + 16 + count) == 1 else {
            throw .libraryFailed(.authentication)
        }
        return body(Sealed(start: iv, ciphertextCount: count))
    }

    /// Whether this key may open this kind at all.
    private func admit(_ kind: EncString.Kind) throws(CryptoError) {
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
    let start: UnsafeRawPointer
    let ciphertextCount: Int

    var iv: UnsafeRawBufferPointer { .init(start: start, count: 16) }
    var ciphertext: UnsafeRawBufferPointer { .init(start: start + 16, count: ciphertextCount) }
    var mac: UnsafeRawBufferPointer { .init(start: start + 16 + ciphertextCount, count: 32) }
}

// On the desk lie IV, ciphertext and MAC one behind the other, so that the MAC is taken over one
// piece. Base64 may write up to two bytes too many behind each; the next piece writes over them.
extension KeyedContexts {
    /// The desk, large enough for that much ciphertext and what goes around it.
    private func room(for count: Int) -> UnsafeMutableRawPointer {
        let needed = 16 + count + 48 + 32
        if desk.count < needed { replaceDesk(needed) }
        guard let start = desk.baseAddress else { preconditionFailure("A desk is never empty.") }
        return start
    }

    private func replaceDesk(_ count: Int) {
        desk.deallocate()
        desk = .allocate(byteCount: count, alignment: 16)
    }

    /// Decodes the pieces onto the desk; the length of the ciphertext.
    private func decode(
        _ text: UnsafeRawBufferPointer,
        _ layout: EncStringLayout,
        to desk: UnsafeMutableRawPointer
    ) throws(CryptoError) -> Int {
        guard layout.iv.count == 24, try decode(layout.iv, of: text, to: desk) == 16 else {
            throw .malformed(.ivLength)
        }
        let count = try decode(layout.ciphertext, of: text, to: desk + 16)
        guard count > 0, count % 16 == 0 else { throw .malformed(.ciphertextLength) }
        guard hasMAC else { return count }
        let mac = desk + 16 + count
        guard layout.mac.count == 44, try decode(layout.mac, of: text, to: mac) == 32 else {
            throw .malformed(.macLength)
        }
        return count
    }

    private func decode(
        _ piece: Range<Int>,
        of text: UnsafeRawBufferPointer,
        to target: UnsafeMutableRawPointer
    ) throws(CryptoError) -> Int {
        guard let source = text.baseAddress else { return 0 }
        let count = cc_base64_decode(source + piece.lowerBound, piece.count, target)
        guard count >= 0 else { throw .malformed(.base64) }
        return count
    }

    private func authenticate(
        _ desk: UnsafeMutableRawPointer,
        _ count: Int
    ) throws(CryptoError) {
        guard hasMAC else { return }
        let claimed = desk + 16 + count
        let actual = claimed + 48
        guard cc_box_mac(box, desk, 16 + count, actual) == 1 else {
            throw .libraryFailed(.authentication)
        }
        guard cc_equal(claimed, actual, 32) == 1 else { throw .notAuthentic }
    }

    /// In place: the plaintext lies where the ciphertext was.
    private func decrypt<Result: ~Copyable>(
        _ desk: UnsafeMutableRawPointer,
        _ count: Int,
        _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        let text = desk + 16
        defer { forget(text, count) }
        var plain = 0
        guard cc_box_decrypt_begin(box, desk) == 1,
            cc_box_decrypt_update(box, text, count, text, &plain) == 1,
            cc_box_decrypt_end(box, text + plain, &plain) == 1
        else { throw .undecryptable }
        return try body(UnsafeRawBufferPointer(start: text, count: plain))
    }

    private func forget(_ text: UnsafeMutableRawPointer, _ count: Int) {
        cc_wipe(text, count)
        if count > Self.largestDeskKept { replaceDesk(1_024) }
    }
}
