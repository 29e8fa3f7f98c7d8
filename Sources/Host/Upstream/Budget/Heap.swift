/// Elements in no order, of which the one with the smallest key is always at hand: a binary heap.
struct Heap<Key: Comparable & Sendable, Element: Sendable>: Sendable {
    typealias Entry = (key: Key, element: Element)

    private var entries: [Entry] = []

    init() {}

    init(_ entries: [Entry]) {
        // What is sorted is a heap.
        self.entries = entries.sorted { $0.key < $1.key }
    }

    var count: Int { entries.count }
    var first: Entry? { entries.first }
    /// All, in no order.
    var all: [Entry] { entries }

    mutating func insert(_ element: Element, at key: Key) {
        entries.append((key, element))
        var child = entries.count - 1
        while child > 0, entries[child].key < entries[(child - 1) / 2].key {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() {
        guard let last = entries.popLast(), !entries.isEmpty else { return }
        entries[0] = last
        var parent = 0
        while let child = lesserChild(of: parent), entries[child].key < entries[parent].key {
            entries.swapAt(child, parent)
            parent = child
        }
    }

    private func lesserChild(of parent: Int) -> Int? {
        let (left, right) = (2 * parent + 1, 2 * parent + 2)
        guard left < entries.count else { return nil }
        return right < entries.count && entries[right].key < entries[left].key ? right : left
    }
}
