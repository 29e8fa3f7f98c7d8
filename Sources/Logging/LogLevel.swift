/// How much a line matters: the levels of syslog that a host has a use for.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// For whoever looks for a fault.
    case debug
    /// What happens in the ordinary course of things.
    case info
    /// Ordinary, but worth knowing: started, stopped, went offline.
    case notice
    /// Something is not as it should be; the host copes.
    case warning
    /// Something that was asked for could not be done.
    case error

    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.priority > right.priority
    }

    /// The number by which syslog and the journal know it; less is more urgent.
    var priority: UInt8 {
        switch self {
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug: 7
        }
    }
}
