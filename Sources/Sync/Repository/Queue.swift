internal import Vault

// What a person decides about a change that waits.

extension Repository {
    /// - Returns: Nil if there is no such change.
    func saveCopy(of changeID: String) async throws(Refusal) -> Written<ViewedItem>? {
        // Whoever asks a second time meanwhile finds that there is nothing left to copy.
        try await inLane(of: changeID) { () async throws(Refusal) in
            try await copyAndDiscard(changeID)
        } ?? nil
    }

    /// In the lane of its cipher; another one, if that has got another id meanwhile.
    ///
    /// - Returns: Nil if there is no such change.
    private func inLane<Value: Sendable>(
        of changeID: String,
        _ body: () async throws(Refusal) -> Value
    ) async throws(Refusal) -> Value? {
        while let lane = try change(changeID)?.summary.lane {
            let value = try await lanes.hold(lane.cipherID) { () async throws(Refusal) -> Value? in
                let present = try change(changeID)?.summary.lane ?? lane
                return present == lane ? try await body() : nil
            }
            if let value { return value }
        }
        return nil
    }

    private func copyAndDiscard(
        _ changeID: String
    ) async throws(Refusal) -> Written<ViewedItem>? {
        let keys = try keys()
        guard let stored = try change(changeID) else { return nil }
        guard let change = stored.change else { throw .unreadable }
        guard let snapshot = change.intent.snapshot else { throw .contentless }
        guard let cipher = try? Cipher(snapshot.json) else { throw .unreadable }
        let copy: Cipher
        do throws(Flaw) {
            copy = try cipher.backup(
                at: change.updated,
                keys: keys,
                entropy: surroundings.entropy
            )
        } catch {
            throw .unfit(.unreadable(error))
        }
        let written = try await write(.addCopy(copy), of: .anything)
        do throws(Refusal) {
            // What was edited meanwhile is in no copy.
            _ = try await drop(changeID, keptAs: written.value.item.id) {
                $0.change?.isSameEdit(as: change) == true
            }
        } catch {
            // The copy is there all the same.
            if case .store(let cause) = error { throw .unsettled(cause) }
            throw error
        }
        return written
    }

    /// What is on its way upstream is waited for: nobody could say of it that it did not get there.
    ///
    /// - Returns: False if there is no such change, or none any more.
    func discard(_ changeID: String) async throws(Refusal) -> Bool {
        try await inLane(of: changeID) { () async throws(Refusal) in
            try await drop(changeID)
        } ?? false
    }

    /// - Parameters:
    ///   - backupID: The item that has its content now.
    ///   - isMeant: Whether what the change holds by then is to go, too.
    private func drop(
        _ changeID: String,
        keptAs backupID: String? = nil,
        if isMeant: (StoredChange) -> Bool = { _ in true }
    ) async throws(Refusal) -> Bool {
        while let stored = try change(changeID), isMeant(stored) {
            let isDone: Bool = try await ask(neighbours.store) {
                .change(
                    .discard(
                        changeID,
                        expecting: stored.summary.version,
                        at: surroundings.now,
                        keptAs: backupID,
                        $0
                    )
                )
            }
            guard isDone else { continue }
            let note = ResolutionNote(
                .discarded,
                at: surroundings.now,
                backupCipherID: backupID
            )
            surroundings.metrics.resolved(stored.summary.type, .discarded)
            surroundings.announce(.resolution(stored.summary.lane, changeID: changeID, note))
            surroundings.announce(.pending(stored.summary.lane, changeID: changeID))
            takeUp(stored.summary.lane)
            return true
        }
        return false
    }

    /// What upstream had forgotten beneath what has gone waits in its place.
    private func takeUp(_ lane: Lane) {
        guard let offered = try? neighbours.reader.change(in: lane)?.change else { return }
        announce(offered)
        tellQueued()
    }

    /// What is on its way upstream is waited for here, too: who sends it would take a record that is written anew
    /// for an edit, and decide about it once more.
    ///
    /// - Returns: False if there is no such change.
    func makeReady(_ changeID: String) async throws(Refusal) -> Bool {
        guard try change(changeID) != nil else { return false }
        // If it has got there meanwhile, nothing is left to be tried.
        _ = try await inLane(of: changeID) { () async throws(Refusal) in
            try await beginAnew(changeID)
        }
        return true
    }

    private func beginAnew(_ changeID: String) async throws(Refusal) {
        while let stored = try change(changeID) {
            let swap: Swap = try await ask(neighbours.store) {
                .change(
                    .update(
                        changeID,
                        expecting: stored.summary.version,
                        { $0.beginAnew() },
                        $0
                    )
                )
            }
            switch swap {
            case .done(let change): return announce(change)
            case .moved: continue
            case .missing: return
            case .unreadable: throw .unreadable
            }
        }
    }

    private func change(_ id: String) throws(Refusal) -> StoredChange? {
        let stored = try read { () throws(StoreError) in try neighbours.reader.change(id) }
        return stored?.summary.lane.userID == userID ? stored : nil
    }
}
