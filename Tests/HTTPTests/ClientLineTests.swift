import System
import Testing

@testable import HTTP

/// Lines, beside the simplest thing that does the same.
@Suite struct ClientLineTests {
    @Test func `a line keeps its order, whoever leaves it`() {
        let seed: UInt64 = 20_261_121
        let chance = SeededChance(seed: seed)
        var (line, model) = (Line<Int, Int>(), [Int]())
        for ticket in 0..<20_000 {
            switch chance.number(in: 0..<4) {
            case 0, 1:
                line.append(ticket, ticket: ticket)
                model.append(ticket)
            case 2:
                let first = line.popFirst()
                #expect(first == (model.isEmpty ? nil : model.removeFirst()), "seed \(seed)")
            default:
                guard !model.isEmpty else { continue }
                let index = chance.number(in: 0..<model.count)
                let gone = line.remove(model[index])
                #expect(gone == model.remove(at: index), "seed \(seed)")
            }
            #expect(line.count == model.count)
        }
    }

    /// With a price that grows with the line, this takes minutes.
    @Test(.timeLimit(.minutes(1)))
    func `a long line empties for the same price for each, from the back and by its deadlines`() {
        let count: UInt64 = 100_000
        var admission = Admission(limit: 1)
        for id in 0...count {
            _ = admission.arrive(id, at: "a", deadline: .milliseconds(Int(id)))
        }
        for id in (count / 2...count).reversed() {
            let didWait = admission.withdraw(id)
            #expect(didWait)
            #expect(admission.alarm == .milliseconds(1))
        }
        for id in 1..<count / 2 {
            let late = admission.expire(at: .milliseconds(Int(id)))
            #expect(late == id)
        }
        #expect(admission.waitingCount == 0)
        admission.leave("a")
        let next = admission.next(at: "a")
        #expect(next == nil)
    }
}
