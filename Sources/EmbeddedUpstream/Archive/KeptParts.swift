import JSON

extension World {
    /// A part as it is kept; `nil` if there is no such part any more.
    func part(_ change: Change) -> [UInt8]? {
        switch change {
        case .account(let id): accounts[id].map { Array(JSON.Raw($0, capacity: 8_192).bytes) }
        case .organization(let id): organizations[id].map { Array(JSON.Raw($0).bytes) }
        case .cipher(let owner, let id):
            (accounts[owner]?.ciphers[id] ?? organizations[owner]?.ciphers[id]).map {
                Array(JSON.Raw($0, capacity: 2_048).bytes)
            }
        case .file(let id): files[id]
        }
    }

    /// Every part that there is.
    var allParts: Set<Change> {
        var parts = Set(files.keys.map(Change.file))
        for (id, account) in accounts {
            parts.insert(.account(id))
            parts.formUnion(account.ciphers.keys.map { .cipher(owner: id, $0) })
        }
        for (id, organization) in organizations {
            parts.insert(.organization(id))
            parts.formUnion(organization.ciphers.keys.map { .cipher(owner: id, $0) })
        }
        return parts
    }

    mutating func take(_ body: [UInt8], from place: Change.Place) throws(UpstreamError) {
        if place.kind == "file" {
            files[place.id] = body
            return
        }
        do throws(Unreadable) {
            let json = try Unreadable.reading(body)
            switch place.kind {
            case "account": try takeAccount(json)
            case "organization":
                let organization = try Unreadable.checking { () throws(JSON.Mismatch) in
                    try Organization(json: json)
                }
                organizations[organization.id] = organization
            default: try takeCipher(json, owner: place.owner)
            }
        } catch {
            throw .cannotRead("\(place.kind) \(place.id): \(error.reason)")
        }
    }

    private mutating func takeAccount(_ json: JSON.Value) throws(Unreadable) {
        let account = try Unreadable.checking { () throws(JSON.Mismatch) in
            try Account(json: json)
        }
        accounts[account.id] = account
        idsByEmail[account.email] = account.id
        lastStamp = max(lastStamp, account.revised)
        for device in account.devices.values {
            renewals[device.refreshToken] = Renewal(
                userID: account.id,
                deviceID: device.identifier
            )
            if let access = device.access { admit(device, of: account.id, by: access) }
        }
    }

    private mutating func takeCipher(_ json: JSON.Value, owner: String) throws(Unreadable) {
        let cipher = try Unreadable.checking { () throws(JSON.Mismatch) in
            try StoredCipher(json: json)
        }
        lastStamp = max(lastStamp, cipher.revised)
        accounts[owner]?.ciphers[cipher.id] = cipher
        organizations[owner]?.ciphers[cipher.id] = cipher
    }
}

/// Why a part cannot be read.
private struct Unreadable: Error {
    let reason: String

    static func reading(_ body: [UInt8]) throws(Unreadable) -> JSON.Value {
        do throws(JSON.Failure) {
            return try JSON.Document(body).root
        } catch {
            throw Unreadable(reason: error.description)
        }
    }

    static func checking<Part>(
        _ read: () throws(JSON.Mismatch) -> Part
    ) throws(Unreadable) -> Part {
        do throws(JSON.Mismatch) {
            return try read()
        } catch {
            throw Unreadable(reason: error.description)
        }
    }
}
