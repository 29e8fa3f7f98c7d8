public import JSON

/// What a value means, spelling apart. Numbers keep their spelling.
public indirect enum Meaning: Equatable {
    case object([Member])
    case array([Meaning])
    case string(String)
    case other(JSON.Raw)

    public struct Member: Equatable {
        public var name: String
        public var value: Meaning

        func isNamed(_ other: String) -> Bool { name.utf8.elementsEqual(other.utf8) }
    }

    public init(_ value: JSON.Value) {
        if let object = value.object {
            self = .object(
                object.map { Member(name: $0.name.string, value: Meaning($0.value)) }
            )
        } else if let array = value.array {
            self = .array(array.map(Meaning.init))
        } else if let string = value.string {
            self = .string(string)
        } else {
            self = .other(value.raw)
        }
    }
}

extension Meaning: JSON.Writable {
    public func write(to json: inout JSON.Writer) {
        switch self {
        case .object(let members):
            json.object { object in
                for member in members { object.add(member.name, member.value) }
            }
        case .array(let elements): elements.write(to: &json)
        case .string(let string): json.string(string)
        case .other(let raw): json.raw(raw)
        }
    }
}

/// The changes of ``JSON/Edit``, done on the meaning. Each returns whether it could be done.
extension Meaning {
    static var null: Meaning { .other(.null) }

    /// How many arrays and objects lie in each other.
    var depth: Int {
        switch self {
        case .object(let members): 1 + (members.map(\.value.depth).max() ?? 0)
        case .array(let elements): 1 + (elements.map(\.depth).max() ?? 0)
        case .string, .other: 0
        }
    }

    mutating func set(_ path: JSON.Path, to value: Meaning) -> Bool {
        change(path.steps[...]) { meaning in
            meaning = value
            return true
        }
    }

    private mutating func change(
        _ path: ArraySlice<JSON.Step>,
        _ body: (inout Meaning) -> Bool
    ) -> Bool {
        guard let step = path.first else { return body(&self) }
        switch (self == .null ? .empty(for: step) : self, step) {
        case (.object(var members), .member(let name)):
            if !members.contains(where: { $0.isNamed(name) }) {
                members.append(Member(name: name, value: .null))
            }
            guard let index = members.lastIndex(where: { $0.isNamed(name) }),
                members[index].value.change(path.dropFirst(), body)
            else { return false }
            self = .object(members)
        case (.array(var elements), .element(let position)):
            if position == elements.count { elements.append(.null) }
            guard elements.indices.contains(position),
                elements[position].change(path.dropFirst(), body)
            else { return false }
            self = .array(elements)
        default: return false
        }
        return true
    }

    private static func empty(for step: JSON.Step) -> Meaning {
        switch step {
        case .member: .object([])
        case .element: .array([])
        }
    }

    mutating func remove(_ path: ArraySlice<JSON.Step>) -> Bool {
        switch (self, path.first) {
        case (.object(var members), .member(let name)):
            guard let index = members.lastIndex(where: { $0.isNamed(name) }) else { return false }
            if path.count == 1 {
                members.removeAll { $0.isNamed(name) }
            } else if !members[index].value.remove(path.dropFirst()) {
                return false
            }
            self = .object(members)
        case (.array(var elements), .element(let position)):
            guard elements.indices.contains(position) else { return false }
            if path.count == 1 {
                elements.remove(at: position)
            } else if !elements[position].remove(path.dropFirst()) {
                return false
            }
            self = .array(elements)
        default: return false
        }
        return true
    }
}
