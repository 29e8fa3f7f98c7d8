import Crypto
import System

/// The user's key while the vault is open, so that a new ring can be made when an organisation comes or
/// goes, without asking for the password.
///
/// It lies wrapped under a key that only this value has.
struct KeyCase: Sendable {
    private let wrapper: Sealer
    private let wrapped: String

    init(_ key: borrowing SymmetricKey, entropy: any Entropy) throws(CryptoError) {
        wrapper = Sealer(SymmetricKey(from: entropy), entropy: entropy)
        wrapped = try wrapper.wrap(key)
        wrapper.rest()
    }

    /// Whether it is this very case: no other is wrapped alike.
    func isSame(as other: KeyCase?) -> Bool { wrapped == other?.wrapped }

    func key() throws(CryptoError) -> SymmetricKey {
        defer { wrapper.rest() }
        return try wrapper.unwrapKey(wrapped)
    }
}

extension MasterKey {
    /// Those of the wrapped keys that it opens.
    func cases(of wrapped: [String], entropy: any Entropy) -> [KeyCase] {
        var cases: [KeyCase] = []
        for text in wrapped {
            if let key = try? unwrapUserKey(text), let one = try? KeyCase(key, entropy: entropy) {
                cases.append(one)
            }
        }
        return cases
    }
}
