internal import Crypto

/// Asks for an access token.
public struct TokenRequest: Sendable, Equatable {
    public enum Grant: Sendable, Equatable {
        case password(PasswordGrant)
        /// The account's API key: no second factor is asked for, and no refresh token given.
        case apiKey(clientID: String, secret: String)
        /// With the `client_id` that the old access token names.
        case refresh(token: String, clientID: String)
    }

    public let grant: Grant
    /// Not said when a token is refreshed.
    public let device: Device?

    public init(_ grant: Grant, device: Device?) {
        self.grant = grant
        self.device = device
    }

    public var form: Form {
        var form = Form()
        switch grant {
        case .password(let grant): grant.write(to: &form)
        case .apiKey(let clientID, let secret):
            form.add("grant_type", "client_credentials")
            form.add("client_id", clientID)
            form.add("client_secret", secret)
            form.add("scope", "api")
        case .refresh(let token, let clientID):
            form.add("grant_type", "refresh_token")
            form.add("refresh_token", token)
            form.add("client_id", clientID)
        }
        device?.write(to: &form)
        return form
    }

    /// The email of a password grant once more, for the head of the request: without it Bitwarden before 2025.6 lets
    /// nobody in.
    public var authEmail: String? {
        guard case .password(let grant) = grant else { return nil }
        return Base64.urlText(of: Array(grant.email.utf8))
    }
}

/// An email and the hash of a master password, with what was asked for beyond them.
public struct PasswordGrant: Sendable, Equatable {
    public var email: String
    public var masterPasswordHash: String
    public var clientID = "cli"
    public var secondFactor: SecondFactor?
    /// The code that was mailed because the device is new.
    public var newDeviceCode: String?

    public init(email: String, masterPasswordHash: String) {
        self.email = email
        self.masterPasswordHash = masterPasswordHash
    }

    /// One of the servers compares the scope as text, so its words have this order and no other.
    fileprivate func write(to form: inout Form) {
        form.add("grant_type", "password")
        form.add("username", email)
        form.add("password", masterPasswordHash)
        form.add("scope", "api offline_access")
        form.add("client_id", clientID)
        form.add("twoFactorToken", secondFactor?.token)
        form.add("twoFactorProvider", secondFactor.map { String($0.provider.rawValue) })
        // The one spelling that both servers understand.
        form.add("twoFactorRemember", secondFactor.map { $0.isRemembered ? "1" : "0" })
        form.add("newDeviceOtp", newDeviceCode)
    }
}

public struct SecondFactor: Sendable, Equatable {
    public let provider: SecondFactorProvider
    public let token: String
    /// Whether the answer should hold a token that stands for the second factor from now on.
    public let isRemembered: Bool

    public init(_ provider: SecondFactorProvider, token: String, isRemembered: Bool) {
        self.provider = provider
        self.token = token
        self.isRemembered = isRemembered
    }
}

/// What can be asked for beyond the master password.
public struct SecondFactorProvider: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let authenticator = Self(rawValue: 0)
    public static let email = Self(rawValue: 1)
    /// The token that an earlier answer gave.
    public static let remembered = Self(rawValue: 5)
}

/// The installation that logs in.
public struct Device: Sendable, Hashable {
    /// 8 is a desktop on Linux, 25 a command line there.
    public let type: Int
    /// A UUID that the installation has made once and keeps.
    public let identifier: String
    public let name: String

    public init(type: Int, identifier: String, name: String) {
        self.type = type
        self.identifier = identifier
        self.name = name
    }

    fileprivate func write(to form: inout Form) {
        form.add("deviceType", String(type))
        form.add("deviceIdentifier", identifier)
        form.add("deviceName", name)
    }
}
