import Bitwarden
import Crypto
import JSON
import Logging
import Messaging
import Sync
import System
import Vault

// What only upstream can do: it fails at once while that cannot be reached, and nothing of it waits.

extension Account {
    /// Asks upstream, in a caller's request.
    func online<Value: Sendable>(
        saysAway: Bool = true,
        _ body: (UpstreamAccount) async throws(Setback) -> Value
    ) async throws(DeskRefusal) -> Value {
        do throws(Setback) {
            try link.monitor.requireReach(for: "ask upstream")
            return try await upstream.ask(.interactive, saysAway: saysAway, body)
        } catch {
            // Nothing else would tell whether it was carried out all the same.
            if error.mayHaveLanded { lookSoon() }
            throw .upstream(error)
        }
    }

    /// To be asked before anything is sealed that nobody could open who has other keys.
    func requireSameAccount() async throws(DeskRefusal) {
        try await requireAcceptance()
        do throws(Setback) { _ = try await upstream.requireSameAccount(.interactive) } catch {
            throw .upstream(error)
        }
    }

    /// To be asked before upstream is asked to change anything: that could not be written down here on a full disk.
    func requireAcceptance() async throws(DeskRefusal) {
        do throws(Setback) { try link.monitor.requireReach(for: "ask upstream") } catch {
            throw .upstream(error)
        }
        let _: Void = try await office.ask { .requireAcceptance($0) }
    }

    /// Writes down what upstream has done. That is done whatever becomes of it here, and whoever heard of a failure
    /// would have it done twice; so what cannot be written the next sync brings.
    @discardableResult
    func follow<Value: Sendable>(
        _ message: (PendingStore.Answer<Value>) -> PendingStore.BaseMessage
    ) async -> Value? {
        do throws(DeskRefusal) {
            return try await office.ask { .base(message($0)) }
        } catch {
            office.surroundings.log.error(
                "What upstream has done could not be written down.",
                because: error,
                ["account": id]
            )
            lookSoon()
            return nil
        }
    }

    func crypto<Value>(_ body: () throws(CryptoError) -> Value) throws(DeskRefusal) -> Value {
        do throws(CryptoError) { return try body() } catch { throw .notAllowed("\(error)") }
    }

    /// What upstream said of an item last.
    struct Known: Sendable {
        let cipherID: String
        let cipher: Cipher
        let revision: Revision
        /// Whatever is written to base from here on is younger.
        let mark: RefreshMark

        /// The revision over which an answer was written, if nobody else has written in between: then it says the
        /// same, but for files and collections.
        func ground(of answer: Cipher) -> Revision? {
            let isSame =
                cipher.fingerprint == answer.fingerprint && cipher.isInTrash == answer.isInTrash
                && cipher.isArchived == answer.isArchived
            return isSame ? revision : nil
        }
    }

    func known(_ cipherID: String) throws(DeskRefusal) -> Known {
        let lane = Lane(userID: id, cipherID: cipherID)
        let (mark, base) = try office.read { reader throws(StoreError) in
            (try reader.refreshMark(of: id), try reader.base(lane))
        }
        guard let base else { throw .notFound }
        guard !base.isDamaged, let cipher = try? Cipher(base.json) else {
            throw .notAllowed(DeskRefusal.unreadable)
        }
        return Known(cipherID: cipherID, cipher: cipher, revision: base.revision, mark: mark)
    }

    /// Base takes an answer about something that was done to an item, unless base is younger than that.
    ///
    /// - Parameters:
    ///   - ground: The revision over which it was written, if nobody else has written in between.
    ///   - mark: Where base was before; without it the later stamp counts.
    /// - Returns: The answer, if it could not be written down.
    @discardableResult
    func keep(
        _ answer: Cipher,
        over ground: Revision?,
        since mark: RefreshMark?
    ) async throws(DeskRefusal) -> Cipher? {
        guard let isKept = try await isKept(answer, over: ground, since: mark) else {
            return answer
        }
        if !isKept { lookSoon() }
        return nil
    }

    /// - Returns: Whether base has taken it; nil if it could not be written down.
    private func isKept(
        _ answer: Cipher,
        over ground: Revision?,
        since mark: RefreshMark?
    ) async throws(DeskRefusal) -> Bool? {
        guard let base = BaseCipher(answer, of: id) else {
            throw .notAllowed("Upstream answered with an item that is none.")
        }
        let judge = Judge(keyholder.keys)
        return await follow { .follow(base, over: ground, since: mark, by: judge, $0) }
    }

    /// The same for an item that was looked at before.
    @discardableResult
    func keep(_ answer: Cipher, of known: Known) async throws(DeskRefusal) -> Cipher? {
        try await keep(answer, over: known.ground(of: answer), since: known.mark)
    }

    /// - Returns: Whether base has taken it, or somebody has written there in between; nil if it could not be written
    ///   down.
    func isKept(_ answer: Cipher, of known: Known) async throws(DeskRefusal) -> Bool? {
        try await isKept(answer, over: known.ground(of: answer), since: known.mark)
    }

    /// What is here may not be upstream's latest word.
    func lookSoon() { try? staff.scheduler.address.tryTell(.trigger(.upstreamChanged)) }

    /// The item after something was done to it; it is shown even if somebody has locked the vault meanwhile.
    ///
    /// - Parameter unwritten: As upstream has it, if that could not be written down.
    func shown(
        _ cipherID: String,
        _ keys: KeyRing,
        _ unwritten: Cipher? = nil
    ) async throws(DeskRefusal) -> ViewedItem {
        let viewed: ViewedItem?
        do throws(DeskRefusal) {
            viewed = try await ask { .view(cipherID, with: keys, $0) }
        } catch {
            // Its services have ended where it was, and what was done is done all the same.
            guard case .busy = error, isGone else { throw error }
            let present = if let unwritten { unwritten } else { try known(cipherID).cipher }
            return ViewedItem(Item(present, keys: keys), .clean)
        }
        guard let item = viewed else { throw .notFound }
        guard let unwritten, item.mark == .clean else { return item }
        return ViewedItem(Item(unwritten, keys: keys), item.mark)
    }

    /// - Parameter isUpstream: Then the item is brought there if it is not yet, and refused if it cannot be.
    func owned(
        _ itemID: String,
        isUpstream: Bool = false
    ) async throws(DeskRefusal) -> (id: String, item: Item) {
        guard var viewed = try await item(itemID), var cipherID = viewed.item.id else {
            throw .notFound
        }
        if isUpstream, try isUnborn(cipherID) {
            await settlePending(of: cipherID)
            guard let settled = try await item(itemID), let id = settled.item.id else {
                throw .notFound
            }
            (viewed, cipherID) = (settled, id)
            guard try !isUnborn(cipherID) else {
                throw .notAllowed("This item has not reached the server yet.")
            }
        }
        return (cipherID, viewed.item)
    }

    private func isUnborn(_ cipherID: String) throws(DeskRefusal) -> Bool {
        try pendingChange(of: cipherID)?.change?.isUnborn ?? false
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
        try await requireAcceptance()
        let unwritten = try await lanes.hold(cipherID) { () async throws(DeskRefusal) in
            let known = try known(cipherID)
            let changed = try await online { account throws(Setback) in
                try await account.setCollections(of: cipherID, to: collectionIDs)
            }
            guard let changed else {
                await follow { .remove(Lane(userID: id, cipherID: cipherID), $0) }
                throw .notFound
            }
            return try await keep(changed.inCollections(collectionIDs), of: known)
        }
        return try await shown(cipherID, keys, unwritten)
    }

    func share(
        _ itemID: String,
        with organizationID: String,
        in collectionIDs: [String]
    ) async throws(DeskRefusal) -> ViewedItem {
        let keys = try keys()
        let (cipherID, item) = try await owned(itemID, isUpstream: true)
        try refuseShared(item.cipher)
        guard keys.owner(organizationID: organizationID) != nil else {
            throw .notAllowed("No encryption key for this organization.")
        }
        try await requireSameAccount()
        await settlePending(of: cipherID)
        // What is edited meanwhile would be sent along as it was, or written over.
        let unwritten = try await lanes.hold(cipherID) { () async throws(DeskRefusal) in
            try await share(try known(cipherID), with: organizationID, in: collectionIDs, keys)
        }
        let taken = try await shown(cipherID, keys, unwritten)
        guard taken.mark != .clean else { return taken }
        // An edit that came while the network was away did not wait for its turn, and would hide what upstream
        // has until a run looks at it.
        await settlePending(of: cipherID)
        return (try? await self.item(cipherID)) ?? taken
    }

    /// Nobody is asked who may wait for the item, or neither would come to an end.
    ///
    /// - Returns: The item as upstream has it, if that could not be written down.
    private func share(
        _ known: Known,
        with organizationID: String,
        in collectionIDs: [String],
        _ keys: KeyRing
    ) async throws(DeskRefusal) -> Cipher? {
        try refuseShared(known.cipher)
        let cipherID = known.cipherID
        // Sent along, it would be settled by something that it does not want; left behind, it is lost.
        guard try pendingChange(of: cipherID) == nil else {
            throw .notAllowed("This item has changes that have not reached the server yet.")
        }
        // All of its files go along, also one that is on its way and not shown yet.
        let present = try await online { account throws(Setback) in
            try await account.cipher(cipherID)
        }
        guard known.ground(of: present) != nil else {
            try await keep(present, of: known)
            throw .notAllowed(DeskRefusal.outOfDate)
        }
        guard !present.hasFilesWithoutKey else { throw .notAllowed(Self.oldFiles) }
        let request = try shared(present, with: organizationID, keys)
        let changed = try await moving(cipherID) { account throws(Setback) in
            try await account.share(cipherID, request, in: collectionIDs)
        }
        // A sync meanwhile may have read upstream before that.
        let taken = changed.inCollections(collectionIDs)
        return try await keep(taken, over: known.revision, since: nil)
    }

    /// They lie under the user's own key, and would be looked for under the organisation's.
    private static let oldFiles =
        "A file of this item is older than keys of files, and nobody could open it in the organization."
        + " Download it, delete it here and attach it again; then move the item."

    /// What is sent has all the item's content. If it comes late, it would be written over what was edited since, so
    /// the next edit waits until it is too late for that; also if this host does not live to hear the answer.
    private func moving(
        _ cipherID: String,
        _ call: (UpstreamAccount) async throws(Setback) -> Cipher
    ) async throws(DeskRefusal) -> Cipher {
        let lane = Lane(userID: id, cipherID: cipherID)
        func expectLateCall() async throws(DeskRefusal) -> Moment? {
            let now = office.surroundings.now
            return try await office.ask { .change(.expectLateCall(.share, of: lane, at: now, $0)) }
        }
        let earlier = try await expectLateCall()
        do throws(DeskRefusal) {
            return try await online(call)
        } catch {
            if case .upstream(let setback) = error, setback.mayHaveLanded {
                _ = try? await expectLateCall()
            } else {
                let _: Void? = try? await office.ask {
                    .change(.dropLateCall(.share, of: lane, leaving: earlier, $0))
                }
            }
            // It may have been moved all the same.
            lookSoon()
            throw error
        }
    }

    private func refuseShared(_ cipher: Cipher) throws(DeskRefusal) {
        guard cipher.organizationID != nil else { return }
        throw .notAllowed("This item already belongs to an organization.")
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

    /// Has what is pending for the item tried now. What is set aside stays so until somebody decides on it.
    private func settlePending(of cipherID: String) async {
        guard link.monitor.standing.state != .offline else { return }
        guard let pending = try? pendingChange(of: cipherID),
            pending.summary.state.kind != .quarantined
        else { return }
        let timekeeper = office.surroundings.timekeeper
        await withTaskGroup { race in
            race.addTask { _ = try? await self.retry(pending.summary.id) }
            race.addTask { try? await timekeeper.sleep(for: Self.patienceWithPending) }
            await race.next()
            race.cancelAll()
        }
    }

    /// If it takes longer, it goes on without whoever asked.
    private static let patienceWithPending = Duration.seconds(10)

    private func pendingChange(of cipherID: String) throws(DeskRefusal) -> StoredChange? {
        let lane = Lane(userID: id, cipherID: cipherID)
        return try office.read { reader throws(StoreError) in try reader.change(in: lane) }
    }

    // MARK: Folders

    func addFolder(named name: String) async throws(DeskRefusal) -> ViewedFolder {
        try await requireSameAccount()
        let keys = try keys()
        let request = FolderRequest(name: try sealed(name, keys))
        let answer = try await online { account throws(Setback) in
            try await account.createFolder(request)
        }
        return await take(answer, keys)
    }

    func renameFolder(
        _ folderID: String,
        to name: String
    ) async throws(DeskRefusal) -> ViewedFolder {
        try await requireFolder(folderID)
        try await requireSameAccount()
        let keys = try keys()
        let request = FolderRequest(name: try sealed(name, keys))
        let answer = try await online { account throws(Setback) in
            try await account.updateFolder(folderID, request)
        }
        return await take(answer, keys)
    }

    func deleteFolder(_ folderID: String) async throws(DeskRefusal) {
        try await requireFolder(folderID)
        try await removing { account throws(Setback) in try await account.deleteFolder(folderID) }
        // Upstream has taken its items out of it, without a word about each of them.
        await follow { .removeFolder(folderID, of: id, $0) }
    }

    func publicKey(of userID: String) async throws(DeskRefusal) -> [UInt8] {
        let found = try await online { account throws(Setback) -> [UInt8]? in
            do throws(Setback) { return try await account.publicKey(of: userID) } catch {
                guard case .missing = error.reason else { throw error }
                return nil
            }
        }
        guard let found else { throw .notFound }
        return found
    }

    /// What is not there any more is as good as removed.
    func removing(
        _ body: (UpstreamAccount) async throws(Setback) -> Void
    ) async throws(DeskRefusal) {
        try await requireAcceptance()
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

    private func take(_ answer: FolderAnswer, _ keys: KeyRing) async -> ViewedFolder {
        let raw = JSON.Raw(answer, capacity: 512)
        let slice = BaseSlice(.folder, id: answer.id, json: Array(raw.bytes))
        await follow { .putSlice(slice, of: id, $0) }
        return answer.viewed(keys)
    }
}
