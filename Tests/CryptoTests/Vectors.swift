import FoundationEssentials
import Testing

/// The known answers of the official clients' core, as `Fixtures/vectors.json` carries them.
enum Vectors {
    static let sections: [String: JSON] = {
        let path = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        let content = FileManager.default.contents(atPath: "/\(path)/Fixtures/vectors.json")
        guard let content, let file = try? JSONDecoder().decode(JSON.self, from: content) else {
            return [:]
        }
        return file.members
    }()

    static subscript(_ section: String) -> JSON { sections[section] ?? .null }
}

/// A JSON value that is read with as little ceremony as a test can bear.
enum JSON: Decodable, Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Int)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Int.self) {
            self = .number(number)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let array = try? value.decode([JSON].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: JSON].self))
        }
    }

    subscript(_ name: String) -> JSON { members[name] ?? .null }

    var members: [String: JSON] {
        if case .object(let members) = self { members } else { [:] }
    }
    var elements: [JSON] {
        if case .array(let elements) = self { elements } else { [] }
    }
    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
    var number: Int? {
        if case .number(let number) = self { number } else { nil }
    }
    var bytes: [UInt8]? {
        text.map { hex in
            let digits = Array(hex)
            return stride(from: 0, to: digits.count, by: 2).map {
                UInt8(String(digits[$0..<$0 + 2]), radix: 16)!
            }
        }
    }
}
