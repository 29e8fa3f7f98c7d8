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

    /// Does something to an item while nobody here edits or pushes it: an answer that was under way meanwhile
    /// would put an older state in the place of a younger.
    ///
    /// - Parameter body: Gets what upstream said of it last.
    func holding<Value: Sendable>(
        _ cipherID: String,
        _ body: (Held) async throws(DeskRefusal) -> Value
    ) async throws(DeskRefusal) -> Value {
        try await staff.lanes.hold(cipherID) { () async throws(DeskRefusal) in
            let lane = Lane(userID: id, cipherID: cipherID)
            let base = try office.read { reader throws(StoreError) in try reader.base(lane) }
            guard let base, !base.isDamaged, let cipher = try? Cipher(base.json) else {
                throw .notFound
            }
            return try await body(Held(cipher: cipher, revision: base.revision))
        }
    }

    /// What upstream said of an item last.
    struct Held: Sendable {
        let cipher: Cipher
        let revision: Revision

        /// Whether it says the same now, but for files and collections: then nobody else has written it, and
        /// what is new about it came from here.
        func isGround(of now: Cipher) -> Bool {
            cipher.fingerprint == now.fingerprint && cipher.isInTrash == now.isInTrash
                && (cipher.archivedDate == nil) == (now.archivedDate == nil)
        }
    }

    /// Base takes upstream's answer.
    ///
    /// - Parameter ground: What it was sent over, if nobody else has written in between.
    /// - Returns: The item's id.
    @discardableResult
    func keep(
        _ cipher: Cipher,
        sentOver ground: Revision? = nil
    ) async throws(DeskRefusal) -> String {
        guard let base = BaseCipher(cipher, of: id), let cipherID = cipher.id else {
            throw .notAllowed("Upstream answered with an item that is none.")
        }
        let _: Void = try await office.ask { .base(.put(base, sentOver: ground, $0)) }
        return cipherID
    }

    /// As ``keep(_:sentOver:)``; it is shown even if somebody has locked the vault meanwhile.
    func take(
        _ cipher: Cipher,
        sentOver ground: Revision?,
        _ keys: KeyRing
    ) async throws(DeskRefusal) -> ViewedItem {
        let cipherID = try await keep(cipher, sentOver: ground)
        let item: ViewedItem? = try await ask { .view(cipherID, with: keys, $0) }
        guard let item else { throw .notFound }
        return item
    }

    /// - Parameter isUpstream: It is refused while upstream has not got it yet.
    func owned(
        _ itemID: String,
        isUpstream: Bool = false
    ) async throws(DeskRefusal) -> (id: String, item: Item, isClean: Bool) {
        guard let viewed = try await item(itemID), let cipherID = viewed.item.id else {
            throw .notFound
        }
        guard !isUpstream || !viewed.mark.changes.contains(.create) else {
            throw .notAllowed("This item has not reached the server yet.")
        }
        return (cipherID, viewed.item, viewed.mark == .clean)
    }

    // MARK: Sharing

    func setCollections(
        of itemID: String,
        to collectionIDs: [String]
    ) async throws(DeskRefusal) -> ViewedItem {
        let keys = try keys()
        let (cipherID, item, _) = try await owned(itemID)
        guard item.cipher.organizationID != nil else {
            throw .notAllowed(
                "Item does not belong to an organization. Consider moving it first."
            )
        }
        return try await holding(cipherID) { held async throws(DeskRefusal) in
            let changed = try await online { account throws(Setback) in
                try await account.setCollections(of: cipherID, to: collectionIDs)
            }
            guard let changed else {
                let lane = Lane(userID: id, cipherID: cipherID)
                let _: Void = try await office.ask { .base(.remove(lane, $0)) }
                throw .notFound
            }
            let ground = held.isGround(of: changed) ? held.revision : nil
            return try await take(changed.inCollections(collectionIDs), sentOver: ground, keys)
        }
    }

    func share(
        _ itemID: String,
        with organizationID: String,
        in collectionIDs: [String]
    ) async throws(DeskRefusal) -> ViewedItem {
        let keys = try keys()
        let (cipherID, item, _) = try await owned(itemID, isUpstream: true)
        guard item.cipher.organizationID == nil else {
            throw .notAllowed("This item already belongs to an organization.")
        }
        guard keys.owner(organizationID: organizationID) != nil else {
            throw .notAllowed("No encryption key for this organization.")
        }
        do throws(Setback) { try link.monitor.requireReach(for: "share") } catch {
            throw .upstream(error)
        }
        await settlePending(of: cipherID)
        let taken = try await holding(cipherID) { held async throws(DeskRefusal) in
            // Sent along, it would be settled by something that it does not want; left behind, it is lost.
            guard try await owned(cipherID, isUpstream: true).isClean else {
                throw .notAllowed("This item has changes that have not reached the server yet.")
            }
            let request = try shared(held.cipher, with: organizationID, keys)
            let changed = try await online { account throws(Setback) in
                try await account.share(cipherID, request, in: collectionIDs)
            }
            return try await take(
                changed.inCollections(collectionIDs),
                sentOver: held.revision,
                keys
            )
        }
        guard taken.mark != .clean else { return taken }
        await settlePending(of: cipherID)
        return (try? await self.item(cipherID)) ?? taken
    }

    private func shared(
        _ cipher: Cipher,
        with organizationID: String,
        _ keys: KeyRing
    ) throws(DeskRefusal) -> [UInt8] {
        var sending = Sending()
        sending.lastKnownRevisionDate = cipher.revisionDate
        sending.encryptedFor = id
        sending.rewrapsFiles = true
        do throws(Flaw) {
            return try cipher.shared(with: organizationID, keys: keys).request(sending)
        } catch {
            throw .unfit(.unreadable(error))
        }
    }

    /// Has what is pending for the item tried now.
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
        try await removing { account throws(Setback) in try await account.deleteFolder(folderID) }
        // Upstream has taken its items out of it, without a word about each of them.
        let _: Void = try await office.ask { .base(.removeFolder(folderID, of: id, $0)) }
    }

    /// What is not there any more is as good as removed.
    func removing(
        _ body: (UpstreamAccount) async throws(Setback) -> Void
    ) async throws(DeskRefusal) {
        try await online { account throws(Setback) in
            do throws(Setback) { try await body(account) } catch {
                guard case .missing = error.reason else { throw error }
            }
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
