/// What is to be said in the end.
extension Knowledge {
    /// All is quiet: what was accepted is somewhere, and here is what is there.
    ///
    /// - Parameter shown: What each host shows.
    mutating func judge(shown: [[PlainItem]]) {
        let there = Self.words(in: upstream)
        for word in words.values.sorted(by: { $0.place < $1.place }) where isOwed(word) {
            if !there.contains(word.text) {
                let words = word.overwriting == nil ? "" : ", written over by who had not seen it"
                breach(
                    .nothingLost,
                    "\(word.text) was accepted (\(word.fate)) and is nowhere upstream\(words)"
                )
            }
        }
        judgeHistories(there)
        judgeCreations()
        judgeDoubles()
        judgeDeletions()
        judgeTrash()
        judgeMarks()
        for items in shown { judgeSameness(items) }
    }

    private func isOwed(_ word: Word) -> Bool {
        // What upstream has forgotten is not brought back for the trash alone.
        let isRubbish = word.isForgotten && origins[word.origin]?.trashed.isEmpty == false
        return isWanted(word) && !hasSuccessor(word) && !isRubbish && isKept(word)
    }

    /// A password that another has taken the place of is in the history, as far as that reaches.
    private mutating func judgeHistories(_ there: Set<String>) {
        for word in words.values.sorted(by: { $0.place < $1.place })
        where word.field == .password && isWanted(word) && hasSuccessor(word) {
            let mayBeGone = word.isForgotten || word.hasComeBack || word.isUndone
            let items = upstream.values.filter { $0.origin == word.origin }
            guard !there.contains(word.text), !mayBeGone, !items.allSatisfy(\.isBackup),
                items.allSatisfy({ !$0.isShared && !$0.hasOutgrown })
            else { continue }
            breach(.nothingLost, "\(word.text) was accepted, and is in no history")
        }
    }

    private mutating func judgeCreations() {
        let there = Set(upstream.values.filter { !$0.isBackup }.compactMap(\.origin))
        for (name, origin) in origins.sorted(by: { $0.key < $1.key }) {
            guard let host = origin.host, origin.fate == .saved || origin.fate == .queued,
                !origin.wasDeleted, !origin.discarded.contains(host), !there.contains(name)
            else { continue }
            breach(.madeOnce, "\(name) was accepted and is not upstream")
        }
    }

    /// An extra copy that upstream has hidden stays, if anybody has changed it since.
    private mutating func judgeDoubles() {
        var counts: [String: Int] = [:]
        for item in upstream.values where !item.isBackup && !item.isTrashed {
            if let origin = item.origin { counts[origin, default: 0] += 1 }
        }
        if hasLied {
            counts = counts.filter { name, _ in
                origins[name].map { !$0.isTouchedElsewhere && !$0.isRewritten } ?? true
            }
        }
        breachDoubles(counts)
        if !hasLied { breachCopies(Self.copies(in: upstream.filter { !$0.value.isTrashed })) }
    }

    /// Whoever discards a change of which nobody knows whether it was carried out has the choice.
    mutating func breachDoubles(_ counts: [String: Int]) {
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
            guard let origin = origins[name], origin.discarded.isEmpty else { continue }
            // Neither seals nor content tell what became of a create that nobody answered.
            if origin.isRewritten, hasRotated { continue }
            if origin.isRewritten || hasRotated, isUnrecognisable(name) { continue }
            // Each of two hosts may bring back what others have deleted, as often as they delete it, and so
            // may an older upstream.
            var limit = origin.wasDeleted ? hosts * max(1, origin.deletionsElsewhere) : 1
            if origin.isRevived { limit += 1 }
            if origin.isLateTouched { limit += 1 }
            // Both were edited, and one of them was deleted elsewhere.
            if origin.isShownTwice, origin.isDeletedElsewhere { limit += 1 }
            if count > limit {
                breach(.madeOnce, "\(name) is upstream \(count) times")
            }
        }
    }

    /// Two that have nothing in common: nobody can tell that they were one.
    private func isUnrecognisable(_ name: String) -> Bool {
        let items = upstream.values.filter { $0.origin == name && !$0.isBackup }
        return items.contains { one in
            items.contains { $0.id != one.id && Set($0.content).isDisjoint(with: one.content) }
        }
    }

    /// A deletion yields to those who wrote what its writer had not seen, and to nobody else; unless
    /// stamps do not tell who has written. What an organisation has nobody here has seen,
    /// and of what was made late under an older key nobody can tell what it was made of.
    private mutating func judgeDeletions() {
        if hasOddStamps { return }
        for item in upstream.values.sorted(by: { $0.id < $1.id })
        where !item.isBackup && !item.isShared {
            guard let name = item.origin, let origin = origins[name],
                origin.lateIDs.isEmpty || !hasRotated,
                origin.isToBeRemoved(by: origin.deletions)
            else { continue }
            breach(
                .nothingLost,
                "\(name) was deleted for good, which was accepted, and is still upstream"
            )
        }
    }

    /// What somebody put into the trash is there, unless others have changed it since, or somebody here
    /// wanted it back.
    private mutating func judgeTrash() {
        if hasOddStamps || hasLied { return }
        for item in upstream.values.sorted(by: { $0.id < $1.id })
        where !item.isBackup && !item.isTrashed && !item.isShared {
            guard let name = item.origin, let origin = origins[name], origin.lateIDs.isEmpty,
                origin.isToBeRemoved(by: origin.trashings)
            else { continue }
            breach(
                .nothingLost,
                "\(name) was put into the trash, which was accepted, and is not there"
            )
        }
    }

    /// What somebody made of an item beside its content it still is, unless others have changed it since.
    private mutating func judgeMarks() {
        if hasOddStamps || hasLied { return }
        for item in upstream.values.sorted(by: { $0.id < $1.id })
        where !item.isBackup && !item.isShared {
            guard let name = item.origin, let origin = origins[name], origin.lateIDs.isEmpty else {
                continue
            }
            if origin.missesMove(item, among: folders) {
                breach(
                    .nothingLost,
                    "\(name) was put into another folder, which was accepted, and is not there"
                )
            }
            for mark in origin.marksMissed(by: item) {
                let words = item.bears(mark) ? "was to be \(mark) no more" : "was to be \(mark)"
                breach(.nothingLost, "\(name) \(words), which was accepted, and that is not so")
            }
        }
    }

    private mutating func judgeSameness(_ shown: [PlainItem]) {
        var here: [String: PlainItem] = [:]
        for item in shown { here[item.id] = item }
        for (id, item) in upstream.sorted(by: { $0.key < $1.key }) where !item.isShared {
            guard let other = here[id] else {
                breach(.settlesDown, "\(item.origin ?? "an item") is upstream and not here")
                continue
            }
            let isSame =
                other.content == item.content && other.history == item.history
                && other.shownStamp == item.shownStamp && other.folderID == item.folderID
                && PlainItem.Mark.allCases.allSatisfy { other.bears($0) == item.bears($0) }
            if !isSame {
                breach(.settlesDown, "\(item.origin ?? "an item") is not here as it is upstream")
            }
        }
        for (id, item) in here.sorted(by: { $0.key < $1.key }) where upstream[id] == nil {
            breach(.settlesDown, "\(item.origin ?? "an item") is here and not upstream")
        }
    }
}
