internal import System

/// What is believed about the way to an upstream, and when it is to be probed.
///
/// The last word counts. One call that nobody answers makes it offline, because the next caller is
/// not to wait as long for the same; one answer makes it online again, so a single lost call costs
/// the others no more than the time until anybody is answered, or a probe is. An answer that says
/// "later" makes it degraded.
///
/// A probe goes out at once when a drill has ended, and when something waits and upstream was never
/// heard; when the links have changed, soon, for they may come and go all the time; and a few seconds
/// after somebody has come who relies on upstream, if nobody has asked it anything. Otherwise probes go
/// out only while upstream is not online and something waits or somebody was refused: the first a few
/// seconds after the loss, the others at growing distances,
/// never more than half a minute apart.
struct NetworkBelief: Hashable, Sendable {
    /// In seconds; half of the distance is chance.
    static let shortestProbe = 10.0
    static let widestProbes = 30.0

    struct Turn: Hashable, Sendable {
        let state: NetworkState
        /// Whoever waited for the network may go on.
        let hasReturned: Bool
        /// It was out of reach since it was online last, and not just troubled.
        let wasAway: Bool
    }

    private(set) var isDrill = false
    private(set) var isProbing = false
    /// The probe under way asks by a way that is no more. That it finds nobody means nothing.
    private var isProbeOutdated = false
    /// When to probe, if at all.
    private(set) var nextProbe: Duration?
    private var heard = NetworkState.online
    /// Whether upstream was asked anything since the start, and something came of it.
    private var hasHeard = false
    private var somethingWaits = false
    private var wasAway = false
    private var fruitlessProbes = 0
    private var lastProbe: Duration?

    var state: NetworkState { isDrill && !mutated(.ignoresDrill) ? .offline : heard }

    /// Whether there is nothing to be found out: after a drill there is.
    private(set) var isKnown = true

    /// - Returns: What has changed, if anything.
    mutating func hear(_ evidence: Evidence, at now: Duration, chance: Double) -> Turn? {
        // What was in vain after a drill may have begun before it.
        guard isKnown || evidence == .answered else { return nil }
        return learn(evidence, at: now, chance: chance)
    }

    private mutating func learn(_ evidence: Evidence, at now: Duration, chance: Double) -> Turn? {
        turn { belief in
            // What is heard in a drill was under way when it began.
            guard !belief.isDrill || mutated(.ignoresDrill) else { return }
            belief.hasHeard = true
            switch evidence {
            case .answered: belief.heard = .online
            case .troubled: belief.heard = .degraded
            case .unreachable: belief.heard = .offline
            }
            belief.isKnown = true
            if belief.heard == .online { belief.fruitlessProbes = 0 }
            belief.plan(at: now, chance: chance)
        }
    }

    /// What was found out about the old way means nothing on a new one. An upstream that answers is asked no more
    /// often than it lets itself be asked, however often they change.
    mutating func linksChanged(at now: Duration) {
        guard !isDrill else { return }
        let moment = earliestProbe(
            heard == .offline ? Self.pauseIfAway : Self.pauseIfThere,
            at: now
        )
        probeAnew(at: min(nextProbe ?? moment, moment))
    }

    private func earliestProbe(_ pause: Duration, at now: Duration) -> Duration {
        max(now, lastProbe.map { $0 + pause } ?? now)
    }

    /// After a probe that nobody has answered.
    private static let pauseIfAway = Duration.seconds(2)
    /// Bitwarden's cloud answers five in a minute.
    private static let pauseIfThere = Duration.seconds(15)

    mutating func drill(_ isOn: Bool, at now: Duration) -> Turn? {
        guard isOn != isDrill else { return nil }
        return turn { belief in
            belief.isDrill = isOn
            // Afterwards nobody knows, and the probe is to tell.
            belief.heard = .offline
            belief.isKnown = isOn
            if isOn { belief.nextProbe = nil } else { belief.probeAnew(at: now) }
        }
    }

    private mutating func probeAnew(at moment: Duration) {
        fruitlessProbes = 0
        nextProbe = moment
        isProbeOutdated = isProbing
    }

    /// Somebody relies on upstream. If nobody asks it anything soon, nothing is known of it.
    mutating func reliedOn(at now: Duration, chance: Double) {
        guard !hasHeard, !isDrill, !isProbing, nextProbe == nil else { return }
        nextProbe = now + Self.firstQuestion * (0.5 + 0.5 * chance)
    }

    private static let firstQuestion = Duration.seconds(5)

    mutating func wait(_ something: Bool, at now: Duration, chance: Double) {
        guard something != somethingWaits else { return }
        somethingWaits = something
        plan(at: now, chance: chance)
        if something, !hasHeard, !isDrill, !isProbing { nextProbe = now }
    }

    /// Somebody was refused because upstream is away, and asks nobody else whether it still is.
    mutating func refused(at now: Duration, chance: Double) {
        guard heard == .offline, !isDrill else { return }
        planProbe(at: now, chance: chance)
    }

    /// - Returns: Whether to probe now.
    mutating func takesProbe(at now: Duration) -> Bool {
        guard let nextProbe, nextProbe <= now, !isProbing, !isDrill else { return false }
        isProbing = true
        lastProbe = now
        self.nextProbe = nil
        return true
    }

    /// - Parameter evidence: Nil if the probe could not be sent. Then nothing is known that was not before.
    mutating func probed(_ evidence: Evidence?, at now: Duration, chance: Double) -> Turn? {
        isProbing = false
        if isProbeOutdated {
            isProbeOutdated = false
            guard evidence == .answered else {
                // It has reached nobody, and the next one is to say soon whether that goes on.
                if evidence == .unreachable {
                    nextProbe = nextProbe.map { min($0, earliestProbe(Self.pauseIfAway, at: now)) }
                }
                return nil
            }
        }
        if evidence != .answered { fruitlessProbes += 1 }
        guard let evidence else {
            if isKnown { plan(at: now, chance: chance) } else { planProbe(at: now, chance: chance) }
            return nil
        }
        return learn(evidence, at: now, chance: chance)
    }

    private mutating func turn(_ change: (inout NetworkBelief) -> Void) -> Turn? {
        let before = state
        change(&self)
        guard state != before else { return nil }
        if state == .offline { wasAway = true }
        defer { if state == .online { wasAway = false } }
        return Turn(state: state, hasReturned: state == .online, wasAway: wasAway)
    }

    /// A probe that is planned already stays as it is.
    private mutating func plan(at now: Duration, chance: Double) {
        guard somethingWaits, heard != .online, !isDrill else {
            nextProbe = nil
            return
        }
        planProbe(at: now, chance: chance)
    }

    private mutating func planProbe(at now: Duration, chance: Double) {
        guard nextProbe == nil, !isProbing else { return }
        let whole = min(Self.shortestProbe * Double(fruitlessProbes + 1), Self.widestProbes)
        let distance = Duration.milliseconds(Int64(whole * (0.5 + 0.5 * chance) * 1_000))
        let last = fruitlessProbes > 0 ? lastProbe ?? now : now
        nextProbe = max(now, last + distance)
    }
}
