import FoundationEssentials
import FuzzProperties
import JSON
import System
import Testing

/// What `make fuzz` tries for minutes, here for a moment and with the same numbers every time.
struct PropertyTests {
    private static let properties: [any Property] = [
        JSONParsing(), JSONSplicing(), JSONSplitting(),
    ]

    @Test func `the properties hold for random texts`() throws {
        for seed in UInt64(0)..<400 {
            let bytes = RandomText.bytes(seed: seed)
            #expect(throws: Never.self, "seed \(seed)") { try JSON.Document(bytes) }
            for property in Self.properties {
                #expect(property.violation(by: bytes) == nil, "\(property), seed \(seed)")
            }
        }
    }

    @Test func `the properties hold for damaged texts`() {
        for seed in UInt64(0)..<1_500 {
            let bytes = damaged(RandomText.bytes(seed: seed % 100), SeededChance(seed: seed))
            for property in Self.properties {
                #expect(property.violation(by: bytes) == nil, "\(property), seed \(seed)")
            }
        }
    }

    @Test(arguments: Fixtures.names)
    func `the properties hold for what upstreams really say`(_ name: String) throws {
        let bytes = try Fixtures.bytes(name)
        for property in Self.properties {
            #expect(property.violation(by: bytes) == nil)
        }
    }

    /// JSONDecoder refuses some of these texts and accepts others that are no JSON, among them such
    /// as are not UTF-8 and such with a comma too many. So it is asked only what both read.
    @Test func `what JSONDecoder reads too means the same`() {
        var compared = 0
        for seed in UInt64(0)..<1_200 {
            let whole = RandomText.bytes(seed: seed / 3)
            let bytes = seed % 3 == 0 ? whole : damaged(whole, SeededChance(seed: seed))
            guard let ours = try? JSON.Document(bytes),
                let theirs = try? JSONDecoder().decode(Tree.self, from: Data(bytes))
            else { continue }
            #expect(Tree(ours.root) == theirs, "seed \(seed)")
            compared += 1
        }
        #expect(compared > 300)
    }

    private func damaged(_ bytes: [UInt8], _ chance: SeededChance) -> [UInt8] {
        var bytes = bytes
        let structure = Array(#"{}[],:"\0e.-u "#.utf8)
        for _ in 0...chance.number(in: 0..<3) {
            let position = chance.number(in: 0..<bytes.count)
            switch chance.number(in: 0..<4) {
            case 0: bytes[position] = UInt8(chance.number(in: 1..<256))
            case 1: bytes.remove(at: position)
            case 2: bytes.insert(structure[chance.number(in: 0..<structure.count)], at: position)
            default: bytes[position] = structure[chance.number(in: 0..<structure.count)]
            }
            if bytes.isEmpty { return bytes }
        }
        return bytes
    }
}
