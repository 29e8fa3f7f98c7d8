internal import Vault

extension Errand {
    /// Others have written over what came from here. If upstream had gone back before, they have not seen it, and
    /// it would be known nowhere any more once base has what they wrote. Only the list tells, and for that no caller
    /// is kept waiting.
    func requireSeen(_ shown: BaseCipher, by copy: Cipher) async throws(Halt) {
        guard kit.listing.content != nil || kit.urgency != .interactive,
            shown.json != copy.bytes, let own = try? Cipher(shown.json),
            own.hasOtherContent(than: copy),
            try isFromHere(shown)
        else { return }
        if try await kit.list().isBehind { throw .behind }
    }

    private func isFromHere(_ shown: BaseCipher) throws(Halt) -> Bool {
        try kit.read { (reader) throws(StoreError) in try reader.hasBroughtUp(shown) }
    }
}
