import EmbeddedUpstream
import HTTP
import JSON
import SQLite
import Testing

@testable import Host
@testable import Sync

/// What only upstream can do is done there once, also if the disk here takes nothing of it down.
@Suite(.timeLimit(.minutes(1)))
struct UnwrittenDeedTests {
    typealias Story = @Sendable (Guest, EmbeddedUpstream, Office) async throws -> Void

    private static func open(_ story: @escaping Story) async throws {
        try await HostVenue().open { guest, upstream in
            try await story(guest, upstream, #require(guest.accounts).office)
        }
    }

    /// From now on nothing is written of what upstream has.
    private static func refuseBase(_ database: Database) async throws {
        try await database.execute(
            "CREATE TRIGGER no_item BEFORE INSERT ON base_cipher BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        try await database.execute(
            "CREATE TRIGGER no_slice BEFORE INSERT ON base_slice BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        try await database.execute(
            "CREATE TRIGGER no_end BEFORE DELETE ON base_slice BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    }

    private static func takeBase(_ database: Database) async throws {
        try await database.execute("DROP TRIGGER no_item")
        try await database.execute("DROP TRIGGER no_slice")
        try await database.execute("DROP TRIGGER no_end")
    }

    @Test func `what upstream has done is told as done, and the next sync brings it`() async throws
    {
        try await Self.open { guest, _, office in
            let (organization, collection) = try await guest.stage.addOrganization()
            let (old, gone) = (try await guest.folder("old"), try await guest.folder("gone"))
            let (filed, moved) = (try await guest.login("filed"), try await guest.login("moved"))
            let database = office.store.reader.database
            try await Self.refuseBase(database)

            let made = try await guest.post("/object/folder", #"{"name":"new"}"#)
            #expect(made.isSuccess && made.data?["name"]?.string == "new", "\(made.text)")
            let renamed = try await guest.put("/object/folder/\(old)", #"{"name":"other"}"#)
            #expect(renamed.isSuccess && renamed.data?["name"]?.string == "other")
            #expect(try await guest.delete("/object/folder/\(gone)").isSuccess)
            let send = try await guest.post("/object/send", Sample.send("2200-01-01T00:00:00Z"))
            #expect(send.isSuccess && send.data?["name"]?.string == "note", "\(send.text)")
            let file = try await guest.upload([1], "file", "/attachment?itemid=\(filed)")
            #expect(file.data?["attachments"]?.array?.count == 1, "\(file.text)")
            let path = "/move/\(moved)/\(organization)"
            let move = try await guest.post(path, "[\"\(collection)\"]")
            #expect(move.data?["organizationId"]?.string == organization, "\(move.text)")

            try await Self.takeBase(database)
            #expect(try await guest.post("/sync?force=true").isSuccess)
            let names = try await guest.get("/list/object/folders").names
            #expect(names.filter { $0 != "No Folder" }.sorted() == ["new", "other"])
            #expect(try await guest.get("/list/object/send").elements.count == 1)
            let item = try await guest.get("/object/item/\(filed)").data
            #expect(item?["attachments"]?.array?.count == 1)
            let shared = try await guest.get("/object/item/\(moved)").data
            #expect(shared?["organizationId"]?.string == organization)
        }
    }

    /// No disk is larger than the database is now, and no probe finds room on it.
    private static func fillDisk(_ office: Office) async throws {
        let database = office.store.reader.database
        try await database.execute("PRAGMA max_page_count = 1")
        try await database.execute(
            """
            CREATE TRIGGER no_probe BEFORE INSERT ON setting WHEN NEW.name = 'probe'
            BEGIN SELECT RAISE(ABORT, 'no'); END
            """
        )
        let _: Void? = try? await office.ask {
            .set("filling", to: String(repeating: "0", count: 1 << 20), $0)
        }
        await #expect(throws: DeskRefusal.self, "nothing new is taken") {
            let _: Void = try await office.ask { .requireAcceptance($0) }
        }
    }

    @Test func `an account that the disk does not take is refused because of the disk`()
        async throws
    {
        try await Self.open { guest, _, office in
            let stage = try #require(guest.stage as? HostStage)
            #expect(try await guest.delete("/accounts/\(stage.userID)").isSuccess)
            let body = JSON.Raw.object {
                $0.add("email", HostVenue.email)
                $0.add("password", HostVenue.password)
                $0.add("server", stage.server)
            }
            let text = String(decoding: body.bytes, as: UTF8.self)
            let database = office.store.reader.database
            try await Self.refuseBase(database)
            let refused = try await guest.post("/accounts", text)
            #expect(refused.status == .internalError, "\(refused.text)")
            #expect(try await guest.get("/accounts").elements.isEmpty)
            try await Self.takeBase(database)
            #expect(try await guest.post("/accounts", text).isSuccess)
        }
    }

    @Test func `a sign-in that the disk does not take leaves the account as it was`() async throws {
        try await Self.open { guest, _, office in
            let stage = try #require(guest.stage as? HostStage)
            let accounts = try #require(guest.accounts)
            let account = try #require(accounts.account(stage.userID))
            account.session.signOut()
            let token = account.session.tokens.access
            let database = office.store.reader.database
            try await database.execute(
                "CREATE TRIGGER no_account BEFORE INSERT ON account BEGIN SELECT RAISE(ABORT, 'no'); END"
            )
            await #expect(throws: DeskRefusal.self) { _ = try await accounts.signIn(stage.signIn) }
            #expect(account.session.isSignedOut && account.session.tokens.access == token)
            try await database.execute("DROP TRIGGER no_account")
            _ = try await accounts.signIn(stage.signIn)
            #expect(!account.session.isSignedOut && account.session.tokens.access != token)
        }
    }

    /// An item that an organisation is to have from the start.
    private static func shared(_ organization: String, _ collection: String) -> String {
        #"{"type":1,"name":"new","login":{},"organizationId":"\#(organization)","collectionIds":["\#(collection)"]}"#
    }

    @Test func `nothing is begun upstream while the disk is known to be full`() async throws {
        try await Self.open { guest, upstream, office in
            let (organization, collection) = try await guest.stage.addOrganization()
            let folder = try await guest.folder("old")
            let id = try await guest.login("x")
            let file = try await guest.upload([1], "file", "/attachment?itemid=\(id)")
            let fileID = try #require(file.data?["attachments"]?[0]?["id"]?.string)
            let made = try await guest.post("/object/send", Sample.send("2200-01-01T00:00:00Z"))
            let send = try #require(made.data?["id"]?.string)
            let shared = try await guest.login("shared")
            let list = "[\"\(collection)\"]"
            #expect(try await guest.post("/move/\(shared)/\(organization)", list).isSuccess)
            try await Self.fillDisk(office)
            await upstream.forgetTraffic()

            let replies = [
                try await guest.post("/object/folder", #"{"name":"new"}"#),
                try await guest.put("/object/folder/\(folder)", #"{"name":"other"}"#),
                try await guest.delete("/object/folder/\(folder)"),
                try await guest.post("/object/send", Sample.send("2200-01-01T00:00:00Z")),
                try await guest.post("/send/\(send)/remove-password"),
                try await guest.delete("/object/send/\(send)"),
                try await guest.upload([1], "second", "/attachment?itemid=\(id)"),
                try await guest.delete("/object/attachment/\(fileID)?itemid=\(id)"),
                try await guest.post("/move/\(id)/\(organization)", list),
                try await guest.put("/object/item-collections/\(shared)", list),
                try await guest.put(
                    "/object/item/\(shared)",
                    #"{"type":1,"name":"other","login":{}}"#
                ),
                try await guest.delete("/object/item/\(shared)"),
                try await guest.post("/object/item", Self.shared(organization, collection)),
            ]
            for reply in replies { #expect(reply.status == .insufficientStorage, "\(reply.text)") }
            let calls = await upstream.traffic.calls
            for name in [
                "createFolder", "updateFolder", "deleteFolder", "sends", "announceFile",
                "deleteFile", "shareCipher", "updateCipher", "trashCipher", "createCipher",
            ] { #expect(calls[name] == nil) }
        }
    }
}
