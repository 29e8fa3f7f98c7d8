internal import CRecords
internal import Crypto
internal import Vault

/// Takes the message of a pending change apart, and keeps what it does not know.
struct PendingChangeReader {
    let columns: PendingRecord.Columns
    private(set) var unknown: Unknowns

    mutating func read(_ payload: [UInt8]) throws(Damage) -> PendingChange {
        guard let message = holdfast__pending_change__unpack(nil, payload.count, payload) else {
            throw .payload
        }
        defer { holdfast__pending_change__free_unpacked(message, nil) }
        try unknown.keep(message.pointee.base, at: .change)
        return try change(message.pointee)
    }

    private mutating func change(
        _ message: Holdfast__PendingChange
    ) throws(Damage) -> PendingChange {
        guard
            try text(message.id) == columns.id,
            try text(message.user_id) == columns.userID,
            try text(message.cipher_id) == columns.cipherID
        else { throw .foreign }
        guard message.has_created_ticks != 0 else { throw .field }
        let intent = try intent(of: message)
        return PendingChange(
            id: columns.id,
            userID: columns.userID,
            cipherID: columns.cipherID,
            version: columns.version,
            intent: intent,
            foreignType: intent.isCalled(columns.changeType) ? nil : columns.changeType,
            baseline: try revision(message.baseline, .baseline),
            baseCopy: columns.baseCopy,
            created: Moment(ticks: message.created_ticks),
            updated: columns.updated,
            clock: try clock(message.clock),
            passwordChanges: try count(message.password_changes),
            attempts: try attempts(of: message),
            attemptCount: try count(message.attempt_count),
            backup: try backup(message.backup),
            state: columns.state,
            failures: try count(message.failures),
            lastFailure: try failure(message.last_failure),
            forgotten: try forgotten(message.forgotten)
        )
    }

    private mutating func intent(
        of message: Holdfast__PendingChange
    ) throws(Damage) -> Intent {
        switch message.intent_case {
        case HOLDFAST__PENDING_CHANGE__INTENT_CREATE:
            let create = message.create.pointee
            try unknown.keep(create.base, at: .intent("create"))
            return .create(try snapshot(create.snapshot), try adjustments(create.adjustments))
        case HOLDFAST__PENDING_CHANGE__INTENT_UPDATE: return try update(message.update.pointee)
        case HOLDFAST__PENDING_CHANGE__INTENT_SOFT_DELETE:
            let trash = message.soft_delete.pointee
            try unknown.keep(trash.base, at: .intent("softDelete"))
            let snapshot = trash.snapshot == nil ? nil : try snapshot(trash.snapshot)
            return .softDelete(snapshot, try adjustments(trash.adjustments))
        case HOLDFAST__PENDING_CHANGE__INTENT_HARD_DELETE:
            try unknown.keep(message.hard_delete.pointee.base, at: .intent("hardDelete"))
            return .hardDelete
        case HOLDFAST__PENDING_CHANGE__INTENT_OTHER:
            let other = message.other.pointee
            try unknown.keep(other.base, at: .intent("other"))
            return .other(restores: other.restores != 0, try adjustments(other.adjustments))
        default: throw .field
        }
    }

    private mutating func update(_ message: Holdfast__Update) throws(Damage) -> Intent {
        try unknown.keep(message.base, at: .intent("update"))
        let trash: Intent.TrashWish? = message.trash == nil ? nil : try word(message.trash)
        return .update(
            try snapshot(message.snapshot),
            trash: trash,
            try adjustments(message.adjustments)
        )
    }

    /// The snapshot and the bytes beside the record, which have to be the ones that were recorded.
    private mutating func snapshot(
        _ message: UnsafeMutablePointer<Holdfast__Snapshot>?
    ) throws(Damage) -> Snapshot {
        guard let message = message?.pointee, let json = columns.snapshot else { throw .snapshot }
        let sha256 = message.sha256.array
        guard Digest.sha256(json) == sha256 else { throw .snapshot }
        try unknown.keep(message.base, at: .snapshot(sha256))
        return Snapshot(
            json: json,
            formatVersion: Int(message.format_version),
            keyFingerprint: message.key_fingerprint.array,
            sha256: sha256
        )
    }

    private mutating func adjustments(
        _ message: UnsafeMutablePointer<Holdfast__Adjustments>?
    ) throws(Damage) -> Adjustments {
        guard let message = message?.pointee else { return .none }
        try unknown.keep(message.base, at: .adjustments)
        let folder = message.folder == nil ? nil : try text(message.folder)
        return Adjustments(
            isArchived: message.has_is_archived != 0 ? message.is_archived != 0 : nil,
            folder: folder.map { $0.isEmpty ? .none : .id($0) },
            isFavourite: message.has_is_favourite != 0 ? message.is_favourite != 0 : nil
        )
    }

    private mutating func revision(
        _ message: UnsafeMutablePointer<Holdfast__Revision>?,
        _ spot: Spot
    ) throws(Damage) -> Revision? {
        guard let message = message?.pointee else { return nil }
        guard message.has_ticks != 0 else { throw .field }
        try unknown.keep(message.base, at: spot)
        return Revision(text: try text(message.text), moment: Moment(ticks: message.ticks))
    }

    private mutating func clock(
        _ message: UnsafeMutablePointer<Holdfast__Clock>?
    ) throws(Damage) -> ClockNote? {
        guard let message = message?.pointee else { return nil }
        try unknown.keep(message.base, at: .clock(message.elapsed_ticks))
        return ClockNote(
            offsetTicks: message.has_offset_ticks != 0 ? message.offset_ticks : nil,
            bootID: try text(message.boot_id),
            elapsedTicks: message.elapsed_ticks
        )
    }

    private mutating func attempts(
        of message: Holdfast__PendingChange
    ) throws(Damage) -> [Attempt] {
        var attempts: [Attempt] = []
        attempts.reserveCapacity(message.n_attempts)
        for index in 0..<message.n_attempts {
            guard let attempt = message.attempts[index]?.pointee else { throw .field }
            attempts.append(try self.attempt(attempt))
        }
        return attempts
    }

    private mutating func attempt(_ message: Holdfast__Attempt) throws(Damage) -> Attempt {
        let kind: Attempt.Kind = try word(message.kind)
        let fingerprint = message.fingerprint.array
        try unknown.keep(message.base, at: .attempt(kind.rawValue, fingerprint))
        return Attempt(
            kind,
            at: Moment(ticks: message.ticks),
            fingerprint: fingerprint,
            core: message.core.array,
            conflict: try conflict(message.conflict),
            outcome: try word(message.outcome)
        )
    }

    private mutating func backup(
        _ message: UnsafeMutablePointer<Holdfast__Backup>?
    ) throws(Damage) -> BackupNote? {
        guard let message = message?.pointee else { return nil }
        let name = try text(message.source?.pointee.text)
        try unknown.keep(message.base, at: .backup(name))
        guard let source = try revision(message.source, .backupSource(name)) else { throw .field }
        return BackupNote(
            source: source,
            json: message.json.array,
            cipherID: message.cipher_id == nil ? nil : try text(message.cipher_id),
            conflict: try conflict(message.conflict)
        )
    }

    private mutating func forgotten(
        _ message: UnsafeMutablePointer<Holdfast__Forgotten>?
    ) throws(Damage) -> Snapshot? {
        guard let message = message?.pointee else { return nil }
        try unknown.keep(message.base, at: .forgotten)
        return Snapshot(
            json: message.json.array,
            keyFingerprint: message.key_fingerprint.array
        )
    }

    private mutating func failure(
        _ message: UnsafeMutablePointer<Holdfast__Failure>?
    ) throws(Damage) -> FailureNote? {
        guard let message = message?.pointee else { return nil }
        let kind = try text(message.kind)
        try unknown.keep(message.base, at: .failure(kind))
        return FailureNote(
            kind: FailureNote.Kind(rawValue: kind),
            message: try text(message.message),
            since: message.has_since_ticks != 0 ? Moment(ticks: message.since_ticks) : nil
        )
    }

    private func text(_ text: UnsafeMutablePointer<CChar>?) throws(Damage) -> String {
        guard let text, let string = String(validatingCString: text) else { throw .field }
        return string
    }

    private func conflict(
        _ text: UnsafeMutablePointer<CChar>?
    ) throws(Damage) -> Situation.Conflict? {
        guard let text else { return nil }
        return Situation.Conflict(rawValue: try self.text(text))
    }

    private func word<Word: RawRepresentable<String>>(
        _ text: UnsafeMutablePointer<CChar>?
    ) throws(Damage) -> Word {
        guard let word = Word(rawValue: try self.text(text)) else { throw .field }
        return word
    }

    private func count(_ number: Int64) throws(Damage) -> Int64 {
        guard number >= 0 else { throw .field }
        return number
    }
}
