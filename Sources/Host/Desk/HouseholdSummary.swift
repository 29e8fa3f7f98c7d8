public import Sync
public import Vault

/// What all accounts of a host come to, for whoever runs it.
public struct HouseholdSummary: Hashable, Sendable {
    public var accounts: [AccountStanding.Status: Int] = [:]
    /// Changes of accounts that are not here any more, and count as signed out.
    public var strangersChanges = 0
    /// Upstreams that accounts are on, by what is known of the way there.
    public var networks: [NetworkState: Int] = [:]
    /// How many ticks the clock of one of them is ahead of ours, of the one that is furthest from it.
    public var clockOffset: Int64 = 0
    /// When the oldest change was made that is pending.
    public var oldest: Moment?
    /// How many changes wait that nothing known keeps from being sent, and since when the first of them does.
    public var deliverable = 0
    public var oldestDeliverable: Moment?
    /// When the oldest change was made that nothing known but the lock of its vault keeps from being sent.
    public var oldestLocked: Moment?
    /// When the account that waits longest was last synced; nil if one never was.
    public var lastSync: Moment?
    /// The longest wait that is in force after a failure.
    public var longestBackoff = Duration.zero
    /// When something that failed is tried next.
    public var nextRetry: Moment?

    public init() {}
}

extension HouseholdSummary {
    /// Counts changes, by accounts that are not here: what they wait for is that somebody signs in.
    mutating func count(_ strangers: [String: Int]) {
        accounts[.signedOut, default: 0] += strangers.count
        strangersChanges += strangers.values.reduce(0, +)
    }
}
