import Metrics

/// What is shown of the budgets of all upstreams together; hosts have no names here.
final class BudgetMetrics: Sendable {
    enum Refusal: String, CaseIterable {
        case throttled, held
    }

    private let underWay: Gauge
    let waiting: Gauge
    private let throttled: Counter
    private let bans: Counter
    private let refused: Labelled<Refusal, Counter>
    private let breakers: Labelled<Breaker.Kind, Gauge>

    init(_ registry: Registry) {
        underWay = registry.register(
            .gauge("holdfast_upstream_requests_in_flight", "Requests to upstreams under way.")
        )
        waiting = registry.register(
            .gauge("holdfast_upstream_requests_waiting", "Requests that wait for their turn.")
        )
        throttled = registry.register(
            .counter(
                "holdfast_upstream_throttled_total",
                "Answers by which an upstream asked to be left alone for a while."
            )
        )
        bans = registry.register(
            .counter(
                "holdfast_upstream_bans_total",
                "Answers that were the page of a guard that wants this host gone."
            )
        )
        refused = registry.register(
            .counter(
                "holdfast_upstream_requests_refused_total",
                "Requests that were not sent, because their upstream asked for that or is away."
            ),
            by: Label("reason")
        )
        breakers = registry.register(
            .gauge("holdfast_upstream_breakers", "Upstreams by whether they are asked at all."),
            by: Label("state")
        )
    }

    func upstreamAppeared() { breakers[.closed].increment() }

    func upstreamLeft(_ last: Breaker.Kind) { breakers[last].decrement() }

    func entered() { underWay.increment() }

    func left(_ result: RequestBudget.Result) {
        underWay.decrement()
        switch result {
        case .throttled: throttled.increment()
        case .failed(isBan: true): bans.increment()
        case .answered, .failed(isBan: false), .dropped: break
        }
    }

    func refused(_ refusal: RequestBudget.Refusal) {
        switch refusal {
        case .throttled: refused[.throttled].increment()
        case .held: refused[.held].increment()
        case .withdrawn: break
        }
    }

    func breakerMoved(from before: Breaker.Kind, to after: Breaker.Kind) {
        guard before != after else { return }
        breakers[before].decrement()
        breakers[after].increment()
    }
}
