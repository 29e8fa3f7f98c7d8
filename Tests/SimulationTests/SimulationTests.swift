import FoundationEssentials
import Glibc
import Simulation
import System
import TestSupport
import Testing

/// The mesh in worlds that follow from a seed. `holdfast simulate` plays the same in any number.
@Suite struct SimulationTests {
    private static func campaign(_ steps: Int) -> Campaign {
        var campaign = Campaign()
        campaign.steps = steps
        return campaign
    }

    @Test func `nothing is lost in worlds in which anything may go wrong`() async {
        var campaign = Self.campaign(40)
        campaign.seeds = 8
        campaign.start = 1_000_000
        let outcome = await campaign.run { _ in }
        for failed in outcome.failed {
            Issue.record("\(failed.report(campaign.command(for: failed)))")
        }
        #expect(outcome.failed.isEmpty && outcome.seeds == 8)
    }

    /// All of them are played by `make proof`, in release.
    @Test func `what has failed once fails no more`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Corpus.txt")
        let corpus = try #require(Corpus(String(contentsOf: file, encoding: .utf8)))
        #expect(corpus.entries.count >= 100)
        for entry in corpus.entries.enumerated().filter({ $0.offset % 16 == 0 }).map(\.element) {
            let performance = entry.play()
            #expect(performance.breach == nil, "\(performance.summary), once: \(entry.finding)")
        }
    }

    @Test(arguments: [3, 14] as [UInt64])
    func `the same seed tells the same story`(_ seed: UInt64) {
        let script = Script(seed: seed, length: 20)
        let first = Stage.play(script)
        for _ in 0..<4 {
            let again = Stage.play(script)
            #expect(again.digest == first.digest)
            #expect(again.history == first.history)
        }
    }

    /// Another process has another order in its sets and dictionaries.
    @Test func `the same seed tells the same story in another process`() throws {
        let program = Child.productsDirectory + "/holdfast"
        let words = ["simulate", "--steps", "30", "--replay", "7"]
        let (one, other) = (try Child.run(program, words), try Child.run(program, words))
        #expect(one.output == other.output)
        let here = try #require(Replay("7")).play(Self.campaign(30))
        #expect(here.history.count > 20)
        #expect(one.output.hasPrefix(here.history.joined(separator: "\n")))
    }

    @Test func `the command that is printed plays the same again, with what may go wrong in it`()
        throws
    {
        let program = Child.productsDirectory + "/holdfast"
        let words = ["simulate", "--steps", "20", "--faults", "drop,twice", "--replay", "7"]
        let first = try Child.run(program, words).output
        let command = try #require(first.split(separator: "\n").last)
        let again = command.split(separator: " ").dropFirst().map(String.init)
        #expect(try Child.run(program, again).output == first)
    }

    @Test func `when nobody reads any more it ends`() throws {
        let program = Child.productsDirectory + "/holdfast"
        let script = """
            timeout 120 '\(program)' simulate --seeds 1000000000 --steps 1 | head -n 1 > /dev/null
            exit ${PIPESTATUS[0]}
            """
        #expect(try Child.run("/bin/bash", ["-c", script]).status == 128 + SIGPIPE)
    }

    @Test(arguments: [
        ["--deaths", "1", "--start", "0"], ["--deaths", "1", "--start", "999999"],
        ["--deaths", "1", "--replay", "5"], ["--faults", ","], ["--faults", ""],
    ])
    func `what does not go together or means nothing is refused`(_ flags: [String]) throws {
        let program = Child.productsDirectory + "/holdfast"
        #expect(try Child.run(program, ["simulate"] + flags).status == 64)
    }

    @Test func `another seed tells another story`() {
        let stories = (1...4).map { Stage.play(Script(seed: $0, length: 5)).digest }
        #expect(Set(stories).count == stories.count)
    }
}
