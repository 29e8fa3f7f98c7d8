/// A thread that does nothing but run the jobs of its executor: home of an actor that blocks.
///
/// Ends when it is released, after the jobs that are queued by then.
public final class ExecutorThread: Sendable {
    public let executor: LoopExecutor
    private let wake = Semaphore()
    private let isReleased: ReleaseMark

    public init(name: String, start: ThreadStart = systemThread) throws(SystemError) {
        let (wake, isReleased) = (wake, ReleaseMark())
        let executor = LoopExecutor { wake.signal() }
        self.executor = executor
        self.isReleased = isReleased
        try start(name) {
            executor.adoptThread()
            var isLast = false
            repeat {
                wake.wait()
                // Before the jobs are run: what is queued by then runs.
                isLast = isReleased.isSet
                executor.runJobs()
            } while !isLast
        }
    }

    deinit {
        isReleased.set()
        wake.signal()
    }
}

private final class ReleaseMark: Sendable {
    private let mark = Lock(false)

    var isSet: Bool { mark.withLock { $0 } }

    func set() { mark.withLock { $0 = true } }
}
