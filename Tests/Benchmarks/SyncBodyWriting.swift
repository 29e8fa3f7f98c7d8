import JSON

extension SyncBody.Cipher: JSON.Writable {
    /// A login as upstream shows it, the same for the same number.
    init(number: Int) {
        func text(_ part: Int, _ length: Int = 24) -> String {
            SyncBody.encrypted(number * 32 + part, length: length)
        }
        id = SyncBody.id(number)
        revisionDate = "2026-11-20T09:38:59.234316Z"
        creationDate = "2026-11-20T09:38:59.234316Z"
        name = text(1, 44)
        notes = number % 3 == 0 ? text(2, 128) : nil
        type = 1
        isFavorite = number % 7 == 0
        login = SyncBody.Login(
            username: text(3, 44),
            password: text(4, 44),
            totp: text(5, 64),
            uris: [SyncBody.URI(uri: text(6, 64))]
        )
        fields = (0..<2).map { SyncBody.Field(type: $0, name: text(7 + $0), value: text(9 + $0)) }
        passwordHistory = [
            SyncBody.Former(password: text(11), lastUsedDate: "2024-01-02T03:04:05.678000Z")
        ]
    }

    func write(to json: inout JSON.Writer) {
        json.object { cipher in
            for name in ["archivedDate", "attachments", "card", "folderId", "identity"] {
                cipher.add(name, nil as String?)
            }
            cipher.array("collectionIds") { _ in }
            cipher.add("creationDate", creationDate)
            cipher.add("deletedDate", deletedDate)
            cipher.add("edit", true)
            cipher.add("favorite", isFavorite)
            cipher.add("fields", fields)
            cipher.add("id", id)
            cipher.add("key", key)
            cipher.add("login", login)
            cipher.add("name", name)
            cipher.add("notes", notes)
            cipher.add("object", "cipherDetails")
            cipher.add("organizationId", organizationID)
            cipher.add("organizationUseTotp", true)
            cipher.add("passwordHistory", passwordHistory)
            cipher.object("permissions") { $0.add("delete", true) }
            cipher.add("reprompt", reprompt)
            cipher.add("revisionDate", revisionDate)
            cipher.add("secureNote", nil as String?)
            cipher.add("sshKey", nil as String?)
            cipher.add("type", type)
            cipher.add("viewPassword", true)
        }
    }
}

extension SyncBody.Login: JSON.Writable {
    func write(to json: inout JSON.Writer) {
        json.object { login in
            login.add("autofillOnPageLoad", nil as Bool?)
            login.add("fido2Credentials", nil as String?)
            login.add("password", password)
            login.add("passwordRevisionDate", nil as String?)
            login.add("totp", totp)
            login.add("uri", uris.first?.uri)
            login.add("uris", uris)
            login.add("username", username)
        }
    }
}

extension SyncBody.URI: JSON.Writable {
    func write(to json: inout JSON.Writer) {
        json.object { uri in
            uri.add("match", match)
            uri.add("uri", self.uri)
            uri.add("uriChecksum", self.uri)
        }
    }
}

extension SyncBody.Field: JSON.Writable {
    func write(to json: inout JSON.Writer) {
        json.object { field in
            field.add("linkedId", nil as Int?)
            field.add("name", name)
            field.add("type", type)
            field.add("value", value)
        }
    }
}

extension SyncBody.Former: JSON.Writable {
    func write(to json: inout JSON.Writer) {
        json.object { former in
            former.add("lastUsedDate", lastUsedDate)
            former.add("password", password)
        }
    }
}
