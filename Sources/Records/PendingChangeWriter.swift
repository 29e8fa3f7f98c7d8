internal import CRecords
internal import Vault

/// Makes the message of a pending change.
struct PendingChangeWriter: ~Copyable {
    private var arena = Arena()
    private let unknown: Unknowns

    init(unknown: Unknowns) {
        self.unknown = unknown
    }

    mutating func encode(_ change: PendingChange) -> [UInt8] {
        let message = arena.message(holdfast__pending_change__init)
        message.pointee.id = arena.text(change.id)
        message.pointee.user_id = arena.text(change.userID)
        message.pointee.cipher_id = arena.text(change.cipherID)
        write(change.intent, into: &message.pointee)
        message.pointee.baseline = change.baseline.map { self.revision($0, .baseline) }
        message.pointee.has_created_ticks = 1
        message.pointee.created_ticks = change.created.ticks
        message.pointee.clock = change.clock.map { self.clock($0) }
        writeTally(of: change, into: &message.pointee)
        message.pointee.backup = change.backup.map { self.backup($0) }
        message.pointee.last_failure = change.lastFailure.map { self.failure($0) }
        message.pointee.forgotten = change.forgotten.map { self.forgotten($0) }
        unknown.attach(.change, to: &message.pointee.base, in: &arena)
        return packed(&message.pointee.base)
    }

    private mutating func writeTally(
        of change: PendingChange,
        into message: inout Holdfast__PendingChange
    ) {
        message.has_password_changes = 1
        message.password_changes = change.passwordChanges
        message.n_attempts = change.attempts.count
        message.attempts = arena.array(change.attempts.map { self.attempt($0) })
        message.has_attempt_count = 1
        message.attempt_count = change.attemptCount
        message.has_failures = 1
        message.failures = change.failures
    }

    private mutating func write(_ intent: Intent, into message: inout Holdfast__PendingChange) {
        switch intent {
        case .create(let snapshot, let adjustments):
            message.intent_case = HOLDFAST__PENDING_CHANGE__INTENT_CREATE
            message.create = create(snapshot, adjustments)
        case .update(let snapshot, let trash, let adjustments):
            message.intent_case = HOLDFAST__PENDING_CHANGE__INTENT_UPDATE
            message.update = update(snapshot, trash, adjustments)
        case .softDelete(let snapshot, let adjustments):
            message.intent_case = HOLDFAST__PENDING_CHANGE__INTENT_SOFT_DELETE
            message.soft_delete = softDelete(snapshot, adjustments)
        case .hardDelete:
            message.intent_case = HOLDFAST__PENDING_CHANGE__INTENT_HARD_DELETE
            message.hard_delete = arena.message(holdfast__hard_delete__init)
            attach(.intent("hardDelete"), &message.hard_delete.pointee.base)
        case .other(let restores, let adjustments):
            message.intent_case = HOLDFAST__PENDING_CHANGE__INTENT_OTHER
            message.other = other(restores, adjustments)
        }
    }

    private mutating func create(
        _ snapshot: Snapshot,
        _ adjustments: Adjustments
    ) -> UnsafeMutablePointer<Holdfast__Create> {
        let message = arena.message(holdfast__create__init)
        message.pointee.snapshot = self.snapshot(snapshot)
        message.pointee.adjustments = self.adjustments(adjustments)
        attach(.intent("create"), &message.pointee.base)
        return message
    }

    private mutating func update(
        _ snapshot: Snapshot,
        _ trash: Intent.TrashWish?,
        _ adjustments: Adjustments
    ) -> UnsafeMutablePointer<Holdfast__Update> {
        let message = arena.message(holdfast__update__init)
        message.pointee.snapshot = self.snapshot(snapshot)
        message.pointee.trash = trash.map { arena.text($0.rawValue) }
        message.pointee.adjustments = self.adjustments(adjustments)
        attach(.intent("update"), &message.pointee.base)
        return message
    }

    private mutating func softDelete(
        _ snapshot: Snapshot?,
        _ adjustments: Adjustments
    ) -> UnsafeMutablePointer<Holdfast__SoftDelete> {
        let message = arena.message(holdfast__soft_delete__init)
        message.pointee.snapshot = snapshot.map { self.snapshot($0) }
        message.pointee.adjustments = self.adjustments(adjustments)
        attach(.intent("softDelete"), &message.pointee.base)
        return message
    }

    private mutating func other(
        _ restores: Bool,
        _ adjustments: Adjustments
    ) -> UnsafeMutablePointer<Holdfast__Other> {
        let message = arena.message(holdfast__other__init)
        message.pointee.has_restores = 1
        message.pointee.restores = restores ? 1 : 0
        message.pointee.adjustments = self.adjustments(adjustments)
        attach(.intent("other"), &message.pointee.base)
        return message
    }

    private mutating func snapshot(
        _ snapshot: Snapshot
    ) -> UnsafeMutablePointer<Holdfast__Snapshot> {
        let message = arena.message(holdfast__snapshot__init)
        message.pointee.has_format_version = 1
        message.pointee.format_version = UInt32(snapshot.formatVersion)
        message.pointee.has_key_fingerprint = 1
        message.pointee.key_fingerprint = arena.bytes(snapshot.keyFingerprint)
        message.pointee.has_sha256 = 1
        message.pointee.sha256 = arena.bytes(snapshot.sha256)
        attach(.snapshot(snapshot.sha256), &message.pointee.base)
        return message
    }

    private mutating func adjustments(
        _ adjustments: Adjustments
    ) -> UnsafeMutablePointer<Holdfast__Adjustments>? {
        guard adjustments != .none || unknown[.adjustments] != nil else { return nil }
        let message = arena.message(holdfast__adjustments__init)
        message.pointee.has_is_archived = adjustments.isArchived == nil ? 0 : 1
        message.pointee.is_archived = adjustments.isArchived == true ? 1 : 0
        message.pointee.has_is_favourite = adjustments.isFavourite == nil ? 0 : 1
        message.pointee.is_favourite = adjustments.isFavourite == true ? 1 : 0
        switch adjustments.folder {
        case nil: break
        case .some(.none): message.pointee.folder = arena.text("")
        case .some(.id(let id)): message.pointee.folder = arena.text(id)
        }
        attach(.adjustments, &message.pointee.base)
        return message
    }

    private mutating func revision(
        _ revision: Revision,
        _ spot: Spot
    ) -> UnsafeMutablePointer<Holdfast__Revision> {
        let message = arena.message(holdfast__revision__init)
        message.pointee.text = arena.text(revision.text)
        message.pointee.has_ticks = 1
        message.pointee.ticks = revision.moment.ticks
        attach(spot, &message.pointee.base)
        return message
    }

    private mutating func clock(_ clock: ClockNote) -> UnsafeMutablePointer<Holdfast__Clock> {
        let message = arena.message(holdfast__clock__init)
        message.pointee.has_offset_ticks = clock.offsetTicks == nil ? 0 : 1
        message.pointee.offset_ticks = clock.offsetTicks ?? 0
        message.pointee.boot_id = arena.text(clock.bootID)
        message.pointee.has_elapsed_ticks = 1
        message.pointee.elapsed_ticks = clock.elapsedTicks
        attach(.clock(clock.elapsedTicks), &message.pointee.base)
        return message
    }

    private mutating func attempt(
        _ attempt: Attempt
    ) -> UnsafeMutablePointer<Holdfast__Attempt>? {
        let message = arena.message(holdfast__attempt__init)
        message.pointee.kind = arena.text(attempt.kind.rawValue)
        message.pointee.has_ticks = 1
        message.pointee.ticks = attempt.moment.ticks
        message.pointee.has_fingerprint = 1
        message.pointee.fingerprint = arena.bytes(attempt.fingerprint)
        if !attempt.core.isEmpty {
            message.pointee.has_core = 1
            message.pointee.core = arena.bytes(attempt.core)
        }
        message.pointee.conflict = attempt.conflict.map { arena.text($0.rawValue) }
        message.pointee.outcome = arena.text(attempt.outcome.rawValue)
        attach(.attempt(attempt.kind.rawValue, attempt.fingerprint), &message.pointee.base)
        return message
    }

    private mutating func backup(_ backup: BackupNote) -> UnsafeMutablePointer<Holdfast__Backup> {
        let message = arena.message(holdfast__backup__init)
        message.pointee.source = revision(backup.source, .backupSource(backup.source.text))
        message.pointee.has_json = 1
        message.pointee.json = arena.bytes(backup.json)
        message.pointee.cipher_id = backup.cipherID.map { arena.text($0) }
        message.pointee.conflict = backup.conflict.map { arena.text($0.rawValue) }
        attach(.backup(backup.source.text), &message.pointee.base)
        return message
    }

    private mutating func forgotten(
        _ lost: Snapshot
    ) -> UnsafeMutablePointer<Holdfast__Forgotten> {
        let message = arena.message(holdfast__forgotten__init)
        message.pointee.has_json = 1
        message.pointee.json = arena.bytes(lost.json)
        message.pointee.has_key_fingerprint = 1
        message.pointee.key_fingerprint = arena.bytes(lost.keyFingerprint)
        attach(.forgotten, &message.pointee.base)
        return message
    }

    private mutating func failure(
        _ failure: FailureNote
    ) -> UnsafeMutablePointer<Holdfast__Failure> {
        let message = arena.message(holdfast__failure__init)
        message.pointee.kind = arena.text(failure.kind.rawValue)
        message.pointee.message = arena.text(failure.message)
        if let since = failure.since {
            message.pointee.has_since_ticks = 1
            message.pointee.since_ticks = since.ticks
        }
        attach(.failure(failure.kind.rawValue), &message.pointee.base)
        return message
    }

    private mutating func attach(_ spot: Spot, _ message: inout ProtobufCMessage) {
        unknown.attach(spot, to: &message, in: &arena)
    }
}
