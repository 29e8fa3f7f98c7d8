import FoundationEssentials
import HTTP
import Host
import JSON
import Machine
import Messaging
import Sync
import System

/// The way from one process to the server, on which things go wrong.
final class Line: Network {
    private struct State {
        var isCut = false
        /// The process at this end is no more.
        var isDead = false
        var orders: [Order] = []
        var phases = Phases()
        /// When something that is about items last left.
        var lastBegan: Duration?
        /// Since when it is known at this end that the session is over.
        var sessionEnded: Duration?
        /// What left before is about an earlier session.
        var sessionBegan = Duration.seconds(-1)
    }

    private struct Order {
        let mishap: Mishap
        /// Nil for all that it can happen to.
        let kind: WireCall.Kind?
        var left: Int

        func concerns(_ call: WireCall) -> Bool {
            mishap.concerns(call) && (kind == nil || kind == call.kind)
        }
    }

    private let ends: Ends
    private let state = Lock(State())

    /// What is at the ends of a line.
    struct Ends: Sendable {
        let host: Int
        let cloud: Cloud
        let oracle: Oracle
        let history: History
        let time: VirtualTimekeeper
        let dice: Dice
        let faults: [Mishap]
        let rate: @Sendable () -> Int
        let coverage: Coverage
        let background: Address<@Sendable () async -> Void>
        /// Called at each effect with its number; whether the process dies there.
        let passEffect: @Sendable () -> Bool
        let interlude: @Sendable (String) async -> Void
        /// What meets whatever is written to that item.
        let poison: @Sendable (WireCall) -> Mishap?
        /// Whether somebody else sends it, who has an account at the same host.
        let isLodgers: @Sendable (WireCall) -> Bool
        let cache: SyncCache
    }

    init(_ ends: Ends) { self.ends = ends }

    var isCut: Bool {
        get { state.withLock(\.isCut) }
        set { state.withLock { $0.isCut = newValue } }
    }

    var isDead: Bool { state.withLock(\.isDead) }

    var sessionEnded: Duration? { state.withLock(\.sessionEnded) }

    func beginSession() {
        state.withLock { ($0.sessionEnded, $0.sessionBegan) = (nil, ends.time.elapsed) }
    }

    private func endSession(_ left: Duration) {
        state.withLock { state in
            if left > state.sessionBegan { state.sessionEnded = ends.time.elapsed }
        }
    }

    func die() { state.withLock { $0.isDead = true } }

    func order(_ mishap: Mishap, on kind: WireCall.Kind? = nil, times: Int) {
        let order = Order(mishap: mishap, kind: kind, left: times)
        state.withLock { $0.orders.append(order) }
    }

    func calm() { state.withLock { $0.orders = [] } }

    // MARK: What the host is about

    var phase: Phase {
        let now = ends.time.elapsed
        return state.withLock { $0.phases.phase(at: now) }
    }

    var isReading: Bool {
        let now = ends.time.elapsed
        return state.withLock { $0.phases.isReading(at: now) }
    }

    func wait(for phase: Phase, _ latch: Latch) {
        state.withLock { $0.phases.wait(for: phase, latch) }
    }

    var lastBegan: Duration? { state.withLock(\.lastBegan) }

    private func begin(_ phase: Phase) {
        state.withLock { $0.lastBegan = ends.time.elapsed }
        for latch in state.withLock({ $0.phases.begin(phase) }) { latch.open() }
    }

    private func end(_ phase: Phase) async {
        let now = ends.time.elapsed
        let latches = state.withLock { $0.phases.end(phase, at: now) }
        for latch in latches { latch.open() }
        // Whoever has waited for this moment gets their chance in it, whatever takes them longer.
        guard !latches.isEmpty else { return }
        for _ in 0..<ends.dice.number(in: 0..<120) { await Task.yield() }
    }

    private func note(_ line: @autoclosure () -> String) {
        ends.history.note(line(), of: ends.host)
    }

    // MARK: One request

    func send(_ request: Client.Request) async throws(NetworkFailure) -> NetworkAnswer {
        var call = WireCall(request, ends.history, at: ends.time.elapsed)
        if call.kind == .create, ends.cloud.isBackup(call.body) { call.kind = .backup }
        call.isLodgers = ends.isLodgers(call)
        if isDead { throw Self.lost }
        if isCut {
            note("\(call) finds no network")
            throw NetworkFailure(.lost, "there is no network")
        }
        if ends.passEffect() { throw Self.lost }
        let mishap = ends.poison(call) ?? mishap(for: call)
        if let mishap { foretell(mishap, call) }
        ends.oracle.asked(call, by: ends.host, at: ends.time.elapsed)
        note("\(call)\(mishap.map { " meets \($0.rawValue)" } ?? "")")
        if let phase = call.phase { begin(phase) }
        let answer: NetworkAnswer
        var pause: Duration?
        do throws(NetworkFailure) {
            answer = try await carryOut(call, mishap, &pause)
        } catch {
            if let phase = call.phase { await end(phase) }
            throw error
        }
        if let phase = call.phase { await end(phase) }
        if isDead { throw Self.lost }
        if ends.passEffect() { throw Self.lost }
        note("\(call) is answered \(answer.status)")
        if let pause {
            ends.oracle.throttled(call, of: ends.host, for: pause, at: ends.time.elapsed)
        }
        // What is cut off in the middle may mean anything.
        if call.kind == .token, !call.isLodgers, answer.status == 400, mishap != .truncated {
            endSession(call.left)
        }
        return answer
    }

    /// The oracle hears of it before the host does.
    private func foretell(_ mishap: Mishap, _ call: WireCall) {
        ends.coverage.note(mishap, call.kind)
        let (host, now) = (ends.host, ends.time.elapsed)
        ends.oracle.with { knowledge in
            if mishap == .banPage { knowledge.lastBan = now }
            if [.partial, .stale, .cached].contains(mishap) {
                knowledge.hasLied = true
                knowledge.lies[host, default: []].append(mishap)
            }
            if mishap == .missing, call.kind == .compare {
                knowledge.lies[host, default: []].append(.missing)
            }
        }
    }

    /// Of what nobody answers, nobody knows whether it was done.
    private func carryOut(
        _ call: WireCall,
        _ mishap: Mishap?,
        _ pause: inout Duration?
    ) async throws(NetworkFailure) -> NetworkAnswer {
        do throws(NetworkFailure) {
            let answer = try await carry(call, mishap, &pause)
            if call.isObserved, mishap != nil || answer.status >= 500 {
                ends.oracle.doubt(at: ends.host, about: call.cipherID)
            }
            return answer
        } catch {
            if call.isObserved { ends.oracle.doubt(at: ends.host, about: call.cipherID) }
            throw error
        }
    }

    func open(_ request: Client.Request) async throws(NetworkFailure) -> StreamedAnswer {
        throw NetworkFailure(.lost, "nothing is streamed here")
    }

    func openLine(
        _ url: String,
        headers: Headers
    ) async throws(NetworkFailure) -> any HubLine {
        throw NetworkFailure(.lost, "there is no hub here")
    }

    private static let lost = NetworkFailure(
        .lost,
        "the connection was lost",
        isOutcomeUnknown: true
    )

    private func mishap(for call: WireCall) -> Mishap? {
        let ordered = state.withLock { state -> Mishap? in
            guard let index = state.orders.firstIndex(where: { $0.concerns(call) }) else {
                return nil
            }
            state.orders[index].left -= 1
            let mishap = state.orders[index].mishap
            if state.orders[index].left == 0 { state.orders.remove(at: index) }
            return mishap
        }
        if let ordered { return ordered }
        let rate = ends.rate()
        guard rate > 0, !ends.faults.isEmpty, ends.dice.happens(rate) else { return nil }
        let mishap = ends.dice.pick(ends.faults)
        return mishap.concerns(call) ? mishap : nil
    }

    private func rest(_ time: Duration) async throws(NetworkFailure) {
        do {
            try await ends.time.sleep(for: time)
        } catch {
            throw NetworkFailure(.cancelled, "cancelled", isOutcomeUnknown: true)
        }
    }

    /// - Parameter pause: For how long upstream then wants to be left alone.
    private func carry(
        _ call: WireCall,
        _ mishap: Mishap?,
        _ pause: inout Duration?
    ) async throws(NetworkFailure) -> NetworkAnswer {
        try await rest(ends.dice.duration(.milliseconds(2), .milliseconds(150)))
        switch mishap {
        case .refuse: throw NetworkFailure(.lost, "refused")
        case .drop: throw Self.lost
        case .loseAnswer:
            _ = try await commit(call)
            throw Self.lost
        case .commitLate:
            let wait = ends.dice.duration(.milliseconds(50), .seconds(12))
            try? await ends.background.tell {
                try? await self.ends.time.sleep(for: wait)
                self.note("\(call) is carried out late")
                _ = try? await self.commit(call, isLate: true)
            }
            throw Self.lost
        case .delayRequest:
            try await delay(call)
            return try await deliver(call)
        case .delayAnswer:
            let answer = try await commit(call).answer
            try await delay(call)
            return answer
        case .twice:
            _ = try await commit(call)
            return try await deliver(call)
        case .serverErrorAfter:
            _ = try await commit(call)
            return Self.json(500, "An error has occurred.")
        case .interlude:
            await ends.interlude(call.cipherID ?? "")
            return try await deliver(call)
        case .truncated:
            var answer = try await commit(call).answer
            answer.body.removeLast(answer.body.count / 2)
            answer.headers["Content-Length"] = nil
            return answer
        case .stale:
            _ = try await commit(call)
            return ends.cache.old(ends.dice) ?? Self.json(503, "busy")
        case .cached:
            let answer = try await commit(call).answer
            return ends.cache.cached(ends.dice) ?? answer
        case .partial:
            let answer = try await commit(call).answer
            let thinned = Self.thinned(answer, ends.dice)
            return ends.cache.isNews(thinned) ? thinned : answer
        case nil: return try await deliver(call)
        case .some(let mishap): return canned(mishap, &pause)
        }
    }

    /// As long as the client has patience, or less.
    private func delay(_ call: WireCall) async throws(NetworkFailure) {
        let wait = ends.dice.duration(.milliseconds(200), .seconds(600))
        let limit = call.limit
        try await rest(min(wait, limit))
        if wait >= limit {
            throw NetworkFailure(.lost, "timed out", isOutcomeUnknown: true)
        }
    }

    /// The server does it and the answer arrives.
    private func deliver(_ call: WireCall) async throws(NetworkFailure) -> NetworkAnswer {
        let (answer, there) = try await commit(call)
        try await rest(ends.dice.duration(.milliseconds(2), .milliseconds(150)))
        if (200...299).contains(answer.status), !isDead, !call.isLodgers {
            if call.kind == .list { ends.cache.keep(answer) }
            ends.oracle.delivered(call, answer, of: there, to: ends.host, at: ends.time.elapsed)
        }
        return answer
    }

    private typealias Outcome = (answer: NetworkAnswer, there: [String: PlainItem])

    /// - Returns: The server's answer, and what was there when it gave that.
    private func commit(
        _ call: WireCall,
        isLate: Bool = false
    ) async throws(NetworkFailure) -> Outcome {
        let outcome = await ends.cloud.turns.hold("") { () async -> Outcome? in
            let answer = try? await ends.cloud.carryOut(
                call.method,
                call.path,
                call.headers,
                call.body
            )
            guard let answer else { return nil }
            var headers = answer.headers
            headers["Date"] = ends.cloud.date
            await look(after: call, answer, isLate: isLate)
            let told = NetworkAnswer(
                status: answer.status.rawValue,
                headers: headers,
                body: answer.body
            )
            return (told, ends.oracle.with(\.upstream))
        }
        guard let outcome else { throw Self.lost }
        return outcome
    }
}

extension Line {
    /// Only what the request can have changed: to look at everything takes as long as all the rest.
    private func look(after call: WireCall, _ answer: Answer, isLate: Bool) async {
        guard call.isObserved else { return }
        let made = (try? JSON.Document(answer.body))?.root["id"]?.string
        let isNew = call.kind == .create || call.kind == .backup
        guard let id = isNew ? made : call.cipherID else { return }
        let known = ends.oracle.with(\.upstream)
        let items = await ends.cloud.look(at: id, among: known)
        ends.oracle.observe(items, after: call, by: ends.host, isLate: isLate)
    }
}

// MARK: - What is said in place of an answer

extension Line {
    private static func json(_ status: Int, _ message: String) -> NetworkAnswer {
        let body = "{\"message\":\"\(message)\",\"validationErrors\":null,\"object\":\"error\"}"
        return NetworkAnswer(
            status: status,
            headers: ["Content-Type": "application/json"],
            body: Array(body.utf8)
        )
    }

    private static func page(_ status: Int, _ text: String) -> NetworkAnswer {
        NetworkAnswer(
            status: status,
            headers: ["Content-Type": "text/html"],
            body: Array("<!DOCTYPE html><html><body>\(text)</body></html>".utf8)
        )
    }

    private func canned(_ mishap: Mishap, _ pause: inout Duration?) -> NetworkAnswer {
        switch mishap {
        case .serverErrorBefore: Self.json(500, "An error has occurred.")
        case .badGateway: Self.page(502, "502 Bad Gateway")
        case .unavailable: Self.json(503, "Busy.")
        case .invalid: Self.json(400, "The field Notes exceeds the maximum length.")
        case .unauthorised: Self.json(401, "Unauthorized.")
        case .forbidden: Self.json(403, "You do not have permission to do that.")
        case .banPage: Self.page(403, "Error 1006: you have been banned.")
        case .missing: Self.json(404, "Resource not found.")
        case .conflict: Self.json(409, "The item has changed meanwhile.")
        case .tooLarge: Self.json(413, "The request is too large.")
        case .portal: Self.page(200, "Please log in to the network.")
        default: throttled(mishap, &pause)
        }
    }

    private func throttled(_ mishap: Mishap, _ pause: inout Duration?) -> NetworkAnswer {
        var answer = Self.json(429, "Slow down! Too many requests.")
        answer.headers["Date"] = ends.cloud.date
        let seconds = ends.dice.number(in: 1..<900)
        let date = Int64(ends.time.now.timeIntervalSince1970) + ends.cloud.secondsAhead
        let told: (text: String?, pause: Duration) =
            switch mishap {
            case .throttledSeconds: ("\(seconds)", .seconds(seconds))
            // The fraction of the second is not told.
            case .throttledDate: (httpDate(date + Int64(seconds)), .seconds(seconds - 1))
            case .throttledHugely: ("99999999999", .seconds(3_600))
            case .throttledNegatively: ("-5", .zero)
            default: (nil, .zero)
            }
        answer.headers["Retry-After"] = told.text
        pause = told.pause
        return answer
    }
}
