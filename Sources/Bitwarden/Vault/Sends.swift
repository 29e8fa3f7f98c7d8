public import JSON

/// A text or a file that is shown to whoever has its address. What is in it stays as it came.
public struct SendAnswer: Sendable, JSON.Readable {
    public let id: String
    /// What its address is made of.
    public let accessID: String?
    public let type: Int
    public let revisionDate: String
    public let deletionDate: String?
    /// Who must say their address and a code that is mailed there to read it. Nobody must, if it is empty.
    public let emails: [String]
    /// What a reader needs, if the server says it.
    public let guardedBy: Guard?
    public let raw: JSON.Raw

    public static let text = 0
    public static let file = 1

    public enum Guard: Int, Sendable {
        case emails, password, nothing
    }

    /// Whether only certain people can read it. An edit that does not name them again opens it to everybody.
    public var isForEmails: Bool { guardedBy.map { $0 == .emails } ?? !emails.isEmpty }

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read(anyCase: "id")
        accessID = try json.read(anyCase: "accessId")
        type = try json.read(anyCase: "type")
        revisionDate = try json.read(anyCase: "revisionDate")
        deletionDate = try json.read(anyCase: "deletionDate")
        emails = (json[anyCase: "emails"]?.string ?? "").split(separator: ",").map {
            String($0.drop { $0 == " " })
        }
        guardedBy = json[anyCase: "authType"]?.int.flatMap(Guard.init)
        raw = json.raw.copy
    }
}
