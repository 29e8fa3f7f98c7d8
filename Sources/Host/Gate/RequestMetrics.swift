import HTTP
import Metrics

/// What is counted of the requests to this host, by routes and never by their paths, which hold names
/// and ids. A route of an account is called as that of the default account, which does the same.
struct RequestMetrics: Sendable {
    static let unknown = "other"

    private let requests: Labelled<String, Labelled<Int, Counter>>
    private let durations: Labelled<String, Histogram<Duration>>

    /// - Parameter routes: Their names; some may be there twice.
    init(_ registry: Registry, routes: [String]) {
        var seen: Set<String> = []
        let route = Label(
            "route",
            routes.filter { seen.insert($0).inserted },
            otherwise: Self.unknown
        )
        requests = registry.register(
            .counter("holdfast_http_requests_total", "Requests of clients, by their answers."),
            by: route,
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
            by: route
        )
    }

    /// Of a request that was answered before anybody knew where it leads.
    func noteRefused(_ status: Status) {
        requests[Self.unknown][status.rawValue].increment()
    }

    /// - Parameter route: Nil if there is none.
    func note(_ route: String?, _ status: Status, after duration: Duration) {
        let route = route ?? Self.unknown
        requests[route][status.rawValue].increment()
        durations[route].observe(duration)
    }
}
