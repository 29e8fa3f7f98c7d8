public import JSON

/// The elements of an answer that is a list. Servers wrap it; the revision date is none.
public struct ListAnswer<Element: JSON.Readable>: JSON.Readable {
    public let elements: [Element]

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        elements = try json.read(anyCase: "data")
    }
}

extension ListAnswer: Sendable where Element: Sendable {}
