import Crypto
import System

/// Seals what the host must know while vaults are locked: the tokens that let it ask upstream.
///
/// It lies beside the store, readable by the host alone. So it keeps secrets out of copies of the
/// database, and not from whoever can read all that the host can.
struct HostKey: Sendable {
    let sealer: Sealer

    /// Its name in the state directory.
    static let fileName = "host.key"

    /// Reads the key, or makes it at the first start.
    init(at path: String, entropy: any Entropy = SystemEntropy()) throws {
        if let text = try Self.read(path) {
            guard let key = try? SymmetricKey(base64: text) else {
                throw DamagedHostKey(path: path)
            }
            sealer = Sealer(key, entropy: entropy)
            return
        }
        let bytes = Secret(random: SymmetricKey.count, from: entropy)
        let text = bytes.withUnsafeBytes { Base64.text(of: Array($0)) }
        try Files.replace(path, with: Array(text.utf8))
        sealer = Sealer(try SymmetricKey(bytes), entropy: entropy)
    }

    private struct DamagedHostKey: Error, CustomStringConvertible {
        let path: String

        var description: String {
            "\(path) is no key, so the sessions that it has sealed cannot be opened. Put it back from a"
                + " backup; or remove it, and have every account sign in again."
        }
    }

    private static func read(_ path: String) throws -> String? {
        guard try Files.exists(path) else { return nil }
        return String(decoding: try Files.readOrdinary(path), as: UTF8.self)
    }
}

extension HostKey {
    /// The key that should lie there, for whoever only looks: unlike a start, this makes none.
    init(found path: String) throws {
        guard let text = try Self.read(path) else { throw MissingHostKey(path: path) }
        guard let key = try? SymmetricKey(base64: text) else { throw DamagedHostKey(path: path) }
        sealer = Sealer(key, entropy: SystemEntropy())
    }

    private struct MissingHostKey: Error, CustomStringConvertible {
        let path: String

        var description: String {
            "\(path) is not there, so the sessions that it has sealed cannot be opened. Put it back from a"
                + " backup, or have every account sign in again."
        }
    }
}
