import System
import TestSupport
import Testing

@testable import Messaging

struct ReplyTests {
    @Test func `a reply that is let go of answers for itself`() async {
        let slot = Slot<Int>()
        _ = Reply(into: slot)
        await #expect(throws: Undelivered.unanswered) { try await slot.answer() }
    }

    @Test func `only the first answer counts`() async throws {
        let slot = Slot<Int>()
        let reply = Reply(into: slot)
        reply.answer(1)
        reply.answer(2)
        #expect(try await slot.answer() == 1)
    }

    @Test func `an answer can be a result`() async throws {
        struct Refusal: Error, Equatable { let number: Int }
        let slot = Slot<Result<Int, Refusal>>()
        let reply = Reply(into: slot)
        await reply.answer { () throws(Refusal) in throw Refusal(number: 7) }
        await #expect(throws: Refusal(number: 7)) { try await slot.answer().get() }
    }

    @Test func `a cancelled task asks nothing`() async {
        let mailbox = Mailbox<Question>(name: "test")
        await withDiscardingTaskGroup { group in
            group.cancelAll()
            group.addTask {
                #expect(await mailbox.address.double(1) == .refused(.cancelled))
            }
        }
        #expect(mailbox.address.traffic.depth == 0)
    }

    @Test func `a cancelled task still tells, if there is room`() async {
        let mailbox = Mailbox<Question>(name: "test", capacity: 1)
        await withDiscardingTaskGroup { group in
            group.cancelAll()
            group.addTask {
                await #expect(throws: Never.self) { try await mailbox.address.tell(.idle) }
                await #expect(throws: Undelivered.cancelled) {
                    try await mailbox.address.tell(.idle)
                }
            }
        }
        #expect(mailbox.address.traffic.depth == 1)
        #expect(mailbox.address.traffic.waitingSenders == 0)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `an asker that is cancelled leaves, and nothing keeps the late answer`(
        seed: UInt64
    ) throws {
        try SeededExecutor.run(seed: seed) { executor, _ in
            let slot = Slot<Treasure>()
            let reply = Reply(into: slot)
            await withDiscardingTaskGroup { group in
                group.addTask {
                    await #expect(throws: Undelivered.cancelled) { try await slot.answer() }
                }
                await executor.dawdle()
                group.cancelAll()
            }
            weak var kept: Treasure?
            do {
                let treasure = Treasure()
                kept = treasure
                reply.answer(treasure)
            }
            #expect(kept == nil, "seed \(seed)")
        }
    }

    @Test func `whoever does not want to wait hears that it is full`() async throws {
        let mailbox = Mailbox<Question>(name: "test", capacity: 1)
        try mailbox.address.tryTell(.idle)
        #expect(throws: Undelivered.full) { try mailbox.address.tryTell(.idle) }
        await #expect(throws: Undelivered.full) {
            try await mailbox.address.tryAsk { .double(1, $0) }
        }
        mailbox.close()
        #expect(throws: Undelivered.closed) { try mailbox.address.tryTell(.idle) }
    }

    @Test func `every state of a slot`() {
        var early = SlotState<String, Int>.open
        #expect(early.settle("first") == nil)
        #expect(early.settle("second") == nil)
        #expect(early.wait(1) == "first")
        #expect(early.settle("late") == nil)

        var late = SlotState<String, Int>.open
        #expect(late.wait(1) == nil)
        #expect(late.settle("first") == 1)
        #expect(late.settle("second") == nil)
    }
}

private final class Treasure: Sendable {}
