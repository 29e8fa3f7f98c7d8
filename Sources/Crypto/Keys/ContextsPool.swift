/// Contexts at rest. Usually there are one or none; a place of its own for the first keeps the array
/// out of every call.
struct ContextsPool {
    private var first: KeyedContexts?
    private var others: [KeyedContexts] = []
    /// More are not kept; OpenSSL holds a copy of the key in each.
    private static let most = 4

    mutating func take() -> KeyedContexts? {
        first.take() ?? others.popLast()
    }

    mutating func put(_ contexts: KeyedContexts) {
        if first == nil {
            first = contexts
        } else if others.count < Self.most - 1 {
            others.append(contexts)
        }
    }
}
