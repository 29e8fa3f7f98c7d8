import Testing

/// The strict reader is strict, or its silence would prove nothing.
struct OpenMetricsTextTests {
    @Test(arguments: [
        "# TYPE a gauge\na 1\n",
        "# TYPE a gauge\na 1\n# EOF",
        "# TYPE a gauge\na 1\n\n# EOF\n",
        "a 1\n# EOF\n",
        "# TYPE a gauge\nb 1\n# EOF\n",
        "# TYPE a_total counter\na_total 1\n# EOF\n",
        "# TYPE a gauge\na 1\na 2\n# EOF\n",
        "# TYPE a gauge\n# UNIT a seconds\na 1\n# EOF\n",
        "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# TYPE a gauge\n# EOF\n",
        "# TYPE a gauge\na{x=\"\\t\"} 1\n# EOF\n",
        "# TYPE a gauge\na{x=\"1\",x=\"2\"} 1\n# EOF\n",
        "# TYPE a counter\na_total{x=\"1\"} 1\na_total{x=\"2\"} 1\na_created{x=\"1\"} 1\n# EOF\n",
        "# TYPE a histogram\na_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 1\na_count 1\n# EOF\n",
        "# TYPE a histogram\na_bucket{le=\"1.0\"} 2\na_bucket{le=\"+Inf\"} 1\na_count 1\n# EOF\n",
        "# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 2\n# EOF\n",
    ])
    func `what breaks a rule is found`(_ text: String) {
        #expect(throws: OpenMetricsText.Violation.self) { try OpenMetricsText(text).check() }
    }

    @Test func `what is right is read`() throws {
        let text = """
            # HELP a A.
            # TYPE a histogram
            a_bucket{x="\\"\\\\\\n",le="1.0"} 1
            a_bucket{x="\\"\\\\\\n",le="+Inf"} 2
            a_sum{x="\\"\\\\\\n"} 7.5
            a_count{x="\\"\\\\\\n"} 2
            # EOF

            """
        let samples = try OpenMetricsText(text).check()
        #expect(samples.map(\.value) == [1, 2, 7.5, 2])
        #expect(samples[2].labels == ["x": "\"\\\n"])
    }
}
