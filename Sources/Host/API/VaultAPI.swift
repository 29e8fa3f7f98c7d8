public import Crypto
public import HTTP
public import Logging
public import System

/// What the host answers to those who have been let in: the vault as users of `bw serve` know it,
/// and what there is beside it.
///
/// Everything is answered from the desks; nothing is kept here.
public struct VaultAPI: Sendable {
    let household: any Household
    let timekeeper: any Timekeeper
    let entropy: any Entropy
    let breaches: any BreachRange
    let suffixes: PublicSuffixes
    let log: Logger

    public init(
        household: any Household,
        timekeeper: any Timekeeper,
        entropy: any Entropy = SystemEntropy(),
        breaches: any BreachRange,
        log: Logger
    ) {
        self.household = household
        self.timekeeper = timekeeper
        self.entropy = entropy
        self.breaches = breaches
        self.log = log
        suffixes = PublicSuffixes(path: PublicSuffixes.systemPath)
    }

    /// The answer, whatever the request. Whether the caller may ask for this at all was looked at
    /// before, by ``scope(for:_:)``; whose account it is about is looked at here.
    public func answer(_ request: Request, from caller: Caller) async -> Response {
        let response = await plainAnswer(request, caller)
        return request.target.query["pretty"] == nil ? response : response.indented
    }

    private func plainAnswer(_ request: Request, _ caller: Caller) async -> Response {
        guard let match = Self.table.match(request.target) else {
            return .text("Not Found", status: .notFound)
        }
        guard let route = match.endpoint.route(for: request.method) else {
            return match.endpoint.refusal(of: request.method)
        }
        do {
            let call = Call(self, request, caller, route, match.values)
            return try await route.work.answer(call)
        } catch {
            return answer(to: error)
        }
    }

    private func answer(to error: any Error) -> Response {
        switch error {
        case let refusal as DeskRefusal: return .refusing(refusal)
        case let declined as Declined: return declined.response
        case let error as BodyError: return .refusing(error)
        default:
            log.error("A request could not be answered.", because: error)
            return .failure("The host could not do that.", .internalError)
        }
    }
}

extension VaultAPI {
    /// What a caller must at least be allowed to do. What no route answers needs next to nothing.
    public static func scope(for method: Method, _ target: Target) -> Caller.Scope {
        table.match(target)?.endpoint.route(for: method)?.scope ?? .read
    }

    /// The template of the path, as metrics call the route; nil if there is none.
    public static func template(for method: Method, _ target: Target) -> String? {
        guard let endpoint = table.match(target)?.endpoint else { return nil }
        return (endpoint.route(for: method) ?? endpoint.any)?.template
    }

    /// Every request that is answered.
    public static var requests: [(method: Method, template: String)] {
        table.routes.map { ($0.method, $0.template) }
    }

    /// All templates there are.
    public static var routeTemplates: [String] { table.templates }
}
