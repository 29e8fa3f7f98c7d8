import CCrypto

/// A symmetric key at work: opens and makes the EncStrings of one owner (a user, an organisation, a
/// cipher).
///
/// Safe to share and cheap to call from anywhere: a call takes contexts that are already keyed, and
/// two calls at the same time take two. The key is wiped when the last holder lets go.
public final class Sealer: Sendable {
    private let key: SymmetricKey
    private let entropy: any Entropy
    private let idle = ContextsPool()
    /// Contexts that are keyed anew each time, for ``withKey(_:_:)``.
    private let lent = ContextsPool()

    public init(_ key: consuming SymmetricKey, entropy: any Entropy = SystemEntropy()) {
        self.key = key
        self.entropy = entropy
    }

    public var keyID: KeyID { key.id }

    // MARK: Text

    /// The text of an EncString. Its MAC is checked before anything is decrypted.
    public func open(_ sealed: String) throws(CryptoError) -> String {
        try sealed.mapUTF8Bytes { sealed throws(CryptoError) in try open(utf8: sealed) }
    }

    /// The same for an EncString that lies in a larger text.
    public func open(utf8 sealed: UnsafeRawBufferPointer) throws(CryptoError) -> String {
        let contexts = try takeContexts()
        defer { idle.put(contexts) }
        return try contexts.openText(sealed)
    }

    /// Shows the plaintext to the closure and wipes it when that returns.
    func withOpened<Result: ~Copyable>(
        utf8 sealed: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        let contexts = try takeContexts()
        defer { idle.put(contexts) }
        return try contexts.open(sealed, body)
    }

    /// The plaintext as bytes that are wiped on release.
    public func openSecret(_ sealed: String) throws(CryptoError) -> Secret {
        try sealed.withUTF8Bytes { sealed throws(CryptoError) in
            try withOpened(utf8: sealed) { Secret(copying: $0) }
        }
    }

    /// A new EncString of type 2. Each call gives another text.
    public func seal(_ text: String) throws(CryptoError) -> String {
        try text.mapUTF8Bytes { text throws(CryptoError) in try seal(bytes: text) }
    }

    public func seal(bytes: UnsafeRawBufferPointer) throws(CryptoError) -> String {
        guard bytes.count < EncStringLayout.longest / 2 else {
            throw .tooLong(limit: EncStringLayout.longest / 2)
        }
        let contexts = try takeContexts()
        defer { idle.put(contexts) }
        return try contexts.seal(bytes, entropy: entropy, \.text)
    }

    public func seal(_ secret: borrowing Secret) throws(CryptoError) -> String {
        try secret.withUnsafeBytes { bytes throws(CryptoError) in try seal(bytes: bytes) }
    }

    // MARK: Keys

    /// The key that the EncString holds: a cipher's, an attachment's, the user's.
    public func unwrapKey(_ wrapped: String) throws(CryptoError) -> SymmetricKey {
        try SymmetricKey(openSecret(wrapped))
    }

    public func wrap(_ key: borrowing SymmetricKey) throws(CryptoError) -> String {
        try key.withUnsafeBytes { bytes throws(CryptoError) in try seal(bytes: bytes) }
    }

    /// Opens several texts with contexts that are taken once for all of them.
    public func withOpener<Result: ~Copyable>(
        _ body: (borrowing Opener) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        let contexts = try takeContexts()
        defer { idle.put(contexts) }
        return try body(Opener(contexts))
    }

    /// Opens several texts under a wrapped key that is needed for no longer, as an item's is while a
    /// list is shown. Half the price of unwrapping it and giving it a sealer of its own.
    public func withKey<Result: ~Copyable>(
        _ wrapped: String,
        _ body: (borrowing Opener) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        let contexts = try takeLentContexts()
        defer { lent.put(contexts) }
        try wrapped.withUTF8Bytes { wrapped throws(CryptoError) in
            try withOpened(utf8: wrapped) { key throws(CryptoError) in
                try SymmetricKey.check(count: key.count)
                try contexts.take(key: key)
            }
        }
        return try body(Opener(contexts))
    }

    // MARK: Buffers

    /// The content of a file in the binary form.
    public func open(buffer sealed: [UInt8]) throws(CryptoError) -> Secret {
        let contexts = try takeContexts()
        defer { idle.put(contexts) }
        return try sealed.span.withUnsafeBytes { sealed throws(CryptoError) in
            try contexts.open(buffer: sealed) { Secret(copying: $0) }
        }
    }

    /// The binary form of type 2.
    public func seal(buffer bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        let contexts = try takeContexts()
        defer { idle.put(contexts) }
        return try bytes.span.withUnsafeBytes { bytes throws(CryptoError) in
            try contexts.seal(bytes, entropy: entropy, \.buffer)
        }
    }

    /// What ``seal(_:)`` makes of that many bytes of UTF-8, to be held against the upstream's limits.
    public static func textCount(sealing count: Int) -> Int {
        72 + Base64.textCount(of: 16 * (count / 16 + 1))
    }

    // MARK: Contexts

    /// Lets go of the contexts at rest; the next call makes new ones. For a key that is used once a day.
    public func rest() {
        idle.empty()
        lent.empty()
    }

    private func takeContexts() throws(CryptoError) -> KeyedContexts {
        if let contexts = idle.take() { return contexts }
        return try KeyedContexts(key)
    }

    private func takeLentContexts() throws(CryptoError) -> KeyedContexts {
        if let contexts = lent.take() { return contexts }
        return try KeyedContexts()
    }
}

extension String {
    /// One text made of another. Quicker than by a span by some calls, which is a few parts in a
    /// hundred of what a short text costs.
    @inline(__always)
    fileprivate func mapUTF8Bytes(
        _ body: (UnsafeRawBufferPointer) throws(CryptoError) -> String
    ) throws(CryptoError) -> String {
        let result = utf8.withContiguousStorageIfAvailable { bytes in
            Result { () throws(CryptoError) in try body(UnsafeRawBufferPointer(bytes)) }
        }
        return if let result { try result.get() } else { try withUTF8Bytes(body) }
    }
}

extension Sealed {
    fileprivate var text: String {
        let count = Sealer.textCount(sealing: ciphertextCount - 1)
        return String(unsafeUninitializedCapacity: count + 1) { text in
            cc_box_write_text(start, ciphertextCount, text.baseAddress)
            return count
        }
    }

    fileprivate var buffer: [UInt8] {
        [EncString.Kind.aesWithMAC.rawValue] + Array(iv) + Array(mac) + Array(ciphertext)
    }
}
