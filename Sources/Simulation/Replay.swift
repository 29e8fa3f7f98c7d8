/// One script, named so that it can be played again: its seed, and which of its steps are left.
public struct Replay: Hashable, Sendable {
    public let seed: UInt64
    /// Nil for all of them.
    let steps: [Int]?
    /// Nothing strikes of its own accord.
    let isCalm: Bool

    /// Reads `17`, `17:1,4,9`, `17:1,4,9:calm` and `17::calm`.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), let seed = UInt64(parts[0]) else { return nil }
        self.seed = seed
        isCalm = parts.count == 3
        if isCalm, parts[2] != "calm" { return nil }
        guard parts.count > 1 else {
            steps = nil
            return
        }
        if parts[1].isEmpty, isCalm {
            steps = nil
            return
        }
        let numbers = parts[1].split(separator: ",").map { Int($0) }
        guard numbers.allSatisfy({ $0 != nil }) else { return nil }
        steps = numbers.compactMap(\.self)
    }

    /// - Parameter length: How many steps the whole script has.
    init(_ script: Script, of length: Int) {
        seed = script.seed
        let numbers = script.steps.map(\.number)
        let isWhole = numbers.count == length
        steps = isWhole ? nil : numbers
        isCalm = script.isCalmed
    }

    var text: String {
        let numbers = (steps ?? []).map { "\($0)" }.joined(separator: ",")
        return "\(seed)" + (steps == nil && !isCalm ? "" : ":\(numbers)") + (isCalm ? ":calm" : "")
    }

    public func play(_ campaign: Campaign) -> Performance {
        var script = campaign.script(seed)
        if let steps { script = script.keeping(Set(steps)) }
        if isCalm { script.calm() }
        return Stage.play(script)
    }
}
