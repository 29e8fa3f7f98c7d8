import Messaging
import Metrics
import System
import Vault

/// Lets requests to one upstream host through, as its ``RequestBudget`` says.
///
/// The budget decides under a lock, and what it decided is done after it; a request that need not
/// wait passes without a change of tasks. ``run()`` is its alarm clock: without it, whoever waits for
/// time to pass waits on.
final class Turnstile: Sendable {
    private enum Alarm: Sendable {
        /// Somebody waits for an earlier moment than those before.
        case look
        case rang(Duration)
    }

    private let state: Lock<TurnstileState>
    private let mailbox = Mailbox<Alarm>(name: "turnstile", capacity: 16)
    private let timekeeper: any Timekeeper
    private let chance: any Chance
    private let metrics: BudgetMetrics

    init(
        places: Int,
        timekeeper: any Timekeeper,
        chance: any Chance,
        metrics: BudgetMetrics
    ) {
        state = Lock(TurnstileState(budget: RequestBudget(places: places)))
        self.timekeeper = timekeeper
        self.chance = chance
        self.metrics = metrics
        metrics.upstreamAppeared()
    }

    deinit { metrics.upstreamLeft(state.withLock { $0.budget.breaker.kind }) }

    /// What came of a request that was let through, and what the budget is to learn from it.
    struct Passage<Value: Sendable>: Sendable {
        var value: Value
        var result: RequestBudget.Result
    }

    /// Waits for a turn, does the request, and takes note of what came of it.
    ///
    /// - Returns: What the request returned, and until when nobody is to come again if it was refused as
    ///   too much.
    func pass<Value: Sendable>(
        _ ask: RequestBudget.Ask,
        _ request: () async -> Passage<Value>
    ) async throws(RequestBudget.Refusal) -> (value: Value, closed: Closed?) {
        let ticket: Int
        do {
            ticket = try await enter(ask)
        } catch {
            metrics.refused(error)
            throw error
        }
        let passage = await request()
        leave(ticket, passage.result)
        guard case .throttled = passage.result else { return (passage.value, nil) }
        return (passage.value, closed(to: Zone(ask.pace)))
    }

    /// Until when a zone is closed, and whether upstream has asked for that.
    struct Closed: Hashable, Sendable {
        let until: Moment
        let isAsked: Bool
    }

    private func closed(to zone: Zone) -> Closed? {
        let (now, today) = (timekeeper.elapsed, Moment(timekeeper.now))
        return state.withLock { state in
            state.budget.notBefore(zone, at: now).map { until in
                let isAsked = until == state.budget.askedUntil(zone, at: now)
                return Closed(until: today + (until - now), isAsked: isAsked)
            }
        }
    }

    private func enter(_ ask: RequestBudget.Ask) async throws(RequestBudget.Refusal) -> Int {
        let now = timekeeper.elapsed
        let ((ticket, answer, wantsLook, called), before, after) = state.withLock { state in
            let before = state.budget.breaker.kind
            return (state.ask(ask, at: now), before, state.budget.breaker.kind)
        }
        for call in called { call.resume() }
        metrics.breakerMoved(from: before, to: after)
        switch answer {
        case .go: break
        case .refused(let refusal): throw refusal
        case .wait:
            if wantsLook { wind() }
            if let refusal = await turn(of: ticket) { throw refusal }
        }
        metrics.entered()
        return ticket
    }

    /// A full mailbox will be read, and whoever reads it looks at everybody.
    private func wind() {
        do {
            try mailbox.address.tryTell(.look)
        } catch {
            if error != .full { dismissAll() }
        }
    }

    /// Without an alarm clock nobody would wake those in line, so then nobody waits at all.
    private func dismissAll() {
        for call in state.withLock({ $0.dismissAll() }) { call.resume() }
    }

    private func turn(of ticket: Int) async -> RequestBudget.Refusal? {
        metrics.waiting.increment()
        defer { metrics.waiting.decrement() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.lieDown(ticket, continuation) }?.resume()
            }
        } onCancel: {
            state.withLock { $0.withdraw(ticket) }?.resume()
        }
    }

    private func leave(_ ticket: Int, _ result: RequestBudget.Result) {
        act { budget, now in
            budget.end(ticket, result, at: now, chance: chance.fraction())
        }
        metrics.left(result)
    }

    /// The way to the host is another one now.
    func networkChanged() {
        act { budget, now in budget.networkChanged(at: now) }
    }

    /// Until when upstream asked to be left alone. To be kept over a restart.
    var holds: [Zone: Moment] {
        let (now, today) = (timekeeper.elapsed, Moment(timekeeper.now))
        return state.withLock { state in
            Dictionary(
                uniqueKeysWithValues: Zone.allCases.compactMap { zone in
                    state.budget.askedUntil(zone, at: now).map {
                        (zone, today + ($0 - now))
                    }
                }
            )
        }
    }

    /// What was kept. Nothing lies further ahead than it did when it was noted, and than an upstream may ask for, so
    /// a calendar that was or is wrong holds nobody up for long.
    func restore(_ holds: [Zone: Moment], noted: Moment?) {
        let (now, today) = (timekeeper.elapsed, Moment(timekeeper.now))
        let times = holds.mapValues { moment in
            let longest = Duration.seconds(RetryAfter.longest)
            return now + min(moment - today, noted.map { moment - $0 } ?? longest, longest)
        }
        state.withLock { $0.budget.restore(notBefore: times) }
    }

    /// Whether a guard before the host wants us gone.
    var isBanned: Bool {
        let now = timekeeper.elapsed
        return state.withLock { $0.budget.breaker.bannedUntil.map { $0 > now } ?? false }
    }

    /// For how long nobody is let through to the API who does not insist.
    var rest: Duration? {
        let now = timekeeper.elapsed
        return state.withLock { state in
            let ends = [state.budget.notBefore(.api, at: now), state.budget.heldUntil(at: now)]
            return ends.compactMap(\.self).max().map { $0 - now }
        }
    }

    var load: (underWay: Int, waiting: Int) {
        state.withLock { ($0.budget.underWayCount, $0.budget.waitingCount) }
    }

    /// Rings when time has passed that somebody waits for.
    func run() async {
        await withDiscardingTaskGroup { sleepers in
            var sleeping = Alarms()
            for await alarm in mailbox {
                if case .rang(let moment) = alarm {
                    sleeping.ring(moment)
                    act { budget, now in budget.ring(at: now) }
                }
                let now = timekeeper.elapsed
                guard let next = state.withLock({ $0.nextAlarm(at: now) }), sleeping.set(for: next)
                else { continue }
                sleepers.addTask {
                    try? await self.timekeeper.sleep(until: next)
                    try? await self.mailbox.address.tell(.rang(next))
                }
            }
            sleepers.cancelAll()
        }
        dismissAll()
    }

    private func act(_ change: (inout RequestBudget, Duration) -> [RequestBudget.Turn]) {
        let now = timekeeper.elapsed
        let (called, wantsLook, before, after) = state.withLock { state in
            let before = state.budget.breaker.kind
            let called = state.call(change(&state.budget, now))
            return (called, state.mustLook(at: now), before, state.budget.breaker.kind)
        }
        if wantsLook { wind() }
        for call in called { call.resume() }
        metrics.breakerMoved(from: before, to: after)
    }
}
