import JSON

/// What a text means, so that two readers can be compared.
indirect enum Tree: Equatable, Decodable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([Tree])
    case object([String: Tree])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let array = try? value.decode([Tree].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: Tree].self))
        }
    }

    init(_ value: JSON.Value) {
        self =
            switch value.kind {
            case .null: .null
            case .bool: .bool(value.bool!)
            case .number: .number(value.double!)
            case .string: .string(value.string!)
            case .array: .array(value.array!.map(Tree.init))
            case .object:
                // Of members with one name, JSONDecoder takes the first.
                .object(
                    Dictionary(
                        value.object!.map { ($0.name.string, Tree($0.value)) },
                        uniquingKeysWith: { first, _ in first }
                    )
                )
            }
    }
}
