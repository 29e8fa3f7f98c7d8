import Simulation
import Testing

/// A death at every place where something outside changes. `make proof` tries all of them, in release.
@Suite struct ExhaustionTests {
    @Test func `a death at any effect of a short script loses nothing`() async {
        let exhaustion = Exhaustion()
        let scripts = exhaustion.scripts.enumerated().filter { $0.offset % 24 == 5 }
        let outcome = await exhaustion.run(scripts.map(\.element), everyOf: 3)
        for failed in outcome.failed.prefix(3) {
            Issue.record("\(failed.performance.report("script \(failed.number)"))")
        }
        #expect(outcome.runs > outcome.scripts * 3)
        #expect(outcome.failed.isEmpty)
    }
}
