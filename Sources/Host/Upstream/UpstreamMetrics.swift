public import Metrics

/// What is counted of the requests to upstreams.
public final class UpstreamMetrics: Sendable {
    /// How a request ended, in the words of the metric.
    enum Result: String, CaseIterable, Hashable, Sendable {
        case succeeded = "2xx"
        case refused = "4xx"
        case throttled = "429"
        case failed = "5xx"
        /// No answer, or none of Bitwarden's.
        case transport

        init(_ status: Int) {
            switch status {
            case 101, 200...299: self = .succeeded
            case 429: self = .throttled
            case 400...499: self = .refused
            case 500...599: self = .failed
            default: self = .transport
            }
        }
    }

    let budget: BudgetMetrics
    private let requests: Labelled<Operation, Labelled<Result, Counter>>
    private let durations: Labelled<Operation, Histogram<Duration>>

    public init(_ registry: Registry) {
        budget = BudgetMetrics(registry)
        requests = registry.register(
            .counter("holdfast_upstream_requests_total", "Requests to upstreams, by their end."),
            by: Label("operation"),
            Label("result")
        )
        durations = registry.register(
            .histogram(
                "holdfast_upstream_request_duration_seconds",
                "How long requests to upstreams took, without the wait for their turn.",
                bounds: [
                    .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50),
                    .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1),
                    .milliseconds(2_500), .seconds(5), .seconds(10), .seconds(30), .seconds(60),
                ]
            ),
            by: Label("operation")
        )
    }

    func answered(_ operation: Operation, _ status: Int, after duration: Duration) {
        note(operation, Result(status), duration)
    }

    func failed(_ operation: Operation, after duration: Duration) {
        note(operation, .transport, duration)
    }

    private func note(_ operation: Operation, _ result: Result, _ duration: Duration) {
        requests[operation][result].increment()
        durations[operation].observe(duration)
    }
}
