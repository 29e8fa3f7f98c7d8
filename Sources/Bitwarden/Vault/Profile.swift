public import JSON

/// The account as the server knows it.
public struct Profile: Sendable {
    public var id: String
    public var email: String
    /// The user key, wrapped with the stretched master key.
    public var wrappedUserKey: String?
    public var wrappedPrivateKey: String?
    /// Another one than before means that the password or the keys have changed.
    public var securityStamp: String?
    public var hasSecurityState: Bool
    public var memberships: [Membership]
}

extension Profile: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read(anyCase: "id")
        email = try json.read(anyCase: "email")
        wrappedUserKey = try json.read(anyCase: "key")
        wrappedPrivateKey = try json.read(anyCase: "privateKey")
        securityStamp = json[anyCase: "securityStamp"]?.string
        let keys: AccountKeys? = try? json.read(anyCase: "accountKeys")
        hasSecurityState = keys?.hasSecurityState ?? false
        let organizations = json[anyCase: "organizations"]?.array.map(Array.init) ?? []
        memberships = organizations.compactMap { try? Membership(json: $0) }
    }
}

/// An organisation from the point of view of one of its members. What else the server says of it
/// is in `raw`.
public struct Membership: Sendable, JSON.Readable {
    public let organizationID: String
    public let name: String?
    /// The organisation's key for this member, with type 4. Not there before the member is confirmed.
    public let wrappedKey: String?
    public let status: Int
    public let type: Int?
    public let isEnabled: Bool
    public let raw: JSON.Raw

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        organizationID = try json.read(anyCase: "id")
        name = try json.read(anyCase: "name")
        wrappedKey = try json.read(anyCase: "key")
        status = try json.read(anyCase: "status", as: Int?.self) ?? Self.confirmed
        type = try json.read(anyCase: "type")
        isEnabled = try json.read(anyCase: "enabled", as: Bool?.self) ?? true
        raw = json.raw.copy
    }

    public static let confirmed = 2

    /// Whether the member can open the organisation's items.
    public var opens: Bool { status == Self.confirmed && isEnabled && wrappedKey != nil }
}
