import Messaging
import System

extension Benchmarks {
    /// What it costs to talk to a service, beside what it costs to call an actor.
    static func messaging(_ bench: Bench) async throws {
        let count = bench.count(1_000_000, quick: 10_000)
        let asks = bench.count(200_000, quick: 2_000)
        let loop = LoopThread()
        try await bench.measure("an actor called, idle", unit: "µs") {
            try await callActor(count)
        }
        try await bench.measure("an actor called by 64 at once", unit: "µs") {
            try await callActor(asks, callers: 64)
        }
        try await bench.measure("tell, 1 producer, default pool", unit: "µs", bound: 1) {
            try await tell(count, producers: 1)
        }
        try await bench.measure("tell, 1 producer, one executor", unit: "µs", bound: 1) {
            try await loop.run { try await tell(count, producers: 1) }
        }
        try await bench.measure("tell, 1 producer, waits measured", unit: "µs") {
            try await tell(count, producers: 1, isObserved: true)
        }
        try await bench.measure("tell, 64 producers, default pool", unit: "µs") {
            try await tell(count, producers: 64)
        }
        try await bench.measure("tell, 64 producers, one executor", unit: "µs") {
            try await loop.run { try await tell(count, producers: 64) }
        }
        try await bench.measure("ask, one executor", unit: "µs", bound: 6) {
            try await loop.run { try await ask(asks, askers: 1) }
        }
        try await bench.measure("ask, 64 askers, one executor", unit: "µs") {
            try await loop.run { try await ask(asks, askers: 64) }
        }
        try await bench.measure("ask, default pool", unit: "µs", bound: 20) {
            try await ask(asks / 4, askers: 1)
        }
        try await bench.measure("ask, 64 askers, default pool", unit: "µs") {
            try await ask(asks, askers: 64)
        }
        loop.stop()
    }
}

private actor Counter {
    private(set) var count = 0
    func increment() { count += 1 }
}

private enum Message: Sendable {
    case increment
    case number(Int, Reply<Int>)
}

/// Microseconds for each of the calls.
private func callActor(_ count: Int, callers: Int = 1) async throws -> Double {
    let counter = Counter()
    let elapsed = await seconds {
        await withDiscardingTaskGroup { group in
            for _ in 0..<callers {
                group.addTask { for _ in 0..<count / callers { await counter.increment() } }
            }
        }
    }
    return elapsed / Double(count) * 1e6
}

/// Microseconds for each message, from the first sent to the last read.
private func tell(_ count: Int, producers: Int, isObserved: Bool = false) async throws -> Double {
    let mailbox = Mailbox<Message>(name: "bench", capacity: 1024)
    let address = mailbox.address
    if isObserved {
        address.observe(by: SystemTimekeeper(), waited: { _ in }, deepened: { _ in })
    }
    let each = count / producers
    let elapsed = try await seconds {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await read(each * producers, from: mailbox) }
            for _ in 0..<producers {
                group.addTask { for _ in 0..<each { try await address.tell(.increment) } }
            }
        }
    }
    return elapsed / Double(each * producers) * 1e6
}

private func read(_ count: Int, from mailbox: Mailbox<Message>) async {
    var left = count
    for await _ in mailbox {
        left -= 1
        if left == 0 { return }
    }
}

/// Microseconds for each answer.
private func ask(_ count: Int, askers: Int) async throws -> Double {
    let mailbox = Mailbox<Message>(name: "bench", capacity: 1024)
    let address = mailbox.address
    return try await withThrowingTaskGroup { service in
        service.addTask { await answer(from: mailbox) }
        let elapsed = try await seconds {
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<askers {
                    group.addTask {
                        for number in 0..<count / askers {
                            _ = try await address.ask { .number(number, $0) }
                        }
                    }
                }
            }
        }
        mailbox.close()
        return elapsed / Double(count) * 1e6
    }
}

private func answer(from mailbox: Mailbox<Message>) async {
    for await message in mailbox {
        if case .number(let number, let reply) = message { reply.answer(number) }
    }
}

/// One thread with a loop that does nothing but run tasks.
private final class LoopThread: Sendable {
    private let executor: LoopExecutor
    private let semaphore = Semaphore()
    private let isStopped = Lock(false)

    init() {
        executor = LoopExecutor { [semaphore] in semaphore.signal() }
        Thread.start(name: "bench") { [self] in
            executor.adoptThread()
            while !isStopped.withLock(\.self) {
                executor.runJobs()
                semaphore.wait()
            }
        }
    }

    func run<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withTaskExecutorPreference(executor, operation: body)
    }

    func stop() {
        isStopped.withLock { $0 = true }
        semaphore.signal()
    }
}
