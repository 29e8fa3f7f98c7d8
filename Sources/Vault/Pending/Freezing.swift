public import Crypto

extension Snapshot {
    /// Freezes a cipher that was sealed with the account's keys.
    public init(_ cipher: Cipher, keys: KeyRing) {
        self.init(json: cipher.bytes, keyFingerprint: Self.fingerprint(of: keys.user))
    }

    /// By what a key is known in a snapshot: the digits of its id.
    public static func fingerprint(of key: Sealer) -> [UInt8] {
        Array(key.keyID.description.utf8)
    }
}
