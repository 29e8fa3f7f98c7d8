import FoundationEssentials
import Glibc

/// A moment as RFC 3339 has it: UTC, with milliseconds.
struct Timestamp {
    private(set) var bytes: [UInt8] = []

    init(_ moment: Date) {
        let milliseconds = Self.milliseconds(of: moment)
        let fraction = ((milliseconds % 1000) + 1000) % 1000
        var seconds = time_t((milliseconds - fraction) / 1000)
        var calendar = tm()
        gmtime_r(&seconds, &calendar)

        bytes.reserveCapacity(24)
        write(calendar.tm_year + 1900, digits: 4, then: "-")
        write(calendar.tm_mon + 1, digits: 2, then: "-")
        write(calendar.tm_mday, digits: 2, then: "T")
        write(calendar.tm_hour, digits: 2, then: ":")
        write(calendar.tm_min, digits: 2, then: ":")
        write(calendar.tm_sec, digits: 2, then: ".")
        write(Int32(fraction), digits: 3, then: "Z")
    }

    /// Since 1970, kept within the years that have four digits: the format knows no others.
    private static func milliseconds(of moment: Date) -> Int {
        let exact = (moment.timeIntervalSince1970 * 1000).rounded()
        guard !exact.isNaN else { return 0 }
        return Int(min(max(exact, -62_135_596_800_000), 253_402_300_799_999))
    }

    private mutating func write(
        _ number: Int32,
        digits: Int,
        then separator: Unicode.Scalar
    ) {
        var scale: Int32 = [1, 10, 100, 1000][digits - 1]
        while scale > 0 {
            bytes.append(0x30 + UInt8(number / scale % 10))
            scale /= 10
        }
        bytes.append(UInt8(ascii: separator))
    }
}
