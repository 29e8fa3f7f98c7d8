import Sync

extension Schema {
    static let item = Schema.reference("Item")
    static let newItem = Schema.reference("NewItem")
    static let itemBody = Schema.reference("ItemBody")
    static let folder = Schema.reference("Folder")
    static let collection = Schema.reference("Collection")
    static let organization = Schema.reference("Organization")
    static let send = Schema.reference("Send")
    static let sendBody = Schema.reference("SendBody")
    static let message = Schema.reference("Message")
    static let string = Schema.reference("String")
    static let template = Schema.reference("Template")
    static let status = Schema.reference("Status")
    static let account = Schema.reference("Account")
    static let signIn = Schema.reference("SignIn")
    static let pendingChange = Schema.reference("PendingChange")
    static let receipt = Schema.reference("Receipt")
    static let resolution = Schema.reference("Resolution")
    static let network = Schema.reference("Network")
    static let token = Schema.reference("Token")
    static let freshToken = Schema.reference("FreshToken")
    static let verification = Schema.reference("Verification")
    static let failure = Schema.reference("Failure")
}

/// The shapes that routes share, by name.
enum Components {
    static let schemas: [(name: String, schema: Schema)] = items + shared + queue + host

    private static let items: [(name: String, schema: Schema)] = [
        ("Item", .object([.init("object", .constant("item"))] + identity + content + [sync])),
        ("NewItem", .object([.init("type", itemType), .init("name", .filled)] + sentContent)),
        (
            "ItemBody",
            .object([.maybe("type", itemType), .maybe("name", .filled)] + sentContent)
        ),
        (
            "Login",
            .object([
                .init("fido2Credentials", .list(.object([]))),
                .init(
                    "uris",
                    .list(
                        .object([
                            .init("match", .optional(.integer)), .init("uri", .optional(.text)),
                        ])
                    )
                ),
                .init("username", .optional(.text)), .init("password", .optional(.text)),
                .init("totp", .optional(.text)),
                .init("passwordRevisionDate", .optional(.text)),
            ])
        ),
        (
            "Field",
            .object([
                .init("name", .optional(.text)), .init("value", .optional(.text)),
                .init("type", .integer), .init("linkedId", .optional(.integer)),
            ])
        ),
        (
            "Attachment",
            .object([
                .init("id", .optional(.text)), .init("fileName", .optional(.text)),
                .init("size", .optional(.text)), .init("sizeName", .optional(.text)),
                .init("url", .optional(.text)),
            ])
        ),
        (
            "OldPassword",
            .object([
                .init("lastUsedDate", .optional(.text)), .init("password", .optional(.text)),
            ])
        ),
    ]

    private static let identity: [Schema.Property] = [
        .init("id", .optional(.text)), .init("organizationId", .optional(.text)),
        .init("collectionIds", .list(.text)),
        .init("attachments", .list(.reference("Attachment"))),
        .init("revisionDate", .optional(.text)), .init("creationDate", .optional(.text)),
        .init("deletedDate", .optional(.text)),
    ]

    private static let content: [Schema.Property] = [
        .init("type", .optional(.integer)), .init("name", .optional(.text)),
        .init("notes", .optional(.text)), .init("favorite", .flag), .init("reprompt", .integer),
        .init("folderId", .optional(.text)), .init("fields", .list(.reference("Field"))),
        .init("passwordHistory", .list(.reference("OldPassword"))),
        .init("archivedDate", .optional(.text)),
        .maybe("login", .optional(.reference("Login"))),
        .maybe("secureNote", .optional(.object([.init("type", .optional(.integer))]))),
        .maybe("card", .optional(.object(texts(Self.cardMembers)))),
        .maybe("identity", .optional(.object(texts(Self.identityMembers)))),
        .maybe("sshKey", .optional(.object(texts(Self.keyMembers)))),
    ]

    private static let itemType = Schema.number([1, 2, 3, 4, 5])

    /// What else may be sent of an item, beside its type and its name.
    private static let sentContent: [Schema.Property] = content.dropFirst(2).map {
        .maybe($0.name, .any)
    }

    private static let cardMembers = [
        "cardholderName", "brand", "number", "expMonth", "expYear", "code",
    ]
    private static let identityMembers = [
        "title", "firstName", "middleName", "lastName", "address1", "address2", "address3", "city",
        "state", "postalCode", "country", "company", "email", "phone", "ssn", "username",
        "passportNumber", "licenseNumber",
    ]
    private static let keyMembers = ["privateKey", "publicKey", "keyFingerprint"]

    private static func texts(_ names: [String]) -> [Schema.Property] {
        names.map { .init($0, .optional(.text)) }
    }

    private static let sync = Schema.Property(
        "sync",
        .object([
            .init("state", .word(["clean", "pending", "quarantined"])),
            .init("changes", .list(changeType)), .init("since", .optional(.date)),
        ])
    )

    private static let changeType = Schema.word([
        "create", "update", "softDelete", "hardDelete", "other",
    ])

    private static let shared: [(name: String, schema: Schema)] = [
        (
            "Folder",
            .object([
                .init("object", .constant("folder")), .init("id", .optional(.text)),
                .init("name", .text),
            ])
        ),
        (
            "Collection",
            .object([
                .init("object", .constant("collection")), .init("id", .text),
                .init("organizationId", .text), .init("name", .text),
                .init("externalId", .optional(.text)),
            ])
        ),
        (
            "Organization",
            .object([
                .init("object", .constant("organization")), .init("id", .text),
                .init("name", .optional(.text)), .init("status", .integer),
                .init("type", .optional(.integer)), .init("enabled", .flag),
            ])
        ),
        ("Send", .object(send)),
        (
            "SendBody",
            .object([
                .maybe("name", .text), .maybe("notes", .optional(.text)),
                .maybe("type", .integer),
                .maybe("text", .object([.init("text", .optional(.text)), .init("hidden", .flag)])),
                .maybe("password", .optional(.text)),
                .maybe("maxAccessCount", .optional(.integer)), .init("deletionDate", .date),
                .maybe("expirationDate", .optional(.date)), .maybe("disabled", .flag),
                .maybe("hideEmail", .flag),
            ])
        ),
        (
            "Message",
            .object([
                .init("object", .constant("message")), .init("title", .text),
                .init("message", .optional(.text)), .init("noColor", .flag),
                .maybe("raw", .text),
                .maybe("outcome", .word(["completed", "notNeeded", "deferred", "failed"])),
                .maybe("reason", .optional(.text)), .maybe("pending", .reference("PendingCount")),
            ])
        ),
        (
            "String",
            .object([.init("object", .constant("string")), .init("data", .optional(.text))])
        ),
        (
            "Template",
            .object([.init("object", .constant("template")), .init("template", .any)])
        ),
        (
            "Status",
            .object([
                .init("object", .constant("template")),
                .init(
                    "template",
                    .object([
                        .init("serverUrl", .optional(.text)), .maybe("lastSync", .date),
                        .maybe("userEmail", .text), .maybe("userId", .text),
                        .init("status", .word(["unauthenticated", "locked", "unlocked"])),
                    ])
                ),
            ])
        ),
        (
            "Failure",
            .object([
                .init("success", .flag), .init("message", .text), .maybe("data", .list(.text)),
                .maybe("twoFactorProviders", .list(.integer)), .maybe("needsNewDeviceOtp", .flag),
            ])
        ),
    ]

    private static let send: [Schema.Property] = [
        .init("object", .constant("send")), .init("id", .text),
        .init("accessId", .optional(.text)), .init("accessUrl", .optional(.text)),
        .init("name", .text), .init("notes", .optional(.text)), .init("key", .optional(.text)),
        .init("type", .integer),
        .init("maxAccessCount", .optional(.integer)), .init("accessCount", .integer),
        .init("revisionDate", .optional(.text)), .init("deletionDate", .optional(.text)),
        .init("expirationDate", .optional(.text)), .init("passwordSet", .flag),
        .maybe("emails", .list(.text)), .maybe("authType", .integer),
        .init("disabled", .flag), .init("hideEmail", .flag), .maybe("text", .object([])),
        .maybe("file", .object([])),
    ]

    private static let queue: [(name: String, schema: Schema)] = [
        (
            "PendingChange",
            .object([
                .init("object", .constant("pendingChange")), .init("id", .text),
                .init("itemId", .text), .init("changeType", changeType),
                .init("state", .word(["ready", "inFlight", "backingOff", "quarantined"])),
                .init("originalRevisionDate", .optional(.date)), .init("createdDate", .date),
                .init("updatedDate", .date), .init("offlinePasswordChangeCount", .integer),
                .init("attempts", .integer), .init("nextAttemptDate", .optional(.date)),
                .init(
                    "lastError",
                    .optional(.object([.init("kind", .text), .init("message", .text)]))
                ), .init("version", .integer),
            ])
        ),
        (
            "Receipt",
            .object([
                .init("object", .constant("receipt")), .init("id", .text), .init("itemId", .text),
                .init("status", .word(receiptStates)), .init("resultItemId", .optional(.text)),
                .init("backupItemId", .optional(.text)),
                .init(
                    "dates",
                    .object([
                        .init("queued", .date), .init("sent", .optional(.date)),
                        .init("observed", .optional(.date)), .init("ended", .optional(.date)),
                    ])
                ),
            ])
        ),
        (
            "Resolution",
            .object([
                .init("object", .constant("resolution")), .init("id", .integer),
                .init("pendingId", .text), .init("itemId", .text),
                .init("changeType", changeType),
                .init("outcome", .word(ResolutionNote.Outcome.allCases.map(\.rawValue))),
                .init("winner", .optional(.word(["local", "server"]))),
                .init("backupItemId", .optional(.text)),
                .init("dates", .object([.init("recorded", .date), .init("resolved", .date)])),
            ])
        ),
    ]

    private static let receiptStates = [
        "queued", "sent", "observed", "merged", "backedUp", "superseded", "restored", "discarded",
        "quarantined",
    ]

    private static let networkState = Schema.word(["online", "degraded", "offline"])

    private static let host: [(name: String, schema: Schema)] = [
        (
            "Account",
            .object([
                .init("object", .constant("account")), .init("id", .text), .init("email", .text),
                .init("server", .text),
                .init("status", .word(["locked", "unlocked", "signedOut"])),
                .init("default", .flag), .init("lastSync", .optional(.date)),
                .init(
                    "lastOutcome",
                    .optional(.word(["completed", "notNeeded", "deferred", "failed"]))
                ), .init("network", networkState), .init("pending", .reference("PendingCount")),
            ])
        ),
        (
            "PendingCount",
            .object([
                .init("total", .integer), .init("ready", .integer), .init("backingOff", .integer),
                .init("quarantined", .integer), .init("oldest", .optional(.date)),
            ])
        ),
        (
            "SignIn",
            .object([
                .init("email", .filled), .init("password", .text),
                .maybe("server", .optional(.text)), .maybe("clientId", .optional(.text)),
                .maybe("clientSecret", .optional(.text)),
                .maybe("twoFactorToken", .optional(.text)),
                .maybe("twoFactorProvider", .optional(.integer)),
                .maybe("newDeviceOtp", .optional(.text)),
                .maybe("default", .optional(.flag)),
            ])
        ),
        (
            "Network",
            .object([
                .init("object", .constant("network")), .init("mode", .word(["auto", "offline"])),
                .init("state", networkState), .init("since", .date),
            ])
        ),
        ("Token", .object(token + [.init("created", .date)])),
        ("FreshToken", .object(token + [.init("token", .text)])),
        (
            "Verification",
            .object([
                .init("object", .constant("verification")), .init("whole", .flag),
                .init("accounts", .integer), .init("items", .integer), .init("changes", .integer),
                .init(
                    "problems",
                    .list(.object([.init("check", .word(checks)), .init("problem", .text)]))
                ),
            ])
        ),
    ]

    private static let token: [Schema.Property] = [
        .init("object", .constant("token")), .init("id", .text),
        .init("scope", .word(["admin", "write", "read"])), .init("account", .optional(.text)),
    ]

    private static let checks = Verification.Check.allCases.map(\.rawValue)
}
