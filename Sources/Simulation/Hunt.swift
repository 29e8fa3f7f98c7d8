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
            var (hunt, rest) = (Hunt(mutant: mutant), campaign)
            while rest.seeds > 0 {
                let outcome = await rest.run { _ in }
                guard let failed = outcome.failed.first else {
                    hunt.seeds += outcome.seeds
                    return hunt
                }
                let seed = failed.script.seed
                hunt.seeds += Int(seed - rest.start) + 1
                if hunt.isToBlame(for: failed) {
                    hunt.performance = failed
                    return hunt
                }
                rest.seeds -= Int(seed - rest.start) + 1
                rest.start = seed + 1
            }
            return hunt
        }

        /// Whether the same goes well in a program that nobody has broken.
        private func isToBlame(for failed: Performance) -> Bool {
            Mutant.choose(nil)
            defer { Mutant.choose(mutant) }
            return Stage.play(failed.script).breach == nil
        }

        private init(mutant: Mutant) { self.mutant = mutant }

        public var summary: String {
            let name = "\(mutant)".padded(to: 26)
            guard let performance, let breach = performance.breach else {
                return "\(name) survives \(seeds) seeds"
            }
            let invariant = breach.invariant.rawValue.padded(to: 8)
            return "\(name) \(invariant) seed \(performance.script.seed): \(breach.text)"
        }
    }

    extension String {
        fileprivate func padded(to width: Int) -> String {
            self + String(repeating: " ", count: max(0, width - count))
        }
    }
#endif
