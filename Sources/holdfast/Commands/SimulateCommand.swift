import EmbeddedUpstream
import Simulation
import System

extension Command {
    /// The mesh in a world that follows from a seed.
    static let simulate = Command(
        name: "simulate",
        summary: "plays what can go wrong, and checks that nothing is lost by it",
        flags: [
            Flag(name: "seeds", value: "N", help: "how many runs (20)"),
            Flag(name: "start", value: "S", help: "the first seed (1)"),
            Flag(name: "steps", value: "M", help: "how many steps each run has (60)"),
            Flag(
                name: "faults",
                value: "LIST",
                help:
                    "what may go wrong: all, none, names with commas between them, or first to ninth: what "
                    + "could when worlds of those times were found (all)"
            ),
            Flag(
                name: "profile",
                value: "NAME",
                choices: Personality.Name.allCases.map(\.rawValue) + ["both"],
                help: "the server: bitwarden, vaultwarden or both (both)"
            ),
            Flag(
                name: "mutant",
                value: "NAME",
                help: "breaks the program in one place; 'all' for each of them (mutant builds only)"
            ),
            Flag(name: "replay", value: "SEED", help: "plays one seed and prints what happens"),
            Flag(
                name: "deaths",
                value: "N",
                help: "every script of up to N deeds instead, with a death at each place of it"
            ),
            Flag(name: "corpus", value: "FILE", help: "the worlds of a list instead"),
        ],
        endsUnheard: true,
        run: { invocation, console throws(Failure) in
            let campaign = try Campaign(invocation)
            try invocation.refuseMixtures()
            if let name = invocation.value("mutant") {
                return try await hunt(name, campaign, console)
            }
            if let length = try invocation.number("deaths", 1...4) {
                return try await die(length, campaign, invocation, console)
            }
            if let path = invocation.value("corpus") { return try await recall(path, console) }
            if let replay = invocation.value("replay") {
                guard let replay = Replay(replay) else {
                    throw Failure(status: .usage, message: "--replay wants a seed, as in '17'.")
                }
                try show(replay, campaign, console)
            } else {
                try await run(campaign, console)
            }
        }
    )

    private static func run(_ campaign: Campaign, _ console: Console) async throws(Failure) {
        let outcome = await campaign.run { console.answer($0.summary) }
        console.answer(
            """

            \(outcome.seeds) seeds, \(outcome.steps) steps, \(outcome.effects) effects, \
            \(outcome.jobs) turns, \(Int(outcome.elapsed / .seconds(86_400))) days

            \(outcome.coverage.table)
            """
        )
        let gaps = outcome.coverage.gaps
        console.answer(
            gaps.isEmpty
                ? "Everything has met everything." : "Never met: \(gaps.joined(separator: ", "))."
        )
        guard let first = outcome.failed.first else { return }
        console.answer("\nSeed \(first.script.seed) fails. Its history is shortened…\n")
        let short = Shrinking.shorten(first)
        console.answer(short.report(campaign.command(for: short)))
        throw Failure(status: .failure, message: "Seed \(first.script.seed) breaks an invariant.")
    }

    /// Plays again what failed once.
    private static func recall(_ path: String, _ console: Console) async throws(Failure) {
        guard let bytes = try? Files.read(path),
            let corpus = Corpus(String(decoding: bytes, as: UTF8.self)), !corpus.entries.isEmpty
        else { throw Failure(status: .usage, message: "'\(path)' is no list of worlds.") }
        let performances = await corpus.play()
        for case let (entry, performance) in zip(corpus.entries, performances)
        where performance.breach != nil {
            console.answer("\(performance.summary)\n  (once: \(entry.finding))")
        }
        let failed = performances.count { $0.breach != nil }
        let steps = performances.map(\.script.stepCount).reduce(0, +)
        console.answer("\(performances.count) worlds again, \(steps) steps, \(failed) failed")
        guard failed == 0 else {
            throw Failure(status: .failure, message: "What failed once fails again.")
        }
    }

    /// Scripts are numbered, so that a run can go on where an earlier one was told to stop.
    private static func die(
        _ length: Int,
        _ campaign: Campaign,
        _ invocation: Invocation,
        _ console: Console
    ) async throws(Failure) {
        var exhaustion = Exhaustion(length: length)
        exhaustion.profiles = campaign.profiles
        let all = exhaustion.scripts
        let start = try invocation.number("start", 1...all.count) ?? 1
        let count = try invocation.number("seeds", 1...1_000_000_000) ?? all.count
        let scripts = Array(all.dropFirst(start - 1).prefix(count))
        let outcome = await exhaustion.run(scripts) { outcome in
            console.answer(
                "scripts \(start) to \(start + outcome.scripts - 1) of \(all.count):"
                    + " \(outcome.runs) runs, \(outcome.failed.count) failed"
            )
        }
        guard let failed = outcome.failed.first else { return }
        let profile = invocation.value("profile").map { " --profile \($0)" } ?? ""
        let command =
            "holdfast simulate --deaths \(length)\(profile) --start \(start + failed.number) --seeds 1"
        console.answer(failed.performance.report(command))
        throw Failure(status: .failure, message: "A death breaks an invariant.")
    }

    #if MUTANTS
        /// Each of them is to be noticed by somebody.
        private static func hunt(
            _ name: String,
            _ campaign: Campaign,
            _ console: Console
        ) async throws(Failure) {
            guard let mutants = Hunt.names(name) else {
                throw Failure(status: .usage, message: "There is no mutant '\(name)'.")
            }
            var survivors = 0
            for mutant in mutants {
                let hunt = await Hunt.run(mutant, campaign)
                if hunt.performance == nil { survivors += 1 }
                console.answer(hunt.summary)
            }
            console.answer("\(mutants.count - survivors) of \(mutants.count) are noticed.")
            guard survivors == 0 else {
                throw Failure(status: .failure, message: "Not every mutant is noticed.")
            }
        }
    #else
        private static func hunt(
            _ name: String,
            _ campaign: Campaign,
            _ console: Console
        ) async throws(Failure) {
            throw Failure(
                status: .usage,
                message: "--mutant is for builds with HOLDFAST_MUTANTS=1 only."
            )
        }
    #endif

    private static func show(
        _ replay: Replay,
        _ campaign: Campaign,
        _ console: Console
    ) throws(Failure) {
        let performance = replay.play(campaign)
        console.answer(performance.report(campaign.command(for: performance)))
        guard performance.breach == nil else {
            throw Failure(status: .failure, message: "The seed breaks an invariant.")
        }
    }
}

extension Campaign {
    fileprivate init(_ invocation: Invocation) throws(Failure) {
        self.init()
        seeds = try invocation.number("seeds", 1...1_000_000_000) ?? seeds
        start = UInt64(try invocation.number("start", 0...Int.max / 2) ?? Int(start))
        steps = try invocation.number("steps", 1...100_000) ?? steps
        if let list = invocation.value("faults") {
            guard let hazards = Hazards(list: list) else {
                let names = Hazards.names.joined(separator: ", ")
                throw Failure(
                    status: .usage,
                    message: "--faults is all, none, first to ninth, or some of these: \(names)."
                )
            }
            self.hazards = hazards
        }
        guard let name = invocation.value("profile"), name != "both" else { return }
        guard let profile = Personality.Name(rawValue: name) else {
            throw Failure(
                status: .usage,
                message: "--profile is bitwarden, vaultwarden or both, not '\(name)'."
            )
        }
        profiles = [profile]
    }
}

extension Invocation {
    /// Each of these says what is played.
    fileprivate func refuseMixtures() throws(Failure) {
        let given = ["mutant", "replay", "deaths", "corpus"].filter { value($0) != nil }
        guard given.count < 2 else {
            let names = given.map { "--\($0)" }.joined(separator: " and ")
            throw Failure(status: .usage, message: "\(names) do not go together.")
        }
    }

    fileprivate func number(
        _ flag: String,
        _ range: ClosedRange<Int>
    ) throws(Failure) -> Int? {
        guard let text = value(flag) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Failure(
                status: .usage,
                message: "--\(flag) wants a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound), not '\(text)'."
            )
        }
        return number
    }
}
