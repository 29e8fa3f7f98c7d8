import Glibc

/// Dates as texts, UTC and Gregorian whatever the machine's settings.
enum DateText {
    /// A date as the API spells it: in UTC, with exactly three digits behind the point, cut off and not
    /// rounded, lest a stamp lie in the future. Nil if it does not look like a date.
    static func shown(_ stamp: String) -> String? {
        var stamp = stamp
        switch stamp.withUTF8(form(of:)) {
        case .none: return inUTC(stamp)
        case .shown: return stamp
        case .other: return stamp.withUTF8(withThreeDigits)
        }
    }

    /// Whether it is a date that the calendar has.
    static func isDate(_ text: String) -> Bool { Revision(text) != nil }

    static let expectation = "must be a date like 2026-01-05T08:12:44.901Z"

    /// A date in any other spelling that ``Revision`` reads.
    private static func inUTC(_ text: String) -> String? {
        Revision(text).map { stamp($0.moment) }
    }

    private enum Form {
        case none, shown, other
    }

    private static func form(of text: UnsafeBufferPointer<UInt8>) -> Form {
        guard text.count >= 20, text.count != 21, text[text.count - 1] == UInt8(ascii: "Z"),
            text.dropLast().indices.allSatisfy({ isInPlace(text[$0], at: $0) })
        else { return .none }
        return text.count == 24 ? .shown : .other
    }

    private static func withThreeDigits(_ text: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: 24) { shown in
            for position in 0..<23 {
                let missing = UInt8(ascii: position == 19 ? "." : "0")
                shown[position] = position < text.count - 1 ? text[position] : missing
            }
            shown[23] = UInt8(ascii: "Z")
            return 24
        }
    }

    /// `0000-00-00T00:00:00.` and any number of digits.
    private static func isInPlace(_ byte: UInt8, at position: Int) -> Bool {
        switch position {
        case 4, 7: byte == UInt8(ascii: "-")
        case 10: byte == UInt8(ascii: "T")
        case 13, 16: byte == UInt8(ascii: ":")
        case 19: byte == UInt8(ascii: ".")
        default: (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
    }

    /// `2026-01-05T08:12:44.901Z`
    static func stamp(_ moment: Moment) -> String {
        let milliseconds = floor(moment.ticks, by: Moment.ticksPerMillisecond)
        let digits = padded(milliseconds - floor(milliseconds, by: 1000) * 1000, 3)
        return text(moment, between: "T") + "." + digits + "Z"
    }

    /// `2026-01-05 08:12:44`
    static func readable(_ moment: Moment) -> String {
        text(moment, between: " ")
    }

    private static func text(_ moment: Moment, between separator: String) -> String {
        var seconds = time_t(floor(moment.ticks, by: Moment.ticksPerSecond))
        var calendar = tm()
        gmtime_r(&seconds, &calendar)
        let day = [
            padded(Int64(calendar.tm_year) + 1900, 4), padded(Int64(calendar.tm_mon) + 1, 2),
            padded(Int64(calendar.tm_mday), 2),
        ]
        let time = [calendar.tm_hour, calendar.tm_min, calendar.tm_sec]
        return day.joined(separator: "-") + separator
            + time.map { padded(Int64($0), 2) }.joined(separator: ":")
    }

    private static func floor(_ number: Int64, by divisor: Int64) -> Int64 {
        (number - ((number % divisor) + divisor) % divisor) / divisor
    }

    private static func padded(_ number: Int64, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
