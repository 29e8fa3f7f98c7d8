import Glibc

/// The stamp that upstream gave a cipher when it last accepted a change.
///
/// The text is kept as it came, because that is what upstream compares when it gets it back; the
/// moment is what we compare.
public struct Revision: Hashable, Sendable {
    public let text: String
    public let moment: Moment

    /// Older than whatever upstream has.
    public static let beforeAll = Revision(text: "none", moment: Moment(ticks: .min))

    /// A revision that was taken apart before.
    public init(text: String, moment: Moment) {
        self.text = text
        self.moment = moment
    }

    /// Reads `2026-02-18T09:30:00.1234567Z`, with any number of fraction digits up to nine and any
    /// offset; without an offset the stamp is taken for UTC. Anything else is no revision.
    public init?(_ text: String) {
        var reader = StampReader(rest: text.utf8[...])
        guard let moment = reader.moment() else { return nil }
        self.init(text: text, moment: moment)
    }

    /// Whether both may stamp the same change. Not `==`, because nearness is not transitive.
    ///
    /// Somebody else may have written within what stores lose. So nothing is taken for agreed on by that alone:
    /// content has to bear it out, unless the stamps are written alike.
    public func isSame(as other: Revision) -> Bool {
        text == other.text || moment.mayStampSame(as: other.moment)
    }

    /// Whether both are one stamp, however many of its digits are written: clients see three.
    public func isWritten(like other: Revision) -> Bool {
        text == other.text || moment.isWithin(Moment.ticksPerMillisecond, of: other.moment)
    }

    /// Whether this is certainly the stamp of an earlier change, whatever was lost of both.
    public func isEarlier(than other: Revision) -> Bool {
        moment.isEarlierStamp(than: other.moment)
    }
}

/// Moments as stamps. A write is answered from the server's memory, and what is read later comes from its store,
/// which may have kept less of the stamp: multiples of 1/300 of a second, or whole seconds, cut off or
/// rounded up.
extension Moment {
    public func mayStampSame(as other: Moment) -> Bool {
        if isWithin(Self.ticksLost, of: other) { return true }
        return (isWholeSecond || other.isWholeSecond)
            && isWithin(Self.ticksPerSecond - 1, of: other)
    }

    public func isEarlierStamp(than other: Moment) -> Bool {
        self < other && !mayStampSame(as: other)
    }

    /// Whether it says nothing of when in its second that was. So do all that some stores keep.
    public var isWholeSecond: Bool { ticks % Self.ticksPerSecond == 0 }

    /// The years 1 to 9999 in UTC, in seconds: servers know no others, whatever the offset.
    fileprivate static let years: Range<Int64> = -62_135_596_800..<253_402_300_800

    /// The same, or the first or the last moment of those years if it is none of them: a bit that turns on the disk
    /// makes such moments.
    public var withinYears: Moment {
        let first = Self.years.lowerBound * Self.ticksPerSecond
        let last = Self.years.upperBound * Self.ticksPerSecond - 1
        return Moment(ticks: min(max(ticks, first), last))
    }

    /// What 1/300 of a second may take, and what clients do not see.
    private static let ticksLost = 4 * ticksPerMillisecond

    fileprivate func isWithin(_ distance: Int64, of other: Moment) -> Bool {
        let (difference, overflow) = ticks.subtractingReportingOverflow(other.ticks)
        return !overflow && difference.magnitude <= distance
    }
}

/// One of the two that may have changed a cipher.
public enum Side: String, CaseIterable, Hashable, Sendable {
    case local
    case upstream

    /// As clients, metrics and the history call it.
    public var word: String {
        switch self {
        case .local: "local"
        case .upstream: "server"
        }
    }

    public init?(word: String) {
        guard let side = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = side
    }

    /// Who came later. At the same tick upstream does, so that every host decides alike.
    public static func later(local: Moment, upstream: Moment) -> Side {
        local > upstream ? .local : .upstream
    }
}

private struct StampReader {
    var rest: Substring.UTF8View

    mutating func moment() -> Moment? {
        guard
            let year = number(digits: 4), take("-"),
            let month = number(digits: 2), take("-"),
            let day = number(digits: 2), take("T") || take("t") || take(" "),
            let hour = number(digits: 2), take(":"),
            let minute = number(digits: 2), take(":"),
            let second = number(digits: 2),
            hour < 24, minute < 60, second < 60,
            let midnight = seconds(year: year, month: month, day: day),
            let fraction = fraction(),
            let offset = offset(),
            rest.isEmpty
        else { return nil }
        let seconds = midnight + Int64(hour * 3600 + minute * 60 + second) - offset
        guard Moment.years.contains(seconds) else { return nil }
        return Moment(ticks: seconds * Moment.ticksPerSecond + fraction)
    }

    /// The seconds to the day's beginning; nothing for a day that the calendar does not have.
    private func seconds(year: Int, month: Int, day: Int) -> Int64? {
        var calendar = tm()
        calendar.tm_year = Int32(year - 1900)
        calendar.tm_mon = Int32(month - 1)
        calendar.tm_mday = Int32(day)
        let asked = (calendar.tm_year, calendar.tm_mon, calendar.tm_mday)
        let seconds = timegm(&calendar)
        // The library moves the 30th of February into March instead of refusing it.
        return asked == (calendar.tm_year, calendar.tm_mon, calendar.tm_mday)
            ? Int64(seconds) : nil
    }

    /// The ticks behind the point, none without a point; digits beyond the seventh are cut off.
    private mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard (1...9).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        return (0..<7).reduce(0) { ticks, place in
            let digit = digits.dropFirst(place).first ?? UInt8(ascii: "0")
            return ticks * 10 + Int64(digit - UInt8(ascii: "0"))
        }
    }

    private mutating func offset() -> Int64? {
        if rest.isEmpty || take("Z") || take("z") { return 0 }
        let sign: Int64 = take("-") ? -1 : 1
        guard
            sign < 0 || take("+"),
            let hours = number(digits: 2), take(":"),
            let minutes = number(digits: 2),
            hours < 24, minutes < 60
        else { return nil }
        return sign * Int64(hours * 3600 + minutes * 60)
    }

    private mutating func number(digits count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count else { return nil }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        rest = rest.dropFirst(count)
        return number
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }
}
