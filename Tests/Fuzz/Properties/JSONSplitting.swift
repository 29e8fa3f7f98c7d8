import JSON

/// A split shows what a document shows, for every input.
public struct JSONSplitting: Property {
    private let names = ["id", "revisionDate", "a", ""]

    public init() {}

    public func violation(by bytes: [UInt8]) -> String? {
        let document = try? JSON.Document(bytes)
        let split = try? JSON.Split(bytes, picking: names)
        guard let document, let split else {
            return document == nil && split == nil ? nil : "Two ways of reading disagree."
        }
        return violation(of: split.root, by: document.root) ?? violation(of: split, by: document)
    }

    private func violation(of split: JSON.Split, by document: JSON.Document) -> String? {
        let members = document.root.object.map(Array.init) ?? []
        guard members.count == split.members.count else { return "Members were lost." }
        for (member, (name, part)) in zip(members, split.members) {
            guard member.name.string == name, member.value.raw == part.raw else {
                return "A member is not what it was."
            }
            guard split[name]?.raw == document.root[name]?.raw else {
                return "Of two members, the wrong one was found."
            }
            if let violation = violation(of: part, by: member.value) { return violation }
        }
        return nil
    }

    private func violation(of part: JSON.Part, by value: JSON.Value) -> String? {
        guard value.kind == .array else {
            return part.elements == nil ? nil : "There are elements where there is no array."
        }
        let elements = value.array.map(Array.init) ?? []
        guard elements.map(\.raw) == part.elements?.map(\.raw) else {
            return "Elements were lost."
        }
        for (element, piece) in zip(elements, part.elements.map(Array.init) ?? []) {
            for name in names where element[name]?.raw != piece[name] {
                return "A field that was picked is not what it was."
            }
        }
        return nil
    }
}
