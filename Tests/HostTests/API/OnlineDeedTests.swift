import EmbeddedUpstream
import HTTP
import JSON
import Testing

@testable import Host

/// What only upstream can do to an item happens beside edits of that item, and takes nothing of them away.
@Suite(.timeLimit(.minutes(1)))
struct OnlineDeedTests {
    typealias Story = @Sendable (Guest, EmbeddedUpstream) async throws -> Void

    private static func open(
        _ personality: Personality.Name,
        _ story: @escaping Story
    ) async throws {
        var venue = HostVenue()
        venue.personality = personality
        venue.parting = { guest, upstream, end in
            defer { end() }
            try await story(guest, upstream)
        }
        try await venue.open { _ in }
    }

    /// It is asked for beside a list, and nobody waits long for it.
    @Test
    func `that nobody tells a list its equivalent domains does not say that the server is away`()
        async throws
    {
        try await Self.open(.vaultwarden) { guest, upstream in
            var fault = Fault(.drop, on: .domains)
            fault.times = nil
            let silence = await upstream.inject(fault)
            let before = try await guest.get("/network").data?["since"]?.string
            let found = try await guest.get("/list/object/items?url=https://a.example")
            let after = try await guest.get("/network").data?["since"]?.string
            #expect(await upstream.hits(silence) > 0)
            #expect(found.names == [] && before != nil && before == after)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `T-07 an edit of an item that is on its way to an organisation comes after that`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(personality) { guest, upstream in
            let (organization, collection) = try await guest.stage.addOrganization()
            let id = try await guest.login("x", #""password":"old""#)
            let delay = await upstream.inject(Fault(.delay(.milliseconds(500)), on: .shareCipher))
            async let moving = guest.post("/move/\(id)/\(organization)", "[\"\(collection)\"]")
            try await upstream.meet(delay)
            let new = #"{"type":1,"name":"x","login":{"password":"new"}}"#
            let edited = try await guest.put("/object/item/\(id)", new)
            let moved = try await moving
            #expect(moved.isSuccess && edited.isSuccess, "\(moved.text) \(edited.text)")
            _ = try await guest.post("/sync?force=true")
            let item = try await guest.get("/object/item/\(id)").data
            #expect(item?["login"]?["password"]?.string == "new")
            #expect(item?["organizationId"]?.string == organization)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden], [true, false])
    func `T-07 what is done to an item while its files change is not undone by the answer`(
        _ personality: Personality.Name,
        _ isUpload: Bool
    ) async throws {
        try await Self.open(personality) { guest, upstream in
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let first = try await guest.upload([1], "first", "/attachment?itemid=\(id)")
            let file = first.data?["attachments"]?[0]?["id"]?.string ?? ""
            let late = await upstream.inject(
                Fault(.delayAnswer(.milliseconds(500)), on: .readCipher)
            )
            async let changing =
                isUpload
                ? guest.upload([1], "file", "/attachment?itemid=\(id)")
                : guest.delete("/object/attachment/\(file)?itemid=\(id)")
            try await upstream.meet(late)
            #expect(try await guest.delete("/object/item/\(id)").isSuccess)
            let changed = try await changing
            #expect(changed.isSuccess, "\(changed.text)")
            let item = try await guest.get("/object/item/\(id)").data
            #expect(item?["deletedDate"]?.string != nil)
            #expect(item?["attachments"]?.array?.count == (isUpload ? 2 : 0))
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `an edit that comes while a file is taken away is not out of date because of that`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(personality) { guest, upstream in
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let up = try await guest.upload([1], "file", "/attachment?itemid=\(id)")
            let file = up.data?["attachments"]?[0]?["id"]?.string ?? ""
            await upstream.shiftClock(seconds: 5)
            let late = await upstream.inject(
                Fault(.delayAnswer(.milliseconds(500)), on: .deleteFile)
            )
            async let deleting = guest.delete("/object/attachment/\(file)?itemid=\(id)")
            try await upstream.meet(late)
            let edited = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"y"}"#)
            let deleted = try await deleting
            #expect(edited.isSuccess && deleted.isSuccess, "\(edited.text) \(deleted.text)")
            let item = try await guest.get("/object/item/\(id)").data
            #expect(item?["name"]?.string == "y")
            #expect(item?["attachments"]?.array?.count ?? 0 == 0)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `a copy from before its own host brought a file or shared the item can still be edited`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(personality) { guest, upstream in
            let (organization, collection) = try await guest.stage.addOrganization()
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let read = try #require(try await guest.get("/object/item/\(id)").data)
            await upstream.shiftClock(seconds: 5)
            let up = try await guest.upload([1], "file", "/attachment?itemid=\(id)")
            #expect(try await guest.put("/object/item/\(id)", read.text).isSuccess)
            await upstream.shiftClock(seconds: 10)
            let file = up.data?["attachments"]?[0]?["id"]?.string ?? ""
            #expect(try await guest.delete("/object/attachment/\(file)?itemid=\(id)").isSuccess)
            #expect(try await guest.put("/object/item/\(id)", read.text).isSuccess)
            await upstream.shiftClock(seconds: 15)
            let moved = try await guest.post("/move/\(id)/\(organization)", "[\"\(collection)\"]")
            #expect(moved.isSuccess, "\(moved.text)")
            let edited = try await guest.put("/object/item/\(id)", read.text)
            #expect(edited.isSuccess, "\(edited.text)")
        }
    }

    @Test
    func `an edit elsewhere that came along with a file is still seen before it is edited over`()
        async throws
    {
        try await Self.open(.bitwarden) { guest, upstream in
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let read = try #require(try await guest.get("/object/item/\(id)").data)
            let other = try await guest.upload([1], "file", "/attachment?itemid=\(id)")
            let file = other.data?["attachments"]?[0]?["id"]?.string ?? ""
            await upstream.inject(Fault(.loseEvents, on: .updateCipher))
            await upstream.shiftClock(seconds: 5)
            let body =
                #"{"type":1,"name":"2.QUFBQUFBQUFBQUFBQUFBQQ==|QUFBQUFBQUFBQUFBQUFBQQ==|"#
                + #"QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=","secureNote":null,"login":{}}"#
            await upstream.inject(
                Fault(
                    .interlude([
                        ScriptedCall("PUT", "/api/ciphers/\(id)", body: Array(body.utf8))
                    ]),
                    on: .deleteFile
                )
            )
            #expect(try await guest.delete("/object/attachment/\(file)?itemid=\(id)").isSuccess)
            let edited = try await guest.put("/object/item/\(id)", read.text)
            #expect(edited.status == .badRequest, "\(edited.text)")
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `what somebody else writes while a file is announced is shown, and not set back`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(personality) { guest, upstream in
            let id = try await guest.make(#"{"type":1,"name":"ours"}"#)
            let late = await upstream.inject(
                Fault(.delayAnswer(.seconds(2)), on: .announceFile)
            )
            async let uploading = guest.upload([1], "file", "/attachment?itemid=\(id)")
            try await upstream.meet(late)
            try await guest.stage.renameElsewhere(id, to: "theirs")
            _ = try await uploading
            let item = try await guest.get("/object/item/\(id)").data
            #expect(item?["name"]?.string == "theirs")
            #expect(item?["attachments"]?.array?.count == 1)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `a file whose announcement is not answered leaves none that nobody can open`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(personality) { guest, upstream in
            let id = try await guest.make(#"{"type":1,"name":"ours"}"#)
            await upstream.inject(Fault(.loseAnswer, on: .announceFile))
            let answer = try await guest.upload([1], "file", "/attachment?itemid=\(id)")
            #expect(answer.status == .badRequest)
            #expect(try await guest.post("/sync?force=true", "").isSuccess)
            let item = try await guest.get("/object/item/\(id)").data
            #expect(item?["attachments"]?.array?.count ?? 0 == 0)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `a file whose bytes never came is taken back once upstream is there again`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(personality) { guest, upstream in
            let id = try await guest.make(#"{"type":1,"name":"ours"}"#)
            await upstream.inject(Fault(.drop, on: .uploadFile))
            var silence = Fault(.drop, on: .readCipher)
            silence.times = nil
            await upstream.inject(silence)
            let answer = try await guest.upload([1], "file", "/attachment?itemid=\(id)")
            #expect(answer.status == .badRequest)
            await upstream.withdrawAll()
            #expect(try await guest.post("/sync?force=true", "").isSuccess)
            var files: Int?
            repeat {
                let item = try await guest.get("/object/item/\(id)").data
                files = item?["attachments"]?.array?.count
            } while files != 0 && !Task.isCancelled
            #expect(files == 0)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `an item of an organisation is made in no collection, in one, or in a list of them`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(personality) { guest, _ in
            let (organization, collection) = try await guest.stage.addOrganization()
            for ids in ["null", "[]", "\"\(collection)\"", "[\"\(collection)\"]"] {
                let made = try await guest.post(
                    "/object/item",
                    #"{"type":1,"name":"x","organizationId":"\#(organization)","collectionIds":\#(ids)}"#
                )
                let id = try #require(made.data?["id"]?.string, "\(ids): \(made.text)")
                let put = try await guest.put(
                    "/object/item-collections/\(id)",
                    "[\"\(collection)\"]"
                )
                #expect(put.isSuccess, "\(put.text)")
                _ = try await guest.post("/sync?force=true")
                let item = try await guest.get("/object/item/\(id)").data
                #expect(item?["organizationId"]?.string == organization)
                #expect(item?["collectionIds"]?.array?.compactMap(\.string) == [collection])
            }
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden], ["auto", "offline"])
    func `a folder's id is one, and whoever has another is told so at once`(
        _ personality: Personality.Name,
        _ mode: String
    ) async throws {
        try await Self.open(personality) { guest, _ in
            let made = try await guest.post("/object/folder", #"{"name":"Work"}"#)
            let folder = try #require(made.data?["id"]?.string, "\(made.text)")
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            _ = try await guest.put("/network", #"{"mode":"\#(mode)"}"#)
            for text in ["junk", "../..", String(repeating: "x", count: 300)] {
                let body = #"{"type":1,"name":"x","folderId":"\#(text)"}"#
                for reply in [
                    try await guest.post("/object/item", body),
                    try await guest.put("/object/item/\(id)", body),
                ] {
                    #expect(reply.status == .badRequest)
                    #expect(reply.message == "folderId must be the id of a folder.")
                }
            }
            let body = #"{"type":1,"name":"x","folderId":"\#(folder)"}"#
            let put = try await guest.put("/object/item/\(id)", body)
            #expect(put.data?["folderId"]?.string == folder, "\(put.text)")
            #expect(try await guest.get("/list/object/items").elements.count == 1)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `P3 an item whose making is in doubt is shown once, also after a sync of the locked vault`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(personality) { guest, upstream in
            await upstream.inject(Fault(.loseAnswer, on: .createCipher))
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            _ = try await guest.post("/lock")
            _ = try await guest.post("/sync")
            _ = try await guest.post("/unlock", #"{"password":"\#(guest.stage.password)"}"#)
            let items = try await guest.get("/list/object/items").elements
            #expect(items.map { $0["id"]?.string } == [id])
            #expect(try await guest.get("/object/item/x").data?["id"]?.string == id)
            #expect(try await guest.delete("/object/item/\(id)").isSuccess)
            let file = try await guest.upload([1], "file", "/attachment?itemid=\(id)")
            #expect(file.message == "This item has not reached the server yet.", "\(file.text)")
        }
    }

    @Test func `a file for an item that is set aside leaves it there`() async throws {
        try await Self.open(.bitwarden) { guest, upstream in
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            var refusal = Fault(.invalid, on: .createCipher)
            refusal.times = 9
            await upstream.inject(refusal)
            _ = try await guest.put("/network", #"{"mode":"auto"}"#)
            func change() async throws -> JSON.Value? {
                try await guest.get("/pending").elements.first
            }
            while try await change()?["state"]?.string != "quarantined", !Task.isCancelled {
                _ = try await guest.post("/sync")
            }
            let tried = try await change()?["attempts"]?.int
            let file = try await guest.upload([1], "file", "/attachment?itemid=\(id)")
            #expect(!file.isSuccess)
            #expect(try await change()?["state"]?.string == "quarantined")
            #expect(try await change()?["attempts"]?.int == tried)
        }
    }

    @Test func `an item with a file from before files had keys does not move`() async throws {
        try await Self.open(.bitwarden) { guest, upstream in
            let (organization, collection) = try await guest.stage.addOrganization()
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            #expect(try await guest.upload([1], "old", "/attachment?itemid=\(id)").isSuccess)
            await upstream.inject(
                Fault(
                    .reshape([Reshaping(["attachments", 0, "key"], .set(.null))]),
                    on: .readCipher
                )
            )
            let path = "/move/\(id)/\(organization)"
            let moved = try await guest.post(path, "[\"\(collection)\"]")
            #expect(moved.message?.contains("Download it") == true, "\(moved.text)")
            #expect(await upstream.traffic.calls["shareCipher"] == nil)
            let again = try await guest.post(path, "[\"\(collection)\"]")
            #expect(again.isSuccess, "\(again.text)")
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `a server from before items had keys gets what it can give back, copies too`(
        _ personality: Personality.Name
    ) async throws {
        var venue = HostVenue()
        venue.personality = personality
        venue.isFromBeforeItemKeys = true
        venue.parting = { guest, _, end in
            defer { end() }
            let body = #"{"type":1,"name":"x","login":{"password":"first"}}"#
            let id = try await guest.make(body)
            #expect(try await guest.get("/object/item/\(id)").data?["name"]?.string == "x")
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            let offline = try await guest.make(#"{"type":1,"name":"offline"}"#)
            let edit = body.replacing("first", with: "mine")
            #expect(try await guest.put("/object/item/\(id)", edit).isSuccess)
            try await guest.stage.renameElsewhere(id, to: "theirs")
            _ = try await guest.put("/network", #"{"mode":"auto"}"#)
            _ = try await guest.post("/sync?force=true")
            let items = try await guest.get("/list/object/items").elements
            let names = items.compactMap { $0["name"]?.string }
            #expect(items.count == 3 && !names.contains { $0.contains("cannot") }, "\(names)")
            #expect(items.contains { $0["login"]?["password"]?.string == "mine" })
            #expect(try await guest.get("/object/item/\(offline)").data?["name"] != nil)
        }
        try await venue.open { _ in }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `an item that was made offline is brought up before it moves or gets a file`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(personality) { guest, upstream in
            let (organization, collection) = try await guest.stage.addOrganization()
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            let moved = try await guest.make(#"{"type":1,"name":"moved"}"#)
            let filed = try await guest.make(#"{"type":1,"name":"filed"}"#)
            let path = "/move/\(moved)/\(organization)"
            #expect(try await !guest.post(path, "[\"\(collection)\"]").isSuccess)
            _ = try await guest.put("/network", #"{"mode":"auto"}"#)
            let move = try await guest.post(path, "[\"\(collection)\"]")
            #expect(move.isSuccess, "\(move.text)")
            let file = try await guest.upload([1], "file", "/attachment?itemid=\(filed)")
            #expect(file.isSuccess, "\(file.text)")
            let item = try await guest.get("/object/item/\(moved)").data
            #expect(item?["organizationId"]?.string == organization)
        }
    }

    @Test func `a file that comes while an edit is under way is there when the edit is answered`()
        async throws
    {
        try await Self.open(.vaultwarden) { guest, upstream in
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let late = await upstream.inject(
                Fault(.delayAnswer(.milliseconds(600)), on: .updateCipher)
            )
            async let editing = guest.put("/object/item/\(id)", #"{"type":1,"name":"y"}"#)
            try await upstream.meet(late)
            let up = try await guest.upload([1], "file", "/attachment?itemid=\(id)")
            #expect(try await editing.isSuccess)
            #expect(up.data?["attachments"]?.array?.count == 1)
            let item = try await guest.get("/object/item/\(id)").data
            #expect(item?["name"]?.string == "y")
            #expect(item?["attachments"]?.array?.count == 1)
        }
    }

    @Test func `however many edits wait for an item, what they wait for comes to its end`()
        async throws
    {
        try await Self.open(.vaultwarden) { guest, upstream in
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let up = try await guest.upload([1], "file", "/attachment?itemid=\(id)")
            let file = up.data?["attachments"]?[0]?["id"]?.string ?? ""
            let delay = await upstream.inject(Fault(.delay(.seconds(1)), on: .deleteFile))
            let desk = try #require(guest.accounts?.defaultDesk)
            let path = "/object/attachment/\(file)?itemid=\(id)"
            async let deleting = guest.delete(path)
            try await upstream.meet(delay)
            try await withThrowingTaskGroup(of: Void.self) { edits in
                for _ in 0..<400 { edits.addTask { _ = try await desk.trash(id) } }
                try await edits.waitForAll()
            }
            #expect(try await deleting.isSuccess)
            let item = try await guest.get("/object/item/\(id)").data
            #expect(item?["deletedDate"]?.string != nil)
            #expect(item?["attachments"]?.array?.count == 0)
        }
    }

    @Test func `G-RES7 an item whose edit waits takes one file after the other`() async throws {
        try await Self.open(.bitwarden) { guest, upstream in
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            var fault = Fault(.answer(.refusal(502, "no"), isCarriedOut: false), on: .updateCipher)
            fault.times = nil
            await upstream.inject(fault)
            let edited = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"y"}"#)
            #expect(edited.headers["Holdfast-Disposition"] == "queued")
            for count in 1...3 {
                await upstream.shiftClock(seconds: Int64(5 * count))
                let up = try await guest.upload([1], "file", "/attachment?itemid=\(id)")
                #expect(up.data?["attachments"]?.array?.count == count, "\(up.text)")
            }
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `what upstream has done is done, even if it cannot be looked at`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(personality) { guest, upstream in
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let broken = Fault(.answer(.refusal(502, "no"), isCarriedOut: false), on: .readCipher)
            await upstream.inject(broken)
            let up = try await guest.upload([1, 2], "file", "/attachment?itemid=\(id)")
            let file = try #require(up.data?["attachments"]?[0]?["id"]?.string, "\(up.text)")
            let path = "/object/attachment/\(file)?itemid=\(id)"
            #expect(try await guest.get(path).body == [1, 2])
            await upstream.inject(broken)
            #expect(try await guest.delete(path).isSuccess)
            let left = try await guest.get("/object/item/\(id)").data?["attachments"]?.array
            #expect(left?.count == 0)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `what is deleted and upstream has not any more is deleted`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(personality) { guest, upstream in
            let lost = Fault.Effect.answer(.refusal(502, "no"), isCarriedOut: true)
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let up = try await guest.upload([1], "file", "/attachment?itemid=\(id)")
            let file = up.data?["attachments"]?[0]?["id"]?.string ?? ""
            let folder = try await guest.folder("zz")
            let send = try await guest.post("/object/send", Sample.send("2200-01-01T00:00:00Z"))
            let deletions = [
                (Fault(lost, on: .deleteFile), "/object/attachment/\(file)?itemid=\(id)"),
                (Fault(lost, on: .deleteFolder), "/object/folder/\(folder)"),
                (
                    Fault(lost, on: .sends),
                    "/object/send/\(send.data?["id"]?.string ?? "")"
                ),
            ]
            for (fault, path) in deletions {
                await upstream.inject(fault)
                #expect(try await guest.delete(path).status == .badRequest, "\(path)")
                let again = try await guest.delete(path)
                #expect(again.isSuccess, "\(path) \(again.text)")
            }
            #expect(try await guest.get("/list/object/send").elements.isEmpty)
            #expect(try await guest.get("/list/object/folders?search=zz").elements.isEmpty)
        }
    }

    @Test func `what waits for an item is not given away with it`() async throws {
        try await Self.open(.vaultwarden) { guest, upstream in
            let (organization, collection) = try await guest.stage.addOrganization()
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            var fault = Fault(.answer(.refusal(502, "no"), isCarriedOut: false), on: .trashCipher)
            fault.times = nil
            let number = await upstream.inject(fault)
            let trashed = try await guest.delete("/object/item/\(id)")
            #expect(trashed.headers["Holdfast-Disposition"] == "queued")
            let path = "/move/\(id)/\(organization)"
            let moved = try await guest.post(path, "[\"\(collection)\"]")
            #expect(moved.status == .badRequest)
            #expect(moved.message?.contains("have not reached the server") == true)
            #expect(try await guest.get("/pending").elements.count == 1)
            await upstream.withdraw(number)
            #expect(try await guest.post(path, "[\"\(collection)\"]").isSuccess)
            #expect(try await guest.get("/pending").elements.isEmpty)
            let item = try await guest.get("/object/item/\(id)").data
            #expect(item?["deletedDate"]?.string != nil)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `R-059 who does not pay for an archive takes out of it what they edit`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(personality) { guest, upstream in
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            #expect(try await guest.post("/archive/item/\(id)").isSuccess)
            let archived = try #require(try await guest.get("/object/item/\(id)").data)
            #expect(archived["archivedDate"]?.string != nil)
            #expect(try await guest.put("/object/item/\(id)", archived.text).isSuccess)
            let paid = try await guest.get("/object/item/\(id)").data
            #expect(paid?["archivedDate"]?.string != nil)
            await upstream.reshapeSync(["profile", "premium"], to: false)
            _ = try await guest.post("/sync?force=true")
            #expect(try await guest.put("/object/item/\(id)", archived.text).isSuccess)
            _ = try await guest.post("/sync?force=true")
            let item = try await guest.get("/object/item/\(id)").data
            #expect(item?["archivedDate"]?.isNull == true)
        }
    }

    @Test func `T-57 a list that was kept from before another key came is not taken over`()
        async throws
    {
        try await Self.open(.bitwarden) { guest, upstream in
            let stage = try #require(guest.stage as? HostStage)
            let id = try await guest.make(#"{"type":1,"name":"ours"}"#)
            let stamp = Reshaping(["profile", "securityStamp"], .set("yesterday"))
            let favourite = Reshaping(["ciphers", 0, "favorite"], .set(true))
            await upstream.inject(Fault(.reshape([stamp, favourite]), on: .sync))
            #expect(try await !guest.post("/sync?force=true").isSuccess)
            var silence = Fault(.drop, on: .sync)
            silence.times = nil
            await upstream.inject(silence)
            var request = SignInRequest(email: HostVenue.email, password: HostVenue.password)
            request.server = stage.server
            _ = try await guest.accounts?.signIn(request)
            let item = try await guest.get("/object/item/\(id)").data
            #expect(item?["favorite"]?.bool == false)
        }
    }

    /// One kind says so with an empty answer, the other in its framework's words.
    @Test(arguments: [nil, #"{"error":{"code":404,"reason":"Not Found","description":"?"}}"#])
    func `an older server is told an item's collections by the older call`(
        _ body: String?
    ) async throws {
        try await Self.open(.bitwarden) { guest, upstream in
            let (organization, collection) = try await guest.stage.addOrganization()
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let list = "[\"\(collection)\"]"
            #expect(try await guest.post("/move/\(id)/\(organization)", list).isSuccess)
            let unknown = Canned(
                status: 404,
                contentType: body.map { _ in "application/json" },
                body: Array((body ?? "").utf8)
            )
            let missing = await upstream.inject(
                Fault(.answer(unknown, isCarriedOut: false), on: .shareCipher)
            )
            let placed = try await guest.put("/object/item-collections/\(id)", list)
            #expect(await upstream.hits(missing) == 1)
            #expect(placed.isSuccess, "\(placed.text)")
            #expect(placed.data?["collectionIds"]?[0]?.string == collection)
        }
    }

    @Test func `who may only read an organisation's item says where they keep it`() async throws {
        try await Self.open(.vaultwarden) { guest, upstream in
            let (organization, collection) = try await guest.stage.addOrganization()
            let folder = try await guest.folder("f")
            let more = #","organizationId":"\#(organization)","collectionIds":["\#(collection)"]"#
            let id = try await guest.make(#"{"type":1,"name":"x"\#(more)}"#)
            await upstream.reshapeSync(["ciphers", 0, "edit"], to: false)
            _ = try await guest.post("/sync?force=true")
            var fault = Fault(.answer(.refusal(403, "no"), isCarriedOut: false), on: .updateCipher)
            fault.times = nil
            await upstream.inject(fault)
            let placed = #"{"type":1,"name":"x","favorite":true,"folderId":"\#(folder)"}"#
            let reply = try await guest.put("/object/item/\(id)", placed)
            #expect(reply.isSuccess, "\(reply.text)")
            await upstream.reshapeSync(["ciphers", 0, "edit"], to: false)
            _ = try await guest.post("/sync?force=true")
            let item = try await guest.get("/object/item/\(id)").data
            #expect(item?["favorite"]?.bool == true)
            #expect(item?["folderId"]?.string == folder)
            let renamed = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"y"}"#)
            #expect(renamed.status == .badRequest)
        }
    }

    @Test func `what is done to an organisation's item leaves it in its collections`() async throws
    {
        try await Self.open(.vaultwarden) { guest, upstream in
            let (organization, collection) = try await guest.stage.addOrganization()
            let more = #","organizationId":"\#(organization)","collectionIds":["\#(collection)"]"#
            let id = try await guest.make(#"{"type":1,"name":"x"\#(more)}"#)
            let moved = await upstream.inject(Fault(.invalid, on: .shareCipher))
            // So an answer about one item is to whoever may only read in its collections.
            let nowhere = Reshaping(["collectionIds"], .set(JSON.Raw([String]())))
            for operation in [Operation.archiveCipher, .updateCipher, .placeCipher] {
                await upstream.inject(Fault(.reshape([nowhere]), on: operation))
            }
            #expect(try await guest.post("/archive/item/\(id)").isSuccess)
            let archived = try await guest.get("/object/item/\(id)").data
            #expect(archived?["collectionIds"]?[0]?.string == collection)
            let edited = #"{"type":1,"name":"y","favorite":true\#(more)}"#
            let reply = try await guest.put("/object/item/\(id)", edited)
            #expect(reply.data?["collectionIds"]?[0]?.string == collection, "\(reply.text)")
            #expect(await upstream.hits(moved) == 0)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `an edit waits until a move that nobody has answered can be written over it no more`(
        _ personality: Personality.Name
    ) async throws {
        try await Self.open(personality) { guest, upstream in
            let (organization, collection) = try await guest.stage.addOrganization()
            let id = try await guest.make(#"{"type":1,"name":"x","notes":"old"}"#)
            await upstream.inject(Fault(.commitLate(.milliseconds(300)), on: .shareCipher))
            let path = "/move/\(id)/\(organization)"
            #expect(try await !guest.post(path, "[\"\(collection)\"]").isSuccess)
            let edited = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"new"}"#)
            #expect(edited.isSuccess, "\(edited.text)")
            #expect(edited.headers["Holdfast-Disposition"] == "queued")
            while upstream.isBehind { await Task.yield() }
            let sync = try await guest.post("/sync").data
            #expect(sync?["outcome"]?.string == "deferred")
            let pending = try await guest.get("/pending").elements
            #expect(pending.map { $0["itemId"]?.string } == [id])
            #expect(try await guest.get("/object/item/\(id)").data?["name"]?.string == "new")
        }
    }

    @Test func `a second move that is refused does not make an unanswered first one forgotten`()
        async throws
    {
        try await Self.open(.vaultwarden) { guest, upstream in
            let (organization, collection) = try await guest.stage.addOrganization()
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let path = "/move/\(id)/\(organization)"
            for effect in [
                Fault.Effect.commitLate(.seconds(1)),
                .answer(.refusal(400, "no"), isCarriedOut: false),
            ] {
                await upstream.inject(Fault(effect, on: .shareCipher))
                #expect(try await !guest.post(path, "[\"\(collection)\"]").isSuccess)
                _ = try await guest.post("/sync")
            }
            let edited = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"new"}"#)
            #expect(edited.headers["Holdfast-Disposition"] == "queued")
        }
    }

    @Test func `a move that is refused holds up no edit`() async throws {
        try await Self.open(.vaultwarden) { guest, upstream in
            let (organization, collection) = try await guest.stage.addOrganization()
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let refusal = Fault(
                .answer(.refusal(400, "no"), isCarriedOut: false),
                on: .shareCipher
            )
            await upstream.inject(refusal)
            let path = "/move/\(id)/\(organization)"
            #expect(try await !guest.post(path, "[\"\(collection)\"]").isSuccess)
            let edited = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"new"}"#)
            #expect(edited.headers["Holdfast-Disposition"] == "saved")
        }
    }

    @Test(
        arguments: [
            (["ciphers", 0, "id"], nil), (["ciphers", 0], nil),
            (["ciphers", 0, "revisionDate"], "x"),
        ] as [(JSON.Path, String?)]
    )
    func `P13 what is no item in upstream's list is left out, and takes no other along`(
        _ path: JSON.Path,
        _ value: String?
    ) async throws {
        try await Self.open(.bitwarden) { guest, upstream in
            for name in ["a", "b", "c"] {
                _ = try await guest.make(#"{"type":1,"name":"\#(name)"}"#)
            }
            _ = try await guest.post("/sync?force=true")
            await upstream.reshapeSync(path, to: value.map { JSON.Raw($0) } ?? .null)
            let sync = try await guest.post("/sync?force=true")
            #expect(sync.isSuccess, "\(sync.text)")
            #expect(try await guest.get("/list/object/items").elements.count == 3)
            _ = try await guest.post("/sync?force=true")
            #expect(try await guest.get("/list/object/items").elements.count == 3)
        }
    }

    @Test func `a send whose body says that it has no text takes the query's`() async throws {
        try await Self.open(.bitwarden) { guest, _ in
            let body = #"{"name":"n","type":0,"text":null,"deletionDate":"2200-01-01T00:00:00Z"}"#
            let made = try await guest.post("/object/send?text=fromq", body)
            #expect(made.data?["text"]?["text"]?.string == "fromq", "\(made.text)")
        }
    }

    @Test func `an edit of a send that only certain people can read does not open it to everybody`()
        async throws
    {
        try await Self.open(.bitwarden) { guest, upstream in
            func body(_ text: String, _ more: String = "") -> String {
                #"{"name":"n","text":{"text":"\#(text)"},"deletionDate":"2200-01-01"\#(more)}"#
            }
            let made = try await guest.post("/object/send", body("x"))
            let id = try #require(made.data?["id"]?.string)
            let path = "/object/send/\(id)"
            #expect(made.data?["emails"] == nil && made.data?["authType"]?.int == 2)
            let stage = try #require(guest.stage as? HostStage)
            let readers = "a@example.test,b@example.test"
            try await stage.guardSend(id, at: upstream, emails: readers)
            _ = try await guest.post("/sync?force=true")
            let emails = #","emails":["a@example.test","b@example.test"]"#
            for again in ["", #","emails":null"#, emails] {
                #expect(try await guest.put(path, body("y", again)).isSuccess)
                _ = try await guest.post("/sync?force=true")
                let shown = try await guest.get(path)
                #expect(shown.text.contains(emails.dropFirst()), "\(shown.text)")
                #expect(shown.data?["authType"]?.int == 0)
            }
            for others in [#","emails":[]"#, #","emails":["c@example.test"]"#] {
                #expect(try await guest.put(path, body("z", others)).status == .badRequest)
            }
            let bare = try await guest.post("/send/\(id)/remove-password")
            #expect(bare.status == .badRequest, "there is none, and it would be open")
            let guarded = try await guest.put(path, body("z", #","password":"open""#))
            #expect(guarded.data?["passwordSet"]?.bool == true, "\(guarded.text)")
            #expect(guarded.data?["emails"] == nil && guarded.data?["authType"]?.int == 1)
        }
    }

    @Test
    func
        `an edit of a send leaves it to those who can read it since before this host heard of them`()
        async throws
    {
        try await Self.open(.bitwarden) { guest, upstream in
            func body(_ text: String) -> String {
                #"{"name":"n","text":{"text":"\#(text)"},"deletionDate":"2200-01-01"}"#
            }
            let made = try await guest.post("/object/send", body("x"))
            let id = try #require(made.data?["id"]?.string)
            let stage = try #require(guest.stage as? HostStage)
            try await stage.guardSend(id, at: upstream, emails: "a@example.test")
            let first = try await guest.put("/object/send/\(id)", body("y"))
            #expect(first.data?["emails"]?.array?.count == 1, "\(first.text)")
            #expect(first.data?["authType"]?.int == 0)
            try await stage.guardSend(id, at: upstream, password: "a newer password")
            let second = try await guest.put("/object/send/\(id)", body("z"))
            #expect(second.data?["passwordSet"]?.bool == true, "\(second.text)")
            #expect(second.data?["emails"] == nil && second.data?["authType"]?.int == 1)
            try await stage.guardSend(id, at: upstream, emails: "a@example.test")
            let bare = try await guest.post("/send/\(id)/remove-password")
            #expect(bare.status == .badRequest, "\(bare.text)")
        }
    }

    @Test func `a send that was made while somebody locked the vault is shown, and listed later`()
        async throws
    {
        try await Self.open(.vaultwarden) { guest, upstream in
            let late = await upstream.inject(Fault(.delayAnswer(.milliseconds(500)), on: .sends))
            async let making = guest.post("/object/send", Sample.send("2200-01-01T00:00:00Z"))
            try await upstream.meet(late)
            #expect(try await guest.post("/lock").isSuccess)
            let made = try await making
            #expect(made.isSuccess && made.data?["name"]?.string == "note", "\(made.text)")
            let password = #"{"password":"\#(HostVenue.password)"}"#
            #expect(try await guest.post("/unlock", password).isSuccess)
            #expect(try await guest.get("/list/object/send").elements.count == 1)
        }
    }

    @Test func `T-69 a send that cannot be opened is shown as that, and can be deleted`()
        async throws
    {
        try await Self.open(.bitwarden) { guest, upstream in
            let made = try await guest.post("/object/send", Sample.send("2200-01-01T00:00:00Z"))
            let key = try #require(made.data?["key"]?.string)
            let url = try #require(made.data?["accessUrl"]?.string)
            #expect(key.count == 24 && key.hasSuffix("=="))
            let spelled = key.replacing("+", with: "-").replacing("/", with: "_").prefix(22)
            #expect(url.hasSuffix("/\(spelled)"))
            let id = try #require(made.data?["id"]?.string)
            await upstream.reshapeSync(["sends", 0, "key"], to: "2.damaged")
            _ = try await guest.post("/sync?force=true")
            let shown = try #require(try await guest.get("/object/send/\(id)").data)
            #expect(shown["name"]?.string == "[error: cannot decrypt]")
            #expect(shown["key"]?.isNull == true && shown["accessUrl"]?.isNull == true)
            #expect(try await guest.get("/list/object/send").elements.count == 1)
            #expect(try await guest.delete("/object/send/\(id)").isSuccess)
            #expect(try await guest.get("/list/object/send").elements.isEmpty)
        }
    }
}

extension EmbeddedUpstream {
    /// Waits until somebody has met the fault.
    fileprivate func meet(_ fault: Int) async throws {
        while await hits(fault) == 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// The next list shows it so.
    fileprivate func reshapeSync(_ path: JSON.Path, to value: JSON.Raw) async {
        await inject(Fault(.reshape([Reshaping(path, .set(value))]), on: .sync))
    }
}
