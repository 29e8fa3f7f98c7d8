public import JSON

/// Why the token call was refused, as far as the body of a 400 says it.
public enum TokenRefusal: Sendable, Hashable {
    /// The password was right; a second factor is wanted. The same request again, with that.
    case secondFactor(SecondFactorChallenge)
    /// The password was right; the code that was mailed just now is wanted.
    case newDevice(ErrorEnvelope)
    /// The grant is not worth anything (any more): a wrong password, a refresh token that was revoked.
    case invalidGrant(ErrorEnvelope)
    /// Anything else, a missing version header for example.
    case other(code: String?, ErrorEnvelope)

    public init(json: JSON.Value) {
        let code = json[anyCase: "error"]?.string
        let envelope = ErrorEnvelope(json: json)
        if let challenge = SecondFactorChallenge(json: json) {
            self = .secondFactor(challenge)
        } else if code == "device_error" || envelope.says("new device verification required") {
            self = .newDevice(envelope)
        } else if code == "invalid_grant" || envelope.says("username or password is incorrect")
            || Self.isOldRefusal(json, envelope)
        {
            self = .invalidGrant(envelope)
        } else {
            self = .other(code: code.flatMap { $0.isEmpty ? nil : $0 }, envelope)
        }
    }

    /// Vaultwarden before 1.35 refuses a refresh token without a code. Others on the way may use these words, too, but
    /// not in the shape of its errors.
    private static func isOldRefusal(_ json: JSON.Value, _ envelope: ErrorEnvelope) -> Bool {
        json[anyCase: "object"]?.string == "error" && envelope.says("invalid refresh token")
    }
}

/// The second factors that an account would take.
public struct SecondFactorChallenge: Sendable, Hashable {
    public let providers: [SecondFactorProvider]
    /// Where the code of provider 1 was sent to, with most letters hidden.
    public let email: String?

    public init(providers: [SecondFactorProvider], email: String? = nil) {
        self.providers = providers
        self.email = email
    }

    /// `nil` if the body asks for no second factor.
    public init?(json: JSON.Value) {
        guard let members = json[anyCase: "twoFactorProviders2"]?.object else { return nil }
        let named = members.compactMap { member in
            Int(member.name.string).map { (SecondFactorProvider(rawValue: $0), member.value) }
        }
        guard !named.isEmpty else { return nil }
        providers = named.map(\.0)
        email = named.first { $0.0 == .email }?.1[anyCase: "email"]?.string
    }
}

extension SecondFactorChallenge: JSON.Writable {
    public func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("error", "invalid_grant")
            object.add("error_description", "Two factor required.")
            object.add("TwoFactorProviders", providers.map { String($0.rawValue) })
            object.object("TwoFactorProviders2") { named in
                for provider in providers {
                    let name = String(provider.rawValue)
                    if provider == .email {
                        named.object(name) { $0.add("Email", email) }
                    } else {
                        named.add(name, String?.none)
                    }
                }
            }
            object.object("MasterPasswordPolicy") { $0.add("Object", "masterPasswordPolicy") }
        }
    }
}
