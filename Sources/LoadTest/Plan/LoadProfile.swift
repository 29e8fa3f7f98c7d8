/// What is done to a host: by how many, how much of it, and how fast.
public struct LoadProfile: Hashable, Sendable {
    /// What it is called; nil for one that was put together by hand.
    public var name: Name?
    public var users = 200
    /// Of each user, at first.
    public var items = 50
    /// By each user, in each round.
    public var edits = 20
    /// How many of the edited items another device edits as well, from 0 to 1.
    public var conflicts = 0.1
    /// Over how many seconds the edits of a round are spread. The outage lasts until all are done.
    public var offlineSeconds = 5.0
    /// How many requests may be under way at once.
    public var concurrency = 64
    public var seed = 1
    /// How likely an edit is to go to an item that was edited before, from 0 to 1.
    public var repeats = 0.5
    /// How many of the edits put an item into the trash or delete it, from 0 to 1.
    public var removals = 0.2
    /// How often the server goes away and comes back.
    public var rounds = 1
    /// Whether every access token has run out when the server comes back.
    public var expiresTokens = false
    /// What the server takes in a second; nil if it takes all.
    public var requestsPerSecond: Int?
    /// Whether the same edits are also sent to a handler that commits and does nothing else, and the
    /// server is asked for all it can take, so that the figures stand beside their ceilings.
    public var measuresCeilings = false

    /// Over which the edits of a round are spread.
    var offline: Duration { .seconds(offlineSeconds) }

    public init() {}

    public enum Name: String, CaseIterable, Sendable {
        case smoke, office, fleet, storm, soak
    }

    public init(_ name: Name) {
        self.name = name
        switch name {
        case .smoke: (users, items, edits, offlineSeconds, concurrency) = (8, 10, 10, 1, 8)
        case .office: (users, items, edits, offlineSeconds, concurrency) = (50, 100, 40, 60, 16)
        case .fleet:
            (users, items, edits, offlineSeconds) = (5_000, 20, 24, 0)
            measuresCeilings = true
        case .storm:
            (users, items, edits, offlineSeconds) = (2_000, 60, 50, 0)
            (repeats, removals, requestsPerSecond, expiresTokens) = (0, 0, 500, true)
        case .soak:
            (users, items, edits, offlineSeconds, rounds) = (500, 50, 10, 30, 240)
        }
    }

    /// Whether so few are at it that they may be looked at all the time.
    var isBrief: Bool { users < 20 }

    /// All of them are kept until the end, to be checked.
    private static let mostWritings = 20_000_000

    /// What is wrong with it, in words for whoever chose it.
    public var flaw: String? {
        for (name, value) in [
            ("users", users), ("items", items), ("edits", edits), ("concurrency", concurrency),
            ("rounds", rounds),
        ] where value < 1 {
            return "--\(name) must be at least 1."
        }
        let most = [users, items, edits, rounds, concurrency].max() ?? 0
        if most > 1_000_000 || users * (items + edits * rounds) > Self.mostWritings {
            return "So many writings do not fit into memory: \(Self.mostWritings) at most."
        }
        if !(0...1).contains(conflicts) { return "--conflicts must be from 0 to 1." }
        if !(0...86_400).contains(offlineSeconds) {
            return "--offline-seconds must be from 0 to 86400."
        }
        return nil
    }
}
