/// What a load test has found out.
public struct LoadReport: Sendable {
    public enum Ending: Hashable, Sendable {
        case completed
        /// Somebody ended it before it was done.
        case interrupted
        case failed(String, Obstacle = .other)
    }

    /// What kept a test from being done.
    public enum Obstacle: Hashable, Sendable {
        case hostIsAway
        /// The host does not take the token, or it does not reach far enough.
        case notAllowed
        case other
    }

    struct Phase: Hashable, Sendable {
        var name: String
        /// Since the beginning.
        var begin: Double
        var end: Double
    }

    /// How the queue was worked off, in one round or in all of them.
    struct Drain: Hashable, Sendable {
        /// How many changes waited when the server came back.
        var changes = 0
        /// How many of them were removals, each of which looks at its item first.
        var removals = 0
        /// Until the last look at which nothing had gone.
        var secondsUntilFirst = 0.0
        /// From then until no more than one in twenty waited; nil if it never came to that. What is
        /// left may have to wait on purpose: for a server that asked for it, or because nobody knows what
        /// became of an attempt.
        var seconds: Double?
        /// How many went in that time.
        var gone = 0
        /// From that look until nothing waited.
        var secondsUntilLast = 0.0

        /// Nil if no time was measured.
        var perSecond: Double? {
            seconds.flatMap { $0 > 0 ? Double(gone) / $0 : nil }
        }
    }

    /// What the host had of its own, in bytes; 0 if nobody knows. Of one that ran already it is what is
    /// resident, with what it has mapped from files.
    struct Memory: Hashable, Sendable {
        var atStart = 0
        var signedIn = 0
        var largest = 0
        var includesFiles = false

        var isKnown: Bool { atStart > 0 }
    }

    /// The same work done by somebody who does nothing else, in the same run. Nil is what a test that was
    /// interrupted did not come to.
    struct Ceilings: Hashable, Sendable {
        var hostPerSecond: Double
        var bareCommitPerSecond: Double?
        var pacedPerSecond: Double
        var hostPaced99: Double?
        var bareCommitPaced99: Double?
        var upstreamPerSecond: Double?

        static func ratio(_ value: Double?, _ ceiling: Double?) -> String {
            guard let value, let ceiling, ceiling > 0 else { return "-" }
            return (value / ceiling).fixed(2)
        }
    }

    var profile: LoadProfile
    var startedAt: String
    public var ending = Ending.completed
    var seconds = 0.0
    var phases: [Phase] = []
    var operations: [Operation: OperationFigures] = [:]
    /// For how long edits were made, in all rounds.
    var editSeconds = 0.0
    /// Nil if it did not come to that, as is ``drain``.
    var signInSeconds: Double?
    /// How long the host kept processors busy while edits were made; 0 if nobody knows.
    var editProcessorSeconds = 0.0
    var drain: Drain?
    var memory = Memory()
    var ceilings: Ceilings?
    /// Whether the host's own figures were seen; else nothing is known of these.
    var isHostSeen = false
    var resolutions: [String: Int] = [:]
    var conflicts: [String: Int] = [:]
    var backups: [String: Int] = [:]
    var retries: [String: Int] = [:]
    /// From the moment at which the server was back until nobody asked it any more.
    var upstreamCalls: [String: Int] = [:]
    /// How many of these calls came in a second in which the server took no more.
    var refusedCalls = 0
    /// The most calls that came in one second.
    var busiestSecond = 0
    var verdict = Verdict()
    var samples: [Sample] = []

    public init(_ profile: LoadProfile, startedAt: String) {
        self.profile = profile
        self.startedAt = startedAt
    }

    /// Whether all was done, and all is as it should be.
    public var isGood: Bool { ending == .completed && verdict.isHeld }

    /// How often something did not hold that must.
    public var failureCount: Int { verdict.failures.count }

    var acknowledged: Int { operations.values.reduce(0) { $0 + $1.acknowledged } }
    var refused: Int { operations.values.reduce(0) { $0 + $1.refused } }
    var unknown: Int { operations.values.reduce(0) { $0 + $1.unknown } }
    var unsent: Int { operations.values.reduce(0) { $0 + $1.unsent } }

    /// What a good test does not tell by its checks; nil if every edit was accepted.
    var shortfall: String? {
        let all = (acknowledged + refused + unknown + unsent).grouped
        let words = [
            refused > 0 ? "\(refused.grouped) of \(all) edits were refused." : nil,
            unknown > 0
                ? "Of \(unknown.grouped) of \(all) edits nobody knows whether they were taken."
                : nil,
            unsent > 0 ? "\(unsent.grouped) of \(all) edits could not be sent." : nil,
        ].compactMap(\.self)
        return words.isEmpty ? nil : words.joined(separator: " ")
    }

    /// Nil if it did not come to edits.
    var acceptedPerSecond: Double? {
        editSeconds > 0 ? Double(acknowledged) / editSeconds : nil
    }
    /// Nil while nothing is known of the host's conflicts.
    var conflictCount: Int? { isHostSeen ? conflicts.values.reduce(0, +) : nil }
    var memoryPerUser: Int {
        max(0, memory.largest - memory.atStart) / max(1, profile.users)
    }

    /// What an edit costs the host, in microseconds of a processor.
    var processorPerEdit: Double {
        editProcessorSeconds * 1_000_000 / Double(max(1, acknowledged))
    }

    /// All edits together.
    var latencies: LatencyHistogram {
        operations.values.reduce(into: LatencyHistogram()) { $0.add($1.latencies) }
    }
}

/// How one kind of edit fared.
struct OperationFigures: Hashable, Sendable {
    private(set) var acknowledged = 0
    private(set) var refused = 0
    private(set) var unknown = 0
    /// Nobody was there to take them.
    private(set) var unsent = 0
    /// Of those that were acknowledged.
    private(set) var latencies = LatencyHistogram()
    /// Why some were refused: the first answer of each status.
    private(set) var refusals: [Int: String] = [:]

    init() {}

    mutating func note(_ outcome: Outcome, _ latency: Duration) {
        switch outcome {
        case .acknowledged:
            acknowledged += 1
            latencies.add(latency)
        case .refused(let status, let text):
            refused += 1
            if refusals[status] == nil { refusals[status] = text }
        case .unknown: unknown += 1
        case .untried: unsent += 1
        }
    }
}

/// How everything stood at one moment; what is not known is nil.
struct Sample: Hashable, Sendable {
    /// Since the beginning.
    var seconds: Double
    var acceptedPerSecond = 0.0
    /// Of the edits since the last sample, in milliseconds.
    var median: Double?
    var p99: Double?
    var pending: Int?
    var memory: Int?
    var conflicts: Int?
    var backups: Int?
    var resolved: Int?
    var retries: Int?
}
