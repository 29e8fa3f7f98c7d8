import Records
import Vault

/// What must hold of any bytes at all when they are read as the record of a pending change.
///
/// The input is hexadecimal, so that the golden records are what to begin with; whatever else stands
/// in the place of a digit counts as one too. The checksum is made right, or nothing behind it would
/// ever be reached.
public struct RecordReading: Property {
    public init() {}

    private static let columns = PendingChange.versionOne.map {
        PendingRecord.Columns(of: $0.change)
    }

    public func violation(by bytes: [UInt8]) -> String? {
        let record = Self.decoded(bytes)
        return violation(in: record) ?? violation(in: Wire.envelope(Self.payload(of: record)))
    }

    public func violation(in record: [UInt8]) -> String? {
        for columns in Self.columns {
            guard let first = PendingRecord.read(record, columns).value else { continue }
            let written = first.encoded()
            guard let again = PendingRecord.read(written, columns).value else {
                return "What was read could not be written so that it can be read again."
            }
            guard again.change == first.change else {
                return "Writing and reading changed a record."
            }
            guard again.encoded() == written else { return "Writing twice gave other bytes." }
        }
        return nil
    }

    private static func decoded(_ text: [UInt8]) -> [UInt8] {
        let digits = text.filter { $0 > 0x20 }
            .map { UInt8(Character(Unicode.Scalar($0)).hexDigitValue ?? Int($0 & 15)) }
        return stride(from: 0, to: digits.count - digits.count % 2, by: 2).map {
            digits[$0] << 4 | digits[$0 + 1]
        }
    }

    /// What stands where an envelope of ours has its payload: behind the third tag and its length.
    private static func payload(of record: [UInt8]) -> [UInt8] {
        guard record.count > 6, record[4] == 0x1a else { return record }
        let isLong = record[5] > 127
        let start = isLong ? 7 : 6
        return Array(record.dropFirst(start).dropLast(min(34, max(0, record.count - start))))
    }
}
