import Glibc

/// Runs tasks and actors on one thread that has a loop of its own.
///
/// The loop belongs to whoever makes the executor (an epoll loop, curl's loop, a plain wait): it
/// calls ``runJobs()`` whenever it is awake, and `wake` is how a job from elsewhere gets it out of
/// its sleep. A job that comes while the loop runs jobs, or from its own thread, wakes nobody, because
/// the loop looks again before it sleeps. Jobs run in the order in which they came.
public final class LoopExecutor: SerialExecutor, TaskExecutor {
    fileprivate struct Inbox {
        var jobs: [UnownedJob] = []
        var spare: [UnownedJob] = []
        var owner: pthread_t?
        /// The loop will look at the jobs without being woken once more.
        var isAwake = false
    }

    private let inbox = Lock(Inbox())
    private let wake: @Sendable () -> Void

    public init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
    }

    /// Makes the calling thread the loop's thread. Once, before the first ``runJobs()``.
    public func adoptThread() {
        inbox.withLock { $0.owner = pthread_self() }
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustWake = inbox.withLock { inbox in
            inbox.jobs.append(job)
            guard !inbox.isAwake, !inbox.isOwned else { return false }
            inbox.isAwake = true
            return true
        }
        if mustWake { wake() }
    }

    /// Runs what is queued, and what that queues in turn, until nothing is left or the rounds are
    /// used up: jobs that go on queueing each other are not to keep a loop from its other work.
    ///
    /// What woke the loop has to be cleared before, not after, or a job that comes in between is
    /// left lying.
    ///
    /// - Returns: How many jobs ran.
    @discardableResult
    public func runJobs(rounds: Int = .max) -> Int {
        // Jobs of actors, too, are run as a task executor runs them: run as those of a serial
        // executor, every step out of an actor would be queued again, and most code is in none.
        let executor = asUnownedTaskExecutor()
        var jobs: [UnownedJob] = []
        var count = 0
        var left = rounds
        while left > 0, takeJobs(into: &jobs) {
            left -= 1
            for job in jobs { job.runSynchronously(on: executor) }
            count += jobs.count
            jobs.removeAll(keepingCapacity: true)
        }
        // The last round has not looked again, so whoever comes to an empty queue has to wake the loop.
        if left == 0 { inbox.withLock { $0.isAwake = !$0.jobs.isEmpty } }
        return count
    }

    /// Two arrays take turns, one filling while the other is run, so that a busy loop allocates none.
    private func takeJobs(into jobs: inout [UnownedJob]) -> Bool {
        inbox.withLock { inbox in
            precondition(inbox.isOwned, "The loop's own thread runs its jobs.")
            if jobs.capacity == 0 { swap(&jobs, &inbox.spare) }
            swap(&jobs, &inbox.jobs)
            inbox.isAwake = !jobs.isEmpty
            if jobs.isEmpty { swap(&jobs, &inbox.spare) }
            return inbox.isAwake
        }
    }

    /// Whether there is something to run. A loop that was through with its rounds asks before it
    /// sleeps.
    public var hasJobs: Bool { inbox.withLock { !$0.jobs.isEmpty } }

    public var isOnLoop: Bool { inbox.withLock(\.isOwned) }

    public func checkIsolated() {
        precondition(isOnLoop, "This may be called on the executor's own thread only.")
    }

    public func isIsolatingCurrentContext() -> Bool? { isOnLoop }
}

extension LoopExecutor.Inbox {
    fileprivate var isOwned: Bool {
        guard let owner else { return false }
        return pthread_equal(owner, pthread_self()) != 0
    }
}
