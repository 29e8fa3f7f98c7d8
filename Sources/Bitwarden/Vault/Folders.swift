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
