import Testing

@testable import Logging

struct RepetitionTests {
    @Test func `five of a kind are written, and the next after a while says how many were not`() {
        var repetitions = Repetitions()
        let answers = (0..<8).map { _ in repetitions.admit(1, at: .seconds(1)) }
        #expect(answers.prefix(5).allSatisfy { $0 == .write(repeated: 0) })
        #expect(answers.dropFirst(5).allSatisfy { $0 == .leaveOut })
        #expect(repetitions.admit(2, at: .seconds(1)) == .write(repeated: 0))
        #expect(repetitions.admit(1, at: .seconds(10.5)) == .leaveOut)
        #expect(repetitions.admit(1, at: .seconds(11)) == .write(repeated: 4))
        #expect(repetitions.admit(1, at: .seconds(12)) == .write(repeated: 0))
        #expect(repetitions.admit(1, at: .seconds(30)) == .write(repeated: 0))
    }

    @Test func `very many kinds are no repetition and are not all remembered`() {
        var repetitions = Repetitions()
        for kind in 0..<1000 {
            #expect(repetitions.admit(kind, at: .zero) == .write(repeated: 0))
        }
        #expect((0..<8).map { _ in repetitions.admit(0, at: .zero) }.last == .leaveOut)
        #expect((0..<8).map { _ in repetitions.admit(999, at: .zero) }.last == .write(repeated: 0))
        #expect(repetitions.admit(5000, at: .seconds(20)) == .write(repeated: 0))
        #expect((0..<8).map { _ in repetitions.admit(5000, at: .seconds(20)) }.last == .leaveOut)
    }

    @Test func `equal errors are left out, others and lesser lines are not`() {
        let desk = Desk()
        for _ in 0..<20 {
            desk.log.error("No upstream.", ["account": 1])
            desk.log.notice("Trying.")
        }
        desk.log.error("No upstream.", ["account": 2])
        desk.time.pass(.seconds(10))
        desk.log.error("No upstream.", ["account": 1])

        let lines = desk.shelf.lines
        #expect(lines.filter { $0.contains("Trying.") }.count == 20)
        #expect(lines.filter { $0.contains("account=1") }.count == 6)
        #expect(lines.filter { $0.contains("account=2") }.count == 1)
        #expect(
            lines.last == "2025-11-21T10:57:17.123Z error   No upstream. account=1 repeated=15\n"
        )
    }
}
