import Bitwarden
import HTTP
import JSON
import Vault

extension Routes {
    /// Enough of organisations to read shared items, edit them, and share one.
    mutating func addOrganizations() {
        on(.post, "/api/organizations", .organizations) { call, world throws(Refusal) in
            let wish: OrganizationRequest = try call.read()
            let organization = world.found(wish, call)
            return Reply(json: .object { organization.write(to: &$0) })
        }
        on(.get, "/api/organizations/{id}", .organizations) { call, world throws(Refusal) in
            let organization = try world.organization(try call.id(), of: call.userID)
            return Reply(json: .object { organization.write(to: &$0) })
        }
        on(.get, "/api/collections", .organizations) { call, world throws(Refusal) in
            let collections = world.collections(of: call.userID)
            return .list { list in for collection in collections { list.add(collection) } }
        }
        on(.post, "/api/ciphers/create", .createCipher) { call, world throws(Refusal) in
            let wish: SharedCipherRequest = try call.read()
            let json = try wish.document().root
            let organizationID = json[anyCase: "organizationId"]?.string
            if let organizationID {
                guard !wish.collectionIDs.isEmpty else { throw .noCollection }
                try world.checkWritable(organizationID, wish.collectionIDs, call)
            }
            let ids = organizationID == nil ? [] : wish.collectionIDs
            let cipher = try world.createCipher(json, in: organizationID, ids, call)
            world.tell(.cipherCreated, cipher, call)
            return world.reply(cipher, call)
        }
        on(.put, "/api/ciphers/{id}/share", .shareCipher) { call, world throws(Refusal) in
            let cipher = try world.share(try call.id(), try call.read(), call)
            world.tell(.cipherUpdated, cipher, call)
            return world.reply(cipher, call)
        }
        for (path, isNewForm) in [("collections_v2", true), ("collections", false)] {
            on(.put, "/api/ciphers/{id}/" + path, .shareCipher) { call, world throws(Refusal) in
                let wish: CollectionsRequest = try call.read()
                var cipher = try world.find(try call.id(), for: call.userID, to: .edit)
                guard let id = cipher.organizationID else { throw .organizationMismatch }
                try world.checkWritable(id, wish.ids, call)
                cipher.collectionIDs = wish.ids
                world.put(cipher, of: call.userID)
                world.tell(.cipherUpdated, cipher, call, date: world.stamp(call))
                let rendered = world.render(
                    cipher,
                    for: call.userID,
                    .details,
                    origin: call.origin
                )
                guard isNewForm else { return Reply(json: rendered) }
                return Reply(
                    json: .object(capacity: 4_096) {
                        $0.add("object", "optionalCipherDetails")
                        $0.add("unavailable", false)
                        $0.add("cipher", rendered)
                    }
                )
            }
        }
    }
}

private struct CollectionsRequest: JSON.Readable {
    let ids: [String]

    init(json: JSON.Value) throws(JSON.Mismatch) {
        ids = try json.read(anyCase: "collectionIds")
    }
}

private struct OrganizationRequest: JSON.Readable {
    let name: String
    let billingEmail: String?
    let key: String
    let collectionName: String?
    let publicKey: String?
    let wrappedPrivateKey: String?

    init(json: JSON.Value) throws(JSON.Mismatch) {
        name = try json.read(anyCase: "name")
        billingEmail = try json.read(anyCase: "billingEmail")
        key = try json.read(anyCase: "key")
        collectionName = try json.read(anyCase: "collectionName")
        publicKey = json[anyCase: "keys"]?[anyCase: "publicKey"]?.string
        wrappedPrivateKey = json[anyCase: "keys"]?[anyCase: "encryptedPrivateKey"]?.string
    }
}

extension SharedCipherRequest {
    fileprivate func document() throws(Refusal) -> JSON.Document {
        guard let document = try? JSON.Document(cipher) else { throw .badJSON }
        return document
    }
}

extension World {
    fileprivate mutating func found(_ wish: OrganizationRequest, _ call: Call) -> Organization {
        var organization = Organization(
            id: call.newID(),
            name: wish.name,
            billingEmail: wish.billingEmail ?? "",
            publicKey: wish.publicKey,
            wrappedPrivateKey: wish.wrappedPrivateKey,
            created: stamp(call)
        )
        if let name = wish.collectionName { organization.collections[call.newID()] = name }
        let owner = Organization.Member(
            id: call.newID(),
            key: wish.key,
            type: 0,
            status: Membership.confirmed
        )
        organization.members[call.userID] = owner
        organizations[organization.id] = organization
        accounts[call.userID]?.organizationIDs.insert(organization.id)
        changes.insert(.organization(organization.id))
        touch(call.userID, call)
        announce(.organizationKeysChanged, to: call.userID, date: lastStamp, call)
        return organization
    }

    /// Lets a user in or puts one out, as an admin's console would.
    mutating func setMember(
        _ member: Organization.Member?,
        _ userID: String,
        in id: String,
        at now: Moment
    ) {
        organizations[id]?.members[userID] = member
        if member == nil {
            accounts[userID]?.organizationIDs.remove(id)
        } else {
            accounts[userID]?.organizationIDs.insert(id)
        }
        changes.insert(.organization(id))
        touch(userID, at: now)
    }

    fileprivate func organization(
        _ id: String,
        of userID: String
    ) throws(Refusal) -> Organization {
        guard let organization = organizations[id], organization.members[userID] != nil else {
            throw .missingOther
        }
        return organization
    }

    func checkWritable(
        _ id: String,
        _ collectionIDs: [String],
        _ call: Call
    ) throws(Refusal) {
        let organization = try organization(id, of: call.userID)
        guard organization.access(of: call.userID)?.mayEdit == true else { throw .forbidden(.edit) }
        guard collectionIDs.allSatisfy({ organization.collections[$0] != nil }) else {
            throw .missingOther
        }
    }

    /// A personal item becomes one of the organisation; what is the user's own stays.
    fileprivate mutating func share(
        _ id: String,
        _ wish: SharedCipherRequest,
        _ call: Call
    ) throws(Refusal) -> StoredCipher {
        let json = try wish.document().root
        _ = try type(of: json)
        var cipher = try find(id, for: call.userID, to: .edit)
        guard let organizationID = json[anyCase: "organizationId"]?.string else {
            throw .organizationMismatch
        }
        try checkWritable(organizationID, wish.collectionIDs, call)
        try checkFreshness(json, cipher)
        let content = try Content(json, type: cipher.type, personality)
        accounts[call.userID]?.ciphers[id] = nil
        changes.insert(.cipher(owner: call.userID, id))
        cipher.content = content
        rewrapFiles(json, &cipher)
        cipher.organizationID = organizationID
        cipher.collectionIDs = wish.collectionIDs
        cipher.revised = stamp(call)
        put(cipher, of: call.userID)
        return cipher
    }

    func collections(of userID: String) -> [CollectionAnswer] {
        (accounts[userID]?.organizationIDs.sorted() ?? []).flatMap { id -> [CollectionAnswer] in
            guard let organization = organizations[id],
                let access = organization.access(of: userID)
            else { return [] }
            return organization.collections.sorted { $0.key < $1.key }.map { collection in
                var answer = CollectionAnswer(
                    id: collection.key,
                    organizationID: id,
                    name: collection.value
                )
                answer.isReadOnly = !access.mayEdit
                answer.hidesPasswords = !access.showsPasswords
                return answer
            }
        }
    }
}
