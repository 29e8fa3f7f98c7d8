import System

/// Chance as the simulator throws it: everything that is drawn from here follows from the seed.
struct Dice: Sendable {
    private let chance: SeededChance

    init(seed: UInt64) { chance = SeededChance(seed: seed) }

    func number(in range: Range<Int>) -> Int { chance.number(in: range) }

    /// Whether something happens that does so in that many of a hundred cases.
    func happens(_ percent: Int) -> Bool { chance.number(in: 0..<100) < percent }

    func pick<Element>(_ elements: [Element]) -> Element {
        elements[chance.number(in: elements.indices)]
    }

    /// One of these, each as often as its weight says.
    func pick<Element>(_ weighted: [(weight: Int, element: Element)]) -> Element {
        var rest = chance.number(in: 0..<weighted.reduce(0) { $0 + $1.weight })
        for (weight, element) in weighted {
            if rest < weight { return element }
            rest -= weight
        }
        return weighted[weighted.count - 1].element
    }

    /// A time between the two, short ones as likely as long ones.
    func duration(_ shortest: Duration, _ longest: Duration) -> Duration {
        let doublings = Int((longest / shortest).exponent)
        let scale = 1 << chance.number(in: 0..<max(1, doublings + 1))
        let whole = min(shortest * scale, longest)
        return whole * Double(500 + chance.number(in: 0..<500)) / 1_000
    }
}

extension Duration {
    fileprivate static func * (duration: Duration, factor: Double) -> Duration {
        .microseconds(Int64(duration / .microseconds(1) * factor))
    }
}
