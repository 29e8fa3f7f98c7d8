/// A line that anybody may leave at any time, for the same price wherever they stand.
///
/// Those who have left keep their place until it is passed, or until they are more than those who
/// still stand there.
struct Line<Ticket: Hashable & Sendable, Element> {
    private var tickets: ArraySlice<Ticket> = []
    private var elements: [Ticket: Element] = [:]

    var count: Int { elements.count }
    var isEmpty: Bool { elements.isEmpty }

    /// Every ticket is used once.
    mutating func append(_ element: Element, ticket: Ticket) {
        tickets.append(ticket)
        elements[ticket] = element
    }

    mutating func popFirst() -> Element? {
        while let ticket = tickets.popFirst() {
            if let element = elements.removeValue(forKey: ticket) { return element }
        }
        return nil
    }

    @discardableResult
    mutating func remove(_ ticket: Ticket) -> Element? {
        let element = elements.removeValue(forKey: ticket)
        if tickets.count > 2 * elements.count + 8 { closeUp() }
        return element
    }

    private mutating func closeUp() {
        tickets = tickets.filter { elements[$0] != nil }[...]
    }
}

extension Line: Sendable where Element: Sendable {}
