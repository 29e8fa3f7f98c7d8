import JSON
import Vault

extension World {
    /// Makes an item of a request's body.
    ///
    /// - Parameter organizationID: Where it is to live; in the account, if `nil`.
    mutating func createCipher(
        _ json: JSON.Value,
        in organizationID: String?,
        _ collectionIDs: [String],
        _ call: borrowing Call
    ) throws(Refusal) -> StoredCipher {
        let type = try type(of: json)
        try checkEncryptedFor(json, call)
        let placement = try placement(of: json, nil, call)
        let content = try Content(json, type: type, personality)
        let created = stamp(call)
        let cipher = StoredCipher(
            id: call.newID(),
            type: type,
            organizationID: organizationID,
            collectionIDs: collectionIDs,
            created: created,
            revised: personality.restampsTrash ? stamp(call) : created,
            content: content
        )
        put(cipher, of: call.userID)
        if placement != Placement() { place(cipher.id, of: call.userID) { $0 = placement } }
        return cipher
    }

    /// Replaces all of an item by what a request holds.
    mutating func updateCipher(
        _ id: String,
        _ json: JSON.Value,
        _ call: borrowing Call
    ) throws(Refusal) -> StoredCipher {
        _ = try type(of: json)
        let found = try find(id, for: call.userID)
        var cipher = found.cipher
        try checkEncryptedFor(json, call)
        if personality.checksEncryptedFor { try checkOrganization(json, cipher) }
        guard found.access.mayEdit else { throw .forbidden(.edit) }
        try checkFreshness(json, cipher)
        try checkOrganization(json, cipher)
        let placement = try placement(of: json, placement(id, of: call.userID), call)
        cipher.content = try Content(json, type: cipher.type, personality)
        rewrapFiles(json, &cipher)
        cipher.revised = stamp(call)
        put(cipher, of: call.userID)
        place(id, of: call.userID) { $0 = placement }
        return cipher
    }

    func type(of json: JSON.Value) throws(Refusal) -> Int {
        guard json.kind == .object else { throw .badShape("an object is wanted") }
        // One of the servers knows these two names in one spelling only.
        let isExact = personality.keepsUnknownMembers
        let type = isExact ? json["type"] : json[anyCase: "type"]
        let name = isExact ? json["name"] : json[anyCase: "name"]
        guard let number = type?.int else { throw .badShape("type is missing") }
        let isBlob = !isExact && json[anyCase: "data"]?.string?.isEmpty == false
        guard name?.string != nil || isBlob else { throw .badShape("name is missing") }
        guard (1...personality.typeLimit).contains(number) else { throw .badType }
        if !isExact, let files = json[anyCase: "attachments"], !files.isNull, files.object == nil {
            // An answer has a list there, which no request may.
            throw .badShape("attachments is no object")
        }
        return number
    }

    private func checkEncryptedFor(_ json: JSON.Value, _ call: borrowing Call) throws(Refusal) {
        guard personality.checksEncryptedFor else { return }
        if let user = try text("encryptedFor", of: json), user.lowercased() != call.userID {
            throw .encryptedForOther
        }
        // Only personal items are under the user key, and only newer accounts have told its id.
        guard json[anyCase: "organizationId"]?.string == nil,
            let said = try text("encryptedByKeyId", of: json),
            let known = accounts[call.userID]?.userKeyID, said != known
        else { return }
        throw .encryptedByOtherKey
    }

    /// A member that is a text, unless it is left open.
    private func text(_ name: String, of json: JSON.Value) throws(Refusal) -> String? {
        guard let value = json[anyCase: name], !value.isNull else { return nil }
        guard let text = value.string else { throw .badShape("\(name) is no text") }
        return text
    }

    private func checkOrganization(
        _ json: JSON.Value,
        _ cipher: StoredCipher
    ) throws(Refusal) {
        let said = json[anyCase: "organizationId"]?.string
        guard said == cipher.organizationID else { throw .organizationMismatch }
    }

    func checkFreshness(_ json: JSON.Value, _ cipher: StoredCipher) throws(Refusal) {
        // What is no text is a date that cannot be read, and not one that is left open.
        let known = json[anyCase: "lastKnownRevisionDate"].flatMap { value in
            value.isNull ? nil : value.string ?? ""
        }
        try checkFreshness(known: known, cipher)
    }

    func checkFreshness(known: String?, _ cipher: StoredCipher) throws(Refusal) {
        switch personality.stale.judge(server: cipher.revised, known: known) {
        case .fresh: break
        case .stale: throw .stale
        case .unreadable: throw .badDate
        }
    }

    /// Where the request puts the item, and what it leaves as it was.
    private func placement(
        of json: JSON.Value,
        _ old: Placement?,
        _ call: borrowing Call
    ) throws(Refusal) -> Placement {
        let folderID = json[anyCase: "folderId"]?.string?.lowercased()
        try checkFolder(folderID, call)
        var placement = old ?? Placement()
        placement.folderID = folderID
        let favorite = json[anyCase: "favorite"]?.bool
        let archived = json[anyCase: "archivedDate"]?.string.flatMap { Revision($0)?.moment }
        if personality.keepsWhatIsOmitted {
            placement.isFavorite = favorite ?? placement.isFavorite
            placement.archived = archived ?? placement.archived
        } else {
            placement.isFavorite = favorite ?? false
            placement.archived = archived
        }
        return placement
    }

    func checkFolder(_ folderID: String?, _ call: borrowing Call) throws(Refusal) {
        guard let folderID, personality.keepsUnknownMembers else { return }
        guard accounts[call.userID]?.folders[folderID] != nil else { throw .unknownFolder }
    }

    /// Takes over names and keys of files that were wrapped anew; ids that mean nothing are passed
    /// over.
    func rewrapFiles(_ json: JSON.Value, _ cipher: inout StoredCipher) {
        let rewrapped = json[anyCase: "attachments2"]
        if rewrapped?.object == nil, !personality.keepsUnknownMembers {
            forgetKeys(json, &cipher)
        }
        for index in cipher.files.indices {
            guard let file = rewrapped?[cipher.files[index].id] else { continue }
            cipher.files[index].fileName =
                file[anyCase: "fileName"]?.string ?? cipher.files[index].fileName
            cipher.files[index].key = file[anyCase: "key"]?.string ?? cipher.files[index].key
        }
    }

    /// What the oldest clients sent: names without keys. It does what it says.
    private func forgetKeys(_ json: JSON.Value, _ cipher: inout StoredCipher) {
        guard let names = json[anyCase: "attachments"], names.object != nil else { return }
        for index in cipher.files.indices {
            guard let name = names[cipher.files[index].id]?.string else { continue }
            cipher.files[index].fileName = name
            cipher.files[index].key = nil
        }
    }
}
