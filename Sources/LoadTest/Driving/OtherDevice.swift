import Bitwarden
import Crypto
import FoundationEssentials
import HTTP
import JSON
import System

/// One user's other device: it talks to upstream itself, past the host, and is never cut off.
///
/// It makes the account, fills it, edits in it, and opens in the end what upstream has.
final class OtherDevice: Sendable {
    static let password = "correct horse battery staple"

    let email: String
    private let keys: Sealer
    private let upstream: any Transport
    private let proof: String
    private let token: Lock<String>
    private let timekeeper: any Timekeeper

    /// The least that clients accept: the test is not about how long a derivation takes.
    private static let settings = DerivationSettings(kind: 0, iterations: 5_000)

    /// Registers the account and signs in to it.
    static func join(
        _ email: String,
        _ upstream: any Transport,
        _ pair: KeyPair,
        _ timekeeper: any Timekeeper
    ) async throws -> OtherDevice {
        let master = try MasterKey(
            password: Secret(utf8: password),
            salt: KeyDerivation.salt(server: nil, email: email),
            derivation: .pbkdf2(iterations: settings.iterations)
        )
        let key = SymmetricKey(from: SystemEntropy())
        let wrapped = try Sealer(master.stretched()).wrap(key)
        let keys = Sealer(key)
        let registration = Registration(
            email: email,
            masterPasswordHash: master.serverHash,
            settings: settings,
            wrappedUserKey: wrapped,
            keys: AccountKeys(
                publicKey: pair.publicKey,
                wrappedPrivateKey: try pair.wrapped(by: keys)
            )
        )
        let device = OtherDevice(email, keys, upstream, master.serverHash, timekeeper)
        let body = Array(JSON.Raw(registration, capacity: 8_192).bytes)
        let path = "/identity/accounts/register/finish"
        let answer = try await upstream.send(.post, path, headers: jsonHeaders, body: body)
        try answer.mustBeGood("register")
        try await device.signIn()
        return device
    }

    private init(
        _ email: String,
        _ keys: Sealer,
        _ upstream: any Transport,
        _ proof: String,
        _ timekeeper: any Timekeeper
    ) {
        self.email = email
        self.keys = keys
        self.upstream = upstream
        self.proof = proof
        self.timekeeper = timekeeper
        token = Lock("")
    }

    private static let jsonHeaders: Headers = ["Content-Type": "application/json"]

    /// Also needed when the token has run out.
    func signIn() async throws {
        let grant = PasswordGrant(email: email, masterPasswordHash: proof)
        let device = Device(
            type: 9,
            identifier: "10ad0000-0000-4000-8000-000000000001",
            name: "other"
        )
        let form = TokenRequest(.password(grant), device: device).form
        let answer = try await upstream.send(
            .post,
            "/identity/connect/token",
            headers: ["Content-Type": "application/x-www-form-urlencoded"],
            body: form.bytes
        )
        try answer.mustBeGood("sign in")
        let json = try JSON.Document(answer.body)
        let access = json.root["access_token"]?.string ?? ""
        token.withLock { $0 = access }
    }

    private func send(_ method: Method, _ path: String, _ body: JSON.Raw?) async throws -> Answer {
        var headers = Self.jsonHeaders
        headers["Authorization"] = "Bearer " + token.withLock(\.self)
        let bytes = body.map { Array($0.bytes) } ?? []
        let answer = try await upstream.send(method, path, headers: headers, body: bytes)
        guard answer.status == .unauthorized else { return answer }
        try await signIn()
        headers["Authorization"] = "Bearer " + token.withLock(\.self)
        return try await upstream.send(method, path, headers: headers, body: bytes)
    }

    // MARK: Writing

    func fill(with contents: [Content]) async throws {
        let keys = keys
        let ciphers = try contents.map { try SealedContent($0, [], keys).raw }
        let body = JSON.Raw.object(capacity: ciphers.count * 1_024) { wish in
            wish.array("folders") { _ in }
            wish.array("ciphers") { list in for cipher in ciphers { list.add(cipher) } }
            wish.array("folderRelationships") { _ in }
        }
        try await send(.post, "/api/ciphers/import", body).mustBeGood("import")
    }

    /// Replaces an item as a client would that has just looked at it.
    ///
    /// - Returns: Whether upstream took it.
    func replace(_ id: String, with content: Content) async throws -> Bool {
        let answer = try await send(.get, "/api/ciphers/\(id)", nil)
        guard answer.status.isSuccess else { return false }
        let json = try JSON.Document(answer.body).root
        let old = try CipherReader(keys: keys).read(json)
        let isChanged = old.content.password != content.password
        let history = (isChanged ? [old.content.password] : []) + old.history
        let sealed = try SealedContent(content, Array(history.prefix(5)), keys)
        let date = timekeeper.now.ISO8601Format()
        let body = sealed.request(revisionDate: json["revisionDate"]?.string, now: date)
        return try await send(.put, "/api/ciphers/\(id)", body).status.isSuccess
    }

    /// Deletes for good.
    func remove(_ ids: [String]) async throws {
        guard !ids.isEmpty else { return }
        for start in stride(from: 0, to: ids.count, by: 400) {
            let some = Array(ids[start..<min(start + 400, ids.count)])
            let body = JSON.Raw.object { $0.add("ids", some) }
            try await send(.delete, "/api/ciphers", body).mustBeGood("delete")
        }
    }

    /// Sends one of the items again and again over a socket, as quickly as the server takes it.
    ///
    /// - Returns: How often it was taken.
    func rewrite(
        by client: Client,
        at url: String,
        while goesOn: @Sendable () -> Bool
    ) async throws -> Int {
        guard let item = try await everything().items.first(where: { !$0.isInTrash }) else {
            return 0
        }
        let body = try SealedContent(item.content, item.history, keys).raw
        var request = Client.Request(.put, "\(url)/api/ciphers/\(item.id)", operation: "load")
        request.headers = Self.jsonHeaders
        request.headers["Authorization"] = "Bearer " + token.withLock(\.self)
        request.body = .bytes(Array(body.bytes))
        var count = 0
        while goesOn() {
            if try await client.send(request).status.isSuccess { count += 1 }
        }
        return count
    }

    // MARK: Reading

    /// Everything that upstream has of this user, opened; and the ids of what cannot be.
    func everything() async throws -> (items: [FoundItem], unreadable: [String]) {
        let answer = try await send(.get, "/api/sync?excludeDomains=true", nil)
        try answer.mustBeGood("sync")
        let reader = CipherReader(keys: keys)
        var (items, unreadable): ([FoundItem], [String]) = ([], [])
        for cipher in try JSON.Document(answer.body).root["ciphers"]?.array.map(Array.init) ?? [] {
            do {
                items.append(try reader.read(cipher))
            } catch {
                unreadable.append(cipher["id"]?.string ?? "an item without an id")
            }
        }
        return (items, unreadable)
    }
}

/// An account's key pair. All users of a test share one, because making one takes a tenth of a second
/// and nobody uses it.
struct KeyPair: Sendable {
    let publicKey: String
    private let privateKey: [UInt8]

    init() throws(CryptoError) {
        let pair = try PrivateKey()
        publicKey = Base64.text(of: try pair.publicKey())
        privateKey = try pair.pkcs8().revealedBytes()
    }

    func wrapped(by keys: Sealer) throws(CryptoError) -> String {
        try keys.seal(Secret(privateKey))
    }
}

extension Answer {
    fileprivate func mustBeGood(_ deed: String) throws(LoadFailure) {
        guard !status.isSuccess else { return }
        throw LoadFailure("Upstream refuses to \(deed): \(status) \(text.prefix(300))")
    }
}
