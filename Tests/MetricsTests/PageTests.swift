import FoundationEssentials
import Metrics
import Testing

/// The text formats, against literal text.
struct PageTests {
    private let registry = Registry()

    /// One of each kind, with something in it.
    private func fill() {
        let edits = registry.register(
            .counter("holdfast_edits_total", "Edits that a client asked for."),
            by: Label<Operation>("op"),
            Label<Disposition>("disposition")
        )
        edits[.create, .saved].increment(by: 3)
        edits[.update, .queued].increment()
        let oldest = registry.register(
            .gauge("holdfast_pending_oldest_timestamp_seconds", "When the oldest was recorded.")
        )
        oldest.set(Date(timeIntervalSince1970: 1_763_722_500.125))
        let commits = registry.register(
            .histogram(
                "holdfast_store_commit_seconds",
                "How long a commit took.",
                bounds: [.milliseconds(5), .milliseconds(100), .seconds(1)]
            )
        )
        commits.observe(.milliseconds(5))
        commits.observe(.microseconds(5_001))
        commits.observe(.seconds(2))
    }

    @Test func `the plain text is what Prometheus expects`() async {
        fill()
        #expect(
            await registry.text(.prometheus) == """
                # HELP holdfast_edits_total Edits that a client asked for.
                # TYPE holdfast_edits_total counter
                holdfast_edits_total{op="create",disposition="saved"} 3
                holdfast_edits_total{op="create",disposition="queued"} 0
                holdfast_edits_total{op="create",disposition="rejected"} 0
                holdfast_edits_total{op="update",disposition="saved"} 0
                holdfast_edits_total{op="update",disposition="queued"} 1
                holdfast_edits_total{op="update",disposition="rejected"} 0
                # HELP holdfast_pending_oldest_timestamp_seconds When the oldest was recorded.
                # TYPE holdfast_pending_oldest_timestamp_seconds gauge
                holdfast_pending_oldest_timestamp_seconds 1763722500.125
                # HELP holdfast_store_commit_seconds How long a commit took.
                # TYPE holdfast_store_commit_seconds histogram
                holdfast_store_commit_seconds_bucket{le="0.005"} 1
                holdfast_store_commit_seconds_bucket{le="0.1"} 2
                holdfast_store_commit_seconds_bucket{le="1.0"} 2
                holdfast_store_commit_seconds_bucket{le="+Inf"} 3
                holdfast_store_commit_seconds_sum 2.010001
                holdfast_store_commit_seconds_count 3

                """
        )
    }

    @Test func `OpenMetrics names families, units and beginnings, and says where it ends`() async {
        fill()
        #expect(
            await registry.text(.openMetrics) == """
                # HELP holdfast_edits Edits that a client asked for.
                # TYPE holdfast_edits counter
                holdfast_edits_total{op="create",disposition="saved"} 3
                holdfast_edits_created{op="create",disposition="saved"} 1763722577.25
                holdfast_edits_total{op="create",disposition="queued"} 0
                holdfast_edits_created{op="create",disposition="queued"} 1763722577.25
                holdfast_edits_total{op="create",disposition="rejected"} 0
                holdfast_edits_created{op="create",disposition="rejected"} 1763722577.25
                holdfast_edits_total{op="update",disposition="saved"} 0
                holdfast_edits_created{op="update",disposition="saved"} 1763722577.25
                holdfast_edits_total{op="update",disposition="queued"} 1
                holdfast_edits_created{op="update",disposition="queued"} 1763722577.25
                holdfast_edits_total{op="update",disposition="rejected"} 0
                holdfast_edits_created{op="update",disposition="rejected"} 1763722577.25
                # HELP holdfast_pending_oldest_timestamp_seconds When the oldest was recorded.
                # TYPE holdfast_pending_oldest_timestamp_seconds gauge
                # UNIT holdfast_pending_oldest_timestamp_seconds seconds
                holdfast_pending_oldest_timestamp_seconds 1763722500.125
                # HELP holdfast_store_commit_seconds How long a commit took.
                # TYPE holdfast_store_commit_seconds histogram
                # UNIT holdfast_store_commit_seconds seconds
                holdfast_store_commit_seconds_bucket{le="0.005"} 1
                holdfast_store_commit_seconds_bucket{le="0.1"} 2
                holdfast_store_commit_seconds_bucket{le="1.0"} 2
                holdfast_store_commit_seconds_bucket{le="+Inf"} 3
                holdfast_store_commit_seconds_sum 2.010001
                holdfast_store_commit_seconds_count 3
                holdfast_store_commit_seconds_created 1763722577.25
                # EOF

                """
        )
    }

    @Test func `what would break a line is escaped`() async {
        let hostile = "a \"quoted\"\nline \\ end"
        registry.registerInfo("holdfast_build_info", hostile, ["version": hostile])
        let label = #"{version="a \"quoted\"\nline \\ end"} 1"#
        #expect(
            await registry.text(.prometheus) == """
                # HELP holdfast_build_info a "quoted"\\nline \\\\ end
                # TYPE holdfast_build_info gauge
                holdfast_build_info\(label)

                """
        )
        #expect(
            await registry.text(.openMetrics) == """
                # HELP holdfast_build_info a \\"quoted\\"\\nline \\\\ end
                # TYPE holdfast_build_info gauge
                holdfast_build_info\(label)
                # EOF

                """
        )
    }

    private static let numbers: [(Double, String)] = [
        (.infinity, "+Inf"), (-Double.infinity, "-Inf"), (Double.nan, "NaN"), (0, "0"),
        (-0.0, "0"), (-17, "-17"), (0.1, "0.1"), (1e-7, "1e-07"), (1e300, "1e+300"),
        (1_763_722_577.123, "1763722577.123"), (9_007_199_254_740_991, "9007199254740991"),
        (.leastNonzeroMagnitude, "5e-324"), (1.0 / 3, "0.3333333333333333"),
    ]

    @Test(arguments: numbers)
    func `a number is written so that it reads back as the same`(
        _ number: Double,
        _ text: String
    ) async {
        registry.register(.gauge("holdfast_accounts", "Accounts.")).set(number)
        #expect(
            await registry.text(.prometheus).split(separator: "\n").last
                == "holdfast_accounts \(text)"
        )
    }

    @Test func `a figure that nobody knows has no line`() async {
        registry.register(.gauge("holdfast_pending_bytes", "Bytes.")) { nil }
        registry.register(.gauge("holdfast_accounts", "Accounts."), by: Label<Operation>("op")) {
            $0 == .create ? 4 : nil
        }
        #expect(
            await registry.text(.prometheus) == """
                # HELP holdfast_pending_bytes Bytes.
                # TYPE holdfast_pending_bytes gauge
                # HELP holdfast_accounts Accounts.
                # TYPE holdfast_accounts gauge
                holdfast_accounts{op="create"} 4

                """
        )
    }

    @Test(arguments: [-1, -0.5, -.infinity, .nan] as [Double])
    func `a figure that no counter can have has no line`(_ figure: Double) async {
        registry.register(.counter("holdfast_reads_total", "Reads.")) { figure }
        registry.register(.gauge("holdfast_accounts", "Accounts.")) { -0.5 }
        #expect(
            await registry.text(.openMetrics) == """
                # HELP holdfast_reads Reads.
                # TYPE holdfast_reads counter
                # HELP holdfast_accounts Accounts.
                # TYPE holdfast_accounts gauge
                holdfast_accounts -0.5
                # EOF

                """
        )
    }

    @Test func `figures are asked for when somebody scrapes, and only then`() async {
        let asked = registry.register(.gauge("holdfast_accounts", "Accounts."))
        registry.beforeEachPage { asked.increment() }
        #expect(asked.value == 0)
        _ = await registry.page(.prometheus)
        #expect(await registry.text(.prometheus).hasSuffix("holdfast_accounts 2\n"))
    }
}
