import Testing

@testable import Metrics

struct InstrumentTests {
    private let registry = Registry()

    @Test func `many tasks count, and nothing is lost`() async {
        let counter = registry.register(.counter("holdfast_edits_total", "Edits."))
        let gauge = registry.register(.gauge("holdfast_accounts", "Accounts."))
        let rows = registry.register(
            .histogram("holdfast_store_commit_rows", "Rows.", bounds: [1, 8, 64])
        )
        await withTaskGroup { tasks in
            for _ in 0..<8 {
                tasks.addTask {
                    for number in 1...10_000 {
                        counter.increment()
                        gauge.add(number % 2 == 0 ? 0.5 : -0.25)
                        rows.observe(number % 100)
                    }
                }
            }
        }
        #expect(counter.value == 80_000)
        #expect(gauge.value == 10_000)
        #expect(rows.snapshot.buckets == [1_600, 5_600, 44_800, 28_000])
        #expect(rows.snapshot.count == 80_000)
        #expect(rows.snapshot.ticks == 8 * 100 * 4_950)
    }

    @Test func `a page in the middle of counting agrees with itself`() async throws {
        let rows = registry.register(
            .histogram("holdfast_store_commit_rows", "Rows.", bounds: [1, 2, 3])
        )
        try await withThrowingTaskGroup { tasks in
            for _ in 0..<2 {
                tasks.addTask { for number in 0..<20_000 { rows.observe(number % 5) } }
            }
            tasks.addTask { [registry] in
                for _ in 0..<200 {
                    try OpenMetricsText(await registry.text(.openMetrics)).check()
                }
            }
            try await tasks.waitForAll()
        }
        #expect(rows.snapshot.count == 40_000)
    }

    @Test
    func `a value that equals a bound belongs below it, and a negative one counts as nothing`() {
        let waits = registry.register(
            .histogram("holdfast_channel_wait_seconds", "Waits.", bounds: [.seconds(1)])
        )
        waits.observe(.seconds(1))
        waits.observe(.seconds(1) + .nanoseconds(1))
        waits.observe(.seconds(-5))
        #expect(waits.snapshot == HistogramSnapshot(buckets: [2, 1], ticks: 2_000_000_001))
    }

    private static let durations: [(Duration, UInt64)] = [
        (.zero, 0), (.nanoseconds(1), 1), (.seconds(18), 18_000_000_000),
        (.seconds(19), 19_000_000_000), (.seconds(1 << 40), .max), (.seconds(-1), 0),
        (.init(secondsComponent: 0, attosecondsComponent: 999_999_999), 0),
    ]

    @Test(arguments: durations)
    func `a duration has whole nanoseconds`(_ duration: Duration, _ ticks: UInt64) {
        #expect(duration.ticks == ticks)
    }

    @Test func `a label that was not announced is counted with the others`() async {
        let requests = registry.register(
            .counter("holdfast_http_requests_total", "Requests."),
            by: Label("route", ["/sync", "/status"]),
            Label("code", [200, 404], otherwise: "other")
        )
        requests["/sync", 418].increment()
        requests["/sync", 500].increment()
        requests["/status", 404].increment()
        #expect(
            await registry.text(.prometheus).hasSuffix(
                """
                holdfast_http_requests_total{route="/sync",code="200"} 0
                holdfast_http_requests_total{route="/sync",code="404"} 0
                holdfast_http_requests_total{route="/sync",code="other"} 2
                holdfast_http_requests_total{route="/status",code="200"} 0
                holdfast_http_requests_total{route="/status",code="404"} 1
                holdfast_http_requests_total{route="/status",code="other"} 0

                """
            )
        )
    }

    @Test func `a long list of values is found by value too`() {
        let names = (0..<100).map { "/route/\($0)" }
        let requests = registry.register(
            .counter("holdfast_http_requests_total", "Requests."),
            by: Label("route", names)
        )
        for (index, name) in names.enumerated() { requests[name].increment(by: index) }
        for (index, name) in names.enumerated() { #expect(requests[name].value == UInt64(index)) }
    }

    @Test func `an instrument outlives its registry`() {
        func counter() -> Counter {
            Registry().register(.counter("holdfast_edits_total", "Edits."))
        }
        let orphan = counter()
        orphan.increment()
        #expect(orphan.value == 1)
    }

    @Test func `a counter that would go down stops the program`() async {
        await #expect(processExitsWith: .failure) {
            Registry().register(.counter("holdfast_edits_total", "Edits.")).increment(by: -1)
        }
    }
}
