/// What the oracle knows.
///
/// Every value that anybody writes is a word of its own. It is one item's, in one field; so it can be
/// said of each of them who wrote it, whether its writer was told that it is safe, where it is, and
/// who took it away. Hosts are numbered from 0; to each of them, all others are somebody else.
struct Knowledge: Sendable {
    enum Author: Hashable, Sendable {
        /// A host, by such a request, based on that revision, which left at that time; late if the
        /// server has carried it out long after the line was cut.
        case host(Int, WireCall.Kind, known: String?, left: Duration, isLate: Bool = false)
        case other
        /// Another device, which knew of nothing since the item had that revision.
        case stale(String)
        /// The server was set back.
        case rollBack
    }

    struct Word: Sendable {
        enum Fate: Hashable, Sendable {
            /// Nobody was told anything yet.
            case begun
            case saved, queued
            /// Its writer was told that nothing has changed.
            case rejected
            /// The process died before it said anything.
            case unknown
        }

        let text: String
        let field: PlainField
        let origin: String
        /// The host at which it was written; nil for a device that is none.
        let host: Int?
        /// In the order of one item's own edits.
        let place: Int
        var fate = Fate.begun
        /// Whether it was ever upstream.
        var hasLanded = false
        /// It was upstream, and others took it away; or a person discarded it.
        var isExcused = false
        /// A person discarded it before it was ever upstream.
        var isDiscarded = false
        /// At these hosts a person was shown it, and then edited the item.
        var seen: Set<Int> = []
        /// When an answer with it in it reached each host for the first time.
        var delivered: [Int: Duration] = [:]
        /// Its item was not in the trash when it was edited.
        var isLive = false
        /// It was upstream, and its host was told so; upstream has forgotten it, which that host is to
        /// find out.
        var isForgotten = false
        /// It was gone from upstream, and came back with an earlier state of it.
        var hasComeBack = false
        /// The server carried out late what had been sent before it, and so undid it.
        var isUndone = false
        /// A copy of it was upstream that is gone with a later state.
        var isKeptNoMore = false
        /// With which stamp it came upstream.
        var stamp: String?
        /// A device has written over it that had not seen it, as the server let it.
        var overwriting: Overwriting?

        enum Overwriting: Hashable, Sendable {
            /// So soon that the stamps alone say that it had not seen it.
            case soon
            case late
        }

        var isAcknowledged: Bool { fate == .saved || fate == .queued }
    }

    struct Origin: Sendable {
        /// The host at which it was made; nil for a device that is none.
        let host: Int?
        var fate = Word.Fate.begun
        /// At these hosts a person has deleted it for good, or may have, after so many words in all.
        var deleted: [Int: Int] = [:]
        var deletionsElsewhere = 0
        var isDeletedElsewhere: Bool { deletionsElsewhere > 0 }
        /// At these hosts a person has wanted it in the trash.
        var trashed: Set<Int> = []
        /// Since when each host knows that it is in the trash.
        var trashDelivered: [Int: Duration] = [:]
        var discarded: Set<Int> = []
        /// It was changed by these, and stamped with an earlier time than before.
        var oddStamps: Set<Int?> = []
        /// Of something that was sent for it nobody heard what became of it.
        var isInDoubt = false
        /// Upstream it says something else than it did when it was made.
        var isRewritten = false
        /// Under which ids upstream made it long after the line was cut.
        var lateIDs: Set<String> = []
        /// Another device has changed one of these, or taken it away; it is an item like any other then.
        var isLateTouched = false
        /// A host showed it under two ids at once, because nobody had told it that a create had landed.
        var isShownTwice = false
        /// Each of two hosts has brought back what was deleted elsewhere, so it is there twice for good.
        var isMadeTwice = false
        /// Upstream, which was set back, had it again.
        var isRevived = false
        /// Another device has given it to an organisation.
        var isShared = false
        var hasLanded = false
        /// The wish to delete it, at each host.
        var deletions: [Int: Removal] = [:]
        /// The wish to have it in the trash.
        var trashings: [Int: Removal] = [:]
        /// Into which folder a person at each host has last put it.
        var moves: [Int: Move] = [:]
        /// At these hosts somebody wanted it in another place, or put it back where they had seen it.
        var displaced: Set<Int> = []
        /// At these hosts somebody is at it just now.
        var open: Set<Int> = []
        /// Where it lies as each host was told last, and since when.
        var placesTold: [Int: (place: PlainItem.Place, since: Duration)] = [:]
        /// What a person at each host has last wanted to be said of it.
        var markings: [Int: [PlainItem.Mark: Marking]] = [:]
        /// It was upstream, and one of these hosts has removed it from there.
        var isGone = false
        /// How often it was changed upstream, and by whom.
        private var changes: [Int?: Int] = [:]
        /// How often others had when it was last shown at a host as it was upstream.
        var changesSeen: [Int: Int] = [:]
        /// With which stamp it was last shown at a host.
        var stampSeen: [Int: String] = [:]

        struct Removal: Hashable, Sendable {
            var fate = Word.Fate.begun
            /// How often others had changed it when it was last shown to whoever removed it.
            let changesSeen: Int?

            var isAccepted: Bool { fate == .saved || fate == .queued }
        }

        struct Move: Hashable, Sendable {
            let folderID: String?
            /// How often others had changed it when it was last shown to whoever moved it.
            let changesSeen: Int?
        }

        struct Marking: Hashable, Sendable {
            let isOn: Bool
            /// How often others had changed it when it was last shown to whoever marked it.
            let changesSeen: Int?
        }

        init(host: Int?) { self.host = host }

        /// Anybody who has read it and edits it may bring it back.
        var wasDeleted: Bool { isDeletedElsewhere || !deleted.isEmpty }

        mutating func change(by host: Int?) { changes[host, default: 0] += 1 }

        /// How often anybody but this host has changed it.
        func changes(but host: Int?) -> Int {
            changes.reduce(0) { $0 + ($1.key == host ? 0 : $1.value) }
        }

        /// Whether one of these was accepted, and nobody else has had a hand in it since. Whoever is shown two
        /// of it and removes one keeps the other.
        func isToBeRemoved(by removals: [Int: Removal]) -> Bool {
            isOne
                && removals.contains { host, removal in
                    removal.isAccepted && changes(but: host) == removal.changesSeen
                }
        }

        /// Those that somebody wanted to be otherwise, and nobody else has had a hand in it since.
        func marksMissed(by item: PlainItem) -> [PlainItem.Mark] {
            guard isOne else { return [] }
            return PlainItem.Mark.allCases.filter { mark in
                markings.contains { host, markings in
                    guard let marking = markings[mark] else { return false }
                    return item.bears(mark) != marking.isOn
                        && changes(but: host) == marking.changesSeen
                }
            }
        }

        /// Whether somebody put it elsewhere, and nobody else has had a hand in it since.
        ///
        /// - Parameter folders: Those that there are still.
        func missesMove(_ item: PlainItem, among folders: [String]) -> Bool {
            isOne
                && moves.contains { host, move in
                    item.folderID != move.folderID && move.folderID.map(folders.contains) ?? true
                        && changes(but: host) == move.changesSeen
                }
        }

        /// Nobody can have meant another one of it, or nothing of it any more.
        private var isOne: Bool {
            discarded.isEmpty && !isShownTwice && !isMadeTwice && !isLateTouched
        }

        /// Whether anybody has changed it but the host at which it was made.
        var isTouchedElsewhere: Bool { changes(but: host) > 0 }
    }

    /// Which state of an item a host has.
    struct Stamp: Hashable, Sendable {
        let text: String
        let ticks: Int64
    }

    /// How many there are.
    let hosts: Int
    var breaches: [Breach] = []
    var words: [String: Word] = [:]
    var origins: [String: Origin] = [:]
    /// By the host, the origin and the field: the words written there, in their order.
    var edits: [String: [String]] = [:]
    var upstream: [String: PlainItem] = [:]
    var base: [Int: [String: Stamp]] = [:]
    /// Upstream's stamps may go back.
    var mayRegress = false
    /// Upstream was set back.
    var hasFallenBack = false
    /// Upstream's stamps were not those of its clock, or its clock was wrong.
    var hasOddStamps = false
    /// Somebody made copies by hand.
    var hasCopies = false
    /// Upstream has said what was not so: a list that lacked something, or an old one.
    var hasLied = false
    /// What of that it has said to each host since base was last looked at, and that something was missing.
    var lies: [Int: [Mishap]] = [:]
    /// No host's clock was ever wrong.
    var hasRightClocks = true
    /// A host is not to ask before: about who one is, and anything else.
    var holds: [Int: [Bool: Duration]] = [:]
    /// The same, whatever became of the process that was told.
    var latestHold = Duration.zero
    var requests: [Int: [Duration]] = [:]
    /// When a page of a ban was last shown.
    var lastBan: Duration?
    var races = 0
    /// By the id under which it was shown here: which item that is.
    var shown: [String: String] = [:]
    /// How many discards are under way at each host. What goes with them is known when they are over.
    var discards: [Int: Int] = [:]
    /// Those that there are upstream.
    var folders: [String] = []
    /// Another device has given the account a new key.
    var hasRotated = false
    /// How often something was sent of which nobody knows what became of it, since nothing was waiting
    /// at that host.
    var doubts: [Int: Int] = [:]
    private var count = 0

    init(hosts: Int = 1) { self.hosts = hosts }

    mutating func breach(_ invariant: Invariant, _ text: String) {
        breaches.append(Breach(invariant, text))
    }
}

// MARK: - What is written

extension Knowledge {
    /// - Parameter host: Where somebody makes it; nil for a device that is none.
    mutating func newOrigin(at host: Int?) -> String {
        count += 1
        let name = "i~\(count)"
        origins[name] = Origin(host: host)
        return name
    }

    mutating func newWord(_ field: PlainField, of origin: String, at host: Int?) -> String {
        count += 1
        let text = "\(host == nil ? "o" : "h")~\(count)~\(field.rawValue.prefix(2))"
        words[text] = Word(
            text: text,
            field: field,
            origin: origin,
            host: host,
            place: count
        )
        if let host { edits[Self.key(host, origin, field), default: []].append(text) }
        return text
    }

    static func key(_ host: Int, _ origin: String, _ field: PlainField) -> String {
        "\(host) \(origin) \(field.rawValue)"
    }

    /// A later word of the same field, of the same person, for which that holds.
    func hasSuccessor(_ word: Word, _ isOne: (Word) -> Bool) -> Bool {
        guard let host = word.host else { return false }
        return (edits[Self.key(host, word.origin, word.field)] ?? []).contains { text in
            guard let other = words[text] else { return false }
            return other.place > word.place && isOne(other)
        }
    }

    /// Whatever becomes of it, a person there wants it in another place.
    mutating func displace(_ origin: String, at host: Int) {
        origins[origin]?.displaced.insert(host)
    }

    /// - Parameter isKnown: Whether they were told that it is so.
    mutating func move(_ name: String, to folderID: String?, isKnown: Bool, at host: Int) {
        guard let origin = origins[name] else { return }
        let move = Origin.Move(folderID: folderID, changesSeen: origin.changesSeen[host])
        origins[name]?.moves[host] = isKnown ? move : nil
    }

    /// - Returns: Whether a person at that host wants it gone for the first time.
    mutating func delete(_ origin: String, at host: Int) -> Bool {
        defer { origins[origin]?.deleted[host] = count }
        return origins[origin]?.deleted[host] == nil
    }

    /// - Parameter isOn: Nil if nothing can be said of that any more.
    mutating func mark(_ name: String, _ mark: PlainItem.Mark, _ isOn: Bool?, at host: Int) {
        guard let origin = origins[name] else { return }
        let seen = origin.changesSeen[host]
        let marking = isOn.map { Origin.Marking(isOn: $0, changesSeen: seen) }
        origins[name]?.markings[host, default: [:]][mark] = marking
    }

    mutating func conclude(_ texts: [String], _ fate: Word.Fate) {
        for text in texts { words[text]?.fate = fate }
    }

    /// A person at that host wants none of it any more, but for what upstream had taken before, and has forgotten
    /// beneath it.
    ///
    /// - Parameter content: What the discarded change says; nil if nobody knows.
    mutating func discard(
        _ origin: String,
        withWords: Bool,
        content: [String]? = nil,
        at host: Int
    ) {
        origins[origin]?.discarded.insert(host)
        for (text, word) in words where word.origin == origin && word.host == host {
            if !word.hasLanded { words[text]?.isDiscarded = true }
            if word.isForgotten, content?.contains(text) == false { continue }
            // A deletion that is discarded has taken along what waited under it.
            let wasWaiting = word.fate == .queued && word.delivered[host] == nil
            if withWords || wasWaiting { words[text]?.isExcused = true }
        }
    }

    /// One of those that were made here and never shown to anybody is wanted no more, and nobody knows
    /// which.
    mutating func excuseUnshown(at host: Int) {
        let known = Set(shown.values)
        for (text, word) in words where word.host == host && !known.contains(word.origin) {
            words[text]?.isExcused = true
            origins[word.origin]?.discarded.insert(host)
        }
    }

    /// The person at that host has this before them, and edits it.
    mutating func see(_ item: PlainItem, at host: Int) {
        for word in item.words { words[word]?.seen.insert(host) }
        guard let name = item.origin else { return }
        let there = upstream[item.id]
        let isCurrent =
            there?.shownStamp == item.shownStamp && there?.place == item.place
            && PlainItem.Mark.allCases.allSatisfy { there?.bears($0) == item.bears($0) }
        let changes = origins[name]?.changes(but: host)
        origins[name]?.changesSeen[host] = isCurrent ? changes : nil
        origins[name]?.stampSeen[host] = item.shownStamp
    }

    /// An answer with the item, or with all of them, has arrived.
    mutating func deliver(
        _ id: String?,
        of there: [String: PlainItem],
        to host: Int,
        at now: Duration
    ) {
        let items = id.map { [there[$0]].compactMap(\.self) } ?? Array(there.values)
        for word in items.flatMap(\.words) where words[word]?.delivered[host] == nil {
            words[word]?.delivered[host] = now
        }
        for item in items where !item.isBackup {
            guard let origin = item.origin else { continue }
            if origins[origin]?.placesTold[host]?.place != item.place {
                origins[origin]?.placesTold[host] = (item.place, now)
            }
            // Such a stamp may be that of before the trash as well, and a list of such is not believed at
            // once.
            if id == nil, hasOddStamps, item.isTrashed, !item.revision.contains(".") { continue }
            let since = origins[origin]?.trashDelivered[host] ?? now
            origins[origin]?.trashDelivered[host] = item.isTrashed ? since : nil
        }
    }

    /// The process at that host is no more.
    mutating func bury(_ host: Int) {
        for (text, word) in words where word.fate == .begun && word.host == host {
            words[text]?.fate = .unknown
        }
        // Whether the host had written down how long it is to wait cannot be known.
        holds[host] = nil
        base[host] = nil
    }
}

extension Knowledge.Author {
    /// Its number; nil for everybody else.
    var host: Int? {
        if case .host(let host, _, _, _, _) = self { host } else { nil }
    }

    var isLate: Bool {
        if case .host(_, _, _, _, let isLate) = self { isLate } else { false }
    }
}
