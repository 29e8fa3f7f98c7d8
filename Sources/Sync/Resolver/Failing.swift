internal import Logging
internal import System
internal import Vault

extension Errand {
    /// What became of a failed errand, for the run that it belongs to.
    enum Failure {
        /// Nobody could have done better: the run is over, and this counts for nothing.
        case ofTheRun(Setback)
        /// It waits, or was set aside.
        case ofTheChange
        /// There is nothing left to do; somebody else has done it.
        case none
    }

    /// Writes down what the failure means for the change: when it is tried again, or that it is set
    /// aside.
    ///
    /// - Parameter mayWaitAlone: Asked at most once, where upstream is to be asked whether it answers others.
    mutating func fail(
        _ halt: Halt,
        mayWaitAlone: () -> Bool
    ) async throws(StoreError) -> Failure {
        switch halt {
        // To give way is the caller's own affair, and a run has none.
        case .overtaken, .overruled: return .none
        case .store(let error): throw error
        case .wait(let moment):
            // Whoever insists does not make it a new wait each time.
            if change == before, change.state == .backingOff(until: moment) { break }
            try await postpone(until: moment, .other)
        case .behind:
            try await thinkTwice()
        case .doubt(let note):
            try await backOff(note, .other)
        case .unfit(let note):
            try await quarantine(note)
        case .locked:
            try await rest()
        case .unlisted(let setback):
            conclude(setback)
            return try await giveWay(to: setback)
        case .setback(let setback):
            conclude(setback)
            switch setback.failureClass {
            case .batch:
                guard await isAlone(with: setback, mayWaitAlone) else {
                    return try await giveWay(to: setback)
                }
                guard kit.stumbles.sawAnythingTaken(since: change.id) else {
                    try await waitAlone(because: setback)
                    break
                }
                let patience = patience(after: setback)
                try await backOff(FailureNote(setback), setback.reason.retryCause, for: patience)
            case .transient:
                try await backOff(FailureNote(setback), setback.reason.retryCause)
            case .permanent:
                let note = FailureNote(setback)
                if mutated(.poisonStops) { return try await giveWay(to: setback) }
                if change.lastFailure?.isRefusal == true {
                    try await quarantine(note)
                } else {
                    try await backOff(note, setback.reason.retryCause)
                }
            }
        }
        return .ofTheChange
    }

    private mutating func giveWay(to setback: Setback) async throws(StoreError) -> Failure {
        kit.stumbles.add(change.id)
        try await release(setback)
        return .ofTheRun(setback)
    }

    /// Whether this has failed again, and upstream answers others. The first time that is not asked: most often it
    /// is away.
    private func isAlone(with setback: Setback, _ mayWaitAlone: () -> Bool) async -> Bool {
        guard setback.mayBeOfOne, change.lastFailure != nil, !mutated(.poisonStops), mayWaitAlone()
        else { return false }
        return await kit.upstreamAnswers(others: setback)
    }

    /// By itself, while the run goes on. That counts for nothing: it may be that nothing gets through to upstream but
    /// questions.
    private mutating func waitAlone(because setback: Setback) async throws(StoreError) {
        let wait = Backoff.wait(
            after: kit.stumbles.countWait(of: change.id),
            chance: kit.surroundings.chance.fraction()
        )
        let pause = max(wait, patience(after: setback))
        log("A pending change alone could not be brought upstream.", FailureNote(setback))
        kit.surroundings.metrics.scheduledRetry(setback.reason.retryCause, in: pause)
        let until = kit.now + pause
        try await put {
            $0.state = .backingOff(until: until)
            $0.noteHindrance(FailureNote(setback))
        }
    }

    /// Whatever of it was brought upstream before, the rest waits.
    private mutating func rest() async throws(StoreError) {
        guard !word.isEmpty || change.state == .inFlight else { return }
        try await put { $0.state = .ready }
    }

    /// Leaves it as it was before. What may have landed is not looked for too early. The run ends with that, and
    /// counts the retry.
    mutating func release(_ setback: Setback) async throws(StoreError) {
        var state = PendingChange.State.ready
        let pause = patience(after: setback)
        if pause > .zero {
            state = .backingOff(until: kit.now + pause)
        }
        try await put { [state] in
            $0.state = state
            $0.noteHindrance(FailureNote(setback))
        }
    }

    /// How long what may have landed is not looked for.
    private func patience(after setback: Setback) -> Duration {
        setback.mayHaveLanded ? .seconds(Attempt.patience) : .zero
    }

    private mutating func postpone(
        until moment: Moment,
        _ cause: SyncMetrics.RetryCause,
        because note: FailureNote? = nil
    ) async throws(StoreError) {
        kit.surroundings.metrics.scheduledRetry(cause, in: max(moment - kit.now, .zero))
        try await put { change in
            change.state = .backingOff(until: moment)
            if let note { change.lastFailure = note }
        }
    }

    /// The list that comes after the second of these has been the same for long enough. While upstream
    /// goes on to contradict its list, it is asked ever less often.
    private mutating func thinkTwice() async throws(StoreError) {
        var note = FailureNote.behind
        let last = change.lastFailure
        let since = last?.kind == note.kind ? last?.since ?? kit.now : kit.now
        note.since = since
        let seconds = (kit.now.ticks - since.ticks) / Moment.ticksPerSecond
        let pause = min(max(seconds / 2, Belief.secondThought / 2 + 1), Self.longestPause)
        // What upstream refuses twice is set aside, whatever comes in between.
        let isRefused = last?.isRefusal == true
        try await postpone(
            until: kit.now.advanced(bySeconds: pause),
            .other,
            because: isRefused ? nil : note
        )
    }

    /// In seconds; half of what a change that fails waits at most.
    private static let longestPause = Int64(Backoff.longest / 2)

    /// - Parameter patience: How long at least.
    private mutating func backOff(
        _ note: FailureNote,
        _ cause: SyncMetrics.RetryCause,
        for patience: Duration = .zero
    ) async throws(StoreError) {
        let failures = change.failures + 1
        var note = note
        let last = change.lastFailure.flatMap { $0.kind == .behind ? nil : $0 }
        let since = last?.since ?? kit.now
        note.since = since
        let lasts = kit.now >= since.advanced(bySeconds: Self.longestFailure)
        if failures >= Self.failuresBorne, lasts { return try await quarantine(note) }
        let backoff = Backoff.wait(
            after: failures,
            chance: kit.surroundings.chance.fraction()
        )
        let wait = max(backoff, patience)
        let until = kit.now + wait
        kit.surroundings.metrics.scheduledRetry(cause, in: wait)
        log("A pending change could not be brought upstream.", note)
        try await put { [note] change in
            change.failures = failures
            change.lastFailure = note
            change.state = .backingOff(until: until)
        }
    }

    mutating func quarantine(_ note: FailureNote) async throws(StoreError) {
        log("A pending change was set aside.", note)
        try await put { change in
            change.lastFailure = note
            change.state = .quarantined
        }
    }

    /// Takes back that a failure was counted: it was everybody's.
    mutating func uncount() async throws(StoreError) {
        try await put { [before] change in
            let failure = change.lastFailure
            change.failures = before.failures
            change.lastFailure = before.lastFailure
            if let failure { change.noteHindrance(failure) }
            change.state = .ready
        }
    }

    private static let failuresBorne: Int64 = 10

    /// A day, in seconds.
    private static let longestFailure: Int64 = 24 * 3_600

    private func log(_ message: StaticString, _ note: FailureNote) {
        kit.surroundings.log.error(
            message,
            [
                "cipher": change.cipherID, "type": change.type.rawValue, "kind": note.kind.rawValue,
                "error": note.message,
            ]
        )
    }

    private mutating func put(
        _ body: @escaping @Sendable (inout PendingChange) -> Void
    ) async throws(StoreError) {
        do throws(Halt) {
            try await update(body)
            kit.surroundings.announce(.pending(lane, changeID: change.id))
        } catch {
            if case .store(let error) = error { throw error }
            try await leaveWord()
        }
    }
}
