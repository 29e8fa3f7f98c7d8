/// What a metric is, apart from its figures.
public struct Metric: Equatable, Sendable {
    public enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    public let kind: Kind
    /// As Prometheus knows it, with `_total` if it is a counter.
    public let name: String
    public let help: String
    public let labels: [String]

    public init(_ kind: Kind, _ name: String, _ help: String, labels: [String] = []) {
        self.kind = kind
        self.name = name
        self.help = help
        self.labels = labels
    }

    /// The name that OpenMetrics gives the whole family.
    public var familyName: String {
        kind == .counter && name.hasSuffix("_total") ? String(name.dropLast(6)) : name
    }

    /// The name says it, so nothing else has to.
    public var unit: Unit? {
        familyName.split(separator: "_").last.flatMap { Unit(rawValue: String($0)) }
    }

    /// All names that this metric's lines may have, in either format.
    var claims: [String] {
        switch kind {
        case .counter: [familyName, name, familyName + "_created"]
        case .gauge: [name]
        case .histogram: ["", "_bucket", "_sum", "_count", "_created"].map { name + $0 }
        }
    }
}

/// The base units; Prometheus knows no other of their kind.
public enum Unit: String, Sendable {
    case seconds, bytes, ratio
}
