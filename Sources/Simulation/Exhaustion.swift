public import EmbeddedUpstream

/// Every short script, and in each of them a death at every place where something outside changes:
/// before and after each request, and in the midst of each flush of the disk.
public struct Exhaustion: Sendable {
    /// How many deeds a script has at most.
    public var length = 2
    public var profiles = Personality.Name.allCases

    public init() {}

    public struct Outcome: Sendable {
        public var scripts = 0
        public var runs = 0
        public var failed: [Performance] = []
    }

    private static let own: [Deed] = [
        .create, .edit(0, .notes), .edit(0, .password), .trash(0), .delete(0), .favour(0),
    ]
    private static let elsewhere: [Deed] = [
        .otherEdit(0, .notes), .otherTrash(0), .otherDelete(0),
    ]

    /// What is done while the network is away, and what is done while it is there.
    public var scripts: [Script] {
        let deeds = Self.own + Self.elsewhere
        var sequences: [[Deed]] = Self.own.map { [$0] }
        var longer = sequences
        for _ in 1..<max(length, 1) {
            longer = longer.flatMap { head in deeds.map { head + [$0] } }
            sequences += longer
        }
        return profiles.flatMap { profile in
            sequences.flatMap { sequence in
                [sequence, [.cut] + sequence + [.mend, .wait(.seconds(40))]].map { deeds in
                    Script(seed: 1, profile: profile, deeds: deeds)
                }
            }
        }
    }

    /// - Parameter share: Of every so many places, one is tried; another for each script.
    public func run(
        _ scripts: [Script],
        everyOf share: Int = 1,
        _ tell: (Performance) -> Void = { _ in }
    ) -> Outcome {
        var outcome = Outcome()
        for script in scripts {
            outcome.scripts += 1
            let whole = Stage.play(script)
            outcome.note(whole, tell)
            let deaths =
                (0..<whole.effects).map { Script.Death.atRequest($0 + 1) }
                + (0..<whole.flushes).map { Script.Death.atFlush($0 + 1) }
            for (number, death) in deaths.enumerated()
            where (number + outcome.scripts) % share == 0 {
                var script = script
                script.dies = death
                outcome.note(Stage.play(script), tell)
            }
        }
        return outcome
    }
}

extension Exhaustion.Outcome {
    fileprivate mutating func note(_ performance: Performance, _ tell: (Performance) -> Void) {
        runs += 1
        if performance.breach != nil { failed.append(performance) }
        tell(performance)
    }
}
