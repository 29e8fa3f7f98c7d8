import Crypto
import JSON

/// A content under a key of its own, as a client sends it upstream.
struct SealedContent: Sendable {
    private let key: String
    private let name: String
    private let notes: String
    private let username: String
    private let password: String
    private let uri: String
    private let history: [String]

    init(_ content: Content, _ history: [String], _ owner: Sealer) throws(CryptoError) {
        let fresh = SymmetricKey(from: SystemEntropy())
        key = try owner.wrap(fresh)
        let sealer = Sealer(fresh)
        name = try sealer.seal(content.name)
        notes = try sealer.seal(content.notes)
        username = try sealer.seal(content.username)
        password = try sealer.seal(content.password)
        uri = try sealer.seal("https://load.example/login")
        var sealed: [String] = []
        for password in history { sealed.append(try sealer.seal(password)) }
        self.history = sealed
    }

    var raw: JSON.Raw { request(revisionDate: nil, now: "2026-01-01T00:00:00Z") }

    func request(revisionDate: String?, now: String) -> JSON.Raw {
        .object(capacity: 1_536) { cipher in
            cipher.add("type", 1)
            cipher.add("key", key)
            cipher.add("name", name)
            cipher.add("notes", notes)
            cipher.add("favorite", false)
            cipher.add("reprompt", 0)
            cipher.add("folderId", String?.none)
            cipher.add("organizationId", String?.none)
            if let revisionDate { cipher.add("lastKnownRevisionDate", revisionDate) }
            cipher.object("login") { login in
                login.add("username", username)
                login.add("password", password)
                login.array("uris") { uris in
                    uris.object {
                        $0.add("uri", uri)
                        $0.add("match", Int?.none)
                    }
                }
            }
            cipher.array("passwordHistory") { list in
                for password in history {
                    list.object {
                        $0.add("password", password)
                        $0.add("lastUsedDate", now)
                    }
                }
            }
        }
    }
}

/// Opens what upstream holds.
struct CipherReader {
    let keys: Sealer

    func read(_ cipher: JSON.Value) throws -> FoundItem {
        guard let id = cipher["id"]?.string else { throw LoadFailure("An item has no id.") }
        guard let key = cipher["key"]?.string else {
            return try keys.withOpener { opener throws(CryptoError) in
                try item(id, cipher, opener)
            }
        }
        return try keys.withKey(key) { opener throws(CryptoError) in
            try item(id, cipher, opener)
        }
    }

    private func item(
        _ id: String,
        _ cipher: JSON.Value,
        _ opener: borrowing Opener
    ) throws(CryptoError) -> FoundItem {
        let login = cipher["login"]
        let content = Content(
            name: try open(cipher["name"], opener),
            username: try open(login?["username"], opener),
            password: try open(login?["password"], opener),
            notes: try open(cipher["notes"], opener)
        )
        var history: [String] = []
        for entry in cipher["passwordHistory"]?.array.map(Array.init) ?? [] {
            history.append(try open(entry["password"], opener))
        }
        let isInTrash = cipher["deletedDate"].map { !$0.isNull } ?? false
        return FoundItem(id: id, content: content, isInTrash: isInTrash, history: history)
    }

    private func open(
        _ value: JSON.Value?,
        _ opener: borrowing Opener
    ) throws(CryptoError) -> String {
        guard let text = value?.string else { return "" }
        return try opener.open(text)
    }
}
