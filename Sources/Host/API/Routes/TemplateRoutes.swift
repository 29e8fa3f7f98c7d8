import HTTP
import JSON

/// Shapes to be filled in, and the phrases of keys.
extension VaultAPI {
    static let templateRoutes: [Route] = [
        .vault(
            .get,
            "/object/template/{name}",
            Description("A shape to be filled in and sent back.", answer: .data(.template))
        ) { call, _ in
            guard let text = Templates.text[call.id.lowercased()] else {
                throw DeskRefusal.notAllowed("Unknown template object.")
            }
            return .template(try JSON.Raw(Array(text.utf8)))
        },
        .vault(
            .get,
            "/object/fingerprint/{id}",
            Description("Five words for a user's public key: `me`, or an id.", answer: .string)
        ) { call, desk in
            let who = call.id.lowercased()
            if who == "me" || who == desk.id.lowercased() {
                return .string(try await desk.fingerprint())
            }
            guard who.isIdentifier else { throw DeskRefusal.notFound }
            return .string(try await desk.fingerprint(of: who))
        },
    ]
}

/// The templates of `bw serve`, with all members that clients index.
private enum Templates {
    static let text = [
        "item": """
        {"organizationId":null,"collectionIds":null,"folderId":null,"type":1,"name":"Item name",\
        "notes":"Some notes about this item.","favorite":false,"fields":[],"login":null,\
        "secureNote":null,"card":null,"identity":null,"sshKey":null,"reprompt":0,\
        "passwordHistory":[]}
        """,
        "item.login": """
        {"uris":[],"username":"jdoe","password":"myp@ssword123","totp":"JBSWY3DPEHPK3PXP",\
        "fido2Credentials":[]}
        """,
        "item.login.uri": """
        {"match":null,"uri":"https://google.com"}
        """,
        "item.field": """
        {"name":"Field name","value":"Some value","type":0}
        """,
        "item.card": """
        {"cardholderName":"John Doe","brand":"visa","number":"4242424242424242",\
        "expMonth":"04","expYear":"2023","code":"123"}
        """,
        "item.identity": """
        {"title":"Mr","firstName":"John","middleName":"William","lastName":"Doe",\
        "address1":"123 Any St","address2":"Apt #123","address3":null,"city":"New York",\
        "state":"NY","postalCode":"10001","country":"US","company":"Acme Inc.",\
        "email":"john@company.com","phone":"5555551234","ssn":"000-123-4567",\
        "username":"jdoe","passportNumber":"US-123456789","licenseNumber":"D123-12-123-12333"}
        """,
        "item.securenote": """
        {"type":0}
        """,
        "folder": """
        {"name":"Folder name"}
        """,
        "collection": """
        {"organizationId":"00000000-0000-0000-0000-000000000000","name":"Collection name",\
        "externalId":null}
        """,
        "item-collections": """
        ["00000000-0000-0000-0000-000000000000","00000000-0000-0000-0000-000000000000"]
        """,
        "org-collection": """
        {"organizationId":"00000000-0000-0000-0000-000000000000","name":"Collection name",\
        "externalId":null,\
        "groups":[{"id":"00000000-0000-0000-0000-000000000000","readOnly":false,\
        "hidePasswords":false,"manage":false},\
        {"id":"00000000-0000-0000-0000-000000000000","readOnly":false,\
        "hidePasswords":false,"manage":false}],\
        "users":[{"id":"00000000-0000-0000-0000-000000000000","readOnly":false,\
        "hidePasswords":false,"manage":false},\
        {"id":"00000000-0000-0000-0000-000000000000","readOnly":false,\
        "hidePasswords":false,"manage":false}]}
        """,
        "send.text": elsewhere,
        "send.file": elsewhere,
    ]

    /// `bw serve` answers with success, and with this in it.
    private static let elsewhere = """
        {"success":false,"message":"Invalid template object. Use `bw send template` instead."}
        """
}
