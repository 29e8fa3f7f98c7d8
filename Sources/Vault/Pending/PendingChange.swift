/// An edit that upstream has not accepted yet.
///
/// There is at most one per cipher. Edits that follow each other fold into it, and it keeps the
/// ``baseline`` of the first, because that is the last moment at which both sides agreed.
public struct PendingChange: Hashable, Sendable {
    public enum State: Hashable, Sendable {
        case ready
        case inFlight
        case backingOff(until: Moment)
        /// Kept and shown, in nobody's way, until a person decides.
        case quarantined

        public enum Kind: String, CaseIterable, Hashable, Sendable {
            case ready, inFlight, backingOff, quarantined
        }

        public var kind: Kind {
            switch self {
            case .ready: .ready
            case .inFlight: .inFlight
            case .backingOff: .backingOff
            case .quarantined: .quarantined
            }
        }
    }

    public let id: String
    public let userID: String
    /// Upstream's id, or the one we made for an item that upstream has never seen.
    public var cipherID: String
    /// Grows with every change to the record; whoever settles must name the one that was seen.
    public var version: Int64
    public var intent: Intent
    /// The text that stood for the type, if it does not fit the intent. Such a record is
    /// shown as ``ChangeType/shown(for:)`` says and is never sent.
    public var foreignType: String?
    public private(set) var baseline: Revision?
    /// What upstream held at the baseline, as it wrote it. See ``agreed``.
    public private(set) var baseCopy: [UInt8]?
    public let created: Moment
    public var updated: Moment
    public var clock: ClockNote?
    /// How many of the folded edits changed the password.
    public var passwordChanges: Int64
    /// What may be found upstream. See ``note(_:)``.
    public private(set) var attempts: [Attempt]
    /// How often something was sent.
    public private(set) var attemptCount: Int64
    public var backup: BackupNote?
    public var state: State
    public var failures: Int64
    public var lastFailure: FailureNote?
    /// What upstream had taken from here beneath this, and has forgotten since, because it went back in time. If this
    /// goes without having been brought up, that is wished once more.
    public var forgotten: Snapshot?

    public init(
        id: String,
        userID: String,
        cipherID: String,
        version: Int64,
        intent: Intent,
        foreignType: String? = nil,
        baseline: Revision?,
        baseCopy: [UInt8]? = nil,
        created: Moment,
        updated: Moment,
        clock: ClockNote? = nil,
        passwordChanges: Int64 = 0,
        attempts: [Attempt] = [],
        attemptCount: Int64? = nil,
        backup: BackupNote? = nil,
        state: State = .ready,
        failures: Int64 = 0,
        lastFailure: FailureNote? = nil,
        forgotten: Snapshot? = nil
    ) {
        self.id = id
        self.userID = userID
        self.cipherID = cipherID
        self.version = version
        self.intent = intent
        self.foreignType = foreignType
        self.baseline = baseline
        self.baseCopy = baseCopy
        self.created = created
        self.updated = updated
        self.clock = clock
        self.passwordChanges = passwordChanges
        self.attempts = attempts
        self.attemptCount = attemptCount ?? Int64(attempts.count)
        self.backup = backup
        self.state = state
        self.failures = failures
        self.lastFailure = lastFailure
        self.forgotten = forgotten
    }

    /// What both sides last agreed on; nil for what upstream has never had, or cannot be read.
    public var agreed: Cipher? { baseCopy.flatMap { try? Cipher($0) } }

    public var type: ChangeType {
        foreignType.map { ChangeType.shown(for: $0) } ?? intent.type
    }

    /// Writes down that something is about to be sent.
    ///
    /// Sending the same again replaces the earlier notes of it, but for the last that may have
    /// landed: upstream may carry that one out late, whatever it says to the next. Refused ones are
    /// forgotten from the oldest on. So the list grows with what upstream may hold and not with the
    /// length of an outage.
    public mutating func note(_ attempt: Attempt) {
        attemptCount += 1
        let doubt = attempts.last { $0.isSame(as: attempt) && $0.mayHaveLanded }
        attempts.removeAll { $0.isSame(as: attempt) }
        let refused = attempts.indices.filter { attempts[$0].outcome == .refused }
        if let oldest = refused.first, refused.count >= Self.refusalsKept {
            attempts.remove(at: oldest)
        }
        if let doubt { attempts.append(doubt) }
        attempts.append(attempt)
    }

    /// Takes along what was sent for an earlier change and may be carried out yet.
    public mutating func expect(_ late: [Attempt]) { attempts = late + attempts }

    /// A person wants it to be tried as if nothing had gone wrong. What may have landed is not forgotten.
    public mutating func beginAnew() {
        state = .ready
        (failures, lastFailure, attemptCount) = (0, nil, 0)
    }

    /// What was sent for an edit that was taken back counts for nothing.
    public mutating func countAttempts(as before: PendingChange) {
        attemptCount = before.attemptCount
    }

    /// Writes down what became of an attempt, whatever was noted after it.
    public mutating func conclude(_ concluded: Attempt) {
        guard let index = index(of: concluded) else { return }
        attempts[index].outcome = concluded.outcome
        if !concluded.core.isEmpty { attempts[index].core = concluded.core }
    }

    /// Where an attempt is noted of which nothing else is known.
    private func index(of attempt: Attempt) -> Int? {
        attempts.lastIndex {
            $0.isSame(as: attempt) && $0.moment == attempt.moment && $0.outcome == .unknown
        }
    }

    /// The last attempt as it ended.
    ///
    /// - Parameter content: What upstream has taken, if that is content.
    public func lastAttempt(
        concluded outcome: Attempt.Outcome,
        taking content: Cipher? = nil
    ) -> Attempt? {
        var last = attempts.last
        last?.conclude(outcome, taking: content)
        return last
    }

    /// Writes down what became of the attempt that was noted last.
    ///
    /// - Parameter content: What upstream has taken, if that is content.
    public mutating func concludeAttempt(
        _ outcome: Attempt.Outcome,
        taking content: Cipher? = nil
    ) {
        guard let last = attempts.indices.last else { return }
        attempts[last].conclude(outcome, taking: content)
    }

    /// Notes that nobody has answered, whatever was noted since. An attempt that sets a folder or a favourite keeps its
    /// moment: what matters there is whether it came before the last edit.
    public mutating func note(_ silence: Silence) {
        guard let index = index(of: silence.attempt), attempts[index].kind != .partial else {
            return
        }
        attempts[index].moment = max(attempts[index].moment, silence.until)
        if let content = silence.content { attempts[index].core = content.core }
    }

    /// Remembers of content that is about to be replaced how it is known, if nobody has answered for it: whoever
    /// would have noted that may have died.
    public mutating func noteCore(of former: Snapshot?) {
        let doubted = attempts.indices.last {
            attempts[$0].outcome == .unknown && attempts[$0].kind.bringsContent
                && attempts[$0].core.isEmpty
        }
        guard let doubted, let sent = former.flatMap({ try? Cipher($0.json) }),
            sent.fingerprint == attempts[doubted].fingerprint
        else { return }
        attempts[doubted].core = sent.core
    }

    private static let refusalsKept = 16

    /// Writes down why nothing came of a try that nobody could have done better. It counts for nothing,
    /// so what does count is not written over.
    public mutating func noteHindrance(_ note: FailureNote) {
        guard isBlameless, !note.isRefusal else { return }
        lastFailure = FailureNote(kind: note.kind, message: note.message)
    }

    /// Whether nothing that went wrong was this change's own trouble.
    public var isBlameless: Bool {
        failures == 0 && lastFailure?.since == nil && lastFailure?.isRefusal != true
            && state != .quarantined
    }

    /// Takes a new stand after upstream accepted an earlier version of this change: both sides agree
    /// on what it holds now, and the rest is still wanted.
    public mutating func rebase(onto footing: Footing, cipherID: String) {
        baseline = footing.revision
        baseCopy = footing.copy
        self.cipherID = cipherID
        if case .create(let snapshot, let adjustments) = intent {
            intent = .update(snapshot, trash: nil, adjustments)
        }
    }

    /// What was written while upstream took an earlier version lies where upstream has that, unless its writer
    /// chose another place: others may have moved it there, and on the new ground it would be moved back.
    public mutating func follow(_ footing: Footing) {
        guard let agreed,
            let copy = footing.copy.flatMap({ try? Cipher($0) }),
            let snapshot = intent.snapshot, let content = try? Cipher(snapshot.json)
        else { return }
        let placed = content.placed(like: copy, since: agreed)
        guard placed != content else { return }
        intent = intent.replacing(
            Snapshot(json: placed.bytes, keyFingerprint: snapshot.keyFingerprint)
        )
    }

    /// What was wished for besides a trash that is withdrawn, or content that gives way: the archive, a folder, a
    /// favourite, that it is out of the trash. It goes on as a change of its own, made on what upstream holds.
    ///
    /// - Returns: Nil if nothing of it is left to be done.
    public func rest(over copy: Cipher, id: @autoclosure () -> String) -> PendingChange? {
        guard copy.organizationID == nil,
            let rest = intent.besides(wasArchived: agreed?.isArchived == true)
        else { return nil }
        let state = ItemState(copy, isCertain: true)
        guard rest.nextDeed(over: state, holdsContent: true, done: []) != nil else { return nil }
        return PendingChange(
            id: id(),
            userID: userID,
            cipherID: cipherID,
            version: 1,
            intent: rest,
            baseline: copy.revision,
            baseCopy: copy.revision == nil ? nil : copy.bytes,
            created: created,
            updated: updated,
            clock: clock
        )
    }

    /// Whether an upstream that never answered may have done this.
    public func mayHaveLanded(_ kind: Attempt.Kind) -> Bool {
        attempts.contains { $0.kind == kind && $0.mayHaveLanded }
    }

    /// Whether such an attempt may have made what others have done give way.
    public func mayHaveLanded(_ kind: Attempt.Kind, for conflict: Situation.Conflict) -> Bool {
        attempts.contains { $0.kind == kind && $0.conflict == conflict && $0.mayHaveLanded }
    }

    /// Whether it is no edit, but what is to be kept though upstream has lost it: that lies on a ground that is itself,
    /// to the last byte. An edit has a stamp of its own.
    public var standsOnItself: Bool { baseCopy != nil && baseCopy == intent.snapshot?.json }

    /// Whether its content is still what both sides agreed on, so that nothing of it need be sent: clients save
    /// what nobody has changed, and it would be written over what others have made of it.
    public var bringsNothing: Bool {
        guard case .update(let snapshot, .none, _) = intent,
            !attempts.contains(where: { $0.kind.bringsContent && $0.mayHaveLanded }),
            !standsOnItself, let agreed,
            let wanted = try? Cipher(snapshot.json)
        else { return false }
        return wanted.isUnchanged(from: agreed)
    }

    /// What both sides agreed on gets the files that upstream has by now.
    public mutating func seeFiles(of shown: Cipher) {
        guard let agreed else { return }
        baseCopy = agreed.withFiles(of: shown).bytes
    }

    /// What both sides agreed on is not in that folder any more, either: it is gone.
    mutating func agreedOutside(_ folderID: String) -> Cipher? {
        guard let agreed else { return nil }
        guard agreed.folderID == folderID else { return agreed }
        baseCopy = agreed.withoutFolder.bytes
        return agreed.withoutFolder
    }

    /// Calls without content that nobody ever answered: each may be carried out late.
    public var unansweredCalls: [Attempt] {
        attempts.filter { $0.outcome == .unknown && !$0.kind.bringsContent }
    }

    /// By these upstream may have made the cipher although it has not confirmed it, under an id that nobody here knows.
    public var doubtedCreates: [[UInt8]] {
        guard isUnborn else { return [] }
        return attempts.filter { $0.kind == .create && $0.mayHaveLanded }.map(\.fingerprint)
    }

    /// Whether upstream has never confirmed that it has the cipher.
    public var isUnborn: Bool {
        if case .create = intent { return true }
        return baseline == nil && attempts.contains { $0.kind == .create }
    }
}
