/// A strict reader of OpenMetrics text: as much of the standard as our pages use, and no leniency.
struct OpenMetricsText {
    struct Sample: Equatable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    struct Violation: Error, CustomStringConvertible {
        var description: String
        init(_ rule: String, _ line: Substring) { description = "\(rule): \(line)" }
    }

    private let lines: [Substring]
    private var families: Set<String> = []
    private var family = ""
    private var type = ""
    private var isUnitSaid = false
    private var groups: Set<String> = []
    private var group: String?
    private var samples: [Sample] = []

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// All samples, or the first rule that is broken.
    @discardableResult
    func check() throws -> [Sample] {
        var reader = self
        guard lines.suffix(2) == ["# EOF", ""] else {
            throw Violation("The last line is # EOF", lines.last ?? "")
        }
        for line in lines.dropLast(2) { try reader.read(line) }
        try reader.checkHistograms()
        return reader.samples
    }

    private mutating func read(_ line: Substring) throws {
        if line.hasPrefix("# ") { return try readHead(line) }
        let sample = try Self.sample(line)
        let suffix = sample.name.dropFirst(family.count)
        guard sample.name.hasPrefix(family), Self.suffixes[type]?.contains(suffix) == true else {
            throw Violation("A line belongs to the family above it", line)
        }
        try enterGroup(of: sample, line)
        guard !sample.value.isNaN || type == "gauge" else { throw Violation("A number", line) }
        guard !samples.contains(where: { $0.name == sample.name && $0.labels == sample.labels })
        else { throw Violation("A series has one line", line) }
        samples.append(sample)
    }

    private static let suffixes: [String: Set<Substring>] = [
        "counter": ["_total", "_created"],
        "gauge": [""],
        "histogram": ["_bucket", "_sum", "_count", "_created"],
    ]

    private mutating func readHead(_ line: Substring) throws {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4 else { throw Violation("# KEYWORD name text", line) }
        if words[2] != family {
            guard families.insert(String(words[2])).inserted else {
                throw Violation("A family is in one piece", line)
            }
            (family, type, isUnitSaid, group) = (String(words[2]), "", false, nil)
        }
        switch words[1] {
        case "HELP": break
        case "TYPE" where type.isEmpty && Self.suffixes[String(words[3])] != nil:
            type = String(words[3])
        case "UNIT" where !isUnitSaid && family.hasSuffix("_" + words[3]): isUnitSaid = true
        default: throw Violation("HELP, TYPE and UNIT, each once and right", line)
        }
    }

    /// The lines of one label set stand together.
    private mutating func enterGroup(of sample: Sample, _ line: Substring) throws {
        var labels = sample.labels
        if sample.name.hasSuffix("_bucket") { labels["le"] = nil }
        let key = family + labels.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined()
        if key == group { return }
        guard groups.insert(key).inserted else { throw Violation("Lines are grouped", line) }
        group = key
    }

    private static func sample(_ line: Substring) throws -> Sample {
        let name = line.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        var rest = line.dropFirst(name.count)
        let labels = rest.first == "{" ? try Self.labels(&rest, line) : [:]
        guard !name.isEmpty, rest.first == " ", let value = Double(rest.dropFirst()) else {
            throw Violation("name{labels} number", line)
        }
        return Sample(name: String(name), labels: labels, value: value)
    }

    private static func labels(_ rest: inout Substring, _ line: Substring) throws -> [String:
        String]
    {
        var labels: [String: String] = [:]
        repeat {
            rest = rest.dropFirst()
            let name = rest.prefix { $0 != "=" }
            rest = rest.dropFirst(name.count)
            guard rest.hasPrefix("=\"") else { throw Violation("A label has a value", line) }
            rest = rest.dropFirst(2)
            guard labels.updateValue(try value(&rest, line), forKey: String(name)) == nil else {
                throw Violation("A label is there once", line)
            }
        } while rest.first == ","
        guard rest.popFirst() == "}" else { throw Violation("Labels end", line) }
        return labels
    }

    private static func value(_ rest: inout Substring, _ line: Substring) throws -> String {
        var value = ""
        while let character = rest.popFirst() {
            if character == "\"" { return value }
            guard character == "\\" else {
                value.append(character)
                continue
            }
            switch rest.popFirst() {
            case "n": value += "\n"
            case "\\": value += "\\"
            case "\"": value += "\""
            default: throw Violation("Only three escapes", line)
            }
        }
        throw Violation("A value ends", line)
    }

    /// Buckets rise up to +Inf, which is the count.
    private func checkHistograms() throws {
        var last: (key: [String: String], name: String, bound: Double, count: Double)?
        for sample in samples {
            var key = sample.labels
            if let bound = key.removeValue(forKey: "le") {
                guard bound == "+Inf" || bound.contains("."), let bound = Double(bound) else {
                    throw Violation("A bound has a point", Substring(bound))
                }
                if let last, last.key == key, last.name == sample.name {
                    guard bound > last.bound, sample.value >= last.count else {
                        throw Violation("Buckets rise", Substring(sample.name))
                    }
                }
                last = (key, sample.name, bound, sample.value)
            } else if sample.name.hasSuffix("_count") {
                guard last?.bound == .infinity, last?.count == sample.value else {
                    throw Violation("The count is the last bucket", Substring(sample.name))
                }
            }
        }
    }
}
