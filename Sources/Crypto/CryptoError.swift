/// Why a cryptographic operation was refused.
///
/// No case carries a key, a plaintext or a piece of what was handed in, so an error may be shown and
/// logged anywhere. Which item and which field it was, only the caller knows.
public enum CryptoError: Error, Equatable, Sendable {
    /// The text is no EncString, or its pieces do not fit its type.
    case malformed(Flaw)
    /// It is recognised, and this host does not open it.
    case unsupported(Format)
    /// A symmetric EncString where an RSA one belongs, or the other way around.
    case wrongFamily
    /// No MAC although the key has one: somebody may have stripped it.
    case downgrade
    /// A MAC although the key has none.
    case keyWithoutMAC
    /// The MAC does not fit: another key, or other bytes. Nothing was decrypted.
    case notAuthentic
    /// The padding does not fit: another key, or other bytes.
    case undecryptable
    /// What was decrypted is not UTF-8.
    case notText
    /// A key of a length that no key has.
    case keyLength(Int)
    /// The document holds no RSA key.
    case keyUnreadable
    /// A parameter of the key derivation that is dangerously small, or costs more than it may.
    case outOfBounds(KeyDerivation.Parameter, value: Int, allowed: ClosedRange<Int>)
    /// The upstream names a key derivation that nobody knows.
    case unknownDerivation(Int)
    /// The one-time password has no secret.
    case noSecret
    /// More bytes than this operation takes.
    case tooLong(limit: Int)
    /// OpenSSL or libargon2 gave up, as it does when memory is short.
    case libraryFailed(Step)
    /// It waited for its turn until the workshop closed.
    case notBegun

    public enum Flaw: Sendable {
        case unknownType, pieceCount, base64, ivLength, macLength, ciphertextLength
    }

    public enum Format: Sendable {
        /// Type 7, COSE keys, signing keys: what accounts of the second version are made of.
        case version2
        /// Type 1, AES-128, removed everywhere.
        case aes128
        /// A user key of 32 bytes, from before 2018 and never upgraded.
        case userKeyWithoutMAC
    }

    public enum Step: Sendable {
        case contexts, encryption, authentication, digest, derivation, publicKey
        case keyGeneration
    }
}

extension CryptoError: CustomStringConvertible {
    /// What failed, and behind it what an operator can do.
    public var description: String { "\(summary) \(hint)" }

    /// What failed, in one sentence.
    public var summary: String {
        switch self {
        case .malformed(let flaw): "The encrypted text is malformed (\(flaw))."
        case .unsupported(.version2): "The account uses version 2 encryption."
        case .unsupported(.aes128): "The text is encrypted with AES-128."
        case .unsupported(.userKeyWithoutMAC): "The account's key has no MAC half."
        case .wrongFamily: "The encrypted text is of the wrong family."
        case .downgrade: "The encrypted text has no MAC although its key has one."
        case .keyWithoutMAC: "The encrypted text has a MAC although its key has none."
        case .notAuthentic: "The MAC does not fit."
        case .undecryptable: "The text cannot be decrypted with this key."
        case .notText: "The decrypted bytes are not UTF-8."
        case .keyLength(let count): "A key of \(count) bytes is none."
        case .keyUnreadable: "The document holds no RSA key."
        case .outOfBounds(let parameter, let value, let allowed):
            "The upstream asks for a key derivation with \(parameter) \(value); "
                + "\(allowed.lowerBound) to \(allowed.upperBound) are accepted."
        case .unknownDerivation(let number): "The upstream asks for key derivation \(number)."
        case .noSecret: "The one-time password has no secret."
        case .tooLong(let limit): "More than \(limit) bytes."
        case .libraryFailed(let step): "The cryptographic library gave up (\(step))."
        case .notBegun: "The host is ending."
        }
    }

    /// What an operator can do about it.
    public var hint: String {
        switch self {
        case .malformed, .wrongFamily, .undecryptable, .notText:
            "The item is kept as it is; compare it in an official client."
        case .downgrade: "It may have been tampered with and is not opened."
        case .notAuthentic, .keyWithoutMAC, .keyLength, .keyUnreadable:
            "Either the key was changed on another device (sync and unlock again), "
                + "or the text was tampered with."
        case .unsupported(.version2):
            "This host opens version 1 accounts only; use an official client for this account."
        case .unsupported(.aes128), .unsupported(.userKeyWithoutMAC):
            "Log in once with an official client; it upgrades the account."
        case .outOfBounds, .unknownDerivation:
            "Check the address of the upstream, then the account's security settings."
        case .noSecret: "Enter the authenticator key of the item again."
        case .tooLong: "Split it, or store it as an attachment."
        case .libraryFailed: "Check the memory that is left to the host."
        case .notBegun: "It can be tried again once the host is back."
        }
    }
}
