/// Ids by their ranks, the least of which is at hand; each has one. Setting, removing and taking cost no
/// more than the logarithm of their number.
package struct Ranking<ID: Hashable & Sendable, Rank: Comparable & Sendable>: Sendable {
    private struct Entry {
        let id: ID
        let rank: Rank
    }

    private var ranks: [ID: Rank] = [:]
    /// A heap. Some in it have been removed or set anew, but never the first.
    private var entries: [Entry] = []

    package init() {}

    package var isEmpty: Bool { ranks.isEmpty }
    package var count: Int { ranks.count }
    /// With those that are gone and not yet taken away.
    package var remembered: Int { entries.count }
    package var first: (id: ID, rank: Rank)? { entries.first.map { ($0.id, $0.rank) } }

    /// Takes the place of an earlier rank of the same.
    package mutating func set(_ id: ID, at rank: Rank) {
        ranks[id] = rank
        entries.append(Entry(id: id, rank: rank))
        rise(from: entries.count - 1)
        tidy()
    }

    /// - Returns: Whether it was there.
    @discardableResult
    package mutating func remove(_ id: ID) -> Bool {
        guard ranks.removeValue(forKey: id) != nil else { return false }
        tidy()
        return true
    }

    /// Takes out the first, if its rank is no higher.
    package mutating func takeFirst(upTo rank: Rank) -> ID? {
        guard let entry = entries.first, entry.rank <= rank else { return nil }
        remove(entry.id)
        return entry.id
    }

    private func isSet(_ entry: Entry) -> Bool { ranks[entry.id] == entry.rank }

    /// Takes away what is not set any more: at the top always, elsewhere when it is the greater part.
    private mutating func tidy() {
        while let entry = entries.first, !isSet(entry) { removeFirst() }
        guard entries.count > 2 * ranks.count + 8 else { return }
        // An array in order is a heap.
        entries = entries.filter(isSet).sorted { $0.rank < $1.rank }
    }

    private mutating func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        sink(from: 0)
    }

    private mutating func rise(from start: Int) {
        var index = start
        while index > 0, entries[index].rank < entries[(index - 1) / 2].rank {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink(from start: Int) {
        var index = start
        while true {
            let children = (2 * index + 1)..<min(2 * index + 3, max(entries.count, 2 * index + 1))
            let least = children.min { entries[$0].rank < entries[$1].rank }
            guard let least, entries[least].rank < entries[index].rank else { return }
            entries.swapAt(index, least)
            index = least
        }
    }
}
