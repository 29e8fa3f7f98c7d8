/// Something that was sent upstream, or was about to be when we were stopped.
public struct Attempt: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case create, update, trash, restore, archive, unarchive, partial, hardDelete, backup
        /// Gives the item to an organisation, with the content that it had. No change is brought up so; it only may
        /// come late.
        case share

        public var bringsContent: Bool {
            switch self {
            case .create, .update, .backup: true
            case .trash, .restore, .archive, .unarchive, .partial, .hardDelete, .share: false
            }
        }
    }

    public enum Outcome: String, CaseIterable, Hashable, Sendable {
        /// Written down before the first byte goes out; it stays when no answer comes.
        case unknown
        case refused
        case accepted
    }

    public let kind: Kind
    /// When it was about to be sent, or up to when nobody had answered.
    public internal(set) var moment: Moment
    /// The digest of the encrypted strings that were sent; empty where none were.
    public let fingerprint: [UInt8]
    /// By what that is known under a key that the account's has wrapped anew, and in another place. Empty as long as
    /// nobody needs it: it is on its way, was refused, or was all that was to be sent.
    public internal(set) var core: [UInt8]
    /// The conflict in which it makes others give way, if it was sent for that.
    public let conflict: Situation.Conflict?
    public var outcome: Outcome

    public init(
        _ kind: Kind,
        at moment: Moment,
        fingerprint: [UInt8] = [],
        core: [UInt8] = [],
        conflict: Situation.Conflict? = nil,
        outcome: Outcome = .unknown
    ) {
        self.kind = kind
        self.moment = moment
        self.fingerprint = fingerprint
        self.core = core
        self.conflict = conflict
        self.outcome = outcome
    }

    /// - Parameter content: What is sent, where that is some.
    public init(
        _ kind: Kind,
        at moment: Moment,
        of content: Cipher?,
        for conflict: Situation.Conflict? = nil
    ) {
        self.init(
            kind,
            at: moment,
            fingerprint: content?.fingerprint ?? [],
            conflict: conflict
        )
    }

    mutating func conclude(_ outcome: Outcome, taking content: Cipher?) {
        self.outcome = outcome
        if kind.bringsContent, let content { core = content.core }
    }

    /// For so many seconds a slow server may carry out what it never answered.
    public static let patience: Int64 = 20

    /// Up to when upstream may carry out this one.
    public var deadline: Moment { moment.advanced(bySeconds: Self.patience) }

    /// Whether it may do so yet.
    public func mayComeLate(at now: Moment) -> Bool { !deadline.hasCome(at: now) }

    /// Whether upstream may have done it, or do it yet.
    var mayHaveLanded: Bool { outcome != .refused }

    /// Whether it is the same that was sent.
    public func isSame(as other: Attempt) -> Bool {
        kind == other.kind && fingerprint == other.fingerprint
    }
}

/// That nobody has answered an attempt by some moment, as which it may have gone out: it had to wait for a new session
/// or for its turn, or lies on the way.
public struct Silence: Sendable {
    public let attempt: Attempt
    public let until: Moment
    /// What was sent, if content was sent.
    public let content: Cipher?

    public init(of attempt: Attempt, until moment: Moment, content: Cipher?) {
        (self.attempt, until, self.content) = (attempt, moment, content)
    }
}

/// A backup copy that is due or was made, so that a repeated try reuses it.
public struct BackupNote: Hashable, Sendable {
    /// The revision of the copy that gives way.
    public let source: Revision
    /// What is posted, frozen like every snapshot.
    public let json: [UInt8]
    public var cipherID: String?
    /// For which conflict upstream's version gives way to what is pending; nil if it is what is pending that does.
    public var conflict: Situation.Conflict?

    public init(
        source: Revision,
        json: [UInt8],
        cipherID: String? = nil,
        conflict: Situation.Conflict? = nil
    ) {
        self.source = source
        self.json = json
        self.cipherID = cipherID
        self.conflict = conflict
    }
}

/// How far the host's clock could be trusted when an edit was made.
public struct ClockNote: Hashable, Sendable {
    /// How much upstream's clock was ahead of ours at least, as last measured.
    public let offsetTicks: Int64?
    public let bootID: String
    /// What had passed since the boot; together they betray a clock that was set.
    public let elapsedTicks: Int64

    public init(
        offsetTicks: Int64?,
        bootID: String,
        elapsedTicks: Int64
    ) {
        self.offsetTicks = offsetTicks
        self.bootID = bootID
        self.elapsedTicks = elapsedTicks
    }

    /// The same clocks, so much later.
    func advanced(byTicks ticks: Int64) -> ClockNote {
        ClockNote(offsetTicks: offsetTicks, bootID: bootID, elapsedTicks: elapsedTicks + ticks)
    }
}
