import Crypto
import FuzzProperties
import System
import Testing

struct FuzzTests {
    /// Begins with well formed texts and changes, cuts, repeats and joins them.
    @Test func `nothing that looks like an EncString does any harm`() throws {
        let seed = SystemChance().next()
        let chance = SeededChance(seed: seed)
        let sealer = Sealer(SymmetricKey(from: chance), entropy: chance)
        let property = EncStringOpening()
        let corpus = try EncStringTests.texts + [sealer.seal("text"), "", "|", ".", "2.", "2.||"]
        for round in 0..<5_000 {
            var bytes = Array(corpus[chance.number(in: 0..<corpus.count)].utf8)
            for _ in 0..<chance.number(in: 0..<5) { mutate(&bytes, chance) }
            let violation = property.violation(by: bytes)
            #expect(violation == nil, "seed \(seed), round \(round)")
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ chance: SeededChance) {
        let place = chance.number(in: 0..<bytes.count + 1)
        switch chance.number(in: 0..<6) {
        case 0: bytes.removeLast(bytes.count - place)
        case 1: bytes.insert(UInt8(chance.number(in: 0..<256)), at: place)
        case 2: bytes.insert(contentsOf: bytes.prefix(40), at: place)
        case 3: bytes.insert("|=.2A+"[chance.number(in: 0..<6)], at: place)
        case _ where bytes.isEmpty: bytes = [0]
        case 4: bytes[place % bytes.count] = UInt8(chance.number(in: 0..<256))
        default: bytes.remove(at: place % bytes.count)
        }
    }
}

extension String {
    fileprivate subscript(_ index: Int) -> UInt8 { Array(utf8)[index] }
}
