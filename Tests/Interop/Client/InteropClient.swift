import Bitwarden
import Crypto
import Glibc
import HTTP
import Host
import JSON
import Metrics
import System
import Vault

/// Our own client at work on an account that another client has made, with its master password in
/// the environment as `PASSWORD`:
///
/// - `interop-client store URL EMAIL` stores an item with a file and prints the item's id.
/// - `interop-client read URL EMAIL NAME` prints what is in that item and in its files, as JSON.
/// - `interop-client hear URL EMAIL` says `listening` and then the kind and the id of the next event.
@main
struct InteropClient {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count >= 3, let password = getenv("PASSWORD").map({ String(cString: $0) })
        else { throw Failure("store|read|hear URL EMAIL [NAME], and PASSWORD in the environment") }
        let workshop = try WorkshopThread()
        try await Visit.pay(words[1], words[2], password, workshop.workshop) { visit in
            switch (words[0], words.count) {
            case ("store", 3): print(try await visit.store())
            case ("read", 4): print(try await visit.read(words[3]))
            case ("hear", 3): try await visit.hear()
            default: throw Failure("nothing is known of \(words)")
            }
        }
        workshop.stop()
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// An account that is signed in and unlocked.
struct Visit: Sendable {
    let account: UpstreamAccount
    let keys: KeyRing
    let userID: String

    static func pay(
        _ url: String,
        _ email: String,
        _ password: String,
        _ workshop: Workshop,
        _ body: (Visit) async throws -> Void
    ) async throws {
        let (client, sockets) = (try Client(), try WebSocketClient())
        let time = SystemTimekeeper()
        let device = Device(
            type: 25,
            identifier: "5a1f9e0c-3d43-4a52-8a4e-6f5f10c7d201",
            name: "interop"
        )
        let upstream = Upstream(
            try Bases(url),
            identity: ClientIdentity(device: device),
            world: Upstream.World(
                network: RealNetwork(client: client, sockets: sockets),
                timekeeper: time,
                chance: SystemChance()
            ),
            metrics: UpstreamMetrics(Registry(timekeeper: time))
        )
        try await withThrowingTaskGroup { services in
            services.addTask { await upstream.run() }
            try await body(try await signIn(upstream, email, password, workshop))
            services.cancelAll()
        }
        await client.close()
        await sockets.close()
    }

    private static func signIn(
        _ upstream: Upstream,
        _ email: String,
        _ password: String,
        _ workshop: Workshop
    ) async throws -> Visit {
        let told = try await upstream.prelogin(email: email)
        let master = try await MasterKey.derived(
            from: Secret(utf8: password),
            salt: KeyDerivation.salt(server: told.salt, email: email),
            by: try KeyDerivation(told.settings),
            in: workshop
        )
        let grant = PasswordGrant(email: email, masterPasswordHash: master.serverHash)
        guard case .signedIn(let signedIn) = try await upstream.signIn(grant),
            let unlock = signedIn.login?.unlock
        else { throw Failure("\(email) is not let in") }
        let account = UpstreamAccount(upstream, upstream.session(signedIn.tokens) { _ in })
        let profile = try await account.sync().answer.profile
        let keys = try KeyRing(
            user: master.unwrapUserKey(unlock.wrappedUserKey),
            account: WrappedKeys(privateKey: signedIn.login?.wrappedPrivateKey)
        )
        return Visit(account: account, keys: keys, userID: profile.id)
    }
}

extension KeyDerivation {
    fileprivate init(_ settings: DerivationSettings) throws(CryptoError) {
        try self.init(
            kdf: settings.kind,
            iterations: settings.iterations,
            memory: settings.memory,
            parallelism: settings.parallelism
        )
    }
}

// MARK: - Items

extension Visit {
    private static let body = """
        {"type":1,"name":"holdfast item – ü","notes":"kept by holdfast","favorite":true,
        "login":{"username":"holdfast user","password":"p|w.\\"\\\\",
        "uris":[{"uri":"https://holdfast.example/","match":null}]},
        "fields":[{"type":1,"name":"hidden","value":"field value"}]}
        """

    /// - Returns: The item's id.
    func store() async throws -> String {
        let cipher = try Cipher(
            creating: try ItemBody(Array(Self.body.utf8)),
            id: nil,
            at: Moment(SystemTimekeeper().now),
            keys: keys,
            entropy: SystemEntropy()
        )
        var sending = Sending()
        sending.encryptedFor = userID
        let made = try await account.create(cipher.request(sending))
        guard let id = made.id else { throw Failure("the new item has no id") }
        try await attach(Self.content, to: made, id)
        return id
    }

    /// More than one piece, and no multiple of a block.
    private static let content = (0..<100_001).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private func attach(_ content: [UInt8], to cipher: Cipher, _ id: String) async throws {
        let owner = try sealer(of: cipher)
        let key = SymmetricKey(from: SystemEntropy())
        let wrapped = try owner.wrap(key)
        let sealed = try Sealer(key).seal(buffer: content)
        let upload = try await account.announceAttachment(
            AttachmentRequest(
                key: wrapped,
                fileName: try owner.seal("holdfast file.bin"),
                size: sealed.count,
                lastKnownRevisionDate: cipher.revisionDate
            ),
            to: id
        )
        let pieces = Pieces(sealed)
        let source = FileSource(length: sealed.count) { await pieces.next() }
        try await account.upload(source, as: upload)
    }

    func read(_ name: String) async throws -> String {
        for cipher in try await account.ciphers() {
            let item = Item(cipher, keys: keys)
            guard item.name == name else { continue }
            guard item.flaws.isEmpty else { throw Failure("\(name) has flaws: \(item.flaws)") }
            return try await text(of: item)
        }
        throw Failure("there is no item of that name")
    }

    private func text(of item: Item) async throws -> String {
        var files: [(name: String, content: String)] = []
        for id in item.cipher.attachmentIDs { files.append(try await file(id, of: item.cipher)) }
        let raw = JSON.Raw.object {
            $0.add("name", item.name)
            $0.add("username", item.login?.username)
            $0.add("password", item.login?.password)
            $0.add("uris", item.login?.uris.map(\.uri) ?? [])
            $0.add("notes", item.notes)
            $0.object("files") { list in
                for file in files { list.add(file.name, file.content) }
            }
        }
        return String(decoding: raw.bytes, as: UTF8.self)
    }

    /// - Returns: Its name, and its content in Base64.
    private func file(_ id: String, of cipher: Cipher) async throws -> (String, String) {
        let owner = try sealer(of: cipher)
        let told = try await account.attachment(id, of: cipher.id ?? "")
        guard let wrapped = told.key else { throw Failure("a file without a key") }
        var sealed: [UInt8] = []
        for try await piece in try await account.download(told) { sealed += piece }
        let content = try Sealer(owner.unwrapKey(wrapped)).open(buffer: sealed)
        return (try owner.open(told.fileName), content.withUnsafeBytes(Base64.text(of:)))
    }

    /// What the item's own strings and file keys are under.
    private func sealer(of cipher: Cipher) throws -> Sealer {
        guard let wrapped = cipher.key else { return keys.user }
        return Sealer(try keys.user.unwrapKey(wrapped))
    }
}

/// A file in memory, piece by piece.
private actor Pieces {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    func next() -> [UInt8]? {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(30_000) }
        return Array(rest.prefix(30_000))
    }
}

// MARK: - Events

extension Visit {
    /// Finds the hub with nothing but the base address.
    func hear() async throws {
        let (news, told) = AsyncStream.makeStream(of: HubNews.self)
        await withTaskGroup { tasks in
            tasks.addTask { await Hub(account).run { told.yield($0) } }
            for await one in news {
                if one == .connected { Self.say("listening") }
                guard case .event(let event, _) = one else { continue }
                Self.say("\(event.kind.rawValue) \(event.id ?? "")")
                break
            }
            tasks.cancelAll()
        }
    }

    /// At once, for whoever waits for it at the other end of a pipe.
    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}
