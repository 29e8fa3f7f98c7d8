import CCrypto

/// OpenSSL's contexts of one key, keyed once and used again and again.
///
/// One call at a time. What they work on lies on a desk that is there for the time of a call: an account
/// that does nothing has none. What is decrypted is wiped when the caller has looked at it.
// @unchecked because whoever lends it out (a sealer's pool) has it used by one call at a time.
final class KeyedContexts: @unchecked Sendable {
    private let box: OpaquePointer
    private let hasMAC: Bool
    // Not checked for overlapping access at run time: it costs as much as the pool,
    // and one call at a time is what the pool is for.
    @exclusivity(unchecked)
    private var vectors = VectorSupply()

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

    deinit { cc_box_free(box) }

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
        guard text.count <= EncStringLayout.longest else {
            throw .tooLong(limit: EncStringLayout.longest)
        }
        // What base64 decodes to is shorter than the text.
        return try Self.withDesk(for: text.count) { desk throws(CryptoError) in
            var count = 0
            var ending = cc_box_open_text(box, text.baseAddress, text.count, desk, &count)
            if ending == CC_BOX_UNUSUAL { ending = try openUnusual(text, desk, &count) }
            return try Self.show(desk, count, ending, body)
        }
    }

    /// A text of another type, or one that is malformed.
    private func openUnusual(
        _ text: UnsafeRawBufferPointer,
        _ desk: UnsafeMutableRawPointer,
        _ count: inout Int
    ) throws(CryptoError) -> cc_box_ending {
        let layout = try EncStringLayout(of: text)
        try admit(layout.kind)
        return cc_box_open(
            box,
            cc_box_piece(layout.iv, of: text),
            cc_box_piece(layout.ciphertext, of: text),
            cc_box_piece(layout.mac, of: text),
            desk,
            &count
        )
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
        return try Self.withDesk(for: count) { desk throws(CryptoError) in
            desk.copyMemory(from: source + 1, byteCount: 16)
            (desk + 16).copyMemory(from: source + head, byteCount: count)
            (desk + 16 + count).copyMemory(from: source + 17, byteCount: head - 17)
            var plainCount = 0
            let ending = cc_box_open_desk(box, desk, count, &plainCount)
            return try Self.show(desk, plainCount, ending, body)
        }
    }

    /// Encrypts and authenticates, and shows the three pieces.
    func seal<Result>(
        _ plaintext: UnsafeRawBufferPointer,
        entropy: any Entropy,
        _ body: (Sealed) -> Result
    ) throws(CryptoError) -> Result {
        guard hasMAC else { throw .downgrade }
        return try Self.withDesk(for: plaintext.count + 16) { desk throws(CryptoError) in
            vectors.take(to: desk, from: entropy)
            var count = 0
            let ending = cc_box_seal_desk(box, plaintext.baseAddress, plaintext.count, desk, &count)
            guard ending == CC_BOX_DONE else { throw .libraryFailed(.encryption) }
            return body(Sealed(start: desk, ciphertextCount: count))
        }
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

extension KeyedContexts {
    /// A desk, large enough for that much ciphertext and what goes around it. Small ones lie on the stack.
    private static func withDesk<Result: ~Copyable>(
        for count: Int,
        _ body: (UnsafeMutableRawPointer) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        let size = count + Int(CC_BOX_DESK_MARGIN)
        return try withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) {
            desk throws(CryptoError) in
            guard let start = desk.baseAddress else { preconditionFailure("A desk has a margin.") }
            return try body(start)
        }
    }

    /// Shows the plaintext that lies where the ciphertext was, and wipes it.
    private static func show<Result: ~Copyable>(
        _ desk: UnsafeMutableRawPointer,
        _ count: Int,
        _ ending: cc_box_ending,
        _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        guard ending == CC_BOX_DONE else { throw CryptoError(ending) }
        let text = desk + 16
        defer { cc_wipe(text, count) }
        return try body(UnsafeRawBufferPointer(start: text, count: count))
    }
}

extension cc_box_piece {
    fileprivate init(_ range: Range<Int>, of text: UnsafeRawBufferPointer) {
        self.init(start: text.baseAddress.map { $0 + range.lowerBound }, count: range.count)
    }
}

extension CryptoError {
    /// What became of a text that could not be opened.
    fileprivate init(_ ending: cc_box_ending) {
        self =
            switch ending {
            case CC_BOX_NO_BASE64: .malformed(.base64)
            case CC_BOX_IV_LENGTH: .malformed(.ivLength)
            case CC_BOX_CIPHERTEXT_LENGTH: .malformed(.ciphertextLength)
            case CC_BOX_MAC_LENGTH: .malformed(.macLength)
            case CC_BOX_NOT_AUTHENTIC: .notAuthentic
            case CC_BOX_UNDECRYPTABLE: .undecryptable
            default: .libraryFailed(.authentication)
            }
    }
}
