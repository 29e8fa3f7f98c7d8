import Sync
import System
import Testing
import Vault

@testable import Host

/// Since when it is known that upstream has the account as it is known here.
struct RecognitionTests {
    private let recognition = Recognition()

    private final class Questions: Sendable {
        let count = Lock(0)
    }

    private func ask(_ second: Int) {
        let question = recognition.question(at: .seconds(second))
        recognition.confirm(question)
    }

    private func isKnown(to arrival: Int, at now: Int? = nil) -> Bool {
        recognition.isKnown(to: .seconds(arrival), at: .seconds(now ?? arrival))
    }

    @Test func `T-57 while nobody listens, only what was asked since says anything`() {
        #expect(!isKnown(to: 0))
        ask(10)
        #expect(isKnown(to: 10, at: 11), "Who came before it was asked need not ask.")
        #expect(!isKnown(to: 11))
    }

    @Test func `T-57 the hub is relied on for five minutes, and not once it is lost`() {
        recognition.listens(true)
        #expect(!isKnown(to: 9))
        ask(10)
        #expect(isKnown(to: 309) && !isKnown(to: 310))
        recognition.listens(false)
        #expect(!isKnown(to: 20))
    }

    @Test func `T-57 what was asked before a doubt answers nothing`() {
        recognition.listens(true)
        let question = recognition.question(at: .seconds(10))
        recognition.doubt()
        recognition.confirm(question)
        #expect(!isKnown(to: 11))
        ask(12)
        #expect(isKnown(to: 13))
        recognition.doubt()
        #expect(!isKnown(to: 13))
    }

    @Test func `what somebody has met counts for all who came before, but not that they gave up`() {
        let setback = Setback(.unreachable(.tried("gone")), operation: "look at the account")
        recognition.fail(setback, at: .seconds(10))
        #expect(recognition.failure(since: .seconds(9)) == setback)
        #expect(recognition.failure(since: .seconds(11)) == nil)
        recognition.fail(Setback(.cancelled, operation: "look at the account"), at: .seconds(12))
        #expect(recognition.failure(since: .seconds(11)) == nil)
    }

    @Test func `T-57 of those who come while somebody asks, all hear of one more question`()
        async throws
    {
        let questions = Questions()
        let recognition = recognition
        try await withThrowingTaskGroup(of: Void.self) { askers in
            for _ in 0..<8 {
                askers.addTask {
                    try await recognition.inTurn(.interactive) { () async throws(Setback) in
                        guard !recognition.isKnown(to: .seconds(5), at: .seconds(6)) else { return }
                        questions.count.withLock { $0 += 1 }
                        await Task.yield()
                        recognition.confirm(recognition.question(at: .seconds(6)))
                    }
                }
            }
            try await askers.waitForAll()
        }
        #expect(questions.count.withLock(\.self) == 1)
    }
}
