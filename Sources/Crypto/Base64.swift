import CCrypto

/// Standard base64 with padding. Decoding takes the one canonical form only: no white space, nothing
/// missing, no loose bits.
public enum Base64 {
    public static func text(of bytes: UnsafeRawBufferPointer) -> String {
        let count = textCount(of: bytes.count)
        return String(unsafeUninitializedCapacity: count) { text in
            if let start = bytes.baseAddress {
                cc_base64_encode(start, bytes.count, text.baseAddress)
            }
            return count
        }
    }

    public static func text(of bytes: [UInt8]) -> String {
        bytes.withUnsafeBytes(text(of:))
    }

    public static func bytes(of text: String) throws(CryptoError) -> [UInt8] {
        guard let bytes = text.withUTF8Bytes(bytes(of:)) else { throw .malformed(.base64) }
        return bytes
    }

    static func textCount(of count: Int) -> Int { (count + 2) / 3 * 4 }
    /// What decoding may write, which with padding is more than it yields.
    static func capacity(for count: Int) -> Int { count / 4 * 3 }

    static func bytes(of text: UnsafeRawBufferPointer) -> [UInt8]? {
        var decoded = -1
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity(for: text.count)) { out, count in
            decoded = cc_base64_decode(text.baseAddress, text.count, out.baseAddress)
            count = max(decoded, 0)
        }
        return decoded < 0 ? nil : bytes
    }
}

extension String {
    /// Base64 in letters that an address may have.
    public var inAddress: String {
        String(
            decoding: utf8.compactMap { byte -> UInt8? in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                case UInt8(ascii: "="): nil
                default: byte
                }
            },
            as: UTF8.self
        )
    }
}
