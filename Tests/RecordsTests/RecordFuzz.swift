import FoundationEssentials
import FuzzProperties
import Glibc
import Records
import System
import Testing
import Vault

@Suite struct RecordFuzzTests {
    private static let seed: UInt64 = 20_260_218
    private static let rounds =
        getenv("HOLDFAST_FUZZ_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 4_000

    @Test func `bytes of chance are read without harm`() {
        let chance = SeededChance(seed: Self.seed)
        for _ in 0..<2_000 {
            let count = chance.number(in: 0..<300)
            let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
            #expect(RecordReading().violation(in: bytes) == nil, "seed \(Self.seed): \(bytes)")
        }
    }

    @Test func `what holds for any bytes holds for the golden records`() throws {
        for (name, _) in PendingChange.versionOne {
            let path = "\(Fixtures.path)/version-1/\(name).hex"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(RecordReading().violation(by: Array(text.utf8)) == nil, "\(name)")
        }
    }

    @Test func `damaged payloads in whole envelopes are read without harm`() {
        let chance = SeededChance(seed: Self.seed)
        for round in 0..<Self.rounds {
            let samples = PendingChange.versionOne
            let (_, change) = samples[chance.number(in: 0..<samples.count)]
            var payload = Self.payload(of: PendingRecord(change).encoded())
            for _ in 0...chance.number(in: 0..<4) { Self.damage(&payload, by: chance) }
            let format = UInt64(chance.number(in: 0..<3))
            let record = Wire.envelope(payload, format: format, leastReader: 1)
            if let violation = RecordReading().violation(in: record) {
                Issue.record("\(violation) Seed \(Self.seed), round \(round): \(record)")
                return
            }
        }
    }

    /// The third field of the envelope, after two of two bytes each.
    private static func payload(of record: [UInt8]) -> [UInt8] {
        let isLong = record[5] > 127
        let start = isLong ? 7 : 6
        let count = isLong ? Int(record[5] & 127) | Int(record[6]) << 7 : Int(record[5])
        return Array(record[start..<(start + count)])
    }

    private static func damage(_ bytes: inout [UInt8], by chance: SeededChance) {
        guard !bytes.isEmpty else { return }
        let place = chance.number(in: 0..<bytes.count)
        switch chance.number(in: 0..<4) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: chance.next())
        case 1: bytes[place] ^= 1 << UInt8(chance.number(in: 0..<8))
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + chance.number(in: 0..<8)))
        default:
            bytes.insert(contentsOf: bytes[place...].prefix(chance.number(in: 0..<12)), at: place)
        }
    }
}
