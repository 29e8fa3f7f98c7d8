import Bitwarden
import Crypto
import HTTP
import JSON

extension Routes {
    /// What concerns the account itself: its password and keys, and what they end.
    mutating func addAccount() {
        on(.post, "/api/accounts/verify-password", .verifyPassword) { call, world throws(Refusal) in
            try world.checkPassword(call)
            return world.personality.repeatsWrappedKey
                ? Reply(json: .object { $0.add("object", "masterPasswordPolicy") }) : Reply()
        }
        for (path, renews) in [("api-key", false), ("rotate-api-key", true)] {
            on(.post, "/api/accounts/" + path, .apiKey) { call, world throws(Refusal) in
                try world.checkPassword(call)
                if renews {
                    world.accounts[call.userID]?.apiKey = call.newSecret(count: 30)
                    world.changes.insert(.account(call.userID))
                }
                let account = world.accounts[call.userID]
                return Reply(
                    json: .object {
                        $0.add("apiKey", account?.apiKey)
                        $0.add("revisionDate", world.personality.stamp(account?.revised))
                        $0.add("object", "apiKey")
                    }
                )
            }
        }
        on(.post, "/api/accounts/security-stamp", .securityStamp) { call, world throws(Refusal) in
            try world.checkPassword(call)
            world.renewStamp(call)
            return Reply()
        }
        for (path, operation) in [("password", Operation.changePassword), ("kdf", .changeKDF)] {
            on(.post, "/api/accounts/" + path, operation) { call, world throws(Refusal) in
                try world.checkPassword(call)
                let wish: NewPassword = try call.read()
                world.accounts[call.userID]?.passwordHash = wish.hash
                world.accounts[call.userID]?.wrappedUserKey = wish.key
                if let settings = wish.settings {
                    world.accounts[call.userID]?.settings = settings
                }
                if operation == .changeKDF, world.sparesSessions {
                    world.tellOfDerivation(call)
                } else {
                    world.renewStamp(call)
                }
                return Reply()
            }
        }
        for (method, path) in [(Method.delete, ""), (.post, "/delete")] {
            on(method, "/api/accounts" + path, .deleteAccount) { call, world throws(Refusal) in
                try world.checkPassword(call)
                world.deleteAccount(call)
                return Reply()
            }
        }
        on(.get, "/api/users/{id}/public-key", .publicKey) { call, world throws(Refusal) in
            guard let account = world.accounts[try call.id()] else { throw .missingUser }
            return Reply(
                json: .object {
                    $0.add("userId", account.id)
                    $0.add("publicKey", account.keys.publicKey)
                    $0.add("object", "userKey")
                }
            )
        }
        addDevices()
    }

    private mutating func addDevices() {
        on(.get, "/api/devices", .devices) { call, world throws(Refusal) in
            let devices = world.accounts[call.userID]?.devices.values ?? [:].values
            return .list { list in
                for device in devices.sorted(by: { $0.identifier < $1.identifier }) {
                    list.object { device.write(to: &$0, world.personality) }
                }
            }
        }
        open(.get, "/api/devices/knowndevice", .devices) { call, world throws(Refusal) in
            let email = call.headers["X-Request-Email"].flatMap {
                try? Base64.bytes(ofURLText: $0)
            }
            guard let email, let device = call.headers["X-Device-Identifier"] else {
                throw .badShape("two headers are wanted")
            }
            let id = world.idsByEmail[Account.plain(String(decoding: email, as: UTF8.self))]
            let isKnown = id.flatMap { world.accounts[$0]?.devices[device] } != nil
            return Reply(json: JSON.Raw(isKnown))
        }
        for method in [Method.put, .post] {
            on(method, "/api/devices/identifier/{id}/token", .devices) {
                call,
                world throws(Refusal) in Reply()
            }
        }
    }
}

extension World {
    /// Everybody has to log in again: refresh tokens end at once, access tokens where the server
    /// looks at the stamp.
    mutating func renewStamp(_ call: Call) {
        guard let account = accounts[call.userID] else { return }
        accounts[call.userID]?.securityStamp = call.newID()
        for device in account.devices.values {
            renewals[device.refreshToken] = nil
            accounts[call.userID]?.devices[device.identifier]?.refreshToken =
                call.newSecret(count: 64)
            accounts[call.userID]?.devices[device.identifier]?.rememberToken = nil
        }
        touch(call.userID, call)
        announce(
            .loggedOut,
            to: call.userID,
            date: lastStamp,
            call,
            sparing: call.session?.deviceID
        )
    }
}

extension World {
    /// Whether a change of the derivation leaves everybody logged in. One of the servers can be told to.
    fileprivate var sparesSessions: Bool {
        personality.hub.tellsReasons
            && featureStates["pm-23995-no-logout-on-kdf-change"]?.bool == true
    }

    /// Whoever knows the reason need not log out, and hears that there are new settings.
    fileprivate mutating func tellOfDerivation(_ call: Call) {
        touch(call.userID, call)
        announce(.loggedOut, to: call.userID, date: nil, call, reason: .derivationChanged)
        announce(.settingsChanged, to: call.userID, date: nil, call, namesActor: false)
    }

    /// Everything that is the account's own goes with it.
    fileprivate mutating func deleteAccount(_ call: Call) {
        guard let account = accounts.removeValue(forKey: call.userID) else { return }
        idsByEmail[Account.plain(account.email)] = nil
        for device in account.devices.values { renewals[device.refreshToken] = nil }
        for cipher in account.ciphers.values {
            changes.insert(.cipher(owner: call.userID, cipher.id))
            for file in cipher.files {
                files[cipher.id + "/" + file.id] = nil
                changes.insert(.file(cipher.id + "/" + file.id))
            }
        }
        for id in account.organizationIDs {
            organizations[id]?.members[call.userID] = nil
            changes.insert(.organization(id))
        }
        changes.insert(.account(call.userID))
        if personality.hub.tellsReasons {
            announce(.loggedOut, to: call.userID, date: nil, call, namesActor: false)
        }
    }
}

private struct NewPassword: JSON.Readable {
    let hash: String
    let key: String
    let settings: DerivationSettings?

    init(json: JSON.Value) throws(JSON.Mismatch) {
        hash = try json.read(anyCase: "newMasterPasswordHash")
        key = try json.read(anyCase: "key")
        settings = json[anyCase: "kdf"] == nil ? nil : try DerivationSettings(flat: json)
    }
}

extension StoredDevice {
    fileprivate func write(to object: inout JSON.ObjectWriter, _ personality: Personality) {
        object.add("id", identifier)
        object.add("identifier", identifier)
        object.add("name", name)
        object.add("type", type)
        object.add("creationDate", personality.stamp(created))
        object.add("isTrusted", false)
        object.add("encryptedUserKey", String?.none)
        object.add("encryptedPublicKey", String?.none)
        object.add("devicePendingAuthRequest", String?.none)
        object.add("object", "device")
    }
}
