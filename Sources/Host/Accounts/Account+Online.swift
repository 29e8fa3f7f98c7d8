import Bitwarden
import Crypto
import JSON
import Messaging
import Sync
import System
import Vault

// What only upstream can do: it fails at once while that cannot be reached, and nothing of it waits.

extension Account {
    /// Asks upstream, in a caller's request.
    func online<Value: Sendable>(
        _ body: (UpstreamAccount) async throws(Setback) -> Value
    ) async throws(DeskRefusal) -> Value {
        do throws(Setback) {
            try link.monitor.requireReach(for: "ask")
            return try await upstream.ask(.interactive, body)
        } catch {
            throw .upstream(error)
        }
    }

    func crypto<Value>(_ body: () throws(CryptoError) -> Value) throws(DeskRefusal) -> Value {
        do throws(CryptoError) { return try body() } catch { throw .notAllowed("\(error)") }
    }

    /// Base takes upstream's answer, and it is shown even if somebody has locked the vault meanwhile.
    func take(_ cipher: Cipher, _ keys: KeyRing) async throws(DeskRefusal) -> ViewedItem {
        guard let base = BaseCipher(cipher, of: id), let cipherID = cipher.id else {
            throw .notAllowed("Upstream answered with an item that is none.")
        }
        let _: Void = try await office.ask { .base(.put(base, $0)) }
        let item: ViewedItem? = try await ask { .view(cipherID, with: keys, $0) }
        guard let item else { throw .notFound }
        return item
    }

    /// - Parameter isUpstream: It is refused while upstream has not got it yet.
    func owned(
        _ itemID: String,
        isUpstream: Bool = false
    ) async throws(DeskRefusal) -> (id: String, item: Item) {
        guard let viewed = try await item(itemID), let cipherID = viewed.item.id else {
            throw .notFound
        }
        guard !isUpstream || !viewed.mark.changes.contains(.create) else {
            throw .notAllowed("This item has not reached the server yet.")
        }
        return (cipherID, viewed.item)
    }

    // MARK: Sharing

    func setCollections(
        of itemID: String,
        to collectionIDs: [String]
    ) async throws(DeskRefusal) -> ViewedItem {
        let keys = try keys()
        let (cipherID, item) = try await owned(itemID)
        guard item.cipher.organizationID != nil else {
            throw .notAllowed(
                "Item does not belong to an organization. Consider moving it first."
            )
        }
        let changed = try await online { account throws(Setback) in
            try await account.setCollections(of: cipherID, to: collectionIDs)
        }
        guard let changed else {
            let lane = Lane(userID: id, cipherID: cipherID)
            let _: Void = try await office.ask { .base(.remove(lane, $0)) }
            throw .notFound
        }
        return try await take(changed.inCollections(collectionIDs), keys)
    }

    func share(
        _ itemID: String,
        with organizationID: String,
        in collectionIDs: [String]
    ) async throws(DeskRefusal) -> ViewedItem {
        let keys = try keys()
        let (cipherID, item) = try await owned(itemID, isUpstream: true)
        guard item.cipher.organizationID == nil else {
            throw .notAllowed("This item already belongs to an organization.")
        }
        guard keys.owner(organizationID: organizationID) != nil else {
            throw .notAllowed("No encryption key for this organization.")
        }
        let shared: Cipher
        do throws(Flaw) {
            shared = try item.cipher.shared(with: organizationID, keys: keys)
        } catch {
            throw .unfit(.unreadable(error))
        }
        var sending = Sending()
        sending.lastKnownRevisionDate = item.cipher.revisionDate
        sending.encryptedFor = id
        sending.rewrapsFiles = true
        let request = shared.request(sending)
        let changed = try await online { account throws(Setback) in
            try await account.share(cipherID, request, in: collectionIDs)
        }
        let taken = try await take(changed.inCollections(collectionIDs), keys)
        guard taken.mark != .clean else { return taken }
        await settlePending(of: cipherID)
        return (try? await self.item(cipherID)) ?? taken
    }

    /// What was pending went along. A run finds that out, and until then it would hide what upstream has.
    private func settlePending(of cipherID: String) async {
        let lane = Lane(userID: id, cipherID: cipherID)
        guard let pending = try? office.store.reader.change(in: lane) else { return }
        _ = try? await retry(pending.summary.id)
    }

    // MARK: Folders

    func addFolder(named name: String) async throws(DeskRefusal) -> ViewedFolder {
        let keys = try keys()
        let request = FolderRequest(name: try sealed(name, keys))
        let answer = try await online { account throws(Setback) in
            try await account.createFolder(request)
        }
        return try await take(answer, keys)
    }

    func renameFolder(
        _ folderID: String,
        to name: String
    ) async throws(DeskRefusal) -> ViewedFolder {
        let keys = try keys()
        try await requireFolder(folderID)
        let request = FolderRequest(name: try sealed(name, keys))
        let answer = try await online { account throws(Setback) in
            try await account.updateFolder(folderID, request)
        }
        return try await take(answer, keys)
    }

    func deleteFolder(_ folderID: String) async throws(DeskRefusal) {
        try await requireFolder(folderID)
        try await online { account throws(Setback) in try await account.deleteFolder(folderID) }
        let _: Void = try await office.ask {
            .base(.removeSlice(.folder, id: folderID, of: id, $0))
        }
        try await emptyFolder(folderID)
    }

    /// Upstream has taken its items out of it, without a word about each of them.
    private func emptyFolder(_ folderID: String) async throws(DeskRefusal) {
        let bases = try office.read { reader throws(StoreError) in
            try reader.bases(of: id)
        }
        for base in bases where !base.isDamaged {
            guard let cipher = try? Cipher(base.json), cipher.folderID == folderID else { continue }
            let adjusted = cipher.overlaid(
                id: base.lane.cipherID,
                trash: nil,
                Adjustments(folder: Adjustments.Folder.none),
                at: base.revision.moment
            )
            guard let emptied = BaseCipher(adjusted, of: id) else { continue }
            let _: Void = try await office.ask { .base(.put(emptied, $0)) }
        }
    }

    private func requireFolder(_ folderID: String) async throws(DeskRefusal) {
        guard try await folders().contains(where: { $0.id == folderID }) else { throw .notFound }
    }

    private func sealed(_ name: String, _ keys: KeyRing) throws(DeskRefusal) -> String {
        try crypto { () throws(CryptoError) in try keys.user.seal(name) }
    }

    private func take(
        _ answer: FolderAnswer,
        _ keys: KeyRing
    ) async throws(DeskRefusal) -> ViewedFolder {
        let raw = JSON.Raw(answer, capacity: 512)
        let slice = BaseSlice(.folder, id: answer.id, json: Array(raw.bytes))
        let _: Void = try await office.ask { .base(.putSlice(slice, of: id, $0)) }
        return answer.viewed(keys)
    }
}
