/// Which names are to be looked up, and for whom.
///
/// Those who ask for the same name share one look-up. Only so many are under way, each on a thread
/// of its own; the other names wait in order.
struct Lookups {
    typealias ID = UInt64

    private struct Name {
        var askers: Set<ID> = []
        var isUnderWay = false
    }

    let limit: Int
    private var names: [String: Name] = [:]
    private var namesOfAskers: [ID: String] = [:]
    private var line = Line<String, String>()
    private(set) var threadCount = 0

    init(limit: Int) { self.limit = limit }

    /// How many wait for an answer.
    var askerCount: Int { namesOfAskers.count }

    /// - Returns: Whether one more thread is wanted.
    mutating func ask(_ name: String, for id: ID) -> Bool {
        namesOfAskers[id] = name
        let isNew = names[name] == nil
        names[name, default: Name()].askers.insert(id)
        guard isNew else { return false }
        line.append(name, ticket: name)
        guard threadCount < limit else { return false }
        threadCount += 1
        return true
    }

    /// The name that a thread looks up next; `nil` if it is not wanted any more.
    mutating func next() -> String? {
        guard let name = line.popFirst() else {
            threadCount -= 1
            return nil
        }
        names[name]?.isUnderWay = true
        return name
    }

    /// A look-up is done.
    ///
    /// - Returns: Those who wait for it.
    mutating func finish(_ name: String) -> [ID] {
        let askers = names.removeValue(forKey: name)?.askers.sorted() ?? []
        for id in askers { namesOfAskers[id] = nil }
        return askers
    }

    /// Somebody does not wait any longer. What is under way goes on, for it cannot be called off.
    mutating func withdraw(_ id: ID) {
        guard let name = namesOfAskers.removeValue(forKey: id) else { return }
        names[name]?.askers.remove(id)
        guard let left = names[name], left.askers.isEmpty, !left.isUnderWay else { return }
        names[name] = nil
        line.remove(name)
    }

    /// The system has refused a thread.
    ///
    /// - Returns: Those who wait in vain, because there is no other.
    mutating func threadRefused() -> [ID] {
        threadCount -= 1
        guard threadCount == 0 else { return [] }
        var stranded: [ID] = []
        while let name = line.popFirst() { stranded += finish(name) }
        return stranded
    }
}
