import Glibc
import System
import TestSupport
import Testing

/// The boards, the rules and the list of metrics, held against what a running host exposes.
struct DashboardTests {
    private static let root = #filePath.split(separator: "/").dropLast(3).reduce("") {
        "\($0)/\($1)"
    }

    /// `make dashboards` writes the files anew.
    @Test func `boards, rules and documents name what a host exposes, and all of it`() throws {
        let host = try ServeProgramTests.Host()
        let page = try TextConnection("127.0.0.1", port: host.ops)
            .ask("GET /metrics", ["Host: localhost:\(host.ops)"])
        #expect(page.status == 200)
        let scratch = try Scratch()
        try Files.replace(scratch.file("page"), with: Array(page.body.utf8))
        let verdict = try Child.run(
            Self.root + "/Dashboards/check.sh",
            [scratch.file("page"), scratch.file("work")]
        )
        #expect(verdict.status == 0, "\(verdict.complaint)")
    }
}
