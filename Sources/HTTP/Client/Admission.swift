/// Who may go next.
///
/// Only so many transfers are under way to one origin; the others wait here, in order. (curl would
/// queue them as well, but lets their connect timeout run meanwhile.)
struct Admission {
    typealias ID = UInt64

    private struct Place {
        let origin: String
        let deadline: Duration
    }

    private struct Origin {
        var underWay = 0
        /// May hold some who have gone; those are not in `places` any more.
        var line: ArraySlice<ID> = []

        mutating func enter(_ id: ID, limit: Int) -> Bool {
            guard underWay < limit else {
                line.append(id)
                return false
            }
            underWay += 1
            return true
        }
    }

    let limit: Int
    private var origins: [String: Origin] = [:]
    private var places: [ID: Place] = [:]
    /// When the first of those who wait must be sent away; may be too early, never too late.
    private(set) var alarm: Duration?

    init(limit: Int) { self.limit = limit }

    var waitingCount: Int { places.count }

    /// - Returns: Whether the transfer may go at once. If not, it waits until its deadline.
    mutating func arrive(_ id: ID, at origin: String, deadline: Duration) -> Bool {
        guard !origins[origin, default: Origin()].enter(id, limit: limit) else { return true }
        places[id] = Place(origin: origin, deadline: deadline)
        alarm = min(alarm ?? deadline, deadline)
        return false
    }

    /// One that was under way has ended.
    ///
    /// - Returns: The one that goes in its place, if any waits.
    mutating func leave(_ origin: String) -> ID? {
        guard var entry = origins[origin] else { return nil }
        while let id = entry.line.popFirst() {
            guard places.removeValue(forKey: id) != nil else { continue }
            origins[origin] = entry
            return id
        }
        entry.underWay -= 1
        origins[origin] = entry.underWay > 0 ? entry : nil
        return nil
    }

    /// One that waits goes away.
    ///
    /// - Returns: Whether it did wait.
    mutating func withdraw(_ id: ID) -> Bool {
        places.removeValue(forKey: id) != nil
    }

    /// Those whose deadline has passed while they waited. They wait no longer.
    mutating func expire(at now: Duration) -> [ID] {
        guard let alarm, alarm <= now else { return [] }
        let late = places.filter { $0.value.deadline <= now }.keys
        for id in late { places[id] = nil }
        self.alarm = places.values.lazy.map(\.deadline).min()
        return late.sorted()
    }
}
