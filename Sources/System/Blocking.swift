import CSystem
import Glibc

/// Runs asynchronous work from the program's synchronous `main` and blocks until it has ended.
///
/// The one place where a task has no parent: somebody has to be the root. (An `async main` would
/// take the signals away from ``Signals``.)
public func runBlocking<Result: Sendable>(
    _ body: @escaping @Sendable () async -> Result
) -> Result {
    let answer = Answer<Result>()
    Task { answer.give(await body()) }
    return answer.wait()
}

private final class Answer<Value: Sendable>: Sendable {
    private let value = Lock<Value?>(nil)
    private let semaphore: Semaphore = Semaphore()

    func give(_ value: Value) {
        self.value.withLock { $0 = value }
        semaphore.signal()
    }

    func wait() -> Value {
        while true {
            semaphore.wait()
            if let value = value.withLock({ $0 }) { return value }
        }
    }
}

/// A counting semaphore of the system.
// @unchecked because sem_t is made to be shared; the pointer never changes.
public final class Semaphore: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    public init() {
        sem_init(semaphore, 0, 0)
    }

    public func signal() {
        sem_post(semaphore)
    }

    /// Blocks the thread until there is a signal, and takes it.
    public func wait() {
        while sem_wait(semaphore) != 0 {}
    }

    /// Blocks the thread until there is a signal, and takes it; or for so long at most.
    ///
    /// - Returns: Whether there was one.
    public func wait(atMost time: Duration) -> Bool {
        let (seconds, attoseconds) = time.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        return cs_semaphore_wait(semaphore, UInt64(max(nanoseconds, 0))) == 1
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }
}
