import Crypto

/// A cipher as it will be sent: upstream's own JSON with every string encrypted, frozen.
///
/// Each attempt sends these very bytes. The encrypted strings hold random vectors, so whoever finds
/// them upstream has found this snapshot and no other.
public struct Snapshot: Hashable, Sendable {
    public let json: [UInt8]
    /// How the bytes are to be understood.
    public let formatVersion: Int
    /// Which key they are encrypted with, so that they are never sent after it was changed.
    public let keyFingerprint: [UInt8]
    public let sha256: [UInt8]

    /// Freezes the bytes.
    public init(json: [UInt8], keyFingerprint: [UInt8]) {
        let sha256 = Digest.sha256(json)
        self.init(json: json, formatVersion: 1, keyFingerprint: keyFingerprint, sha256: sha256)
    }

    /// As it was written down.
    public init(
        json: [UInt8],
        formatVersion: Int,
        keyFingerprint: [UInt8],
        sha256: [UInt8]
    ) {
        self.json = json
        self.formatVersion = formatVersion
        self.keyFingerprint = keyFingerprint
        self.sha256 = sha256
    }

    /// Whether the cipher was in the trash when it was written.
    var isTrashed: Bool { (try? Cipher(json))?.isInTrash ?? false }

    /// The stamp under which the content is shown.
    public var revision: Revision? { (try? Cipher(json))?.revision }

    /// Whether upstream has the cipher in the archive once it has taken the content.
    public var isArchived: Bool { (try? Cipher(json))?.isArchived ?? false }
}
