public import Vault

/// Whether an item is as upstream has it, for clients that want to show it.
public struct SyncMark: Hashable, Sendable {
    public enum State: String, CaseIterable, Hashable, Sendable {
        case clean, pending, quarantined
    }

    public let state: State
    public let changes: [ChangeType]
    /// Since when something is pending.
    public let since: Moment?

    public init(_ state: State, changes: [ChangeType] = [], since: Moment? = nil) {
        self.state = state
        self.changes = changes
        self.since = since
    }

    public static let clean = SyncMark(.clean)
}
