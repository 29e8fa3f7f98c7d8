public import JSON

/// A text or a file that is shown to whoever has its address. What is in it stays as it came.
public struct SendAnswer: Sendable, JSON.Readable {
    public let id: String
    /// What its address is made of.
    public let accessID: String?
    public let type: Int
    public let revisionDate: String
    public let deletionDate: String?
    public let raw: JSON.Raw

    public static let text = 0
    public static let file = 1

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read(anyCase: "id")
        accessID = try json.read(anyCase: "accessId")
        type = try json.read(anyCase: "type")
        revisionDate = try json.read(anyCase: "revisionDate")
        deletionDate = try json.read(anyCase: "deletionDate")
        raw = json.raw.copy
    }
}
