import Bitwarden
import Crypto

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

/// The keys that a master password has opened before.
struct FormerKeys: Sendable {
    private(set) var cases: [KeyCase] = []
    /// Those that open the present key, too: only the derivation was changed.
    private(set) var needless: [MasterPasswordUnlock] = []

    static let none = FormerKeys()

    fileprivate init() {}

    /// Those that the password opens, each derived as it was then. What was derived alike is derived once.
    init(
        opening former: [MasterPasswordUnlock],
        beside present: borrowing SymmetricKey,
        _ password: borrowing Secret,
        email: String,
        entropy: any Entropy,
        in workshop: Workshop
    ) async {
        let presentID = present.id
        var rest = former
        while let next = rest.first {
            let alike = rest.filter { $0.isDerived(as: next) }
            rest.removeAll { $0.isDerived(as: next) }
            guard let derivation = try? KeyDerivation(next.settings),
                let master = try? await MasterKey.derived(
                    from: password.copy(),
                    salt: KeyDerivation.salt(server: next.salt, email: email),
                    by: derivation,
                    in: workshop
                )
            else { continue }
            for unlock in alike {
                guard let key = try? master.unwrapUserKey(unlock.wrappedUserKey) else { continue }
                if key.id == presentID {
                    needless.append(unlock)
                } else if let one = try? KeyCase(key, entropy: entropy) {
                    cases.append(one)
                }
            }
        }
    }
}

extension MasterPasswordUnlock {
    fileprivate func isDerived(as other: Self) -> Bool {
        settings == other.settings && salt == other.salt
    }
}
