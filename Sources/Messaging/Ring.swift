/// A queue that uses its storage again and again.
struct Ring<Element> {
    /// None, or a power of two of them.
    private var slots: [Element?] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        if count == slots.count { grow() }
        slots[position(count)] = element
        count &+= 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head].take()
        head = position(1)
        count &-= 1
        return element
    }

    private func position(_ place: Int) -> Int {
        (head &+ place) & (slots.count &- 1)
    }

    private mutating func grow() {
        let elements = (0..<count).map { slots[position($0)] }
        let room = max(4, count)
        slots = elements + [Element?](repeating: nil, count: room)
        head = 0
    }
}

extension Ring: Sendable where Element: Sendable {}
