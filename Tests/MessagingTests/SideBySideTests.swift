import Messaging
import System
import Testing

/// Services that handle several messages at once.
struct SideBySideTests {
    @Test
    func `no more messages are handled at once than said, as many as that, and all in the end`()
        async throws
    {
        let mailbox = Mailbox<Int>(name: "crowd", capacity: 500)
        for number in 0..<500 { try mailbox.address.tryTell(number) }
        mailbox.close()
        let seen = Lock((inside: 0, most: 0, done: Set<Int>()))
        await mailbox.handle(atOnce: 7) { number in
            seen.withLock { seen in
                seen.inside += 1
                seen.most = max(seen.most, seen.inside)
            }
            while seen.withLock({ $0.most < 7 }) { await Task.yield() }
            seen.withLock { seen in
                seen.inside -= 1
                seen.done.insert(number)
            }
        }
        #expect(seen.withLock { $0.most } == 7)
        #expect(seen.withLock { $0.done } == Set(0..<500))
    }

    @Test(.timeLimit(.minutes(1)))
    func `what takes no time is answered although all places and all of the line are taken`()
        async throws
    {
        let mailbox = Mailbox<Int>(name: "crowd", capacity: 100)
        // Those below 100 take until the quick one is answered; the line has room for ten.
        for number in Array(0..<20) + [100] { try mailbox.address.tryTell(number) }
        mailbox.close()
        let seen = Lock((done: [Int](), refused: [Int]()))
        await mailbox.handle(
            atOnce: 4,
            waiting: 10,
            besides: { $0 >= 100 },
            refusing: { number in seen.withLock { $0.refused.append(number) } }
        ) { number in
            while number < 100, seen.withLock({ !$0.done.contains(100) }) { await Task.yield() }
            seen.withLock { $0.done.append(number) }
        }
        #expect(seen.withLock { $0.done.first } == 100)
        #expect(seen.withLock { $0.done.sorted() } == Array(0..<14) + [100])
        #expect(seen.withLock { $0.refused } == Array(14..<20))
    }

    // Under that sanitizer what was freed stays for a while, to be recognised if it is touched.
    #if !ADDRESS_SANITIZER
        @Test func `a message that was handled leaves nothing behind while others are handled`()
            async throws
        {
            let mailbox = Mailbox<Int>(name: "memory", capacity: 16)
            let used = Lock<[Int]>([])
            try await withThrowingTaskGroup { tasks in
                tasks.addTask {
                    for number in 0...60_000 { try await mailbox.address.tell(number) }
                    mailbox.close()
                }
                await mailbox.handle(atOnce: 100_000) { number in
                    await Self.work(through: 8)
                    guard number % 60_000 == 0 else { return }
                    used.withLock { $0.append(Self.residentBytes) }
                }
                try await tasks.waitForAll()
            }
            let grown = used.withLock { $0[1] - $0[0] }
            // A kept task has a kilobyte at the least.
            #expect(grown < 30_000_000, "\(grown) bytes more")
        }
    #endif

    private static var residentBytes: Int {
        let text = (try? Files.read("/proc/self/statm")) ?? []
        let fields = String(decoding: text, as: UTF8.self).split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4_096
    }

    private static func work(through depth: Int) async {
        guard depth > 0 else { return await Task.yield() }
        await work(through: depth - 1)
    }
}
