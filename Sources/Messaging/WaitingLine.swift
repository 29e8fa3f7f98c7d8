/// A line that anybody may leave at any time, for the same price wherever they stand.
///
/// When a service hangs and all who wait for it give up, each of them leaves alone: looking for
/// them and closing up behind them would take the square of their number.
struct WaitingLine<Element> {
    /// In their order, together with some who have left.
    private(set) var tickets = Ring<Int>()
    private var elements: [Int: Element] = [:]

    var count: Int { elements.count }
    var isEmpty: Bool { elements.isEmpty }

    /// Every ticket is used once.
    mutating func append(_ element: Element, ticket: Int) {
        tickets.append(ticket)
        elements[ticket] = element
    }

    mutating func popFirst() -> Element? {
        while let ticket = tickets.popFirst() {
            if let element = elements.removeValue(forKey: ticket) { return element }
        }
        return nil
    }

    mutating func remove(ticket: Int) -> Element? {
        let element = elements.removeValue(forKey: ticket)
        if tickets.count > 2 * elements.count + 8 { closeUp() }
        return element
    }

    /// Changes each of those who wait; nobody's place.
    mutating func change(_ body: (inout Element) -> Void) {
        for ticket in elements.keys {
            guard var element = elements[ticket] else { continue }
            body(&element)
            elements[ticket] = element
        }
    }

    private mutating func closeUp() {
        var closed = Ring<Int>()
        while let ticket = tickets.popFirst() {
            if elements[ticket] != nil { closed.append(ticket) }
        }
        tickets = closed
    }
}

extension WaitingLine: Sendable where Element: Sendable {}
