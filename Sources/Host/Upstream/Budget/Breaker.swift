/// Keeps requests from an upstream that does not answer, and lets one through now and then to see.
struct Breaker: Hashable, Sendable {
    enum State: Hashable, Sendable {
        case closed(failures: Int)
        /// Nobody is let through until then; `turns` is how often that has been so in a row.
        case open(until: Duration, turns: Int)
        /// One is under way to see.
        case halfOpen(turns: Int)
    }

    enum Kind: String, CaseIterable, Hashable, Sendable {
        case closed, open, halfOpen
    }

    enum Admission: Hashable, Sendable {
        case pass
        /// It is the one that is let through to see; what becomes of it decides.
        case probe
        case hold(until: Duration)
    }

    private(set) var state = State.closed(failures: 0)
    /// A guard wants us gone until then.
    private(set) var bannedUntil: Duration?

    var kind: Kind {
        switch state {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    /// - Parameter isForced: Somebody insists: it is tried at once, even if another is under way.
    mutating func admit(isForced: Bool, at now: Duration) -> Admission {
        switch state {
        case .closed:
            return .pass
        case .open(let until, let turns):
            guard isForced || now >= until else { return .hold(until: until) }
            state = .halfOpen(turns: turns)
            return .probe
        case .halfOpen:
            return isForced ? .probe : .hold(until: now + Self.probeTime)
        }
    }

    /// Upstream answered, whatever it said.
    mutating func close() {
        state = .closed(failures: 0)
        bannedUntil = nil
    }

    /// The way there is another one now. A guard stands at its end as well.
    mutating func tryAnew(at now: Duration) {
        if let bannedUntil, bannedUntil > now { return }
        close()
    }

    /// Upstream did not answer, or something else did.
    ///
    /// - Parameters:
    ///   - isBan: It was the page of a guard that wants us gone: going on would prolong it.
    ///   - chance: From 0 to 1; half of every wait is random, so that hosts do not come in step.
    mutating func fail(isProbe: Bool, isBan: Bool, at now: Duration, chance: Double) {
        switch state {
        case .closed(let failures) where failures + 1 < Self.patience && !isBan:
            state = .closed(failures: failures + 1)
        case .closed:
            open(turns: 1, isBan: isBan, at: now, chance: chance)
        case .halfOpen(let turns) where isProbe:
            open(turns: turns + 1, isBan: isBan, at: now, chance: chance)
        case .halfOpen, .open:
            break
        }
    }

    /// The one that was to see has come back without having seen anything.
    mutating func abandonProbe(at now: Duration) {
        guard case .halfOpen(let turns) = state else { return }
        state = .open(until: now, turns: turns)
    }

    private mutating func open(turns: Int, isBan: Bool, at now: Duration, chance: Double) {
        let doubled = Self.firstWait * (1 << min(turns - 1, 10))
        let wait = isBan ? Self.banWait : min(doubled, Self.longestWait)
        let until = now + wait * (0.5 + chance / 2)
        state = .open(until: until, turns: turns)
        bannedUntil = isBan ? until : nil
    }

    /// So many failures in a row.
    static let patience = 5
    static let firstWait = Duration.seconds(2)
    /// While anything waits, upstream is looked for at least this often.
    static let longestWait = Duration.seconds(30)
    static let banWait = Duration.seconds(1_800)
    /// How long it is thought to take until a probe has its answer.
    static let probeTime = Duration.seconds(1)
}
