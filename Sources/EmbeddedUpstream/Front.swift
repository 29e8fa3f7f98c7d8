import Crypto
import HTTP
import Messaging
import System
import Vault

/// Takes requests in, and lets go wrong what is to go wrong.
struct Front: Sendable {
    let ledger: Ledger
    let personality: Personality
    let time: any Timekeeper
    let chance: any Entropy
    let late: LateCommits
    let absences: Address<Duration>
    let passingPlace: PassingPlace
    /// The same routes, for calls that nobody has sent.
    let backdoor: Router

    static let bodyLimit = 104_857_600

    func serve(_ request: Request, _ route: Routes.Route) async -> Response {
        var response = await answer(request, route)
        if response.headers["Date"] == nil { response.headers["Date"] = ledger.date }
        return response
    }

    private func answer(_ request: Request, _ route: Routes.Route) async -> Response {
        guard let call = await Self.call(request, personality, chance) else { return .cut }
        defer { passingPlace.pass() }
        switch await ledger.admit(call, route) {
        case .done(let reply): return reply.response
        case .faulty(let effect, let call): return await suffer(effect, call, route)
        }
    }

    func refuse(_ refusal: Refusal) -> Response { personality.wording.answer(refusal).response }

    static func call(
        _ request: Request,
        _ personality: Personality,
        _ chance: any Entropy
    ) async -> Call? {
        guard let body = try? await request.body(limit: bodyLimit) else { return nil }
        let host = request.headers["Host"] ?? "localhost"
        return Call(
            method: request.method,
            target: request.target,
            parameters: request.parameters,
            headers: request.headers,
            body: body,
            personality: personality,
            now: Moment(ticks: 0),
            chance: chance,
            origin: (request.headers["X-Forwarded-Proto"] ?? "http") + "://" + host
        )
    }

    private func suffer(
        _ effect: Fault.Effect,
        _ call: Call,
        _ route: Routes.Route
    ) async -> Response {
        switch effect {
        case .drop, .loseAnswer, .commitLate, .hang, .delay, .delayAnswer, .overtaken, .twice:
            return await sufferInTime(effect, call, route)
        case .answer(let canned, let isCarriedOut):
            if isCarriedOut { _ = await ledger.carryOut(call, route) }
            return canned.response
        case .abruptly(let effect): return await suffer(effect, call, route).abrupt
        case .goAway(let duration):
            try? await absences.tell(duration)
            return .cut
        case .stale: return refuse(.stale)
        case .missing: return refuse(route.operation.missing)
        case .invalid: return refuse(.tooLong(member: "Notes", limit: 10_000))
        case .unauthorized: return refuse(.unauthorized)
        case .invalidGrant: return refuse(.noSuchGrant)
        case .outdated: return await ledger.answerOutdated(call, route).response
        case .interlude(let calls):
            for scripted in calls { await play(scripted, call) }
            return await ledger.carryOut(call, route).response
        case .loseEvents: return await ledger.carryOut(call, route, isHeard: false).response
        case .tellEarly(let time):
            let seed = chance.next()
            await ledger.foresee(call.drawing(from: seed), route)
            guard await rest(time) else { return .cut }
            return await ledger.carryOut(call.drawing(from: seed), route, isHeard: false).response
        case .truncate, .stall, .wrongLength, .bomb, .reshape, .keepOnly:
            return damage(await ledger.carryOut(call, route), effect)
        }
    }

    /// What concerns whether and when the call is carried out.
    private func sufferInTime(
        _ effect: Fault.Effect,
        _ call: Call,
        _ route: Routes.Route
    ) async -> Response {
        switch effect {
        case .loseAnswer:
            _ = await ledger.carryOut(call, route)
            return .cut
        case .commitLate(let duration):
            await late.owe(call, route, after: duration)
            return .cut
        case .hang:
            await clientLeft()
            return .cut
        case .delay(let duration):
            guard await rest(duration) else { return .cut }
            return await ledger.carryOut(call, route).response
        case .delayAnswer(let duration):
            let reply = await ledger.carryOut(call, route)
            return await rest(duration) ? reply.response : .cut
        case .overtaken(let duration):
            await passingPlace.waitForAnother(atMost: duration, time)
            return await ledger.carryOut(call, route).response
        case .twice:
            _ = await ledger.carryOut(call, route)
            return await ledger.carryOut(call, route).response
        default: return .cut
        }
    }

    private func damage(_ reply: Reply, _ effect: Fault.Effect) -> Response {
        switch effect {
        case .truncate(let count): reply.truncated(after: count)
        case .stall(let count, let duration): reply.stalled(after: count, duration, time)
        case .wrongLength(let count): reply.misannounced(by: count)
        case .bomb(let count): reply.bomb(count).response
        case .reshape(let changes): reply.reshaped(changes).response
        case .keepOnly(let count): reply.keeping(count).response
        default: reply.response
        }
    }

    /// - Returns: Whether the time has passed; the client may leave before that.
    private func rest(_ duration: Duration) async -> Bool {
        (try? await time.sleep(for: duration)) != nil
    }

    /// Waits for that alone and not for a time as well: the runtime keeps the timer of a wait that was
    /// broken off until it is due, some 700 bytes for each.
    private func clientLeft() async {
        let nothing = AsyncStream<Never> { _ in }
        for await _ in nothing {}
    }

    /// Another device of the same user makes a call of its own. It meets no fault.
    private func play(_ scripted: ScriptedCall, _ call: Call) async {
        guard let target = Target(scripted.path) else { return }
        let request = Request(
            Method(rawValue: scripted.method),
            target,
            headers: call.headers,
            body: .bytes(scripted.body)
        )
        _ = await backdoor.respond(to: request)
    }
}

extension Operation {
    /// What the server says when there is nothing to do it with.
    fileprivate var missing: Refusal {
        switch self {
        case .readFolder, .updateFolder, .deleteFolder: .missingFolder
        case .placeCipher: .missingCipherToPlace
        case .sends: .missingSend
        case .organizations: .missingOther
        case .publicKey: .missingUser
        default: .missingCipher
        }
    }
}

extension Canned {
    fileprivate var response: Response {
        var response = Response(Status(rawValue: status), body: .bytes(body))
        response.headers["Content-Type"] = contentType
        for header in headers { response.headers.add(header.name, header.value) }
        return response
    }
}
