/// How fast wrong tokens are answered.
///
/// One budget for all who fail together: whoever comes with a right token is not asked about it, so
/// nobody can be locked out by somebody else's failures. It keeps a guesser from filling the log and
/// from learning anything quickly.
struct FailureThrottle {
    private static let burst = 20.0
    private static let perSecond = 1.0

    private var room = burst
    private var moment: Duration?

    /// Counts a failure, and returns how long whoever failed is to wait, if too many have.
    mutating func fail(at now: Duration) -> Duration? {
        if let moment {
            room = min(Self.burst, room + (now - moment) / .seconds(1) * Self.perSecond)
        }
        moment = now
        guard room < 1 else {
            room -= 1
            return nil
        }
        return .seconds(((1 - room) / Self.perSecond).rounded(.up))
    }
}
