/// What the oracle knows.
///
/// Every value that anybody writes is a word of its own. It is one item's, in one field; so it can be
/// said of each of them who wrote it, whether its writer was told that it is safe, where it is, and
/// who took it away.
struct Knowledge: Sendable {
    enum Author: Hashable, Sendable {
        /// This host, by such a request, based on that revision, which left at that time.
        case host(WireCall.Kind, known: String?, left: Duration)
        case other
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
        let isOwn: Bool
        /// In the order of one item's own edits.
        let place: Int
        var fate = Fate.begun
        /// Whether it was ever upstream.
        var hasLanded = false
        /// It was upstream, and others took it away; or a person discarded it.
        var isExcused = false
        /// A person at this host was shown it, and then edited the item.
        var isSeen = false
        /// When an answer with it in it reached this host for the first time.
        var delivered: Duration?
        /// Its item was not in the trash when it was edited.
        var isLive = false
        /// It was upstream, and this host was told so; upstream has forgotten it, which this host is to
        /// find out.
        var isForgotten = false

        var isAcknowledged: Bool { fate == .saved || fate == .queued }
    }

    struct Origin: Sendable {
        var isOwn: Bool
        var fate = Word.Fate.begun
        /// A person at this host has deleted it for good, or may have.
        var isDeletedHere = false
        var isDeletedElsewhere = false
        /// A person at this host has wanted it in the trash.
        var isTrashedHere = false
        var isDiscarded = false
        /// It was changed, and stamped with an earlier time than before.
        var hasOddStamp = false
        /// Another device has given it to an organisation.
        var isShared = false
        var hasLanded = false
        var id: String?
        /// What became of the wish to delete it.
        var deletion: Word.Fate?
        /// It was upstream, and this host has removed it from there.
        var isGone = false
        /// How often others have changed it, and how often they had when it was last shown here as it
        /// was upstream.
        var touches = 0
        var touchesSeen: Int?
    }

    let profile: String
    var breaches: [Breach] = []
    var words: [String: Word] = [:]
    var origins: [String: Origin] = [:]
    /// By the origin and the field: the words written here, in their order.
    var edits: [String: [String]] = [:]
    var upstream: [String: PlainItem] = [:]
    var base: [String: Int64] = [:]
    /// Upstream's stamps may go back.
    var mayRegress = false
    /// Upstream's stamps were not those of its clock, or its clock was wrong.
    var hasOddStamps = false
    /// Somebody made copies by hand.
    var hasCopies = false
    /// Upstream has said what was not so: a list that lacked something, or an old one.
    var hasLied = false
    /// Nobody is to ask before: about who one is, and anything else.
    var holds: [Bool: Duration] = [:]
    /// The same, whatever became of the process that was told.
    var latestHold = Duration.zero
    var requests: [Duration] = []
    /// When a page of a ban was last shown.
    var lastBan: Duration?
    var races = 0
    /// By the id under which it was shown here: which item that is.
    var shown: [String: String] = [:]
    /// Another device has given the account a new key.
    var hasRotated = false
    /// How often something was sent of which nobody knows what became of it, since nothing was waiting.
    var doubts = 0
    private var count = 0

    init(profile: String) { self.profile = profile }

    mutating func breach(_ invariant: String, _ text: String) {
        breaches.append(Breach(invariant, text))
    }
}

// MARK: - What is written

extension Knowledge {
    mutating func newOrigin(isOwn: Bool) -> String {
        count += 1
        let name = "i~\(count)"
        origins[name] = Origin(isOwn: isOwn)
        return name
    }

    mutating func newWord(_ field: PlainField, of origin: String, isOwn: Bool) -> String {
        count += 1
        let text = "\(isOwn ? "h" : "o")~\(count)~\(field.rawValue.prefix(2))"
        words[text] = Word(
            text: text,
            field: field,
            origin: origin,
            isOwn: isOwn,
            place: count
        )
        if isOwn { edits[Self.key(origin, field), default: []].append(text) }
        return text
    }

    static func key(_ origin: String, _ field: PlainField) -> String {
        "\(origin) \(field.rawValue)"
    }

    mutating func conclude(_ texts: [String], _ fate: Word.Fate) {
        for text in texts { words[text]?.fate = fate }
    }

    /// A person wants none of it any more.
    mutating func discard(_ origin: String, withWords: Bool) {
        origins[origin]?.isDiscarded = true
        guard withWords else { return }
        for (text, word) in words where word.origin == origin { words[text]?.isExcused = true }
    }

    /// The person has this before them, and edits it.
    mutating func see(_ item: PlainItem) {
        for word in item.words { words[word]?.isSeen = true }
        guard let name = item.origin else { return }
        let isCurrent = upstream[item.id]?.revision == item.revision
        let touches = origins[name]?.touches
        origins[name]?.touchesSeen = isCurrent ? touches : nil
    }

    /// An answer with the item, or with all of them, has arrived.
    mutating func deliver(_ id: String?, of there: [String: PlainItem], at now: Duration) {
        let items = id.map { [there[$0]].compactMap(\.self) } ?? Array(there.values)
        for word in items.flatMap(\.words) where words[word]?.delivered == nil {
            words[word]?.delivered = now
        }
    }
}

// MARK: - What upstream holds

extension Knowledge {
    mutating func observe(_ items: [String: PlainItem], by author: Author) {
        let before = upstream
        guard before != items else { return }
        upstream = items
        let (old, new) = (Self.words(in: before), Self.words(in: items))
        forgive(after: new.subtracting(old), by: author)
        for word in new.subtracting(old).sorted() { arrive(word, by: author) }
        for word in old.subtracting(new).sorted() { vanish(word, before, by: author) }
        for (id, item) in items.sorted(by: { $0.key < $1.key }) where before[id] != item {
            check(item, by: author)
            if let older = before[id] { checkTrash(item, over: older, by: author) }
            guard let origin = item.origin else { continue }
            if author == .other || author == .rollBack { origins[origin]?.touches += 1 }
            if author == .other, let older = before[id], item.isStampedBefore(older) {
                origins[origin]?.hasOddStamp = true
            }
        }
        for (id, item) in before.sorted(by: { $0.key < $1.key }) where items[id] == nil {
            guard let origin = item.origin, !item.isBackup else { continue }
            if author == .other || author == .rollBack {
                origins[origin]?.isDeletedElsewhere = true
            } else {
                origins[origin]?.isGone = true
            }
        }
        checkCounts()
    }

    private static func words(in items: [String: PlainItem]) -> Set<String> {
        Set(items.values.flatMap(\.words))
    }

    private mutating func arrive(_ text: String, by author: Author) {
        guard var word = words[text] else { return }
        word.hasLanded = true
        if case .host = author, word.isOwn, word.fate == .rejected, !word.isExcused {
            breach("I8", "\(text) was refused to its writer and reached upstream all the same")
        }
        words[text] = word
    }

    private mutating func vanish(
        _ text: String,
        _ before: [String: PlainItem],
        by author: Author
    ) {
        guard let word = words[text] else { return }
        guard case .host(let kind, let known, let left) = author else {
            if author == .rollBack, isRemembered(word, before) {
                words[text]?.isForgotten = true
            } else {
                words[text]?.isExcused = true
            }
            return
        }
        if origins[word.origin]?.isDeletedHere == true, kind == .delete, word.isSeen || word.isOwn {
            words[text]?.isExcused = true
            return
        }
        if word.isOwn {
            // Its writer was told that it was refused: what was delivered twice was answered twice.
            if word.fate != .rejected, !hasSuccessor(word) {
                breach("I5", "\(text) was upstream and was overwritten by nothing newer")
            }
            return
        }
        if word.isSeen { return }
        // It looks like an earlier state of what this host wrote.
        if origins[word.origin]?.hasOddStamp == true {
            races += 1
            return
        }
        // A person deletes what is shown to them, as in the server's own clients; only what waits is
        // compared with upstream first.
        if kind == .delete, origins[word.origin]?.deletion == .begun {
            races += 1
            return
        }
        let item = before.values.first { $0.origin == word.origin && !$0.isBackup }
        if kind == .push, known == nil {
            breach("I7", "\(text) was overwritten by a request that names no revision")
            return
        }
        // Nobody here can know of what came between an answer and a request; the server does not let
        // that be overwritten, unless the stamps are too close to tell.
        guard let delivered = word.delivered, delivered <= left,
            kind != .push || item?.revision == known
        else {
            races += 1
            return
        }
        // The server's own clients would do the same: whoever deletes sees what is shown.
        breach(
            kind == .delete ? "I15" : "I7",
            "\(text), which another device wrote, was known here and is gone by a \(kind.rawValue)"
        )
    }

    /// Whether this host still knows what upstream has forgotten: it wrote it, was told that it is
    /// there, and nothing but the time of the stamps says that it is not.
    private func isRemembered(_ word: Word, _ before: [String: PlainItem]) -> Bool {
        guard word.isOwn, word.isAcknowledged, !word.isExcused, !hasOddStamps, !hasLied else {
            return false
        }
        return before.values.contains { $0.values[word.field] == word.text && !$0.isBackup }
    }

    /// What is written after upstream has forgotten something hides that it has; what was forgotten and
    /// comes back does not.
    private mutating func forgive(after arrivals: Set<String>, by author: Author) {
        guard author != .rollBack, !arrivals.contains(where: { words[$0]?.isForgotten == true })
        else { return }
        for (text, word) in words where word.isForgotten { words[text]?.isExcused = true }
    }

    /// Whether a later word of the same field was accepted from the same person, or is upstream.
    func hasSuccessor(_ word: Word) -> Bool {
        (edits[Self.key(word.origin, word.field)] ?? []).contains { text in
            guard let other = words[text], other.place > word.place else { return false }
            return other.hasLanded || other.isAcknowledged
        }
    }

    private mutating func check(_ item: PlainItem, by author: Author) {
        if item.flaws == [PlainItem.oldKey] {
            breach("I17", "\(item.id) was written under a key that the account had before")
        } else if !item.flaws.isEmpty {
            breach("I2", "an item upstream cannot be opened: \(item.flaws.joined(separator: ", "))")
        }
        if let origin = item.origin, !item.isBackup {
            origins[origin]?.hasLanded = true
            origins[origin]?.id = item.id
        }
        for flaw in flaws(of: item) { breach("I2", "upstream: \(flaw)") }
    }

    /// Whoever edits something that others put into the trash wants it back; what is written into the
    /// trash is gone with it.
    private mutating func checkTrash(
        _ item: PlainItem,
        over older: PlainItem,
        by author: Author
    ) {
        guard case .host(.push, let known, _) = author, known == older.revision, older.isTrashed,
            item.isTrashed, let origin = item.origin, origins[origin]?.isTrashedHere == false
        else { return }
        let there = Set(older.words)
        for word in item.words where !there.contains(word) && words[word]?.isLive == true {
            breach("I1", "\(word) was written into the trash, into which others had put its item")
        }
    }

    /// What does not belong where it is.
    func flaws(of item: PlainItem) -> [String] {
        guard let origin = item.origin, origins[origin] != nil else {
            return ["an item that nobody made (\(item.origin ?? "without an origin"))"]
        }
        return PlainField.allCases.compactMap { field in
            guard let text = item.values[field] else { return nil }
            guard let word = words[text] else { return "\(text), which nobody wrote" }
            if word.origin != origin { return "\(text) of \(word.origin) stands in \(origin)" }
            if word.field != field { return "\(text) stands in the \(field)" }
            return nil
        }
    }

    /// One item for each that was made, and one copy for each content that gave way.
    private mutating func checkCounts() {
        var counts: [String: Int] = [:]
        var copies: [[String]: Int] = [:]
        for item in upstream.values {
            guard let origin = item.origin else { continue }
            if item.isBackup {
                copies[[origin] + item.content, default: 0] += 1
            } else {
                counts[origin, default: 0] += 1
            }
        }
        // Whoever is told that something is not there creates it again; what is too many is put into
        // the trash at the next look.
        if hasLied { return }
        breachDoubles(counts)
        guard !hasCopies else { return }
        for (content, count) in copies.sorted(by: { $0.key[0] < $1.key[0] }) where count > 1 {
            let words = content.dropFirst().joined(separator: ", ")
            breach("I4", "\(content[0]) has \(count) backup copies of the same content (\(words))")
        }
    }
}

// MARK: - What is asked

extension Knowledge {
    mutating func noteRequest(isIdentity: Bool, _ call: String, at now: Duration) {
        if let hold = holds[isIdentity], now < hold {
            breach(
                "I12",
                "\(call) leaves \((hold - now).shown) before the time that upstream asked to wait"
            )
        }
        requests.append(now)
        if let first = requests.first, requests.count > Self.mostRequests {
            requests.removeFirst()
            if now - first < .seconds(60) {
                breach("I12", "more than \(Self.mostRequests) requests within a minute")
            }
        }
    }

    private static let mostRequests = 400
}

// MARK: - What is shown here

extension Knowledge {
    /// What was accepted is shown, or it has been upstream.
    ///
    /// - Parameters:
    ///   - isWhole: Whether nothing is here under a key that this host does not have.
    ///   - told: What had been accepted before anybody looked.
    mutating func look(
        at shown: [PlainItem],
        _ occasion: String,
        isWhole: Bool = true,
        told: Set<String>? = nil
    ) {
        for item in shown {
            for flaw in flaws(of: item) { breach("I2", "here: \(flaw)") }
        }
        guard isWhole else { return }
        let visible = Set(shown.flatMap(\.words))
        let known = wordsKnownUpstream
        for word in words.values.sorted(by: { $0.place < $1.place }) where mustBeKept(word) {
            let isShared = origins[word.origin]?.isShared == true
            if told?.contains(word.text) == false { continue }
            let mustBeShown = !word.hasLanded || (word.fate == .saved && known.contains(word.text))
            if !visible.contains(word.text), mustBeShown, !isShared {
                breach(
                    occasion == "restart" ? "I8" : "I6",
                    "\(word.text) (\(word.fate)) was accepted and is not shown after a \(occasion)"
                )
            }
        }
    }

    var accepted: Set<String> {
        Set(words.values.lazy.filter(\.isAcknowledged).map(\.text))
    }

    /// What upstream holds, as far as whoever was told that it does must know of it: nobody says
    /// anything else, and nobody reads anything else.
    private var wordsKnownUpstream: Set<String> {
        if hasLied || mayRegress || hasRotated { return [] }
        let items = upstream.values.filter { !$0.isBackup && !$0.isShared }
        return Set(items.flatMap(\.values.values))
    }

    /// What is shown and accepted, and was taken away by nobody, is there for who edits it.
    mutating func miss(_ name: String) {
        guard let origin = origins[name], !hasLied, !mayRegress, !origin.isDeletedHere,
            !origin.isDeletedElsewhere, !origin.isDiscarded, !origin.isShared,
            !origin.isOwn || origin.fate == .saved || origin.fate == .queued
        else { return }
        breach("I6", "\(name) was shown, and is not there for who edits it")
    }

    private func mustBeKept(_ word: Word) -> Bool {
        guard word.isOwn, word.isAcknowledged, !word.isExcused,
            let origin = origins[word.origin], !origin.isDeletedHere, !origin.isDiscarded
        else { return false }
        return !(edits[Self.key(word.origin, word.field)] ?? []).contains { text in
            guard let other = words[text] else { return false }
            return other.place > word.place && other.fate != .rejected
        }
    }

    /// Base never goes back, and never loses nearly everything, unless upstream did.
    mutating func look(atBase new: [String: Int64]) {
        defer { base = new }
        guard !mayRegress else { return }
        for (id, ticks) in new.sorted(by: { $0.key < $1.key }) {
            if let before = base[id], ticks < before - 10_000 {
                breach("I13", "an item went back to an earlier revision")
            }
        }
        // What has come since the last look was there when it was decided what may go.
        let gone = base.keys.filter { new[$0] == nil }
        let count = Set(base.keys).union(new.keys).count
        let isNearlyAll = gone.count == count || (count >= 10 && gone.count * 10 >= count * 9)
        guard !gone.isEmpty, isNearlyAll else { return }
        let stillThere = gone.filter { upstream[$0] != nil }
        if stillThere.count * 2 > gone.count {
            breach("I14", "\(gone.count) of \(base.count) items went although upstream has them")
        }
    }
}

// MARK: - The end

extension Knowledge {
    /// All is quiet: what was accepted is somewhere, and here is what is there.
    mutating func judge(shown: [PlainItem]) {
        let there = Self.words(in: upstream)
        for word in words.values.sorted(by: { $0.place < $1.place }) where isOwed(word) {
            if !there.contains(word.text) {
                breach("I1", "\(word.text) was accepted (\(word.fate)) and is nowhere upstream")
            }
        }
        judgeCreations()
        judgeDoubles()
        judgeDeletions()
        judgeSameness(shown)
    }

    private func isOwed(_ word: Word) -> Bool {
        guard word.isOwn, word.isAcknowledged, !word.isExcused,
            let origin = origins[word.origin], !origin.isDeletedHere, !origin.isDiscarded
        else { return false }
        return !hasSuccessor(word)
    }

    private mutating func judgeCreations() {
        let there = Set(upstream.values.filter { !$0.isBackup }.compactMap(\.origin))
        for (name, origin) in origins.sorted(by: { $0.key < $1.key }) {
            guard origin.isOwn, origin.fate == .saved || origin.fate == .queued,
                !origin.isDeletedHere, !origin.isDeletedElsewhere, !origin.isDiscarded,
                !there.contains(name)
            else { continue }
            breach("I4", "\(name) was accepted and is not upstream")
        }
    }

    /// An extra copy that upstream has hidden stays, if others have changed it since.
    private mutating func judgeDoubles() {
        var counts: [String: Int] = [:]
        for item in upstream.values where !item.isBackup && !item.isTrashed {
            if let origin = item.origin { counts[origin, default: 0] += 1 }
        }
        if hasLied { counts = counts.filter { origins[$0.key]?.touches == 0 } }
        breachDoubles(counts)
    }

    /// Whoever discards a change of which nobody knows whether it was carried out has the choice.
    private mutating func breachDoubles(_ counts: [String: Int]) {
        for (origin, count) in counts.sorted(by: { $0.key < $1.key })
        where count > 1 && origins[origin]?.isDiscarded != true {
            breach("I4", "\(origin) is upstream \(count) times")
        }
    }

    /// A deletion yields to those who wrote what its writer had not seen, and to nobody else.
    private mutating func judgeDeletions() {
        for item in upstream.values.sorted(by: { $0.id < $1.id }) where !item.isBackup {
            guard let name = item.origin, let origin = origins[name],
                origin.deletion == .saved || origin.deletion == .queued, !origin.isDiscarded,
                origin.touches == origin.touchesSeen
            else { continue }
            breach("I1", "\(name) was deleted for good, which was accepted, and is still upstream")
        }
    }

    private mutating func judgeSameness(_ shown: [PlainItem]) {
        var here: [String: PlainItem] = [:]
        for item in shown { here[item.id] = item }
        for (id, item) in upstream.sorted(by: { $0.key < $1.key }) where !item.isShared {
            guard let other = here[id] else {
                breach("I3", "\(item.origin ?? "an item") is upstream and not here")
                continue
            }
            if other.content != item.content || other.isTrashed != item.isTrashed
                || other.isFavourite != item.isFavourite
            {
                breach("I3", "\(item.origin ?? "an item") is not here as it is upstream")
            }
        }
        for (id, item) in here.sorted(by: { $0.key < $1.key }) where upstream[id] == nil {
            breach("I3", "\(item.origin ?? "an item") is here and not upstream")
        }
    }
}
