import Bitwarden
import Crypto
import EmbeddedUpstream
import FoundationEssentials
import HTTP
import JSON
import Logging
import Metrics
import System
import TestSupport
import Testing
import Vault

@testable import Host

/// A whole host with its doors, and a server of its own that it syncs with.
struct HostVenue {
    static let email = "ada@example.test"
    static let password = "correct horse"

    /// The same account at every server; making one takes a while.
    private static let newcomer = Result {
        let settings = DerivationSettings(kind: 0, iterations: 5_000)
        return try Newcomer(email: email, password: password, settings: settings)
    }

    typealias Parting = @Sendable (Guest, EmbeddedUpstream, () -> Void) async throws -> Void

    /// What goes on when the story is over; the host is told to end by the call.
    var parting: Parting = { _, _, end in end() }
    var personality = Personality.Name.vaultwarden
    var isFromBeforeItemKeys = false
    /// How long it gives to what is under way then.
    var closing = HostServer.Closing()

    func open(_ story: @Sendable (Guest) async throws -> Void) async throws {
        let scratch = try Scratch()
        let newcomer = try Self.newcomer.get()
        let server = Personality(personality)
        let upstream = try await EmbeddedUpstream.start(
            .init(isFromBeforeItemKeys ? server.beforeItemKeys : server)
        )
        let result: Result<Void, any Error> = await withTaskGroup { services in
            services.addTask { await upstream.run() }
            let result = await Result {
                try await stay(upstream, newcomer, state: scratch.file("state"), story)
            }
            await upstream.stop(within: .seconds(1))
            services.cancelAll()
            return result
        }
        try result.get()
    }

    /// The same, for a story that the server has a part in.
    func open(
        _ story: @escaping @Sendable (Guest, EmbeddedUpstream) async throws -> Void
    ) async throws {
        var venue = self
        venue.parting = { guest, upstream, end in
            defer { end() }
            try await story(guest, upstream)
        }
        try await venue.open { _ in }
    }

    private func stay(
        _ upstream: EmbeddedUpstream,
        _ newcomer: Newcomer,
        state: String,
        _ story: @Sendable (Guest) async throws -> Void
    ) async throws {
        let (signals, end) = AsyncStream<Signal>.makeStream()
        let (departure, leaver) = AsyncStream<Guest>.makeStream()
        try await withThrowingTaskGroup { group in
            group.addTask {
                for await guest in departure {
                    try await parting(guest, upstream) { end.finish() }
                }
            }
            try await serve(upstream, newcomer, state: state, until: signals) { guest in
                do {
                    try await story(guest)
                } catch {
                    end.finish()
                    throw error
                }
                leaver.yield(guest)
                leaver.finish()
            }
            leaver.finish()
            try await group.waitForAll()
        }
    }

    private func serve(
        _ upstream: EmbeddedUpstream,
        _ newcomer: Newcomer,
        state: String,
        until signals: AsyncStream<Signal>,
        _ story: (Guest) async throws -> Void
    ) async throws {
        let settings = try HostSettings(
            flags: [
                "state": [state], "listen": ["127.0.0.1:0"], "ops-listen": ["127.0.0.1:0"],
            ],
            environment: [:],
            isTerminal: false
        )
        let client = try Client()
        try await Self.register(newcomer, at: upstream.url, client)
        let logbook = Logbook(sink: DescriptorSink(), timekeeper: SystemTimekeeper())
        logbook.setLevel(.warning)
        let shell = HostShell(
            settings,
            premises: .still(logbook),
            logbook: logbook,
            closing: closing
        )
        var outside = try Wiring.Outside.real(settings)
        outside.breaches = StillBreaches()
        var interior: Interior?
        var result: Result<Void, any Error> = .success(())
        try await shell.serve(
            until: signals,
            reread: { settings },
            wire: { [outside] directory, premises in
                let wired = try await Wiring.interior(settings, in: directory, premises, outside)
                interior = wired
                return wired
            },
            opened: { addresses in
                result = await Result {
                    let household = try #require(interior?.household)
                    var guest = try await Self.guest(
                        household,
                        upstream.url,
                        newcomer,
                        settings,
                        addresses,
                        client
                    )
                    guest.routes = interior?.inside.allRoutes ?? []
                    guest.accounts = household as? Accounts
                    try await story(guest)
                }
            }
        )
        await client.close()
        try result.get()
    }

    private static func guest(
        _ household: any Household,
        _ server: String,
        _ newcomer: Newcomer,
        _ settings: HostSettings,
        _ addresses: HostServer.Addresses,
        _ client: Client
    ) async throws -> Guest {
        var request = SignInRequest(email: email, password: password)
        request.server = server
        let desk = try await household.signIn(request)
        let token = try Files.read(settings.state + "/admin.token").filter { $0 > 0x20 }
        let address = try #require(addresses.api)
        let ops = try #require(addresses.ops)
        return Guest(
            client: client,
            base: "http://\(address)",
            headers: ["Authorization": "Bearer \(String(decoding: token, as: UTF8.self))"],
            stage: HostStage(
                desk: desk,
                server: server,
                newcomer: newcomer,
                client: client,
                ops: "http://\(ops)"
            )
        )
    }

    static func register(
        _ newcomer: Newcomer,
        at server: String,
        _ client: Client
    ) async throws {
        var request = Client.Request(.post, server + "/identity/accounts/register/finish")
        request.headers["Content-Type"] = "application/json"
        request.body = .bytes(Array(JSON.Raw(newcomer.registration, capacity: 8_192).bytes))
        let response = try await client.send(request)
        try #require(response.status.isSuccess)
    }
}

/// What the account's owner does elsewhere.
struct HostStage: Stage {
    let desk: any AccountDesk
    let server: String
    let newcomer: Newcomer
    let client: Client
    let ops: String

    var password: String { HostVenue.password }
    var userID: String { desk.id }
    var signIn: SignInRequest {
        var request = SignInRequest(email: HostVenue.email, password: HostVenue.password)
        request.server = server
        return request
    }
    var seconds: Int64 { Int64(SystemTimekeeper().now.timeIntervalSince1970) }

    func renameElsewhere(_ id: String, to name: String) async throws {
        let device = try await device()
        let keys = try keys()
        let cipher = try await device.cipher(id)
        let body = try ItemBody(Array(#"{"type":1,"name":"\#(name)"}"#.utf8))
        let edited = try Item(cipher, keys: keys).edited(
            by: body,
            at: Moment(SystemTimekeeper().now),
            keys: keys,
            entropy: SystemEntropy()
        )
        var sending = Sending()
        sending.lastKnownRevisionDate = cipher.revisionDate
        _ = try await device.update(id, edited.cipher.request(sending))
        _ = try await desk.sync(isForced: true)
    }

    func addOrganization() async throws -> (organization: String, collection: String) {
        let device = try await device()
        let key = SymmetricKey(from: SystemEntropy())
        let publicKey = try Base64.bytes(of: newcomer.registration.keys.publicKey)
        let wrapped = try PublicKey(publicKey).wrap(key)
        let collectionName = try Sealer(key).seal("Ops/Prod")
        let body = JSON.Raw.object {
            $0.add("name", "Acme")
            $0.add("key", wrapped)
            $0.add("collectionName", collectionName)
        }
        let made = try await ask(.post, "/api/organizations", device, Array(body.bytes))
        let list = try await ask(.get, "/api/collections", device, nil)
        _ = try await desk.sync(isForced: true)
        let organization = try #require(made.root["id"]?.string)
        let collection = try #require(list.root["data"]?[0]?["id"]?.string)
        return (organization, collection)
    }

    /// Who can read a send is said anew, and this host is not told.
    func guardSend(
        _ id: String,
        at upstream: EmbeddedUpstream,
        emails: String? = nil,
        password: String? = nil
    ) async throws {
        var fault = Fault(.loseEvents, on: .sends)
        fault.times = nil
        let silence = await upstream.inject(fault)
        let device = try await device()
        var edit = JSON.Edit(try JSON.Document(try await device.presentSend(id).raw))
        try edit.set(["emails"], to: emails.map { JSON.Raw($0) } ?? .null)
        try edit.set(["password"], to: password.map { JSON.Raw($0) } ?? .null)
        _ = try await device.updateSend(id, try JSON.Raw(edit.bytes))
        await upstream.withdraw(silence)
    }

    /// Under the owner's key, as it was done before files had keys of their own.
    func attachElsewhere(
        _ content: [UInt8],
        named name: String,
        to id: String
    ) async throws -> String {
        let (device, keys) = (try await device(), try keys())
        let sealed = try keys.user.seal(buffer: content)
        let request = AttachmentRequest(
            key: try keys.user.wrap(SymmetricKey(from: SystemEntropy())),
            fileName: try keys.user.seal(name),
            size: sealed.count
        )
        let upload = try await device.announceAttachment(request, to: id)
        let pieces = Lock([sealed])
        let source = FileSource(length: sealed.count) { pieces.withLock { $0.popLast() } }
        try await device.upload(source, as: upload)
        return upload.attachmentID
    }

    /// From now on every session of the account has ended.
    func endSessions() async throws {
        let proof = JSON.Raw.object {
            $0.add("masterPasswordHash", newcomer.registration.masterPasswordHash)
        }
        try await tell("/api/accounts/security-stamp", proof)
    }

    /// The same, and the account, which has nothing upstream, has other keys. The master password opens them.
    func changeKeys() async throws {
        let present = newcomer.registration
        let next = try Newcomer(
            email: present.email,
            password: password,
            settings: present.settings
        ).registration
        let wish = JSON.Raw.object { wish in
            wish.add("oldMasterKeyAuthenticationHash", present.masterPasswordHash)
            wish.object("accountUnlockData") { unlock in
                unlock.object("masterPasswordUnlockData") {
                    $0.add("masterKeyAuthenticationHash", next.masterPasswordHash)
                    $0.add("masterKeyEncryptedUserKey", next.wrappedUserKey)
                }
            }
            wish.object("accountKeys") {
                $0.add("accountPublicKey", next.keys.publicKey)
                $0.add("userKeyEncryptedAccountPrivateKey", next.keys.wrappedPrivateKey)
            }
            wish.object("accountData") { data in
                for kind in ["ciphers", "folders", "sends"] { data.array(kind) { _ in } }
            }
        }
        try await tell("/api/accounts/key-management/rotate-user-account-keys", wish)
    }

    /// The account is deleted upstream, and made anew as it was.
    func makeAnew() async throws {
        let proof = JSON.Raw.object {
            $0.add("masterPasswordHash", newcomer.registration.masterPasswordHash)
        }
        try await tell("/api/accounts/delete", proof)
        try await HostVenue.register(newcomer, at: server, client)
    }

    private func tell(_ path: String, _ body: JSON.Raw) async throws {
        let device = try await device()
        var request = Client.Request(.post, server + path)
        request.headers["Authorization"] = "Bearer \(device.session.tokens.access)"
        request.headers["Content-Type"] = "application/json"
        request.body = .bytes(Array(body.bytes))
        let response = try await client.send(request)
        try #require(response.status.isSuccess)
    }

    private func ask(
        _ method: HTTP.Method,
        _ path: String,
        _ device: UpstreamAccount,
        _ body: [UInt8]?
    ) async throws -> JSON.Document {
        var request = Client.Request(method, server + path)
        request.headers["Authorization"] = "Bearer \(device.session.tokens.access)"
        request.headers["Content-Type"] = "application/json"
        if let body { request.body = .bytes(body) }
        let response = try await client.send(request)
        let text = String(decoding: response.body, as: UTF8.self)
        try #require(response.status.isSuccess, "\(path): \(text)")
        return try JSON.Document(response.body)
    }

    private func keys() throws -> KeyRing {
        try KeyRing(
            user: userKey(),
            account: WrappedKeys(privateKey: newcomer.registration.keys.wrappedPrivateKey)
        )
    }

    func userKey() throws -> SymmetricKey {
        let registration = newcomer.registration
        let master = try MasterKey(
            password: Secret(utf8: password),
            salt: KeyDerivation.salt(server: nil, email: HostVenue.email),
            derivation: KeyDerivation(registration.settings)
        )
        return try master.unwrapUserKey(registration.wrappedUserKey)
    }

    private func device() async throws -> UpstreamAccount {
        let upstream = Upstream(
            try Bases(server),
            identity: ClientIdentity(device: Site.device),
            world: Upstream.World(
                network: RealNetwork(client: client, sockets: try WebSocketClient()),
                timekeeper: SystemTimekeeper(),
                chance: SystemChance()
            ),
            metrics: UpstreamMetrics(Registry(timekeeper: SystemTimekeeper()))
        )
        let grant = PasswordGrant(
            email: HostVenue.email,
            masterPasswordHash: newcomer.registration.masterPasswordHash
        )
        guard case .signedIn(let signedIn) = try await upstream.signIn(grant) else {
            throw Unexpected("not signed in")
        }
        return UpstreamAccount(upstream, upstream.session(signedIn.tokens) { _ in })
    }
}

extension HostServer.Premises {
    fileprivate static func still(_ logbook: Logbook) -> Self {
        let timekeeper = SystemTimekeeper()
        return Self(
            registry: Registry(timekeeper: timekeeper),
            log: Logger(logbook),
            timekeeper: timekeeper,
            manager: Supervisor(environment: [:]),
            activation: .none
        )
    }
}
