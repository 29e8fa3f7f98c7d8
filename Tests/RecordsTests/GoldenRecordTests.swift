import FoundationEssentials
import FuzzProperties
import Records
import Testing
import Vault

/// Records of every version that was ever released, byte for byte. They are read for ever.
@Suite struct GoldenRecordTests {
    private func golden(_ name: String) throws -> [UInt8] {
        let path = "\(Fixtures.path)/version-1/\(name).hex"
        return try #require(try [UInt8](hex: String(contentsOfFile: path, encoding: .utf8)))
    }

    @Test func `G-R1 every record of version 1 can be read`() throws {
        for (name, change) in PendingChange.versionOne {
            let columns = PendingRecord.Columns(of: change)
            let record = PendingRecord.read(try golden(name), columns)
            #expect(record.value?.change == change, "\(name)")
        }
    }

    @Test func `version 1 is still written as it was`() throws {
        for (name, change) in PendingChange.versionOne {
            #expect(PendingRecord(change).encoded() == (try golden(name)), "\(name)")
        }
    }
}

enum Fixtures {
    static let path =
        #filePath.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/Fixtures"
}

extension [UInt8] {
    init?(hex: String) {
        let digits = hex.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
        guard digits.count % 2 == 0 else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }
}
