import Bitwarden
import JSON
import Vault

/// All that the server keeps of one user.
struct Account: Sendable {
    let id: String
    let email: String
    var name: String?
    var passwordHash: String
    var settings: DerivationSettings
    var wrappedUserKey: String
    /// The id of the user key, if a client has ever told it.
    var userKeyID: String?
    var keys: AccountKeys
    var securityStamp: String
    var apiKey: String
    let created: Moment
    /// When anything last changed that concerns the user.
    var revised: Moment

    var ciphers: [String: StoredCipher] = [:]
    var placements: [String: Placement] = [:]
    var folders: [String: StoredFolder] = [:]
    var sends: [String: StoredSend] = [:]
    /// By their identifiers.
    var devices: [String: StoredDevice] = [:]
    /// The organisations in which the user is a member.
    var organizationIDs: Set<String> = []

    /// The secret of the authenticator, once it is in use.
    var authenticatorKey: String?
    /// The last interval of the authenticator that was used up.
    var usedInterval: Int64 = 0
    /// The code that was mailed to a new device.
    var mailedCode: String?

    init(_ registration: Registration, id: String, stamp: String, apiKey: String, at now: Moment) {
        self.id = id
        email = Self.plain(registration.email)
        name = registration.name
        passwordHash = registration.masterPasswordHash
        settings = registration.settings
        wrappedUserKey = registration.wrappedUserKey
        keys = registration.keys
        securityStamp = stamp
        self.apiKey = apiKey
        created = now
        revised = now
    }

    /// Addresses are compared without regard to case.
    static func plain(_ email: String) -> String {
        String(
            email.lowercased().drop(while: \.isWhitespace).reversed()
                .drop(while: \.isWhitespace).reversed()
        )
    }

    var unlock: MasterPasswordUnlock {
        MasterPasswordUnlock(settings: settings, salt: email, wrappedUserKey: wrappedUserKey)
    }

    var shownName: String { name ?? String(email.prefix { $0 != "@" }) }
}

struct StoredFolder: Sendable, Hashable {
    let id: String
    var name: String
    var revised: Moment
}

struct StoredDevice: Sendable, Hashable {
    let identifier: String
    let type: Int
    let name: String
    let created: Moment
    /// What renews its access token.
    var refreshToken: String
    var clientID: String
    /// Stands for the second factor on this device.
    var rememberToken: String?
    /// The access token that it was given last.
    var access: Access?

    struct Access: Sendable, Hashable {
        let token: String
        let stamp: String
        let expires: Moment
    }
}

/// A text that is sent to strangers. It is kept as it came, with what only the server knows.
struct StoredSend: Sendable, Hashable {
    let id: String
    var body: JSON.Raw
    var revised: Moment
    var accesses = 0
}

/// An organisation, its collections and its items.
struct Organization: Sendable {
    struct Member: Sendable, Hashable {
        let id: String
        /// The organisation's key, wrapped with the member's public one.
        var key: String
        /// 0 owner, 1 admin, 2 user.
        var type: Int
        var status: Int
        var isReadOnly = false
        var hidesPasswords = false
    }

    let id: String
    var name: String
    var billingEmail: String
    var publicKey: String?
    var wrappedPrivateKey: String?
    let created: Moment
    var collections: [String: String] = [:]
    var ciphers: [String: StoredCipher] = [:]
    /// By their users' ids.
    var members: [String: Member] = [:]

    func access(of userID: String) -> Access? {
        guard let member = members[userID], member.status == Membership.confirmed else {
            return nil
        }
        return Access(mayEdit: !member.isReadOnly, showsPasswords: !member.hidesPasswords)
    }
}
