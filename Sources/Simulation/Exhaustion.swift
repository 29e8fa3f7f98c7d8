public import EmbeddedUpstream

/// Every short script, and in each of them a death at every place where something outside changes:
/// before and after each request, and in the midst of each flush of the disk.
public struct Exhaustion: Sendable {
    /// How many deeds a script has at most.
    public var length = 2
    public var profiles = Personality.Name.allCases

    public init(length: Int = 2) { self.length = length }

    public struct Outcome: Sendable {
        public var scripts = 0
        public var runs = 0
        public var failed: [Failure] = []

        fileprivate init(scripts: Int = 0) { self.scripts = scripts }
    }

    public struct Failure: Sendable {
        /// Which of the scripts it was, from 0.
        public let number: Int
        public let performance: Performance
    }

    /// What a person may do to an item, or to a new one.
    private static func own(_ item: Int = 0) -> [Deed] {
        [
            .create, .edit(item, .notes), .edit(item, .password), .trash(item), .delete(item),
            .favour(item),
        ]
    }

    private static let elsewhere: [Deed] = [
        .elsewhere(.edit(0, .notes)), .elsewhere(.trash(0)), .elsewhere(.delete(0)),
    ]

    /// What is done while the network is away, and what is done while it is there; and what of that upstream forgets
    /// again.
    public var scripts: [Script] {
        profiles.flatMap { profile in
            sequences.flatMap { sequence in
                [sequence, [.cut] + sequence + [.mend, .wait(.seconds(40))]]
            }
            .map { Script(seed: 1, profile: profile, deeds: $0) }
        }
            + profiles.flatMap { profile in
                relapses.map { Script(seed: 1, profile: profile, deeds: $0) }
            }
    }

    private var sequences: [[Deed]] {
        let deeds = Self.own() + Self.elsewhere
        var sequences: [[Deed]] = Self.own().map { [$0] }
        var longer = sequences
        for _ in 1..<max(length, 1) {
            longer = longer.flatMap { head in deeds.map { head + [$0] } }
            sequences += longer
        }
        return sequences
    }

    /// Upstream has forgotten a deed when the next one is to go, which something keeps from that; and then a person
    /// thinks again.
    private var relapses: [[Deed]] {
        guard length > 1 else { return [] }
        return Self.own().flatMap { taken in
            let item = taken == .create ? Deed.newest : 0
            let second: [Deed] = length > 2 ? [.saveCopy(0)] + Self.own(item) : []
            return Self.own(item).flatMap { waiting in
                ([.discard(0)] + second).map { [taken, waiting, $0] }
            }
        }
        .map { deeds in
            [
                .server(.remember), deeds[0], .cut, deeds[1], .server(.rollBack),
                .strikeAt(.serverErrorBefore, deeds[1].call), .mend,
                // Such a list is believed after a minute.
                .wait(.seconds(65)), deeds[2], .wait(.seconds(90)),
            ]
        }
    }

    /// - Parameters:
    ///   - share: Of every so many places, one is tried; another for each script.
    ///   - tell: Hears, after every few scripts, what has come of all so far.
    public func run(
        _ scripts: [Script],
        everyOf share: Int = 1,
        atOnce: Int = 2,
        _ tell: (Outcome) -> Void = { _ in }
    ) async -> Outcome {
        var outcome = Outcome()
        for start in stride(from: 0, to: scripts.count, by: Self.batch) {
            let batch = start..<min(start + Self.batch, scripts.count)
            await withTaskGroup(of: Outcome.self) { players in
                for player in 0..<atOnce {
                    players.addTask {
                        batch.filter { $0 % atOnce == player }.reduce(into: Outcome()) {
                            $0.take(Self.play(scripts[$1], number: $1, everyOf: share))
                        }
                    }
                }
                for await part in players { outcome.take(part) }
            }
            tell(outcome)
        }
        return outcome
    }

    private static let batch = 20

    /// One script as it is, and with each of its deaths.
    private static func play(_ script: Script, number: Int, everyOf share: Int) -> Outcome {
        var outcome = Outcome(scripts: 1)
        let whole = Stage.play(script)
        outcome.note(whole, number)
        let deaths =
            (0..<whole.effects).map { Script.Death.atRequest($0 + 1) }
            + (0..<whole.flushes).map { Script.Death.atFlush($0 + 1) }
        for (place, death) in deaths.enumerated() where (place + number) % share == 0 {
            var script = script
            script.dies = death
            outcome.note(Stage.play(script), number)
        }
        return outcome
    }
}

extension Exhaustion.Outcome {
    fileprivate mutating func note(_ performance: Performance, _ number: Int) {
        runs += 1
        guard performance.breach != nil else { return }
        failed.append(Exhaustion.Failure(number: number, performance: performance))
    }

    fileprivate mutating func take(_ other: Self) {
        scripts += other.scripts
        runs += other.runs
        failed += other.failed
    }
}

extension Deed {
    /// With which it goes upstream.
    fileprivate var call: WireCall.Kind {
        switch self {
        case .create: .create
        case .trash: .trash
        case .delete: .delete
        default: .push
        }
    }
}
