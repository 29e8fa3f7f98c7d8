public import FoundationEssentials

/// A point in time in steps of 100 nanoseconds since 1970, UTC: the finest that any upstream writes.
///
/// An integer, because a stamp that went through floating point differs from itself.
public struct Moment: Hashable, Comparable, Sendable {
    public let ticks: Int64

    public static let ticksPerMillisecond: Int64 = 10_000
    public static let ticksPerSecond: Int64 = 10_000_000

    public init(ticks: Int64) {
        self.ticks = ticks
    }

    /// To the microsecond. A date of our days is no finer; its last digits would say another tick each time
    /// that a moment is reckoned from now, and one that is kept over a restart would not be the same.
    public init(_ date: Date) {
        let micros = (date.timeIntervalSince1970 * 1_000_000).rounded()
        ticks = Int64(micros) * (Self.ticksPerSecond / 1_000_000)
    }

    public var date: Date {
        Date(timeIntervalSince1970: Double(ticks) / Double(Self.ticksPerSecond))
    }

    public static func < (earlier: Moment, later: Moment) -> Bool { earlier.ticks < later.ticks }

    public func advanced(bySeconds seconds: Int64) -> Moment {
        Moment(ticks: ticks + seconds * Self.ticksPerSecond)
    }
}

extension Moment {
    public static func + (moment: Moment, time: Duration) -> Moment {
        Moment(ticks: moment.ticks + ticks(in: time))
    }

    /// To the microsecond, as calendars are. Upwards: whoever sleeps until a moment and wakes a little
    /// before it would find nothing to do, and no time left to sleep.
    public static func - (later: Moment, earlier: Moment) -> Duration {
        let (ticks, isTooFar) = later.ticks.subtractingReportingOverflow(earlier.ticks)
        if isTooFar { return .microseconds(later > earlier ? Int64.max : .min) }
        return .microseconds(ticks / 10 + (ticks % 10 > 0 ? 1 : 0))
    }

    public static func ticks(in time: Duration) -> Int64 {
        let (seconds, attoseconds) = time.components
        return seconds * ticksPerSecond + attoseconds / 100_000_000_000
    }
}
