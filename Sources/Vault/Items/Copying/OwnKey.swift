import Crypto

/// The key under which a new cipher's strings are, and how it is wrapped.
struct OwnKey {
    let sealer: Sealer
    /// Nil if the strings are under the owner's key.
    let wrapped: String?

    /// A fresh one, or none at all.
    init(_ isWanted: Bool, owner: Sealer, entropy: any Entropy) throws(EditRefusal) {
        guard isWanted else {
            (sealer, wrapped) = (owner, nil)
            return
        }
        do throws(CryptoError) {
            let key = SymmetricKey(from: entropy)
            wrapped = try owner.wrap(key)
            sealer = Sealer(key, entropy: entropy)
        } catch {
            throw .crypto(error)
        }
    }
}
