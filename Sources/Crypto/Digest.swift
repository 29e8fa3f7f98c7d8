import CCrypto

/// SHA-256 is what records, snapshots and keys are known by.
public enum Digest {
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        bytes.span.withUnsafeBytes(sha256(of:))
    }

    /// By which lists of leaked passwords are kept. It proves nothing.
    public static func sha1(of text: String) -> [UInt8] {
        text.withUTF8Bytes { bytes in
            [UInt8](unsafeUninitializedCapacity: 20) { out, count in
                let isDone = cc_sha1(bytes.baseAddress, bytes.count, out.baseAddress) == 1
                precondition(isDone, "OpenSSL without SHA-1 is not built any more.")
                count = 20
            }
        }
    }

    static func sha256(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { out, count in
            let isDone = cc_sha256(bytes.baseAddress, bytes.count, out.baseAddress) == 1
            precondition(isDone, "OpenSSL without SHA-256 is of no use to anybody.")
            count = 32
        }
    }

    static func sha256(of text: String) -> [UInt8] {
        text.withUTF8Bytes(sha256(of:))
    }
}
