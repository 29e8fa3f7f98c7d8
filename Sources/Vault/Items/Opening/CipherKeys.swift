public import Crypto
import JSON

/// Under which key a cipher's strings are.
extension Cipher {
    /// The key of whom the cipher belongs to: it seals the cipher's own key, or all strings if there
    /// is none.
    public func owner(in keys: KeyRing) throws(Flaw) -> Sealer {
        guard let owner = keys.owner(organizationID: organizationID) else {
            throw Flaw(.noOrganizationKey, at: ["organizationId"])
        }
        return owner
    }

    /// Lends what opens the cipher's strings. Nothing is kept of the cipher's own key, so that a list
    /// of items costs half of what a sealer for each of them would.
    func withOpener<Result>(
        in keys: KeyRing,
        _ body: (borrowing Opener) -> Result
    ) throws(Flaw) -> Result {
        let (owner, wrapped) = (try owner(in: keys), try wrappedKey())
        do throws(CryptoError) {
            guard let wrapped else { return try owner.withOpener(body) }
            return try owner.withKey(wrapped, body)
        } catch {
            throw Flaw(.key(error), at: ["key"])
        }
    }

    /// What opens and seals the cipher's strings.
    public func sealer(
        in keys: KeyRing,
        entropy: any Entropy = SystemEntropy()
    ) throws(Flaw) -> Sealer {
        let owner = try owner(in: keys)
        guard let wrapped = try wrappedKey() else { return owner }
        do throws(CryptoError) {
            return Sealer(try owner.unwrapKey(wrapped), entropy: entropy)
        } catch {
            throw Flaw(.key(error), at: ["key"])
        }
    }

    private func wrappedKey() throws(Flaw) -> String? {
        guard let value = self["key"], !value.isNull else { return nil }
        guard let wrapped = value.string else {
            throw Flaw(.shape("must be a string"), at: ["key"])
        }
        return wrapped
    }
}
