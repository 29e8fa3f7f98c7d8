/// The schema: all that upstream says about a cipher, and what of it is encrypted.
///
/// The limits are upstream's, in characters of the encrypted text.
extension Shape {
    static let item = Shape(
        required: ["name"],
        [
            Member("id", .text, .shown),
            Member("organizationId", .text, [.shown, .sent]),
            Member("folderId", .text),
            Member("type", .number(0...Int.max, null: nil)),
            Member("reprompt", .number(0...1, null: 0)),
            Member("name", .sealed(limit: 1000)),
            Member("notes", .sealed(limit: 10_000)),
            Member("favorite", .flag),
            Member("fields", .list(field)),
            Member("login", .object(login)),
            Member("secureNote", .object(secureNote)),
            Member("card", .object(card)),
            Member("identity", .object(identity)),
            Member("sshKey", .object(sshKey)),
            Member("collectionIds", .texts, .shown),
            Member("attachments", .list(attachment), .shown),
            Member("passwordHistory", .list(historyEntry)),
            Member("revisionDate", .date, [.shown, .copied]),
            Member("creationDate", .date, [.shown, .copied]),
            Member("deletedDate", .date, .shown),
            Member("archivedDate", .date, [.shown, .sent]),
            Member("key", .key, .sent),
            Member("object", .kept, .copied),
            // What the asking user may do; a copy is the user's own.
            Member("edit", .kept, []),
            Member("viewPassword", .kept, []),
            Member("permissions", .kept, []),
            Member("organizationUseTotp", .kept, []),
            // Official clients have these two in their models; upstream sends neither.
            Member("localData", .kept, []),
            Member("attachmentDecryptionFailures", .kept, []),
            // Types of 2026 that are recognised only.
            Member("bankAccount", .kept, .hidden),
            Member("driversLicense", .kept, .hidden),
            Member("passport", .kept, .hidden),
            // A `data` that is sent back wins over every edit beside it.
            Member("data", .mirror, []),
            Member("partialData", .mirror, []),
            // What only requests have.
            Member("lastKnownRevisionDate", .kept, []),
            Member("encryptedFor", .kept, []),
            Member("encryptedByKeyId", .kept, []),
            Member("attachments2", .kept, []),
        ]
    )

    static let login = Shape([
        Member("fido2Credentials", .list(passkey)),
        Member("uris", .list(uri)),
        Member("username", .sealed(limit: 1000)),
        Member("password", .sealed(limit: 5000)),
        Member("totp", .sealed(limit: 1000)),
        Member("passwordRevisionDate", .date),
        Member("autofillOnPageLoad", .kept, .hidden),
        Member("uri", .mirror, []),
    ])

    static let uri = Shape(
        identity: "uri",
        [
            Member("match", .number(0...5, null: nil)),
            Member("uri", .sealed(limit: 10_000)),
            Member("uriChecksum", .checksum(of: "uri"), .hidden),
        ]
    )

    static let passkey = Shape(
        identity: "credentialId",
        required: [
            "credentialId", "keyType", "keyAlgorithm", "keyCurve", "keyValue", "rpId", "counter",
            "discoverable", "creationDate",
        ],
        sealed(
            "credentialId",
            "keyType",
            "keyAlgorithm",
            "keyCurve",
            "keyValue",
            "rpId",
            "userHandle",
            "userName",
            "counter",
            "rpName",
            "userDisplayName",
            "discoverable"
        ) + [Member("creationDate", .date)]
    )

    static let secureNote = Shape([Member("type", .number(0...0, null: 0))])

    static let card = Shape(
        sealed("cardholderName", "brand", "number", "expMonth", "expYear", "code")
    )

    static let identity = Shape(
        sealed(
            "title",
            "firstName",
            "middleName",
            "lastName",
            "address1",
            "address2",
            "address3",
            "city",
            "state",
            "postalCode",
            "country",
            "company",
            "email",
            "phone",
            "ssn",
            "username",
            "passportNumber",
            "licenseNumber"
        )
    )

    static let sshKey = Shape([
        Member("privateKey", .sealed(limit: 5000)),
        Member("publicKey", .sealed(limit: 5000)),
        Member("keyFingerprint", .sealed(limit: 1000)),
    ])

    static let field = Shape(
        identity: "name",
        [
            Member("name", .sealed(limit: 1000)),
            Member("value", .sealed(limit: 5000)),
            Member("type", .number(0...3, null: 0)),
            Member("linkedId", .number(0...Int(Int32.max), null: nil)),
        ]
    )

    static let historyEntry = Shape(
        identity: "password",
        essential: "password",
        [
            Member("lastUsedDate", .date),
            Member("password", .sealed(limit: longestHistoryEntry)),
        ]
    )

    static let longestHistoryEntry = 5_000

    static let attachment = Shape(
        identity: "id",
        [
            Member("id", .text),
            Member("fileName", .sealed(limit: 1000)),
            Member("size", .text),
            Member("sizeName", .text),
            Member("url", .text),
            Member("key", .key, .hidden),
        ]
    )

    private static func sealed(_ names: String...) -> [Member] {
        names.map { Member($0, .sealed(limit: 1000)) }
    }
}
