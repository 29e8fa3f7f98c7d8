/// Does something with each of them, so many at once, and returns what came of it in their order.
func inTurn<Element: Sendable, Result: Sendable>(
    _ elements: some Collection<Element>,
    atOnce limit: Int,
    _ body: @escaping @Sendable (Element) async throws -> Result
) async throws -> [Result] {
    try await withThrowingTaskGroup(of: (Int, Result).self) { group in
        var results = [Result?](repeating: nil, count: elements.count)
        for (index, element) in elements.enumerated() {
            if index >= limit, let (done, result) = try await group.next() {
                results[done] = result
            }
            group.addTask { (index, try await body(element)) }
        }
        for try await (done, result) in group { results[done] = result }
        return results.compactMap(\.self)
    }
}
