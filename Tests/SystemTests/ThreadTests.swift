import Glibc
import System
import Testing

struct ThreadTests {
    @Test func `a thread runs its body once, and joining waits for it`() {
        let ran = Collected<Int>()
        let thread = Thread.start(name: "short") { ran.append(1) }
        thread.join()
        #expect(ran.values == [1])
        thread.join()
    }

    @Test func `a thread has its name, cut to what the kernel keeps`() throws {
        let names = Collected<String>()
        Thread.start(name: "a name that is too long") {
            let bytes = try? Files.read("/proc/thread-self/comm")
            names.append(String(decoding: bytes ?? [], as: UTF8.self))
        }.join()
        #expect(names.values == ["a name that is \n"])
    }

    @Test func `threads that nobody joins leave nothing behind`() throws {
        let before = try threadCount()
        let semaphore = Semaphore()
        for _ in 0..<200 { Thread.start(name: "loose") { semaphore.signal() } }
        for _ in 0..<200 { semaphore.wait() }
        // The last of them may still be on their way out.
        while try threadCount() > before + 50 { sched_yield() }
    }

    @Test func `a lock lets one in at a time`() {
        let counter = Counter()
        let threads = (0..<4).map { _ in
            Thread.start(name: "counts") { for _ in 0..<10_000 { counter.increment() } }
        }
        for thread in threads { thread.join() }
        #expect(counter.count == 40_000)
    }

    @Test func `a lock that is left by an error is free again`() {
        struct Mishap: Error {}
        let lock = Lock(1)
        #expect(throws: Mishap.self) {
            try lock.withLock { (value: inout sending Int) throws(Mishap) -> Void in
                value = 2
                throw Mishap()
            }
        }
        #expect(lock.withLock(\.self) == 2)
    }

    @Test func `a semaphore counts`() {
        let semaphore = Semaphore()
        let passed = Collected<Int>()
        semaphore.signal()
        semaphore.signal()
        let thread = Thread.start(name: "waits") {
            for number in 0..<3 {
                semaphore.wait()
                passed.append(number)
            }
        }
        semaphore.signal()
        thread.join()
        #expect(passed.values == [0, 1, 2])
    }

    @Test func `a synchronous thread can wait for asynchronous work`() {
        let results = Collected<Int>()
        Thread.start(name: "main") {
            results.append(
                runBlocking {
                    await Task.yield()
                    return 42
                }
            )
        }.join()
        #expect(results.values == [42])
    }

    private func threadCount() throws -> Int {
        let status = String(decoding: try Files.read("/proc/self/status"), as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("Threads:") })
        return try #require(Int(line.split(separator: "\t")[1]))
    }
}

private final class Counter: Sendable {
    private let number = Lock(0)
    var count: Int { number.withLock(\.self) }
    func increment() { number.withLock { $0 += 1 } }
}
