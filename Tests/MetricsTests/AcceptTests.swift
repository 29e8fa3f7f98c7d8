import Metrics
import Testing

struct AcceptTests {
    @Test(arguments: [
        // Prometheus 2.42 as it is in Debian 12.
        """
        application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
        text/plain;version=0.0.4;q=0.5,*/*;q=0.1
        """,
        // Prometheus 3 with its protobuf first.
        """
        application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,\
        application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
        text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1
        """,
        "application/openmetrics-text",
        "Application/OpenMetrics-Text; Version=\"1.0.0\"",
        "text/plain;q=0.5, application/openmetrics-text;q=0.5",
        "application/openmetrics-text, */*",
    ])
    func `who asks for OpenMetrics gets it`(_ accept: String) {
        #expect(ExpositionFormat(accept: accept) == .openMetrics)
    }

    @Test(arguments: [
        nil, "", "*/*", "text/plain", "text/*", "application/*", "application/json", ",,;,",
        "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        "application/openmetrics-text;version=0.0.1,text/plain;q=0.1",
        "application/openmetrics-text;q=0",
        "application/openmetrics-text;q=nonsense",
        "application/openmetrics-text;q=0.4, text/plain;q=0.5",
        "application/openmetrics-text;q=0.4, text/plain;q=0.3, text/plain;version=0.0.4;q=0.5",
        "application/openmetrics-text;q=0.4, */*",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    ])
    func `everybody else gets plain text`(_ accept: String?) {
        #expect(ExpositionFormat(accept: accept) == .prometheus)
    }

    @Test func `the content types are those of the formats`() {
        #expect(
            ExpositionFormat.prometheus.contentType == "text/plain; version=0.0.4; charset=utf-8"
        )
        #expect(
            ExpositionFormat.openMetrics.contentType
                == "application/openmetrics-text; version=1.0.0; charset=utf-8"
        )
    }
}
