/// The checksum that stands beside a login's URI.
///
/// Official clients drop every URI of an item with its own key when the checksum is missing or
/// wrong, and delete it with their next save. So whoever writes a URI writes this.
public enum URIChecksum {
    /// The plaintext of `uriChecksum`.
    public static func of(_ uri: String) -> String {
        Base64.text(of: Digest.sha256(of: uri))
    }
}
