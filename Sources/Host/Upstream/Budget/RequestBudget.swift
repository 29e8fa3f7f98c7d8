import Vault

/// Which requests an upstream is to see, and when.
///
/// One for each upstream host, because hosts count by where requests come from, whoever's they are.
/// It holds three things together: what the host has taught about how much it takes
/// (``LearntLimit``), when it asked to be left alone until, and whether it answers at all
/// (``Breaker``). Whoever has to wait does so in a line that is fair between accounts (``FairLine``).
///
/// A value without clock and tasks: whoever acts tells it the time, which is what has passed and
/// never the calendar's.
struct RequestBudget: Sendable {
    struct Ask: Hashable, Sendable {
        var account: String
        var pace: Pace
        /// For how long the asker would rather wait than be refused.
        var patience: Duration
        /// Somebody insists: it is tried although upstream did not answer just now. When upstream
        /// asked to be left alone, that holds all the same.
        var isForced = false
        /// Somebody waits for it, so it goes before those who have time, and beyond what was learnt.
        var isWaitedFor = false
        /// The same where nothing but a place is missing. That says nothing of upstream, so whoever
        /// has time had better stay in line.
        var patienceInLine: Duration? = nil

        fileprivate var kind: Kind {
            guard isWaitedFor else { return Kind(pace: pace, right: .none) }
            return Kind(pace: pace, right: isForced ? .insistent : .awaited)
        }
    }

    enum Answer: Hashable, Sendable {
        case go
        /// In line; a ``Turn`` will come.
        case wait
        case refused(Refusal)
    }

    enum Refusal: Error, Hashable {
        case throttled(until: Duration, Setback.Limit = .asked)
        case held(until: Duration)
        /// The asker itself has lost interest.
        case withdrawn
    }

    /// What became of one that had to wait.
    struct Turn: Hashable, Sendable {
        let ticket: Int
        let refusal: Refusal?
    }

    /// What became of one that was let through.
    enum Result: Hashable, Sendable {
        /// Upstream answered, be it with a refusal.
        case answered
        case throttled(RetryAfter?)
        case failed(isBan: Bool)
        /// Given up before anything could be learnt.
        case dropped

        var isFailure: Bool {
            if case .failed = self { return true }
            return false
        }
    }

    /// How many requests may be under way at once.
    let places: Int

    private struct Waiting: Sendable {
        let ask: Ask
        let since: Duration
        var giveUp: Duration { since + ask.patience }
        var leave: Duration { since + (ask.patienceInLine ?? ask.patience) }
    }

    /// Whoever is of one kind may go at the same moment, if there is a place.
    fileprivate struct Kind: Hashable, CaseIterable, Sendable {
        /// What is passed over because somebody waits: what was learnt, and even what is guessed.
        enum Right: CaseIterable { case none, awaited, insistent }

        let pace: Pace
        let right: Right

        static let allCases = Pace.allCases.flatMap { pace in
            Right.allCases.map { Kind(pace: pace, right: $0) }
        }
    }

    private struct Guess: Sendable {
        let until: Duration
        let made: Duration
        /// What was refused.
        let pace: Pace
    }

    private struct UnderWay: Sendable {
        let ask: Ask
        let since: Duration
        let isProbe: Bool
    }

    private var limits: [Pace: [LearntLimit]]
    /// What upstream has asked for, and what is guessed where it gave no time.
    private var asked: [Zone: Duration] = [:]
    private var guessed: [Zone: Guess] = [:]
    private var throttles: [Zone: Int] = [:]
    private(set) var breaker = Breaker()
    private var line = FairLine<Waiting, Kind>()
    private var underWay: [Int: UnderWay] = [:]

    init(places: Int = 64) {
        self.places = places
        limits = Dictionary(
            uniqueKeysWithValues: Pace.allCases.map { pace in
                (pace, LearntLimit.periods.map(LearntLimit.init))
            }
        )
    }

    var waitingCount: Int { line.count }
    var underWayCount: Int { underWay.count }

    /// Until when nobody is let through who does not insist, if that lies ahead.
    func notBefore(_ zone: Zone, at now: Duration) -> Duration? {
        [asked[zone], guessed[zone]?.until].compactMap(\.self).max().flatMap { $0 > now ? $0 : nil }
    }

    /// Until when nobody is at all, because upstream has asked for that.
    func askedUntil(_ zone: Zone, at now: Duration) -> Duration? {
        asked[zone].flatMap { $0 > now ? $0 : nil }
    }

    private func notBefore(_ kind: Kind, at now: Duration) -> Duration? {
        let zone = Zone(kind.pace)
        return switch kind.right {
        case .insistent: askedUntil(zone, at: now)
        case .none, .awaited: notBefore(zone, at: now)
        }
    }

    /// What was learnt of a kind, as requests per second.
    func rate(of pace: Pace) -> Double? {
        limits[pace]?.compactMap { limit in limit.count.map { $0 / (limit.period / .seconds(1)) } }
            .min()
    }
}

// MARK: - What happens

extension RequestBudget {
    /// - Returns: Whether it may go, and whose turn it became by the way.
    mutating func ask(_ ask: Ask, ticket: Int, at now: Duration) -> (answer: Answer, turns: [Turn])
    {
        if let until = notBefore(ask.kind, at: now), until > now + ask.patience {
            let isAsked = until == askedUntil(Zone(ask.pace), at: now)
            return (.refused(.throttled(until: until, isAsked ? .asked : .guessed)), [])
        }
        if let until = heldUntil(at: now), !ask.isForced {
            return (.refused(.held(until: until)), [])
        }
        let waiting = Waiting(ask: ask, since: now)
        if line.count == 0 || ask.isForced || ask.isWaitedFor,
            step(waiting, ticket: ticket, at: now)
        {
            return (.go, [])
        }
        line.append(
            waiting,
            ticket: ticket,
            account: ask.account,
            kind: ask.kind,
            until: waiting.giveUp
        )
        var turns = turns(at: now)
        guard let own = turns.firstIndex(where: { $0.ticket == ticket }) else {
            return (.wait, turns)
        }
        return (turns.remove(at: own).refusal.map { .refused($0) } ?? .go, turns)
    }

    /// Until when upstream counts as away, if it does.
    func heldUntil(at now: Duration) -> Duration? {
        switch breaker.state {
        case .closed: nil
        case .open(let until, _): until > now ? until : nil
        case .halfOpen: now + Breaker.probeTime
        }
    }

    /// The asker has lost interest while in line.
    mutating func withdraw(_ ticket: Int) {
        line.remove(ticket)
    }

    mutating func end(
        _ ticket: Int,
        _ result: Result,
        at now: Duration,
        chance: Double
    ) -> [Turn] {
        guard let ended = underWay.removeValue(forKey: ticket) else { return [] }
        switch result {
        case .answered:
            breaker.close()
            noteAcceptance(of: ended, at: now)
            for index in limits[ended.ask.pace, default: []].indices {
                limits[ended.ask.pace]?[index].note(at: now)
            }
        case .throttled(let retryAfter):
            breaker.close()
            learn(from: ended, retryAfter, at: now)
            postpone(ended.ask.pace, retryAfter, sent: ended.since, at: now, chance)
        case .failed(let isBan):
            breaker.fail(isProbe: ended.isProbe, isBan: isBan, at: now, chance: chance)
        case .dropped:
            if ended.isProbe { breaker.abandonProbe(at: now) }
        }
        return turns(at: now)
    }

    /// What was sent since shows that it takes something of the kind. That it answers other questions says nothing.
    private mutating func noteAcceptance(of ended: UnderWay, at now: Duration) {
        let zone = Zone(ended.ask.pace)
        guard let guess = guessed[zone], guess.until > now else {
            return throttles[zone] = nil
        }
        guard guess.made < ended.since, guess.pace == ended.ask.pace else { return }
        (guessed[zone], throttles[zone]) = (nil, nil)
    }

    /// Time has passed, as ``alarm`` wanted.
    mutating func ring(at now: Duration) -> [Turn] { turns(at: now) }

    /// The way to the host is another one now; what was found out about the old one means nothing.
    mutating func networkChanged(at now: Duration) -> [Turn] {
        breaker.tryAnew(at: now)
        return turns(at: now)
    }

    /// Takes up what was known before a restart.
    mutating func restore(notBefore times: [Zone: Duration]) {
        for (zone, time) in times { asked[zone] = time }
    }

    /// When somebody in line may go, or gives up, if nothing else happens before.
    mutating func alarm(at now: Duration) -> Duration? {
        let patience = line.firstDeadline
        let waits = line.kinds.map { wait(for: $0, at: now) }.filter { $0 > .zero }
        // With a wait of none it is a place that is missing, and that announces itself.
        guard let next = waits.min() else { return patience }
        return min(patience ?? now + next, now + next)
    }

    /// The same for one alone, who has just come.
    mutating func alarm(for ask: Ask, at now: Duration) -> Duration {
        let wait = wait(for: ask.kind, at: now)
        return now + (wait > .zero ? min(wait, ask.patience) : ask.patience)
    }
}

// MARK: - Who may go

extension RequestBudget {
    /// Everybody who may go now, in fair order, and everybody who need not wait any longer because
    /// upstream is away or their patience is at its end.
    private mutating func turns(at now: Duration) -> [Turn] {
        var turns: [Turn] = []
        while line.count > 0, heldUntil(at: now) == nil, let next = nextInLine(at: now) {
            _ = step(next.waiting, ticket: next.ticket, at: now)
            turns.append(Turn(ticket: next.ticket, refusal: nil))
        }
        guard line.count > 0 else { return turns }
        guard let until = heldUntil(at: now) else { return turns + impatient(at: now) }
        for ticket in line.tickets {
            line.remove(ticket)
            turns.append(Turn(ticket: ticket, refusal: .held(until: until)))
        }
        return turns
    }

    private mutating func nextInLine(at now: Duration) -> (ticket: Int, waiting: Waiting)? {
        guard underWay.count < places else { return nil }
        let free = line.kinds.filter { wait(for: $0, at: now) == .zero }
        return line.next(of: free.filter { $0.right != .none }) ?? line.next(of: free)
    }

    private func limit(of zone: Zone, at now: Duration) -> Setback.Limit {
        if askedUntil(zone, at: now) != nil { return .asked }
        return notBefore(zone, at: now) == nil ? .paced : .guessed
    }

    private mutating func impatient(at now: Duration) -> [Turn] {
        var turns: [Turn] = []
        while let (ticket, waiting) = line.overdue(at: now) {
            let wait = wait(for: waiting.ask.kind, at: now)
            if wait == .zero, waiting.leave > now {
                line.postpone(ticket, until: waiting.leave)
                continue
            }
            line.remove(ticket)
            let limit = limit(of: Zone(waiting.ask.pace), at: now)
            let refusal = Refusal.throttled(until: now + wait, limit)
            turns.append(Turn(ticket: ticket, refusal: refusal))
        }
        return turns
    }

    /// Lets one through if nothing is in the way.
    private mutating func step(_ waiting: Waiting, ticket: Int, at now: Duration) -> Bool {
        let ask = waiting.ask
        guard underWay.count < places, wait(for: ask.kind, at: now) == .zero else { return false }
        let admission = breaker.admit(isForced: ask.isForced, at: now)
        if case .hold = admission { return false }
        for index in limits[ask.pace, default: []].indices {
            limits[ask.pace]?[index].take(at: now)
        }
        underWay[ticket] = UnderWay(ask: ask, since: now, isProbe: admission == .probe)
        return true
    }

    /// How long nobody of that kind may go, even if there is a place.
    private mutating func wait(for kind: Kind, at now: Duration) -> Duration {
        let closed = notBefore(kind, at: now).map { $0 - now } ?? .zero
        return kind.right == .none ? max(closed, learntWait(for: kind.pace, at: now)) : closed
    }

    private mutating func learntWait(for pace: Pace, at now: Duration) -> Duration {
        var wait = Duration.zero
        for index in limits[pace, default: []].indices {
            wait = max(wait, limits[pace]?[index].wait(at: now) ?? .zero)
        }
        return wait
    }
}

// MARK: - What is learnt

extension RequestBudget {
    /// Which of the periods was exceeded is not said. Whoever may come again soon has been too fast, and has not come
    /// too often for long, unless a longer period is known to have a limit and may be at its end; without a word
    /// of that it is a lesson for all.
    private mutating func learn(
        from ended: UnderWay,
        _ retryAfter: RetryAfter?,
        at now: Duration
    ) {
        let taught = retryAfter.map { LearntLimit.period(ended: .seconds($0.seconds)) }
        for index in limits[ended.ask.pace, default: []].indices {
            guard let limit = limits[ended.ask.pace]?[index] else { continue }
            let isTaught =
                taught.map { $0 == limit.period || $0 < limit.period && limit.count != nil } ?? true
            guard isTaught else { continue }
            limits[ended.ask.pace]?[index].learn(sent: ended.since, at: now)
        }
    }

    /// Never before what upstream said. Where it said nothing, a wait that doubles each time.
    private mutating func postpone(
        _ pace: Pace,
        _ retryAfter: RetryAfter?,
        sent: Duration,
        at now: Duration,
        _ chance: Double
    ) {
        let zone = Zone(pace)
        // Those that were under way together are refused together, for one and the same reason.
        let isNew = notBefore(zone, at: now).map { sent > $0 } ?? true
        if isNew { throttles[zone, default: 0] += 1 }
        let turns = throttles[zone, default: 1]
        if let retryAfter {
            let wait = max(Duration.seconds(retryAfter.seconds), .seconds(1))
            asked[zone] = max(asked[zone] ?? .zero, now + wait)
        } else {
            let doubled = min(Self.firstWait * (1 << min(turns - 1, 10)), Self.longestWait)
            let until = now + doubled * (0.5 + chance / 2)
            let end = max(guessed[zone]?.until ?? .zero, until)
            guessed[zone] = Guess(until: end, made: now, pace: pace)
        }
    }

    static let firstWait = Duration.seconds(30)
    static let longestWait = Duration.seconds(900)
}
