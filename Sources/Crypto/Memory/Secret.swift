import CCrypto

/// Bytes that nobody else may see: a key, a password, a decrypted file.
///
/// There is one owner; the bytes are wiped when it lets go. They lie in ``SecretMemory``. A secret
/// has no description and cannot be put into an error or a log.
// @unchecked because the bytes are written in the initializer and never again.
public struct Secret: ~Copyable, @unchecked Sendable {
    public let count: Int
    /// Whether the bytes are in the locked arena, or had to go to ordinary memory.
    public let isInArena: Bool
    private let memory: UnsafeMutableRawPointer

    /// A secret of that many bytes, which the closure fills in.
    public init<Failure: Error>(
        count: Int,
        _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        let allocation = SecretMemory.allocate(max(count, 1))
        let bytes = UnsafeMutableRawBufferPointer(start: allocation.memory, count: count)
        _ = bytes.initializeMemory(as: UInt8.self, repeating: 0)
        do {
            try fill(bytes)
        } catch {
            SecretMemory.release(
                allocation.memory,
                max(count, 1),
                isInArena: allocation.isInArena
            )
            throw error
        }
        self.count = count
        self.isInArena = allocation.isInArena
        self.memory = allocation.memory
    }

    public init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    public func copy() -> Secret { withUnsafeBytes { Secret(copying: $0) } }

    public init(_ bytes: [UInt8]) {
        self = bytes.span.withUnsafeBytes { Secret(copying: $0) }
    }

    /// The text's UTF-8, as it is: passwords are not normalised.
    public init(utf8 text: String) {
        self = text.withUTF8Bytes { Secret(copying: $0) }
    }

    public init(random count: Int, from entropy: any Entropy) {
        self.init(count: count) { entropy.fill($0) }
    }

    public func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// Whether the bytes are the same, in a time that does not tell where they differ.
    public func isEqual(to other: borrowing Secret) -> Bool {
        count == other.count && cc_equal(memory, other.memory, count) == 1
    }

    /// A copy in ordinary memory that nobody wipes, for what leaves the host's keeping: an answer,
    /// a file.
    public func revealedBytes() -> [UInt8] {
        withUnsafeBytes { Array($0) }
    }

    /// The same as text.
    public func revealedText() throws(CryptoError) -> String {
        let text = withUnsafeBytes { bytes in
            String(validating: bytes.bindMemory(to: UInt8.self), as: UTF8.self)
        }
        guard let text else { throw .notText }
        return text
    }

    deinit {
        SecretMemory.release(memory, max(count, 1), isInArena: isInArena)
    }
}

extension String {
    /// The text's UTF-8 where it lies.
    func withUTF8Bytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try utf8Span.span.withUnsafeBytes(body)
    }
}
