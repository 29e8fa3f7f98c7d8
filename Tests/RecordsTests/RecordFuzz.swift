import Glibc
import Records
import System
import Testing
import Vault

/// Reads bytes as a record. Whatever they are, it must neither trap nor lose what it could read.
public func fuzzRecord(_ bytes: UnsafeRawBufferPointer) {
    if let violation = violation(by: Array(bytes)) { preconditionFailure(violation) }
}

/// What did not hold, in a sentence.
private func violation(by record: [UInt8]) -> String? {
    for columns in fuzzColumns {
        guard let first = PendingRecord.read(record, columns).value else { continue }
        let written = first.encoded()
        guard let again = PendingRecord.read(written, columns).value else {
            return "What was read could not be written so that it can be read again."
        }
        guard again.change == first.change else { return "Writing and reading changed a record." }
        guard again.encoded() == written else { return "Writing twice gave other bytes." }
    }
    return nil
}

private let fuzzColumns = PendingChange.versionOne.map { PendingRecord.Columns(of: $0.change) }

@Suite struct RecordFuzzTests {
    private static let seed: UInt64 = 20_260_218
    private static let rounds =
        getenv("HOLDFAST_FUZZ_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 4_000

    @Test func `bytes of chance are read without harm`() {
        let chance = SeededChance(seed: Self.seed)
        for _ in 0..<2_000 {
            let count = chance.number(in: 0..<300)
            let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
            #expect(violation(by: bytes) == nil, "seed \(Self.seed): \(bytes)")
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
            if let violation = violation(by: record) {
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
