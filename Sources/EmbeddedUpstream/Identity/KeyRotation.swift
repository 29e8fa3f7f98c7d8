import Bitwarden
import HTTP
import JSON

/// A new user key, and everything wrapped anew under it, in one call.
struct KeyRotation: JSON.Readable {
    let oldHash: String
    let hash: String
    let wrappedUserKey: String
    /// The key's own id, where the client says it. Items are then held to it.
    let userKeyID: String?
    let publicKey: String
    let wrappedPrivateKey: String
    let ciphers: [JSON.Raw]
    let folders: [RenamedFolder]
    let sends: [RewrappedSend]

    struct RewrappedSend: JSON.Readable {
        let id: String
        let key: String

        init(json: JSON.Value) throws(JSON.Mismatch) {
            id = try json.read(anyCase: "id")
            key = try json.read(anyCase: "key")
        }
    }

    struct RenamedFolder: JSON.Readable {
        let id: String
        let name: String

        init(json: JSON.Value) throws(JSON.Mismatch) {
            id = try json.read(anyCase: "id")
            name = try json.read(anyCase: "name")
        }
    }

    init(json: JSON.Value) throws(JSON.Mismatch) {
        oldHash = try json.read(anyCase: "oldMasterKeyAuthenticationHash")
        guard
            let unlock = json[anyCase: "accountUnlockData"]?[anyCase: "masterPasswordUnlockData"],
            let keys = json[anyCase: "accountKeys"], let data = json[anyCase: "accountData"]
        else { throw JSON.Mismatch("must hold keys, unlock data and account data") }
        hash = try unlock.read(anyCase: "masterKeyAuthenticationHash")
        wrappedUserKey = try unlock.read(anyCase: "masterKeyEncryptedUserKey")
        userKeyID = try unlock.read(anyCase: "containedKeyId")
        publicKey = try keys.read(anyCase: "accountPublicKey")
        wrappedPrivateKey = try keys.read(anyCase: "userKeyEncryptedAccountPrivateKey")
        ciphers = try data.read(anyCase: "ciphers", as: [JSON.Raw].self).map(\.copy)
        folders = try data.read(anyCase: "folders")
        sends = try data.read(anyCase: "sends", as: [RewrappedSend]?.self) ?? []
    }
}

extension Routes {
    mutating func addKeyRotation() {
        let path = "/api/accounts/key-management/rotate-user-account-keys"
        on(.post, path, .rotateKeys) { call, world throws(Refusal) in
            try world.rotate(try call.read(), call)
            return Reply()
        }
    }
}

extension World {
    /// All personal items must be in it, or nothing is done: what is left out would be lost.
    fileprivate mutating func rotate(_ wish: KeyRotation, _ call: Call) throws(Refusal) {
        guard let account = accounts[call.userID] else { throw .unauthorized }
        guard account.passwordHash == wish.oldHash else { throw .wrongPassword }
        var rewrapped: [String: StoredCipher] = [:]
        for raw in wish.ciphers {
            guard let json = (try? JSON.Document(raw))?.root,
                let id = json[anyCase: "id"]?.string, var cipher = account.ciphers[id]
            else { throw .badShape("an item is not the account's own") }
            cipher.content = try Content(json, type: cipher.type, personality)
            rewrapFiles(json, &cipher)
            rewrapped[id] = cipher
        }
        guard Set(rewrapped.keys) == Set(account.ciphers.keys),
            Set(wish.folders.map(\.id)) == Set(account.folders.keys),
            Set(wish.sends.map(\.id)) == Set(account.sends.keys)
        else { throw .badShape("an item, a folder or a send is missing") }
        for (id, cipher) in rewrapped.sorted(by: { $0.key < $1.key }) {
            var cipher = cipher
            cipher.revised = stamp(call)
            accounts[call.userID]?.ciphers[id] = cipher
            changes.insert(.cipher(owner: call.userID, id))
        }
        for send in wish.sends {
            let now = stamp(call)
            accounts[call.userID]?.sends[send.id]?.wear(send.key)
            accounts[call.userID]?.sends[send.id]?.revised = now
        }
        for folder in wish.folders {
            accounts[call.userID]?.folders[folder.id]?.name = folder.name
        }
        take(wish, call)
    }

    private mutating func take(_ wish: KeyRotation, _ call: Call) {
        accounts[call.userID]?.passwordHash = wish.hash
        accounts[call.userID]?.wrappedUserKey = wish.wrappedUserKey
        accounts[call.userID]?.userKeyID = wish.userKeyID
        accounts[call.userID]?.keys = AccountKeys(
            publicKey: wish.publicKey,
            wrappedPrivateKey: wish.wrappedPrivateKey
        )
        renewStamp(call)
    }
}

extension StoredSend {
    /// The same under a new key of its account.
    fileprivate mutating func wear(_ wrapped: String) {
        guard let document = try? JSON.Document(body) else { return }
        let spelling = document.root["key"] == nil ? "Key" : "key"
        var edit = JSON.Edit(document)
        guard (try? edit.set([.member(spelling)], to: JSON.Raw(wrapped))) != nil,
            let worn = try? JSON.Raw(edit.bytes)
        else { return }
        body = worn
    }
}
