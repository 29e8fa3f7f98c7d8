import Testing

@testable import Crypto

extension SymmetricKey {
    init(_ bytes: [UInt8]) throws {
        try self.init(Secret(bytes))
    }

    var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
    var base64: String { Base64.text(of: bytes) }
}

extension Sealer {
    convenience init(base64: String) throws {
        self.init(try SymmetricKey(base64: base64))
    }
}

/// The error that the body throws; nil if it throws none.
func refusal<Result: ~Copyable>(
    _ body: () throws(CryptoError) -> Result
) -> CryptoError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func seconds(of text: String) -> Int64 {
    // "2023-01-01T00:00:00Z", by the civil calendar: days since 1970, then the time.
    let parts = text.split(whereSeparator: { "-T:Z".contains($0) }).map { Int64($0)! }
    let year = parts[1] <= 2 ? parts[0] - 1 : parts[0]
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (parts[1] + (parts[1] > 2 ? -3 : 9)) + 2) / 5 + parts[2] - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    return days * 86_400 + parts[3] * 3_600 + parts[4] * 60 + parts[5]
}
