import FoundationEssentials
import Logging
import Testing

/// Lines against literal text.
struct LineTests {
    private enum Disposition: String, LogField { case queued }

    private struct Trouble: Error { var path = "/var/lib" }

    private func speak(_ log: Logger) {
        let log = log.with("account", 1)
        log.notice("Listening.", ["address": "127.0.0.1:8087", "open": true])
        log.info(
            "An edit.",
            [
                "disposition": Disposition.queued, "took": Duration.milliseconds(1500),
                "at": Date(timeIntervalSince1970: 0), "none": String?.none, "most": UInt64.max,
                "least": Int64.min, "share": 0.5, "odd": Double.nan, "empty": "",
                "id": UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
            ]
        )
        log.error("No store.", because: Trouble(), ["account": 2, "time": "x", "message": "y z"])
    }

    @Test func `text is for people`() {
        let desk = Desk(.text)
        speak(desk.log)
        #expect(
            desk.shelf.lines == [
                """
                2025-11-21T10:57:07.123Z notice  Listening. account=1 address=127.0.0.1:8087 open=true

                """,
                """
                2025-11-21T10:57:07.123Z info    An edit. account=1 disposition=queued took=1.5 \
                at=1970-01-01T00:00:00.000Z none=null most=18446744073709551615 \
                least=-9223372036854775808 share=0.5 odd=nan empty="" \
                id=01020304-0506-0708-090a-0b0c0d0e0f10

                """,
                """
                2025-11-21T10:57:07.123Z error   No store. account=2 time_=x message_="y z" \
                error="Trouble(path: \\"/var/lib\\")"

                """,
            ]
        )
    }

    @Test func `JSON is for programs`() {
        let desk = Desk(.json)
        speak(desk.log)
        #expect(
            desk.shelf.lines == [
                """
                {"time":"2025-11-21T10:57:07.123Z","level":"notice","message":"Listening.",\
                "account":1,"address":"127.0.0.1:8087","open":true}

                """,
                """
                {"time":"2025-11-21T10:57:07.123Z","level":"info","message":"An edit.","account":1,\
                "disposition":"queued","took":1.5,"at":"1970-01-01T00:00:00.000Z","none":null,\
                "most":18446744073709551615,"least":-9223372036854775808,"share":0.5,"odd":"nan",\
                "empty":"","id":"01020304-0506-0708-090a-0b0c0d0e0f10"}

                """,
                """
                {"time":"2025-11-21T10:57:07.123Z","level":"error","message":"No store.",\
                "account":2,"time_":"x","message_":"y z",\
                "error":"Trouble(path: \\"/var/lib\\")"}

                """,
            ]
        )
    }

    @Test func `the journal is told how urgent a line is`() {
        let desk = Desk(level: .debug, marksPriority: true)
        desk.log.debug("One.")
        desk.log.info("Two.")
        desk.log.notice("Three.")
        desk.log.warning("Four.")
        desk.log.error("Five.")
        #expect(desk.shelf.lines.map { $0.prefix(3) } == ["<7>", "<6>", "<5>", "<4>", "<3>"])
    }

    @Test func `a level that is off costs not even its fields`() {
        let desk = Desk(level: .warning)
        desk.log.notice(
            "Nothing.",
            [
                "field": {
                    Issue.record("Computed.")
                    return 1
                }()
            ]
        )
        desk.book.setLevel(.debug)
        desk.log.debug("Something.")
        desk.book.setLevel(.error)
        desk.log.warning("Nothing.")
        #expect(desk.shelf.lines == ["2025-11-21T10:57:07.123Z debug   Something.\n"])
    }

    @Test(arguments: [
        (0.0, "1970-01-01T00:00:00.000Z"), (951_782_400.999, "2000-02-29T00:00:00.999Z"),
        (-0.001, "1969-12-31T23:59:59.999Z"), (4_102_444_799.5, "2099-12-31T23:59:59.500Z"),
        (1e18, "9999-12-31T23:59:59.999Z"), (-1e18, "0001-01-01T00:00:00.000Z"),
    ])
    func `a moment is written in UTC with milliseconds`(_ seconds: Double, _ text: String) {
        #expect(Date(timeIntervalSince1970: seconds).logValue == .text(text))
    }
}
