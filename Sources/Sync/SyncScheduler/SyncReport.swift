public import Vault

/// What came of a sync.
public struct SyncReport: Equatable, Sendable {
    public enum Outcome: String, CaseIterable, Hashable, Sendable {
        /// Everything that upstream holds was taken over, and nothing waits for it.
        case completed
        /// Nothing was pending, and upstream has not changed since the last one.
        case notNeeded
        /// Changes are still pending. Nothing is lost; what upstream holds was taken over only as far as
        /// they allow.
        case deferred
        case failed
    }

    public let outcome: Outcome
    /// In words for people; nil where there is nothing to explain.
    public let reason: String?
    /// What stood in the way, if upstream or the network did.
    public let setback: Setback?
    /// What stood in the way, if the disk did.
    public let trouble: StoreError?
    public let ended: Moment

    public init(
        _ outcome: Outcome,
        reason: String?,
        setback: Setback? = nil,
        trouble: StoreError? = nil,
        ended: Moment
    ) {
        self.outcome = outcome
        self.reason = reason
        self.setback = setback
        self.trouble = trouble
        self.ended = ended
    }
}
