public import System

/// Hears when each commit and each checkpoint begins, what it took, and what fails besides. Called on the thread
/// that does the work, so it is quick.
public struct Observer: Sendable {
    let timekeeper: any Timekeeper
    let committed: @Sendable (CommitReport) -> Void
    let checkpointed: @Sendable (CheckpointReport) -> Void
    let began: @Sendable () -> Void
    let failed: @Sendable (DatabaseError) -> Void

    /// - Parameter failed: Hears of reads that failed, and of edits that did without a commit; also of those that were
    ///   merely refused.
    public init(
        timekeeper: any Timekeeper,
        committed: @escaping @Sendable (CommitReport) -> Void,
        checkpointed: @escaping @Sendable (CheckpointReport) -> Void = { _ in },
        began: @escaping @Sendable () -> Void = {},
        failed: @escaping @Sendable (DatabaseError) -> Void = { _ in }
    ) {
        self.timekeeper = timekeeper
        self.committed = committed
        self.checkpointed = checkpointed
        self.began = began
        self.failed = failed
    }
}

/// What became of the edits that shared a commit.
public struct CommitReport: Sendable {
    public let edits: Int
    /// Rows inserted, changed and deleted.
    public let rows: Int
    /// The commit itself, from the last edit to stable storage.
    public let duration: Duration
    /// Nothing was kept if there is one. If the commit failed, every caller has got it; if one edit
    /// took the transaction away, only that one has, and the others are run again.
    public let error: DatabaseError?
}

/// How far a checkpoint came.
public struct CheckpointReport: Sendable {
    public let duration: Duration
    /// The commits it follows are safe in the log either way. A disk that has no room for the
    /// database shows here first.
    public let error: DatabaseError?
}
