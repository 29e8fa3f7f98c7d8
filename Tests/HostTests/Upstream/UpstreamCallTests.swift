import Bitwarden
import Crypto
import EmbeddedUpstream
import HTTP
import JSON
import Metrics
import Sync
import System
import TestSupport
import Testing
import Vault

@testable import Host

/// Every call there is, against both kinds of server.
@Suite struct UpstreamCallTests {
    @Test func `a file is given its time, whoever waits for it`() throws {
        try SeededExecutor.run(seed: 1) { executor, time in
            let network = ScriptedNetwork { _ in NetworkAnswer(status: 500) }
            let upstream = Upstream(
                try Bases("https://vault.example"),
                identity: ClientIdentity(device: Site.device),
                world: .init(network: network, timekeeper: time, chance: executor.chance),
                metrics: UpstreamMetrics(Registry(timekeeper: time))
            )
            let session = upstream.session(.unquestioned) { _ in }
            let account = UpstreamAccount(upstream, session).asking { $0.take(.interactive) }
            let address = "https://vault.example/file"
            let file = AttachmentAnswer(id: "a", url: address, fileName: "", key: nil, size: 1)
            _ = try? await account.cipher("c")
            _ = try? await account.download(file)
            let totals = network.requests.map { $0.deadlines?.total }
            #expect(totals == [.seconds(15), .seconds(3_600)])
        }
    }

    @Test func `answers of whole seconds tell a clock to less, and one that was set anew`() {
        var clock = ServerClock()
        let ahead = 3 * Moment.ticksPerSecond / 10
        func hear(tenth: Int64, ahead: Int64) {
            let time = Duration.milliseconds(100 * tenth)
            let now = Moment(ticks: 0).advanced(bySeconds: 1_000) + time
            let seconds = (now.ticks + ahead) / Moment.ticksPerSecond - 960
            let date = "Thu, 01 Jan 1970 00:16:\(seconds) GMT"
            clock.hear(date, at: now, after: .zero, time: time)
        }
        for tenth: Int64 in 0..<20 { hear(tenth: tenth, ahead: ahead) }
        #expect(abs((clock.offset ?? 0) - ahead) <= Moment.ticksPerSecond / 10)
        hear(tenth: 20, ahead: ahead + 10 * Moment.ticksPerSecond)
        #expect(
            abs((clock.offset ?? 0) - ahead - 10 * Moment.ticksPerSecond) <= Moment.ticksPerSecond
                / 2
        )
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `a server is asked what it is`(_ name: Personality.Name) async throws {
        try await Site.open(name) { site in
            await site.server.setFeature(
                "offline-sync-enable-resolution",
                try JSON.Raw(Array("1".utf8))
            )
            await site.server.setFeature("some-flag", try JSON.Raw(Array("true".utf8)))
            let configuration = try await site.upstream.configuration()
            #expect((configuration.serverName == nil) == (name == .bitwarden))
            #expect(configuration.isOn("some-flag"))
            #expect(!configuration.isOn("offline-sync-enable-resolution"), "1 is not true.")
            try await site.upstream.probe()
            let offset = try #require(site.upstream.clockOffset)
            #expect(abs(offset) < 2 * Moment.ticksPerSecond)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `signing in, by password and by key`(_ name: Personality.Name) async throws {
        try await Site.open(name) { site in
            try await site.register("a@example.com")
            let prelogin = try await site.upstream.prelogin(email: "a@example.com")
            #expect(prelogin.settings == .usual)
            var grant = PasswordGrant(email: "a@example.com", masterPasswordHash: "d3Jvbmc=")
            guard case .refused(let words) = try await site.upstream.signIn(grant) else {
                throw Unexpected("a wrong password was let in")
            }
            #expect(words.says("incorrect"))
            grant.masterPasswordHash = Site.hash
            guard case .signedIn(let signedIn) = try await site.upstream.signIn(grant) else {
                throw Unexpected("the right password was not let in")
            }
            #expect(signedIn.login?.unlock?.wrappedUserKey == sealed(1, bytes: 80))
            let session = site.upstream.session(signedIn.tokens) { _ in }
            let account = UpstreamAccount(site.upstream, session)
            #expect(try await account.profile().id == signedIn.tokens.userID)

            let proof = #"{"masterPasswordHash":"\#(Site.hash)"}"#
            let key = try await site.post("/api/accounts/api-key", proof, account)
            let byKey = try await site.upstream.signIn(
                clientID: "user." + signedIn.tokens.userID,
                secret: try #require(key.root["apiKey"]?.string)
            )
            guard case .signedIn(let other) = byKey else { throw Unexpected("the key is refused") }
            let kept = Lock<[Tokens]>([])
            let lasting = site.upstream.session(other.tokens) { tokens in
                kept.withLock { $0.append(tokens) }
            }
            let renewed = try await lasting.token(.other(than: other.tokens.access))
            #expect(renewed != other.tokens.access)
            #expect(kept.withLock(\.self).map(\.access) == [renewed])
        }
    }

    @Test func `a second factor is asked for, given, and remembered`() async throws {
        try await Site.open(.vaultwarden) { site in
            let account = try await site.account()
            let proof = #"{"masterPasswordHash":"\#(Site.hash)"}"#
            let offer = try await site.post("/api/two-factor/get-authenticator", proof, account)
            let key = try #require(offer.root["key"]?.string)
            let password = try OneTimePassword(key)
            let now = Moment(SystemTimekeeper().now).ticks / Moment.ticksPerSecond
            let enable = """
                {"masterPasswordHash":"\(Site.hash)","key":"\(key)",\
                "token":"\(try password.code(atSeconds: now))"}
                """
            _ = try await site.post("/api/two-factor/authenticator", enable, account)

            var grant = PasswordGrant(email: "a@example.com", masterPasswordHash: Site.hash)
            guard case .needsSecondFactor(let challenge) = try await site.upstream.signIn(grant)
            else { throw Unexpected("no second factor was asked for") }
            #expect(challenge.providers == [.authenticator])
            grant.secondFactor = SecondFactor(.authenticator, token: "000000", isRemembered: false)
            guard case .refused = try await site.upstream.signIn(grant) else {
                throw Unexpected("a wrong code was let in")
            }
            let code = try password.code(atSeconds: now + 30)
            grant.secondFactor = SecondFactor(.authenticator, token: code, isRemembered: true)
            guard case .signedIn(let signedIn) = try await site.upstream.signIn(grant) else {
                throw Unexpected("the right code was not let in")
            }
            let remembered = try #require(signedIn.secondFactorToken)
            grant.secondFactor = SecondFactor(.remembered, token: remembered, isRemembered: false)
            guard case .signedIn = try await site.upstream.signIn(grant) else {
                throw Unexpected("it was not remembered")
            }
            try await site.upstream.sendTwoFactorCode(
                email: "a@example.com",
                masterPasswordHash: Site.hash
            )
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `the life of an item`(_ name: Personality.Name) async throws {
        try await Site.open(name) { site in
            let account = try await site.account()
            let before = try await account.revision()
            let made = try await account.create(loginRequest(10))
            let id = try #require(made.id)
            let first = try #require(made.revisionDate)
            #expect(made.document.root["name"]?.string == sealed(10))
            #expect(try await account.revision() != before)

            let edited = try await account.update(id, loginRequest(20, baseline: first))
            #expect(edited.revisionDate != first)
            #expect(try await account.cipher(id).document.root["name"]?.string == sealed(20))
            let stale = await setback { () async throws(Setback) in
                try await account.update(id, loginRequest(30, baseline: "2020-01-01T00:00:00Z"))
            }
            #expect(stale?.reason.kind == "stale" && stale?.mayHaveLanded == false)

            let folder = try await account.createFolder(FolderRequest(name: sealed(40)))
            let placed = try await account.update(
                id,
                PartialRequest(folderID: folder.id, isFavorite: true)
            )
            #expect(placed.folderID == folder.id && placed.isFavorite)
            let loose = PartialRequest(folderID: nil, isFavorite: false)
            let moved = try await account.update(id, loose)
            #expect(moved.folderID == nil && !moved.isFavorite)

            try await account.trash(id)
            #expect(try await account.cipher(id).isInTrash)
            try await account.trash(id)
            #expect(try await !account.restore(id).isInTrash)
            #expect(try await account.archive(id).archivedDate != nil)
            #expect(try await account.unarchive(id).archivedDate == nil)

            try await account.delete(id)
            for again in [
                await setback { () async throws(Setback) in try await account.delete(id) },
                await setback { () async throws(Setback) in _ = try await account.cipher(id) },
                await setback { () async throws(Setback) in try await account.trash(id) },
                await setback { () async throws(Setback) in _ = try await account.restore(id) },
            ] {
                #expect(again?.reason.kind == "missing", "\(again as Any)")
            }
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `folders`(_ name: Personality.Name) async throws {
        try await Site.open(name) { site in
            let account = try await site.account()
            let folder = try await account.createFolder(FolderRequest(name: sealed(1)))
            let renamed = try await account.updateFolder(folder.id, FolderRequest(name: sealed(2)))
            #expect(renamed.name == sealed(2))
            #expect(try await account.hasFolder(folder.id))
            #expect(try await account.sync().answer.folders.count == 1)
            try await account.deleteFolder(folder.id)
            #expect(try await !account.hasFolder(folder.id))
            let again = await setback { () async throws(Setback) in
                try await account.deleteFolder(folder.id)
            }
            #expect(again?.reason.kind == "missing", "\(again as Any)")
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `a file goes up and comes down in pieces`(_ name: Personality.Name) async throws {
        try await Site.open(name) { site in
            let account = try await site.account()
            let id = try #require(try await account.create(loginRequest(1)).id)
            let chance = SeededChance(seed: 5)
            let file = [2] + (0..<1_500_000).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
            let announced = try await account.announceAttachment(
                AttachmentRequest(key: sealed(2, bytes: 80), fileName: sealed(3), size: file.count),
                to: id
            )
            let rest = Lock(file[...])
            let source = FileSource(length: file.count) {
                rest.withLock { rest in
                    let piece = rest.prefix(100_000)
                    rest = rest.dropFirst(piece.count)
                    return piece.isEmpty ? nil : Array(piece)
                }
            }
            try await account.upload(source, as: announced)
            let found = try await account.attachment(announced.attachmentID, of: id)
            #expect(found.size == file.count)
            var back: [UInt8] = []
            var pieces = 0
            for try await piece in try await account.download(found) {
                back += piece
                pieces += 1
            }
            #expect(back == file && pieces > 1)
            try await account.deleteAttachment(announced.attachmentID, of: id)
            let gone = await setback { () async throws(Setback) in
                _ = try await account.attachment(announced.attachmentID, of: id)
            }
            #expect(["missing", "rejected"].contains(gone?.reason.kind), "\(gone as Any)")
            #expect(try await account.cipher(id).attachmentIDs.isEmpty)
        }
    }

    /// Bitwarden that keeps files itself gives the first of these.
    @Test(arguments: ["ID/attachment/FILE", "/ID/attachment/FILE", "", "API/ID/attachment/FILE"])
    func `a file goes to its own place, with half of an address, too`(
        _ address: String
    ) async throws {
        try await Site.open(.bitwarden) { site in
            let account = try await site.account()
            let id = try #require(try await account.create(loginRequest(1)).id)
            let announced = try await account.announceAttachment(
                AttachmentRequest(key: sealed(2, bytes: 80), fileName: sealed(3), size: 100),
                to: id
            )
            let half = AttachmentUpload(
                attachmentID: announced.attachmentID,
                url: address.replacing("ID", with: id)
                    .replacing("FILE", with: announced.attachmentID)
                    .replacing("API", with: account.upstream.bases.api),
                way: .direct,
                cipher: announced.cipher
            )
            let file = Lock<[UInt8]?>([UInt8](repeating: 2, count: 100))
            let source = FileSource(length: 100) { file.withLock { $0.take() } }
            try await account.upload(source, as: half)
            let found = try await account.attachment(announced.attachmentID, of: id)
            #expect(found.size == 100)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `sends`(_ name: Personality.Name) async throws {
        try await Site.open(name) { site in
            let account = try await site.account()
            let request = JSON.Raw.object { object in
                object.add("type", 0)
                object.add("name", sealed(1))
                object.add("key", sealed(2, bytes: 32))
                object.add("deletionDate", "2030-01-01T00:00:00.000Z")
                object.add("disabled", false)
                object.object("text") {
                    $0.add("text", sealed(3))
                    $0.add("hidden", false)
                }
            }
            let made = try await account.createSend(request)
            #expect(made.raw["name"]?.string == sealed(1))
            #expect(try await account.presentSend(made.id).raw["name"]?.string == sealed(1))
            let listed = try await account.sync().answer.sends
            #expect(listed.map { $0["id"]?.string } == [made.id])
            _ = try await account.updateSend(made.id, request)
            _ = try await account.removePassword(ofSend: made.id)
            try await account.deleteSend(made.id)
            #expect(try await account.sync().answer.sends.isEmpty)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `items of organisations are made, shared, edited and moved`(
        _ name: Personality.Name
    ) async throws {
        try await Site.open(name) { site in
            let account = try await site.account()
            let wish = """
                {"name":"o","billingEmail":"a@example.com","planType":0,"collectionName":\
                "\(sealed(1))","key":"4.\(Base64.text(of: [UInt8](repeating: 1, count: 256)))",\
                "keys":{"publicKey":"eA==","encryptedPrivateKey":"\(sealed(2))"}}
                """
            let organization = try await site.post("/api/organizations", wish, account)
            let organizationID = try #require(organization.root["id"]?.string)
            let sync = try await account.sync()
            let collection = try #require(sync.answer.collections.first?["id"]?.string)
            let request = loginRequest(10, organization: organizationID)
            let made = try await account.create(request, in: [collection])
            #expect(made.organizationID == organizationID)
            let id = try #require(made.id)
            let edited = try await account.update(
                id,
                loginRequest(20, baseline: made.revisionDate, organization: organizationID)
            )
            #expect(edited.document.root["name"]?.string == sealed(20))
            let moved = try await account.setCollections(of: id, to: [collection])
            #expect(moved?.id == id)

            let own = try await account.create(loginRequest(30))
            let shared = try await account.share(
                try #require(own.id),
                request,
                in: [collection]
            )
            #expect(shared.organizationID == organizationID)
            let mismatch = await setback { () async throws(Setback) in
                try await account.update(id, loginRequest(40))
            }
            #expect(mismatch?.rejection?.says("mismatch") == true, "\(mismatch as Any)")
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `a sync says all of the account, and is believed`(_ name: Personality.Name) async throws {
        try await Site.open(name) { site in
            let account = try await site.account()
            for seed in 0..<12 { _ = try await account.create(loginRequest(seed * 10)) }
            let sync = try await account.sync()
            #expect(sync.answer.ciphers.count == 12)
            #expect(sync.revision.number != nil)
            let footing = SyncFooting(
                userID: account.session.userID,
                ciphers: try #require(sync.picture.ciphers),
                accountRevision: sync.revision.number
            )
            let now = Moment(SystemTimekeeper().now)
            #expect(Belief(in: sync.picture, on: footing, at: now) == .believed)
            await site.server.inject(Fault(.keepOnly(0), on: .sync))
            let empty = try await account.sync()
            guard case .doubted(let doubt) = Belief(in: empty.picture, on: footing, at: now) else {
                throw Unexpected("an empty vault was believed")
            }
            #expect(doubt.kind == .shrink)
        }
    }
}

extension JSON.Raw {
    fileprivate subscript(name: String) -> JSON.Value? { (try? JSON.Document(self))?.root[name] }
}
