import Sync
import Vault

@testable import Host

extension Household {
    var summary: HouseholdSummary { get async { await eachAsked } }

    /// Each asked by itself.
    var eachAsked: HouseholdSummary {
        get async {
            var summary = HouseholdSummary()
            var upstreams: [String: NetworkState] = [:]
            var synced: [Moment?] = []
            for desk in desks {
                guard let standing = try? await desk.standing else { continue }
                summary.accounts[standing.status, default: 0] += 1
                summary.note(
                    standing.pending,
                    of: standing.status,
                    isWayOpen: standing.network != .offline
                )
                summary.longestBackoff = max(summary.longestBackoff, standing.backoff ?? .zero)
                let retries = [summary.nextRetry, standing.nextRetry].compactMap(\.self)
                summary.nextRetry = retries.min()
                synced.append(standing.lastSync)
                upstreams[standing.server] = standing.network
            }
            summary.lastSync = synced.contains(nil) ? nil : synced.compactMap(\.self).min()
            for state in upstreams.values { summary.networks[state, default: 0] += 1 }
            return summary
        }
    }
}

extension HouseholdSummary {
    /// All that is live is taken to be as old as the oldest.
    fileprivate mutating func note(
        _ pending: AccountStanding.Pending,
        of status: AccountStanding.Status,
        isWayOpen: Bool
    ) {
        guard let since = pending.oldest else { return }
        oldest = min(oldest ?? since, since)
        let live = pending.total - pending.quarantined
        guard isWayOpen, live > 0 else { return }
        switch status {
        case .unlocked:
            deliverable += live
            oldestDeliverable = min(oldestDeliverable ?? since, since)
        case .locked: oldestLocked = min(oldestLocked ?? since, since)
        case .signedOut: break
        }
    }
}
