import Glibc
import Testing

@testable import Metrics

struct ProcessTests {
    private let machine = ProcessFigures.Machine(
        ticksPerSecond: 100,
        bytesPerPage: 4096,
        bootSeconds: 1_700_000_000
    )

    private func figures(named name: String) -> ProcessFigures? {
        let text = """
            7681 (\(name)) S 7671 7671 4274 0 -1 4194304 99 0 0 0 150 25 0 0 20 0 9 0 12277 \
            3133440 356 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 1 1 1 1 1 1 1 0

            """
        return ProcessFigures(stat: Array(text.utf8), on: machine)
    }

    @Test(arguments: ["holdfast", "hold fast", ") R 1 (", "((", "a) S 1 2 3 (b", "", "\n) \n("])
    func `the figures are found whatever the program is called`(_ name: String) {
        let figures = figures(named: name)
        #expect(figures?.cpuSeconds == 1.75)
        #expect(figures?.threads == 9)
        #expect(figures?.virtualBytes == 3_133_440)
        #expect(figures?.residentBytes == 1_458_176)
        #expect(figures?.startSeconds == 1_700_000_122.77)
    }

    @Test(arguments: ["", "7681 holdfast S 1 2 3", "1 (x) S 1 2", "1 (x)", ")"])
    func `a text that is something else has no figures`(_ text: String) {
        #expect(ProcessFigures(stat: Array(text.utf8), on: machine) == nil)
    }

    @Test func `the start of the machine and the limit are read from their lines`() {
        let stat = "cpu  1 2 3 4\nintr 5 btime 6\nbtime 1763722000\nprocesses 9\n"
        #expect(ProcessTexts.bootSeconds(in: Array(stat.utf8)) == 1_763_722_000)
        #expect(ProcessTexts.bootSeconds(in: Array("cpu 1\n".utf8)) == nil)

        let head =
            "Limit                     Soft Limit           Hard Limit           Units     \n"
        let line =
            "Max open files            20000                524288               files     \n"
        let none =
            "Max open files            unlimited            unlimited            files     \n"
        #expect(ProcessTexts.maxOpenFiles(in: Array((head + line).utf8)) == 20_000)
        #expect(ProcessTexts.maxOpenFiles(in: Array((head + none).utf8)) == .infinity)
        #expect(ProcessTexts.maxOpenFiles(in: Array(head.utf8)) == nil)
    }

    @Test func `this process tells about itself`() async throws {
        let registry = Registry()
        registry.registerProcess()
        let samples = try OpenMetricsText(await registry.text(.openMetrics)).check()
        let figures = Dictionary(uniqueKeysWithValues: samples.map { ($0.name, $0.value) })

        #expect(figures.count == 8, "Seven figures and a beginning: \(figures.keys.sorted())")
        #expect(try #require(figures["process_threads"]) >= 1)
        #expect(try #require(figures["process_open_fds"]) >= 3)
        #expect(
            try #require(figures["process_max_fds"]) >= #require(figures["process_open_fds"])
        )
        #expect(try #require(figures["process_resident_memory_bytes"]) > 1_000_000)
        #expect(try #require(figures["process_start_time_seconds"]) > 1_600_000_000)
    }

    @Test func `open files are counted`() async throws {
        let registry = Registry()
        registry.registerProcess()
        func openFiles() async throws -> Double {
            let samples = try OpenMetricsText(await registry.text(.openMetrics)).check()
            return try #require(samples.first { $0.name == "process_open_fds" }).value
        }

        let before = try await openFiles()
        let files = (0..<300).map { _ in open("/dev/null", O_RDONLY) }
        let between = try await openFiles()
        for file in files { close(file) }
        let after = try await openFiles()

        // Other tests open files at the same time, but not that many.
        #expect((250...350).contains(between - before))
        #expect((250...350).contains(between - after))
    }
}
