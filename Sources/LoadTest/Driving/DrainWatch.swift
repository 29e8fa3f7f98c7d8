/// Follows the queue from the moment at which the server is back.
struct DrainWatch: Sendable {
    private let waiting: Int
    private let begun: Duration
    private(set) var last: Int
    /// When the number last changed, and when it first did.
    private var moved: Duration
    private var first: Duration?
    /// When no more than one in twenty was left.
    private var mostGone: Duration?
    private var ended: Duration

    init(_ waiting: Int, at now: Duration) {
        (self.waiting, last) = (waiting, waiting)
        (begun, moved, ended) = (now, now, now)
    }

    mutating func note(_ count: Int, at now: Duration) {
        if count != last {
            moved = now
            if first == nil { first = now }
        }
        last = count
        ended = now
        if mostGone == nil, count <= waiting / 20 { mostGone = now }
    }

    func restedSince(_ now: Duration) -> Duration { now - moved }

    var drain: LoadReport.Drain {
        var drain = LoadReport.Drain()
        let start = first ?? begun
        drain.changes = waiting
        drain.secondsUntilFirst = (start - begun).inSeconds
        drain.seconds = max(0.001, ((mostGone ?? ended) - start).inSeconds)
        drain.secondsUntilLast = (ended - start).inSeconds
        return drain
    }
}

extension LoadReport.Drain {
    /// Of several rounds.
    mutating func add(_ other: Self) {
        changes += other.changes
        secondsUntilFirst += other.secondsUntilFirst
        seconds += other.seconds
        secondsUntilLast += other.secondsUntilLast
    }
}
