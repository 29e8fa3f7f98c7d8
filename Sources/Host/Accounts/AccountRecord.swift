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
    /// What it opened before, and how, the latest first: what is pending may be sealed with that.
    var formerUnlocks: [MasterPasswordUnlock] = []
    var wrappedPrivateKey: String?
    var hasSecurityState = false
    /// Whether upstream throws away the keys that items have of their own, as it was at the last sign-in.
    var dropsItemKeys = false
    /// Whoever has another one than upstream has to sign in again.
    var securityStamp: String?
    var isPremium = false
    /// Set when the account is chosen to be the default. The largest of all accounts' counts, so that one
    /// commit makes another the default.
    var choice = 0
    /// Grows with every account that comes; they are shown in this order.
    var number = 0
    /// Nobody has heard yet that it is there, because not all of it has been fetched.
    var isNewcomer = false
    /// Upstream does not take the tokens any more, and the user has to sign in again.
    var isSignedOut = false
    var sealedTokens: String?
    /// Stands for the second factor, where the user has given one before.
    var sealedSecondFactor: String?
}

extension AccountRecord {
    /// The key that the master password opens may be another from now on.
    mutating func take(_ unlock: MasterPasswordUnlock) {
        formerUnlocks = Array(unlocks(before: unlock).prefix(Self.formerUnlocksKept))
        self.unlock = unlock
    }

    /// Those that would be former ones beside that.
    func unlocks(before next: MasterPasswordUnlock) -> [MasterPasswordUnlock] {
        let present = unlock.map { unlock in
            MasterPasswordUnlock(
                settings: unlock.settings,
                salt: KeyDerivation.salt(server: unlock.salt, email: email),
                wrappedUserKey: unlock.wrappedUserKey
            )
        }
        return ([present].compactMap(\.self) + formerUnlocks)
            .filter { $0.wrappedUserKey != next.wrappedUserKey }
    }

    /// They open what the present one opens.
    mutating func forget(_ former: [MasterPasswordUnlock]) {
        formerUnlocks.removeAll(where: former.contains)
    }

    /// Whether the profile shows the keys and the password that are known here. Others bring another security stamp;
    /// where none can be compared, other keys still show in the private one, which is wrapped anew.
    func recognises(_ profile: Profile) -> Bool {
        guard profile.id == id else { return true }
        if let known = securityStamp, let stamp = profile.securityStamp, !known.isEmpty,
            !stamp.isEmpty
        {
            return stamp == known
        }
        guard let known = wrappedPrivateKey, let key = profile.wrappedPrivateKey else {
            return true
        }
        return key == known
    }

    private static let formerUnlocksKept = 4

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
        formerUnlocks = try json.read("formerUnlocks", as: [MasterPasswordUnlock]?.self) ?? []
        // As records were before: under the settings of today.
        for key in try json.read("formerKeys", as: [String]?.self) ?? [] {
            guard let unlock else { break }
            formerUnlocks.append(
                MasterPasswordUnlock(
                    settings: unlock.settings,
                    salt: unlock.salt,
                    wrappedUserKey: key
                )
            )
        }
        wrappedPrivateKey = try json.read("privateKey")
        hasSecurityState = try json.read("hasSecurityState")
        dropsItemKeys = try json.read("dropsItemKeys", as: Bool?.self) ?? false
        securityStamp = try json.read("securityStamp")
        isPremium = try json.read("isPremium")
        let isDefault: Bool = try json.read("isDefault")
        choice = try json.read("choice", as: Int?.self) ?? (isDefault ? 1 : 0)
        number = try json.read("number")
        isNewcomer = try json.read("isNewcomer", as: Bool?.self) ?? false
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
                record.object("unlock") { unlock.write(to: &$0) }
            }
            record.array("formerUnlocks") { list in
                for former in formerUnlocks { list.object { former.write(to: &$0) } }
            }
            record.add("privateKey", wrappedPrivateKey)
            record.add("hasSecurityState", hasSecurityState)
            record.add("dropsItemKeys", dropsItemKeys)
            record.add("securityStamp", securityStamp)
            record.add("isPremium", isPremium)
            record.add("isDefault", choice > 0)
            record.add("choice", choice)
            record.add("number", number)
            record.add("isNewcomer", isNewcomer)
            record.add("isSignedOut", isSignedOut)
            record.add("tokens", sealedTokens)
            record.add("secondFactor", sealedSecondFactor)
        }
    }
}

extension MasterPasswordUnlock {
    fileprivate func write(to json: inout JSON.ObjectWriter) {
        json.object("kdf") { settings.write(to: &$0, .camel) }
        json.add("masterKeyEncryptedUserKey", wrappedUserKey)
        json.add("salt", salt)
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
