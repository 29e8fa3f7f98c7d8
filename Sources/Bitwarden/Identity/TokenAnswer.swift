public import JSON

/// A token, and after a log-in all that is needed to open the vault with the master password.
public struct TokenAnswer: Sendable, Hashable {
    public var accessToken: String
    public var secondsLeft: Int
    /// Not there with an API key. Saved whenever it comes, for it may have changed.
    public var refreshToken: String?
    public var scope: String?
    /// Stands for the second factor from now on, if that was asked for.
    public var secondFactorToken: String?
    public var login: Login?

    /// What the answer to a log-in says beyond the tokens.
    public struct Login: Sendable, Hashable {
        public var unlock: MasterPasswordUnlock?
        public var wrappedPrivateKey: String?
        public var keys: AccountKeys?
        public var mustChangePassword: Bool

        public init(
            unlock: MasterPasswordUnlock?,
            wrappedPrivateKey: String?,
            keys: AccountKeys?,
            mustChangePassword: Bool = false
        ) {
            self.unlock = unlock
            self.wrappedPrivateKey = wrappedPrivateKey
            self.keys = keys
            self.mustChangePassword = mustChangePassword
        }
    }

    public init(accessToken: String, secondsLeft: Int, refreshToken: String?, scope: String?) {
        self.accessToken = accessToken
        self.secondsLeft = secondsLeft
        self.refreshToken = refreshToken
        self.scope = scope
    }
}

extension TokenAnswer: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        accessToken = try json.read(anyCase: "access_token")
        secondsLeft = try json.read(anyCase: "expires_in")
        refreshToken = try json.read(anyCase: "refresh_token")
        scope = try json.read(anyCase: "scope")
        secondFactorToken = try json.read(anyCase: "twoFactorToken")
        login = json[anyCase: "kdf"] == nil ? nil : try Login(json: json)
    }
}

extension TokenAnswer.Login: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        let options: JSON.Value? = json[anyCase: "userDecryptionOptions"]
        if let unlock = options?[anyCase: "masterPasswordUnlock"], !unlock.isNull {
            self.unlock = try MasterPasswordUnlock(json: unlock)
        } else if let key: String = try json.read(anyCase: "key", as: String?.self) {
            let settings = try DerivationSettings(flat: json)
            unlock = MasterPasswordUnlock(settings: settings, salt: nil, wrappedUserKey: key)
        } else {
            unlock = nil
        }
        wrappedPrivateKey = try json.read(anyCase: "privateKey")
        keys = try json.read(anyCase: "accountKeys")
        mustChangePassword = try json.read(anyCase: "forcePasswordReset", as: Bool?.self) ?? false
    }
}

extension TokenAnswer {
    /// - Parameter isRepeated: See ``MasterPasswordUnlock/write(to:_:isRepeated:)``.
    public func write(to json: inout JSON.Writer, isRepeated: Bool) {
        json.object { object in
            object.add("access_token", accessToken)
            object.add("expires_in", secondsLeft)
            object.add("token_type", "Bearer")
            if let refreshToken { object.add("refresh_token", refreshToken) }
            object.add("scope", scope)
            if login != nil, refreshToken != nil {
                object.object("MasterPasswordPolicy") { $0.add("Object", "masterPasswordPolicy") }
            }
            login?.write(to: &object, isRepeated: isRepeated)
            if let secondFactorToken { object.add("TwoFactorToken", secondFactorToken) }
        }
    }
}

extension TokenAnswer.Login {
    fileprivate func write(to object: inout JSON.ObjectWriter, isRepeated: Bool) {
        object.add("Key", unlock?.wrappedUserKey)
        object.add("PrivateKey", wrappedPrivateKey)
        unlock?.settings.writeFlat(to: &object, .pascal)
        object.add("ResetMasterPassword", false)
        object.add("ForcePasswordReset", mustChangePassword)
        if let keys { object.object("AccountKeys") { keys.write(to: &$0, .pascal) } }
        object.object("UserDecryptionOptions") { options in
            options.add("HasMasterPassword", unlock != nil)
            if let unlock {
                options.object("MasterPasswordUnlock") {
                    unlock.write(to: &$0, .pascal, isRepeated: isRepeated)
                }
            }
            options.add("Object", "userDecryptionOptions")
        }
    }
}

/// Says that there are tokens and not which.
extension TokenAnswer: CustomStringConvertible, CustomReflectable {
    public var description: String { "a token for \(secondsLeft) s" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
