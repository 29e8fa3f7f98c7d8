internal import Vault
internal import System

/// How long single changes wait because they failed: each as long as it was to wait when that was seen
/// first, and as long as none that ends later is as long.
public struct Delays: Hashable, Sendable {
    private struct Delay: Hashable {
        let until: Moment
        let length: Duration
    }

    private var delays: [Delay] = []

    public init() {}

    /// - Parameter latest: When the last of those that wait may be tried; nil if none delays.
    mutating func see(_ latest: Moment?, at now: Moment) {
        guard let latest, latest > now else { return delays = [] }
        delays.removeAll { $0.until <= now || $0.until > latest }
        guard delays.last?.until != latest else { return }
        let new = Delay(until: latest, length: latest - now)
        delays.removeAll { $0.length <= new.length }
        delays.append(new)
    }

    func longest(at now: Moment) -> Duration? { delays.first { $0.until > now }?.length }
}
