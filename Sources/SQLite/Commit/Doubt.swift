/// Why the log may not end, on the disk, where it seems to end here. Settled before another edit is
/// taken.
///
/// A commit is a row of frames in the log, the last of which says so; each frame's checksum covers
/// those before it.
enum Doubt {
    /// The flush of a commit failed. Its frames may be on the disk all the same, and the next start
    /// would take them for kept. The next commit takes their place: once that is flushed, they never
    /// count again.
    case lostCommit
    /// An earlier run left a log, and nobody knows whether its flushes succeeded: the system may
    /// show frames that the disk does not have. What is added behind them would be lost with them,
    /// so the log is moved into the database and starts over.
    case foundLog
}

extension Session {
    /// - Parameter patience: How long to wait for readers that another process has.
    func settle(_ doubt: Doubt, patience: Duration) throws(DatabaseError) {
        switch doubt {
        case .lostCommit: try overwriteLostCommit()
        case .foundLog: if let error = moveLog(.truncate, patience: patience) { throw error }
        }
    }

    /// The smallest commit there is: the version that the file has already.
    private func overwriteLostCommit() throws(DatabaseError) {
        let operation: StaticString = "settle a failed commit"
        let version = try control("PRAGMA user_version", operation) ?? 0
        try control("BEGIN IMMEDIATE", operation)
        do throws(DatabaseError) {
            try runScript("PRAGMA user_version = \(version)")
            try control("COMMIT", operation)
        } catch {
            rollBack()
            throw error.during(operation.description)
        }
    }
}

extension DatabaseError {
    /// Whether a commit that failed like this may have reached the disk. A disk that is full refuses
    /// the frames, and the last one makes the commit; a commit that is refused has written nothing. SQLite knows one
    /// kind of full disk only, and has others told by the system's reason.
    var mayHaveReachedDisk: Bool {
        guard let code, code != .write || !trouble.isWantOfRoom else { return false }
        return ![.full, .constraint, .busy, .locked, .readOnly].contains(code.primary)
    }
}
