import Glibc
public import Vault

/// Dates as servers write them.
public enum Stamp {
    /// `2026-01-05T08:12:44.901234Z` with that many digits behind the point, cut off and not rounded,
    /// lest a stamp lie in the future. Without `padded`, zeros at the end are left out, and with them
    /// the point, as .NET writes it. A moment of no year that servers know is written as the nearest that is.
    public static func text(_ moment: Moment, digits: Int, padded: Bool) -> String {
        let moment = moment.withinYears
        let seconds = floor(moment.ticks, by: Moment.ticksPerSecond)
        let ticks = moment.ticks - seconds * Moment.ticksPerSecond
        var fraction = Array(number(ticks, count: 7).prefix(digits))
        while !padded, fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
        let point: [UInt8] = fraction.isEmpty ? [] : [UInt8(ascii: ".")]
        return String(
            decoding: calendar(seconds) + point + fraction + [UInt8(ascii: "Z")],
            as: UTF8.self
        )
    }

    private static func calendar(_ seconds: Int64) -> [UInt8] {
        var time = time_t(seconds)
        var calendar = tm()
        gmtime_r(&time, &calendar)
        let year = number(Int64(calendar.tm_year) + 1900, count: 4)
        let rest = [calendar.tm_mon + 1, calendar.tm_mday, calendar.tm_hour, calendar.tm_min]
            .map { number(Int64($0), count: 2) }
        let second = number(Int64(calendar.tm_sec), count: 2)
        let date = year + Array("-".utf8) + rest[0] + Array("-".utf8) + rest[1]
        let clock = rest[2] + Array(":".utf8) + rest[3] + Array(":".utf8) + second
        return date + Array("T".utf8) + clock
    }

    private static func number(_ number: Int64, count: Int) -> [UInt8] {
        var digits = [UInt8](repeating: UInt8(ascii: "0"), count: count)
        var rest = number
        for place in digits.indices.reversed() {
            digits[place] += UInt8(rest % 10)
            rest /= 10
        }
        return digits
    }

    private static func floor(_ number: Int64, by divisor: Int64) -> Int64 {
        (number - ((number % divisor) + divisor) % divisor) / divisor
    }
}

extension Moment {
    /// Milliseconds since 1970, cut off: what the revision date of an account counts in.
    public var milliseconds: Int64 {
        let rest =
            ((ticks % Self.ticksPerMillisecond) + Self.ticksPerMillisecond)
            % Self.ticksPerMillisecond
        return (ticks - rest) / Self.ticksPerMillisecond
    }
}
