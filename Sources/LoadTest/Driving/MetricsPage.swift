import HTTP

/// What a host says about itself in the Prometheus text format.
struct MetricsPage: Sendable {
    /// Whoever tells more, or what is no number, is not counted.
    private static let largest = 0x1p53

    private var values: [(series: Substring, value: Double)] = []

    init(_ text: String) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "),
                let value = Double(line[line.index(after: space)...]), abs(value) < Self.largest
            else { continue }
            values.append((line[..<space], value))
        }
    }

    /// What has come since an earlier page.
    func since(_ earlier: MetricsPage?) -> MetricsPage {
        guard let earlier else { return self }
        let former = Dictionary(earlier.values.map { ($0.series, $0.value) }) { _, last in last }
        var page = self
        page.values = values.map { ($0.series, $0.value - (former[$0.series] ?? 0)) }
        return page
    }

    /// The sum of a metric's series, of those that have all of these labels.
    func sum(_ name: String, _ labels: String...) -> Int {
        let all = values.filter { series, _ in
            (series == name || series.hasPrefix(name + "{"))
                && labels.allSatisfy { series.contains($0) }
        }
        return Int(all.reduce(0) { $0 + $1.value })
    }

    /// What waits and was not set aside.
    var livePending: Int {
        sum("holdfast_pending_changes")
            - sum("holdfast_pending_changes", "state=\"quarantined\"")
    }

    var pendingRemovals: Int {
        sum("holdfast_pending_changes", "type=\"softDelete\"")
            + sum("holdfast_pending_changes", "type=\"hardDelete\"")
    }

    /// By the value of one label.
    func sums(_ name: String, by label: String) -> [String: Int] {
        var sums: [String: Int] = [:]
        for (series, value) in values where series.hasPrefix(name + "{") {
            guard let start = series.firstRange(of: label + "=\"")?.upperBound else { continue }
            sums[String(series[start...].prefix { $0 != "\"" }), default: 0] += Int(value)
        }
        return sums.filter { $0.value != 0 }
    }
}

extension [MetricsPage] {
    /// Of several hosts, each of which has counted from nothing.
    func sums(_ name: String, by label: String) -> [String: Int] {
        reduce(into: [:]) { sums, page in
            sums.merge(page.sums(name, by: label), uniquingKeysWith: +)
        }
    }
}

/// Where a host's figures are read.
struct OpsSide: Sendable {
    let url: String
    let client: Client

    /// What there is to say when nobody shows any.
    var absence: LoadFailure {
        LoadFailure("No figures of a host can be read at \(url)/metrics.", .hostIsAway)
    }

    func page() async -> MetricsPage? {
        let request = Client.Request(.get, url + "/metrics", operation: "metrics")
        guard let response = try? await client.send(request), response.status.isSuccess else {
            return nil
        }
        return MetricsPage(String(decoding: response.body, as: UTF8.self))
    }
}
