import JSON
import Vault

/// How a server keeps the parts of an item: one takes what it is given and only changes the case of
/// first letters, the other keeps the members that it knows.
struct Shaping {
    private let personality: Personality

    init(_ personality: Personality) {
        self.personality = personality
    }

    func typed(_ object: JSON.Value, named member: String, as type: Int) -> JSON.Raw {
        var parts = members(of: object, known: KnownMembers.typed[member] ?? [])
        if type == 1 { addFirstURI(to: &parts) }
        if type == 2, parts["type"]?.int == nil { parts = Parts([("type", 0)]) }
        if type == 5, !KnownMembers.sshKey.allSatisfy({ parts[$0]?.string?.isEmpty == false }) {
            return .null
        }
        restamp("passwordRevisionDate", in: &parts)
        return parts.raw
    }

    func fields(_ list: JSON.Value?) -> JSON.Raw {
        elements(list) { members(of: $0, known: KnownMembers.field) }
    }

    /// An entry whose password is no text would break other clients, and is dropped.
    func passwordHistory(_ list: JSON.Value?) -> JSON.Raw {
        elements(list) { entry in
            guard entry[anyCase: "password"]?.string != nil else { return nil }
            var parts = members(of: entry, known: KnownMembers.historyEntry)
            restamp("lastUsedDate", in: &parts)
            return parts
        }
    }

    private func elements(_ list: JSON.Value?, _ shape: (JSON.Value) -> Parts?) -> JSON.Raw {
        guard let list = list?.array else {
            return personality.emptyListsAreNull ? .null : .array { _ in }
        }
        let shaped = list.filter { $0.kind == .object }.compactMap(shape)
        return .array { array in
            for parts in shaped { array.add(parts) }
        }
    }

    private func members(of object: JSON.Value, known: [String]) -> Parts {
        if personality.keepsUnknownMembers {
            return Parts(object.object.map(Array.init)?.compactMap(Camel.member) ?? [])
        }
        return Parts(known.map { ($0, value(of: $0, in: object)) })
    }

    private func value(of name: String, in object: JSON.Value) -> JSON.Raw {
        guard let found = object[anyCase: name] else { return .null }
        guard let inner = KnownMembers.inner[name], let list = found.array else {
            return found.raw.copy
        }
        return .array { array in
            for element in list where element.kind == .object {
                array.add(Parts(inner.map { ($0, value(of: $0, in: element)) }))
            }
        }
    }

    /// Every client but the oldest reads `uris`; the first stands once more by itself.
    private func addFirstURI(to parts: inout Parts) {
        let uris = parts["uris"].flatMap { try? JSON.Document($0) }?.root
        parts["uri"] = uris?[0]?[anyCase: "uri"]?.raw.copy ?? .null
        if parts["uris"] == nil { parts["uris"] = .null }
    }

    private func restamp(_ name: String, in parts: inout Parts) {
        guard personality.keepsUnknownMembers, let text = parts[name]?.string else { return }
        let moment = Revision(text)?.moment ?? Moment(ticks: 0)
        parts[name] = JSON.Raw(personality.stamp(moment))
    }
}

/// Members of an object, in order.
struct Parts: JSON.Writable {
    private(set) var members: [(name: String, value: JSON.Raw)]

    init(_ members: [(String, JSON.Raw)]) {
        self.members = members.map { (name: $0.0, value: $0.1) }
    }

    subscript(name: String) -> JSON.Raw? {
        get { members.last { $0.name == name }?.value }
        set {
            guard let newValue else { return }
            if let index = members.lastIndex(where: { $0.name == name }) {
                members[index].value = newValue
            } else {
                members.append((name, newValue))
            }
        }
    }

    var raw: JSON.Raw { JSON.Raw(self, capacity: 512) }

    func write(to json: inout JSON.Writer) {
        json.object { object in
            for member in members { object.add(member.name, member.value) }
        }
    }
}

/// A value whose names all begin with a small letter, and without what old clients echo.
struct Camel: JSON.Writable {
    let value: JSON.Value

    static func member(_ member: JSON.Member) -> (String, JSON.Raw)? {
        let name = member.name.string
        guard name.lowercased() != "response" else { return nil }
        return (
            name.prefix(1).lowercased() + name.dropFirst(), JSON.Raw(Camel(value: member.value))
        )
    }

    func write(to json: inout JSON.Writer) {
        if let members = value.object {
            Parts(members.compactMap(Self.member)).write(to: &json)
        } else if let elements = value.array {
            json.array { array in
                for element in elements { array.add(Camel(value: element)) }
            }
        } else {
            json.raw(value.raw)
        }
    }
}

/// The members that the stricter server knows.
enum KnownMembers {
    static let typed: [String: [String]] = [
        "login": [
            "username", "password", "passwordRevisionDate", "totp", "autofillOnPageLoad", "uri",
            "uris", "fido2Credentials",
        ],
        "secureNote": ["type"],
        "card": ["cardholderName", "brand", "number", "expMonth", "expYear", "code"],
        "identity": [
            "title", "firstName", "middleName", "lastName", "address1", "address2", "address3",
            "city", "state", "postalCode", "country", "company", "email", "phone", "ssn",
            "username", "passportNumber", "licenseNumber",
        ],
        "sshKey": sshKey,
        "bankAccount": [
            "bankName", "nameOnAccount", "accountType", "accountNumber", "routingNumber",
            "branchNumber", "pin", "swiftCode", "iban", "bankContactPhone",
        ],
        "driversLicense": [
            "firstName", "middleName", "lastName", "dateOfBirth", "licenseNumber",
            "issuingCountry", "issuingState", "issueDate", "issuingAuthority", "expirationDate",
            "licenseClass",
        ],
        "passport": [
            "surname", "givenName", "dateOfBirth", "sex", "birthPlace", "nationality",
            "passportNumber", "passportType", "issuingCountry", "issuingAuthority", "issueDate",
            "expirationDate", "nationalIdentificationNumber",
        ],
    ]

    static let sshKey = ["privateKey", "publicKey", "keyFingerprint"]
    static let field = ["type", "name", "value", "linkedId"]
    static let historyEntry = ["password", "lastUsedDate"]

    /// What the elements of a list inside an object hold.
    static let inner: [String: [String]] = [
        "uris": ["uri", "uriChecksum", "match"],
        "fido2Credentials": [
            "credentialId", "keyType", "keyAlgorithm", "keyCurve", "keyValue", "rpId", "rpName",
            "userHandle", "userName", "userDisplayName", "counter", "discoverable", "creationDate",
        ],
    ]
}
