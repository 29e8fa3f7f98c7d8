public import Messaging
internal import System
internal import Vault

/// Asks every service of the mesh now and then whether it still reads its messages, and shows when
/// each kind of them last did.
///
/// One that stands at its mailbox, with nothing to read, need not be asked: that is where it would
/// answer. For the others a question goes through the mailbox, so one that hangs, or never comes to
/// its messages, does not answer. It is asked nothing more until it has.
public final class Heart: Service {
    /// Names a service that was joined.
    public struct Pulse: Hashable, Sendable {
        fileprivate let number: Int
    }

    private let surroundings: Surroundings
    private let circle = Lock(Circle())
    /// Carries nothing: all that can be asked of it is to close.
    private let requests = Mailbox<Never>(name: "heart", capacity: 1)

    static let interval = Duration.seconds(5)
    /// Whoever has not answered for longer has come to a stand.
    public static let patience = Duration.seconds(30)

    /// Whether every service has shown lately that it reads its messages.
    public var isBeating: Bool {
        let now = surroundings.timekeeper.elapsed
        return circle.withLock { $0.silence(at: now) } <= Self.patience
    }

    public init(surroundings: Surroundings) {
        self.surroundings = surroundings
    }

    /// - Parameter question: Makes the service's message of the reply.
    public func join<Message: Sendable>(
        _ actor: SyncMetrics.Actor,
        _ address: Address<Message>,
        _ question: @escaping @Sendable (Reply<Void>) -> Message
    ) -> Pulse {
        let (now, elapsed) = (surroundings.now, surroundings.timekeeper.elapsed)
        return circle.withLock {
            $0.join(
                Circle.Member(
                    actor: actor,
                    isReading: { address.isAwaited },
                    ask: { () async throws(Undelivered) in try await address.tryAsk(question) },
                    lastBeat: now,
                    lastHeard: elapsed
                )
            )
        }
    }

    public func leave(_ pulse: Pulse) {
        circle.withLock { $0.members[pulse.number] = nil }
    }

    public func close() { requests.close() }

    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.beat() }
            group.addTask { for await _ in self.requests {} }
            await group.next()
            group.cancelAll()
        }
    }

    private func beat() async {
        await withDiscardingTaskGroup { asking in
            var wait: Duration
            repeat {
                let (now, elapsed) = (surroundings.now, surroundings.timekeeper.elapsed)
                let look = circle.withLock { $0.look(at: now, elapsed) }
                if !look.questions.isEmpty { asking.addTask { await self.ask(look.questions) } }
                if look.isLast { show() }
                wait = Self.interval / look.ofRound
            } while (try? await surroundings.timekeeper.sleep(for: wait)) != nil
            asking.cancelAll()
        }
    }

    private func ask(_ questions: [(number: Int, ask: Circle.Question)]) async {
        await withDiscardingTaskGroup { group in
            for (number, question) in questions {
                group.addTask { await self.ask(number, question) }
            }
        }
    }

    private func ask(_ number: Int, _ question: Circle.Question) async {
        let hasAnswered = (try? await question()) != nil
        guard hasAnswered else { return circle.withLock { $0.noteSilence(number) } }
        let (now, elapsed) = (surroundings.now, surroundings.timekeeper.elapsed)
        circle.withLock { $0.noteBeat(number, at: now, elapsed) }
    }

    private func show() {
        let now = surroundings.now
        for (actor, moment) in circle.withLock({ $0.lastBeats(at: now) }) {
            surroundings.metrics.heartbeat(actor, at: moment)
        }
    }
}

/// Those who are asked, and when each answered last.
private struct Circle: Sendable {
    typealias Question = @Sendable () async throws(Undelivered) -> Void

    struct Member: Sendable {
        let actor: SyncMetrics.Actor
        let isReading: @Sendable () -> Bool
        let ask: Question
        var lastBeat: Moment
        /// The same by the clock that nobody sets.
        var lastHeard: Duration
        var isAsked = false
    }

    /// Some of those who are asked in a round. Thousands at once would hold up whoever else has something to do.
    struct Look: Sendable {
        var questions: [(number: Int, ask: Question)] = []
        let isLast: Bool
        /// How many there are in the round.
        let ofRound: Int
    }

    private static let membersOfLook = 256

    var members: [Int: Member] = [:]
    private var lastNumber = 0
    /// Who is left of the round.
    private var round: ArraySlice<Int> = []
    private var looksOfRound = 1

    mutating func join(_ member: Member) -> Heart.Pulse {
        lastNumber += 1
        members[lastNumber] = member
        return Heart.Pulse(number: lastNumber)
    }

    /// Whoever is seen to read needs no question.
    mutating func look(at now: Moment, _ elapsed: Duration) -> Look {
        if round.isEmpty {
            // A dictionary has another order in each process, and a simulation is to have one.
            round = members.keys.sorted()[...]
            looksOfRound = max(1, (round.count + Self.membersOfLook - 1) / Self.membersOfLook)
        }
        let some = round.prefix(Self.membersOfLook)
        round = round.dropFirst(some.count)
        var look = Look(isLast: round.isEmpty, ofRound: looksOfRound)
        for number in some {
            guard let member = members[number], !member.isAsked else { continue }
            if member.isReading() {
                noteBeat(number, at: now, elapsed)
            } else {
                members[number]?.isAsked = true
                look.questions.append((number: number, ask: member.ask))
            }
        }
        return look
    }

    mutating func noteSilence(_ number: Int) { members[number]?.isAsked = false }

    mutating func noteBeat(_ number: Int, at now: Moment, _ elapsed: Duration) {
        members[number]?.isAsked = false
        members[number]?.lastBeat = now
        members[number]?.lastHeard = elapsed
    }

    /// For how long the most silent one has not answered.
    func silence(at now: Duration) -> Duration {
        members.values.map(\.lastHeard).min().map { now - $0 } ?? .zero
    }

    /// Of several, the most silent one counts. Where there is none, none hangs.
    func lastBeats(at now: Moment) -> [SyncMetrics.Actor: Moment] {
        var beats: [SyncMetrics.Actor: Moment] = [:]
        for member in members.values {
            beats[member.actor] = min(member.lastBeat, beats[member.actor] ?? member.lastBeat)
        }
        for actor in SyncMetrics.Actor.allCases where beats[actor] == nil { beats[actor] = now }
        return beats
    }
}
