/// What upstream holds, and who has changed it.
extension Knowledge {
    mutating func observe(_ items: [String: PlainItem], by author: Author) {
        let before = upstream
        guard before != items else { return }
        upstream = items
        let (old, new) = (Self.words(in: before), Self.words(in: items))
        forgive(after: new.subtracting(old), by: author)
        let fresh = new.filter { words[$0]?.hasLanded == false }
        if author == .rollBack { fall(before, items) }
        for (id, item) in items.sorted(by: { $0.key < $1.key })
        where item.isBackup && before[id] == nil {
            checkNeed(for: item)
        }
        for word in new.subtracting(old).sorted() { arrive(word, by: author) }
        for word in old.subtracting(new).sorted() { vanish(word, before, by: author) }
        for (id, item) in items.sorted(by: { $0.key < $1.key }) where before[id] != item {
            check(item)
            if let older = before[id] { checkTrash(item, over: older, by: author, fresh) }
            guard let origin = item.origin else { continue }
            excuseOutgrown(by: item)
            if let older = before[id] { checkPlace(item, over: older, by: author) }
            origins[origin]?.change(by: author.host)
            if before[id] == nil, author.isLate { origins[origin]?.lateIDs.insert(id) }
            if before[id] == nil, author.host != nil, isTwin(item, among: items) {
                origins[origin]?.isMadeTwice = true
            }
            if before[id] != nil {
                touch(id, of: origin, by: author)
                if author != .rollBack {
                    excuseUndone {
                        $0.origin == origin && $0.isUndone && $0.host != author.host
                    }
                }
            }
            if let older = before[id], older.content != item.content {
                origins[origin]?.isRewritten = true
            }
            if author != .rollBack, let older = before[id], item.isStampedBefore(older) {
                origins[origin]?.oddStamps.insert(author.host)
            }
        }
        for (id, item) in before.sorted(by: { $0.key < $1.key }) where items[id] == nil {
            guard let origin = item.origin, !item.isBackup else { continue }
            touch(id, of: origin, by: author)
            if author == .other || author == .rollBack {
                origins[origin]?.deletionsElsewhere += 1
                if author == .other { excuseUndone { $0.origin == origin && $0.hasLanded } }
            } else {
                origins[origin]?.isGone = true
            }
        }
        checkCounts()
    }

    /// Whether it is the second of two that hosts have made of what was deleted elsewhere.
    private func isTwin(_ item: PlainItem, among items: [String: PlainItem]) -> Bool {
        guard hosts > 1, !item.isBackup, let origin = item.origin,
            origins[origin]?.isDeletedElsewhere == true
        else { return false }
        return items.values.contains {
            $0.id != item.id && !$0.isBackup && !$0.isShared && $0.origin == origin
        }
    }

    private mutating func touch(_ id: String, of origin: String, by author: Author) {
        guard author.host == nil, origins[origin]?.lateIDs.contains(id) == true else { return }
        origins[origin]?.isLateTouched = true
    }

    /// What comes back with an earlier state is nobody's newer word, and what was kept of another may
    /// have gone with a later one.
    private mutating func fall(_ before: [String: PlainItem], _ items: [String: PlainItem]) {
        hasFallenBack = true
        let old = Self.words(in: before.filter { !$0.value.isBackup })
        let new = Self.words(in: items.filter { !$0.value.isBackup })
        for text in new.subtracting(old) { words[text]?.hasComeBack = true }
        for (id, copy) in before where copy.isBackup && items[id] == nil { loseCopy(copy) }
        for (id, item) in items where before[id] == nil && !item.isBackup {
            if let origin = item.origin { origins[origin]?.isRevived = true }
        }
    }

    /// What it has may be nowhere else.
    mutating func loseCopy(_ copy: PlainItem) {
        for text in copy.words { words[text]?.isKeptNoMore = true }
    }

    /// Whoever deletes an item has deleted, too, what a late request had undone in it. Whoever edits it then has
    /// made an item of it that nobody may write an earlier state over.
    private mutating func excuseUndone(_ isUndone: (Word) -> Bool) {
        for (text, word) in words where isUndone(word) { words[text]?.isExcused = true }
    }

    static func words(in items: [String: PlainItem]) -> Set<String> {
        Set(items.values.flatMap(\.words))
    }

    private mutating func arrive(_ text: String, by author: Author) {
        guard var word = words[text] else { return }
        let isNew = !word.hasLanded
        word.hasLanded = true
        word.isUndone = false
        let item = upstream.values.first { $0.origin == word.origin && $0.words.contains(text) }
        word.stamp = item?.shownStamp
        // Whoever has edited it since has wanted all of it.
        if let host = author.host, word.host == host, word.fate == .rejected, !word.isExcused,
            isNew, !word.seen.contains(host)
        {
            breach(
                .keptOnceAccepted,
                "\(text) was refused to its writer and reached upstream all the same"
            )
        }
        words[text] = word
    }

    private mutating func vanish(
        _ text: String,
        _ before: [String: PlainItem],
        by author: Author
    ) {
        guard let word = words[text] else { return }
        guard case .host(let host, let kind, _, _, _) = author else {
            if author == .rollBack, isRemembered(word, before) {
                words[text]?.isForgotten = true
            } else if let overwriting = overwriting(of: word, before, by: author) {
                words[text]?.overwriting = overwriting
            } else {
                words[text]?.isExcused = true
            }
            return
        }
        let (isOwn, isSeen) = (word.host == host, word.seen.contains(host))
        // What gives way to somebody who may do that is nobody's loss; with this host's own words it is
        // another matter.
        if let overwriting = overwriting(of: word, before, by: author) {
            words[text]?.overwriting = overwriting
        } else if !isOwn {
            words[text]?.isExcused = true
        }
        guard let origin = origins[word.origin] else { return }
        if origin.deleted[host] != nil, kind == .delete, isSeen || isOwn {
            words[text]?.isExcused = true
            return
        }
        let item = before.values.first { $0.origin == word.origin && !$0.isBackup }
        if isOwn { return loseOwn(word, over: item, by: author) }
        if isSeen || word.isKeptNoMore { return }
        // It went with the deletion that upstream has forgotten.
        if kind == .delete, word.hasComeBack, origin.deletions[host]?.isAccepted == true { return }
        loseForeign(word, of: origin, over: item, by: author)
    }

    /// What was written at a host is gone by a request of the same host.
    private mutating func loseOwn(_ word: Word, over item: PlainItem?, by author: Author) {
        // Its writer was told that it was refused: what was delivered twice was answered twice.
        // By its stamps an old list may be a new one.
        if word.hasComeBack || (hasLied && hasOddStamps) {
            words[word.text]?.isExcused = true
        } else if isTolerated(author, over: item) {
            words[word.text]?.isUndone = true
        } else if word.fate != .rejected, !word.isExcused, !hasSuccessor(word) {
            breach(.inOrder, "\(word.text) was upstream and was overwritten by nothing newer")
        }
    }

    /// What others wrote is gone by a request of a host at which nobody was shown it.
    private mutating func loseForeign(
        _ word: Word,
        of origin: Origin,
        over item: PlainItem?,
        by author: Author
    ) {
        guard case .host(let host, let kind, let known, let left, _) = author else { return }
        let text = word.text
        // It looks like an earlier state of what this host wrote.
        let looksOwn = origin.oddStamps.contains { $0 != host }
        // A person deletes what is shown to them, as in the server's own clients; only what waits is
        // compared with upstream first.
        let isShown = author.isLate || origin.deletions[host]?.fate == .begun
        if looksOwn || kind == .delete && isShown {
            races += 1
            return
        }
        if kind == .push, known == nil {
            breach(
                .nothingUnseenOverwritten,
                "\(text) was overwritten by a request that names no revision"
            )
            return
        }
        // Nobody here can know of what came between an answer and a request; the server does not let
        // that be overwritten, unless the stamps are too close to tell.
        guard !bearsSeenStamp(word, of: origin, over: item, by: kind, at: host),
            let delivered = word.delivered[host], delivered <= left,
            kind != .push || item?.revision == known
        else {
            races += 1
            return
        }
        // The server's own clients would do the same: whoever deletes sees what is shown.
        breach(
            kind == .delete ? .deletionSparesUnseen : .nothingUnseenOverwritten,
            "\(text), which another device wrote, was known here and is gone by a \(kind.rawValue)"
        )
    }

    /// What was shown to a person and what has taken its place bear one stamp, or upstream's clock was set
    /// back in between: no client can say which of them was edited, or deleted before upstream forgot that.
    /// Where stamps have lost digits since, it is the shorter one that was seen.
    private func bearsSeenStamp(
        _ word: Word,
        of origin: Origin,
        over item: PlainItem?,
        by kind: WireCall.Kind,
        at host: Int
    ) -> Bool {
        let stamps = [word.stamp, hasOddStamps ? item?.shownStamp : nil].compactMap(\.self)
        guard kind == .push || hasFallenBack, let stamp = stamps.min(),
            let seen = origin.stampSeen[host]
        else { return false }
        return stamp == seen || hasOddStamps && stamp < seen
    }

    /// Whether the server carried out late what names another revision, as it does within a second. Where
    /// stamps have no fraction of it, another revision may bear the same.
    private func isTolerated(_ author: Author, over item: PlainItem?) -> Bool {
        guard case .host(_, .push, let known?, _, true) = author else { return false }
        return item?.revision != known || hasOddStamps
    }

    /// Whether its host still knows what upstream has forgotten: it wrote it, was told that it is
    /// there, and nothing but the time of the stamps says that it is not. What an organisation has by
    /// then is for that to bring back.
    private func isRemembered(_ word: Word, _ before: [String: PlainItem]) -> Bool {
        guard word.host != nil, word.isAcknowledged, !word.isExcused, !hasOddStamps, !hasLied else {
            return false
        }
        return before.values.contains {
            $0.values[word.field] == word.text && !$0.isBackup && !$0.isShared
        }
    }

    /// The account bears a later stamp, though nothing in it has changed: that upstream was set back shows by
    /// that no more.
    mutating func moveOn() { forgive { _ in true } }

    /// What is written after upstream has forgotten something hides that it has. What was forgotten and
    /// comes back hides it from everybody but the host that brings it, which has found out.
    private mutating func forgive(after arrivals: Set<String>, by author: Author) {
        guard author != .rollBack else { return }
        let isBack = arrivals.contains { words[$0]?.isForgotten == true }
        forgive { !isBack || $0.host != author.host }
    }

    private mutating func forgive(_ isHidden: (Word) -> Bool) {
        for (text, word) in words where word.isForgotten && isHidden(word) {
            words[text]?.isExcused = true
        }
    }

    /// Whether a later word of the same field was accepted from the same person, or is upstream.
    func hasSuccessor(_ word: Word) -> Bool {
        hasSuccessor(word) { $0.hasLanded || $0.isAcknowledged && !$0.isDiscarded }
    }

    private mutating func check(_ item: PlainItem) {
        if item.flaws == [PlainItem.oldKey] {
            breach(
                .presentKeyOnly,
                "\(item.id) was written under a key that the account had before"
            )
        } else if !item.flaws.isEmpty {
            breach(
                .nothingInvented,
                "an item upstream cannot be opened: \(item.flaws.joined(separator: ", "))"
            )
        }
        if let origin = item.origin, !item.isBackup {
            origins[origin]?.hasLanded = true
        }
        for flaw in flaws(of: item) { breach(.nothingInvented, "upstream: \(flaw)") }
    }

    /// What others have put elsewhere, and this host knew of, nobody puts back who was not asked to.
    private mutating func checkPlace(
        _ item: PlainItem,
        over older: PlainItem,
        by author: Author
    ) {
        guard case .host(let host, .push, let known, let left, false) = author,
            known == nil || known == older.revision, item.place != older.place,
            !hasLied, !hasOddStamps, !hasFallenBack,
            let name = item.origin, let origin = origins[name], !origin.displaced.contains(host),
            !origin.open.contains(host),
            let told = origin.placesTold[host], told.place == older.place, told.since <= left
        else { return }
        breach(
            .nothingUnseenOverwritten,
            "\(name) went into another place, which nobody here had wished"
        )
    }

    /// Whoever edits something that others put into the trash wants it back; what is written into the
    /// trash is gone with it. Not so of whoever has discarded that it is to be restored.
    private mutating func checkTrash(
        _ item: PlainItem,
        over older: PlainItem,
        by author: Author,
        _ fresh: Set<String>
    ) {
        guard case .host(let host, .push, let known, let left, _) = author, known == older.revision,
            older.isTrashed, item.isTrashed, let origin = item.origin.flatMap({ origins[$0] }),
            !origin.trashed.contains(host), !origin.discarded.contains(host),
            origin.oddStamps.isEmpty, let since = origin.trashDelivered[host],
            since <= left
        else { return }
        for word in item.words where fresh.contains(word) && words[word]?.isLive == true {
            breach(
                .nothingLost,
                "\(word) was written into the trash, into which others had put its item"
            )
        }
    }

    /// What does not belong where it is.
    func flaws(of item: PlainItem) -> [String] {
        guard let origin = item.origin, origins[origin] != nil else {
            return ["an item that nobody made (\(item.origin ?? "without an origin"))"]
        }
        let passwords = [item.values[.password]].compactMap(\.self) + item.history
        if Set(passwords).count < passwords.count {
            return ["a password of \(origin) is there twice (\(passwords.joined(separator: ", ")))"]
        }
        return PlainField.allCases.compactMap { field in
            guard let text = item.values[field] else { return nil }
            guard let word = words[text] else { return "\(text), which nobody wrote" }
            if word.origin != origin { return "\(text) of \(word.origin) stands in \(origin)" }
            if word.field != field { return "\(text) stands in the \(field)" }
            return nil
        }
    }

    /// What one person alone has written since it was made gives way to nobody. What others have made of
    /// something cannot always be told where nobody answered, or with another key.
    private mutating func checkNeed(for copy: PlainItem) {
        guard let name = copy.origin, let origin = origins[name], origin.host == nil, isPlain,
            !hasCopies, origin.discarded.isEmpty, !origin.isShownTwice, !origin.wasDeleted,
            !origin.isShared,
            !origin.isInDoubt, !hasRotated
        else { return }
        let words = words.values.filter { $0.origin == name }
        // Those that it was made with come first.
        let later = PlainField.allCases.flatMap { field in
            words.filter { $0.field == field }.sorted { $0.place < $1.place }.dropFirst()
        }
        let isSure = words.allSatisfy { $0.isAcknowledged || $0.fate == .begun }
        // A password may leave the history; and the other device gives what is in there another date.
        let isAboutPasswords = later.contains { $0.field == .password }
        // What has come up from here and was touched there since is known by no more than its fingerprint.
        let isFresh = later.allSatisfy { !$0.hasLanded }
        guard Set(later.map(\.host)).count == 1, later.first?.host != nil, isSure, isFresh,
            !isAboutPasswords
        else { return }
        breach(.madeOnce, "\(name) has a backup copy, although nobody else has written it")
    }

    /// Nothing has happened that makes it hard to tell who wrote what.
    private var isPlain: Bool {
        !hasLied && !hasOddStamps && !hasFallenBack && hasRightClocks
    }

    /// One item for each that was made, and one copy for each content that gave way.
    private mutating func checkCounts() {
        var counts: [String: Int] = [:]
        for item in upstream.values where !item.isBackup {
            if let origin = item.origin { counts[origin, default: 0] += 1 }
        }
        // Whoever is told that something is not there creates it again, and so does whoever waits for
        // an answer by a clock that is set; what is too many is put into the trash at the next look.
        if hasLied || !hasRightClocks { return }
        breachDoubles(counts)
        breachCopies(Self.copies(in: upstream))
    }

    /// How often each content of each item was kept. The other device gives what is in a history another date, which
    /// is another content.
    static func copies(in items: [String: PlainItem]) -> [[String]: Int] {
        let copies = items.values.filter(\.isBackup)
        let keys = copies.compactMap { copy in
            copy.origin.map { [$0] + copy.content + copy.historyDates }
        }
        return Dictionary(keys.map { ($0, 1) }, uniquingKeysWith: +)
    }

    mutating func breachCopies(_ copies: [[String]: Int]) {
        // Without whole stamps nobody can tell an older state of ours from what others wrote.
        if hasCopies || hasOddStamps && hasFallenBack { return }
        // Each of two hosts may find the same to have given way.
        for (content, count) in copies.sorted(by: { $0.key[0] < $1.key[0] }) where count > hosts {
            let words = content.dropFirst().joined(separator: ", ")
            breach(
                .madeOnce,
                "\(content[0]) has \(count) backup copies of the same content (\(words))"
            )
        }
    }
}
