internal import System

/// When an account is synced next, and why.
///
/// Everybody who wants a run leaves a wish for a moment; the earliest counts. What stands in the way
/// is kept apart from what is wanted: upstream's own "not before", which nobody passes, and the
/// backoff after failures, which only news of the network and people pass.
///
/// All moments are times that have passed, never the calendar's.
public struct Agenda: Hashable, Sendable {
    /// Why a run is wanted.
    public enum Occasion: String, CaseIterable, Hashable, Sendable {
        case interval, signedIn, unlocked, networkReturned, queued, upstreamChanged
        /// The line on which upstream tells what happens is back.
        case reconnected
        /// The account is on another server, which has neither failed nor asked for anything.
        case moved
        /// A change has waited long enough.
        case due
        /// The last run failed.
        case retry
        /// An answer was hard to believe and is asked for again.
        case secondLook
        /// There was more to do than one run does.
        case remainder
        /// Nothing moved, and nobody knows why.
        case standstill
        /// Somebody asked and waits for the answer.
        case asked

        /// Whether earlier failures say nothing about it.
        var passesBackoff: Bool {
            switch self {
            case .networkReturned, .signedIn, .moved, .standstill, .asked: true
            case .interval, .unlocked, .queued, .upstreamChanged, .reconnected, .due, .retry,
                .secondLook, .remainder:
                false
            }
        }
    }

    /// How a run ended, as far as it decides about the next.
    public enum Ending: Hashable, Sendable {
        /// Nothing is left to do.
        case done
        /// Upstream answered; some changes wait for their own time.
        case waiting
        /// Upstream, or what lies before it, failed; it may have said until when it wants to be left
        /// alone, or until when it is not tried.
        case failed(Pause?)
        /// The same, once it had taken some of what waits: it is there, and fails now and then.
        case interrupted
        /// Upstream was not asked, because it takes only so much at a time, and not before then.
        case paced(until: Duration)
        /// The answer is to be looked at once more.
        case doubted
        /// Only a person can help, by signing in.
        case signedOut
        /// There was no time for all of it.
        case unfinished
        /// It was given up before anything was found out.
        case untouched
    }

    public enum Pause: Hashable, Sendable {
        /// Upstream's own word: nobody asks before.
        case throttled(until: Duration)
        /// Nobody would be let through before.
        case held(until: Duration)

        fileprivate var isThrottle: Bool {
            if case .throttled = self { return true }
            return false
        }
    }

    /// A wait after failures.
    public struct Wait: Hashable, Sendable {
        public let until: Duration
        public let length: Duration
        /// Until when what is new waits, too: what is due later is not its concern.
        let newUntil: Duration

        public init(until: Duration, length: Duration) {
            self.init(until: until, length: length, newUntil: until)
        }

        init(until: Duration, length: Duration, newUntil: Duration) {
            (self.until, self.length, self.newUntil) = (until, length, newUntil)
        }

        /// The same where something new has come.
        var cutShort: Wait { Wait(until: newUntil, length: length - (until - newUntil)) }
    }

    public let interval: Duration
    /// Before this nobody asks upstream anything.
    public private(set) var hold: Duration?
    public private(set) var wait: Wait?
    /// How many runs in a row failed for upstream's sake.
    public private(set) var failures: Int64 = 0
    private var wishes: [Occasion: Duration] = [:]
    /// What the look answers that the run has taken.
    private var answered: [Occasion: Duration] = [:]
    /// The last run that began because the network had returned, and how many of those in a row came
    /// to nothing. A line that comes and goes is no reason to ask as often.
    private var lastReturn: Duration?
    private var fruitlessReturns: Int64 = 0
    private var current: Occasion?

    public init(interval: Duration) {
        self.interval = interval
    }
}

extension Agenda {
    /// Upstream's wish to be left alone is heeded for this long at most; then it is asked anew.
    public static let longestHold = Duration.seconds(3_600)
    /// Events come in flocks, and one run serves them all.
    public static let flock = Duration.seconds(1)
    /// A first answer that is hard to believe is asked for again no earlier.
    public static let secondThought = Duration.seconds(Belief.secondThought + 1)

    /// What comes next, or would if a run were not under way.
    public var next: (moment: Duration, occasion: Occasion)? {
        wishes.map { (moment: gate($0.value, $0.key), occasion: $0.key) }
            .min { ($0.moment, $0.occasion.rawValue) < ($1.moment, $1.occasion.rawValue) }
    }

    private func gate(_ moment: Duration, _ occasion: Occasion) -> Duration {
        let moment = max(moment, hold ?? moment)
        return occasion.passesBackoff ? moment : max(moment, wait?.until ?? moment)
    }

    /// The occasion of a run that is due.
    public func occasion(at now: Duration) -> Occasion? {
        next.flatMap { $0.moment <= now ? $0.occasion : nil }
    }

    /// Until when nobody asks upstream anything, if that lies ahead.
    public func hold(at now: Duration) -> Duration? { hold.flatMap { $0 > now ? $0 : nil } }
}

// MARK: - What happens

extension Agenda {
    /// - Parameter isOnline: Whether upstream can be reached, as far as is known.
    public mutating func note(
        _ occasion: Occasion,
        at now: Duration,
        isOnline: Bool = true,
        chance: Double = 0
    ) {
        if occasion == .queued { wait = wait?.cutShort }
        switch occasion {
        case .upstreamChanged, .reconnected: wish(occasion, at: now + Self.flock)
        case .queued where !isOnline: waitWithQueued(at: now, chance: chance)
        case .queued: wish(occasion, at: now + Self.flock)
        case .networkReturned: wish(occasion, at: max(now, earliestReturn))
        case .signedIn:
            failures = 0
            wait = nil
            wish(occasion, at: now)
        case .moved:
            (failures, wait, hold) = (0, nil, nil)
            wish(occasion, at: now)
        case .interval, .unlocked, .due, .retry, .secondLook, .remainder, .standstill, .asked:
            wish(occasion, at: now)
        }
    }

    /// It waits like what was sent in vain: until then nothing else is tried, but what is tried already or owed.
    private mutating func waitWithQueued(at now: Duration, chance: Double) {
        let length = Backoff.wait(after: max(failures, 1), chance: chance)
        let isOwed = occasion(at: now) != nil || current != nil
        wish(.queued, at: now + length)
        guard !isOwed, wait.map({ $0.until <= now }) ?? true else { return }
        wait = Wait(until: now + length, length: length)
    }

    /// When what was queued last goes, if nothing else happens.
    public var nextQueued: Duration? { wishes[.queued].map { gate($0, .queued) } }

    private var earliestReturn: Duration {
        guard let lastReturn, fruitlessReturns > 0 else { return .zero }
        return lastReturn + Backoff.wait(after: fruitlessReturns, chance: 1)
    }

    private mutating func wish(_ occasion: Occasion, at moment: Duration) {
        wishes[occasion] = min(moment, wishes[occasion] ?? moment)
    }

    /// Takes up what was planned before a restart. Nothing is wanted earlier than `interval`, unless
    /// by a change whose time has come.
    public mutating func restore(
        hold: Duration?,
        wait: Wait?,
        failures: Int64,
        due: Duration?,
        secondLook: Duration? = nil,
        interval: Duration,
        at now: Duration
    ) {
        self.failures = failures
        self.hold = hold.map { min($0, now + Self.longestHold) }
        self.wait = wait
        wishes[.interval] = interval
        wishes[.due] = due
        wishes[.secondLook] = secondLook
        keepRetry(at: now)
    }

    /// A run begins, and serves every wish there is, but for news that cannot be seen yet; see ``look(at:)``. What
    /// is wished from now on is for the next.
    public mutating func begin(_ occasion: Occasion, at now: Duration) {
        let early = wishes[.upstreamChanged].flatMap { $0 > now ? $0 : nil }
        (wishes, answered) = ([:], [:])
        wishes[.upstreamChanged] = early
        current = occasion
        if occasion == .networkReturned { lastReturn = now }
    }

    /// One change is tried because somebody asked for that, which is nothing that others wait for.
    public mutating func beginRetry() {
        answered = [:]
        current = .asked
    }

    /// The run is about to ask upstream whether anything is new. What was missed until then, the answer shows; what
    /// was told, too, unless that was just now: it may be told before it can be seen.
    public mutating func look(at now: Duration) {
        for (occasion, moment) in wishes {
            switch occasion {
            case .reconnected: break
            case .upstreamChanged where moment <= now: break
            case .interval, .signedIn, .unlocked, .networkReturned, .queued, .upstreamChanged,
                .moved, .due, .retry, .secondLook, .remainder, .standstill, .asked:
                continue
            }
            answered[occasion] = moment
            wishes[occasion] = nil
        }
    }

    /// A look that came to nothing has answered nothing.
    private mutating func noteLook(_ ending: Ending) {
        defer { answered = [:] }
        switch ending {
        case .done, .waiting, .unfinished: break
        case .failed, .interrupted, .paced, .doubted, .signedOut, .untouched:
            for (occasion, moment) in answered { wish(occasion, at: moment) }
        }
    }

    /// - Parameters:
    ///   - due: When the next change may be tried on its own account, if one waits.
    ///   - waitsForDue: Whether a run before that would have nothing to do.
    ///   - chance: From 0 up to, but not including, 1.
    /// - Returns: The wait that this end has brought, if any.
    @discardableResult
    public mutating func end(
        _ ending: Ending,
        due: Duration?,
        waitsForDue: Bool = false,
        at now: Duration,
        chance: Double
    ) -> Wait? {
        let earliest = waitsForDue ? due : nil
        wish(.interval, at: now + interval * (0.9 + 0.2 * chance))
        if let due, ending != .signedOut, !mutated(.forgetsRetry) { wish(.due, at: max(due, now)) }
        noteLook(ending)
        noteReturn(ending)
        defer { current = nil }
        switch ending {
        case .done, .signedOut: recover()
        case .waiting where due == nil:
            // They are in somebody's hands, who is going to be done with them.
            let failures = failures + 1
            recover()
            self.failures = failures
            wish(.retry, at: now + Backoff.wait(after: failures, chance: chance))
        case .waiting: recover()
        case .unfinished:
            recover()
            wish(.remainder, at: now)
        case .doubted:
            // Upstream has answered, so what an earlier failure waits for is over.
            wait = nil
            failures += 1
            let pause = Backoff.wait(after: failures, chance: chance)
            wish(.secondLook, at: now + max(pause, Self.secondThought))
        case .paced(let until):
            // Many may wait for the same moment, and are not to come together. Nothing has failed.
            let until = max(until, now) + Backoff.wait(after: 1, chance: chance)
            wait = Wait(until: until, length: until - now)
            wish(.retry, at: until)
        case .failed(let pause):
            return pauseAfterFailure(pause, notBefore: earliest, at: now, chance: chance)
        case .interrupted:
            recover()
            return pauseAfterFailure(nil, notBefore: earliest, at: now, chance: chance)
        case .untouched:
            keepRetry(at: now)
            if let current, current != .asked {
                wish(.retry, at: now + Backoff.wait(after: 1, chance: chance))
            }
        }
        return nil
    }

    private mutating func recover() {
        failures = 0
        wait = nil
        hold = nil
    }

    private mutating func noteReturn(_ ending: Ending) {
        switch ending {
        case .done, .waiting, .paced, .interrupted, .unfinished:
            fruitlessReturns = 0
            // It has been to upstream and back, so that the network had returned is no news any more.
            wishes[.networkReturned] = nil
        case .failed, .doubted, .signedOut:
            if current == .networkReturned { fruitlessReturns += 1 }
        case .untouched: break
        }
    }

    private mutating func pauseAfterFailure(
        _ pause: Pause?,
        notBefore earliest: Duration?,
        at now: Duration,
        chance: Double
    ) -> Wait? {
        if current == .asked, pause?.isThrottle != true, failures > 0, let wait, wait.until > now {
            // Whoever asked in spite of a wait after failures has not made it longer.
            wish(.retry, at: wait.until)
            return nil
        }
        failures += 1
        hold = nil
        let made: Wait
        switch pause {
        case .throttled(let until) where until > now:
            let until = min(until, now + Self.longestHold)
            hold = until
            made = Wait(until: until, length: until - now)
        case .held(let until):
            // It holds all accounts until the same moment, and they are not to come back together.
            let rest = max(until - now, .zero)
            let backoff = Backoff.wait(after: failures, chance: chance)
            let length = max(
                min(rest + backoff, .seconds(Backoff.longest)),
                rest + Backoff.wait(after: 1, chance: chance)
            )
            made = Wait(until: now + length, length: length)
        case .throttled, nil:
            let backoff = Backoff.wait(after: failures, chance: chance)
            let length = max(backoff, earliest.map { $0 - now } ?? .zero)
            made = Wait(until: now + length, length: length, newUntil: now + backoff)
        }
        wait = made
        if !mutated(.forgetsRetry) { wish(.retry, at: made.until) }
        return made
    }

    /// Whatever is still in the way of a run that is owed does not make it forgotten.
    private mutating func keepRetry(at now: Duration) {
        let moments = [hold, wait?.until].compactMap(\.self).filter { $0 > now }
        if let moment = moments.max() { wish(.retry, at: moment) }
    }
}
