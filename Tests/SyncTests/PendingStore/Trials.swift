/// Many trials that know nothing of each other, two at a time.
enum Trials {
    /// - Returns: What they came to, in no order.
    @discardableResult
    static func run<Outcome: Sendable>(
        _ numbers: ClosedRange<Int>,
        _ trial: @escaping @Sendable (Int) async throws -> Outcome
    ) async throws -> [Outcome] {
        try await withThrowingTaskGroup(of: [Outcome].self) { group in
            for first in [numbers.lowerBound, numbers.lowerBound + 1] {
                group.addTask {
                    var outcomes: [Outcome] = []
                    for number in stride(from: first, through: numbers.upperBound, by: 2) {
                        outcomes.append(try await trial(number))
                    }
                    return outcomes
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}
