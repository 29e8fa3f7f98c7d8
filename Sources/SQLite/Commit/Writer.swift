internal import CSQLite
internal import System

/// The one connection that writes, and the only one that checkpoints.
///
/// Edits that arrive while a commit is under way share the next one: the first of them opens the
/// transaction, every edit runs at once inside it, and the first commits when no other edit is
/// waiting to run. So durable edits per second grow with the load instead of ending where the
/// disk's flushes do, and a lone edit waits for nobody.
actor Writer {
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let executor: any SerialExecutor & TaskExecutor
    private let observer: Observer?
    private let editsPerCommit: Int
    private let patience: Duration
    private var session: Session?
    private var group: CommitGroup?
    private var bound: LogBound
    private var doubt: Doubt?
    /// Whether the last group was lost to one of its edits. Then each edit of the next can be taken back
    /// by itself, so that many that fail do not have the others run as many times.
    private var isCareful = false
    private var isLogMoveDue = false
    /// What was wrong with indexes when the file was opened.
    private(set) var mendedIndexes: [String] = []
    /// Where a log lies that the disk has changed; nil if it was sound when the file was opened.
    private(set) var damagedLog: String?
    private var isLogLeftAlone = false

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
        // An empty one goes, as it does with everybody who closes.
        isLogLeftAlone = configuration.isLogLeftAlone && !session.isLogEmpty(of: place)
        if isLogLeftAlone {
            try session.require(csq_leave_log_alone(session.handle), "open \(place.path)")
        }
        if configuration.isFlushedAtCommit {
            damagedLog = try session.setAsideDamagedLog(of: place, isLeftAlone: isLogLeftAlone)
        }
        // What a newer program wrote is for that program to judge, sound or not.
        try session.refuseNewerSchema(than: migrations, place)
        if configuration.isCheckedAtOpen {
            mendedIndexes = try session.refuseIfDamaged(rowsOf: configuration.tablesCheckedByRow)
        }
        if isLogLeftAlone || session.moveLog(.truncate, patience: patience) != nil {
            doubt = .foundLog
        }
        if configuration.isMigratedAtOpen {
            try session.migrate(migrations, place) { () throws(DatabaseError) in
                try self.settleDoubt(on: session)
            }
        }
        try session.noteLog(of: place)
        session.needsTransaction = true
        self.session = session
    }

    /// Runs the edit, and runs it again if another one took its transaction away.
    ///
    /// On the common pool, whoever calls: the others of the group hear of the commit here, and
    /// shall not wait for a caller's actor. To wake them costs as much as their edits, so the writer,
    /// which has the next group to see to, does not do it itself.
    @concurrent
    nonisolated func write<Answer: Sendable>(
        _ edit: @Sendable (borrowing Connection) throws(DatabaseError) -> Answer
    ) async throws(DatabaseError) -> Answer {
        while true {
            // Once an edit has run, its caller hears the truth about the commit, cancelled or not.
            let (answer, verdict) = try await share(edit)
            verdict.passOn()
            switch verdict.fate {
            case .kept: return answer
            case .failed(let error): throw error
            case .lost: continue  // Every loss ends the edit that caused it, so this ends, too.
            }
        }
    }

    /// Runs the edit inside the open group and waits for what becomes of that.
    ///
    /// Nothing is done after the wait, so whoever waited is woken where it goes on, and does not
    /// come by here once more: that would be two more hops for each edit.
    private func share<Answer: Sendable>(
        _ edit: @Sendable (borrowing Connection) throws(DatabaseError) -> Answer
    ) async throws(DatabaseError) -> (Answer, CommitGroup.Verdict) {
        guard !Task.isCancelled else { throw .cancelled(during: "write") }
        guard let session else { throw .closed(during: "write") }
        let group: CommitGroup
        do throws(DatabaseError) { group = try openGroup(on: session) } catch {
            observer?.failed(error)
            throw error
        }
        let answer = try join(group, on: session, edit)
        // Settled here: whatever is awaited from now on, others may have joined by then.
        if group.edits == 1 { return (answer, await lead(group)) }
        return (answer, await withUnsafeContinuation { group.wait($0) })
    }

    private func openGroup(on session: Session) throws(DatabaseError) -> CommitGroup {
        if let group { return group }
        try settleDoubt(on: session)
        session.heedEmptiedLog(patience: patience)
        try session.control("BEGIN IMMEDIATE", "begin")
        let opened = CommitGroup(rowsBefore: session.rowsChanged)
        group = opened
        return opened
    }

    private func join<Answer>(
        _ group: CommitGroup,
        on session: Session,
        _ edit: (borrowing Connection) throws(DatabaseError) -> Answer
    ) throws(DatabaseError) -> Answer {
        let before = session.writesRun
        do throws(DatabaseError) {
            let answer = try run(edit, on: session)
            group.join()
            if group.edits == editsPerCommit { conclude(group, on: session) }
            return answer
        } catch {
            if session.isWhole {
                observer?.failed(error)
                let isLeft = group.edits == 0 || !isCareful && session.writesRun != before
                if isLeft { takeBack(group, on: session) }
            } else {
                lose(group, on: session, to: error)
            }
            throw error
        }
    }

    private func run<Answer>(
        _ edit: (borrowing Connection) throws(DatabaseError) -> Answer,
        on session: Session
    ) throws(DatabaseError) -> Answer {
        func runAlone() throws(DatabaseError) -> Answer {
            let answer = try edit(Connection(session: session))
            try session.refuseDeferredViolations()
            return answer
        }
        let answer = isCareful ? try session.savepoint(runAlone) : try runAlone()
        // The edit may have caught the error that took everybody's work away.
        guard session.isWhole else { throw session.transactionIsGone() }
        return answer
    }
}

extension Writer {
    /// The first edit of a group commits for all, as soon as a turn passes in which none joins.
    private func lead(_ group: CommitGroup) async -> CommitGroup.Verdict {
        var joined = 0
        while group.fate == nil && joined < group.edits {
            joined = group.edits
            await letOthersRun()
        }
        if group.fate == nil, let session { conclude(group, on: session) }
        moveLogSoon()
        return group.takeVerdict()
    }

    /// Goes to the end of the executor's queue.
    private func letOthersRun() async {
        await withTaskExecutorPreference(executor) { await Task.yield() }
    }

    private func conclude(_ group: CommitGroup, on session: Session) {
        let started = observer?.start()
        let error = commit(on: session)
        self.group = nil
        isCareful = false
        group.conclude(error.map { .failed($0) } ?? .kept)
        if let observer, let started { observer.report(group, session, started, error) }
        bound.logHas(session.logPages)
        if bound.isOutgrown(whenQuiet: false) { moveLog(of: session, .restart) }
    }

    /// What an edit that failed has left behind goes with the whole group, and the others run again: few
    /// fail, and a savepoint for each would cost all of them about as much as what they do.
    private func takeBack(_ group: CommitGroup, on session: Session) {
        session.rollBack()
        self.group = nil
        if group.edits > 0 { isCareful = true }
        group.conclude(.lost)
    }

    /// An edit took everybody's work away with its own.
    private func lose(_ group: CommitGroup, on session: Session, to error: DatabaseError) {
        takeBack(group, on: session)
        if let observer { observer.report(group, session, observer.timekeeper.elapsed, error) }
    }

    /// Commits or, if it cannot, sees to it that nothing of it is ever kept; if it cannot do that
    /// either, the error says so.
    private func commit(on session: Session) -> DatabaseError? {
        guard let error = session.commit() else { return nil }
        session.rollBack()
        if error.code == .moved { session.rescueLog(patience: patience) }
        guard error.mayHaveReachedDisk else { return error }
        doubt = .lostCommit
        do throws(DatabaseError) {
            try settleDoubt(on: session)
            return error
        } catch {
            return error.unsettled
        }
    }

    private func settleDoubt(on session: Session) throws(DatabaseError) {
        guard let doubt else { return }
        try session.settle(doubt, patience: patience)
        self.doubt = nil
    }

    private func moveLogSoon() {
        guard bound.isOutgrown(whenQuiet: true), !isLogMoveDue else { return }
        isLogMoveDue = true
        // A task of its own, because the edit that made the log too long is answered first.
        Task(executorPreference: executor) { await self.moveLogWhenQuiet() }
    }

    private func moveLogWhenQuiet() async {
        await letOthersRun()
        isLogMoveDue = false
        if group == nil, let session, bound.isOutgrown(whenQuiet: true) {
            moveLog(of: session, .passive)
        }
    }

    private func moveLog(of session: Session, _ move: Session.LogMove) {
        let started = observer?.start()
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
        if isLogLeftAlone { return }
        if let error = session.moveLog(.truncate, patience: patience) { throw error }
    }
}

extension Observer {
    fileprivate func start() -> Duration {
        began()
        return timekeeper.elapsed
    }

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
