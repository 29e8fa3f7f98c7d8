internal import Vault
internal import System

/// Backup copies. Each comes before whatever takes its source away: if we are stopped in between,
/// there is a copy too many, which is a nuisance; the other way around there would be one too few.
extension Errand {
    /// Keeps what upstream holds, which gives way.
    mutating func keep(
        _ copy: Cipher,
        for conflict: Situation.Conflict
    ) async throws(Halt) {
        guard let revision = copy.revision else {
            throw .doubt(.unconfirmed)
        }
        fileSource = copy
        try await keep(copy, source: revision, at: revision.moment, for: conflict)
        try await learn(copy)
    }

    /// What is known here from now on is edited knowingly: whoever's edit is refused after all edits
    /// this next, and needs no second backup copy of it.
    private func learn(_ copy: Cipher) async throws(Halt) {
        guard let base = BaseCipher(copy, of: kit.userID), let known = try known(base.lane),
            known != base, !mutated(.unlearns)
        else { return }
        // Two versions may have the same stamp, or one that was cut off. What upstream shows came after what
        // the edit was made on; it need not have come after what a list has said since.
        let isGround =
            known.json == change.baseCopy && !base.revision.isEarlier(than: known.revision)
        guard known.revision.moment < base.revision.moment || isGround else { return }
        try await putBase(base)
    }

    /// Keeps the content that is pending, and for it the files of the copy that stands.
    mutating func keepLocal(beside copy: Cipher) async throws(Halt) {
        fileSource = copy
        guard let snapshot = change.intent.snapshot else { return }
        // What is pending has no revision; it is known by when it was edited last.
        let source = Revision(text: "local", moment: change.updated)
        try await keep(
            Self.cipher(snapshot.json),
            source: source,
            at: change.updated,
            for: nil
        )
    }

    /// - Parameter conflict: For which upstream's version gives way; nil if it is what is pending that does.
    private mutating func keep(
        _ cipher: Cipher,
        source: Revision,
        at moment: Moment,
        for conflict: Situation.Conflict?
    ) async throws(Halt) {
        let metrics = kit.surroundings.metrics
        let reason: SyncMetrics.BackupReason = conflict == .soft ? .softConflict : .hardConflict
        let isOther = try isKeptOther(than: cipher, source)
        let source = try sourceKept(of: cipher) ?? source
        // One that is found is noted at once.
        let former = backupID
        if !isOther, let id = try await knownBackup(of: source) {
            if former != id { metrics.backedUp(reason, .reused) }
            backupID = id
            return
        }
        if mutated(.dropsOldestCopy), let oldest = change.backup?.cipherID {
            try? await kit.upstream.delete(oldest, kit.urgency)
        }
        let note =
            isOther
            ? try newNote(of: cipher, source, at: moment, conflict)
            : try note(of: cipher, source, at: moment, conflict)
        if let id = try await earlierBackup(of: cipher, like: note) {
            metrics.backedUp(reason, .reused)
            return try await keepNote(id, as: note)
        }
        let base = try await make(note, reason)
        try await putBase(base)
        try await keepNote(base.lane.cipherID)
    }

    /// It is counted as soon as it is there, whatever becomes of what is written down about it.
    private mutating func make(
        _ note: BackupNote,
        _ counted: SyncMetrics.BackupReason
    ) async throws(Halt) -> BaseCipher {
        let metrics = kit.surroundings.metrics
        do throws(Halt) {
            let answer = try await post(note)
            let base = try kit.base(answer, answering: "create cipher", mayHaveLanded: true)
            metrics.backedUp(counted, .created)
            return base
        } catch {
            if error.isFailure { metrics.backedUp(counted, .failed) }
            throw error
        }
    }

    /// The revision under which the same content was kept before: somebody may only have put it in
    /// another place since.
    private func sourceKept(of cipher: Cipher) throws(Halt) -> Revision? {
        guard let note = change.backup else { return nil }
        let kept = Item(try Self.cipher(note.json), keys: kit.keys)
        let isSame = kept.isBackup(of: Item(cipher, keys: kit.keys), at: note.source.moment)
        return isSame ? note.source : nil
    }

    /// Whether a backup copy of this is upstream: it was decided then who gives way.
    func hasKept(_ cipher: Cipher) throws(Halt) -> Bool {
        guard change.backup?.cipherID != nil else { return false }
        return try sourceKept(of: cipher) != nil
    }

    /// What was frozen for this before, or what is frozen now.
    private func note(
        of cipher: Cipher,
        _ source: Revision,
        at moment: Moment,
        _ conflict: Situation.Conflict?
    ) throws(Halt) -> BackupNote {
        if let note = change.backup, note.source == source { return note }
        return try newNote(of: cipher, source, at: moment, conflict)
    }

    private func newNote(
        of cipher: Cipher,
        _ source: Revision,
        at moment: Moment,
        _ conflict: Situation.Conflict?
    ) throws(Halt) -> BackupNote {
        let json = try backup(of: cipher, at: moment).bytes
        return BackupNote(source: source, json: json, conflict: conflict)
    }

    /// Whether what was kept with this very stamp is something else: stamps may have few digits.
    private func isKeptOther(than cipher: Cipher, _ source: Revision) throws(Halt) -> Bool {
        guard let note = change.backup, note.source == source else { return false }
        let kept = Item(try Self.cipher(note.json), keys: kit.keys)
        let item = Item(cipher, keys: kit.keys)
        // What cannot be opened cannot be told apart.
        guard kept.flaws.isEmpty, item.flaws.isEmpty else { return false }
        return !kept.isBackup(of: item, at: source.moment)
    }

    /// - Parameter note: What the copy is noted as, unless that is done.
    private mutating func keepNote(_ id: String, as note: BackupNote? = nil) async throws(Halt) {
        backupID = id
        try await noteFiles(for: id)
        do throws(Halt) {
            try await write(id, of: note)
        } catch {
            guard case .overtaken = error else { throw error }
            // Whoever has edited meanwhile has not taken the copy away, and a list may not show it yet.
            try reload()
            try await write(id, of: note)
            throw error
        }
    }

    private mutating func write(_ id: String, of note: BackupNote?) async throws(Halt) {
        try await update { change in
            if let note { change.backup = note }
            change.backup?.cipherID = id
        }
    }

    /// They follow when there is time; the copy of the text waits for none of them.
    private func noteFiles(for backupID: String) async throws(Halt) {
        guard let fileSource, !fileSource.attachmentIDs.isEmpty else { return }
        let files = fileSource.attachmentIDs.map {
            BackupFile(
                userID: kit.userID,
                backupID: backupID,
                attachmentID: $0,
                sourceID: fileSource.id ?? change.cipherID,
                due: kit.now
            )
        }
        try await write { ledger throws(StoreError) in
            try await ledger.insist { .files(.note(files, $0)) }
        }
    }

    private func backup(of cipher: Cipher, at moment: Moment) throws(Halt) -> Cipher {
        do throws(Flaw) {
            return try cipher.backup(
                at: moment,
                keys: kit.keys,
                entropy: kit.surroundings.entropy
            )
        } catch {
            throw .unfit(.undecryptable(error))
        }
    }

    /// The copy that was made of this before, whether or not anybody heard of it.
    private mutating func knownBackup(of source: Revision) async throws(Halt) -> String? {
        guard let note = change.backup, note.source == source, !mutated(.blindBackup) else {
            return nil
        }
        if let id = note.cipherID { return id }
        let cipher = try Self.cipher(note.json)
        // That the latest was refused says nothing of what was sent before; the note may have been brought
        // under another key in between.
        let sent = change.attempts.last { $0.kind == .backup && $0.outcome != .refused }
        guard let sent else { return nil }
        try beLateEnough(for: .backup)
        let list = try await kit.list()
        let found = try await find(.backup, in: list) { shelf in
            shelf.find(cipher, fingerprints: [])
                ?? shelf.find(cipher, since: sent.moment, openedWith: kit.keys)
        }
        guard let id = found?.id else { return nil }
        try await keepNote(id)
        return id
    }

    /// A copy that says the same, whenever it was made: in its place another was noted since, or it is
    /// an earlier change's. A list may be older than what became of it, so it is looked at by itself.
    private func earlierBackup(
        of cipher: Cipher,
        like note: BackupNote
    ) async throws(Halt) -> String? {
        guard note != change.backup, !mutated(.blindBackup) else { return nil }
        let made = change.attempts.filter { $0.kind == .backup && $0.outcome != .refused }
        if made.isEmpty, try !mayHaveBackup() { return nil }
        let isInDoubt = made.contains { $0.outcome == .unknown }
        if isInDoubt { try beLateEnough(for: .backup) }
        let list = try await kit.list()
        let own = Set([change.cipherID, fileSource?.id].compactMap(\.self))
        let copies = [list.listed, list.missed].flatMap {
            $0.backups(of: cipher, besides: own, openedWith: kit.keys)
        }
        for id in copies where try await stands(id, as: cipher) { return id }
        if copies.isEmpty { try list.confirmAbsence() }
        if isInDoubt { try beLateEnough(for: .backup, at: list.asked) }
        return nil
    }

    /// Whether upstream has that copy now, and nobody here is about to change it.
    private func stands(_ id: String, as source: Cipher) async throws(Halt) -> Bool {
        guard try !isPending(kit.lane(id)) else { return false }
        do throws(Setback) {
            let copy = try await kit.upstream.cipher(id, kit.urgency)
            return !copy.isInTrash && copy.organizationID == nil
                && Item(copy, keys: kit.keys).isBackup(of: Item(source, keys: kit.keys))
        } catch {
            guard case .missing = error.reason else { throw .setback(error) }
            return false
        }
    }

    private func mayHaveBackup() throws(Halt) -> Bool {
        try kit.read { (reader) throws(StoreError) in try reader.mayHaveBackup(lane) }
    }

    private mutating func post(_ note: BackupNote) async throws(Halt) -> Cipher {
        let cipher = try Self.cipher(note.json)
        try await self.note(.backup, cipher) { $0.backup = note }
        do throws(Setback) {
            let answer = try await kit.create(cipher)
            conclude(.accepted)
            return answer
        } catch {
            guard let folderID = cipher.folderID, try await isLost(folderID, error) else {
                throw .setback(error)
            }
        }
        conclude(.refused)
        let json = cipher.withoutFolder.bytes
        return try await post(
            BackupNote(source: note.source, json: json, conflict: note.conflict)
        )
    }
}
