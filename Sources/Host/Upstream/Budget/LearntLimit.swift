/// How many requests of a kind an upstream takes in a period, as far as its refusals have taught.
///
/// Nothing is known at first, and nothing is limited. A refusal for coming too often teaches that what
/// was answered in the period before is all there is. From then on a token bucket lets that much
/// through, and a little more every quiet period, until a refusal takes it back; after an hour without
/// one, nothing is limited any more.
struct LearntLimit: Hashable, Sendable {
    /// What is known of an upstream is known for each of these.
    static let periods: [Duration] = [.seconds(1), .seconds(10), .seconds(60)]

    /// Of which period there was too much, where it is over after that time.
    static func period(ended time: Duration) -> Duration {
        periods.first { time <= $0 } ?? periods[periods.count - 1]
    }

    let period: Duration
    /// How many may go in a period; nil while nothing was learnt.
    private(set) var count: Double?
    private var tokens = 0.0
    private var updated = Duration.zero
    private var learnt = Duration.zero
    private var grown = Duration.zero
    private var recent: RecentCount

    init(period: Duration) {
        self.period = period
        recent = RecentCount(period: period)
    }

    /// How long until one more may go; zero if it may now.
    mutating func wait(at now: Duration) -> Duration {
        refill(at: now)
        guard let count, tokens < 1 else { return .zero }
        return period * ((1 - tokens) / (count * Self.share)) + .nanoseconds(1)
    }

    /// Whoever goes although nothing is left leaves no debt to those who wait: what was learnt may have been
    /// taken from whatever happened to be answered just then.
    mutating func take(at now: Duration) {
        refill(at: now)
        tokens = max(0, tokens - 1)
    }

    /// Upstream answered one, and did not mind.
    mutating func note(at now: Duration) {
        recent.add(at: now)
    }

    /// One that was let through at `sent` was refused for being one too many. Those that were sent
    /// before the last lesson teach nothing more.
    mutating func learn(sent: Duration, at now: Duration) {
        guard count == nil || sent > learnt else { return }
        let taken = Double(recent.count(at: now))
        // Of so few it cannot be told how many would be too many.
        if count == nil, taken < fewest { return }
        count = max(least, min(taken, count.map { $0 * Self.backingOff } ?? taken))
        (learnt, grown, updated, tokens) = (now, now, now, 0)
    }

    /// Below that a refusal only says until when to wait.
    private var fewest: Double { period <= .seconds(1) ? 2 : 10 }

    /// Others may use up what the host grants to all of us together; something always goes.
    private var least: Double { max(1, period / .seconds(10)) }

    private mutating func refill(at now: Duration) {
        guard let known = count else { return }
        if now - learnt >= Self.memory {
            count = nil
            return
        }
        let burst = max(1, known * (1 - Self.share))
        tokens = min(burst, tokens + known * Self.share * ((now - updated) / period))
        updated = now
        let steps = ((now - grown) / quiet).rounded(.down)
        guard steps >= 1 else { return }
        count = known + steps * max(1, known * growth)
        grown += quiet * Int(steps)
    }

    /// What is allowed in seconds is soon found again: the first lesson is taken from whatever happened to be
    /// answered just then, and one too many costs no more than those. What is allowed in a minute is not.
    private var isShort: Bool { period < .seconds(60) }
    private var quiet: Duration { isShort ? period * 2 : max(period, .seconds(60)) }
    private var growth: Double { isShort ? 0.1 : 0.05 }

    /// What flows in steadily; the rest of a period's count may come at once.
    private static let share = 0.9
    private static let backingOff = 0.7
    private static let memory = Duration.seconds(3_600)
}

/// How many there were in the period up to now, counted in sixty steps.
struct RecentCount: Hashable, Sendable {
    private let step: Duration
    private var counts = [Int](repeating: 0, count: 60)
    private var current = 0

    init(period: Duration) {
        step = period / 60
    }

    mutating func add(at now: Duration) {
        counts[advance(to: now)] += 1
    }

    mutating func count(at now: Duration) -> Int {
        advance(to: now)
        return counts.reduce(0, +)
    }

    @discardableResult
    private mutating func advance(to now: Duration) -> Int {
        let index = Int(now / step)
        if index - current >= counts.count {
            counts = [Int](repeating: 0, count: counts.count)
        } else if index > current {
            for old in (current + 1)...index { counts[old % counts.count] = 0 }
        }
        current = max(current, index)
        return current % counts.count
    }
}
