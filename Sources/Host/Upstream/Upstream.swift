import HTTP
public import Messaging
public import System
public import Vault

/// One server that vaults are synchronized with, for all accounts that are there.
///
/// Everything that is asked of it goes through here: through one budget, so that the server sees no
/// more of us than it takes, and through one table, so that each answer means one thing
/// (``Vault/Setback``). ``run()`` has to run for as long as anything is asked.
public final class Upstream: Sendable {
    public let bases: Bases
    let identity: ClientIdentity
    let world: World
    private let turnstile: Turnstile
    let metrics: UpstreamMetrics
    private let clock = Lock(ServerClock())

    public init(
        _ bases: Bases,
        identity: ClientIdentity,
        world: World,
        metrics: UpstreamMetrics,
        places: Int = 64
    ) {
        self.bases = bases
        self.identity = identity
        self.world = world
        self.metrics = metrics
        turnstile = Turnstile(
            places: places,
            timekeeper: world.timekeeper,
            chance: world.chance,
            metrics: metrics.budget
        )
    }

    /// What is outside: the network, time and chance.
    public struct World: Sendable {
        public var network: any Network
        public var timekeeper: any Timekeeper
        public var chance: any Chance
        let alarms: AlarmClock
        /// Whether it is the upstream's own, and so runs with it.
        fileprivate let hasOwnAlarms: Bool

        /// - Parameter alarms: A clock that somebody runs.
        public init(
            network: any Network,
            timekeeper: any Timekeeper,
            chance: any Chance,
            alarms: AlarmClock? = nil
        ) {
            self.network = network
            self.timekeeper = timekeeper
            self.chance = chance
            hasOwnAlarms = alarms == nil
            self.alarms = alarms ?? AlarmClock(timekeeper: timekeeper)
        }

        var now: Moment { Moment(timekeeper.now) }
    }

    /// Wakes those who wait for their turn.
    public func run() async {
        guard world.hasOwnAlarms else { return await turnstile.run() }
        await withDiscardingTaskGroup { parts in
            parts.addTask { await self.world.alarms.run() }
            await turnstile.run()
            parts.cancelAll()
        }
    }

    /// The way to the server is another one now, as the kernel says: what was found out about the old
    /// one means nothing.
    func networkChanged() { turnstile.networkChanged() }

    /// Until when the server asked to be left alone. Kept over a restart by whoever has a store.
    public var holds: Holds {
        get { Holds(turnstile.holds) }
        set { turnstile.restore(newValue.zones, noted: newValue.noted) }
    }

    /// Whether a guard before the server wants this host gone, and each request would prolong that.
    var isBanned: Bool { turnstile.isBanned }

    /// For how long nobody is to come who does not insist: the server has asked for that, or does not
    /// answer.
    var restsFor: Duration? { turnstile.rest }

    /// How many requests are under way, and how many wait for their turn.
    public var load: (underWay: Int, waiting: Int) { turnstile.load }

    /// How much the server's clock is ahead of ours, in ticks, as its answers say; nil while
    /// none did. To half a second, and half of what the answer took; closer the more answers were heard.
    public var clockOffset: Int64? { clock.withLock { $0.offset } }

    /// How much it was at least when it was last heard. Also a server that says its second late is not behind that.
    public var leastClockOffset: Int64? { clock.withLock { $0.least } }
}

/// What a server's answers tell of its clock.
///
/// Each says the second, and no more, so each allows a range of offsets. What all of them allow is narrower
/// the more were heard. Where one does not fit, a clock was set, and only that one counts.
struct ServerClock {
    private var range: ClosedRange<Int64>?
    /// By the time since the boot, which nobody sets.
    private var heard = Duration.zero
    /// Answers of the same second say the same, and reading it is not for nothing.
    private var last: (field: String, seconds: Int64?) = ("", nil)

    /// Clocks that are kept right drift apart by one part in so many.
    private static let steadiness: Int64 = 2_000

    var offset: Int64? { range.map { $0.lowerBound + ($0.upperBound - $0.lowerBound) / 2 } }

    var least: Int64? { range?.lowerBound }

    /// - Parameters:
    ///   - elapsed: How long the answer took, from the request on.
    ///   - time: What has passed since the boot.
    mutating func hear(
        _ field: String,
        at now: Moment,
        after elapsed: Duration,
        time: Duration
    ) {
        if field != last.field { last = (field, httpDate(field)) }
        guard let seconds = last.seconds else { return }
        // The server cut off the fraction of its second, and said it at some moment on the way.
        let said = seconds * Moment.ticksPerSecond - now.ticks
        let allowed = said...(said + Moment.ticksPerSecond + Moment.ticks(in: max(.zero, elapsed)))
        let passed = Moment.ticks(in: max(.zero, time - heard))
        heard = time
        range =
            range.flatMap { known in
                let slack = passed / Self.steadiness
                let widened = (known.lowerBound - slack)...(known.upperBound + slack)
                return widened.overlaps(allowed) ? widened.clamped(to: allowed) : nil
            } ?? allowed
    }
}

/// Until when an upstream asked to be left alone.
public struct Holds: Hashable, Sendable {
    public var api: Moment?
    public var identity: Moment?
    /// When that was written down: nobody has to wait longer from then on, whatever the calendar says today.
    public var noted: Moment?

    public init(api: Moment? = nil, identity: Moment? = nil, noted: Moment? = nil) {
        (self.api, self.identity, self.noted) = (api, identity, noted)
    }

    /// As a setting keeps it.
    public init?(_ text: String) {
        let ticks = text.split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
        guard ticks.count == 2 || ticks.count == 3 else { return nil }
        self.init(
            api: ticks[0].map(Moment.init(ticks:)),
            identity: ticks[1].map(Moment.init(ticks:)),
            noted: ticks.count == 3 ? ticks[2].map(Moment.init(ticks:)) : nil
        )
    }

    public var text: String {
        [api, identity, noted].map { $0.map { "\($0.ticks)" } ?? "" }.joined(separator: " ")
    }

    init(_ zones: [Zone: Moment]) {
        self.init(api: zones[.api], identity: zones[.identity])
    }

    var zones: [Zone: Moment] {
        var zones: [Zone: Moment] = [:]
        zones[.api] = api
        zones[.identity] = identity
        return zones
    }
}

/// In what manner something is asked.
public struct Manner: Hashable, Sendable {
    /// For how long to wait for a turn when the server takes no more at the moment.
    public var patience = Duration.seconds(10)
    /// The same while others of this host are before it and the server takes them all.
    public var patienceInLine: Duration?
    /// Somebody insists: it is tried although the server did not answer just now. Not before a time
    /// that the server itself set, though.
    public var isForced = false
    /// Somebody waits for the answer, so it is not held up by what earlier refusals have taught.
    public var isWaitedFor = false
    /// In place of the usual time for everything.
    public var deadline: Duration?

    public init() {}
}

// MARK: - One request

extension Upstream {
    /// What came of a request that was let through.
    enum Outcome<Success: Sendable>: Sendable {
        case success(Success)
        case throttled(mayHaveLanded: Bool)
        case setback(Setback)
    }

    func perform(
        _ call: Call,
        for account: String,
        _ manner: Manner,
        token: String? = nil
    ) async throws(Setback) -> NetworkAnswer {
        let request = request(for: call, manner, token: token)
        return try await pass(call, account, manner) { await self.exchange(request, call) }
    }

    /// The same, for an answer that is read while it comes.
    func open(
        _ call: Call,
        for account: String,
        _ manner: Manner,
        token: String? = nil
    ) async throws(Setback) -> StreamedAnswer {
        let request = request(for: call, manner, token: token)
        return try await pass(call, account, manner) { await self.openExchange(request, call) }
    }

    private func pass<Success: Sendable>(
        _ call: Call,
        _ account: String,
        _ manner: Manner,
        _ exchange: () async -> Turnstile.Passage<Outcome<Success>>
    ) async throws(Setback) -> Success {
        let ask = RequestBudget.Ask(
            account: account,
            pace: call.pace,
            patience: manner.patience,
            isForced: manner.isForced,
            isWaitedFor: manner.isWaitedFor,
            patienceInLine: manner.patienceInLine
        )
        let passed: (value: Outcome<Success>, closed: Turnstile.Closed?)
        do throws(RequestBudget.Refusal) {
            passed = try await turnstile.pass(ask) {
                var passage = await exchange()
                // A store of files is somebody else, whose troubles hold up no other calls, also where it
                // shares the server's name.
                let isSomebodyElse = !bases.isServer(url(of: call))
                if isSomebodyElse || call.isOfStore && passage.result.isFailure {
                    passage.result = .dropped
                }
                return passage
            }
        } catch {
            throw Setback(reason(of: error), operation: call.operation.words)
        }
        switch passed.value {
        case .success(let answer): return answer
        case .setback(let setback): throw setback
        case .throttled(let mayHaveLanded):
            let until = passed.closed?.until ?? world.now + RequestBudget.firstWait
            throw Setback(
                .throttled(until: until, passed.closed?.isAsked == true ? .asked : .guessed),
                operation: call.operation.words,
                mayHaveLanded: mayHaveLanded
            )
        }
    }

    private func reason(of refusal: RequestBudget.Refusal) -> Setback.Reason {
        func moment(_ time: Duration) -> Moment {
            world.now + (time - world.timekeeper.elapsed)
        }
        return switch refusal {
        case .throttled(let until, let limit): .throttled(until: moment(until), limit)
        case .held(let until): .unreachable(.held(until: moment(until)))
        case .withdrawn: .cancelled
        }
    }

    private func exchange(
        _ request: Client.Request,
        _ call: Call
    ) async -> Turnstile.Passage<Outcome<NetworkAnswer>> {
        let start = world.timekeeper.elapsed
        do throws(NetworkFailure) {
            let answer = try await world.network.send(request)
            let judgement = judge(answer, call, since: start)
            return passage(judgement, answer)
        } catch {
            return failure(error, call, since: start)
        }
    }

    private func openExchange(
        _ request: Client.Request,
        _ call: Call
    ) async -> Turnstile.Passage<Outcome<StreamedAnswer>> {
        let start = world.timekeeper.elapsed
        do throws(NetworkFailure) {
            let streamed = try await world.network.open(request)
            var answer = NetworkAnswer(status: streamed.status, headers: streamed.headers)
            let isSuccess = (200...299).contains(streamed.status)
            if !isSuccess { answer.body = try await streamed.beginning }
            let judgement = judge(answer, call, since: start)
            return passage(judgement, streamed)
        } catch {
            return failure(error, call, since: start)
        }
    }

    private func judge(_ answer: NetworkAnswer, _ call: Call, since start: Duration) -> Judgement {
        let elapsed = world.timekeeper.elapsed - start
        let now = world.now
        if elapsed < .seconds(5), let date = answer.headers["Date"] {
            let time = start + elapsed
            clock.withLock { $0.hear(date, at: now, after: elapsed, time: time) }
        }
        let judgement = Judgement(
            status: answer.status,
            headers: answer.headers,
            body: answer.body,
            of: call,
            now: now.ticks / Moment.ticksPerSecond
        )
        if judgement.isStrangers, answer.status < 400 {
            metrics.failed(call.operation, after: elapsed)
        } else {
            metrics.answered(call.operation, answer.status, after: elapsed)
        }
        return judgement
    }

    private func passage<Success>(
        _ judgement: Judgement,
        _ success: Success
    ) -> Turnstile.Passage<Outcome<Success>> {
        switch judgement {
        case .accepted:
            Turnstile.Passage(value: .success(success), result: .answered)
        case .throttled(let retryAfter, let mayHaveLanded):
            Turnstile.Passage(
                value: .throttled(mayHaveLanded: mayHaveLanded),
                result: mutated(.ignoresRetryAfter) ? .answered : .throttled(retryAfter)
            )
        case .setback(let setback):
            Turnstile.Passage(value: .setback(setback), result: setback.budgetResult)
        }
    }

    private func failure<Success>(
        _ error: NetworkFailure,
        _ call: Call,
        since start: Duration
    ) -> Turnstile.Passage<Outcome<Success>> {
        if error.kind != .cancelled {
            metrics.failed(call.operation, after: world.timekeeper.elapsed - start)
        }
        let setback = Setback(error, of: call)
        return Turnstile.Passage(
            value: .setback(setback),
            result: error.kind == .ours ? .dropped : setback.budgetResult
        )
    }
}

extension StreamedAnswer {
    /// As much of the body as an error has.
    fileprivate var beginning: [UInt8] {
        get async throws(NetworkFailure) {
            var bytes: [UInt8] = []
            while bytes.count < 64 << 10, let piece = try await next() { bytes += piece }
            return bytes
        }
    }
}

extension Setback {
    /// What the budget learns from it.
    fileprivate var budgetResult: RequestBudget.Result {
        switch reason {
        case .rejected, .stale, .missing, .unauthorised, .signedOut, .throttled: .answered
        case .foreign(.page(403)): .failed(isBan: true)
        case .unreachable(.exhausted), .cancelled: .dropped
        case .unavailable, .unreachable, .foreign, .malformed: .failed(isBan: false)
        }
    }
}
