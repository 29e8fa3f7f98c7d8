/// One thing that must hold, how often it was looked at, and where it did not.
public struct Check: Hashable, Sendable {
    public enum Name: String, CaseIterable, Hashable, Sendable {
        case acknowledged, passwords, foreign, untouched, duplicates, invented, view, queue, metrics
        case budget

        public var sentence: String {
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

    public struct Failure: Hashable, Sendable {
        public let check: Name
        public let user: Int?
        public let text: String

        public init(_ check: Name, user: Int? = nil, _ text: String) {
            self.check = check
            self.user = user
            self.text = text
        }
    }

    public let name: Name
    public var examined = 0
    public var failures: [Failure] = []

    public init(_ name: Name) {
        self.name = name
    }

    public var isHeld: Bool { failures.isEmpty }
}

/// What was looked at, and what was found wrong; verdicts of many users add up.
public struct Verdict: Hashable, Sendable {
    public private(set) var checks: [Check.Name: Check] = [:]

    public init() {}

    public mutating func examine(_ name: Check.Name, _ count: Int = 1) {
        checks[name, default: Check(name)].examined += count
    }

    public mutating func fail(_ failure: Check.Failure) {
        checks[failure.check, default: Check(failure.check)].failures.append(failure)
    }

    mutating func add(_ other: Verdict) {
        for (name, check) in other.checks {
            checks[name, default: Check(name)].examined += check.examined
            checks[name, default: Check(name)].failures += check.failures
        }
    }

    /// In the order of their names' declaration.
    public var all: [Check] { Check.Name.allCases.compactMap { checks[$0] } }

    public var failures: [Check.Failure] { all.flatMap(\.failures) }
    public var isHeld: Bool { failures.isEmpty }
}
