import CCeilings
import FoundationEssentials
import Glibc
import Logging
import Metrics
import System

/// What it costs to count and to log, each beside the least it could cost.
enum MetricsBenchmarks {
    static func run(_ bench: Bench) async throws {
        try await counting(bench)
        try await scraping(bench)
        try await logging(bench)
    }

    private enum Kind: String, CaseIterable { case create, update, softDelete, hardDelete, other }

    private static func counting(_ bench: Bench) async throws {
        let registry = Registry(timekeeper: SystemTimekeeper())
        let counter = registry.register(.counter("holdfast_edits_total", "Edits."))
        let conflicts = registry.register(
            .counter("holdfast_conflicts_total", "Conflicts."),
            by: Label<Kind>("kind"),
            Label<Kind>("winner")
        )
        let gauge = registry.register(.gauge("holdfast_pending_bytes", "Bytes."))
        let commits = registry.register(
            .histogram("holdfast_store_commit_seconds", "Commits.", bounds: bounds)
        )
        let rounds = bench.count(20_000_000, quick: 100_000)
        func ceiling() -> Double { nanoseconds(rounds) { ceiling_increments(UInt64(rounds)) } }

        try await bench.measure("a counter, alone", unit: "ns", bound: 20) {
            nanoseconds(rounds) { for _ in 0..<rounds { counter.increment() } }
        }
        try await bench.compare(
            "a counter beside an atomic of C",
            .cost("ns"),
            ours: { nanoseconds(rounds) { for _ in 0..<rounds { counter.increment() } } },
            ceiling: { ceiling() }
        )
        try await bench.measure("a counter by two labels, looked up", unit: "ns") {
            nanoseconds(rounds) {
                for round in 0..<rounds {
                    conflicts[round & 1 == 0 ? .update : .other, .create].increment()
                }
            }
        }
        try await bench.measure("a gauge set", unit: "ns", bound: 20) {
            nanoseconds(rounds) { for round in 0..<rounds { gauge.set(round) } }
        }
        try await bench.measure("a histogram of 12 bounds", unit: "ns", bound: 40) {
            nanoseconds(rounds) {
                for round in 0..<rounds { commits.observe(.microseconds(round & 0xFFFF)) }
            }
        }
        try await bench.measure("one counter, two threads", unit: "ns each") {
            together(rounds) { _ in for _ in 0..<rounds { counter.increment() } }
        }
        try await bench.measure("two series of a family, two threads", unit: "ns each") {
            let pair = [conflicts[.create, .create], conflicts[.create, .update]]
            return together(rounds) { which in
                let mine = pair[which]
                for _ in 0..<rounds { mine.increment() }
            }
        }
    }

    private static func scraping(_ bench: Bench) async throws {
        for count in [500, 5_000] {
            let registry = Registry(timekeeper: SystemTimekeeper())
            fill(registry, series: count)
            let rounds = bench.count(2_000 / (count / 500), quick: 10)
            for format in ExpositionFormat.allCases {
                try await bench.measure(
                    "a page of \(count) lines, \(format)",
                    unit: "µs",
                    bound: Double(count) * 2
                ) {
                    await seconds {
                        for _ in 0..<rounds { _ = await registry.page(format) }
                    } / Double(rounds) * 1e6
                }
            }
        }
        let registry = Registry(timekeeper: SystemTimekeeper())
        registry.registerProcess()
        let rounds = bench.count(2_000, quick: 10)
        try await bench.measure("a page of the process's own figures", unit: "µs") {
            await seconds {
                for _ in 0..<rounds { _ = await registry.page(.prometheus) }
            } / Double(rounds) * 1e6
        }
    }

    /// Half of the lines from counters, a tenth from gauges, the rest from histograms of 15 lines.
    private static func fill(_ registry: Registry, series count: Int) {
        let codes = Label("code", (0..<10).map { 200 + $0 })
        let requests = registry.register(
            .counter("holdfast_http_requests_total", "Requests."),
            by: Label("route", (0..<count / 20).map { "/object/\($0)/{id}" }),
            codes
        )
        let names = (0..<count / 10).map { "name-\($0)" }
        let depths = registry.register(
            .gauge("holdfast_channel_depth", "Depth."),
            by: Label("channel", names)
        )
        let routes = (0..<(count - count / 20 * 10 - count / 10 + 14) / 15).map { "/\($0)" }
        let durations = registry.register(
            .histogram("holdfast_http_request_duration_seconds", "Durations.", bounds: bounds),
            by: Label("route", routes)
        )
        requests["/object/1/{id}", 200].increment(by: 123_456)
        for (number, name) in names.enumerated() { depths[name].set(Double(number) * 1.1) }
        for route in routes { durations[route].observe(.milliseconds(17)) }
    }

    private static let bounds: [Duration] = [
        .microseconds(100), .microseconds(500), .milliseconds(1), .microseconds(2_500),
        .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50),
        .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(5),
    ]

    private static func logging(_ bench: Bench) async throws {
        let file = try File(path: "/dev/null", flags: O_WRONLY)
        let sink = DescriptorSink(file.descriptor)
        let rounds = bench.count(200_000, quick: 1_000)
        for format in LogFormat.allCases {
            let book = Logbook(format: format, sink: sink, timekeeper: SystemTimekeeper())
            let log = Logger(book).with("account", 1)
            try await bench.measure("a log line, \(format)", unit: "ns", bound: 5_000) {
                nanoseconds(rounds) {
                    for round in 0..<rounds {
                        log.info("Saved.", ["item": "0b1c2d3e", "count": round])
                    }
                }
            }
            let many = rounds * 100
            try await bench.measure("a log line that is off, \(format)", unit: "ns", bound: 5) {
                nanoseconds(many) {
                    for round in 0..<many {
                        log.debug("Saved.", ["item": "0b1c2d3e", "count": round])
                    }
                }
            }
        }
    }

    private static func nanoseconds(_ rounds: Int, _ body: () -> Void) -> Double {
        let start = ContinuousClock.now
        body()
        return (ContinuousClock.now - start) / .nanoseconds(1) / Double(rounds)
    }

    /// The same on two threads at once; nanoseconds for each round of each.
    private static func together(
        _ rounds: Int,
        _ body: @escaping @Sendable (Int) -> Void
    ) -> Double {
        nanoseconds(rounds) {
            let threads = (0..<2).map { which in
                Thread.start(name: "counting") { body(which) }
            }
            for thread in threads { thread.join() }
        }
    }
}
