/// Follows the queue from the moment at which the server is back.
struct DrainWatch: Sendable {
    private let waiting: Int
    private let begun: Duration
    private(set) var last: Int
    /// When the number last changed.
    private var moved: Duration
    /// The last look at which nothing had gone. What had gone by the next one went after it.
    private var start: Duration
    private var hasBegun = false
    /// The first look at which no more than one in twenty was left.
    private var mostGone: (count: Int, seconds: Double)?
    private var ended: Duration

    init(_ waiting: Int, at now: Duration) {
        (self.waiting, last) = (waiting, waiting)
        (begun, moved, start, ended) = (now, now, now, now)
    }

    mutating func note(_ count: Int, at now: Duration) {
        if count != last { moved = now }
        last = count
        ended = now
        hasBegun = hasBegun || count < waiting
        if !hasBegun { start = now }
        guard mostGone == nil, count <= waiting / 20, now > start else { return }
        mostGone = (count: waiting - count, seconds: (now - start).inSeconds)
    }

    func restedSince(_ now: Duration) -> Duration { now - moved }

    var drain: LoadReport.Drain {
        var drain = LoadReport.Drain()
        drain.changes = waiting
        drain.secondsUntilFirst = (start - begun).inSeconds
        drain.seconds = mostGone?.seconds
        drain.gone = mostGone?.count ?? 0
        drain.secondsUntilLast = (ended - start).inSeconds
        return drain
    }
}

extension LoadReport.Drain {
    /// Of several rounds.
    func adding(_ other: Self) -> Self {
        var sum = self
        sum.changes += other.changes
        sum.removals += other.removals
        sum.secondsUntilFirst += other.secondsUntilFirst
        if let more = other.seconds { sum.seconds = (seconds ?? 0) + more }
        sum.gone += other.gone
        sum.secondsUntilLast += other.secondsUntilLast
        return sum
    }
}
