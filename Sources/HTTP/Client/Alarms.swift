/// Who is to be looked after when, the earliest first; each has one alarm. Setting, removing and
/// ringing cost no more than the logarithm of their number.
struct Alarms {
    typealias ID = UInt64

    private struct Entry {
        let moment: Duration
        let id: ID
    }

    private var moments: [ID: Duration] = [:]
    /// A heap. Some in it have been removed or set anew, but never the first.
    private var entries: [Entry] = []

    var count: Int { moments.count }
    var first: Duration? { entries.first?.moment }

    /// Takes the place of an earlier alarm of the same.
    mutating func set(_ id: ID, at moment: Duration) {
        moments[id] = moment
        entries.append(Entry(moment: moment, id: id))
        rise(from: entries.count - 1)
        tidy()
    }

    /// - Returns: Whether there was one.
    @discardableResult
    mutating func remove(_ id: ID) -> Bool {
        guard moments.removeValue(forKey: id) != nil else { return false }
        tidy()
        return true
    }

    /// The next one whose moment has come. It has no alarm any more.
    mutating func ring(at now: Duration) -> ID? {
        guard let entry = entries.first, entry.moment <= now else { return nil }
        moments[entry.id] = nil
        tidy()
        return entry.id
    }

    private func isSet(_ entry: Entry) -> Bool { moments[entry.id] == entry.moment }

    /// Takes away what is not set any more: at the top always, elsewhere when it is the greater part.
    private mutating func tidy() {
        while let entry = entries.first, !isSet(entry) { removeFirst() }
        guard entries.count > 2 * moments.count + 8 else { return }
        // An array in order is a heap.
        entries = entries.filter(isSet).sorted { $0.moment < $1.moment }
    }

    private mutating func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        sink(from: 0)
    }

    private mutating func rise(from start: Int) {
        var index = start
        while index > 0, entries[index].moment < entries[(index - 1) / 2].moment {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink(from start: Int) {
        var index = start
        while true {
            let children = (2 * index + 1)..<min(2 * index + 3, max(entries.count, 2 * index + 1))
            let least = children.min { entries[$0].moment < entries[$1].moment }
            guard let least, entries[least].moment < entries[index].moment else { return }
            entries.swapAt(index, least)
            index = least
        }
    }
}
