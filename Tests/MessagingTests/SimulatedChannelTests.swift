import System
import TestSupport
import Testing

@testable import Messaging

/// What holds for every channel, whatever the order in which things happen to happen.
struct SimulatedChannelTests {
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `messages are read in the order in which they were sent, nothing is lost or doubled`(
        seed: UInt64
    ) throws {
        let sent = Journal<Letter>()
        let read = try SeededExecutor.run(seed: seed) { executor, _ in
            let mailbox = Mailbox<Letter>(
                name: "test",
                capacity: executor.chance.number(in: 1..<20)
            )
            return try await withThrowingTaskGroup { group in
                for sender in 0..<6 {
                    group.addTask {
                        for number in 0..<20 {
                            let letter = Letter(sender: sender, number: number)
                            sent.note(letter)
                            try await mailbox.address.tell(letter)
                            await executor.dawdle()
                        }
                    }
                }
                async let letters = mailbox.readAll(dawdling: executor)
                try await group.waitForAll()
                mailbox.close()
                return await letters
            }
        }
        #expect(read.count == 120, "seed \(seed)")
        #expect(read == sent.entries, "Somebody overtook, seed \(seed).")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `what was accepted is read and what was refused is not, in a storm of cancellations`(
        seed: UInt64
    ) throws {
        let accepted = Journal<Letter>()
        let read = try SeededExecutor.run(seed: seed) { executor, _ in
            let mailbox = Mailbox<Letter>(name: "test", capacity: executor.chance.number(in: 1..<5))
            async let letters = mailbox.readAll(dawdling: executor)
            await withDiscardingTaskGroup { senders in
                for sender in 0..<40 {
                    senders.addTask {
                        await executor.untilMoodChanges {
                            let letter = Letter(sender: sender, number: 0)
                            do throws(Undelivered) {
                                try await mailbox.address.tell(letter)
                                accepted.note(letter)
                            } catch {
                                #expect(error == .cancelled, "seed \(seed)")
                            }
                        }
                    }
                }
            }
            #expect(mailbox.address.traffic.waitingSenders == 0, "seed \(seed)")
            mailbox.close()
            return await letters
        }
        #expect(read.count == accepted.entries.count, "seed \(seed)")
        #expect(Set(read) == Set(accepted.entries), "seed \(seed)")
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `closing under load reads what was accepted and refuses the rest`(seed: UInt64) throws {
        let accepted = Journal<Letter>()
        let read = try SeededExecutor.run(seed: seed) { executor, time in
            let mailbox = Mailbox<Letter>(name: "test", capacity: executor.chance.number(in: 1..<9))
            async let letters = mailbox.readAll(dawdling: executor)
            await withDiscardingTaskGroup { group in
                for sender in 0..<8 {
                    group.addTask {
                        await mailbox.address.tellUntilClosed(from: sender, accepted, executor)
                    }
                }
                try? await time.sleep(for: .milliseconds(20))
                mailbox.close()
            }
            return await letters
        }
        #expect(!read.isEmpty)
        #expect(Set(read) == Set(accepted.entries), "seed \(seed)")
        #expect(read.count == accepted.entries.count, "seed \(seed)")
        for sender in 0..<8 {
            let numbers = read.filter { $0.sender == sender }.map(\.number)
            #expect(numbers == Array(0..<numbers.count), "seed \(seed)")
        }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `every asker hears its own answer, or why there is none`(seed: UInt64) throws {
        let heard = try SeededExecutor.run(seed: seed) { executor, _ in
            let mailbox = Mailbox<Question>(
                name: "test",
                capacity: executor.chance.number(in: 1..<5)
            )
            async let service: Void = mailbox.answerSome(dawdling: executor)
            let heard = await withTaskGroup { askers in
                for number in 0..<40 {
                    askers.addTask {
                        await executor.untilMoodChanges { await mailbox.address.double(number) }
                    }
                }
                return await askers.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            mailbox.close()
            await service
            return heard
        }
        #expect(heard[.wrong] == nil, "seed \(seed)")
        #expect(heard.values.reduce(0, +) == 40, "seed \(seed)")
        #expect(heard[.answered, default: 0] > 0, "seed \(seed)")
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `when the reader leaves, nobody is kept waiting`(seed: UInt64) throws {
        let outcomes = try SeededExecutor.run(seed: seed) { executor, _ in
            let mailbox = Mailbox<Question>(name: "test", capacity: 4)
            async let service: Void = mailbox.answerThree()
            let outcomes = await withTaskGroup { askers in
                for number in 0..<20 {
                    askers.addTask { await mailbox.address.double(number) }
                }
                return await askers.reduce(into: []) { $0.append($1) }
            }
            await service
            await #expect(throws: Undelivered.closed) {
                try await mailbox.address.tell(.idle)
            }
            return outcomes
        }
        #expect(outcomes.filter { $0 == .answered }.count == 3, "seed \(seed)")
        let refused = outcomes.filter { [.refused(.closed), .refused(.unanswered)].contains($0) }
        #expect(refused.count == 17, "seed \(seed)")
    }
}

// MARK: What the stories are made of

struct Letter: Hashable, Sendable {
    let sender: Int
    let number: Int
}

enum Question: Sendable {
    case double(Int, Reply<Int>)
    case idle
}

/// What an asker heard.
enum Hearing: Hashable, Sendable {
    case answered
    case wrong
    case refused(Undelivered)
}

extension SeededExecutor {
    /// Lets others go first, now and then.
    func dawdle() async {
        for _ in 0..<chance.number(in: 0..<3) { await Task.yield() }
    }

    /// Runs the body, and cancels it after a while in every other case.
    func untilMoodChanges<Result: Sendable>(
        _ body: @escaping @Sendable () async -> Result
    ) async -> Result {
        let isCancelled = chance.number(in: 0..<2) == 0
        return await withTaskGroup { group in
            group.addTask { await body() }
            await dawdle()
            await dawdle()
            if isCancelled { group.cancelAll() }
            return await group.next()!
        }
    }
}

extension Mailbox {
    func readAll(dawdling executor: SeededExecutor) async -> [Message] {
        var all: [Message] = []
        for await message in self {
            all.append(message)
            await executor.dawdle()
        }
        return all
    }
}

extension Mailbox<Question> {
    /// Answers most, forgets some.
    func answerSome(dawdling executor: SeededExecutor) async {
        for await message in self {
            await executor.dawdle()
            if case .double(let number, let reply) = message, number % 5 != 4 {
                reply.answer(number * 2)
                reply.answer(-1)
            }
        }
    }

    func answerThree() async {
        var count = 0
        for await message in self {
            if case .double(let number, let reply) = message { reply.answer(number * 2) }
            count += 1
            if count == 3 { return }
        }
    }
}

extension Address<Letter> {
    func tellUntilClosed(
        from sender: Int,
        _ accepted: Journal<Letter>,
        _ executor: SeededExecutor
    ) async {
        for number in 0... {
            let letter = Letter(sender: sender, number: number)
            do throws(Undelivered) {
                try await tell(letter)
                accepted.note(letter)
            } catch {
                #expect(error == .closed)
                return
            }
            try? await executor.time.sleep(for: .milliseconds(executor.chance.number(in: 0..<4)))
        }
    }
}

extension Address<Question> {
    func double(_ number: Int) async -> Hearing {
        do throws(Undelivered) {
            let answer = try await ask { .double(number, $0) }
            return answer == number * 2 ? .answered : .wrong
        } catch {
            return .refused(error)
        }
    }
}
