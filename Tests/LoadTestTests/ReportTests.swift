import JSON
@testable import LoadTest
import Testing

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
        report.drain.changes = 60
        report.drain.seconds = 2
        report.ceilings = LoadReport.Ceilings(hostPerSecond: 25, bareCommitPerSecond: 50)
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
