/// What an expression is made of.
indirect enum ExpressionNode {
    case unit(Units)
    case edge(Expression.Edge)
    case sequence([ExpressionNode])
    case choice([ExpressionNode])
    case loop(ExpressionNode, least: Int, most: Int?)
}

/// A set of units of UTF-16, of which a lower case letter stands for the upper case one as well.
struct Units {
    var ranges: [ClosedRange<UInt16>]
    var isNegated = false

    func contain(_ unit: UInt16) -> Bool {
        var isIn = ranges.contains { $0.contains(unit) }
        if !isIn, (0x61...0x7A).contains(unit) {
            isIn = ranges.contains { $0.contains(unit - 0x20) }
        }
        return isIn != isNegated
    }

    static let digit = Units(ranges: [0x30...0x39])
    static let word = Units(ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let space = Units(
        ranges: [
            0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A,
            0x2028...0x2029, 0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
        ]
    )
    static let anyOfLine = Units(
        ranges: [0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029],
        isNegated: true
    )

    var inverted: Units { Units(ranges: ranges, isNegated: !isNegated) }

    /// The same units as ranges, none of them negated.
    var plainRanges: [ClosedRange<UInt16>] {
        guard isNegated else { return ranges }
        var (gaps, next): ([ClosedRange<UInt16>], UInt32) = ([], 0)
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if UInt32(range.lowerBound) > next { gaps.append(UInt16(next)...range.lowerBound - 1) }
            next = max(next, UInt32(range.upperBound) + 1)
        }
        if next <= UInt32(UInt16.max) { gaps.append(UInt16(next)...UInt16.max) }
        return gaps
    }
}

/// Reads the grammar of JavaScript's expressions, as far as ``Expression`` follows it.
struct ExpressionReader {
    private let text: [UInt16]
    private var position = 0
    private var depth = 0

    init(_ text: String) { self.text = Array(text.utf16) }

    private static let deepest = 100
    private static let mostRepeats = 1_000

    mutating func readAll() -> ExpressionNode? {
        guard let node = readChoice(), position == text.count else { return nil }
        return node
    }

    private var next: UInt16? { position < text.count ? text[position] : nil }

    private mutating func skip(_ word: StaticString) -> Bool {
        let units = Array(String(describing: word).utf16)
        guard text[position...].starts(with: units) else { return false }
        position += units.count
        return true
    }

    private mutating func readChoice() -> ExpressionNode? {
        var nodes: [ExpressionNode] = []
        repeat {
            guard let node = readSequence() else { return nil }
            nodes.append(node)
        } while skip("|")
        return .choice(nodes)
    }

    private mutating func readSequence() -> ExpressionNode? {
        var nodes: [ExpressionNode] = []
        while let unit = next, unit != 0x7C, unit != 0x29 {
            guard let node = readTerm() else { return nil }
            nodes.append(node)
        }
        return .sequence(nodes)
    }

    private mutating func readTerm() -> ExpressionNode? {
        if skip("^") { return .edge(.start) }
        if skip("$") { return .edge(.end) }
        if skip("\\b") { return .edge(.word) }
        if skip("\\B") { return .edge(.noWord) }
        return readAtom().flatMap { readLoop(of: $0) }
    }

    private mutating func readAtom() -> ExpressionNode? {
        if skip("(") { return readGroup() }
        if skip("[") { return readSet().map { .unit($0) } }
        if skip(".") { return .unit(.anyOfLine) }
        if skip("\\") { return readEscape(inSet: false).map { .unit($0) } }
        guard let unit = next, ![0x2A, 0x2B, 0x3F].contains(unit) else { return nil }
        position += 1
        return .unit(Units(ranges: [unit...unit]))
    }

    /// With or without a name, remembered or not.
    private mutating func readGroup() -> ExpressionNode? {
        if skip("?"), !skip(":") {
            guard skip("<"), next != 0x3D, next != 0x21,
                let end = text[position...].firstIndex(of: 0x3E)
            else { return nil }
            position = end + 1
        }
        guard depth < Self.deepest else { return nil }
        depth += 1
        defer { depth -= 1 }
        guard let node = readChoice(), skip(")") else { return nil }
        return node
    }

    private mutating func readLoop(of node: ExpressionNode) -> ExpressionNode? {
        guard let (least, most) = readBounds() else { return node }
        // Whether it takes as few as it can is nothing to whoever only wants to know if it matches.
        _ = skip("?")
        guard least <= Self.mostRepeats, most.map({ $0 >= least && $0 <= Self.mostRepeats }) ?? true
        else { return nil }
        return .loop(node, least: least, most: most)
    }

    private mutating func readBounds() -> (least: Int, most: Int?)? {
        if skip("*") { return (0, nil) }
        if skip("+") { return (1, nil) }
        if skip("?") { return (0, 1) }
        let start = position
        if skip("{"), let least = readNumber() {
            if skip("}") { return (least, least) }
            if skip(",") {
                if skip("}") { return (least, nil) }
                if let most = readNumber(), skip("}") { return (least, most) }
            }
        }
        // A brace that bounds nothing stands for itself.
        position = start
        return nil
    }

    private mutating func readNumber() -> Int? {
        let digits = text[position...].prefix { Units.digit.contain($0) }
        guard !digits.isEmpty, digits.count < 9 else { return nil }
        position += digits.count
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private mutating func readSet() -> Units? {
        let isNegated = skip("^")
        var ranges: [ClosedRange<UInt16>] = []
        while !skip("]") {
            guard let first = readMember() else { return nil }
            let start = position
            guard skip("-"), next != 0x5D, let last = readMember() else {
                position = start
                ranges += first.plainRanges
                continue
            }
            guard let lower = first.single, let upper = last.single else {
                ranges += first.plainRanges + last.plainRanges + [0x2D...0x2D]
                continue
            }
            guard lower <= upper else { return nil }
            ranges.append(lower...upper)
        }
        return Units(ranges: ranges, isNegated: isNegated)
    }

    private mutating func readMember() -> Units? {
        if skip("\\") { return readEscape(inSet: true) }
        guard let unit = next else { return nil }
        position += 1
        return Units(ranges: [unit...unit])
    }

    private mutating func readEscape(inSet: Bool) -> Units? {
        guard let unit = next else { return nil }
        position += 1
        switch Character(Unicode.Scalar(unit) ?? " ") {
        case "d": return .digit
        case "D": return .digit.inverted
        case "w": return .word
        case "W": return .word.inverted
        case "s": return .space
        case "S": return .space.inverted
        case "t": return .one(0x09)
        case "n": return .one(0x0A)
        case "v": return .one(0x0B)
        case "f": return .one(0x0C)
        case "r": return .one(0x0D)
        case "0": return .one(0)
        case "b" where inSet: return .one(0x08)
        case "x": return readHex(2).map(Units.one)
        case "u": return readHex(4).map(Units.one)
        case "1"..."9", "k", "c": return nil
        default: return .one(unit)
        }
    }

    private mutating func readHex(_ count: Int) -> UInt16? {
        let digits = text[position...].prefix(count)
        guard digits.count == count,
            let value = UInt16(String(decoding: digits, as: UTF16.self), radix: 16)
        else { return nil }
        position += count
        return value
    }
}

extension Units {
    fileprivate static func one(_ unit: UInt16) -> Units { Units(ranges: [unit...unit]) }

    fileprivate var single: UInt16? {
        guard !isNegated, ranges.count == 1, let range = ranges.first, range.count == 1 else {
            return nil
        }
        return range.lowerBound
    }
}
