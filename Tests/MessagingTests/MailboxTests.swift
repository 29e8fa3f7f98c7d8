import System
import TestSupport
import Testing

@testable import Messaging

struct MailboxTests {
    @Test func `a mailbox that goes away unread hangs up`() async {
        var mailbox: Mailbox<Int>? = Mailbox(name: "test")
        let address = mailbox!.address
        mailbox = nil
        await #expect(throws: Undelivered.closed) { try await address.tell(1) }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `who waits for a mailbox that goes away unread is told`(seed: UInt64) throws {
        let heard = try SeededExecutor.run(seed: seed) { _, time in
            let mailbox = Lock<Mailbox<Question>?>(Mailbox(name: "test", capacity: 1))
            let address = mailbox.withLock(\.self)!.address
            async let first = address.double(1)
            async let second = address.double(2)
            try await time.sleep(for: .seconds(1))
            #expect(address.traffic.waitingSenders == 1, "seed \(seed)")
            mailbox.withLock { $0 = nil }
            return await [first, second]
        }
        #expect(Set(heard) == [.refused(.closed), .refused(.unanswered)], "seed \(seed)")
    }

    @Test func `leaving the loop hangs up`() async throws {
        let mailbox = Mailbox<Int>(name: "test")
        try await mailbox.address.tell(1)
        for await _ in mailbox { break }
        await #expect(throws: Undelivered.closed) { try await mailbox.address.tell(2) }
        for await _ in mailbox { Issue.record("Nothing can be read after hanging up.") }
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `a reader that is cancelled stops at once and hangs up`(seed: UInt64) throws {
        let count = try SeededExecutor.run(seed: seed) { executor, time in
            let mailbox = Mailbox<Int>(name: "test")
            for number in 0..<100 { try mailbox.address.tryTell(number) }
            return await withTaskGroup { group in
                group.addTask {
                    var count = 0
                    for await _ in mailbox {
                        count += 1
                        try? await time.sleep(for: .seconds(1))
                    }
                    return count
                }
                try? await time.sleep(for: .milliseconds(10_500))
                group.cancelAll()
                await #expect(throws: Never.self) { try await time.sleep(for: .seconds(1)) }
                #expect(throws: Undelivered.closed) { try mailbox.address.tryTell(1) }
                return await group.next()!
            }
        }
        #expect(count == 11, "seed \(seed)")
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `a reader that is cancelled in its sleep wakes`(seed: UInt64) throws {
        try SeededExecutor.run(seed: seed) { executor, _ in
            let mailbox = Mailbox<Int>(name: "test")
            await withDiscardingTaskGroup { group in
                group.addTask { for await _ in mailbox {} }
                await executor.dawdle()
                group.cancelAll()
            }
            #expect(throws: Undelivered.closed) { try mailbox.address.tryTell(1) }
        }
    }

    @Test func `traffic is seen from outside`() async throws {
        let mailbox = Mailbox<Int>(name: "letters", capacity: 3)
        let address = mailbox.address
        for number in 0..<3 { try address.tryTell(number) }
        #expect(address.traffic == Traffic(letters: 3, taken: 0))
        let reader = mailbox.makeAsyncIterator()
        _ = await reader.next()
        #expect(address.traffic == Traffic(letters: 2, taken: 1))
        withExtendedLifetime(reader) {}
    }

    @Test func `waits are measured from being sent to being read`() throws {
        let waits = try SeededExecutor.run(seed: 1) { _, time in
            let journal = Journal<Duration>()
            let mailbox = Mailbox<Int>(name: "test", capacity: 8)
            try mailbox.address.tryTell(0)
            try await time.sleep(for: .seconds(1))
            mailbox.address.observe(by: time, waited: { journal.note($0) }, deepened: { _ in })
            try mailbox.address.tryTell(1)
            try mailbox.address.tryTell(2)
            try await time.sleep(for: .seconds(10))
            mailbox.close()
            for await _ in mailbox { try await time.sleep(for: .seconds(5)) }
            return journal.entries
        }
        #expect(waits == [.seconds(10), .seconds(15), .seconds(20)])
    }

    @Test func `who waited for room before anybody measured counts from then`() throws {
        let waits = try SeededExecutor.run(seed: 1) { _, time in
            let journal = Journal<Duration>()
            let mailbox = Mailbox<Int>(name: "test", capacity: 1)
            try await withThrowingDiscardingTaskGroup { group in
                for number in 0..<3 {
                    group.addTask { try await mailbox.address.tell(number) }
                }
                try await time.sleep(for: .seconds(100))
                #expect(mailbox.address.traffic.waitingSenders == 2)
                mailbox.address.observe(by: time, waited: { journal.note($0) }, deepened: { _ in })
                try await time.sleep(for: .seconds(1))
                var left = 3
                for await _ in mailbox {
                    try await time.sleep(for: .seconds(1))
                    left -= 1
                    if left == 0 { break }
                }
            }
            return journal.entries
        }
        #expect(waits == [.seconds(1), .seconds(2), .seconds(3)])
    }

    @Test func `a sender's wait for room counts`() throws {
        let waits = try SeededExecutor.run(seed: 1) { _, time in
            let journal = Journal<Duration>()
            let mailbox = Mailbox<Int>(name: "test", capacity: 1)
            mailbox.address.observe(by: time, waited: { journal.note($0) }, deepened: { _ in })
            try await withThrowingDiscardingTaskGroup { group in
                for number in 0..<3 {
                    group.addTask { try await mailbox.address.tell(number) }
                }
                try await time.sleep(for: .seconds(1))
                var left = 3
                for await _ in mailbox {
                    try await time.sleep(for: .seconds(1))
                    left -= 1
                    if left == 0 { break }
                }
            }
            return journal.entries
        }
        #expect(waits == [.seconds(1), .seconds(2), .seconds(3)])
    }
}

extension Traffic {
    fileprivate init(letters: Int, taken: Int) {
        self.init(name: "letters", capacity: 3, depth: letters, taken: taken, waitingSenders: 0)
    }
}
