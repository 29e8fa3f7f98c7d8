internal import Messaging
internal import Vault

/// What lies before a scheduler: who asks for what, what is under way, and what is planned.
///
/// A value without tasks, so that its decisions can be looked at one by one.
struct Docket: Sendable {
    typealias Asker = Reply<SyncReport>

    /// One run, and who waits for it.
    struct Job: Sendable {
        enum Work: Hashable, Sendable {
            /// - `isInsistent`: Somebody waits: tried in spite of every backoff.
            case sync(isFull: Bool, isInsistent: Bool)
            case retry(changeID: String)
        }

        let number: Int
        let work: Work
        let occasion: Agenda.Occasion
        let askers: [Asker]

        /// Whether somebody waits for it.
        var isInsistent: Bool {
            switch work {
            case .sync(_, let isInsistent): isInsistent
            case .retry: true
            }
        }
    }

    enum Step: Sendable {
        case run(Job)
        case sleep(until: Duration)
    }

    private(set) var agenda: Agenda
    private(set) var vigil: Vigil
    private(set) var underWay: Int?
    private(set) var isClosing = false
    private var lastNumber = 0
    private var syncAskers: [Asker] = []
    private var wantsFull = false
    /// In the order in which they were asked for.
    private var retries: [(changeID: String, askers: [Asker])] = []

    init(interval: Duration, at now: Duration) {
        agenda = Agenda(interval: interval)
        vigil = Vigil(at: now)
    }

    var isIdle: Bool { underWay == nil && !isAsked }

    /// Whether somebody waits for the next run.
    var isAsked: Bool { !syncAskers.isEmpty || !retries.isEmpty }
}

// MARK: - What is wanted

extension Docket {
    mutating func restore(_ body: (inout Agenda) -> Void) { body(&agenda) }

    /// Whoever asks while a run is under way hears of the next one: what that one has read already
    /// may be older than the wish.
    mutating func ask(isFull: Bool, _ asker: Asker) {
        wantsFull = wantsFull || isFull
        syncAskers.append(asker)
    }

    mutating func ask(retryOf changeID: String, _ asker: Asker) {
        if let index = retries.firstIndex(where: { $0.changeID == changeID }) {
            retries[index].askers.append(asker)
        } else {
            retries.append((changeID: changeID, askers: [asker]))
        }
    }

    mutating func note(
        _ occasion: Agenda.Occasion,
        at now: Duration,
        isOnline: Bool,
        chance: Double
    ) {
        agenda.note(occasion, at: now, isOnline: isOnline, chance: chance)
    }

    /// Nothing else is begun.
    mutating func close() { isClosing = true }

    /// - Returns: Those who will not get what they asked for.
    mutating func takeAskers() -> [Asker] {
        defer { (syncAskers, retries) = ([], []) }
        return syncAskers + retries.flatMap(\.askers)
    }
}

// MARK: - What is done

extension Docket {
    /// One run at a time, those that somebody waits for first.
    mutating func step(at now: Duration) -> Step? {
        if isClosing { return nil }
        guard underWay == nil else { return .sleep(until: vigil.deadline) }
        guard let job = job(at: now) else {
            return agenda.next.map { .sleep(until: min($0.moment, vigil.deadline)) }
        }
        underWay = job.number
        begin(job, at: now)
        return .run(job)
    }

    private mutating func begin(_ job: Job, at now: Duration) {
        switch job.work {
        case .sync: agenda.begin(job.occasion, at: now)
        case .retry: agenda.beginRetry()
        }
    }

    private mutating func job(at now: Duration) -> Job? {
        if !retries.isEmpty {
            let retry = retries.removeFirst()
            return job(.retry(changeID: retry.changeID), .asked, retry.askers)
        }
        if !syncAskers.isEmpty {
            defer { (syncAskers, wantsFull) = ([], false) }
            return job(.sync(isFull: wantsFull, isInsistent: true), .asked, syncAskers)
        }
        return agenda.occasion(at: now).map {
            job(.sync(isFull: false, isInsistent: false), $0, [])
        }
    }

    private mutating func job(
        _ work: Job.Work,
        _ occasion: Agenda.Occasion,
        _ askers: [Asker]
    ) -> Job {
        lastNumber += 1
        return Job(number: lastNumber, work: work, occasion: occasion, askers: askers)
    }

    /// What was wished while it stood in line, it serves as well.
    ///
    /// - Returns: Whether it begins.
    mutating func takesTurn(_ job: Job, at now: Duration) -> Bool {
        if isClosing, !job.isInsistent {
            release()
            return false
        }
        begin(job, at: now)
        return true
    }

    mutating func looksAtUpstream(at now: Duration) { agenda.look(at: now) }

    /// Nothing else begins before ``release()``.
    ///
    /// - Parameter hasMoved: Whether something was tried, or nothing waits.
    /// - Returns: The wait that this end has brought, if any.
    mutating func end(
        _ ending: Agenda.Ending,
        due: Duration?,
        waitsForDue: Bool,
        hasMoved: Bool,
        at now: Duration,
        chance: Double
    ) -> Agenda.Wait? {
        if hasMoved { vigil.noteMotion(at: now) }
        return agenda.end(ending, due: due, waitsForDue: waitsForDue, at: now, chance: chance)
    }

    /// All of the run is over, its bookkeeping as well.
    mutating func release() { underWay = nil }

    mutating func look(at now: Duration, waiting: Int, onlineSince: Duration?) -> Vigil.Finding {
        vigil.look(at: now, waiting: waiting, onlineSince: onlineSince)
    }
}
