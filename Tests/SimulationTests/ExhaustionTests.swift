import Glibc
import Simulation
import Testing

/// A death at every place where something outside changes.
@Suite struct ExhaustionTests {
    /// All places are tried with `HOLDFAST_LONG=1`, which takes an hour.
    private static let isLong = getenv("HOLDFAST_LONG") != nil

    @Test func `a death at any effect of a short script loses nothing`() async {
        let exhaustion = Exhaustion()
        let scripts = exhaustion.scripts.enumerated().filter { Self.isLong || $0.offset % 24 == 5 }
        let outcome = await exhaustion.run(scripts.map(\.element), everyOf: Self.isLong ? 1 : 3)
        for failed in outcome.failed.prefix(3) { Issue.record("\(failed.report(steps: 0))") }
        #expect(outcome.runs > outcome.scripts * 3)
        #expect(outcome.failed.isEmpty)
    }
}
