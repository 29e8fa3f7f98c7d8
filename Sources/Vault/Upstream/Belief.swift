internal import System

/// What a sync answer says, as far as it decides whether it is believed.
public struct SyncPicture: Hashable, Sendable {
    public let profileID: String?
    /// Every cipher's stamp by its id; nil if the answer has no list of ciphers, or one of things that are none.
    public let ciphers: [String: Moment?]?
    /// The account's revision number, if it was asked for at the same time.
    public let accountRevision: Int64?

    public init(
        profileID: String?,
        ciphers: [String: Moment?]?,
        accountRevision: Int64?
    ) {
        self.profileID = profileID
        self.ciphers = ciphers
        self.accountRevision = accountRevision
    }

    public func asOf(_ revision: Int64?) -> SyncPicture {
        SyncPicture(profileID: profileID, ciphers: ciphers, accountRevision: revision)
    }

    /// The same, with these ciphers as they were known.
    public func standing(_ known: [String: Moment]) -> SyncPicture {
        let ciphers = ciphers?.merging(known.mapValues(Optional.some)) { $1 }
        return SyncPicture(
            profileID: profileID,
            ciphers: ciphers,
            accountRevision: accountRevision
        )
    }

    /// The same for the same ciphers at the same stamps.
    var fingerprint: UInt64 {
        let lines = (ciphers ?? [:]).map { "\($0.key) \($0.value?.ticks ?? -1)\n" }.sorted()
        return lines.lazy.flatMap(\.utf8).shortDigest
    }
}

/// What is held here of the account, against which a sync answer is looked at.
public struct SyncFooting: Sendable {
    public let userID: String
    /// The stamps of what upstream last said, by cipher.
    public let ciphers: [String: Moment?]
    /// What this host has deleted upstream for good. Whoever shows it is at an earlier point in time.
    public let deleted: Set<String>
    public let accountRevision: Int64?
    /// What kept the last answer from being believed, if anything did.
    public var doubt: SyncDoubt?

    public init(
        userID: String,
        ciphers: [String: Moment?],
        deleted: Set<String> = [],
        accountRevision: Int64?,
        doubt: SyncDoubt? = nil
    ) {
        self.userID = userID
        self.ciphers = ciphers
        self.deleted = deleted
        self.accountRevision = accountRevision
        self.doubt = doubt
    }

    /// What is known, and is not in an answer.
    fileprivate func missing(in ciphers: [String: Moment?]) -> Set<String> {
        Set(self.ciphers.keys.lazy.filter { ciphers[$0] == nil })
    }

    /// Whether something is missing still that was when upstream was seen to be at an earlier point in time.
    fileprivate func isStillMissing(in ciphers: [String: Moment?]) -> Bool {
        guard let doubt, doubt.kind == .regression else { return false }
        return doubt.missing.contains { self.ciphers[$0] != nil && ciphers[$0] == nil }
    }

    /// Whether something was written over, or deleted, that upstream held at an earlier stamp when it was seen to be at
    /// an earlier point in time: whoever did that had not seen what was forgotten.
    fileprivate func hidesWhatHasFallen(in ciphers: [String: Moment?]) -> Bool {
        guard let doubt, doubt.kind == .regression else { return false }
        return doubt.fallen.contains { id in
            guard let known = self.ciphers[id] ?? nil else { return false }
            guard let listed = ciphers[id] else { return true }
            return listed.map { known.isEarlierStamp(than: $0) } ?? false
        }
    }

    /// Whether so few are held that the last may go with no other ado than to be asked for twice.
    public var isOfFew: Bool { ciphers.count < Belief.shrinkFloor }
}

/// A sync answer that is whole and right, and hard to believe.
///
/// It is kept until the next answer. One that paints the same picture a while later, with the same
/// account revision, is believed unless a ``SyncWitness`` disproves it: then the vault is really so.
public struct SyncDoubt: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// Nearly everything is gone.
        case shrink
        /// Upstream is at an earlier point in time than it was.
        case regression
    }

    public let kind: Kind
    public let fingerprint: UInt64
    public let accountRevision: Int64?
    /// What upstream lacked then. That somebody writes there moves it on, and brings back nothing of what
    /// was forgotten.
    public let missing: Set<String>
    /// What it held at an earlier stamp then, also when it was asked for that alone. The same goes for that.
    public private(set) var fallen: Set<String>
    /// When it first came up.
    public private(set) var since: Moment

    public init(
        kind: Kind,
        fingerprint: UInt64,
        accountRevision: Int64?,
        missing: Set<String>,
        fallen: Set<String> = [],
        since: Moment
    ) {
        self.kind = kind
        self.fingerprint = fingerprint
        self.accountRevision = accountRevision
        self.missing = missing
        self.fallen = fallen
        self.since = since
    }

    /// Upstream, asked for these alone, has borne out that it holds them at an earlier stamp.
    public mutating func note(fallen ids: Set<String>) { fallen.formUnion(ids) }

    func isSamePicture(as other: SyncDoubt) -> Bool {
        kind == other.kind && fingerprint == other.fingerprint
            && accountRevision == other.accountRevision
    }

    /// Whether upstream is as before, and has only moved on from there since. Where nearly everything is gone, its list
    /// has to show that as well as its number: one that is empty never does.
    func goesOn(from other: SyncDoubt) -> Bool {
        guard kind == other.kind, missing == other.missing else { return false }
        guard let accountRevision, let others = other.accountRevision else {
            return kind == .regression
        }
        return switch kind {
        case .regression: accountRevision >= others
        case .shrink: accountRevision > others && fingerprint != other.fingerprint
        }
    }

    func standing(since moment: Moment) -> SyncDoubt {
        var doubt = self
        doubt.since = moment
        return doubt
    }
}

/// A cipher of which a sync answer says something else than what is known: an answer from a cache
/// stays the same for as long as anybody waits, and only asking for one thing by itself tells it from
/// an upstream that has really changed.
public struct SyncWitness: Hashable, Sendable {
    public let cipherID: String
    /// What upstream last said of it; nil if it was deleted from here for good.
    let known: Moment?
    /// Whether it is in the answer, at another stamp.
    let isListed: Bool

    /// What upstream says of it alone, and what that means for the answer.
    public enum Word: Hashable, Sendable {
        /// The answer was an old or a partial one.
        case disproves
        case bearsOut
        /// It contradicts the answer as well as what is known.
        case meansNothing
    }

    /// Who can be asked: of all that is known and gainsaid, a few, because any one of them may really
    /// have gone since.
    public static func those(
        against picture: SyncPicture,
        on footing: SyncFooting
    ) -> some Sequence<SyncWitness> {
        let ciphers = picture.ciphers ?? [:]
        let gainsaid = footing.ciphers.compactMap { id, before -> SyncWitness? in
            guard let before else { return nil }
            guard let now = ciphers[id] else {
                return SyncWitness(cipherID: id, known: before, isListed: false)
            }
            guard let now, now.isEarlierStamp(than: before) else { return nil }
            return SyncWitness(cipherID: id, known: before, isListed: true)
        }
        let risen = footing.deleted.lazy.filter { ciphers[$0] != nil }
            .map { SyncWitness(cipherID: $0, known: nil, isListed: true) }
        return (gainsaid + risen).sorted { $0.cipherID < $1.cipherID }.prefix(most)
    }

    private static let most = 5

    /// Whether it is in the answer at an earlier stamp than is known.
    public var hasFallen: Bool { isListed && known != nil }

    /// - Parameter shown: Nil if it is not there.
    public func word(showing shown: Moment?) -> Word {
        guard let known else { return shown == nil ? .disproves : .bearsOut }
        guard let shown else { return isListed ? .meansNothing : .bearsOut }
        return shown.isEarlierStamp(than: known) ? .bearsOut : .disproves
    }
}

/// Whether a sync answer may replace what is held here.
public enum Belief: Hashable, Sendable {
    case believed
    /// Hard to believe, but said twice; a witness may still disprove it. After a regression, what
    /// upstream has forgotten is to be offered to it again.
    case confirmed(SyncDoubt.Kind)
    /// Nothing is replaced; the doubt is to be kept for the next answer.
    case doubted(SyncDoubt)
    /// It is no whole answer for this account. Nothing is replaced, and nothing is to be kept.
    case refused(Flaw)

    public enum Flaw: String, CaseIterable, Hashable, Sendable {
        case wrongAccount, noCiphers
    }

    /// For how long a doubt must stand before the same picture confirms it: a cache or a server
    /// that lags behind says the same thing twice in a moment. Not so of a few ciphers that are gone:
    /// their witnesses are enough.
    public static let secondThought: Int64 = 60
    /// The same of a picture that moves on.
    static let longThought: Int64 = 300

    /// Of at least this many ciphers, nine tenths may not go at once without a second look. Of
    /// fewer, only the last must not.
    static let shrinkFloor = 10

    public init(in picture: SyncPicture, on footing: SyncFooting, at now: Moment) {
        guard picture.profileID == footing.userID else {
            self = .refused(.wrongAccount)
            return
        }
        guard let ciphers = picture.ciphers else {
            self = .refused(.noCiphers)
            return
        }
        guard let kind = Self.doubt(ciphers, picture.accountRevision, footing) else {
            self = .believed
            return
        }
        let doubt = SyncDoubt(
            kind: kind,
            fingerprint: picture.fingerprint,
            accountRevision: picture.accountRevision,
            missing: kind == .regression ? footing.missing(in: ciphers) : [],
            fallen: kind == footing.doubt?.kind ? footing.doubt?.fallen ?? [] : [],
            since: now
        )
        let isOfFew = kind == .shrink && footing.isOfFew
        self = Self.settle(
            doubt,
            earlier: footing.doubt,
            standing: isOfFew ? 0 : Self.secondThought
        )
    }

    private static func settle(
        _ doubt: SyncDoubt,
        earlier: SyncDoubt?,
        standing: Int64
    ) -> Belief {
        guard let earlier, doubt.since >= earlier.since else { return .doubted(doubt) }
        if earlier.isSamePicture(as: doubt) {
            return doubt.since >= earlier.since.advanced(bySeconds: standing)
                ? .confirmed(doubt.kind) : .doubted(earlier)
        }
        // Where others write all the time, no picture comes twice.
        guard doubt.goesOn(from: earlier) else { return .doubted(doubt) }
        return doubt.since >= earlier.since.advanced(bySeconds: longThought)
            ? .confirmed(doubt.kind) : .doubted(doubt.standing(since: earlier.since))
    }

    private static func doubt(
        _ ciphers: [String: Moment?],
        _ accountRevision: Int64?,
        _ footing: SyncFooting
    ) -> SyncDoubt.Kind? {
        let isBack = accountRevision.map { $0 < footing.accountRevision ?? $0 } ?? false
        if isBack, !mutated(.believesOlder) { return .regression }
        // Whoever had deleted what was written since would have moved the account on.
        let isForgotten = footing.ciphers.contains { id, stamp in
            guard let stamp, let accountRevision, ciphers[id] == nil else { return false }
            return Moment(accountRevision: accountRevision).isEarlierStamp(than: stamp)
        }
        if isForgotten || footing.isStillMissing(in: ciphers)
            || footing.hidesWhatHasFallen(in: ciphers)
        {
            return .regression
        }
        let gone = footing.ciphers.count { ciphers[$0.key] == nil }
        if isShrink(gone: gone, of: footing.ciphers.count), !mutated(.believesEmpty) {
            return .shrink
        }
        if mutated(.believesOlder) { return nil }
        let isOlder = footing.ciphers.contains { id, before in
            guard let before, let now = ciphers[id] ?? nil else { return false }
            return now.isEarlierStamp(than: before)
        }
        let isBackFromTheDead = footing.deleted.contains { ciphers[$0] != nil }
        return isOlder || isBackFromTheDead ? .regression : nil
    }

    private static func isShrink(gone: Int, of count: Int) -> Bool {
        guard gone > 0 else { return false }
        return gone == count || (count >= shrinkFloor && gone * 10 >= count * 9)
    }
}

extension Moment {
    fileprivate init(accountRevision milliseconds: Int64) {
        let (ticks, overflow) = milliseconds.multipliedReportingOverflow(
            by: Self.ticksPerMillisecond
        )
        self.init(ticks: overflow ? milliseconds < 0 ? .min : .max : ticks)
    }
}
