import System

/// A thread that runs what is enqueued, until nobody holds it any more.
final class WorkerThread: Sendable {
    let executor: LoopExecutor
    private let semaphore: Semaphore
    private let isOver: Flag

    init() {
        let semaphore = Semaphore()
        let isOver = Flag()
        let executor = LoopExecutor { semaphore.signal() }
        Thread.start(name: "worker") {
            executor.adoptThread()
            while !isOver.isSet {
                semaphore.wait()
                executor.runJobs()
            }
        }
        self.semaphore = semaphore
        self.isOver = isOver
        self.executor = executor
    }

    deinit {
        isOver.set()
        semaphore.signal()
    }
}

final class Flag: Sendable {
    private let value = Lock(false)

    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}
