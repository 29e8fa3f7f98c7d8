/// Why a metric cannot be registered. A mistake in the program, not in what it was given.
public enum Refusal: Error, Equatable, Sendable {
    case name(String)
    case help(String)
    case totalMissing(String)
    case totalMisplaced(String)
    case reservedSuffix(String, suffix: String)
    case typeInName(String, type: String)
    case notABaseUnit(String, unit: String)
    case unitMissing(String, unit: Unit)
    case unitMisplaced(String, unit: Unit)
    case label(String, label: String)
    case labelTwice(String, label: String)
    case valuesMissing(String, label: String)
    case valueTwice(String, value: String)
    case bounds(String)
    case taken(String, by: String)
}

extension Refusal: CustomStringConvertible {
    public var description: String {
        switch self {
        case .name(let name):
            "\(name): a name is made of lower-case letters, digits and single underscores."
        case .help(let name): "\(name): the help text is missing."
        case .totalMissing(let name): "\(name): a counter's name ends in _total."
        case .totalMisplaced(let name): "\(name): only a counter's name ends in _total."
        case .reservedSuffix(let name, let suffix):
            "\(name): the suffix \(suffix) belongs to the lines of a histogram or counter."
        case .typeInName(let name, let type): "\(name): the type \(type) is not part of a name."
        case .notABaseUnit(let name, let unit):
            "\(name): \(unit) is no base unit; use seconds, bytes or ratio."
        case .unitMissing(let name, let unit):
            "\(name): the name of such a quantity ends in \(unit)."
        case .unitMisplaced(let name, let unit): "\(name): a plain number is not in \(unit)."
        case .label(let name, let label): "\(name): \(label) cannot be a label."
        case .labelTwice(let name, let label): "\(name): the label \(label) is there twice."
        case .valuesMissing(let name, let label): "\(name): the label \(label) has no values."
        case .valueTwice(let name, let value): "\(name): the label value \(value) is there twice."
        case .bounds(let name): "\(name): a histogram has bounds, above 0 and ascending."
        case .taken(let name, let other): "\(name): the name is taken by \(other)."
        }
    }
}

extension Metric {
    /// The rules for names, of Prometheus and our own.
    func check() throws(Refusal) {
        guard Self.isName(name) else { throw .name(name) }
        guard !help.isEmpty else { throw .help(name) }
        try checkSuffix()
        try checkWords()
        try checkLabels()
    }

    private func checkSuffix() throws(Refusal) {
        let isTotal = name.hasSuffix("_total")
        if kind == .counter && !isTotal { throw .totalMissing(name) }
        if kind != .counter && isTotal { throw .totalMisplaced(name) }
        for suffix in ["_bucket", "_sum", "_count", "_created"] where familyName.hasSuffix(suffix) {
            throw .reservedSuffix(name, suffix: suffix)
        }
    }

    private func checkWords() throws(Refusal) {
        for word in familyName.split(separator: "_").map(String.init) {
            if Self.types.contains(word) { throw .typeInName(name, type: word) }
            if Self.strangeUnits.contains(word) { throw .notABaseUnit(name, unit: word) }
        }
    }

    private func checkLabels() throws(Refusal) {
        var seen: Set<String> = []
        for label in labels {
            guard Self.isName(label), !["le", "quantile"].contains(label) else {
                throw .label(name, label: label)
            }
            guard seen.insert(label).inserted else { throw .labelTwice(name, label: label) }
        }
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7A).contains(first) else { return false }
        return !text.contains("__") && !text.hasSuffix("_")
            && text.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
            }
    }

    private static let types: Set = ["counter", "gauge", "histogram", "summary"]

    private static let strangeUnits: Set = [
        "nanoseconds", "microseconds", "milliseconds", "minutes", "hours", "days", "weeks",
        "ns", "us", "ms", "sec", "secs", "min", "mins", "hr", "hrs",
        "bits", "kilobytes", "megabytes", "gigabytes", "kibibytes", "mebibytes", "gibibytes",
        "kb", "mb", "gb", "kib", "mib", "gib", "percent", "percents",
    ]
}
