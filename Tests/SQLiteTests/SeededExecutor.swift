import System

/// Runs everything on the calling thread, one job at a time, in an order that a seed decides.
final class SeededExecutor: SerialExecutor, TaskExecutor {
    private let jobs = Lock<[UnownedJob]>([])
    private let chance: SeededChance

    init(seed: UInt64) { chance = SeededChance(seed: seed) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// Runs the body and all that it starts, until nothing is left to run.
    ///
    /// - Returns: What the body returned; nil, if it waits for something that never comes.
    func run<Answer: Sendable>(_ body: @escaping @Sendable () async -> Answer) -> Answer? {
        let box = Box<Answer>()
        Task(executorPreference: self) { box.give(await body()) }
        while let job = next() {
            job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(),
                taskExecutor: asUnownedTaskExecutor()
            )
        }
        return box.take()
    }

    private func next() -> UnownedJob? {
        jobs.withLock { jobs in
            jobs.isEmpty ? nil : jobs.remove(at: chance.number(in: 0..<jobs.count))
        }
    }
}

private final class Box<Answer: Sendable>: Sendable {
    private let answer = Lock<Answer?>(nil)

    func give(_ value: Answer) { answer.withLock { $0 = value } }
    func take() -> Answer? { answer.withLock { $0 } }
}
