import JSON

/// What a value of the API looks like, in the words of JSON Schema.
indirect enum Schema: Sendable {
    case any
    case null
    case text
    /// A text that is not blank.
    case filled
    case identifier
    case date
    case bytes
    case integer
    case range(ClosedRange<Int>)
    case flag
    case word([String])
    case number([Int])
    case list(Schema)
    case object([Property])
    /// One of the description's named schemas.
    case reference(String)
    /// Or null.
    case optional(Schema)
    case either([Schema])

    struct Property: Sendable {
        let name: String
        let schema: Schema
        let isRequired: Bool

        /// A member that is always there.
        init(_ name: String, _ schema: Schema) {
            (self.name, self.schema, isRequired) = (name, schema, true)
        }

        private init(_ name: String, _ schema: Schema, isRequired: Bool) {
            (self.name, self.schema, self.isRequired) = (name, schema, isRequired)
        }

        /// A member that may be left out.
        static func maybe(_ name: String, _ schema: Schema) -> Property {
            Property(name, schema, isRequired: false)
        }
    }

    static func constant(_ word: String) -> Schema { .word([word]) }
}

extension Schema: JSON.Writable {
    func write(to json: inout JSON.Writer) {
        json.object { write(to: &$0) }
    }

    private func write(to object: inout JSON.ObjectWriter) {
        switch self {
        case .any: break
        case .null: object.add("type", "null")
        case .text: object.add("type", "string")
        case .filled:
            object.add("type", "string")
            object.add("pattern", "\\S")
        case .date:
            object.add("type", "string")
            object.add("format", "date-time")
        case .bytes:
            object.add("type", "string")
            object.add("format", "binary")
        case .identifier:
            object.add("type", "string")
            object.add("format", "uuid")
        case .integer: object.add("type", "integer")
        case .range(let numbers):
            object.add("type", "integer")
            object.add("minimum", numbers.lowerBound)
            object.add("maximum", numbers.upperBound)
        case .flag: object.add("type", "boolean")
        case .word(let words):
            object.add("type", "string")
            object.add("enum", words)
        case .number(let numbers):
            object.add("type", "integer")
            object.add("enum", numbers)
        case .list(let element):
            object.add("type", "array")
            object.add("items", element)
        case .object(let properties): write(properties, to: &object)
        case .reference(let name): object.add("$ref", "#/components/schemas/\(name)")
        case .optional(let schema): object.add("anyOf", [schema, Schema.null])
        case .either(let schemas): object.add("anyOf", schemas)
        }
    }

    private func write(_ properties: [Property], to object: inout JSON.ObjectWriter) {
        object.add("type", "object")
        object.object("properties") {
            for property in properties { $0.add(property.name, property.schema) }
        }
        let required = properties.filter(\.isRequired).map(\.name)
        if !required.isEmpty { object.add("required", required) }
    }
}
