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
