/// Judges what became of one user's items.
///
/// It knows what was written and what upstream holds in the end, and nothing of how the one became
/// the other: it has no code in common with whoever decides that.
struct Checker: Sendable {
    private let evidence: UserEvidence
    private let written: Writings
    /// What upstream holds, by its mark.
    private let found: [String: [FoundItem]]
    private let foundIDs: Set<String>
    private var verdict = Verdict()

    static func judge(_ evidence: UserEvidence) -> Verdict {
        var checker = Checker(evidence)
        checker.lookForInventions()
        checker.lookForDuplicates()
        for story in Story.all(in: evidence) { checker.follow(story) }
        checker.lookForForeignEdits()
        checker.compareView()
        return checker.verdict
    }

    private init(_ evidence: UserEvidence) {
        self.evidence = evidence
        written = Writings(evidence)
        found = Dictionary(grouping: evidence.found, by: \.content.notes)
        foundIDs = Set(evidence.found.map(\.id) + evidence.unreadable)
    }

    private mutating func fail(_ check: Check.Name, _ text: String) {
        verdict.fail(Check.Failure(check, user: evidence.user, text))
    }

    // MARK: Nothing invented, nothing twice

    private mutating func lookForInventions() {
        verdict.examine(.invented, evidence.found.count + evidence.unreadable.count)
        for id in evidence.unreadable { fail(.invented, "\(id) cannot be opened") }
        for item in evidence.found {
            guard let content = written.content(marked: item.content.notes) else {
                fail(.invented, "\(item.id) says '\(item.content.notes)', which nobody wrote")
                continue
            }
            let isWhole =
                content.username == item.content.username
                && content.password == item.content.password
            guard isWhole, content.isNamed(item.content.name) != nil else {
                fail(.invented, "\(item.id) mixes '\(content.notes)' with something else")
                continue
            }
            for password in item.history where !written.passwords.contains(password) {
                fail(.invented, "\(item.id) remembers a password that nobody wrote")
            }
        }
    }

    private mutating func lookForDuplicates() {
        verdict.examine(.duplicates, evidence.found.count)
        for (mark, items) in found where items.count > 1 {
            fail(.duplicates, "'\(mark)' is there \(items.count) times")
        }
        let originals = evidence.found.filter { item in
            written.content(marked: item.content.notes)?.isNamed(item.content.name) == .own
        }
        let byThing = Dictionary(grouping: originals) { written.things[$0.content.notes] ?? -1 }
        for (thing, items) in byThing where items.count > 1 && thing >= 0 {
            let marks = items.map { "'\($0.content.notes)'" }.sorted().joined(separator: ", ")
            // Two marks are two finds of one item; one mark was found above.
            if Set(items.map(\.content.notes)).count > 1 {
                fail(.duplicates, "one item is there as \(marks)")
            }
        }
    }

    // MARK: Nothing lost

    private mutating func follow(_ story: Story) {
        guard story.isTouched else { return checkUntouched(story) }
        verdict.examine(.acknowledged, story.acknowledgedCount)
        switch story.end {
        case .content(let last): checkContent(story, last)
        case .trashed(let contents): checkTrashed(story, contents)
        case .deleted: checkDeleted(story)
        case .open: checkUnanswered(story)
        }
        if story.end != .deleted { checkPasswords(story) }
    }

    private mutating func checkUntouched(_ story: Story) {
        guard let base = story.base, story.foreign == nil else { return }
        verdict.examine(.untouched)
        guard let item = found[base.notes]?.first else {
            return fail(.untouched, "'\(base.notes)' is gone, and nobody touched it")
        }
        if item.isInTrash || item.content.name != base.name {
            return fail(.untouched, "'\(base.notes)' is another, and nobody touched it")
        }
        if let id = evidence.ids[story.thing], item.id != id {
            fail(.untouched, "'\(base.notes)' was made anew, and nobody touched it")
        }
    }

    /// Either the last acknowledged content or one that nobody knows about must be there, wherever.
    private mutating func checkContent(_ story: Story, _ last: Content) {
        let candidates = [last] + story.open
        guard story.mayBeGone || candidates.contains(where: isFound) else {
            return fail(.acknowledged, "the edit '\(last.notes)' is lost")
        }
        if evidence.beganFresh, story.isAlone, !isItem(last) {
            fail(.acknowledged, "the edit '\(last.notes)' gave way, and nobody else edited that")
        }
        checkPlace(story, candidates)
    }

    /// It is as it was before, if it is not as somebody else or an edit left it of which nobody knows.
    private mutating func checkUnanswered(_ story: Story) {
        guard let base = story.base else { return }
        let candidates = [base] + story.open
        let isThere = (candidates + [story.foreign].compactMap(\.self)).contains(where: isFound)
        guard story.mayBeGone || isThere else {
            return fail(.acknowledged, "'\(base.notes)' is lost, and nobody deleted it")
        }
        checkPlace(story, candidates)
    }

    private func isFound(_ content: Content) -> Bool { found[content.notes] != nil }

    /// Whether it is there as the item itself, and not in a copy alone.
    private func isItem(_ content: Content) -> Bool {
        found[content.notes]?.contains { content.isNamed($0.content.name) == .own } == true
    }

    /// Nobody asked for the trash, and none of the other devices deletes what it would be made anew for.
    private mutating func checkPlace(_ story: Story, _ candidates: [Content]) {
        guard !story.mayBeRemoved else { return }
        for content in candidates + [story.foreign].compactMap(\.self)
        where found[content.notes]?.contains(where: \.isInTrash) == true {
            fail(.acknowledged, "'\(content.notes)' is in the trash, and nobody put it there")
        }
        guard let base = story.base, let id = evidence.ids[story.thing], !foundIDs.contains(id)
        else { return }
        fail(.acknowledged, "what was '\(base.notes)' was made anew, and nobody deleted it")
    }

    /// What was put into the trash said the first of these, or another of them if that edit got there.
    private mutating func checkTrashed(_ story: Story, _ candidates: [Content]) {
        guard let last = candidates.first else { return checkNowhere(story) }
        let items = candidates.flatMap { found[$0.notes] ?? [] }
        if items.isEmpty {
            // Where somebody else wrote, that stands, and of what was written here there is a copy.
            let isSuperseded = story.foreign != nil && last == story.base
            guard !isSuperseded, !story.mayBeGone else { return }
            fail(.acknowledged, "'\(last.notes)', put into the trash, is lost")
        } else if story.foreign == nil, !items.contains(where: \.isInTrash) {
            fail(.acknowledged, "'\(last.notes)' is not in the trash, where it was put")
        }
    }

    /// An item that was made in the same round: either it was never sent, and nothing is left of it, or it
    /// is in the trash. Copies of it may be anywhere.
    private mutating func checkNowhere(_ story: Story) {
        guard story.open.isEmpty else { return }
        for content in story.contents {
            let isLeft = found[content.notes]?.contains { item in
                !item.isInTrash && content.isNamed(item.content.name) == .own
            }
            if isLeft == true {
                fail(.acknowledged, "'\(content.notes)' is not in the trash, where it was put")
            }
        }
    }

    private mutating func checkDeleted(_ story: Story) {
        guard story.foreign == nil else { return }
        for content in story.contents where found[content.notes] != nil {
            fail(.acknowledged, "'\(content.notes)' is there, although it was deleted")
        }
    }

    /// Each of the last six passwords of an item, its present one included.
    private mutating func checkPasswords(_ story: Story) {
        guard story.isSent else { return }
        let kept = evidence.found.filter { written.things[$0.content.notes] == story.thing }
        let known = Set(kept.flatMap { [$0.content.password] + $0.history })
        let passwords = story.passwords
        verdict.examine(.passwords, passwords.count)
        for (index, password) in passwords.enumerated() where !password.isOpen {
            let isOld = passwords.count - 1 - index > Self.historyLength
            if !isOld, !known.contains(password.text) {
                fail(.passwords, "the password '\(password.text)' is lost")
            }
        }
    }

    private static let historyLength = 5

    private mutating func lookForForeignEdits() {
        for (edit, isTaken) in zip(evidence.plan.foreign, evidence.foreignTaken) where isTaken {
            verdict.examine(.foreign)
            if found[edit.content.notes] == nil {
                fail(.foreign, "the other device's edit '\(edit.content.notes)' is lost")
            }
        }
    }

    // MARK: What the host shows

    private mutating func compareView() {
        guard let shown = evidence.shown else { return }
        verdict.examine(.view, evidence.found.count)
        let held = Dictionary(
            evidence.found.filter { !$0.isInTrash }.map { ($0.id, $0.content.notes) },
            uniquingKeysWith: { first, _ in first }
        )
        for (id, mark) in held where shown[id] != mark {
            fail(.view, "\(id) is '\(mark)' upstream and '\(shown[id] ?? "not there")' in the host")
        }
        for id in shown.keys where held[id] == nil {
            fail(.view, "the host shows \(id), which upstream does not have")
        }
    }
}
