import Testing

@testable import Messaging

@Suite(.timeLimit(.minutes(1))) struct RegardlessTests {
    private enum Message: Sendable { case question(Reply<Int>) }

    @Test func `T-74 whoever asks regardless is answered although it was cancelled`() async {
        let mailbox = Mailbox<Message>(name: "test")
        let answer = await withTaskGroup(of: Result<Int, Undelivered>.self) { tasks in
            tasks.cancelAll()
            tasks.addTask {
                do throws(Undelivered) {
                    return .success(try await mailbox.address.askRegardless { .question($0) })
                } catch {
                    return .failure(error)
                }
            }
            for await case .question(let reply) in mailbox {
                reply.answer(7)
                break
            }
            return await tasks.next()
        }
        #expect(answer == .success(7))
    }

    @Test func `whoever asks regardless waits for room although it was cancelled`() async throws {
        let mailbox = Mailbox<Message>(name: "test", capacity: 1)
        try mailbox.address.tryTell(.question(Reply(into: Slot())))
        let answer = await withTaskGroup(of: Result<Int, Undelivered>.self) { tasks in
            tasks.cancelAll()
            tasks.addTask {
                do throws(Undelivered) {
                    return .success(try await mailbox.address.askRegardless { .question($0) })
                } catch {
                    return .failure(error)
                }
            }
            let messages = mailbox.makeAsyncIterator()
            while mailbox.address.traffic.waitingSenders == 0, !Task.isCancelled {
                await Task.yield()
            }
            for number in 1...2 {
                guard case .question(let reply) = await messages.next() else { break }
                reply.answer(number)
            }
            return await tasks.next()
        }
        #expect(answer == .success(2))
    }

    @Test func `a reply that is dropped answers also who asked regardless`() async {
        let mailbox = Mailbox<Message>(name: "test")
        await withDiscardingTaskGroup { tasks in
            tasks.addTask {
                await #expect(throws: Undelivered.unanswered) {
                    try await mailbox.address.askRegardless { .question($0) }
                }
            }
            for await _ in mailbox { break }
        }
    }
}
