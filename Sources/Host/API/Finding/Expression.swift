/// A regular expression as the clients' rules for sites have it, without regard to case.
///
/// All ways through it are followed at once, so a match takes no longer than the expression times the text,
/// whatever somebody has written into an item. What cannot be followed so, references to what was
/// matched before and looks ahead or behind, it does not read.
struct Expression {
    enum Edge: Hashable { case start, end, word, noWord }

    private enum Step {
        case take(Units)
        case either(Int, Int)
        case go(Int)
        case stand(Edge)
        case done
    }

    private var steps: [Step] = []
    /// How much was added, also of what has no steps: nothing, a million times over, takes its time too.
    private var effort = 0

    /// Nil if it cannot be read, or is too large.
    init?(_ text: String) {
        var reader = ExpressionReader(text)
        guard let node = reader.readAll(), add(node) else { return nil }
        steps.append(.done)
    }

    private static let most = 4_000
    /// No site has a longer address that means anything, and each letter costs as much as the expression is long.
    private static let longestText = 4_096

    /// - Returns: Whether there was room for it.
    private mutating func add(_ node: ExpressionNode) -> Bool {
        effort += 1
        guard effort < Self.most else { return false }
        switch node {
        case .unit(let units): steps.append(.take(units))
        case .edge(let edge): steps.append(.stand(edge))
        case .sequence(let nodes):
            for node in nodes { guard add(node) else { return false } }
        case .choice(let nodes): return addChoice(nodes[...])
        case .loop(let body, let least, let most):
            for _ in 0..<least { guard add(body) else { return false } }
            guard let most else { return addFork(body, leadsBack: true) }
            for _ in least..<most { guard addFork(body, leadsBack: false) else { return false } }
        }
        return true
    }

    private mutating func addChoice(_ nodes: ArraySlice<ExpressionNode>) -> Bool {
        var ends: [Int] = []
        for node in nodes.dropLast() {
            guard addFork(node, leadsBack: true) else { return false }
            ends.append(steps.count - 1)
        }
        if let last = nodes.last, !add(last) { return false }
        for end in ends { steps[end] = .go(steps.count) }
        return true
    }

    /// One way through what is to come and one past it.
    ///
    /// - Parameter leadsBack: Whoever has gone through it stands before the fork again; a choice sends them elsewhere.
    private mutating func addFork(_ body: ExpressionNode, leadsBack: Bool) -> Bool {
        let fork = steps.count
        steps.append(.go(fork))
        guard add(body) else { return false }
        if leadsBack { steps.append(.go(fork)) }
        steps[fork] = .either(fork + 1, steps.count)
        return true
    }

    /// Whether it matches anywhere in the text.
    func matches(_ text: String) -> Bool {
        let text = Array(text.lowercased().utf16)
        guard text.count <= Self.longestText else { return false }
        var ways = Ways(steps.count)
        for position in 0...text.count {
            let unit = position < text.count ? text[position] : nil
            if follow(0, &ways, at: position, in: text) { return true }
            guard let unit else { return false }
            let present = ways.take()
            for step in present {
                guard case .take(let units) = steps[step], units.contain(unit) else { continue }
                if follow(step + 1, &ways, at: position + 1, in: text) { return true }
            }
        }
        return false
    }

    /// Goes on to all steps that take a unit.
    ///
    /// - Returns: Whether the end is reached.
    private func follow(_ step: Int, _ ways: inout Ways, at position: Int, in text: [UInt16])
        -> Bool
    {
        var open = [step]
        while let step = open.popLast() {
            guard ways.enter(step) else { continue }
            switch steps[step] {
            case .take: break
            case .go(let next): open.append(next)
            case .either(let one, let other): open += [other, one]
            case .stand(let edge):
                if edge.isAt(position, in: text) { open.append(step + 1) }
            case .done: return true
            }
        }
        return false
    }

    /// Where all the ways through it stand.
    private struct Ways {
        private var steps: [Int] = []
        private var isThere: [Bool]

        init(_ count: Int) { isThere = Array(repeating: false, count: count) }

        mutating func enter(_ step: Int) -> Bool {
            guard !isThere[step] else { return false }
            isThere[step] = true
            steps.append(step)
            return true
        }

        mutating func take() -> [Int] {
            for step in steps { isThere[step] = false }
            defer { steps = [] }
            return steps
        }
    }
}

extension Expression.Edge {
    fileprivate func isAt(_ position: Int, in text: [UInt16]) -> Bool {
        switch self {
        case .start: return position == 0
        case .end: return position == text.count
        case .word, .noWord:
            let before = position > 0 && Units.word.contain(text[position - 1])
            let after = position < text.count && Units.word.contain(text[position])
            return (before != after) == (self == .word)
        }
    }
}
