import Bitwarden
import Vault

extension World {
    /// Where an item lives, and what the user may do with it.
    struct Found {
        let cipher: StoredCipher
        let access: Access
    }

    func find(
        _ id: String,
        for userID: String,
        or refusal: Refusal = .missingCipher
    ) throws(Refusal) -> Found {
        if let cipher = accounts[userID]?.ciphers[id] {
            return Found(cipher: cipher, access: .owner)
        }
        for organizationID in accounts[userID]?.organizationIDs ?? [] {
            guard
                let organization = organizations[organizationID],
                let cipher = organization.ciphers[id],
                let access = organization.access(of: userID)
            else { continue }
            return Found(cipher: cipher, access: access)
        }
        throw refusal
    }

    func find(
        _ id: String,
        for userID: String,
        to deed: Refusal.Deed
    ) throws(Refusal) -> StoredCipher {
        let found = try find(id, for: userID)
        guard found.access.mayEdit else { throw .forbidden(deed) }
        return found.cipher
    }

    /// Puts an item back to where it lives.
    mutating func put(_ cipher: StoredCipher, of userID: String) {
        set(cipher.id, to: cipher, where: cipher.organizationID, userID)
    }

    mutating func remove(_ cipher: StoredCipher, of userID: String) {
        set(cipher.id, to: nil, where: cipher.organizationID, userID)
        for user in audience(of: cipher, userID) { accounts[user]?.placements[cipher.id] = nil }
        for file in cipher.files {
            files[cipher.id + "/" + file.id] = nil
            changes.insert(.file(cipher.id + "/" + file.id))
        }
    }

    private mutating func set(
        _ id: String,
        to cipher: StoredCipher?,
        where organizationID: String?,
        _ userID: String
    ) {
        if let organizationID {
            organizations[organizationID]?.ciphers[id] = cipher
        } else {
            accounts[userID]?.ciphers[id] = cipher
        }
        changes.insert(.cipher(owner: organizationID ?? userID, id))
    }

    /// The users whom a change of the item concerns.
    func audience(of cipher: StoredCipher, _ userID: String) -> [String] {
        guard let id = cipher.organizationID, let organization = organizations[id] else {
            return [userID]
        }
        return organization.members.filter { $0.value.status == Membership.confirmed }
            .map(\.key).sorted()
    }

    /// Moves the revision of everybody concerned, and tells their devices.
    mutating func tell(
        _ kind: HubEvent.Kind,
        _ cipher: StoredCipher,
        _ call: borrowing Call,
        date: Moment? = nil
    ) {
        let users = audience(of: cipher, call.userID)
        for user in users { touch(user, call) }
        var event = HubEvent(kind, userID: cipher.organizationID == nil ? call.userID : nil)
        event.id = cipher.id
        event.organizationID = cipher.organizationID
        event.collectionIDs = cipher.organizationID == nil ? nil : cipher.collectionIDs
        event.date = date ?? cipher.revised
        event.contextID = call.deviceID
        announcements.append(Announcement(event: event, userIDs: users))
    }

    /// What many changes at once are told as. The acting device is not named, and so hears of it.
    mutating func tellOfMany(_ call: borrowing Call, sparing deviceID: String? = nil) {
        touch(call.userID, call)
        announce(
            .ciphersChanged,
            to: call.userID,
            date: accounts[call.userID]?.revised,
            call,
            namesActor: false,
            sparing: deviceID
        )
    }

    func placement(_ id: String, of userID: String) -> Placement {
        accounts[userID]?.placements[id] ?? Placement()
    }

    mutating func place(
        _ id: String,
        of userID: String,
        _ change: (inout Placement) -> Void
    ) {
        guard accounts[userID] != nil else { return }
        var placement = placement(id, of: userID)
        change(&placement)
        accounts[userID]?.placements[id] = placement
        changes.insert(.account(userID))
    }
}
