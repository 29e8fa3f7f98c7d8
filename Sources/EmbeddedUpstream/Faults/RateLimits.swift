import HTTP
import Vault

/// How often a client may call, counted for each verb and path. Off unless asked for: servers of
/// one's own have none, and a load test wants none.
struct RateLimits: Sendable {
    /// So many calls in so many seconds.
    struct Rule: Sendable, Hashable {
        let calls: Int
        let seconds: Int64
    }

    private struct Counter: Sendable {
        var begun: Moment
        var calls = 0
    }

    private struct Key: Hashable {
        let subject: String
        let rule: Rule
    }

    var isOn = false
    private var counters: [Key: Counter] = [:]

    /// - Returns: The rule that is broken, and how long that lasts.
    mutating func breach(
        by call: Call,
        _ personality: Personality
    ) -> (rule: Rule, secondsLeft: Int64)? {
        guard isOn else { return nil }
        let path = call.target.segments.joined(separator: "/").lowercased()
        var breach: (rule: Rule, secondsLeft: Int64)?
        for rule in personality.rules(for: call.method, path) {
            let key = Key(subject: "\(call.method) \(path)", rule: rule)
            let left = count(key, at: call.now)
            if let left, breach.map({ $0.secondsLeft < left }) ?? true { breach = (rule, left) }
        }
        return breach
    }

    private mutating func count(_ key: Key, at now: Moment) -> Int64? {
        var counter = counters[key] ?? Counter(begun: now)
        let end = counter.begun.advanced(bySeconds: key.rule.seconds)
        if now >= end || now < counter.begun { counter = Counter(begun: now) }
        counter.calls += 1
        counters[key] = counter
        guard counter.calls > key.rule.calls else { return nil }
        return max(1, (end.ticks - now.ticks) / Moment.ticksPerSecond)
    }
}

extension Personality {
    /// One server limits every call; the other only log-ins.
    fileprivate func rules(for method: HTTP.Method, _ path: String) -> [RateLimits.Rule] {
        guard name == .bitwarden else {
            return path == "identity/connect/token" ? [.init(calls: 10, seconds: 60)] : []
        }
        switch path {
        case "identity/connect/token", "identity/accounts/prelogin",
            "identity/accounts/prelogin/password":
            return [.init(calls: 10, seconds: 60)]
        case "api/alive": return [.init(calls: 5, seconds: 60)]
        case _ where method == .get: return [.init(calls: 200, seconds: 60)]
        default: return [.init(calls: 5, seconds: 1), .init(calls: 60, seconds: 60)]
        }
    }

    /// - Parameter seconds: Only one of the servers says it.
    func refusal(of rule: RateLimits.Rule, secondsLeft seconds: Int64) -> Reply {
        guard name == .bitwarden else {
            return .vaultwarden("Too many login requests", .tooManyRequests)
        }
        let period = rule.seconds == 1 ? "1s" : "1m"
        var reply = Reply.bitwarden(
            "Slow down! Too many requests. Try again in \(period).",
            .tooManyRequests
        )
        reply.headers["Retry-After"] = String(seconds)
        return reply
    }
}
