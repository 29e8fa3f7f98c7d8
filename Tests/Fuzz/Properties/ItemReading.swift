import Crypto
import JSON
import System
import Vault

/// What must hold of any bytes at all when they are read as a cipher.
public struct ItemReading: Property {
    private let keys: KeyRing
    private let entropy: SeededChance

    /// - Parameter seed: Ciphers that were sealed for an account of the same seed can be opened.
    public init(seed: UInt64 = 1) throws {
        entropy = SeededChance(seed: seed)
        keys = try KeyRing(
            user: SymmetricKey(from: entropy),
            account: WrappedKeys(privateKey: nil),
            entropy: entropy
        )
    }

    public func violation(by bytes: [UInt8]) -> String? {
        guard let cipher = try? Cipher(bytes) else { return nil }
        let item = Item(cipher, keys: keys)
        guard let shown = try? JSON.Document(Array(JSON.Raw(item).bytes)) else {
            return "An item is shown as something that is not JSON."
        }
        guard (try? JSON.Document(cipher.request())) != nil else {
            return "A request is not JSON."
        }
        return renaming(cipher) ?? editing(item, shown) ?? backup(of: cipher, item)
    }

    private func renaming(_ cipher: Cipher) -> String? {
        let renamed = cipher.withID("x")
        return renamed.id == "x" && renamed.type == cipher.type ? nil : "An id was not taken."
    }

    /// Whoever puts back what he was shown changes nothing, or is refused.
    private func editing(_ item: Item, _ shown: JSON.Document) -> String? {
        guard let body = try? ItemBody(shown.bytes) else { return nil }
        let edited = try? item.edited(
            by: body,
            at: Moment(ticks: 0),
            keys: keys,
            entropy: entropy
        )
        guard let edited else { return nil }
        let after = Item(edited.cipher, keys: keys)
        guard after.flaws.isEmpty else { return "An edit left something that cannot be read." }
        return JSON.Raw(after).bytes.elementsEqual(shown.bytes) ? nil : "An edit changed the item."
    }

    private func backup(of cipher: Cipher, _ item: Item) -> String? {
        let backup = try? cipher.backup(at: Moment(ticks: 0), keys: keys, entropy: entropy)
        guard let backup else {
            return item.flaws.isEmpty ? "There is no backup of a sound item." : nil
        }
        return Item(backup, keys: keys).flaws.isEmpty ? nil : "A backup cannot be read."
    }
}
