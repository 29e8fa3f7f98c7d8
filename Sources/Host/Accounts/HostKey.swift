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
    /// Why what was sealed with the key that should lie there cannot be opened; nil if it is there and
    /// a key. Unlike a start, this makes none.
    static func flaw(at path: String) -> String? {
        do {
            guard let text = try read(path) else {
                return "\(path) is not there, so the sessions that it has sealed cannot be opened."
                    + " Put it back from a backup, or have every account sign in again."
            }
            _ = try SymmetricKey(base64: text)
            return nil
        } catch is CryptoError {
            return DamagedHostKey(path: path).description
        } catch {
            return "\(error)"
        }
    }
}
