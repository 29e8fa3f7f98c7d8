import Glibc
import Metrics
import System
import TestSupport
import Testing

/// What Prometheus itself says about our pages.
struct PromtoolTests {
    @Test func `promtool finds nothing to say about a full page`() async throws {
        let registry = Registry()
        registry.registerProcess()
        registry.registerInfo(
            "holdfast_build_info",
            "What runs.",
            ["version": "1", "swift": "6\"\\\n"]
        )
        let requests = registry.register(
            .counter("holdfast_http_requests_total", "Requests by \"route\" \\ code."),
            by: Label("route", ["/sync", "/object/{type}/{id}"]),
            Label("code", [200, 400], otherwise: "other")
        )
        requests["/sync", 200].increment(by: 7)
        let durations = registry.register(
            .histogram(
                "holdfast_edit_duration_seconds",
                "Durations.",
                bounds: [.microseconds(1), .milliseconds(2), .seconds(3)]
            ),
            by: Label<Disposition>("disposition")
        )
        durations[.queued].observe(.milliseconds(1))
        let accounts = registry.register(.gauge("holdfast_accounts", "Accounts."))
        for value in [Double.infinity, .nan, -1e-9, 1e22] {
            accounts.set(value)
            let verdict = try promtool(await registry.page(.prometheus))
            #expect(verdict == Verdict(status: 0, text: ""))
        }
    }

    @Test func `promtool would have something to say about a bad page`() throws {
        let verdict = try promtool(Array("# TYPE x counter\nx 1\n".utf8))
        #expect(verdict.status == 3)
        #expect(verdict.text.contains("x counter metrics should have \"_total\" suffix"))
        #expect(try promtool(Array("x{ 1\n".utf8)).status == 1)
    }

    private struct Verdict: Equatable {
        var status: Int32
        var text: String
    }

    private func promtool(_ page: [UInt8]) throws -> Verdict {
        let scratch = try Scratch()
        try Files.replace(scratch.file("page"), with: page)
        let output = scratch.file("output")

        var redirections = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&redirections)
        defer { posix_spawn_file_actions_destroy(&redirections) }
        posix_spawn_file_actions_addopen(&redirections, 0, scratch.file("page"), O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&redirections, 1, output, O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_adddup2(&redirections, 1, 2)

        var arguments = ["promtool", "check", "metrics", nil].map { $0.flatMap { strdup($0) } }
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let code = posix_spawnp(&process, "promtool", &redirections, nil, &arguments, environ)
        try #require(code == 0, "promtool is not in PATH; Debian's package prometheus has it.")
        var status: Int32 = 0
        try system("waitpid") { () -> Int32 in waitpid(process, &status, 0) }
        let text = String(decoding: try Files.read(output), as: UTF8.self)
        return Verdict(status: (status >> 8) & 0xFF, text: text)
    }
}
