import Simulation
import System
import TestSupport
import Testing

/// The mesh in worlds that follow from a seed. `holdfast simulate` plays the same in any number.
@Suite struct SimulationTests {
    @Test func `nothing is lost in two hundred worlds in which anything may go wrong`() async {
        var campaign = Campaign()
        campaign.seeds = 200
        campaign.start = 1_000_000
        campaign.steps = 40
        let outcome = await campaign.run { _ in }
        for failed in outcome.failed { Issue.record("\(failed.report(steps: 40))") }
        #expect(outcome.seeds == 200)
    }

    @Test(arguments: [3, 14, 15] as [UInt64])
    func `the same seed tells the same story`(_ seed: UInt64) {
        let script = Script(seed: seed, length: 40)
        let first = Stage.play(script)
        for _ in 0..<8 {
            let again = Stage.play(script)
            #expect(again.digest == first.digest)
            #expect(again.history == first.history)
        }
    }

    /// Another process has another order in its sets and dictionaries.
    @Test func `the same seed tells the same story in another process`() throws {
        let program = Child.productsDirectory + "/holdfast"
        for seed in ["7", "8"] {
            let words = ["simulate", "--steps", "40", "--replay", seed]
            let (one, other) = (try Child.run(program, words), try Child.run(program, words))
            #expect(one.output == other.output)
            #expect(one.output.utf8.count > 1_000)
            let here = Replay(seed)?.play(
                {
                    var campaign = Campaign()
                    campaign.steps = 40
                    return campaign
                }()
            )
            #expect(here.map { one.output.hasPrefix($0.history.joined(separator: "\n")) } == true)
        }
    }

    @Test func `another seed tells another story`() {
        let stories = (1...6).map { Stage.play(Script(seed: $0, length: 10)).digest }
        #expect(Set(stories).count == stories.count)
    }
}
