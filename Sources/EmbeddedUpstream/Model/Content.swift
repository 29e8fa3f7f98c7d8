import JSON

/// What the user typed, encrypted: members of an item that the server keeps and gives back.
struct Content: Sendable, Hashable {
    var name: JSON.Raw
    var notes: JSON.Raw
    /// The item's own key.
    var key: JSON.Raw
    var reprompt: Int
    var fields: JSON.Raw
    var passwordHistory: JSON.Raw
    /// The object of the item's type, as it is answered.
    var typed: JSON.Raw
    /// All of the content in one sealed text, instead of the members above.
    var blob: JSON.Raw = .null
}

/// The name of the member that holds the object of a type.
enum TypedMember {
    static let names = [
        "login", "secureNote", "card", "identity", "sshKey", "bankAccount", "driversLicense",
        "passport",
    ]

    static func name(of type: Int) -> String? {
        names.indices.contains(type - 1) ? names[type - 1] : nil
    }
}

extension Content {
    /// - Parameters:
    ///   - json: The body of a request.
    ///   - type: What the item is; of one that exists, what it has always been.
    init(
        _ json: JSON.Value,
        type: Int,
        _ personality: Personality
    ) throws(Refusal) {
        // One of the servers goes by the type in the request, and keeps the object under the old.
        let named = personality.keepsUnknownMembers ? json[anyCase: "type"]?.int ?? type : type
        guard let member = TypedMember.name(of: named), named <= personality.typeLimit else {
            throw .badType
        }
        let data = personality.keepsUnknownMembers ? nil : json[anyCase: "data"]?.string
        let mirror = data.flatMap(Self.mirror)
        if let data, !data.isEmpty, mirror == nil {
            self = Content(blob: JSON.Raw(data), of: json)
            return
        }
        // Whoever sends an answer back changes nothing: what it says once more there wins.
        let said = mirror ?? json
        guard let object = mirror ?? json[anyCase: member], object.kind == .object else {
            throw .noData
        }
        self.init(
            name: Self.text(said, "name"),
            notes: Self.text(said, "notes"),
            key: personality.keepsItemKeys ? Self.text(json, "key") : .null,
            reprompt: json[anyCase: "reprompt"]?.int ?? 0,
            fields: .null,
            passwordHistory: .null,
            typed: .null
        )
        let shaping = Shaping(personality)
        typed = shaping.typed(object, named: member, as: type)
        fields = shaping.fields(said[anyCase: "fields"])
        passwordHistory = shaping.passwordHistory(said[anyCase: "passwordHistory"])
        if personality.checksLengthsAndShape { try ContentCheck(member).check(self) }
        if let notes = notes.string, notes.utf8.count > 10_000 {
            throw .tooLong(member: "Notes", limit: 10_000)
        }
    }

    /// The content once more, in one object; nil of what is sealed in one text.
    private static func mirror(_ data: String) -> JSON.Value? {
        guard let root = (try? JSON.Document(Array(data.utf8)))?.root, root.kind == .object,
            root["format_version"] == nil
        else { return nil }
        return root
    }

    /// What is sealed in one text has nothing else but its key.
    private init(blob: JSON.Raw, of json: JSON.Value) {
        self.init(
            name: .null,
            notes: .null,
            key: Self.text(json, "key"),
            reprompt: json[anyCase: "reprompt"]?.int ?? 0,
            fields: .null,
            passwordHistory: .null,
            typed: .null,
            blob: blob
        )
    }

    private static func text(_ json: JSON.Value, _ name: String) -> JSON.Raw {
        guard let value = json[anyCase: name], value.kind == .string else { return .null }
        return value.raw.copy
    }
}
