import System

/// How often each mishap has met each kind of request.
public final class Coverage: Sendable {
    private let counts = Lock<[String: [String: Int]]>([:])

    public init() {}

    func note(_ mishap: Mishap, _ kind: WireCall.Kind) {
        note(mishap.rawValue, kind.rawValue)
    }

    func note(_ what: String, _ when: String) {
        counts.withLock { $0[what, default: [:]][when, default: 0] += 1 }
    }

    /// A line for each mishap, and the pairs that are possible and never came.
    public var table: String {
        let counts = counts.withLock { $0 }
        let kinds = WireCall.Kind.allCases.map(\.rawValue)
        func row(_ cells: [String]) -> String {
            cells.enumerated().map { index, cell in
                let width = index == 0 ? 20 : 9
                let space = String(repeating: " ", count: max(0, width - cell.count))
                return index == 0 ? cell + space : space + cell
            }.joined()
        }
        let rows = Mishap.allCases.map { mishap in
            row([mishap.rawValue] + kinds.map { "\(counts[mishap.rawValue]?[$0] ?? 0)" })
        }
        let others = counts.keys.filter { Mishap(rawValue: $0) == nil }.sorted().map { name in
            let cells = (counts[name] ?? [:]).sorted { $0.key < $1.key }
            return "\(name): " + cells.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        }
        return ([row([""] + kinds)] + rows + others).joined(separator: "\n")
    }
}
