import Glibc
import System
import Testing

/// Most of these make the test's own thread the loop, and so decide when it looks.
struct LoopExecutorTests {
    @Test func `jobs run in the order in which they came`() {
        let (loop, _) = adoptedLoop()
        let order = Collected<Int>()
        for number in 0..<100 {
            Task(executorPreference: loop) { order.append(number) }
        }
        #expect(loop.runJobs() == 100)
        #expect(order.values == Array(0..<100))
    }

    @Test func `jobs that are queued by jobs run, too`() {
        let (loop, _) = adoptedLoop()
        let order = Collected<Int>()
        Task(executorPreference: loop) {
            for number in 0..<10 {
                order.append(number)
                await Task.yield()
            }
        }
        loop.runJobs()
        #expect(order.values == Array(0..<10))
        #expect(loop.runJobs() == 0)
    }

    @Test func `a job from the loop's own thread wakes nobody`() {
        let (loop, wakes) = adoptedLoop()
        Task(executorPreference: loop) {}
        #expect(wakes.values.isEmpty)
        #expect(loop.runJobs() == 1)
    }

    @Test func `jobs from elsewhere wake the loop once until it has looked`() {
        let (loop, wakes) = adoptedLoop()
        for round in 1...3 {
            elsewhere { for _ in 0..<10 { Task(executorPreference: loop) {} } }
            #expect(wakes.values.count == round)
            #expect(loop.runJobs() == 10)
        }
    }

    @Test func `a job that comes while the loop runs jobs wakes nobody and is run`() {
        let (loop, wakes) = adoptedLoop()
        let order = Collected<Int>()
        Task(executorPreference: loop) {
            elsewhere { Task(executorPreference: loop) { order.append(1) } }
        }
        #expect(loop.runJobs() == 2)
        #expect(order.values == [1])
        #expect(wakes.values.isEmpty)
        elsewhere { Task(executorPreference: loop) {} }
        #expect(wakes.values.count == 1, "Now the loop may sleep.")
        loop.runJobs()
    }

    @Test func `a job that comes after the last of the rounds wakes the loop`() {
        let (loop, wakes) = adoptedLoop()
        Task(executorPreference: loop) {}
        #expect(loop.runJobs(rounds: 1) == 1)
        #expect(!loop.hasJobs, "So the loop may sleep.")
        elsewhere { Task(executorPreference: loop) {} }
        #expect(wakes.values.count == 1)
        loop.runJobs()
    }

    @Test func `a job that comes in the last of the rounds wakes nobody, because it is seen`() {
        let (loop, wakes) = adoptedLoop()
        Task(executorPreference: loop) {
            elsewhere { Task(executorPreference: loop) {} }
        }
        #expect(loop.runJobs(rounds: 1) == 1)
        #expect(loop.hasJobs)
        elsewhere { Task(executorPreference: loop) {} }
        #expect(wakes.values.isEmpty)
        #expect(loop.runJobs() == 2)
    }

    @Test func `a step into plain asynchronous code is not queued again`() {
        let (loop, _) = adoptedLoop()
        Task(executorPreference: loop) { for _ in 0..<100 { await step() } }
        #expect(loop.runJobs() == 1)
    }

    @Test func `an actor can have the loop as its own executor`() {
        let (loop, _) = adoptedLoop()
        let owned = OwnCounter(loop: loop)
        let counts = Collected<Int>()
        Task(executorPreference: loop) {
            for _ in 0..<100 { await owned.increment() }
            counts.append(await owned.count)
        }
        loop.runJobs()
        #expect(counts.values == [100])
        #expect(loop.isOnLoop)
        elsewhere { #expect(!loop.isOnLoop) }
    }

    @Test func `a task from the pool comes back to the pool`() async {
        let thread = LoopThread()
        let owned = OwnCounter(loop: thread.loop)
        await withDiscardingTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    await owned.increment()
                    #expect(!thread.loop.isOnLoop)
                }
            }
        }
        #expect(await owned.count == 100)
        thread.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `no wake-up is lost`() async {
        let thread = LoopThread()
        let owned = OwnCounter(loop: thread.loop)
        await withDiscardingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<2000 { await owned.increment() } }
            }
        }
        #expect(await owned.count == 16_000)
        #expect(thread.wakes.count <= 16_001)
        thread.stop()
    }

    @Test func `another thread than the loop's may not run its jobs`() async {
        await #expect(processExitsWith: .failure) {
            let (loop, _) = adoptedLoop()
            Thread.start(name: "other") { loop.runJobs() }.join()
        }
    }

    @Test func `what belongs to the loop may not be touched elsewhere`() async {
        await #expect(processExitsWith: .failure) {
            let (loop, _) = adoptedLoop()
            let owned = OwnCounter(loop: loop)
            Thread.start(name: "other") { owned.assumeIsolated { _ in } }.join()
        }
    }
}

private func adoptedLoop() -> (LoopExecutor, Collected<Void>) {
    let wakes = Collected<Void>()
    let loop = LoopExecutor { wakes.append(()) }
    loop.adoptThread()
    return (loop, wakes)
}

/// Runs the body on another thread and waits for its end.
private func elsewhere(_ body: @escaping @Sendable () -> Void) {
    Thread.start(name: "elsewhere", body).join()
}

@concurrent private func step() async {}

private actor OwnCounter {
    private let loop: LoopExecutor
    private(set) var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(loop: LoopExecutor) { self.loop = loop }

    func increment() {
        loop.preconditionIsolated()
        count += 1
    }
}

/// A loop that sleeps when it has nothing to do.
private final class LoopThread: Sendable {
    final class Wakes: Sendable {
        private let number = Lock(0)
        let semaphore = Semaphore()

        var count: Int { number.withLock(\.self) }

        func signal() {
            number.withLock { $0 += 1 }
            semaphore.signal()
        }
    }

    let loop: LoopExecutor
    let wakes = Wakes()
    private let isStopped = Lock(false)

    init() {
        loop = LoopExecutor { [wakes] in wakes.signal() }
        Thread.start(name: "loop") { [self] in
            loop.adoptThread()
            while !isStopped.withLock(\.self) {
                loop.runJobs()
                wakes.semaphore.wait()
            }
        }
    }

    func stop() {
        isStopped.withLock { $0 = true }
        wakes.signal()
    }
}
