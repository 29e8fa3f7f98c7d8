import Glibc

/// Runs tasks and actors on one thread that has a loop of its own.
///
/// The loop belongs to whoever makes the executor (an epoll loop, curl's loop, a plain wait): it
/// calls ``runJobs()`` whenever it is awake, and `wake` is how a job from elsewhere gets it out of
/// its sleep. A job from the loop's own thread wakes nobody, because the loop looks again before it
/// sleeps.
public final class LoopExecutor: SerialExecutor, TaskExecutor {
    fileprivate struct Inbox {
        var jobs: [UnownedJob] = []
        var spare: [UnownedJob] = []
        var owner: pthread_t?
        var isWoken = false
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
            guard !inbox.isWoken, !inbox.isOwned else { return false }
            inbox.isWoken = true
            return true
        }
        if mustWake { wake() }
    }

    /// Runs what is queued, and what that queues in turn, until nothing is left.
    ///
    /// - Returns: How many jobs ran.
    @discardableResult
    public func runJobs() -> Int {
        var count = 0
        while let jobs = nextJobs() {
            for job in jobs {
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(),
                    taskExecutor: asUnownedTaskExecutor()
                )
            }
            count += jobs.count
            giveBack(jobs)
        }
        return count
    }

    private func nextJobs() -> [UnownedJob]? {
        inbox.withLock { inbox in
            inbox.isWoken = false
            guard !inbox.jobs.isEmpty else { return nil }
            let jobs = inbox.jobs
            inbox.jobs = inbox.spare
            inbox.spare = []
            return jobs
        }
    }

    /// The emptied array is the next inbox, so that a busy loop allocates none.
    private func giveBack(_ jobs: consuming [UnownedJob]) {
        jobs.removeAll(keepingCapacity: true)
        let emptied = jobs
        inbox.withLock { $0.spare = emptied }
    }

    public var isOnLoop: Bool { inbox.withLock(\.isOwned) }

    public func isSameExclusiveExecutionContext(other: LoopExecutor) -> Bool { self === other }

    public func checkIsolated() {
        precondition(isOnLoop, "This may be called on the executor's own thread only.")
    }

    public func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(complexEquality: self)
    }
}

extension LoopExecutor.Inbox {
    fileprivate var isOwned: Bool {
        guard let owner else { return false }
        return pthread_equal(owner, pthread_self()) != 0
    }
}
