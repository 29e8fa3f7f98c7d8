internal import CSQLite

/// What the writer needs to know of its transaction.
extension Session {
    /// Whether the open transaction still holds everything that was done in it.
    var isWhole: Bool { isInTransaction && ruin == nil }

    var rowsChanged: Int { Int(sqlite3_total_changes64(handle)) }

    func commit() -> DatabaseError? {
        do throws(DatabaseError) {
            try refuseMoved("commit")
            knownLog.mayShrink()
            try control("COMMIT", "commit")
            knownLog.hasGrown(to: logPages)
            return nil
        } catch {
            return error
        }
    }

    /// What is written into a file that somebody has deleted or moved away is gone with this process, and so is what is
    /// written into such a log.
    func refuseMoved(_ operation: String) throws(DatabaseError) {
        guard csq_has_moved(handle) != 0 else {
            if knownLog.loss != nil { throw lostLog(during: operation) }
            return
        }
        throw DatabaseError(
            .sqlite(.moved, systemError: 0),
            during: operation,
            message: "the file is not where it was opened"
        )
    }

    /// An edit that leaves a deferred key dangling would otherwise be found at the commit, which
    /// fails for everybody.
    func refuseDeferredViolations() throws(DatabaseError) {
        guard csq_deferred_violations(handle) > 0 else { return }
        throw DatabaseError(
            .sqlite(.constraintForeignKey, systemError: 0),
            during: "write",
            message: "FOREIGN KEY constraint failed at the end of the edit"
        )
    }
}

/// The log and its way into the database.
extension Session {
    enum LogMove {
        /// As far as no reader stands in the way.
        case passive
        /// All of it, waiting a moment for readers, so that the next commit starts the log over.
        case restart
        /// All of it, waiting for readers as long as patience allows; leaves an empty file.
        case truncate

        fileprivate var mode: Int32 {
            switch self {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restart: SQLITE_CHECKPOINT_RESTART
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        }
    }

    func moveLog(_ move: LogMove, patience: Duration) -> DatabaseError? {
        do throws(DatabaseError) { try refuseShortLog() } catch { return error }
        bePatient(for: move == .restart ? Self.moment : patience)
        defer { bePatient(for: patience) }
        let bytes = move == .truncate ? knownLog.mayShrink() : nil
        let code = sqlite3_wal_checkpoint_v2(handle, "main", move.mode, nil, nil)
        // A reader in the way of a restart is no failure: the next attempt comes soon.
        let isDone = code == SQLITE_OK || (move == .restart && code == SQLITE_BUSY)
        if isDone, bytes != nil { logWasEmptied() }
        if !isDone, let bytes { knownLog.stays(at: bytes) }
        return isDone ? nil : DatabaseError(code, of: handle, during: "checkpoint")
    }

    /// An inline read is over by then. A long one is not, and no writer is to wait for that.
    private static let moment: Duration = .milliseconds(10)
}
