import Testing

@testable import System

/// A ranking beside the simplest thing that does the same.
struct RankingTests {
    @Test func `the first is the least, whatever was set anew and removed`() {
        let seed: UInt64 = 20_261_121
        let chance = SeededChance(seed: seed)
        var (ranking, model) = (Ranking<UInt64, Duration>(), [UInt64: Duration]())
        for round in 0..<20_000 {
            let id = UInt64(chance.number(in: 0..<200))
            switch chance.number(in: 0..<4) {
            case 0, 1:
                let moment = Duration.seconds(chance.number(in: 0..<1_000))
                ranking.set(id, at: moment)
                model[id] = moment
            case 2:
                let wasSet = ranking.remove(id)
                #expect(wasSet == (model.removeValue(forKey: id) != nil), "seed \(seed), \(round)")
            default:
                let now = Duration.seconds(chance.number(in: 0..<1_000))
                let due = model.values.min().map { $0 <= now } ?? false
                let taken = ranking.takeFirst(upTo: now)
                #expect((taken != nil) == due, "seed \(seed), \(round)")
                if let taken {
                    #expect(model[taken] == model.values.min(), "seed \(seed), \(round)")
                    model[taken] = nil
                }
            }
            #expect(ranking.first?.rank == model.values.min(), "seed \(seed), \(round)")
            #expect(ranking.count == model.count)
        }
    }

    @Test func `what is set and removed again and again leaves nothing behind`() {
        var ranking = Ranking<Int, Int>()
        ranking.set(-1, at: -1)
        for number in 0..<100_000 {
            ranking.set(number, at: number)
            ranking.remove(number)
            ranking.set(-1, at: number % 3)
        }
        #expect(ranking.count == 1 && ranking.remembered < 16)
        let (last, none) = (ranking.takeFirst(upTo: 2), ranking.takeFirst(upTo: .max))
        #expect(last == -1 && none == nil)
        #expect(ranking.isEmpty && ranking.remembered == 0)
    }
}
