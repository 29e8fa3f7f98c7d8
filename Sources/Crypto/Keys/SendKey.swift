/// What a Send is encrypted with: 16 bytes that travel in its link, from which its key is made.
public struct SendKey: ~Copyable, Sendable {
    private let secret: Secret
    private static let count = 16

    public init(from entropy: any Entropy) {
        secret = Secret(random: Self.count, from: entropy)
    }

    /// Takes the bytes that a Send's `key` holds under the user's key.
    public init(_ secret: consuming Secret) throws(CryptoError) {
        guard secret.count == Self.count else { throw .keyLength(secret.count) }
        self.secret = secret
    }

    /// The key of the Send's content.
    public func key() throws(CryptoError) -> SymmetricKey {
        try SymmetricKey(shared: secret, name: "send", info: "send")
    }

    /// The Send's `key`.
    public func wrapped(by user: Sealer) throws(CryptoError) -> String {
        try user.seal(secret)
    }

    /// What the upstream compares when the Send asks its reader for a password.
    public func passwordHash(_ password: borrowing Secret) throws(CryptoError) -> String {
        try password.pbkdf2(saltedBy: secret, iterations: 100_000)
            .withUnsafeBytes(Base64.text(of:))
    }

    /// The bytes as they stand in the link.
    public func revealedBytes() -> [UInt8] { secret.revealedBytes() }
}
