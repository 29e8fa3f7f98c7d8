#if MUTANTS
    public import System

    /// Breaks the program in one place, and looks for the seed that shows it.
    public struct Hunt: Sendable {
        public let mutant: Mutant
        public private(set) var seeds = 0
        /// What gave it away.
        public private(set) var performance: Performance?

        public static func names(_ text: String) -> [Mutant]? {
            if text == "all" { return Mutant.allCases }
            return Mutant.allCases.first { "\($0)" == text }.map { [$0] }
        }

        public static func run(_ mutant: Mutant, _ campaign: Campaign) async -> Hunt {
            Mutant.choose(mutant)
            defer { Mutant.choose(nil) }
            var hunt = Hunt(mutant: mutant)
            let outcome = await campaign.run { _ in }
            hunt.seeds = outcome.seeds
            hunt.performance = outcome.failed.first
            return hunt
        }

        private init(mutant: Mutant) { self.mutant = mutant }

        public var summary: String {
            let name = "\(mutant)".padded(to: 26)
            guard let performance, let breach = performance.breach else {
                return "\(name) survives \(seeds) seeds"
            }
            let invariant = breach.invariant.padded(to: 8)
            return "\(name) \(invariant) seed \(performance.script.seed): \(breach.text)"
        }
    }

    extension String {
        fileprivate func padded(to width: Int) -> String {
            self + String(repeating: " ", count: max(0, width - count))
        }
    }
#endif
