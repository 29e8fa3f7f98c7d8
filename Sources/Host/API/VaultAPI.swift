import Crypto
import HTTP
import Logging
import System

/// What the host answers to those who have been let in: the vault as users of `bw serve` know it,
/// and what there is beside it.
///
/// Everything is answered from the desks; nothing is kept here.
struct VaultAPI: Sendable {
    let household: any Household
    let timekeeper: any Timekeeper
    let entropy: any Entropy
    let breaches: any BreachRange
    let verify: Check
    let suffixes: PublicSuffixes
    let log: Logger
    let uploadRoom = UploadRoom(bytes: 2 * uploadLimit)

    /// - Parameter verify: Looks through all that the host keeps.
    init(
        household: any Household,
        timekeeper: any Timekeeper,
        entropy: any Entropy = SystemEntropy(),
        breaches: any BreachRange,
        verify: @escaping Check,
        log: Logger
    ) {
        self.household = household
        self.timekeeper = timekeeper
        self.entropy = entropy
        self.breaches = breaches
        self.verify = verify
        self.log = log
        suffixes = PublicSuffixes(path: PublicSuffixes.systemPath)
    }

    /// The answer, whatever the request. Whether the caller may ask for this at all was looked at
    /// before, by the way's scope; whose account it is about is looked at here.
    func answer(_ request: Request, on way: Way, from caller: Caller) async -> Response {
        let response = await plainAnswer(request, way, caller)
        return request.target.query["pretty"] == nil ? response : response.indented
    }

    private func plainAnswer(_ request: Request, _ way: Way, _ caller: Caller) async -> Response {
        switch way.finding {
        case .nothing: return .text("Not Found", status: .notFound)
        case .noMethod(let refusal, _): return refusal
        case .route(let route, let values):
            do {
                return try await route.work.answer(Call(self, request, caller, route, values))
            } catch {
                return answer(to: error)
            }
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
    /// Where a request leads, looked for once.
    struct Way: Sendable {
        let finding: RouteTable.Finding

        /// What a caller must at least be allowed to do. What no route answers needs next to nothing.
        var scope: Caller.Scope {
            if case .route(let route, _) = finding { route.scope } else { .read }
        }

        /// What metrics call it; nil if there is no such path.
        var name: String? {
            switch finding {
            case .route(let route, _): route.name
            case .noMethod(_, let route): route?.name
            case .nothing: nil
            }
        }
    }

    static func way(of request: Request) -> Way {
        Way(finding: table.find(request.method, request.target))
    }

    /// Every request that is answered, and what metrics call it.
    static var requests: [(method: Method, template: String, name: String)] {
        table.routes.map { ($0.method, $0.template, $0.name) }
    }
}
