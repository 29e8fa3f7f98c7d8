import System

/// Who may go next.
///
/// Only so many transfers are under way to one origin; the others wait here, in order. (curl would
/// queue them as well, but keeps no deadline of whom it queues.) Whoever waits can go away for the
/// same price wherever they stand.
///
/// Where one connection may do for many, the first goes alone to make it, and the others wait for
/// that: but not for long, because it may never be made.
struct Admission {
    typealias ID = UInt64

    private struct Origin {
        var underWay = 0
        /// Whether the only one under way has no connection yet, and the others wait for it.
        var isAwaited = false
        var line = Line<ID, ID>()

        var isDeserted: Bool { underWay == 0 && line.isEmpty }

        private func hasPlace(_ limit: Int) -> Bool { underWay < limit && !isAwaited }

        mutating func enter(_ id: ID, limit: Int, mayShare: Bool) -> Bool {
            guard hasPlace(limit) else {
                line.append(id, ticket: id)
                return false
            }
            isAwaited = mayShare && underWay == 0
            underWay += 1
            return true
        }

        mutating func next(limit: Int) -> ID? {
            guard hasPlace(limit), let next = line.popFirst() else { return nil }
            underWay += 1
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
    /// Until when the first connection to each origin is waited for.
    private var awaited = Ranking<String, Duration>()

    init(limit: Int) { self.limit = limit }

    var waitingCount: Int { places.count }
    /// When the first of those who wait must be sent away, or has waited long enough for another.
    var alarm: Duration? {
        guard let patience = awaited.first?.rank else { return deadlines.first?.rank }
        return deadlines.first.map { min($0.rank, patience) } ?? patience
    }

    /// - Parameter patience: Until when others wait for the connection that this one makes, if it is
    ///   the first; `nil` if they could not share that connection.
    /// - Returns: Whether the transfer may go at once. If not, it waits until its deadline.
    mutating func arrive(
        _ id: ID,
        at origin: String,
        deadline: Duration,
        patience: Duration? = nil
    ) -> Bool {
        let mayShare = patience != nil
        guard origins[origin, default: Origin()].enter(id, limit: limit, mayShare: mayShare) else {
            places[id] = origin
            deadlines.set(id, at: deadline)
            return false
        }
        if let patience, isAwaited(origin) { awaited.set(origin, at: patience) }
        return true
    }

    /// Whether the one that went there first has no connection yet, and the others wait for it.
    func isAwaited(_ origin: String) -> Bool { origins[origin]?.isAwaited == true }

    /// There is a connection, or there will be none: nobody waits for it any longer.
    mutating func stopAwaiting(_ origin: String) {
        if awaited.remove(origin) { origins[origin]?.isAwaited = false }
    }

    /// The next origin whose first connection has been waited for long enough.
    mutating func losePatience(at now: Duration) -> String? {
        guard let origin = awaited.takeFirst(upTo: now) else { return nil }
        origins[origin]?.isAwaited = false
        return origin
    }

    /// One that was under way has ended.
    mutating func leave(_ origin: String) {
        stopAwaiting(origin)
        origins[origin]?.underWay -= 1
        if origins.count > Self.keptOrigins { forget(origin) }
    }

    private mutating func forget(_ origin: String) {
        if origins[origin]?.isDeserted == true { origins[origin] = nil }
    }

    /// - Returns: The next one that waits, if there is a place for it. It is under way from now on.
    mutating func next(at origin: String) -> ID? {
        guard let next = origins[origin]?.next(limit: limit) else { return nil }
        places[next] = nil
        deadlines.remove(next)
        return next
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
