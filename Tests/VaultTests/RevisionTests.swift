import FoundationEssentials
import Testing
import Vault

@Suite struct RevisionTests {
    private let noon: Int64 = 17_714_070_000_000_000

    @Test(arguments: [
        ("2026-02-18T09:30:00Z", 0),
        ("2026-02-18T09:30:00.123Z", 1_230_000),
        ("2026-02-18T09:30:00.123456Z", 1_234_560),
        ("2026-02-18T09:30:00.1234567Z", 1_234_567),
        ("2026-02-18T09:30:00.123456789Z", 1_234_567),
        ("2026-02-18T09:30:00+00:00", 0),
        ("2026-02-18T09:30:00.5+00:00", 5_000_000),
        ("2026-02-18T15:00:00+05:30", 0),
        ("2026-02-18T06:00:00-03:30", 0),
        ("2026-02-18T09:30:00", 0),
        ("2026-02-18 09:30:00Z", 0),
    ])
    func `a stamp of any precision and offset is read to the tick`(
        _ text: String,
        _ ticks: Int64
    ) throws {
        let revision = try #require(Revision(text))
        #expect(revision.moment.ticks == noon + ticks)
        #expect(revision.text == text)
    }

    @Test(arguments: [
        "", "now", "2026-02-18", "2026-2-18T09:30:00Z", "2026-13-01T00:00:00Z",
        "2026-02-30T00:00:00Z", "2026-02-18T24:00:00Z", "2026-02-18T09:60:00Z",
        "2026-02-18T09:30:61Z", "2026-02-18T09:30:00.Z", "2026-02-18T09:30:00.1234567890Z",
        "2026-02-18T09:30:00Zx", "2026-02-18T09:30:00+1:00", "2026-02-18T09:30:00+25:00",
        "２０２６-02-18T09:30:00Z", "0000-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-01:00",
    ])
    func `what is no stamp is no revision`(_ text: String) {
        #expect(Revision(text) == nil)
    }

    @Test(arguments: [
        "1969-12-31T23:59:59.9999999Z", "2024-02-29T23:59:59Z",
        "9999-12-31T23:59:59.9999999Z",
    ])
    func `the calendar's ends and leap days are stamps like others`(_ text: String) throws {
        let revision = try #require(Revision(text))
        let date = try Date(
            text,
            strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
        )
        let difference = revision.moment.date.timeIntervalSince(date)
        #expect(abs(difference) < 0.001)
    }

    @Test func `the first year has the calendar of all others, as upstream reckons`() throws {
        let revision = try #require(Revision("0001-01-01T00:00:00Z"))
        #expect(revision.moment == Moment(ticks: -62_135_596_800 * Moment.ticksPerSecond))
    }

    @Test(arguments: [
        (0, true, true), (1, true, true), (9_990, true, true), (10_000, true, true),
        (10_001, true, false), (16_667, true, false), (40_000, true, false),
        (40_001, false, false), (10_000_000, false, false), (-10_000, true, true),
        (-40_000, true, false), (-40_001, false, false),
    ])
    func `T-17 stamps up to a millisecond apart are one, and up to four may stamp the same change`(
        _ ticks: Int64,
        _ isSame: Bool,
        _ isOne: Bool
    ) {
        let one = Revision(text: "one", moment: Moment(ticks: noon + 1_234_567))
        let other = Revision(text: "other", moment: Moment(ticks: noon + 1_234_567 + ticks))
        #expect(one.isSame(as: other) == isSame)
        #expect(other.isSame(as: one) == isSame)
        #expect(one.isWritten(like: other) == isOne)
        #expect(one.isEarlier(than: other) == (ticks > 0 && !isSame))
        #expect(other.isEarlier(than: one) == (ticks < 0 && !isSame))
    }

    /// Stores that keep no more have cut off the rest, or rounded it.
    @Test(arguments: [
        ("2026-02-18T09:30:01.000000Z", "2026-02-18T09:30:01.875123Z", true),
        ("2026-02-18T09:30:01.875123Z", "2026-02-18T09:30:02.000000Z", true),
        ("2026-02-18T09:30:01Z", "2026-02-18T09:30:01.999999Z", true),
        ("2026-02-18T09:30:01.000000Z", "2026-02-18T09:30:02.000000Z", false),
        ("2026-02-18T09:30:01.000000Z", "2026-02-18T09:30:02.000001Z", false),
        ("2026-02-18T09:30:01.875123Z", "2026-02-18T09:30:01.975123Z", false),
    ])
    func `T-17 a whole second may stamp what came within a second of it`(
        _ one: String,
        _ other: String,
        _ isSame: Bool
    ) throws {
        let (one, other) = (try #require(Revision(one)), try #require(Revision(other)))
        #expect(one.isSame(as: other) == isSame)
        #expect(other.isSame(as: one) == isSame)
        #expect(!one.isWritten(like: other))
        #expect(one.isEarlier(than: other) != isSame)
        #expect(!other.isEarlier(than: one))
    }

    @Test func `T-17 the same text is the same stamp, whatever the ticks say`() {
        let one = Revision(text: "same", moment: Moment(ticks: .min))
        #expect(one.isSame(as: Revision(text: "same", moment: Moment(ticks: .max))))
        #expect(!one.isSame(as: Revision(text: "other", moment: Moment(ticks: .max))))
    }

    @Test(arguments: [
        ("2026-02-18T09:30:00Z", "2026-02-18T09:30:00.0000000+00:00", Side.upstream),
        ("2026-02-18T09:30:00.1Z", "2026-02-18T09:30:00.100000Z", .upstream),
        ("2026-02-18T09:30:00.1000001Z", "2026-02-18T09:30:00.1Z", .local),
        ("2026-02-18T09:30:00Z", "2026-02-18T10:30:00+01:00", .upstream),
        ("2026-02-18T09:30:01Z", "2026-02-18T09:30:02Z", .upstream),
    ])
    func `T-18 the later tick wins, and upstream wins a tie in any notation`(
        _ local: String,
        _ upstream: String,
        _ winner: Side
    ) throws {
        let (local, upstream) = (try #require(Revision(local)), try #require(Revision(upstream)))
        #expect(Side.later(local: local.moment, upstream: upstream.moment) == winner)
    }

    @Test func `a date and its moment lie within a tick's rounding`() {
        let date = Date(timeIntervalSince1970: 1_771_407_000.25)
        #expect(Moment(date).ticks == noon + 2_500_000)
        #expect(Moment(date).date == date)
    }
}
