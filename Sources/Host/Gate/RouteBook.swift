import HTTP
import Metrics

/// What requests are called where they are counted and written down: never by their paths, which
/// hold names and ids, but by the templates of their routes.
///
/// A route of an account is called as that of the default account, which does the same.
struct RouteBook: Sendable {
    static let unknown = "other"

    /// All names that a request can have, without ``unknown``.
    let names: [String]
    private let router: Router

    init(_ routes: [(method: HTTP.Method, template: String)]) {
        var router = Router()
        var names: [String] = []
        for (method, template) in routes {
            router.on(method, template) { _ in Response() }
            let name = Self.name(of: template)
            if !names.contains(name) { names.append(name) }
        }
        self.router = router
        self.names = names
    }

    func name(of request: Request) -> String {
        switch router.find(request) {
        case .handler(_, let parameters): parameters.template.map(Self.name) ?? Self.unknown
        case .answer(_, let template): template.map(Self.name) ?? Self.unknown
        }
    }

    private static func name(of template: Template) -> String { name(of: template.description) }

    private static func name(of template: String) -> String {
        let parts = template.split(separator: "/")
        guard parts.count > 2, parts[0] == "accounts", parts[1].hasPrefix("{") else {
            return template
        }
        return "/" + parts.dropFirst(2).joined(separator: "/")
    }
}

/// What is counted of the requests to this host.
struct RequestMetrics: Sendable {
    private let requests: Labelled<String, Labelled<Int, Counter>>
    private let durations: Labelled<String, Histogram<Duration>>

    init(_ registry: Registry, routes: [String]) {
        requests = registry.register(
            .counter("holdfast_http_requests_total", "Requests of clients, by their answers."),
            by: Label("route", routes, otherwise: RouteBook.unknown),
            Label(
                "code",
                [200, 400, 401, 403, 404, 405, 413, 429, 500, 501, 503, 507],
                otherwise: "other"
            )
        )
        durations = registry.register(
            .histogram(
                "holdfast_http_request_duration_seconds",
                "How long clients waited until their answers began.",
                bounds: [
                    .microseconds(250), .milliseconds(1), .milliseconds(5), .milliseconds(25),
                    .milliseconds(100), .milliseconds(500), .milliseconds(2_500), .seconds(10),
                    .seconds(60),
                ]
            ),
            by: Label("route", routes, otherwise: RouteBook.unknown)
        )
    }

    func note(_ route: String, _ status: Status, after duration: Duration) {
        requests[route][status.rawValue].increment()
        durations[route].observe(duration)
    }
}
