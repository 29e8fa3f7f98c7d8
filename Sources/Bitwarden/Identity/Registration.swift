public import JSON

/// Makes an account.
public struct Registration: Sendable, Hashable {
    public var email: String
    public var name: String?
    public var masterPasswordHash: String
    public var hint: String?
    public var settings: DerivationSettings
    /// The user key, wrapped with the stretched master key.
    public var wrappedUserKey: String
    public var keys: AccountKeys
    /// What the mail of the first step said, where there is a first step.
    public var verificationToken: String?

    public init(
        email: String,
        name: String? = nil,
        masterPasswordHash: String,
        settings: DerivationSettings,
        wrappedUserKey: String,
        keys: AccountKeys
    ) {
        self.email = email
        self.name = name
        self.masterPasswordHash = masterPasswordHash
        self.settings = settings
        self.wrappedUserKey = wrappedUserKey
        self.keys = keys
    }
}

extension Registration: JSON.Readable {
    /// Reads the old shape and the new one, which keeps what authenticates apart from what unlocks.
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        email = try json.read(anyCase: "email")
        name = try json.read(anyCase: "name")
        hint = try json.read(anyCase: "masterPasswordHint")
        verificationToken = try json.read(anyCase: "emailVerificationToken")
        keys = try Self.keys(in: json)
        guard
            let proof = json[anyCase: "masterPasswordAuthentication"], !proof.isNull,
            let unlock = json[anyCase: "masterPasswordUnlock"], !unlock.isNull
        else {
            masterPasswordHash = try json.read(anyCase: "masterPasswordHash")
            wrappedUserKey = try Self.wrappedUserKey(in: json)
            settings = try Self.settings(in: json)
            return
        }
        masterPasswordHash = try proof.read(anyCase: "masterPasswordAuthenticationHash")
        wrappedUserKey = try unlock.read(anyCase: "masterKeyWrappedUserKey")
        settings = try proof.read(anyCase: "kdf")
        try check(proof, unlock)
    }

    /// What authenticates and what unlocks must come from one derivation.
    private func check(_ proof: JSON.Value, _ unlock: JSON.Value) throws(JSON.Mismatch) {
        let other: DerivationSettings = try unlock.read(anyCase: "kdf")
        guard other == settings else {
            throw JSON.Mismatch("must be the same in both", at: ["masterPasswordUnlock", "kdf"])
        }
        for part in [proof, unlock] {
            let salt: String = try part.read(anyCase: "salt")
            guard salt == Self.plain(email) else {
                throw JSON.Mismatch("must be the email in lower case", at: ["salt"])
            }
        }
    }

    private static func plain(_ email: String) -> String {
        email.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func keys(in json: JSON.Value) throws(JSON.Mismatch) -> AccountKeys {
        guard let keys = json[anyCase: "keys"] ?? json[anyCase: "userAsymmetricKeys"] else {
            throw JSON.Mismatch("is missing", at: ["keys"])
        }
        return AccountKeys(
            publicKey: try keys.read(anyCase: "publicKey"),
            wrappedPrivateKey: try keys.read(anyCase: "encryptedPrivateKey")
        )
    }

    private static func wrappedUserKey(in json: JSON.Value) throws(JSON.Mismatch) -> String {
        if let key = try json.read(anyCase: "key", as: String?.self) { return key }
        return try json.read(anyCase: "userSymmetricKey")
    }

    private static func settings(in json: JSON.Value) throws(JSON.Mismatch) -> DerivationSettings {
        if json[anyCase: "kdf"] == nil { return try DerivationSettings(json: json) }
        return try DerivationSettings(flat: json)
    }
}

extension Registration: JSON.Writable {
    /// The old shape, which every server takes.
    public func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("email", email)
            object.add("name", name)
            object.add("masterPasswordHash", masterPasswordHash)
            object.add("masterPasswordHint", hint)
            object.add("userSymmetricKey", wrappedUserKey)
            object.object("userAsymmetricKeys") {
                $0.add("publicKey", keys.publicKey)
                $0.add("encryptedPrivateKey", keys.wrappedPrivateKey)
            }
            settings.writeFlat(to: &object, .camel)
            if let verificationToken { object.add("emailVerificationToken", verificationToken) }
        }
    }
}
