internal import CSQLite
internal import System

/// The one connection that writes, and the only one that checkpoints.
///
/// Edits that arrive while a commit is under way share the next one: the first of them opens the
/// transaction, every edit runs at once inside it, and the first commits when no other edit is
/// waiting to run. So durable edits per second grow with the load instead of ending where the
/// disk's flushes do, and a lone edit waits for nobody.
actor Writer {
    /// How much an edit may do before it has to be able to take it back.
    enum Extent {
        /// One statement, which SQLite undoes by itself if it fails.
        case statement
        case several
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let executor: any SerialExecutor & TaskExecutor
    private let observer: Observer?
    private let editsPerCommit: Int
    private let patience: Duration
    private var session: Session?
    private var group: CommitGroup?
    private var bound: LogBound
    private var hasDeferredKeys = false

    init(_ configuration: Configuration, on executor: any SerialExecutor & TaskExecutor) {
        self.executor = executor
        observer = configuration.observer
        editsPerCommit = configuration.editsPerCommit
        patience = configuration.patience
        bound = LogBound(pages: configuration.logPages)
    }

    func open(
        _ place: Place,
        _ migrations: [Migration],
        _ configuration: Configuration
    ) throws(DatabaseError) {
        let session = try Session.writing(place, configuration)
        if configuration.isCheckedAtOpen { try session.refuseIfDamaged() }
        try session.migrate(migrations, place)
        hasDeferredKeys = try session.hasDeferredKeys()
        session.needsTransaction = true
        self.session = session
    }

    func write<Answer: Sendable>(
        _ extent: Extent,
        _ edit: (borrowing Connection) throws(DatabaseError) -> Answer
    ) async throws(DatabaseError) -> Answer {
        guard !Task.isCancelled else { throw .cancelled(during: "write") }
        guard let session else { throw .closed(during: "write") }
        let group = try openGroup(on: session)
        let answer = try join(group, on: session, extent, edit)
        // Settled here: whatever is awaited from now on, others may have joined by then.
        if group.edits == 1 {
            await lead(group)
        } else {
            await withUnsafeContinuation { group.wait($0) }
        }
        // Once an edit has run, its caller hears the truth about the commit, cancelled or not.
        if let error = group.error { throw error }
        return answer
    }

    private func openGroup(on session: Session) throws(DatabaseError) -> CommitGroup {
        if let group { return group }
        try session.control("BEGIN IMMEDIATE", "begin")
        let opened = CommitGroup(rowsBefore: session.rowsChanged)
        group = opened
        return opened
    }

    private func join<Answer>(
        _ group: CommitGroup,
        on session: Session,
        _ extent: Extent,
        _ edit: (borrowing Connection) throws(DatabaseError) -> Answer
    ) throws(DatabaseError) -> Answer {
        do throws(DatabaseError) {
            let answer = try run(extent, edit, on: session)
            group.join()
            if group.edits == editsPerCommit { conclude(group, on: session) }
            return answer
        } catch {
            if !session.isWhole {
                conclude(group, on: session, lostTo: error)
            } else if group.edits == 0 {
                session.rollBack()
                self.group = nil
            }
            throw error
        }
    }

    private func run<Answer>(
        _ extent: Extent,
        _ edit: (borrowing Connection) throws(DatabaseError) -> Answer,
        on session: Session
    ) throws(DatabaseError) -> Answer {
        let answer =
            extent == .statement && !hasDeferredKeys
            ? try edit(Connection(session: session))
            : try session.savepoint { () throws(DatabaseError) in
                let answer = try edit(Connection(session: session))
                try session.refuseDeferredViolations()
                return answer
            }
        // The edit may have caught the error that took everybody's work away.
        guard session.isWhole else { throw session.transactionIsGone() }
        return answer
    }
}

extension Writer {
    /// The first edit of a group commits for all, as soon as a turn passes in which none joins.
    private func lead(_ group: CommitGroup) async {
        var joined = 0
        while group.isOpen && joined < group.edits {
            joined = group.edits
            await letOthersRun()
        }
        if group.isOpen, let session { conclude(group, on: session) }
        await moveLogWhenQuiet()
    }

    /// Goes to the end of the executor's queue.
    private func letOthersRun() async {
        await withTaskExecutorPreference(executor) { await Task.yield() }
    }

    private func conclude(
        _ group: CommitGroup,
        on session: Session,
        lostTo error: DatabaseError? = nil
    ) {
        let started = observer?.timekeeper.elapsed
        let error = error ?? session.commit()
        if error != nil { session.rollBack() }
        self.group = nil
        group.conclude(error)
        if let observer, let started { observer.report(group, session, started, error) }
        bound.logHas(session.logPages)
        if bound.isOutgrown(whenQuiet: false) { moveLog(of: session, .restart) }
    }

    private func moveLogWhenQuiet() async {
        guard bound.isOutgrown(whenQuiet: true) else { return }
        await letOthersRun()
        if group == nil, let session, bound.isOutgrown(whenQuiet: true) {
            moveLog(of: session, .passive)
        }
    }

    private func moveLog(of session: Session, _ move: Session.LogMove) {
        let started = observer?.timekeeper.elapsed
        let error = session.moveLog(move, patience: patience)
        bound.logWasMoved()
        guard let observer, let started else { return }
        let duration = observer.timekeeper.elapsed - started
        observer.checkpointed(CheckpointReport(duration: duration, error: error))
    }

    func checkpoint() throws(DatabaseError) {
        guard let session else { throw .closed(during: "checkpoint") }
        if let group { conclude(group, on: session) }
        if let error = session.moveLog(.truncate, patience: patience) { throw error }
        bound.logHas(0)
    }

    /// Commits what is open, empties the log and closes. What was committed is safe even if the log
    /// cannot be emptied.
    func close() throws(DatabaseError) {
        guard let session else { return }
        if let group { conclude(group, on: session) }
        self.session = nil
        if let error = session.moveLog(.truncate, patience: patience) { throw error }
    }
}

extension Observer {
    fileprivate func report(
        _ group: CommitGroup,
        _ session: Session,
        _ started: Duration,
        _ error: DatabaseError?
    ) {
        committed(
            CommitReport(
                edits: group.edits,
                rows: session.rowsChanged - group.rowsBefore,
                duration: timekeeper.elapsed - started,
                error: error
            )
        )
    }
}
