public import JSON

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
