import JSON
@testable import LoadTest
import Testing

@testable import holdfast

struct ReportTests {
    private var report: LoadReport {
        var report = LoadReport(LoadProfile(.smoke), startedAt: "2026-11-21T23:00:00Z")
        report.seconds = 10
        report.phases = [
            .init(name: "outage", begin: 1, end: 5), .init(name: "drain", begin: 5, end: 9),
        ]
        var figures = OperationFigures()
        for time in 1...100 { figures.note(.acknowledged, .milliseconds(time)) }
        figures.note(.refused(status: 503, "busy"), .zero)
        figures.note(.unknown, .zero)
        report.operations = [.update: figures]
        report.editSeconds = 4
        report.drain = LoadReport.Drain(changes: 60, seconds: 2, gone: 57)
        report.ceilings = LoadReport.Ceilings(
            hostPerSecond: 25,
            bareCommitPerSecond: 50,
            pacedPerSecond: 12.5
        )
        report.verdict.examine(.acknowledged, 100)
        report.samples = (0..<10).map { second in
            var sample = Sample(seconds: Double(second))
            sample.pending = second * 10
            sample.p99 = 3.5
            return sample
        }
        return report
    }

    @Test func `the JSON has its members, each with its value`() throws {
        let json = try JSON.Document(JSON.Raw(report)).root
        #expect(json["version"]?.int == 1)
        #expect(json["ending"]?.string == "completed")
        #expect(json["good"]?.bool == true)
        #expect(json["profile"]?["name"]?.string == "smoke")
        #expect(json["edits"]?["acknowledged"]?.int == 100)
        #expect(json["edits"]?["perSecond"]?.double == 25)
        #expect(json["edits"]?["latency"]?["p999"]?.double == 100)
        #expect(json["operations"]?["update"]?["refused"]?.int == 1)
        #expect(json["operations"]?["update"]?["unknown"]?.int == 1)
        #expect(json["operations"]?["update"]?["refusals"]?["503"]?.string == "busy")
        #expect(json["drain"]?["perSecond"]?.double == 28.5)
        #expect(json["checks"]?[0]?["holds"]?.bool == true)
        #expect(json["samples"]?[3]?["pending"]?.int == 30)
        #expect(json["samples"]?[3]?["memory"]?.isNull == true)
        #expect(json["phases"]?[1]?["begin"]?.double == 5)
    }

    @Test func `what is not known is null, and no number in words`() throws {
        let report = LoadReport(LoadProfile(.smoke), startedAt: "")
        let json = try JSON.Document(JSON.Raw(report)).root
        #expect(json["signInSeconds"]?.isNull == true)
        #expect(json["edits"]?["perSecond"]?.isNull == true)
        #expect(json["edits"]?["latency"]?["count"]?.int == 0)
        for name in ["mean", "p50", "p90", "p99", "p999", "max"] {
            #expect(json["edits"]?["latency"]?[name]?.isNull == true, "\(name)")
        }
        for name in [
            "changes", "removals", "secondsUntilFirst", "seconds", "secondsUntilLast", "perSecond",
        ] { #expect(json["drain"]?[name]?.isNull == true, "\(name)") }
        let table = ReportTable(report).text
        #expect(table.contains("it did not come to that"))
        #expect(!table.contains("users in") && !table.contains("0 changes"))
        let page = ReportPage(report).html
        #expect(page.contains("<b>not known</b><span>conflicts</span>"))
        #expect(page.contains("<b>not known</b><span>memory for each user</span>"))
        #expect(page.contains("<b>not known</b><span>99 of 100 edits took less</span>"))
    }

    @Test func `a drain that never came so far has no rate`() throws {
        var report = report
        report.drain = LoadReport.Drain(changes: 60)
        let json = try JSON.Document(JSON.Raw(report)).root
        #expect(json["drain"]?["changes"]?.int == 60)
        #expect(json["drain"]?["perSecond"]?.isNull == true)
        #expect(ReportTable(report).text.contains("95 in 100 not reached"))
    }

    @Test func `a good test says how many edits were refused, and one without refusals does not`() {
        let words = "1 of 102 edits were refused. Of 1 of 102 edits nobody knows"
        #expect(ReportTable(report).text.contains("Every check holds. \(words)"))
        #expect(ReportPage(report).html.contains(words))
        var idle = report
        idle.operations = [:]
        #expect(ReportTable(idle).text.hasSuffix("Every check holds."))
    }

    @Test func `the page says from when an edit's time counts, and how often all came`() {
        var report = report
        report.profile.rounds = 3
        let paced = ReportPage(report).html
        #expect(paced.contains("an edit was due"))
        #expect(paced.contains("came 3 times"))
        report.profile.offlineSeconds = 0
        report.profile.rounds = 1
        let rushed = ReportPage(report).html
        #expect(rushed.contains("an edit was sent"))
        #expect(!rushed.contains("All this but"))
    }

    @Test func `the memory of a host that ran already is told with its files`() {
        var report = report
        report.memory = LoadReport.Memory(atStart: 1, signedIn: 2, largest: 3)
        #expect(!ReportTable(report).text.contains("mapped from files"))
        #expect(ReportPage(report).html.contains("without what it has mapped from files"))
        report.memory.includesFiles = true
        #expect(ReportTable(report).text.contains("with what it has mapped from files"))
        #expect(ReportPage(report).html.contains("with what it has mapped from files"))
    }

    @Test func `figures that cannot be read in the end are a check that fails`() {
        var profile = LoadProfile(.smoke)
        let absence = LoadFailure("Nobody is there.")
        #expect(Course.verdict(on: absence, profile).failures.map(\.check) == [.metrics])
        profile.requestsPerSecond = 5
        #expect(Course.verdict(on: absence, profile).failures.map(\.check) == [.metrics, .budget])
    }

    @Test(arguments: [1, 199, 200, 201, 399, 400, 5_000])
    func `what the host shows is compared for two hundred users, or for all if they are fewer`(
        _ users: Int
    ) {
        let viewed = (0..<users).filter { Course.isViewed($0, of: users) }
        #expect(viewed.count == min(users, 200))
        #expect(viewed.first == 0)
    }

    @Test func `500 leaves open what became of an edit, and other statuses refuse it`() {
        #expect(Outcome(status: 500, "") == .unknown)
        #expect(Outcome(status: 507, "full") == .refused(status: 507, "full"))
    }

    @Test func `accounts that are left behind are a failure, however good the test was`() {
        #expect(report.failures(nil).isEmpty)
        #expect(report.failures("Three are left.").map(\.status) == [.failure])
        var away = report
        away.ending = .failed("Nobody is there.", .hostIsAway)
        let failures = away.failures("Three are left.")
        #expect(failures.map(\.status) == [.hostNotRunning, .failure])
    }

    @Test func `a failed check, an interruption and a failure are not good`() {
        var failed = report
        failed.verdict.fail(Check.Failure(.duplicates, user: 3, "it is there twice"))
        var interrupted = report
        interrupted.ending = .interrupted
        var broken = report
        broken.ending = .failed("no disk")
        #expect(
            [report, failed, interrupted, broken].map(\.isGood) == [true, false, false, false]
        )
        #expect(ReportTable(failed).text.contains("user 3: it is there twice"))
        #expect(ReportTable(broken).text.contains("no disk"))
    }

    @Test func `the page needs nothing from elsewhere, and escapes what it is told`() {
        var report = report
        report.verdict.fail(Check.Failure(.invented, user: 1, "<script>alert(1)</script>"))
        let page = ReportPage(report).html
        for word in ["http://", "https://", "<script", "src=", "<link", "@import", "url("] {
            #expect(!page.contains(word), "\(word)")
        }
        #expect(page.contains("&lt;script&gt;"))
        #expect(page.contains("prefers-color-scheme:dark"))
    }

    @Test func `an edit that could not be sent is not one of which nobody knows`() throws {
        var report = report
        var figures = OperationFigures()
        for _ in 0..<3 { figures.note(.untried, .zero) }
        report.operations[.trash] = figures
        let json = try JSON.Document(JSON.Raw(report)).root
        #expect(json["edits"]?["unknown"]?.int == 1)
        #expect(json["edits"]?["unsent"]?.int == 3)
        #expect(json["operations"]?["trash"]?["unsent"]?.int == 3)
        #expect(ReportTable(report).text.contains("3 of 105 edits could not be sent."))
    }

    @Test func `a chart of a single look shows it as a dot`() {
        var report = report
        report.samples = Array(report.samples.prefix(1))
        let page = ReportPage(report).html
        let lines = page.matches(of: /points="([^"]+)"/).map { $0.1.split(separator: " ") }
        #expect(!lines.isEmpty)
        #expect(lines.allSatisfy { $0.count == 2 && $0.first == $0.last })
        #expect(page.contains("stroke-linecap:round"))
    }

    @Test func `an address may end with a slash`() async throws {
        let url = "http://127.0.0.1:1"
        let host = try Lodgings(url: url + "/", token: "t", ops: url + "/", concurrency: 1)
        #expect(host.side.url == url)
        #expect(host.ops?.url == url)
        await host.close()
    }

    @Test func `every chart stays within its frame`() throws {
        let page = ReportPage(report).html
        #expect(page.matches(of: /<svg/).count == 6)
        #expect(page.contains("class=\"band outage\""))
        for line in page.matches(of: /points="([^"]*)"/) {
            for point in line.1.split(separator: " ") {
                let parts = point.split(separator: ",").compactMap { Double($0) }
                try #require(parts.count == 2)
                #expect((0...720).contains(parts[0]) && (0...220).contains(parts[1]))
            }
        }
    }

    @Test func `the table has a row for every kind of edit, and the ratio to its ceiling`() {
        let text = ReportTable(report).text
        #expect(text.contains("p99.9"))
        #expect(text.contains("update       100"))
        #expect(text.contains("0.50"))
    }
}
