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

    public struct Phase: Hashable, Sendable {
        public var name: String
        /// Since the beginning.
        public var begin: Double
        public var end: Double
    }

    /// How the queue was worked off, in one round or in all of them.
    public struct Drain: Hashable, Sendable {
        /// How many changes waited when the server came back.
        public var changes = 0
        /// How many of them were removals, each of which looks at its item first.
        public var removals = 0
        /// Until the last look at which nothing had gone.
        public var secondsUntilFirst = 0.0
        /// From then until no more than one in twenty waited; nil if it never came to that. What is
        /// left may have to wait on purpose: for a server that asked for it, or because nobody knows what
        /// became of an attempt.
        public var seconds: Double?
        /// How many went in that time.
        public var gone = 0
        /// From that look until nothing waited.
        public var secondsUntilLast = 0.0

        /// Nil if no time was measured.
        public var perSecond: Double? {
            seconds.flatMap { $0 > 0 ? Double(gone) / $0 : nil }
        }
    }

    /// What the host had of its own, in bytes; 0 if nobody knows. Of one that ran already it is what is
    /// resident, with what it has mapped from files.
    public struct Memory: Hashable, Sendable {
        public var atStart = 0
        public var signedIn = 0
        public var largest = 0
        public var includesFiles = false

        public var isKnown: Bool { atStart > 0 }
    }

    /// The same work done by somebody who does nothing else, in the same run.
    public struct Ceilings: Hashable, Sendable {
        public var hostPerSecond = 0.0
        public var bareCommitPerSecond = 0.0
        public var pacedPerSecond = 0.0
        public var hostPaced99 = 0.0
        public var bareCommitPaced99 = 0.0
        public var upstreamPerSecond = 0.0
    }

    public var profile: LoadProfile
    public var startedAt: String
    public var ending = Ending.completed
    public var seconds = 0.0
    public var phases: [Phase] = []
    public var operations: [Operation: OperationFigures] = [:]
    /// For how long edits were made, in all rounds.
    public var editSeconds = 0.0
    /// Nil if it did not come to that, as is ``drain``.
    public var signInSeconds: Double?
    /// How long the host kept processors busy while edits were made; 0 if nobody knows.
    public var editProcessorSeconds = 0.0
    public var drain: Drain?
    public var memory = Memory()
    public var ceilings: Ceilings?
    /// Whether the host's own figures were seen; else nothing is known of these.
    public var isHostSeen = false
    public var resolutions: [String: Int] = [:]
    public var conflicts: [String: Int] = [:]
    public var backups: [String: Int] = [:]
    public var retries: [String: Int] = [:]
    /// From the moment at which the server was back until nobody asked it any more.
    public var upstreamCalls: [String: Int] = [:]
    /// How many of these calls came in a second in which the server took no more.
    public var refusedCalls = 0
    /// The most calls that came in one second.
    public var busiestSecond = 0
    public var verdict = Verdict()
    public var samples: [Sample] = []

    public init(_ profile: LoadProfile, startedAt: String) {
        self.profile = profile
        self.startedAt = startedAt
    }

    /// Whether all was done, and all is as it should be.
    public var isGood: Bool { ending == .completed && verdict.isHeld }

    public var acknowledged: Int { operations.values.reduce(0) { $0 + $1.acknowledged } }
    public var refused: Int { operations.values.reduce(0) { $0 + $1.refused } }
    public var unknown: Int { operations.values.reduce(0) { $0 + $1.unknown } }
    public var unsent: Int { operations.values.reduce(0) { $0 + $1.unsent } }

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
    public var acceptedPerSecond: Double? {
        editSeconds > 0 ? Double(acknowledged) / editSeconds : nil
    }
    /// Nil while nothing is known of the host's conflicts.
    public var conflictCount: Int? { isHostSeen ? conflicts.values.reduce(0, +) : nil }
    public var memoryPerUser: Int {
        max(0, memory.largest - memory.atStart) / max(1, profile.users)
    }

    /// What an edit costs the host, in microseconds of a processor.
    public var processorPerEdit: Double {
        editProcessorSeconds * 1_000_000 / Double(max(1, acknowledged))
    }

    /// All edits together.
    public var latencies: LatencyHistogram {
        operations.values.reduce(into: LatencyHistogram()) { $0.add($1.latencies) }
    }
}

/// How one kind of edit fared.
public struct OperationFigures: Hashable, Sendable {
    public private(set) var acknowledged = 0
    public private(set) var refused = 0
    public private(set) var unknown = 0
    /// Nobody was there to take them.
    public private(set) var unsent = 0
    /// Of those that were acknowledged.
    public private(set) var latencies = LatencyHistogram()
    /// Why some were refused: the first answer of each status.
    public private(set) var refusals: [Int: String] = [:]

    public init() {}

    public mutating func note(_ outcome: Outcome, _ latency: Duration) {
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
public struct Sample: Hashable, Sendable {
    /// Since the beginning.
    public var seconds: Double
    public var acceptedPerSecond = 0.0
    /// Of the edits since the last sample, in milliseconds.
    public var median: Double?
    public var p99: Double?
    public var pending: Int?
    public var memory: Int?
    public var conflicts: Int?
    public var backups: Int?
    public var resolved: Int?
    public var retries: Int?
}
