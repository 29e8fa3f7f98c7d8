import Glibc

/// Dates as texts, UTC and Gregorian whatever the machine's settings.
enum DateText {
    /// Upstream's stamp as the API spells it: exactly three digits behind the point, cut off and not
    /// rounded, lest a stamp lie in the future. Nil if it is not in UTC or no date at all.
    static func shown(_ stamp: String) -> String? {
        var text = Array(stamp.utf8)
        guard text.count >= 20, text.removeLast() == UInt8(ascii: "Z") else { return nil }
        let isStamp = zip(text, pattern.utf8).allSatisfy { byte, sign in
            sign == UInt8(ascii: "0") ? isDigit(byte) : byte == sign
        }
        guard isStamp, text.count != 20, text.dropFirst(20).allSatisfy(isDigit) else { return nil }
        if text.count == 19 { text.append(UInt8(ascii: ".")) }
        while text.count < 23 { text.append(UInt8(ascii: "0")) }
        return String(decoding: text.prefix(23) + [UInt8(ascii: "Z")], as: UTF8.self)
    }

    private static let pattern = "0000-00-00T00:00:00."

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
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
