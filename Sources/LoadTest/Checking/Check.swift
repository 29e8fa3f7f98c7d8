/// One thing that must hold, how often it was looked at, and where it did not.
struct Check: Hashable, Sendable {
    enum Name: String, CaseIterable, Hashable, Sendable {
        case acknowledged, passwords, foreign, untouched, duplicates, invented, view, queue, metrics
        case budget

        var sentence: String {
            switch self {
            case .acknowledged:
                "Every acknowledged edit is upstream: as the item, in a copy, or superseded."
            case .passwords: "Every acknowledged password is an item's, or in a history."
            case .foreign: "Every edit of the other device is upstream: as the item, or in a copy."
            case .untouched: "What nobody edited is as it was."
            case .duplicates: "Nothing is there twice."
            case .invented: "Nothing is there that nobody wrote."
            case .view: "The host shows what upstream holds."
            case .queue: "Nothing waits any more, and nothing was set aside."
            case .metrics: "The host's own figures say the same."
            case .budget: "No more was asked of the server than was needed, or than it allows."
            }
        }
    }

    struct Failure: Hashable, Sendable {
        let check: Name
        let user: Int?
        let text: String

        init(_ check: Name, user: Int? = nil, _ text: String) {
            self.check = check
            self.user = user
            self.text = text
        }
    }

    let name: Name
    var examined = 0
    var failures: [Failure] = []

    init(_ name: Name) {
        self.name = name
    }

    var isHeld: Bool { failures.isEmpty }
}

/// What was looked at, and what was found wrong; verdicts of many users add up.
struct Verdict: Hashable, Sendable {
    private(set) var checks: [Check.Name: Check] = [:]

    mutating func examine(_ name: Check.Name, _ count: Int = 1) {
        checks[name, default: Check(name)].examined += count
    }

    mutating func fail(_ failure: Check.Failure) {
        checks[failure.check, default: Check(failure.check)].failures.append(failure)
    }

    mutating func add(_ other: Verdict) {
        for (name, check) in other.checks {
            checks[name, default: Check(name)].examined += check.examined
            checks[name, default: Check(name)].failures += check.failures
        }
    }

    /// In the order of their names' declaration.
    var all: [Check] { Check.Name.allCases.compactMap { checks[$0] } }

    var failures: [Check.Failure] { all.flatMap(\.failures) }
    var isHeld: Bool { failures.isEmpty }
}

extension Verdict {
    /// On a time in which nobody edits anything: a sign-in, or what lies between two rounds.
    ///
    /// - Parameters:
    ///   - contents: What was there before, and not in the trash.
    ///   - items: What is there after it.
    init(onRestOf user: Int, _ contents: Set<Content>, _ items: [FoundItem]) {
        self.init()
        let left = items.lazy.filter { !$0.isInTrash }.map(\.content)
        examine(.untouched, contents.count)
        for mark in contents.subtracting(left).map(\.notes).sorted() {
            let text = "'\(mark)' went while nobody did anything"
            fail(Check.Failure(.untouched, user: user, text))
        }
        examine(.duplicates, left.count)
        let counts = Dictionary(left.map { ($0, 1) }, uniquingKeysWith: +)
        for mark in counts.filter({ $0.value > 1 }).keys.map(\.notes).sorted() {
            fail(Check.Failure(.duplicates, user: user, "'\(mark)' is there more than once"))
        }
        examine(.invented, left.count)
        for mark in Set(left).subtracting(contents).map(\.notes).sorted() {
            let text = "'\(mark)' came while nobody did anything"
            fail(Check.Failure(.invented, user: user, text))
        }
    }
}
