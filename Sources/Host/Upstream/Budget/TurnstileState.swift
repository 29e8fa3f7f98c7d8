/// The budget and those who wait at it.
struct TurnstileState: Sendable {
    typealias Sleeper = CheckedContinuation<RequestBudget.Refusal?, Never>

    /// Somebody to be told whose turn it is, once the lock is free.
    struct Call {
        let sleeper: Sleeper
        let refusal: RequestBudget.Refusal?

        func resume() { sleeper.resume(returning: refusal) }
    }

    private enum Place {
        /// In line, and not yet asleep.
        case standing
        case asleep(Sleeper)
        /// Called before it fell asleep.
        case called(RequestBudget.Refusal?)
    }

    var budget: RequestBudget
    private var tickets = 0
    private var places: [Int: Place] = [:]
    /// The earliest moment for which the alarm clock has been set.
    private var alarm: Duration?

    init(budget: RequestBudget) {
        self.budget = budget
    }

    /// - Returns: Among others the moment for which the alarm clock is to be set, if it is not set
    ///   for an earlier one.
    mutating func ask(
        _ ask: RequestBudget.Ask,
        at now: Duration
    ) -> (ticket: Int, answer: RequestBudget.Answer, alarm: Duration?, calls: [Call]) {
        tickets += 1
        let (answer, turns) = budget.ask(ask, ticket: tickets, at: now)
        let calls = call(turns)
        guard answer == .wait else { return (tickets, answer, nil, calls) }
        places[tickets] = .standing
        let alarm = setAlarm(budget.alarm(for: ask, at: now))
        return (tickets, answer, alarm, calls)
    }

    mutating func lieDown(_ ticket: Int, _ sleeper: Sleeper) -> Call? {
        guard case .called(let refusal) = places[ticket] else {
            places[ticket] = .asleep(sleeper)
            return nil
        }
        places[ticket] = nil
        return Call(sleeper: sleeper, refusal: refusal)
    }

    mutating func withdraw(_ ticket: Int) -> Call? {
        switch places[ticket] {
        case .standing:
            budget.withdraw(ticket)
            places[ticket] = .called(.withdrawn)
            return nil
        case .asleep(let sleeper):
            budget.withdraw(ticket)
            places[ticket] = nil
            return Call(sleeper: sleeper, refusal: .withdrawn)
        case .called, nil:
            return nil
        }
    }

    mutating func call(_ turns: [RequestBudget.Turn]) -> [Call] {
        turns.compactMap { turn in
            guard case .asleep(let sleeper) = places[turn.ticket] else {
                places[turn.ticket] = .called(turn.refusal)
                return nil
            }
            places[turn.ticket] = nil
            return Call(sleeper: sleeper, refusal: turn.refusal)
        }
    }

    /// It could not be set.
    mutating func forgetAlarm() { alarm = nil }

    /// The alarm has rung; when is the next one wanted?
    mutating func nextAlarm(at now: Duration) -> Duration? {
        alarm = nil
        return budget.alarm(at: now).flatMap { setAlarm($0) }
    }

    private mutating func setAlarm(_ moment: Duration) -> Duration? {
        if let alarm, alarm <= moment { return nil }
        alarm = moment
        return moment
    }
}
