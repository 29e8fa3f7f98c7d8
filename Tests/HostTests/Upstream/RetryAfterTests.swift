import HTTP
import Testing

@testable import Host

struct RetryAfterTests {
    private let now: Int64 = 1_795_167_537  // Fri, 20 Nov 2026 09:38:57 GMT

    private func wait(_ field: String?, date: String? = nil) -> Int? {
        var headers = Headers()
        headers["Retry-After"] = field
        headers["Date"] = date
        return RetryAfter(headers, now: now)?.seconds
    }

    @Test func `seconds are taken as they are, up to an hour`() {
        #expect(wait("0") == 0)
        #expect(wait("60") == 60)
        #expect(wait("3600") == 3_600)
        #expect(wait("3601") == 3_600)
        #expect(wait("99999999999999999999999999") == 3_600)
    }

    @Test func `what is absent or no answer is as good as not there`() {
        #expect(wait(nil) == nil)
        for field in ["", " ", "soon", "1.5", "+5", "0x10", "1e3", "-", "1 minute", "٣"] {
            #expect(wait(field) == nil, "\(field)")
        }
    }

    @Test func `what has passed means now`() {
        #expect(wait("-60") == 0)
        #expect(wait("Fri, 20 Nov 2026 09:38:00 GMT") == 0)
        #expect(wait("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
    }

    @Test(arguments: [
        "Fri, 20 Nov 2026 09:40:57 GMT", "Friday, 20-Nov-26 09:40:57 GMT",
        "Fri Nov 20 09:40:57 2026",
    ])
    func `a date is understood in all its three ways`(_ field: String) {
        #expect(wait(field) == 120)
    }

    @Test func `F27 a date counts from the answer's own, whoever's clock is wrong`() {
        let (late, later) = ("Tue, 20 Nov 2029 10:00:00 GMT", "Tue, 20 Nov 2029 10:00:30 GMT")
        #expect(wait(later, date: late) == 30)
        #expect(wait(later) == 3_600, "Without one, three years are absurd.")
    }

    @Test func `dates that do not exist are no dates`() {
        #expect(wait("Fri, 20 Nov 2026 09:40:57 CET") == nil)
        #expect(wait("Fri, 20 Nov 2026 09:40:57 GMT and more") == nil)
        #expect(wait("2026-11-20T09:40:57Z") == nil)
    }
}
