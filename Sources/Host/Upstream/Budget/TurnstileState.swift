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
    /// The earliest moment of which the alarm clock knows, or is about to hear.
    private var alarm: Duration?

    init(budget: RequestBudget) {
        self.budget = budget
    }

    /// - Returns: Among others whether the alarm clock has to look at who waits for what.
    mutating func ask(
        _ ask: RequestBudget.Ask,
        at now: Duration
    ) -> (ticket: Int, answer: RequestBudget.Answer, wantsLook: Bool, calls: [Call]) {
        tickets += 1
        let (answer, turns) = budget.ask(ask, ticket: tickets, at: now)
        let calls = call(turns)
        guard answer == .wait else { return (tickets, answer, false, calls) }
        places[tickets] = .standing
        return (tickets, answer, brings(budget.alarm(for: ask, at: now)), calls)
    }

    /// Whether the alarm clock has to look anew: whoever waited for a place may have to wait for a moment now.
    mutating func mustLook(at now: Duration) -> Bool {
        budget.alarm(at: now).map { brings($0) } ?? false
    }

    /// Whether it is earlier than all moments of which the alarm clock knows.
    private mutating func brings(_ moment: Duration) -> Bool {
        if let alarm, alarm <= moment { return false }
        alarm = moment
        return true
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

    /// The alarm clock is gone. Whoever comes after that tries to wind it, and finds that out.
    mutating func dismissAll() -> [Call] {
        alarm = nil
        return places.keys.sorted().compactMap { withdraw($0) }
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

    /// - Returns: When the alarm clock is to ring next.
    mutating func nextAlarm(at now: Duration) -> Duration? {
        alarm = budget.alarm(at: now)
        return alarm
    }
}
