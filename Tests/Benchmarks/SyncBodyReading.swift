import JSON

extension SyncBody.Cipher: JSON.Readable {
    private enum Name: String, CaseIterable {
        case id, organizationId, folderId, revisionDate, creationDate, deletedDate, key, name
        case notes, type, reprompt, favorite, login, fields, passwordHistory
    }

    private static let names = JSON.Names(Name.allCases, named: \.rawValue)

    init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let members = json.object else { throw JSON.Mismatch("must be an object") }
        try members.forEach(inAnyCase: Self.names) { (name, value) throws(JSON.Mismatch) in
            switch name {
            case .id: id = try String(json: value)
            case .organizationId: organizationID = value.string
            case .folderId: folderID = value.string
            case .revisionDate: revisionDate = value.string
            case .creationDate: creationDate = value.string
            case .deletedDate: deletedDate = value.string
            case .key: key = value.string
            case .name: self.name = value.string
            case .notes: notes = value.string
            case .type: type = try Int(json: value)
            case .reprompt: reprompt = try Int(json: value)
            case .favorite: isFavorite = try Bool(json: value)
            case .login: login = try SyncBody.Login?(json: value)
            case .fields: fields = try [SyncBody.Field](json: value)
            case .passwordHistory: passwordHistory = try [SyncBody.Former](json: value)
            }
        }
    }
}

extension SyncBody.Login: JSON.Readable {
    private enum Name: String, CaseIterable { case username, password, totp, uris }

    private static let names = JSON.Names(Name.allCases, named: \.rawValue)

    init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let members = json.object else { throw JSON.Mismatch("must be an object") }
        try members.forEach(inAnyCase: Self.names) { (name, value) throws(JSON.Mismatch) in
            switch name {
            case .username: username = value.string
            case .password: password = value.string
            case .totp: totp = value.string
            case .uris: uris = try [SyncBody.URI](json: value)
            }
        }
    }
}

extension SyncBody.URI: JSON.Readable {
    private enum Name: String, CaseIterable { case uri, match }

    private static let names = JSON.Names(Name.allCases, named: \.rawValue)

    init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let members = json.object else { throw JSON.Mismatch("must be an object") }
        members.forEach(inAnyCase: Self.names) { name, value in
            switch name {
            case .uri: uri = value.string
            case .match: match = value.int
            }
        }
    }
}

extension SyncBody.Field: JSON.Readable {
    private enum Name: String, CaseIterable { case type, name, value }

    private static let names = JSON.Names(Name.allCases, named: \.rawValue)

    init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let members = json.object else { throw JSON.Mismatch("must be an object") }
        try members.forEach(inAnyCase: Self.names) { (name, value) throws(JSON.Mismatch) in
            switch name {
            case .type: type = try Int(json: value)
            case .name: self.name = value.string
            case .value: self.value = value.string
            }
        }
    }
}

extension SyncBody.Former: JSON.Readable {
    private enum Name: String, CaseIterable { case password, lastUsedDate }

    private static let names = JSON.Names(Name.allCases, named: \.rawValue)

    init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let members = json.object else { throw JSON.Mismatch("must be an object") }
        members.forEach(inAnyCase: Self.names) { name, value in
            switch name {
            case .password: password = value.string
            case .lastUsedDate: lastUsedDate = value.string
            }
        }
    }
}
