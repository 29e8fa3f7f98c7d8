internal import Logging
internal import System
internal import Vault

extension Errand {
    /// What became of a failed errand, for the run that it belongs to.
    enum Failure {
        /// Nobody could have done better: the run is over, and this counts for nothing.
        case ofTheRun(Setback)
        /// It waits, or was set aside. Where that is not certain, others that fail alike may prove it wrong.
        case ofTheChange(isCertain: Bool)
        /// There is nothing left to do; somebody else has done it.
        case none
    }

    /// Writes down what the failure means for the change: when it is tried again, or that it is set
    /// aside.
    ///
    /// - Parameter mayBeTheOne: Whether no other one has failed in this run although upstream answered.
    mutating func fail(
        _ halt: Halt,
        mayBeTheOne: () -> Bool
    ) async throws(StoreError) -> Failure {
        switch halt {
        case .overtaken: return .none
        case .store(let error): throw error
        case .wait(let moment):
            try await postpone(until: moment, .other)
        case .behind:
            try await thinkTwice()
        case .doubt(let note):
            try await backOff(note, .other)
        case .unfit(let note):
            try await quarantine(note)
        case .unlisted(let setback):
            conclude(setback)
            return try await giveWay(to: setback)
        case .setback(let setback):
            conclude(setback)
            let verdict = setback.mayBeOfOne ? desk.stumbles.failed(change.id) : .open
            switch (setback.failureClass, verdict) {
            case _ where mutated(.poisonStops): return try await giveWay(to: setback)
            case (.batch, .open):
                guard await isAlone(with: setback, mayBeTheOne) else {
                    return try await giveWay(to: setback)
                }
                try await waitAlone(because: setback)
            case (.batch, .known):
                try await waitAlone(because: setback)
            case (.batch, .proven), (.transient, _):
                try await backOff(FailureNote(setback), setback.reason.retryCause)
                return .ofTheChange(isCertain: verdict != .open)
            case (.permanent, _):
                let note = FailureNote(setback)
                if change.lastFailure?.isRefusal == true {
                    try await quarantine(note)
                } else {
                    try await backOff(note, setback.reason.retryCause)
                }
                return .ofTheChange(isCertain: false)
            }
        }
        return .ofTheChange(isCertain: true)
    }

    private mutating func giveWay(to setback: Setback) async throws(StoreError) -> Failure {
        try await release(setback)
        return .ofTheRun(setback)
    }

    /// Whether only this one is known to fail, again, and upstream answers. Who is banned is to keep still, and
    /// asks nothing.
    private func isAlone(with setback: Setback, _ mayBeTheOne: () -> Bool) async -> Bool {
        guard setback.mayBeOfOne, setback.reason != .foreign(.page(status: 403)),
            change.lastFailure != nil, mayBeTheOne()
        else { return false }
        return await desk.isAnswered()
    }

    /// By itself, while the run goes on. That counts for nothing: nobody knows whether anything else would be
    /// taken.
    private mutating func waitAlone(because setback: Setback) async throws(StoreError) {
        let least = setback.mayHaveLanded ? Self.patience : Self.shortestPause
        try await putOff(FailureNote(setback), setback.reason.retryCause, atLeast: least)
    }

    /// Leaves it as it was before. What may have landed is not looked for too early.
    mutating func release(_ setback: Setback) async throws(StoreError) {
        let state: PendingChange.State =
            setback.mayHaveLanded
            ? .backingOff(until: desk.now.advanced(bySeconds: Self.patience)) : .ready
        try await put {
            $0.state = state
            $0.noteHindrance(FailureNote(setback))
        }
    }

    private mutating func postpone(
        until moment: Moment,
        _ cause: SyncMetrics.RetryCause,
        because note: FailureNote? = nil
    ) async throws(StoreError) {
        let ticks = max(moment.ticks - desk.now.ticks, 0)
        desk.surroundings.metrics.scheduledRetry(cause, in: .microseconds(ticks / 10))
        try await put { change in
            change.state = .backingOff(until: moment)
            if let note { change.lastFailure = note }
        }
    }

    /// The list that comes after the second of these has been the same for long enough. While upstream
    /// goes on to contradict its list, it is asked ever less often.
    private mutating func thinkTwice() async throws(StoreError) {
        try await putOff(.behind, .other, atLeast: Belief.secondThought / 2 + 1)
    }

    /// Waits half as long as this has lasted already.
    private mutating func putOff(
        _ note: FailureNote,
        _ cause: SyncMetrics.RetryCause,
        atLeast least: Int64
    ) async throws(StoreError) {
        var note = note
        let last = change.lastFailure
        let since = last?.kind == note.kind ? last?.since ?? desk.now : desk.now
        note.since = since
        let seconds = (desk.now.ticks - since.ticks) / Moment.ticksPerSecond
        let pause = min(max(seconds / 2, least), Self.longestPause)
        // What upstream refuses twice is set aside, whatever comes in between.
        let isRefused = last?.isRefusal == true
        try await postpone(
            until: desk.now.advanced(bySeconds: pause),
            cause,
            because: isRefused ? nil : note
        )
    }

    /// In seconds.
    private static let shortestPause: Int64 = 5
    /// Half of what a change that fails waits at most.
    private static let longestPause: Int64 = 450

    private mutating func backOff(
        _ note: FailureNote,
        _ cause: SyncMetrics.RetryCause
    ) async throws(StoreError) {
        let failures = change.failures + 1
        var note = note
        let last = change.lastFailure.flatMap { $0.kind == FailureNote.behind.kind ? nil : $0 }
        let since = last?.since ?? desk.now
        note.since = since
        let lasts = desk.now >= since.advanced(bySeconds: Self.longestFailure)
        if failures >= Self.failuresBorne, lasts { return try await quarantine(note) }
        let delay = Backoff.delay(
            after: failures,
            chance: desk.surroundings.chance.fraction()
        )
        let until = Moment(ticks: desk.now.ticks + Int64(delay / .microseconds(1)) * 10)
        desk.surroundings.metrics.scheduledRetry(cause, in: delay)
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
    mutating func uncount(to before: PendingChange) async throws(StoreError) {
        try await put { change in
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
        desk.surroundings.log.error(
            message,
            [
                "cipher": change.cipherID, "type": change.type.rawValue, "kind": note.kind,
                "error": note.message,
            ]
        )
    }

    private mutating func put(
        _ body: @escaping @Sendable (inout PendingChange) -> Void
    ) async throws(StoreError) {
        do throws(Halt) {
            try await update(body)
            desk.surroundings.announce(.pending(lane, changeID: change.id))
        } catch {
            if case .store(let error) = error { throw error }
        }
    }
}
