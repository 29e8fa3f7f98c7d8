import FoundationEssentials
import Sync
import System
import Testing
import Vault

@Suite struct IdentifierTests {
    @Test func `what is made later is named later`() {
        let chance = SeededChance(seed: 7)
        let moments = [-5, 0, 1, 255, 256, 1_794_000_000_000].map {
            Moment(ticks: $0 * Moment.ticksPerMillisecond)
        }
        let names = moments.dropFirst().map { chance.identifier(at: $0) }
        #expect(names == names.sorted())
        #expect(chance.identifier(at: moments[0]).hasPrefix("00000000-0000-7"))
    }

    @Test func `an identifier is a UUID that nobody else has`() throws {
        let chance = SeededChance(seed: 8)
        let now = Moment(ticks: 1_794_000_000_000 * Moment.ticksPerMillisecond)
        let ordered = (0..<1_000).map { _ in chance.identifier(at: now) }
        let random = (0..<1_000).map { _ in chance.identifier() }
        #expect(Set(ordered + random).count == 2_000)
        for (names, version) in [(ordered, 0x70), (random, 0x40)] as [([String], UInt8)] {
            for name in names {
                let uuid = try #require(UUID(uuidString: name)).uuid
                #expect(uuid.6 & 0xf0 == version && uuid.8 & 0xc0 == 0x80)
            }
        }
    }
}
