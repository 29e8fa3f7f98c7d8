import CCrypto

/// An account's RSA key: opens what was encrypted for the account, above all its organisations' keys.
// @unchecked because OpenSSL's keys may be used by several threads at once, and this one never
// changes.
public struct PrivateKey: ~Copyable, @unchecked Sendable {
    private let key: OpaquePointer

    /// Reads a PKCS#8 document, as the account's key unwraps it.
    public init(pkcs8: borrowing Secret) throws(CryptoError) {
        let key = pkcs8.withUnsafeBytes { cc_rsa_private($0.baseAddress, $0.count) }
        guard let key else { throw .keyUnreadable }
        self.key = key
    }

    /// A new key of 2048 bits, from the system's chance: OpenSSL takes no other for this.
    public init() throws(CryptoError) {
        guard let key = cc_rsa_generate(2_048) else { throw .libraryFailed(.keyGeneration) }
        self.key = key
    }

    deinit {
        cc_rsa_free(key)
    }

    /// The PKCS#8 document, to be wrapped.
    public func pkcs8() throws(CryptoError) -> Secret {
        let count = cc_rsa_write_private(key, nil, 0)
        guard count > 0 else { throw .libraryFailed(.publicKey) }
        return try Secret(count: count) { out throws(CryptoError) in
            guard cc_rsa_write_private(key, out.baseAddress, out.count) == count else {
                throw .libraryFailed(.publicKey)
            }
        }
    }

    /// The public half as a SubjectPublicKeyInfo document, as the upstream has it.
    public func publicKey() throws(CryptoError) -> [UInt8] {
        let count = cc_rsa_write_public(key, nil)
        guard count > 0 else { throw .libraryFailed(.publicKey) }
        return [UInt8](unsafeUninitializedCapacity: count) { out, written in
            written = cc_rsa_write_public(key, out.baseAddress)
        }
    }

    /// The plaintext of an EncString of type 3, 4, 5 or 6. About a millisecond of work.
    public func open(_ sealed: String) throws(CryptoError) -> Secret {
        let sealed = try EncString(sealed)
        guard sealed.kind != .cose else { throw .unsupported(.version2) }
        guard let digest = sealed.kind.digest else { throw .wrongFamily }
        var plain = -1
        let scratch = Secret(count: cc_rsa_size(key)) { out in
            let text = sealed.ciphertext
            plain = cc_rsa_decrypt(key, digest, text, text.count, out.baseAddress)
        }
        guard plain >= 0 else { throw .undecryptable }
        return scratch.withUnsafeBytes { Secret(copying: .init(rebasing: $0[..<plain])) }
    }

    /// An organisation's key.
    public func unwrapKey(_ wrapped: String) throws(CryptoError) -> SymmetricKey {
        try SymmetricKey(open(wrapped))
    }
}

/// The public half of somebody's RSA key.
// @unchecked because OpenSSL's keys may be used by several threads at once, and this one never
// changes.
public struct PublicKey: ~Copyable, @unchecked Sendable {
    private let key: OpaquePointer

    /// Reads a SubjectPublicKeyInfo document.
    public init(_ document: [UInt8]) throws(CryptoError) {
        guard let key = cc_rsa_public(document, document.count) else { throw .keyUnreadable }
        self.key = key
    }

    deinit {
        cc_rsa_free(key)
    }

    /// An EncString of type 4 (or 3), which only the private key opens.
    public func seal(
        _ secret: borrowing Secret,
        as kind: EncString.Kind = .rsaSHA1
    ) throws(CryptoError) -> String {
        guard let digest = kind.digest, kind.pieceCount == 1 else { throw .wrongFamily }
        var count = -1
        let sealed = secret.withUnsafeBytes { plain in
            [UInt8](unsafeUninitializedCapacity: cc_rsa_size(key)) { out, written in
                count = cc_rsa_encrypt(key, digest, plain.baseAddress, plain.count, out.baseAddress)
                written = max(count, 0)
            }
        }
        guard count >= 0 else { throw .libraryFailed(.publicKey) }
        return "\(kind.rawValue)." + Base64.text(of: sealed)
    }

    public func wrap(_ key: borrowing SymmetricKey) throws(CryptoError) -> String {
        try seal(key.material)
    }
}

extension EncString.Kind {
    fileprivate var digest: cc_digest? {
        switch self {
        case .rsaSHA256, .rsaSHA256WithMAC: CC_SHA256
        case .rsaSHA1, .rsaSHA1WithMAC: CC_SHA1
        case .aes, .aesWithMAC, .cose: nil
        }
    }
}
