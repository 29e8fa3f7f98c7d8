import FoundationEssentials
import Metrics
import Sync
import Vault

/// The figures that are not counted but are there: how many accounts, how much is pending, since when.
///
/// They are read when somebody scrapes.
struct HouseholdMetrics: Sendable {
    typealias Tally = @Sendable () -> [PendingTally]?

    private typealias State = PendingChange.State.Kind

    private let accounts: Labelled<AccountStanding.Status, Gauge>
    private let changes: Labelled<ChangeType, Labelled<State, Gauge>>
    private let oldest: Gauge
    private let bytes: Gauge
    private let deliverable: Gauge
    private let oldestDeliverable: Gauge
    private let oldestLocked: Gauge
    private let lastSuccess: Gauge
    private let longestBackoff: Gauge
    private let nextRetry: Gauge
    private let networks: Labelled<NetworkState, Gauge>
    private let clockOffset: Gauge

    /// - Parameter tally: What is pending, counted; nil if the store cannot say.
    @discardableResult
    init(_ registry: Registry, household: any Household, tally: @escaping Tally) {
        accounts = registry.register(
            .gauge(
                "holdfast_accounts",
                "Accounts of this host, by how they stand; signed out also those that are gone while changes wait."
            ),
            by: Label("status")
        )
        changes = registry.register(
            .gauge(
                "holdfast_pending_changes",
                "Edits that upstream has not accepted yet; backingOff is what waits by itself, while a whole account waits they stay ready."
            ),
            by: Label("type"),
            Label("state")
        )
        oldest = registry.register(
            .gauge(
                "holdfast_pending_oldest_timestamp_seconds",
                "When the oldest pending change was made; 0 if there is none."
            )
        )
        bytes = registry.register(
            .gauge("holdfast_pending_bytes", "How large all pending changes are.")
        )
        deliverable = registry.register(
            .gauge(
                "holdfast_pending_deliverable_changes",
                "Pending changes of open vaults whose upstream takes something, but for quarantine."
            )
        )
        oldestDeliverable = registry.register(
            .gauge(
                "holdfast_pending_deliverable_oldest_timestamp_seconds",
                "When the oldest deliverable change was made; 0 if there is none."
            )
        )
        oldestLocked = registry.register(
            .gauge(
                "holdfast_pending_locked_oldest_timestamp_seconds",
                "When the oldest change was made that only a lock keeps back; 0 if there is none."
            )
        )
        lastSuccess = registry.register(
            .gauge(
                "holdfast_sync_last_success_timestamp_seconds",
                "When the account that waits longest was last synced; 0 if one never was."
            )
        )
        longestBackoff = registry.register(
            .gauge(
                "holdfast_retry_backoff_max_seconds",
                "The longest wait that is in force after a failure; 0 if there is none."
            )
        )
        nextRetry = registry.register(
            .gauge(
                "holdfast_retry_next_timestamp_seconds",
                "When something that failed is tried next; 0 if nothing is."
            )
        )
        networks = registry.register(
            .gauge("holdfast_network_state", "Upstreams in each state of the network."),
            by: Label("state")
        )
        clockOffset = registry.register(
            .gauge(
                "holdfast_upstream_clock_offset_seconds",
                "How much the clock of the upstream in use that differs most is ahead of ours; 0 if none is known."
            )
        )
        registry.beforeEachPage { [self] in
            let summary = await household.summary
            show(summary)
            // While the store cannot be read, what it said last is truer than that nothing waits.
            guard let tally = tally() else { return }
            showQueues(of: summary)
            show(tally)
        }
    }

    private func show(_ summary: HouseholdSummary) {
        for status in AccountStanding.Status.allCases {
            accounts[status].set(summary.accounts[status] ?? 0)
        }
        for state in NetworkState.allCases { networks[state].set(summary.networks[state] ?? 0) }
        clockOffset.set(Double(summary.clockOffset) / Double(Moment.ticksPerSecond))
        lastSuccess.set(summary.lastSync.seconds)
        longestBackoff.set(summary.longestBackoff / .seconds(1))
        nextRetry.set(summary.nextRetry.seconds)
    }

    private func showQueues(of summary: HouseholdSummary) {
        oldest.set(summary.oldest.seconds)
        deliverable.set(summary.deliverable)
        oldestDeliverable.set(summary.oldestDeliverable.seconds)
        oldestLocked.set(summary.oldestLocked.seconds)
    }

    private func show(_ tally: [PendingTally]) {
        for type in ChangeType.allCases {
            for state in State.allCases {
                let rows = tally.filter { $0.type == type && $0.state == state }
                changes[type, state].set(rows.reduce(0) { $0 + $1.count })
            }
        }
        bytes.set(tally.reduce(0) { $0 + $1.bytes })
    }
}

extension Moment? {
    /// As a metric has it: 0 where there is none.
    fileprivate var seconds: Double { self?.date.timeIntervalSince1970 ?? 0 }
}
