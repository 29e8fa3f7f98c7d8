import System

/// Who may go next.
///
/// Only so many transfers are under way to one origin; the others wait here, in order. (curl would
/// queue them as well, but lets their connect timeout run meanwhile.) Whoever waits can go away for
/// the same price wherever they stand.
struct Admission {
    typealias ID = UInt64

    private struct Origin {
        var underWay = 0
        var line = Line<ID, ID>()

        mutating func enter(_ id: ID, limit: Int) -> Bool {
            guard underWay < limit else {
                line.append(id, ticket: id)
                return false
            }
            underWay += 1
            return true
        }

        var isDeserted: Bool { underWay == 0 && line.isEmpty }

        mutating func leave() -> ID? {
            let next = line.popFirst()
            if next == nil { underWay -= 1 }
            return next
        }
    }

    /// How many origins to which nothing is under way are kept for the next time.
    private static let keptOrigins = 16

    let limit: Int
    private var origins: [String: Origin] = [:]
    /// Where those who wait stand.
    private var places: [ID: String] = [:]
    private var deadlines = Ranking<ID, Duration>()

    init(limit: Int) { self.limit = limit }

    var waitingCount: Int { places.count }
    /// When the first of those who wait must be sent away.
    var alarm: Duration? { deadlines.first?.rank }

    /// - Returns: Whether the transfer may go at once. If not, it waits until its deadline.
    mutating func arrive(_ id: ID, at origin: String, deadline: Duration) -> Bool {
        guard !origins[origin, default: Origin()].enter(id, limit: limit) else { return true }
        places[id] = origin
        deadlines.set(id, at: deadline)
        return false
    }

    /// One that was under way has ended.
    ///
    /// - Returns: The one that goes in its place, if any waits.
    mutating func leave(_ origin: String) -> ID? {
        guard let next = origins[origin]?.leave() else {
            if origins.count > Self.keptOrigins { forget(origin) }
            return nil
        }
        places[next] = nil
        deadlines.remove(next)
        return next
    }

    private mutating func forget(_ origin: String) {
        if origins[origin]?.isDeserted == true { origins[origin] = nil }
    }

    /// One that waits goes away.
    ///
    /// - Returns: Whether it did wait.
    mutating func withdraw(_ id: ID) -> Bool {
        guard let origin = places.removeValue(forKey: id) else { return false }
        deadlines.remove(id)
        origins[origin]?.line.remove(id)
        return true
    }

    /// The next one whose deadline has passed while it waited. It waits no longer.
    mutating func expire(at now: Duration) -> ID? {
        guard let id = deadlines.takeFirst(upTo: now) else { return nil }
        if let origin = places.removeValue(forKey: id) { origins[origin]?.line.remove(id) }
        return id
    }
}
