public import Crypto
public import Host
import Bitwarden
import EmbeddedUpstream
import HTTP
import JSON
import Sync
import System
public import Vault

/// Another device of the same person: always online, and always up to date.
public struct Elsewhere: Sendable {
    public let account: UpstreamAccount
    let ring: KeyRing
    let world: World

    /// Everything upstream, opened, the oldest first.
    public var items: [Item] {
        get async throws {
            try await account.ciphers().map { Item($0, keys: ring) }
                .sorted { ($0.cipher.creationDate ?? "") < ($1.cipher.creationDate ?? "") }
        }
    }

    public var names: [String] { get async throws { try await items.map { $0.name ?? "" } } }

    public var passwords: [String] {
        get async throws { try await items.compactMap { $0.login?.password } }
    }

    public func item(_ id: String) async throws -> Item {
        Item(try await account.cipher(id), keys: ring)
    }

    /// Everything upstream, opened with other keys.
    public func items(openedWith keys: KeyRing) async throws -> [Item] {
        try await account.ciphers().map { Item($0, keys: keys) }
    }

    /// What a change of the account's key does to an item.
    public func reseal(_ id: String, with keys: KeyRing, from former: KeyRing? = nil) async throws {
        world.time.pass(.seconds(10))
        let old = try await account.cipher(id)
        try await put(id, old.resealed(from: former ?? ring, to: keys), over: old)
    }

    /// Whether upstream has nothing under that id.
    public func lacks(_ id: String) async throws -> Bool {
        try await !items.contains { $0.id == id }
    }

    @discardableResult
    public func add(_ json: String) async throws -> String {
        world.time.pass(.seconds(10))
        let cipher = try Cipher(
            creating: ItemBody(Array(json.utf8)),
            id: nil,
            at: world.surroundings.now,
            keys: ring,
            entropy: world.chance
        )
        guard let id = try await account.create(cipher.request()).id else {
            throw Unexpected("created without an id")
        }
        return id
    }

    /// A login that has no key of its own, as old clients make them.
    public func addWithoutKey(name: String, password: String) async throws -> String {
        world.time.pass(.seconds(10))
        let (name, password) = (try ring.user.seal(name), try ring.user.seal(password))
        let json = #"{"type":1,"name":"\#(name)","login":{"password":"\#(password)"}}"#
        guard let id = try await account.create(Array(json.utf8)).id else {
            throw Unexpected("created without an id")
        }
        return id
    }

    public func edit(
        _ id: String,
        _ json: String,
        after time: Duration = .seconds(10)
    ) async throws {
        world.time.pass(time)
        try await put(id, draft(of: id, json))
    }

    /// What edits make of the item as it is now, to be sent some time.
    public struct Draft: Sendable {
        public let known: Cipher
        public let edited: Cipher
    }

    /// - Parameter edits: One made on the other; they are sent as one.
    public func draft(of id: String, _ edits: String...) async throws -> Draft {
        let item = try await item(id)
        var edited = item
        for json in edits {
            let edit = try edited.edited(
                by: ItemBody(Array(json.utf8)),
                at: world.surroundings.now,
                keys: ring,
                entropy: world.chance
            )
            edited = Item(edit.cipher, keys: ring)
        }
        return Draft(known: item.cipher, edited: edited.cipher)
    }

    public func put(_ id: String, _ draft: Draft) async throws {
        try await put(id, draft.edited, over: draft.known)
    }

    /// Sends a cipher as it is.
    public func put(_ id: String, _ cipher: Cipher, over known: Cipher) async throws {
        var sending = Sending()
        sending.lastKnownRevisionDate = known.revisionDate
        _ = try await account.update(id, cipher.request(sending))
    }

    public func trash(_ id: String, after time: Duration = .seconds(10)) async throws {
        world.time.pass(time)
        try await account.trash(id)
    }

    public func restore(_ id: String) async throws {
        world.time.pass(.seconds(10))
        _ = try await account.restore(id)
    }

    public func archive(_ id: String) async throws {
        world.time.pass(.seconds(10))
        _ = try await account.archive(id)
    }

    public func unarchive(_ id: String) async throws {
        world.time.pass(.seconds(10))
        _ = try await account.unarchive(id)
    }

    /// The file's name is there then, and its content on its way.
    public func attach(_ name: String, to id: String) async throws {
        world.time.pass(.seconds(10))
        let sealer = try await item(id).cipher.sealer(in: ring, entropy: world.chance)
        let request = AttachmentRequest(
            key: try sealer.wrap(SymmetricKey(from: world.chance)),
            fileName: try sealer.seal(name),
            size: 1_000
        )
        _ = try await account.announceAttachment(request, to: id)
    }

    /// A call that the client has no words for.
    ///
    /// - Returns: The id of what was made.
    @discardableResult
    public func post(_ path: String, _ body: String) async throws -> String {
        let answer = try await MemoryTransport(handler: world.server.handler).send(
            .post,
            path,
            headers: [
                "Content-Type": "application/json",
                "Authorization": "Bearer \(account.session.tokens.access)",
            ],
            body: body
        )
        let json = try? JSON.Document(answer.body)
        guard answer.status.isSuccess, let id = json?.root[anyCase: "id"]?.string else {
            throw Unexpected("\(path): \(answer.text)")
        }
        return id
    }

    public func addFolder(_ name: String) async throws -> String {
        let sealed = try ring.user.seal(name)
        return try await post("/api/folders", #"{"name":"\#(sealed)"}"#)
    }

    public func move(_ id: String, to folderID: String?) async throws {
        world.time.pass(.seconds(10))
        let request = PartialRequest(folderID: folderID, isFavorite: false)
        _ = try await account.update(id, request)
    }

    public func removeFolder(_ id: String) async throws { try await account.deleteFolder(id) }

    /// Gives the item to an organisation, which is made for that.
    public func share(_ id: String) async throws {
        world.time.pass(.seconds(10))
        let cipher = try await account.cipher(id)
        let name = try ring.user.seal("club")
        let organization = try await post(
            "/api/organizations",
            #"{"name":"club","billingEmail":"a@example.com","key":"4.AAAA","collectionName":"\#(name)"}"#
        )
        var json = JSON.Edit(try JSON.Document(cipher.request()))
        try json.set([.member("organizationId")], to: JSON.Raw(organization))
        let collections = try await account.sync().answer.collections.compactMap {
            $0["id"]?.string
        }
        _ = try await account.share(id, json.bytes, in: collections)
    }

    public func delete(_ id: String, after time: Duration = .seconds(10)) async throws {
        world.time.pass(time)
        try await account.delete(id)
    }
}
