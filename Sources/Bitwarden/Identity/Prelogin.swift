public import JSON

/// Asks how the master key of an account is derived. No answer says whether there is one.
public struct PreloginRequest: Sendable, Hashable, JSON.Readable, JSON.Writable {
    public let email: String

    public init(email: String) { self.email = email }

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        email = try json.read(anyCase: "email")
    }

    public func write(to json: inout JSON.Writer) {
        json.object { $0.add("email", email) }
    }
}

public struct PreloginAnswer: Sendable, Hashable {
    public let settings: DerivationSettings
    /// The account's salt, if it is another than its email; see `KeyDerivation.salt`.
    public let salt: String?

    public init(settings: DerivationSettings, salt: String? = nil) {
        self.settings = settings
        self.salt = salt
    }
}

extension PreloginAnswer: JSON.Readable, JSON.Writable {
    /// Newer servers say everything twice; what stands in the object of its own counts.
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        if let nested = try json.read(anyCase: "kdfSettings", as: DerivationSettings?.self) {
            settings = nested
        } else {
            settings = try DerivationSettings(flat: json)
        }
        salt = try json.read(anyCase: "salt")
    }

    public func write(to json: inout JSON.Writer) {
        json.object { object in
            settings.writeFlat(to: &object, .camel)
            object.object("kdfSettings") { settings.write(to: &$0, .camel) }
            object.add("salt", salt)
        }
    }
}
