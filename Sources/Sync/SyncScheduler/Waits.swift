internal import Vault

/// How long single changes wait because they failed. Each wait counts with the length that it had when it
/// was seen first, until it is over; one that ends later and is no shorter hides it.
public struct Waits: Hashable, Sendable {
    private struct Wait: Hashable {
        let until: Moment
        let length: Duration
    }

    /// The one that ends last is the shortest, and the last.
    private var waits: [Wait] = []

    public init() {}

    /// - Parameter latest: When the last of those that wait may be tried; nil if nothing waits.
    mutating func see(_ latest: Moment?, at now: Moment) {
        guard let latest, latest > now else { return waits = [] }
        waits.removeAll { $0.until <= now || $0.until > latest }
        guard waits.last?.until != latest else { return }
        let new = Wait(until: latest, length: latest - now)
        waits.removeAll { $0.length <= new.length }
        waits.append(new)
    }

    func longest(at now: Moment) -> Duration? { waits.first { $0.until > now }?.length }
}
