/// Worlds in which something went wrong once, each to be played again.
public struct Corpus: Sendable {
    public struct Entry: Sendable {
        let replay: Replay
        let steps: Int
        let hazards: Hazards
        /// What it showed.
        public let finding: String

        public func play() -> Performance {
            var campaign = Campaign()
            (campaign.steps, campaign.hazards) = (steps, hazards)
            return replay.play(campaign)
        }
    }

    public let entries: [Entry]

    /// Reads lines of a seed, the length of its script, what could go wrong, and what that showed. Nil if
    /// one of them is not understood.
    public init?(_ text: String) {
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        let entries = lines.map { Entry($0) }
        guard entries.allSatisfy({ $0 != nil }) else { return nil }
        self.entries = entries.compactMap(\.self)
    }

    /// - Returns: What came of each, in their order.
    public func play(atOnce: Int = 2) async -> [Performance] {
        await Performance.play(entries.indices, atOnce: atOnce) { [entries] in entries[$0].play() }
    }
}

extension Corpus.Entry {
    fileprivate init?(_ line: Substring) {
        let words = line.split(separator: " ", maxSplits: 3)
        guard words.count == 4, let replay = Replay(String(words[0])), let steps = Int(words[1]),
            let hazards = Hazards(list: String(words[2]))
        else { return nil }
        (self.replay, self.steps, self.hazards) = (replay, steps, hazards)
        finding = String(words[3])
    }
}
