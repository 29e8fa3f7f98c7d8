import HTTP
import System

/// How many descriptors each of those gets who would take them all, so that the others have some left.
///
/// The lines of the accounts come last: an account without one asks from time to time.
struct Allotment: Hashable {
    /// For the files of the store and its readers, names that are looked up, and all that is open at rest.
    private static let reserve = 64
    /// So much of that is left at rest for a crowd at the doors.
    private static let roomForCrowds = 20
    /// With fewer, one that talks to its upstream might have none left for whoever comes in.
    static let least: UInt64 = 128

    /// Connections to the API.
    let callers: Int
    /// Connections to the operators' side.
    let operators: Int
    /// Connections to servers.
    let requests: Int
    /// Lines on which servers tell what happens.
    let lines: Int

    init(of descriptors: UInt64 = Descriptors.limit) {
        let rest = max(Int(clamping: descriptors), Int(Self.least)) - Self.reserve
        callers = min(1_024, rest / 8 * 3)
        operators = min(128, rest / 8)
        requests = min(128, rest / 4)
        let crowds = Limits.crowd(beyond: callers) + Limits.crowd(beyond: operators)
        lines = rest - callers - operators - requests - max(0, crowds - Self.roomForCrowds)
    }
}

extension Limits {
    /// How many connections a crowd may have beyond so many.
    static func crowd(beyond connections: Int) -> Int {
        var limits = Limits()
        limits.connections = connections
        return limits.crowd
    }
}
