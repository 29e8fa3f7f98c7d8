@testable import LoadTest

/// One user's round, put together line by line.
struct Trial {
    var evidence: UserEvidence

    /// A user with as many items, which upstream holds as they are.
    init(items: Int = 3) {
        let base = (0..<items).map { Content(mark: "base\($0)", name: "Item \($0)") }
        evidence = UserEvidence(
            user: 7,
            plan: UserPlan(base: base, edits: []),
            outcomes: [],
            foreignTaken: [],
            ids: Dictionary(uniqueKeysWithValues: base.indices.map { ($0, "id\($0)") }),
            found: base.enumerated().map { FoundItem(id: "id\($0)", content: $1) }
        )
    }

    mutating func edit(_ edit: UserPlan.Edit, _ outcome: Outcome = .acknowledged) {
        evidence.plan.edits.append(edit)
        evidence.outcomes.append(outcome)
    }

    /// New content for an item; with a new password, unless the old one is given.
    @discardableResult
    mutating func update(
        _ thing: Int,
        _ mark: String,
        password: String? = nil,
        _ outcome: Outcome = .acknowledged
    ) -> Content {
        var content = Content(mark: mark, name: "Item \(thing)")
        if let password { content.password = password }
        edit(.update(thing: thing, content), outcome)
        return content
    }

    @discardableResult
    mutating func create(_ mark: String, _ outcome: Outcome = .acknowledged) -> Content {
        let made = evidence.plan.edits.filter { $0.operation == .create }.count
        let content = Content(mark: mark, name: "New \(mark)")
        edit(.create(thing: evidence.plan.base.count + made, content), outcome)
        return content
    }

    @discardableResult
    mutating func foreign(_ thing: Int, _ mark: String) -> Content {
        let content = Content(mark: mark, name: "Item \(thing)")
        evidence.plan.foreign.append(.init(thing: thing, content: content, moment: 0.5))
        evidence.foreignTaken.append(true)
        return content
    }

    /// What upstream holds at that place in the end.
    mutating func hold(
        _ place: Int,
        _ content: Content,
        history: [String] = [],
        isInTrash: Bool = false
    ) {
        evidence.found[place].content = content
        evidence.found[place].history = history
        evidence.found[place].isInTrash = isInTrash
    }

    mutating func holdMore(_ id: String, _ content: Content, history: [String] = []) {
        evidence.found.append(FoundItem(id: id, content: content, history: history))
    }

    mutating func holdCopy(_ content: Content, history: [String] = []) {
        var copy = content
        copy.name += " - 2026-11-21 08:00:00"
        holdMore("copy of \(content.notes)", copy, history: history)
    }

    mutating func lose(_ place: Int) { evidence.found.remove(at: place) }

    var verdict: Verdict { Checker.judge(evidence) }
    var broken: Set<Check.Name> { Set(verdict.failures.map(\.check)) }
}

extension Content {
    init(mark: String, name: String) {
        self.init(name: name, username: "user \(mark)", password: "pw \(mark)", notes: mark)
    }
}
