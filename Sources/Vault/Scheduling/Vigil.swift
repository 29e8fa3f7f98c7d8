/// Notices when changes wait, upstream can be reached, and all the same nothing moves.
///
/// Whatever the reason is, the services do not know it. So they begin anew, and a person is told
/// once.
public struct Vigil: Hashable, Sendable {
    /// Three times as long as the longest wait that there is a reason for.
    public static let patience = Duration.seconds(3 * Backoff.longest)

    private var quietSince: Duration
    private var hasSpoken = false

    public init(at now: Duration) {
        quietSince = now
    }

    /// When it is to be looked at again.
    public var deadline: Duration { quietSince + Self.patience }

    /// Something was tried, or nothing waits.
    public mutating func noteMotion(at now: Duration) {
        quietSince = now
        hasSpoken = false
    }

    public enum Finding: Hashable, Sendable {
        case fine
        /// It is to be begun anew.
        case stuck(isNews: Bool)
    }

    /// - Parameter onlineSince: Nil while upstream cannot be reached: then standing still is right.
    public mutating func look(
        at now: Duration,
        waiting: Int,
        onlineSince: Duration?
    ) -> Finding {
        guard waiting > 0, let onlineSince else {
            quietSince = now
            return .fine
        }
        quietSince = max(quietSince, onlineSince)
        guard now >= deadline else { return .fine }
        quietSince = now
        defer { hasSpoken = true }
        return .stuck(isNews: !hasSpoken)
    }
}
