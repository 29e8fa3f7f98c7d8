import JSON

/// What must hold of any bytes at all when they are read as JSON.
public struct JSONParsing: Property {
    public init() {}

    public func violation(by bytes: [UInt8]) -> String? {
        guard let document = try? JSON.Document(bytes) else {
            return (try? JSON.Raw(bytes)) == nil ? nil : "Two ways of reading disagree."
        }
        guard let raw = try? JSON.Raw(bytes), raw == document.root.raw else {
            return "Two ways of reading disagree."
        }
        return violation(in: document.root) ?? rewritten(document.root)
    }

    /// Every way of looking at a value agrees with its kind, and none goes astray.
    private func violation(in value: JSON.Value) -> String? {
        let isRight =
            switch value.kind {
            case .string: value.string.map { JSON.Raw($0).string == $0 } ?? false
            case .number: value.string == nil && value.bool == nil && isRightNumber(value)
            case .bool: value.bool != nil
            case .null: value.isNull
            case .array: value.array != nil && value.object == nil
            case .object: value.object != nil && value.array == nil
            }
        guard isRight else { return "A \(value.kind) is not what it says." }
        for element in value.array.map(Array.init) ?? [] {
            if let violation = violation(in: element) { return violation }
        }
        for member in value.object.map(Array.init) ?? [] {
            if value[member.name.string] == nil { return "A member is not found." }
            if let violation = violation(in: member.value) { return violation }
        }
        return value.object.flatMap(violation(ofNamesIn:))
    }

    private func isRightNumber(_ value: JSON.Value) -> Bool {
        !value.isNull && value.int == Int(String(decoding: value.raw.bytes, as: UTF8.self))
    }

    /// A table of an object's own names knows each of them, and walking with it meets every member.
    private func violation(ofNamesIn members: JSON.Members) -> String? {
        let spelled = members.map(\.name.string)
        let names = JSON.Names(Array(spelled.indices)) { spelled[$0] }
        var met: [JSON.Raw] = []
        members.forEach(inAnyCase: names) { _, value in met.append(value.raw) }
        guard met == members.map(\.value.raw) else { return "A walk misses a member." }
        for (name, spelling) in zip(members.map(\.name), spelled) {
            guard let exact = names[name], let anyCase = names[anyCase: name],
                spelled[exact].utf8.elementsEqual(spelling.utf8), exact == anyCase
            else { return "A name is not found." }
        }
        return nil
    }

    private func rewritten(_ value: JSON.Value) -> String? {
        let rewritten = JSON.Raw(Meaning(value))
        guard let document = try? JSON.Document(rewritten) else {
            return "What was written cannot be read."
        }
        return Meaning(document.root) == Meaning(value) ? nil : "Writing changed the meaning."
    }
}
