/// The keys of an unlocked account: its own, its private key's, and those of its organisations.
///
/// Locking an account is letting go of its ring; every key in it is then wiped.
public final class KeyRing: Sendable {
    public let user: Sealer
    /// Why an organisation's key could not be unwrapped. Its items are unreadable, all others are not.
    public let unreadable: [String: CryptoError]
    /// Why the private key could not be unwrapped. The organisations' items are unreadable then, the
    /// user's own are not.
    public let privateKeyFlaw: CryptoError?
    /// The public half of the private key, which itself is not kept: nothing is opened with it later.
    public let publicKey: [UInt8]?
    /// Whether upstream throws away the keys that items have of their own.
    public let dropsItemKeys: Bool
    private let organizations: [String: Sealer]

    /// Unwraps the private key with the user's and the organisations' keys (by their ids) with the
    /// private key. RSA takes a millisecond for each of them; see ``opened(user:account:in:)``.
    ///
    /// An account of version 2 is refused.
    public init(
        user: consuming SymmetricKey,
        account: WrappedKeys,
        entropy: any Entropy = SystemEntropy()
    ) throws(CryptoError) {
        guard !account.hasSecurityState else { throw .unsupported(.version2) }
        let user = Sealer(user, entropy: entropy)
        let privateKey: PrivateKey?
        do throws(CryptoError) {
            privateKey = try Self.privateKey(account.privateKey, user)
            privateKeyFlaw = nil
        } catch {
            guard error != .unsupported(.version2) else { throw error }
            privateKey = nil
            privateKeyFlaw = error
        }
        var (organizations, unreadable) = ([String: Sealer](), [String: CryptoError]())
        for (id, wrapped) in account.organizations {
            do {
                let key = try Self.unwrap(wrapped, with: privateKey)
                organizations[id] = Sealer(key, entropy: entropy)
            } catch {
                unreadable[id] = error
            }
        }
        (self.organizations, self.unreadable) = (organizations, unreadable)
        self.user = user
        dropsItemKeys = account.dropsItemKeys
        publicKey = Self.publicKey(of: privateKey)
    }

    /// The same, done in the workshop.
    public static func opened(
        user: consuming SymmetricKey,
        account: WrappedKeys,
        entropy: any Entropy = SystemEntropy(),
        in workshop: Workshop
    ) async throws(CryptoError) -> KeyRing {
        try await workshop.run(user) { user throws(CryptoError) in
            try KeyRing(user: user.duplicate(), account: account, entropy: entropy)
        }
    }

    /// Whose key a cipher, a collection or an attachment without its own is under; nil if this
    /// account has no key for the organisation.
    public func owner(organizationID: String?) -> Sealer? {
        guard let organizationID else { return user }
        return organizations[organizationID]
    }

    /// A vault does not stay closed for want of it.
    private static func publicKey(of privateKey: borrowing PrivateKey?) -> [UInt8]? {
        switch privateKey {
        case .some(let key): try? key.publicKey()
        case .none: nil
        }
    }

    private static func privateKey(
        _ wrapped: String?,
        _ user: Sealer
    ) throws(CryptoError) -> PrivateKey? {
        guard let wrapped else { return nil }
        return try PrivateKey(pkcs8: user.openSecret(wrapped))
    }

    private static func unwrap(
        _ wrapped: String,
        with key: borrowing PrivateKey?
    ) throws(CryptoError) -> SymmetricKey {
        switch key {
        case .some(let key): try key.unwrapKey(wrapped)
        case .none: throw .keyUnreadable
        }
    }
}

/// An account's keys as the upstream keeps them, all wrapped.
public struct WrappedKeys: Hashable, Sendable {
    public var privateKey: String?
    /// By the organisation's id.
    public var organizations: [String: String]
    /// Whether the upstream sent a security state, which only accounts of version 2 have.
    public var hasSecurityState: Bool
    /// Whether the upstream throws away the keys that items have of their own.
    public var dropsItemKeys: Bool

    public init(
        privateKey: String?,
        organizations: [String: String] = [:],
        hasSecurityState: Bool = false,
        dropsItemKeys: Bool = false
    ) {
        self.privateKey = privateKey
        self.organizations = organizations
        self.hasSecurityState = hasSecurityState
        self.dropsItemKeys = dropsItemKeys
    }
}
