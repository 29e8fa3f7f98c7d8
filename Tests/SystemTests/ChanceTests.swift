import System
import Testing

struct ChanceTests {
    @Test func `a seed gives the numbers that SplitMix64 is known for`() {
        let zero = SeededChance(seed: 0)
        #expect(
            (0..<3).map { _ in zero.next() } == [
                0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F,
            ]
        )
        let other = SeededChance(seed: 1_234_567)
        #expect(
            (0..<3).map { _ in other.next() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            ]
        )
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `fractions lie between 0 and 1, numbers in their range`(seed: UInt64) {
        let chance = SeededChance(seed: seed)
        var seen: Set<Int> = []
        for _ in 0..<500 {
            #expect((0..<1).contains(chance.fraction()), "seed \(seed)")
            seen.insert(chance.number(in: 3..<9))
        }
        #expect(seen == Set(3..<9), "seed \(seed)")
    }

    @Test func `fractions reach down to 0 and never up to 1`() {
        #expect(Fixed(number: 0).fraction() == 0)
        #expect(Fixed(number: .max).fraction() < 1)
    }

    @Test func `the system's chance does not repeat itself`() {
        let chance = SystemChance()
        #expect(Set((0..<100).map { _ in chance.next() }).count == 100)
    }
}

private struct Fixed: Chance {
    let number: UInt64
    func next() -> UInt64 { number }
}
