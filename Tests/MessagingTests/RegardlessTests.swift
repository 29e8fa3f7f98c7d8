import Testing

@testable import Messaging

@Suite struct RegardlessTests {
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
