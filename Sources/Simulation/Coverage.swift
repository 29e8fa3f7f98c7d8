import System

/// How often each mishap has met each kind of request, and how often everything else that may happen
/// has met a host in each phase of its work.
public final class Coverage: Sendable {
    private let counts = Lock<[String: [String: Int]]>([:])

    public init() {}

    func note(_ mishap: Mishap, _ kind: WireCall.Kind) { note(mishap.rawValue, kind.rawValue) }
    func note(_ hazard: Hazard, _ phase: Phase) { note(hazard.rawValue, phase.rawValue) }

    private func note(_ what: String, _ when: String) {
        counts.withLock { $0[what, default: [:]][when, default: 0] += 1 }
    }

    /// A line for each of them; a dash stands where two can never meet.
    public var table: String {
        let kinds = WireCall.Kind.allCases.map(\.rawValue)
        let phases = Phase.allCases.map(\.rawValue)
        let mishaps = Mishap.allCases.map { Self.row([$0.rawValue] + cells(of: $0)) }
        let hazards = Hazard.strikes.map { Self.row([$0.rawValue] + cells(of: $0)) }
        return
            ([Self.row([""] + kinds)] + mishaps + ["", Self.row([""] + phases)] + hazards)
            .joined(separator: "\n")
    }

    /// What could have met and never has.
    public var gaps: [String] {
        let mishaps = Mishap.allCases.flatMap { mishap in
            zip(WireCall.Kind.allCases, cells(of: mishap)).filter { $0.1 == "0" }
                .map { "\(mishap) × \($0.0)" }
        }
        let hazards = Hazard.strikes.flatMap { hazard in
            zip(Phase.allCases, cells(of: hazard)).filter { $0.1 == "0" }
                .map { "\(hazard) × \($0.0)" }
        }
        return mishaps + hazards
    }

    private func cells(of mishap: Mishap) -> [String] {
        let counts = counts.withLock { $0[mishap.rawValue] ?? [:] }
        return WireCall.Kind.allCases.map {
            mishap.concerns($0) ? "\(counts[$0.rawValue] ?? 0)" : "-"
        }
    }

    private func cells(of hazard: Hazard) -> [String] {
        let counts = counts.withLock { $0[hazard.rawValue] ?? [:] }
        return Phase.allCases.map { "\(counts[$0.rawValue] ?? 0)" }
    }

    private static func row(_ cells: [String]) -> String {
        cells.enumerated().map { index, cell in
            let width = index == 0 ? 20 : 10
            let space = String(repeating: " ", count: max(0, width - cell.count))
            return index == 0 ? cell + space : space + cell
        }.joined()
    }
}
