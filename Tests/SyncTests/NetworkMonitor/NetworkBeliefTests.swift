import Testing

@testable import Sync

/// What is found out about a way that is no more.
@Suite struct NetworkBeliefTests {
    private var belief = NetworkBelief()

    private mutating func hear(_ evidence: Evidence, at second: Int) {
        _ = belief.hear(evidence, at: .seconds(second), chance: 0)
    }

    private mutating func probed(_ evidence: Evidence?, at second: Int) {
        _ = belief.probed(evidence, at: .seconds(second), chance: 0)
    }

    private mutating func drill(_ isOn: Bool, at second: Int) {
        _ = belief.drill(isOn, at: .seconds(second))
    }

    private mutating func takesProbe(at second: Int, _ expected: Bool) {
        let isTaken = belief.takesProbe(at: .seconds(second))
        #expect(isTaken == expected, "at \(second) s")
    }

    /// A probe is out, over links that are dead.
    private mutating func probe(at second: Int) {
        hear(.unreachable, at: second)
        belief.refused(at: .seconds(second), chance: 0)
        takesProbe(at: second + 5, true)
    }

    @Test(arguments: [Evidence.unreachable, .troubled, nil])
    mutating func `when the links change while a probe is out, another one follows it at once`(
        _ evidence: Evidence?
    ) {
        probe(at: 0)
        belief.linksChanged(at: .seconds(6))
        takesProbe(at: 6, false)
        probed(evidence, at: 15)
        #expect(belief.state == .offline)
        takesProbe(at: 15, true)
        // That one is of the new links, so its word counts.
        probed(.troubled, at: 16)
        #expect(belief.state == .degraded)
        takesProbe(at: 16, false)
    }

    @Test mutating func `a probe that is answered is believed whatever the links do meanwhile`() {
        probe(at: 0)
        belief.linksChanged(at: .seconds(6))
        probed(.answered, at: 7)
        #expect(belief.state == .online)
    }

    @Test mutating func `how it stands after a drill is not told by a probe from before it`() {
        probe(at: 0)
        drill(true, at: 6)
        drill(false, at: 7)
        #expect(!belief.isKnown)
        probed(.unreachable, at: 15)
        #expect(!belief.isKnown)
        takesProbe(at: 15, true)
        probed(.unreachable, at: 16)
        #expect(belief.isKnown && belief.state == .offline)
    }

    @Test(arguments: [Evidence.unreachable, .troubled])
    mutating func `nor by a call that ends in vain before the probe does`(_ evidence: Evidence) {
        hear(.answered, at: 0)
        drill(true, at: 1)
        drill(false, at: 2)
        takesProbe(at: 2, true)
        hear(evidence, at: 3)
        #expect(!belief.isKnown && belief.state == .offline)
        probed(.answered, at: 4)
        #expect(belief.isKnown && belief.state == .online)
    }

    @Test(arguments: [Evidence.answered, .troubled])
    mutating func `links that come and go all the time have upstream asked four times a minute`(
        _ evidence: Evidence
    ) {
        hear(evidence, at: 0)
        var probes: [Int] = []
        for second in 0..<60 {
            for _ in 1...30 { belief.linksChanged(at: .seconds(second)) }
            guard belief.takesProbe(at: .seconds(second)) else { continue }
            probes.append(second)
            probed(evidence, at: second)
        }
        #expect(probes == [0, 15, 30, 45])
        takesProbe(at: 60, true)
    }

    @Test mutating func `a link that goes in several steps is known to be gone within seconds`() {
        hear(.answered, at: 0)
        belief.linksChanged(at: .seconds(100))
        takesProbe(at: 100, true)
        belief.linksChanged(at: .seconds(100))
        probed(.unreachable, at: 100)
        takesProbe(at: 101, false)
        takesProbe(at: 102, true)
        probed(.unreachable, at: 102)
        #expect(belief.state == .offline)
    }

    @Test mutating func `an upstream that is away is looked for soon after the links have changed`()
    {
        probe(at: 0)
        probed(.unreachable, at: 5)
        belief.linksChanged(at: .seconds(6))
        takesProbe(at: 6, false)
        takesProbe(at: 7, true)
    }

    @Test
    mutating func `a drill that begins anew before an outdated probe is over leaves nothing due`() {
        probe(at: 0)
        drill(true, at: 6)
        drill(false, at: 7)
        drill(true, at: 8)
        probed(.unreachable, at: 15)
        #expect(belief.nextProbe == nil && belief.state == .offline)
    }
}
