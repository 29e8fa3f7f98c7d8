public import Crypto

/// Makes the keys of a new account, as an official client does when somebody registers.
public struct Newcomer: Sendable {
    public let registration: Registration

    /// Derives, and generates a key pair: the better part of a second.
    public init(
        email: String,
        password: String,
        settings: DerivationSettings = .usual,
        entropy: any Entropy = SystemEntropy()
    ) throws(CryptoError) {
        let master = try MasterKey(
            password: Secret(utf8: password),
            salt: KeyDerivation.salt(server: nil, email: email),
            derivation: KeyDerivation(
                kdf: settings.kind,
                iterations: settings.iterations,
                memory: settings.memory,
                parallelism: settings.parallelism
            )
        )
        let key = SymmetricKey(from: entropy)
        let wrappedUserKey = try Sealer(master.stretched(), entropy: entropy).wrap(key)
        let user = Sealer(key, entropy: entropy)
        let pair = try PrivateKey()
        registration = Registration(
            email: email,
            masterPasswordHash: master.serverHash,
            settings: settings,
            wrappedUserKey: wrappedUserKey,
            keys: AccountKeys(
                publicKey: Base64.text(of: try pair.publicKey()),
                wrappedPrivateKey: try user.seal(try pair.pkcs8())
            )
        )
    }
}
