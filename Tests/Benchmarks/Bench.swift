import FoundationEssentials
import Glibc
import System

/// Takes figures in pairs, ours and its ceiling in turn, and prints the medians.
///
/// In pairs, because a shared machine changes its speed from second to second: the ratio of two
/// neighbours says more than either figure.
struct Bench {
    enum Figure {
        /// More is better; the ratio is ours by the ceiling's.
        case rate(String)
        /// Less is better; the ratio is the ceiling's by ours.
        case cost(String)
    }

    let pairs: Int
    let isQuick: Bool

    /// As many as said, or just enough to see it run.
    func count(_ whole: Int, quick: Int) -> Int { isQuick ? quick : whole }

    func title(_ text: String) {
        say("\n\(text)")
        say(row("", "ours", "ceiling", "ratio", "min–max", "aim"))
    }

    /// Measures both in turn and prints one row. `aim` is the smallest ratio that will do.
    func compare(
        _ name: String,
        _ figure: Figure,
        aim: Double? = nil,
        ours: () async throws -> Double,
        ceiling: () async throws -> Double
    ) async throws {
        var our: [Double] = []
        var theirs: [Double] = []
        for pair in 0...pairs {
            let (mine, best) = (try await ours(), try await ceiling())
            if pair == 0 && !isQuick { continue }  // The first pair warms up.
            our.append(mine)
            theirs.append(best)
            if isQuick { break }
        }
        let ratios = zip(our, theirs).map { figure.ratio($0, $1) }
        say(
            row(
                name,
                figure.text(our.median),
                figure.text(theirs.median),
                decimal(ratios.median, 2),
                "\(decimal(ratios.min() ?? 0, 2))–\(decimal(ratios.max() ?? 0, 2))",
                aim.map { verdict(ratios.median, aim: $0) } ?? ""
            )
        )
    }

    /// Measures what has a bound of its own and no ceiling, a cost that must not exceed `bound`.
    func measure(
        _ name: String,
        unit: String,
        bound: Double? = nil,
        _ figure: () async throws -> Double
    ) async throws {
        var figures: [Double] = []
        for round in 0...pairs {
            let value = try await figure()
            if round == 0 && !isQuick { continue }
            figures.append(value)
            if isQuick { break }
        }
        let spread = "\(decimal(figures.min() ?? 0, 2))–\(decimal(figures.max() ?? 0, 2))"
        let median = figures.median
        let aim = bound.map { "≤ \(decimal($0, 2)) \(median <= $0 ? "met" : "MISSED")" } ?? ""
        say(row(name, "\(decimal(median, 2)) \(unit)", "", "", spread, aim))
    }

    /// Seen at once, also in a file: some figures take minutes.
    private func say(_ text: String) {
        print(text)
        fflush(nil)
    }

    /// A figure worth seeing that nothing is held against.
    func note(_ name: String, _ text: String) {
        say(row(name, text, "", "", "", ""))
    }

    private func verdict(_ ratio: Double, aim: Double) -> String {
        "≥ \(decimal(aim, 2)) \(ratio >= aim ? "met" : "MISSED")"
    }
}

extension Bench.Figure {
    fileprivate func ratio(_ ours: Double, _ ceiling: Double) -> Double {
        switch self {
        case .rate: ours / ceiling
        case .cost: ceiling / ours
        }
    }

    fileprivate func text(_ value: Double) -> String {
        switch self {
        case .rate(let unit), .cost(let unit):
            "\(decimal(value, value < 100 ? 2 : 0)) \(unit)"
        }
    }
}

/// The seconds that the body takes.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await body()
    return (ContinuousClock.now - start) / .seconds(1)
}

/// What the process has in memory now.
func residentMegabytes() -> Double {
    let text = (try? Files.read("/proc/self/statm")).map { String(decoding: $0, as: UTF8.self) }
    let pages = text?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
    return pages * 4 / 1_024
}

extension [Double] {
    var median: Double {
        let sorted = self.sorted()
        guard !sorted.isEmpty else { return .nan }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// The value that the given share of the values does not exceed.
    func percentile(_ share: Double) -> Double {
        let sorted = self.sorted()
        guard !sorted.isEmpty else { return .nan }
        return sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}

private func decimal(_ value: Double, _ digits: Int) -> String {
    let scale = pow(10, Double(digits))
    let rounded = (value * scale).rounded() / scale
    return digits == 0 ? String(Int(rounded)) : padded(rounded, digits)
}

private func padded(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite else { return "–" }
    let text = String(value)
    guard let point = text.firstIndex(of: ".") else { return text }
    let fraction = text.distance(from: point, to: text.endIndex) - 1
    return text + String(repeating: "0", count: max(0, digits - fraction))
}

private func row(_ columns: String...) -> String {
    zip(columns, [46, 20, 20, 7, 13, 16])
        .map { $0 + String(repeating: " ", count: max(1, $1 - $0.count)) }
        .joined()
}
