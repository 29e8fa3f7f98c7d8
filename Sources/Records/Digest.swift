internal import CRecords

/// SHA-256: what a record and a snapshot are known by, and found damaged by.
public enum Digest {
    public static let count = 32

    public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { digest, initialized in
            bytes.withUnsafeBytes { bytes in
                crecords_sha256(bytes.baseAddress, bytes.count, digest.baseAddress)
            }
            initialized = count
        }
    }
}
