import CArgon2
import CCrypto

/// What the master password becomes: the key that opens the account's key, and the hash that proves to
/// the upstream that the password is right.
///
/// The password itself is not kept.
public struct MasterKey: ~Copyable, Sendable {
    private let key: Secret
    private let serverProof: Secret

    /// Derives the key. Takes the better part of a second and up to a GiB, so it belongs off every
    /// loop: see ``derived(from:salt:by:in:)``.
    public init(
        password: borrowing Secret,
        salt: String,
        derivation: KeyDerivation
    ) throws(CryptoError) {
        try derivation.check()
        let salt = Array(salt.utf8)
        let key =
            switch derivation {
            case .pbkdf2(let iterations):
                try password.pbkdf2(salt: salt, iterations: iterations)
            case .argon2id(let iterations, let mebibytes, let lanes):
                try password.argon2id(salt, iterations, mebibytes: mebibytes, lanes: lanes)
            }
        try self.init(key: key, password: password)
    }

    init(key: consuming Secret, password: borrowing Secret) throws(CryptoError) {
        serverProof = try key.pbkdf2(saltedBy: password, iterations: 1)
        self.key = key
    }

    /// The same, done in the workshop. A cancelled caller still waits for it: nobody can stop a
    /// derivation half way.
    public static func derived(
        from password: consuming Secret,
        salt: String,
        by derivation: KeyDerivation,
        in workshop: Workshop
    ) async throws(CryptoError) -> MasterKey {
        try await workshop.run(password) { password throws(CryptoError) in
            try MasterKey(password: password, salt: salt, derivation: derivation)
        }
    }

    /// What the upstream takes for the password. As good as the password there, so it goes into the
    /// request and nowhere else.
    public var serverHash: String { serverProof.withUnsafeBytes(Base64.text(of:)) }

    /// The key in the two halves that type 2 needs.
    public func stretched() throws(CryptoError) -> SymmetricKey {
        let aes = try key.expanded("enc", count: 32)
        let mac = try key.expanded("mac", count: 32)
        return SymmetricKey(
            unchecked: Secret(count: SymmetricKey.count) { out in
                aes.withUnsafeBytes { out.copyMemory(from: $0) }
                let half = UnsafeMutableRawBufferPointer(rebasing: out[32...])
                mac.withUnsafeBytes { half.copyMemory(from: $0) }
            }
        )
    }

    /// Unwraps the account's key. Accounts from before 2018 have it as type 0 under the raw master
    /// key; that is opened, and never made.
    public func unwrapUserKey(_ wrapped: String) throws(CryptoError) -> SymmetricKey {
        let kind = try EncString(wrapped).kind
        return kind == .aes
            ? try Sealer(legacyKey()).unwrapKey(wrapped)
            : try Sealer(stretched()).unwrapKey(wrapped)
    }

    func legacyKey() -> SymmetricKey {
        SymmetricKey(unchecked: key.withUnsafeBytes { Secret(copying: $0) })
    }
}

extension Secret {
    func pbkdf2(salt: [UInt8], iterations: Int) throws(CryptoError) -> Secret {
        try salt.span.withUnsafeBytes { salt throws(CryptoError) in
            try pbkdf2(salt: salt, iterations: iterations)
        }
    }

    func pbkdf2(saltedBy salt: borrowing Secret, iterations: Int) throws(CryptoError) -> Secret {
        try salt.withUnsafeBytes { salt throws(CryptoError) in
            try pbkdf2(salt: salt, iterations: iterations)
        }
    }

    private func pbkdf2(
        salt: UnsafeRawBufferPointer,
        iterations: Int
    ) throws(CryptoError) -> Secret {
        try Secret(count: 32) { out throws(CryptoError) in
            let isDone = withUnsafeBytes { password in
                cc_pbkdf2_sha256(
                    password.baseAddress,
                    password.count,
                    salt.baseAddress,
                    salt.count,
                    Int32(iterations),
                    out.baseAddress,
                    out.count
                )
            }
            guard isDone == 1 else { throw .libraryFailed(.derivation) }
        }
    }

    /// The salt goes in as its SHA-256, because Argon2 wants at least eight bytes.
    fileprivate func argon2id(
        _ salt: [UInt8],
        _ iterations: Int,
        mebibytes: Int,
        lanes: Int
    ) throws(CryptoError) -> Secret {
        let salt = salt.span.withUnsafeBytes { Digest.sha256(of: $0) }
        return try Secret(count: 32) { out throws(CryptoError) in
            let isDone = withUnsafeBytes { password in
                ca_argon2id(
                    UInt32(iterations),
                    UInt32(mebibytes) << 10,
                    UInt32(lanes),
                    password.baseAddress,
                    password.count,
                    salt,
                    salt.count,
                    out.baseAddress,
                    out.count
                )
            }
            guard isDone == 1 else { throw .libraryFailed(.derivation) }
        }
    }
}
