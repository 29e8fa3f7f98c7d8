internal import Crypto
public import JSON

/// The key pair of an account. The private half is wrapped with the user key.
public struct AccountKeys: Sendable, Hashable {
    /// SPKI in base64.
    public let publicKey: String
    public let wrappedPrivateKey: String
    /// Whether the account is of version 2, whose keys are COSE and whose items may be blobs.
    public let hasSecurityState: Bool

    public init(publicKey: String, wrappedPrivateKey: String, hasSecurityState: Bool = false) {
        self.publicKey = publicKey
        self.wrappedPrivateKey = wrappedPrivateKey
        self.hasSecurityState = hasSecurityState
    }
}

extension AccountKeys: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let pair = json[anyCase: "publicKeyEncryptionKeyPair"] else {
            throw JSON.Mismatch("is missing", at: ["publicKeyEncryptionKeyPair"])
        }
        publicKey = try pair.read(anyCase: "publicKey")
        wrappedPrivateKey = try pair.read(anyCase: "wrappedPrivateKey")
        let state = json[anyCase: "securityState"] ?? json[anyCase: "signatureKeyPair"]
        hasSecurityState = state.map { !$0.isNull } ?? false
    }
}

extension AccountKeys {
    /// The inner names are spelled alike everywhere; only `object` is not.
    public func write(to object: inout JSON.ObjectWriter, _ spelling: Spelling) {
        object.object("publicKeyEncryptionKeyPair") { pair in
            pair.add("wrappedPrivateKey", wrappedPrivateKey)
            pair.add("publicKey", publicKey)
            pair.add("signedPublicKey", String?.none)
            pair.add(spelling("object"), "publicKeyEncryptionKeyPair")
        }
        object.add("signatureKeyPair", String?.none)
        object.add("securityState", String?.none)
        object.add(spelling("object"), "privateKeys")
    }
}

/// The public key of a user, whoever asks.
public struct PublicKeyAnswer: JSON.Readable, Sendable {
    /// SPKI.
    public let publicKey: [UInt8]

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        let text: String = try json.read(anyCase: "publicKey")
        guard let bytes = try? Base64.bytes(of: text) else {
            throw JSON.Mismatch("is no base64", at: ["publicKey"])
        }
        publicKey = bytes
    }
}

/// What a master password opens: the wrapped user key, and how the key that opens it is derived.
///
/// All of it comes from one object of the answer, for a key that was wrapped before a change of the
/// settings is not opened after it.
public struct MasterPasswordUnlock: Sendable, Hashable {
    public let settings: DerivationSettings
    public let salt: String?
    public let wrappedUserKey: String

    public init(settings: DerivationSettings, salt: String?, wrappedUserKey: String) {
        self.settings = settings
        self.salt = salt
        self.wrappedUserKey = wrappedUserKey
    }
}

extension MasterPasswordUnlock: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        settings = try json.read(anyCase: "kdf")
        salt = try json.read(anyCase: "salt")
        if let key = try json.read(anyCase: "masterKeyEncryptedUserKey", as: String?.self) {
            wrappedUserKey = key
        } else {
            wrappedUserKey = try json.read(anyCase: "masterKeyWrappedUserKey")
        }
    }

    /// - Parameter isRepeated: Whether the key stands there a second time under the name that it has
    ///   in requests, as one of the servers does it.
    public func write(
        to object: inout JSON.ObjectWriter,
        _ spelling: Spelling,
        isRepeated: Bool
    ) {
        object.object(spelling("kdf")) { settings.write(to: &$0, spelling) }
        object.add(spelling("masterKeyEncryptedUserKey"), wrappedUserKey)
        if isRepeated { object.add(spelling("masterKeyWrappedUserKey"), wrappedUserKey) }
        object.add(spelling("salt"), salt)
    }
}
