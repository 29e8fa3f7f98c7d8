internal import Crypto
internal import Logging
internal import Vault

extension Resolver {
    /// Brings what is pending under the account's key, because that was changed elsewhere. What
    /// was set aside for that is ready again; what does not open with the old key stays as it is.
    ///
    /// - Returns: How many changes were under the old key and are not any more.
    func reseal(from old: KeyRing, to keys: KeyRing) async throws(StoreError) -> Int {
        guard keys.user.keyID != old.user.keyID else { return 0 }
        // What was taken from a list may be under a later key than it was noted with.
        let present = Snapshot.fingerprint(of: keys.user)
        let stale = try reader.changes(of: userID) { stored in
            stored.change?.isStale(beside: present) == true ? Candidate(stored.summary) : nil
        }
        var count = 0
        for candidate in stale {
            count += try await lanes.hold(candidate.cipherID) {
                () async throws(StoreError) -> Int in
                try await reseal(candidate.id, from: old, to: keys) ? 1 : 0
            }
        }
        return count
    }

    private func reseal(
        _ id: String,
        from old: KeyRing,
        to new: KeyRing
    ) async throws(StoreError) -> Bool {
        guard let change = try reader.change(id)?.change else { return false }
        let resealed: PendingChange
        do throws(Halt) {
            resealed = try change.resealed(from: old, to: new)
        } catch {
            let noted = change.intent.snapshot?.keyFingerprint
            guard noted == Snapshot.fingerprint(of: old.user) else { return false }
            surroundings.log.error(
                "A pending change cannot be brought under the account's new key.",
                ["cipher": change.cipherID]
            )
            return false
        }
        guard resealed.isSealedOtherwise(than: change) else { return false }
        let ledger = Ledger(store: store, timekeeper: surroundings.timekeeper)
        let swap = try await ledger.insist {
            .change(.update(id, expecting: change.version, { $0.takeSeals(of: resealed) }, $0))
        }
        guard case .done(let fresh) = swap else { return false }
        let lane = Lane(userID: userID, cipherID: fresh.cipherID)
        surroundings.announce(.pending(lane, changeID: id))
        return true
    }
}

extension PendingChange {
    fileprivate func isSealedOtherwise(than other: PendingChange) -> Bool {
        intent != other.intent || backup != other.backup || baseCopy != other.baseCopy
    }

    /// What has no content says nothing of its key, and is compared with a copy under the old one.
    fileprivate func isStale(beside present: [UInt8]) -> Bool {
        guard let snapshot = intent.snapshot else { return baseCopy != nil }
        return snapshot.keyFingerprint != present
    }

    fileprivate func resealed(from old: KeyRing, to new: KeyRing) throws(Halt) -> PendingChange {
        func reseal(_ json: [UInt8]) throws(Halt) -> Cipher {
            let cipher = try Errand.cipher(json)
            do throws(Flaw) {
                return try cipher.resealed(from: old, to: new)
            } catch {
                // What came back from upstream meanwhile is under the new key already.
                if (try? cipher.resealed(from: new, to: new)) != nil { return cipher }
                throw .unfit(.undecryptable(error))
            }
        }
        var change = self
        if let snapshot = intent.snapshot {
            let content = try reseal(snapshot.json)
            change.intent = intent.replacing(Snapshot(content, keys: new))
        }
        if let baseline, let baseCopy {
            // What it is compared with; without it the comparison is with nothing.
            let copy = try? reseal(baseCopy)
            // It may be under another of the former keys.
            guard copy != nil || intent.snapshot != nil else { return change }
            change.rebase(onto: Footing(revision: baseline, copy: copy?.bytes), cipherID: cipherID)
        }
        if let note = backup {
            let isMade = note.cipherID != nil
            // What is upstream already is only compared with.
            let json = isMade ? (try? reseal(note.json))?.bytes : try reseal(note.json).bytes
            change.backup = BackupNote(
                source: note.source,
                json: json ?? note.json,
                cipherID: note.cipherID,
                conflict: note.conflict
            )
        }
        return change
    }

    fileprivate mutating func takeSeals(of other: PendingChange) {
        (intent, backup) = (other.intent, other.backup)
        if let baseline = other.baseline {
            rebase(onto: Footing(revision: baseline, copy: other.baseCopy), cipherID: cipherID)
        }
        guard state == .quarantined, lastFailure?.kind.endsWithNewKey == true else { return }
        (state, lastFailure, failures) = (.ready, nil, 0)
    }
}
