public import EmbeddedUpstream

/// Many runs, each of its own seed.
public struct Campaign: Sendable {
    public var seeds = 20
    public var start: UInt64 = 1
    public var steps = 60
    public var hazards = Hazards.all
    public var profiles = Personality.Name.allCases

    public init() {}

    public struct Outcome: Sendable {
        public var seeds = 0
        public var steps = 0
        public var effects = 0
        public var jobs = 0
        public var elapsed = Duration.zero
        public var failed: [Performance] = []
        public let coverage = Coverage()
    }

    public func script(_ seed: UInt64) -> Script {
        Script(seed: seed, length: steps, hazards: hazards, profiles: profiles)
    }

    /// Plays all of them, some side by side, and tells of each in the order of the seeds.
    ///
    /// - Parameter failuresBorne: So many that fail end it early.
    public func run(
        atOnce: Int = 2,
        failuresBorne: Int = 1,
        _ tell: @Sendable (Performance) -> Void
    ) async -> Outcome {
        var outcome = Outcome()
        var next = 0
        while next < seeds, outcome.failed.count < failuresBorne {
            let batch = next..<min(next + atOnce * 4, seeds)
            next = batch.upperBound
            let coverage = outcome.coverage
            let performances = await Performance.play(batch, atOnce: atOnce) {
                Stage.play(script(start + UInt64($0)), coverage)
            }
            for performance in performances {
                outcome.add(performance)
                tell(performance)
            }
        }
        return outcome
    }
}

extension Performance {
    /// Plays numbered worlds, some side by side, and gives what came of them in their order.
    static func play(
        _ numbers: Range<Int>,
        atOnce: Int,
        _ world: @escaping @Sendable (Int) -> Performance
    ) async -> [Performance] {
        await withTaskGroup(of: [(Int, Performance)].self) { players in
            for player in 0..<atOnce {
                players.addTask {
                    numbers.filter { $0 % atOnce == player }.map { ($0, world($0)) }
                }
            }
            var all: [(Int, Performance)] = []
            for await part in players { all += part }
            return all.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}

extension Campaign.Outcome {
    fileprivate mutating func add(_ performance: Performance) {
        seeds += 1
        steps += performance.script.stepCount
        effects += performance.effects
        jobs += performance.jobs
        elapsed += performance.elapsed
        if performance.breach != nil { failed.append(performance) }
    }
}

extension Script {
    public var stepCount: Int { steps.count }
}

extension Performance {
    /// In one line.
    public var summary: String {
        let days = elapsed / .seconds(86_400)
        let tenths = Int(days * 10)
        let head = "seed \(script.seed) \(script.profile.rawValue): \(script.stepCount) steps"
        let body = "\(effects) effects, \(tenths / 10).\(tenths % 10) days"
        let mark = String(digest, radix: 16)
        return "\(head), \(body), history \(mark)" + (breach.map { ": \($0)" } ?? "")
    }

    /// What was left of it, and how to see it again.
    ///
    /// - Parameter command: What shows it.
    public func report(_ command: String) -> String {
        (history + ["", breach.map { "\($0)" } ?? "Nothing was breached.", command])
            .joined(separator: "\n")
    }
}

extension Campaign {
    /// What shows the run again, or what was left of it.
    public func command(for performance: Performance) -> String {
        let script = performance.script
        let faults = hazards == .all ? "" : " --faults \(hazards.list)"
        return "holdfast simulate --steps \(steps) --profile \(script.profile.rawValue)\(faults)"
            + " --replay \(Replay(script, of: steps).text)"
    }
}
