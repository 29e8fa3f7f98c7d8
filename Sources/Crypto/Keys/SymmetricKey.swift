import CCrypto

/// A key of two halves, 32 bytes for AES and 32 for the MAC: the user's, an organisation's, a
/// cipher's or an attachment's.
///
/// This is the key as material, to be wrapped, handed on or put to work in a ``Sealer``.
public struct SymmetricKey: ~Copyable, Sendable {
    let material: Secret

    public static let count = 64

    /// Takes the bytes as a key. Bytes of another length are refused, and what gives away an account
    /// of version 2 (more than 64 bytes, a padded COSE key) by that name.
    public init(_ material: consuming Secret) throws(CryptoError) {
        try Self.check(count: material.count)
        self.material = material
    }

    static func check(count: Int) throws(CryptoError) {
        switch count {
        case Self.count: return
        case (Self.count + 1)...: throw .unsupported(.version2)
        case 32: throw .unsupported(.userKeyWithoutMAC)
        default: throw .keyLength(count)
        }
    }

    public init(base64 text: String) throws(CryptoError) {
        let material = try text.withUTF8Bytes { bytes throws(CryptoError) in
            try Secret(base64: bytes)
        }
        try self.init(material)
    }

    /// A new key.
    public init(from entropy: any Entropy) {
        material = Secret(random: Self.count, from: entropy)
    }

    /// Also takes 32 bytes: the raw master key of an account from before 2018, which opens type 0
    /// and nothing else.
    init(unchecked material: consuming Secret) {
        self.material = material
    }

    var hasMAC: Bool { material.count == Self.count }

    public var id: KeyID {
        material.withUnsafeBytes { KeyID(of: $0) }
    }

    public borrowing func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try material.withUnsafeBytes(body)
    }

    public func isEqual(to other: borrowing SymmetricKey) -> Bool {
        material.isEqual(to: other.material)
    }
}

extension SymmetricKey {
    /// A second owner of the same key, for what needs one of its own.
    public borrowing func duplicate() -> SymmetricKey {
        SymmetricKey(unchecked: material.withUnsafeBytes { Secret(copying: $0) })
    }

    /// The key that a name and an info make of a shared secret; how Sends and access tokens get
    /// theirs.
    public init(
        shared secret: borrowing Secret,
        name: String,
        info: String?
    ) throws(CryptoError) {
        let salt = Array("bitwarden-\(name)".utf8)
        let info = Array((info ?? "").utf8)
        material = try Secret(count: Self.count) { out throws(CryptoError) in
            let isDone = secret.withUnsafeBytes { secret in
                cc_hkdf_sha256(
                    secret.baseAddress,
                    secret.count,
                    salt,
                    salt.count,
                    info,
                    info.count,
                    out.baseAddress,
                    out.count
                )
            }
            guard isDone == 1 else { throw .libraryFailed(.derivation) }
        }
    }
}

extension Secret {
    /// Decodes canonical base64 without leaving a trace of it elsewhere.
    init(base64 text: UnsafeRawBufferPointer) throws(CryptoError) {
        var decoded = -1
        let scratch = Secret(count: Base64.capacity(for: text.count)) { out in
            decoded = cc_base64_decode(text.baseAddress, text.count, out.baseAddress)
        }
        guard decoded >= 0 else { throw .malformed(.base64) }
        self = scratch.withUnsafeBytes { Secret(copying: .init(rebasing: $0[..<decoded])) }
    }

    /// The bytes that HKDF-Expand makes of these.
    func expanded(_ info: String, count: Int) throws(CryptoError) -> Secret {
        let info = Array(info.utf8)
        return try Secret(count: count) { out throws(CryptoError) in
            let isDone = withUnsafeBytes { key in
                cc_hkdf_expand_sha256(
                    key.baseAddress,
                    key.count,
                    info,
                    info.count,
                    out.baseAddress,
                    out.count
                )
            }
            guard isDone == 1 else { throw .libraryFailed(.derivation) }
        }
    }
}
