/// The two ways in which the figures are written down.
public enum ExpositionFormat: CaseIterable, Sendable {
    /// The Prometheus text format 0.0.4: what is served unless the other is asked for.
    case prometheus
    /// OpenMetrics text 1.0.
    case openMetrics

    public var contentType: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// What to answer to an `Accept` header.
    ///
    /// OpenMetrics only to those who name it, in its version 1.0.0 or in none, and want it no less
    /// than plain text. Everybody else gets plain text, even where they did not ask for it: a
    /// person with a browser is better served by that than by a refusal.
    public init(accept: String?) {
        let ranges = MediaRange.all(in: accept ?? "*/*")
        let openMetrics = ranges.filter(\.isOpenMetrics).map(\.quality).max() ?? 0
        let text = ranges.max { $0.closenessToText < $1.closenessToText }
        let textQuality = text.map { $0.closenessToText > 0 ? $0.quality : 0 } ?? 0
        self = openMetrics > 0 && openMetrics >= textQuality ? .openMetrics : .prometheus
    }
}

extension MediaRange {
    fileprivate var isOpenMetrics: Bool {
        type == "application/openmetrics-text" && (version ?? "1.0.0") == "1.0.0"
    }

    /// The closest range is the one that counts, 0 being none at all.
    fileprivate var closenessToText: Int {
        switch (type, version) {
        case ("text/plain", "0.0.4"): 4
        case ("text/plain", nil): 3
        case ("text/*", _): 2
        case ("*/*", _): 1
        default: 0
        }
    }
}
