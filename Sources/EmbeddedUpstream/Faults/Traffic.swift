import HTTP
import Vault

/// What the server is asked, and how much of it, all clients together.
public struct Traffic: Hashable, Sendable {
    /// By the operation's name.
    public private(set) var calls: [String: Int] = [:]
    /// How many of them came in a second in which the server took no more.
    public private(set) var refused = 0
    /// The most that came in one second of the server's clock.
    public private(set) var busiestSecond = 0
    /// How many it takes in a second; nil means all.
    public internal(set) var limit: Int?
    private var second: Int64 = 0
    private var inSecond = 0
    /// How many of these were forgotten.
    private var forgotten = 0

    init() {}

    public var total: Int { calls.values.reduce(0, +) }

    /// - Returns: Whether the server takes it.
    mutating func admit(_ operation: Operation, at now: Moment) -> Bool {
        calls[operation.rawValue, default: 0] += 1
        let current = now.ticks / Moment.ticksPerSecond
        if current != second { (second, inSecond, forgotten) = (current, 0, 0) }
        inSecond += 1
        busiestSecond = max(busiestSecond, inSecond - forgotten)
        guard let limit, inSecond > limit else { return true }
        refused += 1
        return false
    }

    /// Counts from nothing on; the limit stays, and knows what came in this second.
    mutating func forget() {
        var fresh = Traffic()
        (fresh.limit, fresh.second) = (limit, second)
        (fresh.inSecond, fresh.forgotten) = (inSecond, inSecond)
        self = fresh
    }
}

extension Personality {
    /// What a proxy before the server says to whoever comes too much.
    var tooMuchTraffic: Reply {
        var reply = refusal(of: RateLimits.Rule(calls: 0, seconds: 1), secondsLeft: 1)
        reply.headers["Retry-After"] = "1"
        return reply
    }
}
