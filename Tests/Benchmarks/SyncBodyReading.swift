import JSON

extension SyncBody.Cipher: JSON.Readable {
    init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let members = json.object else { throw JSON.Mismatch("must be an object") }
        for member in members {
            let value = member.value
            switch Self.names[member.name] {
            case .id: id = try String(json: value)
            case .organizationId: organizationID = value.string
            case .folderId: folderID = value.string
            case .revisionDate: revisionDate = value.string
            case .creationDate: creationDate = value.string
            case .deletedDate: deletedDate = value.string
            case .key: key = value.string
            case .name: name = value.string
            case .notes: notes = value.string
            case .type: type = try Int(json: value)
            case .reprompt: reprompt = try Int(json: value)
            case .favorite: isFavorite = try Bool(json: value)
            case .login: login = try SyncBody.Login?(json: value)
            case .fields: fields = try [SyncBody.Field](json: value)
            case .passwordHistory: passwordHistory = try [SyncBody.Former](json: value)
            case nil: break
            }
        }
    }

    private enum Name: String, CaseIterable {
        case id, organizationId, folderId, revisionDate, creationDate, deletedDate, key, name
        case notes, type, reprompt, favorite, login, fields, passwordHistory
    }

    private static let names = JSON.Names<Name>()
}

extension SyncBody.Login: JSON.Readable {
    init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let members = json.object else { throw JSON.Mismatch("must be an object") }
        for member in members {
            switch member.name {
            case "username": username = member.value.string
            case "password": password = member.value.string
            case "totp": totp = member.value.string
            case "uris": uris = try [SyncBody.URI](json: member.value)
            default: break
            }
        }
    }
}

extension SyncBody.URI: JSON.Readable {
    init(json: JSON.Value) throws(JSON.Mismatch) {
        uri = try json.read("uri")
        match = try json.read("match")
    }
}

extension SyncBody.Field: JSON.Readable {
    init(json: JSON.Value) throws(JSON.Mismatch) {
        type = try json.read("type")
        name = try json.read("name")
        value = try json.read("value")
    }
}

extension SyncBody.Former: JSON.Readable {
    init(json: JSON.Value) throws(JSON.Mismatch) {
        password = try json.read("password")
        lastUsedDate = try json.read("lastUsedDate")
    }
}
