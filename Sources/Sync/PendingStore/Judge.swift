public import Crypto
internal import Vault

/// Tells whether a password is lost. That takes the account's keys, of which the store has none, so whoever brings
/// it an answer of upstream's has the judge come along.
public struct Judge: Sendable {
    /// Of a locked account: it cannot tell.
    public static let locked = Judge(nil)

    private let keys: KeyRing?

    /// - Parameter keys: Nil while the account is locked.
    public init(_ keys: KeyRing?) { self.keys = keys }

    var isLocked: Bool { keys == nil }

    /// Whether that was sealed under another key than there is now.
    func isForeign(_ keyFingerprint: [UInt8]) -> Bool {
        keys.map { Snapshot.fingerprint(of: $0.user) != keyFingerprint } ?? false
    }

    /// Whether the password of what was there is nowhere in what is there now; nil if that cannot be told.
    func isLost(_ former: Cipher, in now: Cipher) -> Bool? {
        now.losesPassword(of: former, in: keys)
    }

    /// Whether the password of what was there is in such a backup copy; not as far as is known, if that cannot be
    /// told.
    func isKept(_ former: Cipher, in copy: Cipher) -> Bool {
        keys.map { copy.keepsPassword(of: former, in: $0) } ?? false
    }
}
