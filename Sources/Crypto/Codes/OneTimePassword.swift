import CCrypto

/// The authenticator key of a login: an `otpauth://` URI, a `steam://` secret or a bare base32 secret.
///
/// Read as the official clients do, which put the whole text into lower case first.
public struct OneTimePassword: ~Copyable, Sendable {
    public enum Algorithm: Sendable {
        case sha1, sha256, sha512
    }

    public enum Alphabet: Sendable {
        case decimal, steam
    }

    public private(set) var algorithm = Algorithm.sha1
    public private(set) var alphabet = Alphabet.decimal
    /// 0 to 10, although more than 10 digits of 31 bits would say nothing new.
    public private(set) var digits = 6
    public private(set) var periodSeconds: UInt32 = 30
    public private(set) var issuer: String?
    public private(set) var account: String?
    private let secret: Secret

    public init(_ text: String) throws(CryptoError) {
        let text = text.lowercased()
        if let uri = OTPAuthURI(text) {
            (issuer, account) = (uri.issuer, uri.account)
            (algorithm, digits) = (uri.algorithm, uri.digits)
            periodSeconds = uri.periodSeconds
            secret = Base32.secret(of: uri.secret)
        } else if text.hasPrefix("steam://") {
            (alphabet, digits) = (.steam, 5)
            secret = Base32.secret(of: String(text.dropFirst("steam://".count)))
        } else {
            secret = Base32.secret(of: text)
        }
        guard secret.count > 0 else { throw .noSecret }
    }

    /// The code of the moment, given as seconds since 1970.
    public func code(atSeconds now: Int64) throws(CryptoError) -> String {
        let step = UInt64(max(0, now)) / UInt64(periodSeconds)
        let number = try truncated(hash(of: step))
        return switch alphabet {
        case .decimal: Self.decimal(number, digits)
        case .steam: Self.steam(number, digits)
        }
    }

    private func hash(of step: UInt64) throws(CryptoError) -> [UInt8] {
        let message = withUnsafeBytes(of: step.bigEndian) { Array($0) }
        let hash = secret.withUnsafeBytes { secret in
            [UInt8](unsafeUninitializedCapacity: 64) { out, count in
                count = cc_hmac(
                    algorithm.digest,
                    secret.baseAddress,
                    secret.count,
                    message,
                    message.count,
                    out.baseAddress
                )
            }
        }
        guard !hash.isEmpty else { throw .libraryFailed(.digest) }
        return hash
    }

    /// RFC 4226's dynamic truncation.
    private func truncated(_ hash: [UInt8]) -> UInt64 {
        let offset = Int(hash[hash.count - 1] & 0x0F)
        return hash[offset..<offset + 4].reduce(0) { $0 << 8 | UInt64($1) } & 0x7FFF_FFFF
    }

    private static func decimal(_ number: UInt64, _ digits: Int) -> String {
        let modulus = (0..<digits).reduce(UInt64(1)) { power, _ in power * 10 }
        let text = String(number % modulus)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func steam(_ number: UInt64, _ digits: Int) -> String {
        let alphabet = Array("23456789BCDFGHJKMNPQRTVWXY")
        var (rest, text) = (Int(number), "")
        for _ in 0..<digits {
            text.append(alphabet[rest % alphabet.count])
            rest /= alphabet.count
        }
        return text
    }
}

extension OneTimePassword.Algorithm {
    fileprivate var digest: cc_digest {
        switch self {
        case .sha1: CC_SHA1
        case .sha256: CC_SHA256
        case .sha512: CC_SHA512
        }
    }
}
