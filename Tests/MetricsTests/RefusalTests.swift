import Testing

@testable import Metrics

struct RefusalTests {
    private let registry = Registry()

    @Test(arguments: [
        (Metric(.gauge, "", "h"), Refusal.name("")),
        (Metric(.gauge, "Holdfast", "h"), .name("Holdfast")),
        (Metric(.gauge, "holdfast__x", "h"), .name("holdfast__x")),
        (Metric(.gauge, "1x", "h"), .name("1x")),
        (Metric(.gauge, "a:b", "h"), .name("a:b")),
        (Metric(.gauge, "größe", "h"), .name("größe")),
        (Metric(.gauge, "x_", "h"), .name("x_")),
        (Metric(.gauge, "x", ""), .help("x")),
        (Metric(.counter, "x", "h"), .totalMissing("x")),
        (Metric(.gauge, "x_total", "h"), .totalMisplaced("x_total")),
        (Metric(.histogram, "x_total", "h"), .totalMisplaced("x_total")),
        (Metric(.gauge, "x_count", "h"), .reservedSuffix("x_count", suffix: "_count")),
        (Metric(.gauge, "x_bucket", "h"), .reservedSuffix("x_bucket", suffix: "_bucket")),
        (Metric(.histogram, "x_sum", "h"), .reservedSuffix("x_sum", suffix: "_sum")),
        (
            Metric(.counter, "x_created_total", "h"),
            .reservedSuffix("x_created_total", suffix: "_created")
        ),
        (Metric(.gauge, "x_gauge", "h"), .typeInName("x_gauge", type: "gauge")),
        (Metric(.gauge, "x_ms", "h"), .notABaseUnit("x_ms", unit: "ms")),
        (Metric(.counter, "x_mb_total", "h"), .notABaseUnit("x_mb_total", unit: "mb")),
        (Metric(.gauge, "x", "h", labels: ["le"]), .label("x", label: "le")),
        (Metric(.gauge, "x", "h", labels: ["__name"]), .label("x", label: "__name")),
        (Metric(.gauge, "x", "h", labels: ["Kind"]), .label("x", label: "Kind")),
        (Metric(.gauge, "x", "h", labels: ["a", "a"]), .labelTwice("x", label: "a")),
    ])
    func `a name that breaks the rules is refused`(_ metric: Metric, _ refusal: Refusal) {
        #expect(throws: refusal) { try registry.admit(metric) }
        #expect(registry.metrics.isEmpty)
    }

    @Test func `two metrics cannot write the same line, in either format`() throws {
        let commits = Metric(.histogram, "commits", "h")
        _ = try registry.admit(commits)
        _ = try registry.admit(Metric(.counter, "edits_total", "h"))

        #expect(throws: Refusal.taken("commits", by: "commits")) {
            try registry.admit(Metric(.gauge, "commits", "h"))
        }
        #expect(throws: Refusal.taken("commits_total", by: "commits")) {
            try registry.admit(Metric(.counter, "commits_total", "h"))
        }
        #expect(throws: Refusal.taken("edits", by: "edits_total")) {
            try registry.admit(Metric(.gauge, "edits", "h"))
        }
        #expect(registry.metrics.map(\.name) == ["commits", "edits_total"])
    }

    @Test func `a quantity and its name have the same unit`() {
        #expect(throws: Refusal.unitMissing("waits", unit: .seconds)) {
            try registry.admit(.histogram("waits", "h", bounds: [.seconds(1)]))
        }
        #expect(throws: Refusal.unitMisplaced("wait_seconds", unit: .seconds)) {
            try registry.admit(.histogram("wait_seconds", "h", bounds: [1]))
        }
    }

    @Test(arguments: [[], [0], [1, 1], [2, 1], [-1, 1]])
    func `bounds that are no bounds are refused`(_ bounds: [Int]) {
        #expect(throws: Refusal.bounds("rows")) {
            try registry.admit(.histogram("rows", "h", bounds: bounds))
        }
    }

    @Test func `label values are there, and once`() {
        #expect(throws: Refusal.valuesMissing("x", label: "route")) {
            try registry.admit(.gauge("x", "h"), by: Label("route", [String]()))
        }
        #expect(throws: Refusal.valueTwice("x", value: "a")) {
            try registry.admit(.gauge("x", "h"), by: Label("b", ["b"]), Label("a", ["a", "a"]))
        }
        #expect(throws: Refusal.valueTwice("x", value: "other")) {
            try registry.admit(.gauge("x", "h"), by: Label("a", ["other"], otherwise: "other"))
        }
        #expect(registry.metrics.isEmpty)
    }

    @Test func `a refused metric stops the program and says why`() async throws {
        let result = try await #require(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) {
            _ = Registry().register(.counter("holdfast_edits", "Edits."))
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("holdfast_edits: a counter's name ends in _total."))
    }
}
