import Testing

@testable import Messaging

/// The same promises on the real pool, with real threads in each other's way. What the thread
/// sanitizer watches.
struct PoolTests {
    @Test(.timeLimit(.minutes(2)))
    func `many senders at once: nothing is lost, nothing doubled, each in its order`() async throws
    {
        let mailbox = Mailbox<Letter>(name: "test", capacity: 16)
        let read = try await withThrowingTaskGroup { group in
            for sender in 0..<16 {
                group.addTask {
                    for number in 0..<500 {
                        try await mailbox.address.tell(Letter(sender: sender, number: number))
                    }
                }
            }
            async let letters = readAll(mailbox)
            try await group.waitForAll()
            mailbox.close()
            return await letters
        }
        #expect(read.count == 16 * 500)
        for sender in 0..<16 {
            #expect(read.filter { $0.sender == sender }.map(\.number) == Array(0..<500))
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a storm of askers, half of them cancelled, leaves nothing behind`() async {
        let mailbox = Mailbox<Question>(name: "test", capacity: 8)
        async let service: Void = answerAll(mailbox)
        let heard = await withTaskGroup { askers in
            for number in 0..<2000 {
                askers.addTask { await askOrGiveUp(number, mailbox.address) }
            }
            return await askers.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        mailbox.close()
        await service
        #expect(heard[.answered, default: 0] >= 1000)
        #expect(heard[.answered, default: 0] + heard[.refused(.cancelled), default: 0] == 2000)
        let traffic = mailbox.address.traffic
        #expect(traffic.depth == 0)
        #expect(traffic.waitingSenders == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `closing while many send reads what was accepted`() async {
        for round in 0..<50 {
            let mailbox = Mailbox<Int>(name: "test", capacity: 4)
            let accepted = Journal<Int>()
            async let all = readAll(mailbox)
            await withDiscardingTaskGroup { group in
                for sender in 0..<8 {
                    group.addTask {
                        for number in 0..<20 {
                            let message = sender * 100 + number
                            do throws(Undelivered) {
                                try await mailbox.address.tell(message)
                                accepted.note(message)
                            } catch {
                                #expect(error == .closed)
                                return
                            }
                        }
                    }
                }
                for _ in 0..<round { await Task.yield() }
                mailbox.close()
            }
            #expect(await all.sorted() == accepted.entries.sorted(), "round \(round)")
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `the reader may leave at any moment`() async {
        for round in 0..<50 {
            let mailbox = Mailbox<Question>(name: "test", capacity: 4)
            let heard = await withTaskGroup { group in
                for number in 0..<20 {
                    group.addTask { await mailbox.address.double(number) }
                }
                var left = round % 20
                for await message in mailbox {
                    if case .double(let number, let reply) = message { reply.answer(number * 2) }
                    left -= 1
                    if left < 0 { break }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(heard.filter { $0 == .answered }.count == round % 20 + 1, "round \(round)")
        }
    }
}

private func readAll<Message: Sendable>(_ mailbox: Mailbox<Message>) async -> [Message] {
    var all: [Message] = []
    for await message in mailbox { all.append(message) }
    return all
}

private func answerAll(_ mailbox: Mailbox<Question>) async {
    for await message in mailbox {
        if case .double(let number, let reply) = message { reply.answer(number * 2) }
    }
}

/// Every other asker loses its patience at once.
private func askOrGiveUp(_ number: Int, _ address: Address<Question>) async -> Hearing {
    await withTaskGroup { group in
        group.addTask { await address.double(number) }
        if number % 2 == 1 {
            for _ in 0..<number % 7 { await Task.yield() }
            group.cancelAll()
        }
        return await group.next()!
    }
}
