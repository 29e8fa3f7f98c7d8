public import Crypto
import JSON

/// An entry as its owner sees it: decrypted, and knowing the cipher it came from.
///
/// There is always one, whatever is wrong with the cipher. What did not open is empty and named in
/// ``flaws``; what did open is shown. An item with a flaw can be edited only so that nothing flawed is
/// left: else the edit would write the loss upstream.
public struct Item: Sendable {
    public let cipher: Cipher
    public let flaws: [Flaw]
    /// All that opened, also what an organisation does not let its user see.
    let contents: Contents

    public init(_ cipher: Cipher, keys: KeyRing) {
        self.cipher = cipher
        do throws(Flaw) {
            (contents, flaws) = try Opening.opened(cipher, keys: keys)
        } catch {
            contents = Contents(unopened: cipher)
            flaws = [error]
        }
    }

    /// What the user may see.
    var shown: Contents { cipher.showsPasswords ? contents : contents.withoutPasswords }
}

extension Item {
    /// Shown in place of a name that cannot be decrypted, as official clients have it.
    public static let unreadableName = "[error: cannot decrypt]"

    public var id: String? { cipher.id }
    public var type: ItemType? { cipher.type }
    public var name: String? { contents["name"].text }
    public var notes: String? { contents["notes"].text }
    public var login: Login? { shown["login"].object.map(Login.init) }
    public var fields: [Field] { contents["fields"].list.map(Field.init) }
    public var attachments: [Attachment] { contents["attachments"].list.map(Attachment.init) }
    public var passwordHistory: [HistoryEntry] {
        shown["passwordHistory"].list.map(HistoryEntry.init)
    }

    /// The line below the name: a login's user, a card's brand and last digits, an identity's name.
    public var subtitle: String? {
        switch type {
        case .login: login?.username
        case .card: contents["card"].object?.cardSubtitle
        case .identity: contents["identity"].object?.fullName
        case .secureNote, .sshKey, .other, nil: nil
        }
    }

    public struct Login: Sendable {
        let contents: Contents

        public var username: String? { contents["username"].text }
        public var password: String? { contents["password"].text }
        public var totp: String? { contents["totp"].text }
        public var passwordRevisionDate: String? { contents["passwordRevisionDate"].date }
        /// In order; URIs that are empty are left out.
        public var uris: [URI] {
            contents["uris"].list.compactMap { entry in
                entry["uri"].text.map { URI(uri: $0, match: entry["match"].int) }
            }
        }
    }

    public struct URI: Sendable {
        public let uri: String
        /// How it is compared with a site's; nil for the account's own rule.
        public let match: Int?
    }

    public struct Field: Sendable {
        let contents: Contents

        public var value: String? { contents["value"].text }
    }

    public struct Attachment: Sendable {
        let contents: Contents

        public var id: String? { contents["id"].text }
        public var fileName: String? { contents["fileName"].text }
    }

    public struct HistoryEntry: Sendable {
        let contents: Contents

        public var password: String? { contents["password"].text }
        public var lastUsedDate: String? { contents["lastUsedDate"].date }
    }
}

extension Item: CustomStringConvertible, CustomReflectable {
    /// Says nothing of the content.
    public var description: String { "an item with \(flaws.count) flaws" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Contents {
    /// Of a cipher that cannot be opened: what was never encrypted.
    fileprivate init(unopened cipher: Cipher) {
        self.init(.item)
        for member in shape.shown {
            guard let value = cipher[member.name], !value.isNull else { continue }
            switch member.kind {
            case .text, .date, .flag, .number, .texts: self[member.name] = .plain(value.raw)
            case .sealed, .checksum, .key, .kept, .mirror, .object, .list: continue
            }
        }
    }

    fileprivate var withoutPasswords: Contents {
        var shown = self
        shown["passwordHistory"] = .none
        guard var login = self["login"].object else { return shown }
        login["password"] = .none
        login["totp"] = .none
        shown["login"] = .object(login)
        return shown
    }

    fileprivate var cardSubtitle: String? {
        let number = self["number"].text.map { "*" + $0.suffix(4) }
        return joined([self["brand"].text, number], by: ", ")
    }

    fileprivate var fullName: String? {
        joined([self["firstName"].text, self["lastName"].text], by: " ")
    }

    private func joined(_ parts: [String?], by separator: String) -> String? {
        let parts = parts.compactMap { $0 }.filter { !$0.isEmpty }
        return parts.isEmpty ? nil : parts.joined(separator: separator)
    }
}
