public import JSON

public struct FolderRequest: Sendable, Hashable, JSON.Readable, JSON.Writable {
    /// Encrypted with the user key.
    public let name: String

    public init(name: String) { self.name = name }

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        name = try json.read(anyCase: "name")
    }

    public func write(to json: inout JSON.Writer) {
        json.object { $0.add("name", name) }
    }
}

public struct FolderAnswer: Sendable, Hashable, JSON.Readable, JSON.Writable {
    public let id: String
    public let name: String
    /// As the server spells it.
    public let revisionDate: String

    public init(id: String, name: String, revisionDate: String) {
        self.id = id
        self.name = name
        self.revisionDate = revisionDate
    }

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read(anyCase: "id")
        name = try json.read(anyCase: "name")
        revisionDate = try json.read(anyCase: "revisionDate")
    }

    public func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("id", id)
            $0.add("name", name)
            $0.add("revisionDate", revisionDate)
            $0.add("object", "folder")
        }
    }
}

public struct CollectionAnswer: Sendable, Hashable, JSON.Readable, JSON.Writable {
    public let id: String
    public let organizationID: String
    /// Encrypted with the organisation's key.
    public let name: String
    public var isReadOnly = false
    public var hidesPasswords = false

    public init(id: String, organizationID: String, name: String) {
        self.id = id
        self.organizationID = organizationID
        self.name = name
    }

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read(anyCase: "id")
        organizationID = try json.read(anyCase: "organizationId")
        name = try json.read(anyCase: "name")
        isReadOnly = try json.read(anyCase: "readOnly", as: Bool?.self) ?? false
        hidesPasswords = try json.read(anyCase: "hidePasswords", as: Bool?.self) ?? false
    }

    public func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("id", id)
            $0.add("organizationId", organizationID)
            $0.add("name", name)
            $0.add("externalId", String?.none)
            $0.add("readOnly", isReadOnly)
            $0.add("hidePasswords", hidesPasswords)
            $0.add("manage", !isReadOnly)
            $0.add("type", 0)
            $0.add("defaultUserCollectionEmail", String?.none)
            $0.add("object", "collectionDetails")
        }
    }
}

/// The elements of an answer that is a list. Servers wrap it; the revision date is none.
public struct ListAnswer<Element: JSON.Readable>: JSON.Readable {
    public let elements: [Element]

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        elements = try json.read(anyCase: "data")
    }
}

extension ListAnswer: Sendable where Element: Sendable {}
