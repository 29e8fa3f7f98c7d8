internal import Crypto
internal import Vault
internal import System

/// What is at hand while changes are brought upstream.
struct Kit: Sendable {
    let userID: String
    let ledger: Ledger
    let reader: StoreReader
    let upstream: any VaultUpstream
    let keys: KeyRing
    let keyholder: Keyholder
    let surroundings: Surroundings
    let urgency: Urgency
    let listing: Listing
    let lanes: Lanes
    let stumbles: Stumbles

    var now: Moment { surroundings.now }

    var clocks: ClockReading {
        ClockReading(now: now, note: surroundings.clockNote(offset: upstream.leastClockOffset))
    }

    func lane(_ cipherID: String) -> Lane { Lane(userID: userID, cipherID: cipherID) }

    /// A locked vault sends nothing but what somebody waits for who asked before it was locked.
    var isShut: Bool { urgency != .interactive && keyholder.isLocked }

    func read<Value>(
        _ body: (StoreReader) throws(StoreError) -> Value
    ) throws(Halt) -> Value {
        do throws(StoreError) { return try body(reader) } catch { throw .store(error) }
    }

    /// What upstream has answered, as base is to hold it.
    func base(
        _ answer: Cipher,
        answering operation: String,
        mayHaveLanded: Bool = false
    ) throws(Halt) -> BaseCipher {
        if let base = BaseCipher(answer, of: userID) { return base }
        let reason = Setback.Reason.malformed("no id or revision")
        throw .setback(Setback(reason, operation: operation, mayHaveLanded: mayHaveLanded))
    }

    /// All that upstream holds, fetched at most once.
    func list() async throws(Halt) -> Listing.Content {
        try await listing.content { () async throws(Halt) in
            // What is brought up meanwhile, the answer may not show yet.
            let known = try known()
            let footing = try footing(on: known)
            let asked = now
            let fetched = try await fetch()
            let listed = Set(fetched.ciphers.map(\.lane.cipherID))
            // The number says whether the answer is one of yesterday, which matters only for what it does not show.
            let showsAll = known.allSatisfy { listed.contains($0.lane.cipherID) }
            return Listing.Content(
                fetched,
                revision: showsAll ? nil : try await revision(),
                known: known,
                on: footing,
                asked: asked,
                at: now
            )
        }
    }

    /// Without it any list would look whole, so whoever cannot read it believes none.
    private func known() throws(Halt) -> [BaseCipher] {
        try read { (reader) throws(StoreError) in
            try reader.bases(of: userID).filter { !$0.isDamaged }
        }
    }

    /// Others may have written since upstream fell back, and then what is missing in a list does not show that. What was
    /// deleted and is there again does, and so does what a sync has seen and has yet to take over.
    private func footing(on known: [BaseCipher]) throws(Halt) -> SyncFooting {
        let (note, deleted) = try read { (reader) throws(StoreError) in
            (try reader.syncNote(of: userID), try reader.deleted(of: userID))
        }
        let doubt = note.flatMap { SyncMemory(text: $0).doubt }
        return SyncFooting(
            userID: userID,
            ciphers: Dictionary(
                known.map { ($0.lane.cipherID, $0.revision.moment) },
                uniquingKeysWith: { _, last in last }
            ),
            deleted: deleted,
            accountRevision: nil,
            doubt: doubt?.kind == .regression ? doubt : nil
        )
    }

    /// Whether a folder is certainly gone. It is asked for only if the latest list has it not, be that of this run
    /// or the one before.
    func lacksFolder(_ id: String) async throws(Halt) -> Bool {
        if let content = listing.content {
            if content.folderIDs.contains(id) { return false }
        } else if try isKnownFolder(id) {
            return false
        }
        return try await !listing.hasFolder(id) { () async throws(Halt) in
            do throws(Setback) { return try await upstream.hasFolder(id, urgency) } catch {
                switch error.reason {
                // An answer that says nothing of the folder keeps nothing back.
                case .missing, .rejected, .stale, .malformed, .foreign: return true
                case .unauthorised, .signedOut, .throttled, .unavailable, .unreachable,
                    .cancelled:
                    throw .setback(error)
                }
            }
        }
    }

    private func isKnownFolder(_ id: String) throws(Halt) -> Bool {
        try read { (reader) throws(StoreError) in
            try reader.slices(of: userID, .folder).contains { $0.id == id }
        }
    }

    private func fetch() async throws(Halt) -> Fetched {
        do throws(Setback) {
            return try await upstream.fetch(urgency, asOf: nil)
        } catch {
            throw .unlisted(error)
        }
    }

    private func revision() async throws(Halt) -> Int64? {
        do throws(Setback) {
            return try await upstream.revision(urgency)
        } catch {
            throw .unlisted(error)
        }
    }

    /// Whether upstream answers the smallest question there is, though it has just failed.
    func upstreamAnswers(others setback: Setback) async -> Bool {
        guard setback.letsOthersBeAsked else { return false }
        do throws(Setback) {
            _ = try await upstream.revision(.insistent)
            return true
        } catch {
            return false
        }
    }

    /// What upstream holds of a cipher, if that is not what was seen. To be asked before it is deleted for
    /// good: upstream deletes whatever it is asked to.
    func moved(_ cipherID: String, from seen: Cipher) async throws(Setback) -> Cipher? {
        let held = try await upstream.cipher(cipherID, urgency)
        let hasUnseenFiles = !Set(held.attachmentIDs).isSubset(of: seen.attachmentIDs)
        // In an organisation it is others', too.
        let isOwned = held.organizationID == seen.organizationID
        return isSame(held, as: seen) && isOwned && !hasUnseenFiles ? nil : held
    }

    /// Has upstream make an item of that. It chooses the id, so only what was sealed here tells its answer from one
    /// about another item, as something on the way may give.
    func create(
        _ content: Cipher,
        in collectionIDs: [String] = []
    ) async throws(Setback) -> Cipher {
        let request = content.request(sending(over: nil))
        // Without any, the call for items in collections is refused.
        let answer =
            collectionIDs.isEmpty
            ? try await upstream.create(request, urgency)
            : try await upstream.create(request, in: collectionIDs, urgency)
        let (sent, made) = (Set(content.seals), answer.seals)
        guard sent.isEmpty || made.isEmpty || !sent.isDisjoint(with: made) else {
            throw Setback(
                .malformed("another item than was sent"),
                operation: "create cipher",
                mayHaveLanded: true
            )
        }
        return answer
    }

    /// Whether they say the same, wherever they are put.
    func isSame(_ one: Cipher, as other: Cipher) -> Bool {
        one.fingerprint == other.fingerprint || one.saysTheSame(as: other, in: keys)
    }

    /// How upstream is told what a request is based on, and whose it is.
    func sending(over copy: Cipher?) -> Sending {
        var sending = Sending()
        sending.lastKnownRevisionDate = mutated(.noRevision) ? nil : copy?.revisionDate
        sending.encryptedFor = userID
        sending.encryptedByKeyID = keys.user.keyID
        return sending
    }

    /// Carries out one step.
    ///
    /// - Parameters:
    ///   - copy: What upstream held before.
    ///   - content: What is sent, where the step sends content.
    /// - Returns: What upstream holds now; nil if that is nothing.
    func carryOut(
        _ deed: Deed,
        on id: String,
        over copy: Cipher,
        content: Cipher?
    ) async throws(Setback) -> Cipher? {
        switch deed {
        case .restore: return try await upstream.restore(id, urgency)
        case .content:
            guard let content else { return copy }
            return try await upstream.update(id, content.request(sending(over: copy)), urgency)
        case .archive:
            return try await settingArchive(id, true) { () async throws(Setback) in
                try await upstream.archive(id, urgency)
            }
        case .unarchive:
            return try await settingArchive(id, false) { () async throws(Setback) in
                try await upstream.unarchive(id, urgency)
            }
        case .place(let folderID, let isFavourite):
            return try await upstream.adjust(
                id,
                folderID: folderID,
                isFavourite: isFavourite,
                urgency
            )
        case .trash:
            try await upstream.trash(id, urgency)
            return copy.trashed(at: now)
        case .delete:
            try await upstream.delete(id, urgency)
            return nil
        }
    }

    /// One of the servers refuses to archive what is archived already, and the other way around.
    private func settingArchive(
        _ id: String,
        _ isArchived: Bool,
        _ call: () async throws(Setback) -> Cipher
    ) async throws(Setback) -> Cipher {
        do throws(Setback) {
            return try await call()
        } catch {
            guard let words = error.rejection, words.status == 400 else { throw error }
            let copy = try await upstream.cipher(id, urgency)
            guard copy.isArchived == isArchived else { throw error }
            return copy
        }
    }
}
