import JSON

/// What the stricter server demands of encrypted texts: that they are some, and not too long.
struct ContentCheck {
    private let member: String

    init(_ member: String) {
        self.member = member.prefix(1).uppercased() + member.dropFirst()
    }

    func check(_ content: Content) throws(Refusal) {
        try check(content.name, "Name", limit: 1_000)
        try check(content.notes, "Notes", limit: 10_000)
        try check(content.key, "Key", limit: 1_000)
        try check(content.typed, within: member)
        try check(content.fields, within: "Fields")
        try check(content.passwordHistory, within: "PasswordHistory")
    }

    private func check(_ raw: JSON.Raw, within path: String) throws(Refusal) {
        guard let document = try? JSON.Document(raw) else { return }
        try check(document.root, path)
    }

    private func check(_ value: JSON.Value, _ path: String) throws(Refusal) {
        if let members = value.object {
            for member in members {
                let name = member.name.string
                let inner = "\(path).\(name.prefix(1).uppercased())\(name.dropFirst())"
                if member.value.kind == .string, !Self.plain.contains(name) {
                    try check(member.value.raw, inner, limit: Self.limit(of: name, path))
                } else {
                    try check(member.value, inner)
                }
            }
        } else if let elements = value.array {
            for (position, element) in elements.enumerated() {
                try check(element, "\(path)[\(position)]")
            }
        }
    }

    private func check(_ raw: JSON.Raw, _ path: String, limit: Int) throws(Refusal) {
        guard let text = raw.string else { return }
        guard text.utf8.count <= limit else { throw .tooLong(member: path, limit: limit) }
        guard Self.isEncrypted(text) else { throw .notEncrypted(member: path) }
    }

    private static let plain: Set = [
        "passwordRevisionDate", "lastUsedDate", "creationDate",
    ]

    private static func limit(of name: String, _ path: String) -> Int {
        switch name {
        case "password", "privateKey", "publicKey": 5_000
        case "value" where path.hasPrefix("Fields"): 5_000
        case "uri", "uriChecksum": 10_000
        default: 1_000
        }
    }

    /// A type that exists, so many pieces as it has, each standard base64.
    static func isEncrypted(_ text: String) -> Bool {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let pieces = (parts.last ?? "").split(separator: "|", omittingEmptySubsequences: false)
        guard pieces.allSatisfy(isBase64) else { return false }
        if parts.count == 1 { return pieces.count == 2 || pieces.count == 3 }
        let wanted = [2, 3, 3, 1, 1, 2, 2, 1]
        guard let type = Int(parts[0]), wanted.indices.contains(type) else { return false }
        return pieces.count == wanted[type]
    }

    private static func isBase64(_ piece: Substring) -> Bool {
        let bytes = piece.utf8
        guard !bytes.isEmpty, bytes.count % 4 == 0 else { return false }
        let padding = bytes.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return padding <= 2 && bytes.dropLast(padding).allSatisfy(\.isBase64)
    }
}

extension UInt8 {
    fileprivate var isBase64: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
