import FoundationEssentials
import Bitwarden
import Crypto
import EmbeddedUpstream
import HTTP
import Host
import JSON
import Machine
import Metrics
import Sync
import System
import Vault

/// The server with all that is done there without this host: the account, its other device, and the
/// eye of the oracle.
final class Cloud: Sendable {
    let server: EmbeddedUpstream
    /// All keys that the account has had, the present ones last.
    private let keys: Lock<[KeyRing]>
    let userID: String
    /// One request after the other, so that it is known who changed what.
    let turns = Lanes()
    let directLine: DirectLine
    private let transport: MemoryTransport
    private let upstream: Upstream
    private let chance: SeededChance
    private let other: Lock<UpstreamAccount>
    private let readings = Lock<[String: (bytes: [UInt8], item: PlainItem)]>([:])
    private let shift = Lock(Int64(0))
    /// How many keys the account had had when the snapshot was made.
    private let remembered = Lock(0)
    private let time: VirtualTimekeeper

    static let email = "ada@example.com"
    private static let hash = Base64.text(of: [UInt8](repeating: 7, count: 32))

    init(_ profile: Personality.Name, _ time: VirtualTimekeeper, seed: UInt64) async throws {
        self.time = time
        chance = SeededChance(seed: seed ^ 0xC10D)
        server = try await EmbeddedUpstream.start(
            .init(Personality(profile), address: nil),
            time: time,
            chance: chance
        )
        transport = MemoryTransport(handler: server.handler)
        try await Self.register(Self.email, transport, chance)
        directLine = DirectLine(transport)
        upstream = try Self.upstream(directLine, time, chance, device: 1)
        let tokens = try await Self.signIn(upstream)
        userID = tokens.userID
        other = Lock(UpstreamAccount(upstream, upstream.session(tokens) { _ in }))
        keys = Lock([try Self.newRing(chance)])
    }

    private static func newRing(_ chance: SeededChance) throws -> KeyRing {
        try KeyRing(
            user: SymmetricKey(from: chance),
            account: WrappedKeys(privateKey: nil),
            entropy: chance
        )
    }

    var rings: [KeyRing] { keys.withLock { $0 } }
    var ring: KeyRing { keys.withLock { $0[$0.count - 1] } }

    var account: UpstreamAccount {
        other.withLock { $0 }.asking { $0.isForced = true }
    }

    static func upstream(
        _ network: any Network,
        _ time: any Timekeeper,
        _ chance: any Chance,
        device: Int
    ) throws -> Upstream {
        Upstream(
            try Bases("http://localhost"),
            identity: ClientIdentity(
                device: Device(
                    type: 25,
                    identifier: "1d9f5a0c-7b51-4f0e-9d0b-0c6f0a6f1c1\(device)",
                    name: "device \(device)"
                )
            ),
            world: .init(network: network, timekeeper: time, chance: chance),
            metrics: UpstreamMetrics(Registry(timekeeper: time))
        )
    }

    static func signIn(_ upstream: Upstream, as email: String = email) async throws -> Tokens {
        let grant = PasswordGrant(email: email, masterPasswordHash: hash)
        guard case .signedIn(let signedIn) = try await upstream.signIn(grant) else {
            throw Unforeseen("the server lets nobody in")
        }
        return signedIn.tokens
    }

    /// What reaches the server, whoever sent it.
    func carryOut(
        _ method: HTTP.Method,
        _ path: String,
        _ headers: Headers,
        _ body: [UInt8]
    ) async throws -> Answer {
        try await transport.send(method, path, headers: headers, body: body)
    }

    /// Somebody else gets an account here.
    func admitLodger(_ dice: Dice) async throws -> Lodger {
        try await Self.register(Lodger.email, transport, chance)
        let upstream = try Self.upstream(directLine, time, chance, device: 9)
        let tokens = try await Self.signIn(upstream, as: Lodger.email)
        return Lodger(
            UpstreamAccount(upstream, upstream.session(tokens) { _ in }),
            userID: tokens.userID,
            ring: try Self.newRing(chance),
            dice: dice
        )
    }

    // MARK: Its clock

    var secondsAhead: Int64 { shift.withLock { $0 } }

    func setClock(seconds: Int) async {
        shift.withLock { $0 = Int64(seconds) }
        await server.shiftClock(seconds: Int64(seconds))
    }

    /// As the server's answers tell it.
    var date: String { httpDate(Int64(time.now.timeIntervalSince1970) + secondsAhead) }

    // MARK: The eye

    /// All items, opened.
    func look() async throws -> [String: PlainItem] {
        var items: [String: PlainItem] = [:]
        for cipher in try await account.ciphers() {
            guard let id = cipher.id else { continue }
            let known = readings.withLock { $0[id] }
            if let known, known.bytes == cipher.bytes {
                items[id] = known.item
            } else if let item = PlainItem.read(cipher.document.root, rings: rings) {
                readings.withLock { $0[id] = (cipher.bytes, item) }
                items[id] = item
            }
        }
        return items
    }

    /// The same items, with one of them looked at anew.
    func look(at id: String, among items: [String: PlainItem]) async -> [String: PlainItem] {
        var items = items
        let cipher = try? await account.cipher(id)
        items[id] = cipher.flatMap { PlainItem.read($0.document.root, rings: rings) }
        return items
    }

    /// Whether what is to be created is a copy of something.
    func isBackup(_ body: [UInt8]) -> Bool {
        guard let json = (try? JSON.Document(body))?.root, let name = json["name"]?.string else {
            return false
        }
        var item = PlainItem(id: "", revision: "")
        item.key = json["key"]?.string
        let opened = try? item.sealer(under: ring.user)?.open(name)
        return opened?.contains(" - ") ?? false
    }

    // MARK: The other device

    func add(_ item: PlainItem) async throws {
        _ = try await account.create(Array(body(item, under: ring.user, known: nil).utf8))
    }

    /// Writes over what is there.
    func write(_ item: PlainItem, isDated: Bool = true) async throws {
        let text = body(item, under: ring.user, known: isDated ? item.revision : nil)
        _ = try await account.update(item.id, Array(text.utf8))
    }

    /// What has not been changed keeps its ciphertext, as with every client.
    private func body(_ item: PlainItem, under user: Sealer, known: String?) -> String {
        let sealer = item.sealer(under: user, entropy: chance) ?? user
        func seal(_ text: String) -> String { (try? sealer.seal(text)) ?? "" }
        func sealed(_ field: PlainField) -> String {
            guard let text = item.values[field] else { return "null" }
            if let there = item.sealed[field], !there.isEmpty { return "\"\(there)\"" }
            return "\"\(seal(text + (field == .name ? item.stamp ?? "" : "")))\""
        }
        let history = item.sealedHistory.isEmpty ? item.history.map(seal) : item.sealedHistory
        let entries = history.prefix(5).map {
            "{\"password\":\"\($0)\",\"lastUsedDate\":\"2026-01-01T00:00:00.000Z\"}"
        }
        let origin = item.sealedOrigin.isEmpty ? seal(item.origin ?? "") : item.sealedOrigin
        let label = seal("origin")
        return """
            {"type":1,"encryptedFor":"\(userID)","reprompt":0,\
            "favorite":\(item.isFavourite),"folderId":\(item.folderID.map { "\"\($0)\"" } ?? "null"),\
            "key":\(item.key.map { "\"\($0)\"" } ?? "null"),\
            "name":\(sealed(.name)),"notes":\(sealed(.notes)),\
            "login":{"username":\(sealed(.username)),"password":\(sealed(.password))},\
            "fields":[{"type":0,"name":"\(label)","value":"\(origin)"}],\
            "passwordHistory":[\(entries.joined(separator: ","))],\
            "lastKnownRevisionDate":\(known.map { "\"\($0)\"" } ?? "null")}
            """
    }

    /// All that is in the vault is brought under a new key; nobody's token is worth anything then.
    func rotateKeys() async throws {
        let (old, new) = (ring, try Self.newRing(chance))
        let ciphers = try await account.ciphers().filter { $0.organizationID == nil }.map {
            var edit = JSON.Edit(try JSON.Document($0.resealed(from: old, to: new).request()))
            try edit.set([.member("id")], to: JSON.Raw($0.id ?? ""))
            return String(decoding: edit.bytes, as: UTF8.self)
        }
        let folders = try await folders().map { try Self.folder($0, under: new) }
        let (publicKey, privateKey) = Self.accountKeys(chance)
        try await post(
            "/api/accounts/key-management/rotate-user-account-keys",
            """
            {"oldMasterKeyAuthenticationHash":"\(Self.hash)",\
            "accountUnlockData":{"masterPasswordUnlockData":{\
            "masterKeyAuthenticationHash":"\(Self.hash)",\
            "masterKeyEncryptedUserKey":"\(Self.sealed(bytes: 80, chance))",\
            "containedKeyId":"\(new.user.keyID)"}},\
            "accountKeys":{"accountPublicKey":"\(publicKey)",\
            "userKeyEncryptedAccountPrivateKey":"\(privateKey)"},\
            "accountData":{"ciphers":[\(ciphers.joined(separator: ","))],\
            "folders":[\(folders.joined(separator: ","))]}}
            """
        )
        keys.withLock { $0.append(new) }
        try await signInElsewhere()
    }

    /// Gives the item to an organisation, which is made for that and whose key nobody has.
    func share(_ id: String) async throws {
        let cipher = try await account.cipher(id)
        let name = try ring.user.seal("club")
        let organization = try await post(
            "/api/organizations",
            """
            {"name":"club","billingEmail":"a@example.com","key":"4.AAAA",\
            "collectionName":"\(name)"}
            """
        )
        var edit = JSON.Edit(try JSON.Document(cipher.request()))
        try edit.set([.member("organizationId")], to: JSON.Raw(organization))
        let collections = try await account.sync().answer.collections.compactMap {
            $0["organizationId"]?.string == organization ? $0["id"]?.string : nil
        }
        _ = try await account.share(id, edit.bytes, in: collections)
    }

    func folders() async throws -> [String] {
        try await account.sync().answer.folders.compactMap { $0["id"]?.string }
    }

    func addFolder() async throws {
        try await post("/api/folders", Self.folder(under: ring))
    }

    private static func folder(_ id: String? = nil, under ring: KeyRing) throws -> String {
        let id = id.map { "\"id\":\"\($0)\"," } ?? ""
        return "{\(id)\"name\":\"\(try ring.user.seal("a folder"))\"}"
    }

    /// As clients do it with many at once, which leaves an item's own stamp as it is.
    func move(_ id: String, to folderID: String?) async throws {
        let folder = folderID.map { "\"\($0)\"" } ?? "null"
        try await ask(.put, "/api/ciphers/move", "{\"ids\":[\"\(id)\"],\"folderId\":\(folder)}")
    }

    func archive(_ id: String, _ isOn: Bool) async throws {
        _ = isOn ? try await account.archive(id) : try await account.unarchive(id)
    }

    /// A call that the client has no words for.
    ///
    /// - Returns: The id of what was made, if anything was.
    @discardableResult
    private func post(_ path: String, _ body: String) async throws -> String {
        try await ask(.post, path, body)
    }

    @discardableResult
    private func ask(_ method: HTTP.Method, _ path: String, _ body: String) async throws -> String {
        let token = account.session.tokens.access
        let answer = try await transport.send(
            method,
            path,
            headers: ["Content-Type": "application/json", "Authorization": "Bearer \(token)"],
            body: Array(body.utf8)
        )
        guard answer.status.isSuccess else { throw Unforeseen("\(path): \(answer.text)") }
        return (try? JSON.Document(answer.body))?.root[anyCase: "id"]?.string ?? ""
    }

    /// Nobody's token is worth anything afterwards; this device signs in anew.
    func endSessions() async throws {
        _ = try? await post(
            "/api/accounts/security-stamp",
            "{\"masterPasswordHash\":\"\(Self.hash)\"}"
        )
        try await signInElsewhere()
    }

    func remember() async {
        await server.remember()
        remembered.withLock { $0 = rings.count }
    }

    /// Its sessions are those of that time, too. Nobody goes back to a key that the account had before.
    func rollBack() async throws {
        guard remembered.withLock(\.self) == rings.count else { return }
        await server.rollBack()
        try await signInElsewhere()
    }

    private func signInElsewhere() async throws {
        let tokens = try await Self.signIn(upstream)
        let session = upstream.session(tokens) { _ in }
        other.withLock { $0 = UpstreamAccount(upstream, session) }
    }

    // MARK: The account

    /// Nobody opens them, so they are nothing but as long as such keys are.
    private static func accountKeys(_ chance: SeededChance) -> (public: String, private: String) {
        (Base64.text(of: [UInt8](repeating: 3, count: 294)), sealed(bytes: 1_232, chance))
    }

    private static func sealed(bytes count: Int, _ chance: SeededChance) -> String {
        let parts = [16, count, 32].map { count in
            Base64.text(of: (0..<count).map { _ in UInt8(truncatingIfNeeded: chance.next()) })
        }
        return "2." + parts.joined(separator: "|")
    }

    private static func register(
        _ email: String,
        _ transport: MemoryTransport,
        _ chance: SeededChance
    ) async throws {
        let wrappedUserKey = sealed(bytes: 80, chance)
        let (publicKey, privateKey) = accountKeys(chance)
        let registration = Registration(
            email: email,
            masterPasswordHash: hash,
            settings: .usual,
            wrappedUserKey: wrappedUserKey,
            keys: AccountKeys(publicKey: publicKey, wrappedPrivateKey: privateKey)
        )
        var json = JSON.Edit(try JSON.Document(JSON.Raw(registration)))
        try json.set([.member("emailVerificationToken")], to: JSON.Raw("any"))
        let answer = try await transport.send(
            .post,
            "/identity/accounts/register/finish",
            headers: ["Content-Type": "application/json"],
            body: json.bytes
        )
        guard answer.status == .ok else { throw Unforeseen(answer.text) }
    }
}

/// The simulator itself cannot go on.
struct Unforeseen: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A line on which nothing goes wrong.
struct DirectLine: Network {
    let transport: MemoryTransport

    init(_ transport: MemoryTransport) { self.transport = transport }

    func send(_ request: Client.Request) async throws(NetworkFailure) -> NetworkAnswer {
        do {
            let answer = try await transport.send(
                request.method,
                request.path,
                headers: request.headers,
                body: request.content
            )
            return NetworkAnswer(
                status: answer.status.rawValue,
                headers: answer.headers,
                body: answer.body
            )
        } catch {
            throw NetworkFailure(.lost, "the connection was lost", isOutcomeUnknown: true)
        }
    }

    func open(_ request: Client.Request) async throws(NetworkFailure) -> StreamedAnswer {
        throw NetworkFailure(.lost, "nothing is streamed here")
    }

    func openLine(
        _ url: String,
        headers: Headers
    ) async throws(NetworkFailure) -> any HubLine {
        throw NetworkFailure(.lost, "there is no hub here")
    }
}

extension Client.Request {
    var path: String { "/" + url.split(separator: "/", maxSplits: 2).dropFirst(2).joined() }

    var content: [UInt8] {
        if case .bytes(let bytes) = body { bytes } else { [] }
    }
}
