import Bitwarden
import Crypto
import JSON
import Sync
import Vault

/// What the host remembers of an account: where it is, what opens it together with the master
/// password, and the tokens, sealed.
struct AccountRecord: Sendable {
    var id: String
    var email: String
    /// As it was given.
    var server: String
    /// What the master password opens, as upstream said it last.
    var unlock: MasterPasswordUnlock?
    /// What it opened before, the latest first: what is pending may be sealed with that.
    var formerKeys: [String] = []
    var wrappedPrivateKey: String?
    var hasSecurityState = false
    /// Whoever has another one than upstream has to sign in again.
    var securityStamp: String?
    var isPremium = false
    var isDefault = false
    /// Grows with every account that comes; they are shown in this order.
    var number = 0
    /// Upstream does not take the tokens any more, and the user has to sign in again.
    var isSignedOut = false
    var sealedTokens: String?
    /// Stands for the second factor, where the user has given one before.
    var sealedSecondFactor: String?
}

extension AccountRecord {
    /// The key that the master password opens may be another from now on.
    mutating func take(_ unlock: MasterPasswordUnlock) {
        if let former = self.unlock?.wrappedUserKey, former != unlock.wrappedUserKey {
            formerKeys = Array(([former] + formerKeys).prefix(Self.formerKeysKept))
        }
        self.unlock = unlock
    }

    private static let formerKeysKept = 4

    init(_ stored: StoredAccount) throws(JSON.Mismatch) {
        let document: JSON.Document
        do throws(JSON.Failure) {
            document = try JSON.Document(stored.record)
        } catch {
            throw JSON.Mismatch("\(error)")
        }
        try self.init(json: document.root)
    }

    var stored: StoredAccount {
        StoredAccount(id: id, record: Array(JSON.Raw(self, capacity: 2_048).bytes))
    }
}

extension AccountRecord: JSON.Readable, JSON.Writable {
    init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read("id")
        email = try json.read("email")
        server = try json.read("server")
        unlock = try json.read("unlock")
        formerKeys = try json.read("formerKeys", as: [String]?.self) ?? []
        wrappedPrivateKey = try json.read("privateKey")
        hasSecurityState = try json.read("hasSecurityState")
        securityStamp = try json.read("securityStamp")
        isPremium = try json.read("isPremium")
        isDefault = try json.read("isDefault")
        number = try json.read("number")
        isSignedOut = try json.read("isSignedOut")
        sealedTokens = try json.read("tokens")
        sealedSecondFactor = try json.read("secondFactor")
    }

    func write(to json: inout JSON.Writer) {
        json.object { record in
            record.add("id", id)
            record.add("email", email)
            record.add("server", server)
            if let unlock {
                record.object("unlock") {
                    $0.object("kdf") { unlock.settings.write(to: &$0, .camel) }
                    $0.add("masterKeyEncryptedUserKey", unlock.wrappedUserKey)
                    $0.add("salt", unlock.salt)
                }
            }
            record.add("formerKeys", formerKeys)
            record.add("privateKey", wrappedPrivateKey)
            record.add("hasSecurityState", hasSecurityState)
            record.add("securityStamp", securityStamp)
            record.add("isPremium", isPremium)
            record.add("isDefault", isDefault)
            record.add("number", number)
            record.add("isSignedOut", isSignedOut)
            record.add("tokens", sealedTokens)
            record.add("secondFactor", sealedSecondFactor)
        }
    }
}

// MARK: - Tokens

extension HostKey {
    func seal(_ tokens: Tokens) throws(CryptoError) -> String {
        let raw = JSON.Raw.object { json in
            json.add("userId", tokens.userID)
            json.add("access", tokens.access)
            json.add("expires", Int(tokens.expires.ticks))
            switch tokens.renewal {
            case .refresh(let token, let clientID):
                json.add("refresh", token)
                json.add("clientId", clientID)
            case .apiKey(let clientID, let secret, let device):
                json.add("secret", secret)
                json.add("clientId", clientID)
                json.object("device") {
                    $0.add("type", device.type)
                    $0.add("identifier", device.identifier)
                    $0.add("name", device.name)
                }
            case .none: break
            }
        }
        return try sealer.seal(String(decoding: raw.bytes, as: UTF8.self))
    }

    /// Nil if they cannot be read; signing in again brings others.
    func openTokens(_ sealed: String) -> Tokens? {
        guard let text = try? sealer.open(sealed),
            let json = try? JSON.Document(Array(text.utf8)).root
        else { return nil }
        return try? Tokens(json: json)
    }
}

extension Tokens {
    fileprivate init(json: JSON.Value) throws(JSON.Mismatch) {
        let clientID = try json.read("clientId", as: String?.self) ?? ""
        let renewal: Renewal
        if let token = try json.read("refresh", as: String?.self) {
            renewal = .refresh(token: token, clientID: clientID)
        } else if let secret = try json.read("secret", as: String?.self),
            let device = json["device"]
        {
            renewal = .apiKey(
                clientID: clientID,
                secret: secret,
                device: Device(
                    type: try device.read("type"),
                    identifier: try device.read("identifier"),
                    name: try device.read("name")
                )
            )
        } else {
            renewal = .none
        }
        self.init(
            userID: try json.read("userId"),
            access: try json.read("access"),
            expires: Moment(ticks: Int64(try json.read("expires", as: Int.self))),
            renewal: renewal
        )
    }
}
