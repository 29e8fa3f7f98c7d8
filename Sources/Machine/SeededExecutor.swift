import Glibc
public import System

/// Runs everything on one thread, in an order that a seed decides.
///
/// ```swift
/// let count = try SeededExecutor.run(seed: 7) { executor, time in … }
/// ```
///
/// The jobs of all tasks that the body starts as its children, and of all default actors that they
/// call, are kept, and the seed picks which one runs next. When none is left, virtual time passes
/// until the next sleeper wakes. So the same seed gives the same history in every process, and
/// another seed another.
///
/// A task that goes from one actor to another goes on at once. How often it does is for the
/// optimiser to say, which leaves out what is not needed; were chance asked each time, a debug and a
/// release build would tell two histories.
///
/// An actor with an executor of its own has to be given this one. The seed does not decide what
/// escapes: a `Task {}` without a parent, a thread, the order of a `Set`, which is another in each
/// process. A job that comes back from another thread ends the run with
/// ``SimulationFailure/Reason/strayJob``.
public final class SeededExecutor: TaskExecutor, SerialExecutor {
    public let seed: UInt64
    public let time = VirtualTimekeeper()
    /// Where the body's own chance comes from, so that one seed decides all.
    public let chance: SeededChance

    private let picks: SeededChance
    private let jobLimit: Int
    private let momentLimit: Int
    private let backlog = Lock(Backlog())

    /// - Parameters:
    ///   - jobLimit: After so many jobs the body is taken to run forever.
    ///   - momentLimit: After so many between which no time has passed, too.
    public init(seed: UInt64, jobLimit: Int = 20_000_000, momentLimit: Int = 1_000_000) {
        self.seed = seed
        self.jobLimit = jobLimit
        self.momentLimit = momentLimit
        picks = SeededChance(seed: seed)
        chance = SeededChance(seed: ~seed)
    }

    /// Runs the body until it has returned, and returns what it did.
    ///
    /// - Throws: What the body throws, or a ``SimulationFailure`` when it cannot go on.
    public static func run<Result: Sendable>(
        seed: UInt64,
        _ body: @escaping @Sendable (SeededExecutor, VirtualTimekeeper) async throws -> Result
    ) throws -> Result {
        try SeededExecutor(seed: seed).run(body)
    }

    /// The same for an executor whose ``history`` is of interest afterwards. To be called once.
    public func run<Result: Sendable>(
        _ body: @escaping @Sendable (SeededExecutor, VirtualTimekeeper) async throws -> Result
    ) throws -> Result {
        backlog.withLock { $0.thread = pthread_self() }
        let ending = Ending<Result>()
        // The one task without a parent: it is the root of all that is simulated, and the calling
        // thread, which is about to run it, waits for it.
        let root = Task(executorPreference: self) {
            do {
                ending.set(.success(try await body(self, self.time)))
            } catch {
                ending.set(.failure(error))
            }
        }
        let hasTime = runJobs(until: ending, limit: jobLimit)
        let reason = backlog.withLock { $0.failure(isEnded: ending.isReached, hasTime: hasTime) }
        // Nobody who can be cancelled is left lying about.
        root.cancel()
        _ = runJobs(until: ending, limit: backlog.withLock(\.turnCount) + jobLimit)
        if let reason { throw failure(reason) }
        guard let result = ending.result else { throw failure(.stuck) }
        return try result.get()
    }

    /// A number that stands for all that happened; histories that differ anywhere have different ones.
    public var history: UInt64 { backlog.withLock(\.history) }

    /// How many jobs have run, of those that chance picked.
    public var jobCount: Int { backlog.withLock(\.jobCount) }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Whoever wakes somebody else is still at work; whoever changes the actor, or has ended, is not.
        let isHandedOn = withUnsafeCurrentTask { $0 == nil }
        backlog.withLock { $0.add(job, isHandedOn: isHandedOn) }
    }

    public func isIsolatingCurrentContext() -> Bool? {
        backlog.withLock { $0.isOnThread }
    }

    public func checkIsolated() {
        precondition(backlog.withLock(\.isOnThread), "This is not on the simulation's thread.")
    }

    /// - Returns: Whether it has come to its end within its limits, be it the wished one or not.
    private func runJobs<Result>(until ending: Ending<Result>, limit: Int) -> Bool {
        let executor = asUnownedTaskExecutor()
        var momentEnd = backlog.withLock(\.turnCount) + momentLimit
        while !ending.isReached {
            let (job, count) = backlog.withLock { ($0.begin(by: picks), $0.turnCount) }
            if let job {
                job.runSynchronously(on: executor)
                backlog.withLock { $0.end() }
                if count >= min(limit, momentEnd) { return ending.isReached }
            } else {
                let before = time.elapsed
                guard time.advance() else { return true }
                backlog.withLock { $0.note(time.elapsed) }
                if time.elapsed > before { momentEnd = count + momentLimit }
            }
        }
        return true
    }

    private func failure(_ reason: SimulationFailure.Reason) -> SimulationFailure {
        SimulationFailure(reason: reason, seed: seed, jobCount: jobCount, elapsed: time.elapsed)
    }
}

/// Why a simulation came to no end.
public struct SimulationFailure: Error, Equatable, CustomStringConvertible {
    public enum Reason: Equatable, Sendable {
        /// The body waits, but no job is left and nobody sleeps: everybody waits for somebody.
        case stuck
        /// More jobs ran than a simulation may have, in all or without any time passing.
        case endless
        /// Something ran on another thread and came back, so the seed did not decide everything.
        case strayJob
    }

    public let reason: Reason
    public let seed: UInt64
    public let jobCount: Int
    public let elapsed: Duration

    public var description: String {
        "\(sentence) Seed \(seed), after \(jobCount) jobs, at \(elapsed) of virtual time."
    }

    private var sentence: String {
        switch reason {
        case .stuck: "The body waits, and nothing is left that could wake it: a deadlock."
        case .endless: "The body runs and runs: a livelock, or a limit of jobs is too low."
        case .strayJob: "A job came from another thread: something escaped the simulation."
        }
    }
}

/// How the body ended, once it has.
private final class Ending<Value: Sendable>: Sendable {
    private let outcome = Lock<Result<Value, any Error>?>(nil)

    var result: Result<Value, any Error>? { outcome.withLock { $0 } }
    // Asked before every job: a key path in generic code would take longer than most of them.
    var isReached: Bool { outcome.withLock { $0 != nil } }

    func set(_ result: Result<Value, any Error>) {
        outcome.withLock { $0 = result }
    }
}

/// The jobs that could run now, and the mark that those before them have left.
private struct Backlog {
    var thread: pthread_t?
    private(set) var history: UInt64 = 0
    private(set) var jobCount = 0
    /// With those that went on at once.
    private(set) var turnCount = 0
    private var jobs: [UnownedJob] = []
    /// What goes on at once, the latest first: so all of it is done before the one below is next.
    private var handedOn: [UnownedJob] = []
    private var isRunning = false
    private var hasStray = false

    var isOnThread: Bool { thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }

    mutating func add(_ job: UnownedJob, isHandedOn: Bool) {
        if isHandedOn, isRunning { handedOn.append(job) } else { jobs.append(job) }
        if !isOnThread { hasStray = true }
    }

    mutating func begin(by chance: SeededChance) -> UnownedJob? {
        guard let job = handedOn.popLast() ?? pick(by: chance) else { return nil }
        isRunning = true
        turnCount += 1
        return job
    }

    mutating func end() { isRunning = false }

    private mutating func pick(by chance: SeededChance) -> UnownedJob? {
        guard !jobs.isEmpty else { return nil }
        let index = chance.number(in: jobs.indices)
        mark(UInt64(index) << 32 | UInt64(jobs.count))
        jobCount += 1
        jobs.swapAt(index, jobs.count - 1)
        return jobs.removeLast()
    }

    mutating func note(_ elapsed: Duration) {
        let (seconds, attoseconds) = elapsed.components
        mark(UInt64(bitPattern: seconds))
        mark(UInt64(bitPattern: attoseconds))
    }

    func failure(isEnded: Bool, hasTime: Bool) -> SimulationFailure.Reason? {
        if hasStray { return .strayJob }
        if isEnded { return nil }
        return hasTime ? .stuck : .endless
    }

    private mutating func mark(_ value: UInt64) {
        history = (history ^ value) &* 0x9E37_79B9_7F4A_7C15
        history ^= history >> 29
    }
}
