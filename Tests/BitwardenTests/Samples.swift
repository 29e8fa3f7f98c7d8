import Foundation
import JSON

/// Real requests and answers, recorded from a real server.
struct Sample {
    let request: JSON.Value
    let body: JSON.Value

    init(_ name: String) throws {
        let document = try Self.document("vaultwarden-1.36/\(name).json")
        let response = document.root["response"]
        request = document.root["request"] ?? document.root
        body = response?["body"] ?? document.root
    }

    static func document(_ name: String) throws -> JSON.Document {
        let url = Bundle.module.url(forResource: "Fixtures", withExtension: nil)!
        return try JSON.Document(Array(Data(contentsOf: url.appendingPathComponent(name))))
    }
}

extension [UInt8] {
    init(hex: String) {
        self = stride(from: 0, to: hex.utf8.count, by: 2).map { offset in
            let digits = hex.utf8.dropFirst(offset).prefix(2)
            return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)!
        }
    }
}
