import Glibc
import HTTP
import Logging
import Metrics
import System

/// Decides who may come in, and writes down who may not.
///
/// The first thing that every request meets; the API behind it only ever sees callers.
struct Gate: Sendable {
    /// What lies behind the gate.
    struct Inside: Sendable {
        /// Every request that is answered, and what it is called where it is counted.
        var routes: [(method: HTTP.Method, template: String, name: String)]
        var find: @Sendable (Request) -> Passage

        /// Those of the gate itself as well.
        var allRoutes: [(method: HTTP.Method, template: String, name: String)] {
            routes + TokenRoutes.described.map { ($0.method, $0.template, $0.template) }
        }
    }

    /// Where a request leads.
    struct Passage: Sendable {
        /// What the route is called; nil if there is none.
        let name: String?
        /// What a caller must at least be allowed to do.
        let scope: Caller.Scope
        let answer: @Sendable (Caller) async -> Response
    }

    private let inside: Inside
    private let tokens: TokenCabinet
    private let tokenRoutes: TokenRoutes
    private let isOpen: Bool
    private let metrics: RequestMetrics
    private let log: Logger
    private let timekeeper: any Timekeeper
    private let throttle = SharedThrottle()

    /// - Parameter isOpen: Whether nobody on TCP is asked for a token.
    init(
        _ inside: Inside,
        tokens: TokenCabinet,
        isOpen: Bool,
        registry: Registry,
        log: Logger,
        timekeeper: any Timekeeper
    ) {
        self.inside = inside
        self.tokens = tokens
        self.isOpen = isOpen
        self.log = log
        self.timekeeper = timekeeper
        tokenRoutes = TokenRoutes(tokens)
        metrics = RequestMetrics(registry, routes: inside.allRoutes.map(\.name))
    }

    /// - Parameter names: Those of the listener at which the request came in.
    func respond(to request: Request, at names: HostNames) async -> Response {
        let start = timekeeper.elapsed
        let passage = tokenRoutes.passage(request) ?? inside.find(request)
        let response = await rule(request, names, passage)
        metrics.note(passage.name, response.status, after: timekeeper.elapsed - start)
        return response
    }

    /// Counts somebody who did not get as far as this gate.
    public func noteRefused(_ status: Status) { metrics.noteRefused(status) }

    private func rule(
        _ request: Request,
        _ names: HostNames,
        _ passage: Passage
    ) async -> Response {
        if let limit = request.limitExceeded { return .refusing(.tooLarge(limit: limit)) }
        let token = request.bearer.map { tokens.token(for: $0) }
        switch approach(of: request, names, token, passage.scope).ruling {
        case .refused(.nothingThere):
            // A question that clients ask to see whether anybody is here.
            return answer(.nothingThere)
        case .refused(let refusal):
            note(refusal, request, passage, token ?? nil)
            return answer(refusal)
        case .admitted(let caller):
            let response = await passage.answer(caller)
            if passage.scope == .admin, request.method.changes {
                noteAct(request, passage, token ?? nil, response.status)
            }
            guard let token = token ?? nil else { return response }
            return response.ending(after: { await tokens.waitForRevocation(of: token.id) })
        }
    }

    private func approach(
        of request: Request,
        _ names: HostNames,
        _ token: Token??,
        _ needed: Caller.Scope
    ) -> Approach {
        Approach(
            door: request.door(names),
            isRoot: request.isRoot,
            isOpen: isOpen,
            credential: token.map { $0.map { .known($0.caller) } ?? .unknown } ?? .none,
            needed: needed
        )
    }

    private func answer(_ refusal: Ruling.Refusal) -> Response {
        switch refusal {
        case .foreignUser:
            return .failure(
                "This socket is for the host's own user and root.",
                .forbidden
            )
        case .foreignHost, .foreignOrigin:
            return .text("Forbidden", status: .forbidden)
        case .nothingThere:
            return .text("Not Found", status: .notFound)
        case .scopeTooSmall:
            return .scopeTooSmall
        case .noToken:
            return .challenge("A token is needed: Authorization: Bearer TOKEN.")
        case .wrongToken:
            guard let wait = throttle.fail(at: timekeeper.elapsed) else {
                return .challenge("The token is not valid.")
            }
            return .later("Too many wrong tokens have been tried.", wait)
        }
    }
}

// MARK: What is written down

extension Gate {
    private func note(
        _ refusal: Ruling.Refusal,
        _ request: Request,
        _ passage: Passage,
        _ token: Token?
    ) {
        var log = log
        // By that an operator sees how people call this machine.
        if refusal == .foreignHost {
            log = log.with("host", request.headers["Host"]?.prefix(Self.shownHost))
        }
        log.notice(
            "A request was refused.",
            [
                "reason": refusal.rawValue, "method": request.method.rawValue,
                "route": passage.shownName, "peer": request.peer.text, "token": token?.id,
            ]
        )
    }

    /// In characters.
    private static let shownHost = 100

    private func noteAct(
        _ request: Request,
        _ passage: Passage,
        _ token: Token?,
        _ status: Status
    ) {
        log.notice(
            "An administrator acted.",
            [
                "method": request.method.rawValue, "route": passage.shownName,
                "status": status.rawValue, "peer": request.peer.text, "token": token?.id,
            ]
        )
    }
}

extension Gate.Passage {
    fileprivate var shownName: String { name ?? RequestMetrics.unknown }
}

extension Peer {
    fileprivate var text: String {
        switch self {
        case .tcp(let address): address.host
        case .unix(let credentials): "uid \(credentials.user)"
        case .memory: "this process"
        }
    }
}

extension HTTP.Method {
    fileprivate var changes: Bool { ![.get, .head, .options].contains(self) }
}

extension Request {
    /// The limit that its body is declared to go beyond. Only a form of several parts brings a file.
    fileprivate var limitExceeded: Int? {
        let type = headers["Content-Type"].map(MediaTypeName.init)
        let limit =
            if type?.name == "multipart/form-data" {
                VaultAPI.uploadLimit
            } else if type?.isForm == true {
                VaultAPI.Call.formLimit
            } else {
                Request.bodyLimit
            }
        return (body.declaredLength ?? 0) > limit ? limit : nil
    }

    fileprivate var isRoot: Bool {
        [.get, .head].contains(method) && target.segments.isEmpty && !target.isAsterisk
    }

    /// The token that was sent along; the name of the scheme counts in any case.
    fileprivate var bearer: String? {
        guard let field = headers["Authorization"] else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return "" }
        return String(parts[1].drop { $0 == " " })
    }

    fileprivate func door(_ names: HostNames) -> Approach.Door {
        if case .unix(let credentials) = peer {
            return .unix(isOwn: credentials.user == geteuid() || credentials.user == 0)
        }
        if door.kind == .unix { return .unix(isOwn: false) }
        return .tcp(isOwnHost: names.admit(headers["Host"]), hasOrigin: headers["Origin"] != nil)
    }
}

extension Response {
    /// A stream is cut off then, wherever it is; whoever was let in is not let in for ever.
    fileprivate func ending(after end: @escaping @Sendable () async -> Void) -> Response {
        guard case .stream(let length, let produce) = body else { return self }
        var response = self
        response.body = .stream(length: length) { writer in
            try await withThrowingTaskGroup { stays in
                stays.addTask { try await produce(writer) }
                stays.addTask {
                    await end()
                    try Task.checkCancellation()
                    throw TokenRevoked()
                }
                try await stays.next()
                stays.cancelAll()
            }
        }
        return response
    }

    static var scopeTooSmall: Response { failure("The token does not allow this.", .forbidden) }

    fileprivate static func challenge(_ message: String) -> Response {
        var response = failure(message, .unauthorized)
        response.headers["WWW-Authenticate"] = "Bearer"
        return response
    }

    fileprivate static func later(_ message: String, _ wait: Duration) -> Response {
        var response = failure(message, .tooManyRequests)
        response.headers["Retry-After"] = String(wait.components.seconds)
        return response
    }
}

/// The throttle that all connections share.
private final class SharedThrottle: Sendable {
    private let throttle = Lock(FailureThrottle())

    func fail(at moment: Duration) -> Duration? {
        throttle.withLock { $0.fail(at: moment) }
    }
}

private struct TokenRevoked: Error {}
