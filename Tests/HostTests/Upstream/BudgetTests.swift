import Metrics
import System
import Testing
import Vault

@testable import Host

struct BudgetTests {
    private var budget = RequestBudget(places: 4)
    private var ticket = 0

    private mutating func ask(
        _ account: String = "a",
        _ pace: Pace = .read,
        patience: Duration = .seconds(10),
        isForced: Bool = false,
        isWaitedFor: Bool = false,
        inLine: Duration? = nil,
        at now: Duration = .zero
    ) -> (ticket: Int, answer: RequestBudget.Answer) {
        ticket += 1
        let ask = RequestBudget.Ask(
            account: account,
            pace: pace,
            patience: patience,
            isForced: isForced,
            isWaitedFor: isWaitedFor,
            patienceInLine: inLine
        )
        return (ticket, budget.ask(ask, ticket: ticket, at: now).answer)
    }

    private mutating func end(
        _ ticket: Int,
        _ result: RequestBudget.Result = .answered,
        at now: Duration = .zero,
        chance: Double = 0
    ) -> [RequestBudget.Turn] {
        budget.end(ticket, result, at: now, chance: chance)
    }

    @Test mutating func `who is first goes at once, as long as there are places`() {
        for _ in 0..<4 { #expect(ask().answer == .go) }
        #expect(ask().answer == .wait)
        #expect(end(1) == [.init(ticket: 5, refusal: nil)])
        #expect(budget.underWayCount == 4)
    }

    @Test mutating func `accounts take turns, however many each has in line`() {
        for _ in 0..<4 { _ = ask("busy") }
        for _ in 0..<100 { _ = ask("busy") }
        let late = [ask("quiet").ticket, ask("other").ticket]
        var order: [Int] = []
        for running in 1...4 { order += end(running).map(\.ticket) }
        #expect(order == [5, late[0], late[1], 6])
    }

    @Test mutating func `within an account who came first goes first`() {
        for _ in 0..<4 { _ = ask() }
        let waiting = (0..<200).map { _ in ask().ticket }
        var order: [Int] = []
        var running = [1, 2, 3, 4]
        while !running.isEmpty {
            let turns = end(running.removeFirst()).map(\.ticket)
            order += turns
            running += turns
        }
        #expect(order == waiting)
        #expect(budget.waitingCount == 0 && budget.underWayCount == 0)
    }

    @Test mutating func `who loses interest leaves the line without a trace`() {
        for _ in 0..<4 { _ = ask() }
        let (gone, next) = (ask().ticket, ask().ticket)
        budget.withdraw(gone)
        #expect(end(1).map(\.ticket) == [next])
    }

    @Test mutating func `patience ends`() {
        for _ in 0..<4 { _ = ask() }
        let waiting = ask(patience: .seconds(3))
        #expect(budget.alarm(at: .zero) == .seconds(3))
        #expect(budget.ring(at: .seconds(2)).isEmpty)
        let turns = budget.ring(at: .seconds(3))
        #expect(turns.map(\.ticket) == [waiting.ticket])
        #expect(turns.first?.refusal == .throttled(until: .seconds(3), .paced))
        #expect(budget.alarm(at: .seconds(3)) == nil)
    }

    // MARK: Throttling

    @Test mutating func `who has time and waits for nothing but a place stays in line`() {
        for _ in 0..<4 { _ = ask() }
        let hasty = ask(patience: .seconds(3))
        let patient = ask("b", patience: .seconds(3), inLine: .seconds(120)).ticket
        #expect(budget.ring(at: .seconds(3)).map(\.ticket) == [hasty.ticket])
        #expect(budget.alarm(at: .seconds(3)) == .seconds(120))
        #expect(end(1, at: .seconds(100)) == [.init(ticket: patient, refusal: nil)])
    }

    @Test
    mutating func
        `who is waited for goes from the line too, before others and beyond what was learnt`()
    {
        for number in 0..<12 { _ = end(ask("b\(number)").ticket) }
        _ = end(ask().ticket, .throttled(RetryAfter(seconds: 0)))
        let running = (0..<4).map { _ in ask("b", isWaitedFor: true, at: .seconds(2)).ticket }
        let patient = ask("c", patience: .seconds(60), at: .seconds(2)).ticket
        let interactive = ask("d", isWaitedFor: true, at: .seconds(2)).ticket
        #expect(budget.waitingCount == 2)
        #expect(end(running[0], at: .seconds(2)).map(\.ticket) == [interactive])
        #expect(end(running[1], at: .seconds(2)).isEmpty, "What was learnt holds up \(patient).")
    }

    @Test mutating func `who stays in line for a place leaves when that is too long`() {
        for _ in 0..<4 { _ = ask() }
        let patient = ask("b", patience: .seconds(3), inLine: .seconds(120)).ticket
        #expect(budget.ring(at: .seconds(119)).isEmpty)
        #expect(budget.ring(at: .seconds(120)).map(\.ticket) == [patient])
        #expect(budget.waitingCount == 0)
    }

    @Test mutating func `T-43 nobody goes before the time that upstream set`() {
        let first = ask()
        _ = end(first.ticket, .throttled(RetryAfter(seconds: 60)), chance: 0)
        #expect(ask(at: .seconds(1)).answer == .refused(.throttled(until: .seconds(60))))
        #expect(ask(isForced: true, at: .seconds(49)).answer != .go, "Not even who insists.")
        #expect(ask("b", .change, at: .seconds(55)).answer == .wait, "Who has patience waits.")
        #expect(budget.ring(at: .seconds(59)).isEmpty)
        #expect(budget.ring(at: .seconds(60)).count == 1)
    }

    @Test(arguments: [nil, RetryAfter(seconds: 60)])
    mutating func `who insists is held up by what upstream asked for, and not by a guess`(
        _ retryAfter: RetryAfter?
    ) {
        _ = end(ask().ticket, .throttled(retryAfter), chance: 0)
        var insistent = RequestBudget.Ask(account: "a", pace: .read, patience: .zero)
        let patient = budget.ask(insistent, ticket: 90, at: .seconds(1)).answer
        (insistent.isForced, insistent.isWaitedFor) = (true, true)
        let answer = budget.ask(insistent, ticket: 91, at: .seconds(1)).answer
        guard case .refused(.throttled(_, let limit)) = patient else {
            Issue.record("Who does not insist is not held up.")
            return
        }
        #expect(limit == (retryAfter == nil ? .guessed : .asked))
        #expect((answer == .go) == (retryAfter == nil))
    }

    @Test mutating func `a guess is over once upstream takes what somebody insisted on`() {
        let first = ask()
        let under = ask()
        _ = end(first.ticket, .throttled(nil), at: .seconds(1), chance: 1)
        _ = end(under.ticket, at: .seconds(2))
        #expect(budget.notBefore(.api, at: .seconds(2)) != nil, "It was sent before.")
        let insistent = ask(isForced: true, isWaitedFor: true, at: .seconds(3))
        #expect(insistent.answer == .go)
        _ = end(insistent.ticket, at: .seconds(4))
        #expect(budget.notBefore(.api, at: .seconds(4)) == nil)
        #expect(ask(at: .seconds(4)).answer == .go)
    }

    @Test mutating func `a guess about changes is not over because upstream answers questions`() {
        let change = ask("a", .change)
        _ = end(change.ticket, .throttled(nil), at: .seconds(1), chance: 1)
        let question = ask(isForced: true, isWaitedFor: true, at: .seconds(2))
        #expect(question.answer == .go)
        _ = end(question.ticket, at: .seconds(3))
        #expect(budget.notBefore(.api, at: .seconds(4)) == .seconds(31))
        let insisting = ask("a", .change, isForced: true, isWaitedFor: true, at: .seconds(5))
        _ = end(insisting.ticket, at: .seconds(6))
        #expect(budget.notBefore(.api, at: .seconds(7)) == nil)
    }

    @Test mutating func `a limit of those who have no token holds up nobody who has`() {
        let login = ask("new@example.com", .signIn)
        _ = end(login.ticket, .throttled(nil))
        #expect(ask("other", .signIn).answer != .go)
        #expect(ask("a", .read).answer == .go)
    }

    @Test mutating func `without a word from upstream the wait doubles, to a quarter of an hour`() {
        var now = Duration.zero
        var waits: [Duration] = []
        for _ in 0..<8 {
            let asked = ask(at: now)
            #expect(asked.answer == .go)
            _ = end(asked.ticket, .throttled(nil), at: now, chance: 1)
            let until = budget.notBefore(.api, at: now) ?? now
            waits.append(until - now)
            now = until
        }
        #expect(waits.map { $0 / .seconds(1) } == [30, 60, 120, 240, 480, 900, 900, 900])
    }

    @Test(arguments: [0.0, 0.3, 0.999])
    mutating func `I12, G-R3 half of a wait is chance, unless upstream says how long it is`(
        _ chance: Double
    ) {
        _ = end(ask().ticket, .throttled(nil), chance: chance)
        let free = (budget.notBefore(.api, at: .zero) ?? .zero) / .seconds(1)
        #expect((15...30).contains(free))
        budget = RequestBudget()
        _ = end(ask().ticket, .throttled(RetryAfter(seconds: 40)), chance: chance)
        let said = (budget.notBefore(.api, at: .zero) ?? .zero) / .seconds(1)
        #expect(said == 40)
    }

    @Test mutating func `those who were refused together count once`() {
        let together = (0..<4).map { _ in ask().ticket }
        for ticket in together { _ = end(ticket, .throttled(nil), chance: 1) }
        #expect(budget.notBefore(.api, at: .zero) == .seconds(30))
    }

    @Test mutating func `a second of its own follows a request to come again at once`() {
        _ = end(ask().ticket, .throttled(RetryAfter(seconds: 0)))
        #expect(budget.notBefore(.api, at: .zero) == .seconds(1))
    }

    @Test mutating func `what was kept over a restart holds`() {
        budget.restore(notBefore: [.api: .seconds(90)])
        #expect(ask(at: .seconds(20)).answer == .refused(.throttled(until: .seconds(90))))
        #expect(ask(at: .seconds(90)).answer == .go)
    }

    // MARK: What is learnt

    /// An upstream that takes so many in a minute, from the first of them on.
    private mutating func play(perMinute limit: Int, minutes: Int) -> (sent: Int, refused: Int) {
        var (sent, refused) = (0, 0)
        var window = (start: Duration.zero, count: 0)
        var now = Duration.zero
        while now < .seconds(60 * minutes) {
            let asked = ask("a", .create, patience: .zero, at: now)
            if asked.answer == .go {
                sent += 1
                if now - window.start >= .seconds(60) { window = (now, 0) }
                window.count += 1
                let isRefused = window.count > limit
                if isRefused { refused += 1 }
                let left = Int((window.start + .seconds(60) - now) / .seconds(1)) + 1
                let result: RequestBudget.Result =
                    isRefused ? .throttled(RetryAfter(seconds: left)) : .answered
                _ = end(asked.ticket, result, at: now, chance: 0.5)
            }
            now += .milliseconds(100)
        }
        return (sent, refused)
    }

    @Test mutating func `U7 what upstream takes is learnt from its refusals`() {
        let (sent, refused) = play(perMinute: 60, minutes: 30)
        #expect(refused <= 8, "\(refused) of \(sent) were too many.")
        #expect(sent - refused > 60 * 30 / 2, "Too little was sent: \(sent).")
        let rate = budget.rate(of: .create) ?? 0
        #expect((0.5...1.3).contains(rate), "\(rate)")
        #expect(budget.rate(of: .read) == nil, "Other kinds are counted apart.")
    }

    @Test mutating func `U9 nothing is limited where nothing was refused`() {
        for step in 0..<5_000 {
            let now = Duration.milliseconds(step)
            let asked = ask("a", .create, at: now)
            #expect(asked.answer == .go)
            _ = end(asked.ticket, at: now)
        }
        #expect(budget.rate(of: .create) == nil)
    }

    @Test mutating func `after an hour without a refusal nothing is limited any more`() {
        for _ in 0..<10 { _ = end(ask("a", .create).ticket) }
        _ = end(ask("a", .create).ticket, .throttled(RetryAfter(seconds: 1)))
        #expect(budget.rate(of: .create) != nil)
        _ = ask("a", .create, at: .seconds(3_601))
        #expect(budget.rate(of: .create) == nil)
    }

    /// Whoever had sent one or two and was refused would send one in ten seconds from then on.
    @Test mutating func `a refusal after a few requests only says until when to wait`() {
        _ = end(ask("a", .create).ticket)
        _ = end(ask("a", .create).ticket, .throttled(RetryAfter(seconds: 1)))
        #expect(budget.rate(of: .create) == nil)
        for step in 2..<20 {
            let asked = ask("a", .create, patience: .zero, at: .seconds(step))
            #expect(asked.answer == .go)
            _ = end(asked.ticket, at: .seconds(step))
        }
    }

    @Test mutating func `whoever waits for an answer is not held up by what a refusal has taught`()
    {
        for _ in 0..<12 { _ = end(ask("a", .change).ticket) }
        _ = end(ask("a", .change).ticket, .throttled(RetryAfter(seconds: 3)))
        #expect(budget.rate(of: .change) != nil)
        #expect(ask("a", .change, isWaitedFor: true, at: .seconds(2)).answer == .wait)
        let lazy = ask("b", .change, at: .seconds(4))
        #expect(lazy.answer == .wait)
        for step in 0..<30 {
            let asked = ask("a", .change, isWaitedFor: true, at: .seconds(4 + step))
            #expect(asked.answer == .go)
            _ = end(asked.ticket, at: .seconds(4 + step))
        }
        // Who has time makes up for no more than the last of them.
        #expect(ask("b", .change, patience: .zero, at: .seconds(40)).answer == .go)
    }

    /// A storm that lasts a second would else slow down the minutes after it to what that second brought.
    @Test mutating func `who may come again at once has been too fast, and not too often for long`()
    {
        for _ in 0..<100 { _ = end(ask("a", .create).ticket) }
        _ = end(ask("a", .create).ticket, .throttled(RetryAfter(seconds: 1)))
        let rate = budget.rate(of: .create) ?? 0
        #expect((50...100).contains(rate), "\(rate)")
        let later = Duration.seconds(10)
        for _ in 0..<100 { _ = end(ask("a", .read, at: later).ticket, at: later) }
        _ = end(
            ask("a", .read, at: later).ticket,
            .throttled(RetryAfter(seconds: 40)),
            at: later
        )
        let slow = budget.rate(of: .read) ?? 0
        #expect((1...2).contains(slow), "\(slow)")
    }

    /// Whoever had brought up 15 changes at once would bring up as many in each minute from then on.
    @Test(arguments: [(2, 10), (10, 10), (11, 60)])
    mutating func `what is over after seconds is a lesson for seconds`(
        _ wait: Int,
        _ period: Double
    ) {
        for _ in 0..<15 { _ = end(ask("a", .create).ticket) }
        _ = end(ask("a", .create).ticket, .throttled(RetryAfter(seconds: wait)))
        let rate = budget.rate(of: .create) ?? 0
        #expect(abs(rate - 15 / period) < 0.01, "\(rate)")
    }

    // MARK: The breaker

    private mutating func breakOpen(at now: Duration = .zero) {
        for _ in 0..<5 {
            _ = end(ask(at: now).ticket, .failed(isBan: false), at: now, chance: 0)
        }
    }

    @Test
    mutating func `who does not answer five times is left in peace, and asked once in a while`() {
        breakOpen()
        #expect(budget.breaker.kind == .open)
        #expect(ask().answer == .refused(.held(until: .seconds(1))))
        let probe = ask(at: .seconds(1))
        #expect(probe.answer == .go)
        guard case .refused(.held) = ask(at: .seconds(1)).answer else {
            Issue.record("Two were let through to see.")
            return
        }
        _ = end(probe.ticket, at: .seconds(1))
        #expect(budget.breaker.kind == .closed)
        #expect(ask(at: .seconds(1)).answer == .go)
    }

    @Test func `while one is under way to see, nobody is admitted who does not insist`() {
        var breaker = Breaker()
        for _ in 0..<5 { breaker.fail(isProbe: false, isBan: false, at: .zero, chance: 0) }
        #expect(breaker.admit(isForced: false, at: .seconds(1)) == .probe)
        #expect(breaker.admit(isForced: false, at: .seconds(9)) == .hold(until: .seconds(10)))
        #expect(breaker.admit(isForced: true, at: .seconds(9)) == .probe)
    }

    @Test mutating func `the waits of the breaker grow to thirty seconds`() {
        breakOpen()
        var now = Duration.zero
        var waits: [Double] = []
        for _ in 0..<7 {
            guard case .refused(.held(let until)) = ask(at: now).answer else {
                Issue.record("It is something else.")
                return
            }
            waits.append((until - now) / .seconds(1))
            now = until
            _ = end(ask(at: now).ticket, .failed(isBan: false), at: now, chance: 1)
        }
        #expect(waits == [1, 4, 8, 16, 30, 30, 30])
    }

    @Test mutating func `any answer closes it, also a refusal`() {
        breakOpen()
        let probe = ask(at: .seconds(2))
        _ = end(probe.ticket, .throttled(RetryAfter(seconds: 5)), at: .seconds(2))
        #expect(budget.breaker.kind == .closed)
    }

    @Test mutating func `failures between answers do not add up`() {
        for _ in 0..<20 {
            for _ in 0..<4 {
                _ = end(ask().ticket, .failed(isBan: false))
            }
            _ = end(ask().ticket)
        }
        #expect(budget.breaker.kind == .closed)
    }

    @Test mutating func `P16 a ban is waited out for half an hour`() {
        _ = end(ask().ticket, .failed(isBan: true), chance: 1)
        #expect(ask().answer == .refused(.held(until: .seconds(1_800))))
        #expect(budget.breaker.bannedUntil == .seconds(1_800))
        let insistent = ask(isForced: true, at: .seconds(5))
        #expect(insistent.answer == .go, "Somebody insists.")
        _ = end(insistent.ticket, at: .seconds(5))
        #expect(budget.breaker.bannedUntil == nil, "The guard is gone.")
    }

    @Test mutating func `P16 another way to the host ends no ban`() {
        _ = end(ask().ticket, .failed(isBan: true), chance: 1)
        _ = budget.networkChanged(at: .seconds(5))
        #expect(ask(at: .seconds(5)).answer == .refused(.held(until: .seconds(1_800))))
        #expect(budget.breaker.bannedUntil == .seconds(1_800))
        _ = budget.networkChanged(at: .seconds(1_800))
        #expect(budget.breaker.bannedUntil == nil)
    }

    @Test mutating func `who waits in line is told when upstream is away`() {
        let running = (0..<4).map { _ in ask().ticket }
        let waiting = ask().ticket
        var turns: [RequestBudget.Turn] = []
        for ticket in running { turns += end(ticket, .failed(isBan: true), chance: 1) }
        #expect(turns.contains { $0.ticket == waiting && $0.refusal != nil })
        #expect(budget.waitingCount == 0)
    }

    @Test mutating func `a probe that is given up is made up for at once`() {
        breakOpen()
        let probe = ask(at: .seconds(1))
        _ = end(probe.ticket, .dropped, at: .seconds(1))
        #expect(ask(at: .seconds(1)).answer == .go)
    }

    @Test mutating func `another way to the host is tried at once`() {
        breakOpen()
        _ = budget.networkChanged(at: .zero)
        #expect(ask().answer == .go)
    }

    // MARK: Anything at all

    @Test(arguments: 0..<12)
    mutating func `whatever happens, nobody is forgotten and no place is lost`(_ seed: UInt64) {
        let chance = SeededChance(seed: seed)
        var now = Duration.zero
        var (waiting, running): (Set<Int>, Set<Int>) = ([], [])
        func take(_ turns: [RequestBudget.Turn]) {
            for turn in turns {
                #expect(waiting.remove(turn.ticket) != nil, "seed \(seed)")
                if turn.refusal == nil { running.insert(turn.ticket) }
            }
        }
        for _ in 0..<1_000 {
            now += .milliseconds(chance.number(in: 0..<400))
            switch chance.number(in: 0..<10) {
            case 0..<5:
                ticket += 1
                let ask = RequestBudget.Ask(
                    account: "\(chance.number(in: 0..<5))",
                    pace: Pace.allCases[chance.number(in: 0..<4)],
                    patience: .seconds(chance.number(in: 0..<40)),
                    isForced: chance.number(in: 0..<20) == 0
                )
                let (answer, turns) = budget.ask(ask, ticket: ticket, at: now)
                take(turns)
                if answer == .go { running.insert(ticket) }
                if answer == .wait { waiting.insert(ticket) }
            case 5..<8:
                guard let ended = running.min() else { continue }
                running.remove(ended)
                let results: [RequestBudget.Result] = [
                    .answered, .answered, .answered, .dropped, .failed(isBan: false),
                    .failed(isBan: chance.number(in: 0..<50) == 0), .throttled(nil),
                    .throttled(RetryAfter(seconds: chance.number(in: 0..<20))),
                ]
                let result = results[chance.number(in: 0..<results.count)]
                take(budget.end(ended, result, at: now, chance: chance.fraction()))
            case 8:
                guard let gone = waiting.min() else { continue }
                waiting.remove(gone)
                budget.withdraw(gone)
            default:
                if let alarm = budget.alarm(at: now) { now = max(now, alarm) }
                take(budget.ring(at: now))
            }
            #expect(budget.underWayCount == running.count && running.count <= 4, "seed \(seed)")
            #expect(budget.waitingCount == waiting.count, "seed \(seed)")
        }
        for _ in 0..<5_000 where !waiting.isEmpty || !running.isEmpty {
            for ended in running {
                running.remove(ended)
                take(budget.end(ended, .answered, at: now, chance: 0))
            }
            if let alarm = budget.alarm(at: now) { now = max(now, alarm) }
            take(budget.ring(at: now))
        }
        #expect(waiting.isEmpty && running.isEmpty, "seed \(seed)")
    }
}

/// What operators see of a budget.
struct BudgetMetricsTests {
    private let registry = Registry(timekeeper: SystemTimekeeper())

    private func breakers() async -> [String: Int] {
        let page = String(decoding: await registry.page(.prometheus), as: UTF8.self)
        let series = #/holdfast_upstream_breakers\{state="(\w+)"\} (-?\d+)/#
        return page.matches(of: series).reduce(into: [:]) {
            $0[String($1.output.1)] = Int($1.output.2)
        }
    }

    @Test func `an upstream is shown in the one state that its breaker is in`() async throws {
        let turnstile = Turnstile(
            places: 4,
            timekeeper: SystemTimekeeper(),
            chance: SystemChance(),
            metrics: BudgetMetrics(registry)
        )
        var ask = RequestBudget.Ask(account: "a", pace: .read, patience: .zero)
        for _ in 0..<Breaker.patience {
            _ = try await turnstile.pass(ask) { .init(value: (), result: .failed(isBan: false)) }
        }
        #expect(await breakers() == ["closed": 0, "open": 1, "halfOpen": 0])
        ask.isForced = true
        let meanwhile = try await turnstile.pass(ask) {
            .init(value: await breakers(), result: .answered)
        }
        #expect(meanwhile.value == ["closed": 0, "open": 0, "halfOpen": 1])
        #expect(await breakers() == ["closed": 1, "open": 0, "halfOpen": 0])
    }
}

/// Who waited for a place when upstream refused what was too much.
struct TurnstileStateTests {
    private func ask(_ account: String) -> RequestBudget.Ask {
        RequestBudget.Ask(account: account, pace: .read, patience: .seconds(10))
    }

    @Test func `who waited for a place is woken when what they wait for is a moment now`() {
        var state = TurnstileState(budget: RequestBudget(places: 1))
        let first = state.ask(ask("a"), at: .zero)
        let second = state.ask(ask("b"), at: .zero)
        #expect(first.answer == .go && second.answer == .wait && second.wantsLook)
        let patience = state.nextAlarm(at: .zero)
        #expect(patience == .seconds(10), "A place announces itself.")
        let result = RequestBudget.Result.throttled(RetryAfter(seconds: 1))
        let turns = state.budget.end(first.ticket, result, at: .zero, chance: 0)
        let looks = [state.mustLook(at: .zero), state.mustLook(at: .zero)]
        #expect(turns.isEmpty && looks == [true, false])
        let alarm = state.nextAlarm(at: .zero)
        #expect(alarm.map { $0 < .seconds(3) } == true)
    }
}

/// Those who stand in line, and the alarm clock that wakes them.
@Suite(.timeLimit(.minutes(1))) struct TurnstileTests {
    private let turnstile = Turnstile(
        places: 1,
        timekeeper: SystemTimekeeper(),
        chance: SystemChance(),
        metrics: BudgetMetrics(Registry(timekeeper: SystemTimekeeper()))
    )

    /// What a request hears that would wait for so long.
    private func refusal(after seconds: Int) async -> RequestBudget.Refusal? {
        let ask = RequestBudget.Ask(account: "a", pace: .read, patience: .seconds(seconds))
        do throws(RequestBudget.Refusal) {
            _ = try await turnstile.pass(ask) { .init(value: (), result: .answered) }
            return nil
        } catch {
            return error
        }
    }

    /// Meanwhile the only place is taken.
    private func meanwhile(_ story: () async -> Void) async throws {
        let ask = RequestBudget.Ask(account: "a", pace: .read, patience: .zero)
        _ = try await turnstile.pass(ask) {
            await story()
            return .init(value: (), result: .answered)
        }
    }

    private func runAlarmClock(until: () async -> Void) async {
        await withTaskGroup { parts in
            parts.addTask { await turnstile.run() }
            await until()
            parts.cancelAll()
        }
    }

    @Test func `nobody waits in line for whom no alarm clock would ring`() async throws {
        await runAlarmClock {}
        try await meanwhile {
            #expect(await refusal(after: 600) == .withdrawn)
            // Nor for a later moment than somebody before.
            #expect(await refusal(after: 1_200) == .withdrawn)
        }
    }

    @Test func `who waits in line is let go when the alarm clock ends`() async throws {
        try await meanwhile {
            async let refusal = refusal(after: 600)
            await runAlarmClock {
                while turnstile.load.waiting == 0 { await Task.yield() }
            }
            #expect(await refusal == .withdrawn)
            #expect(await self.refusal(after: 1_200) == .withdrawn)
        }
    }
}
