import CCrypto

/// What a key is known by without being known: the first half of its RFC 9679 thumbprint.
///
/// Upstream compares it (`encryptedByKeyId`), and a pending change keeps it, so that ciphertext under
/// a key that was rotated elsewhere is never pushed.
public struct KeyID: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    init(of key: UnsafeRawBufferPointer) {
        let thumbprint = Self.thumbprint(of: key)
        high = thumbprint[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = thumbprint[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String { Self.hex(high) + Self.hex(low) }

    /// SHA-256 over the CBOR map `{1: 4, -1: key}`.
    static func thumbprint(of key: UnsafeRawBufferPointer) -> [UInt8] {
        let head: [UInt8] = [0xA2, 0x01, 0x04, 0x20, 0x58, UInt8(key.count)]
        let document = Secret(count: head.count + key.count) { out in
            out.copyBytes(from: head)
            UnsafeMutableRawBufferPointer(rebasing: out[head.count...]).copyMemory(from: key)
        }
        return document.withUnsafeBytes { Digest.sha256(of: $0) }
    }

    private static func hex(_ half: UInt64) -> String {
        let digits = String(half, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
