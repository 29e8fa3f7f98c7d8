import Crypto
import EmbeddedUpstream
import HTTP
import JSON
import Sync
import Testing
import Vault

@testable import Host

@Suite(.timeLimit(.minutes(1))) struct BackupFileTests {
    private static let file = Array("the deed of the house".utf8)

    /// Both sides edit an item that has two files.
    private static func collide(
        _ guest: Guest,
        _ check: (_ item: String, _ copy: JSON.Value) async throws -> Void
    ) async throws {
        let item = try await guest.login("house", #""password":"p""#)
        for name in ["deed", "plan"] {
            let reply = try await guest.upload(file, name, "/attachment?itemid=\(item)")
            try #require(reply.status == .ok, "\(reply.text)")
        }
        _ = try await guest.put("/network", #"{"mode":"offline"}"#)
        let edit = #"{"type":1,"name":"mine","login":{"password":"q"}}"#
        #expect(try await guest.put("/object/item/\(item)", edit).status == .ok)
        try await guest.stage.renameElsewhere(item, to: "theirs")
        _ = try await guest.put("/network", #"{"mode":"auto"}"#)
        while !Task.isCancelled {
            _ = try await guest.post("/sync")
            let items = try await guest.get("/list/object/items").elements
            let copy = items.first { $0["id"]?.string != item }
            if let copy, files(of: copy).count == 2 { return try await check(item, copy) }
        }
        Issue.record("the copy did not get its files")
    }

    private static func files(of item: JSON.Value) -> [(id: String, name: String)] {
        (item["attachments"]?.array.map(Array.init) ?? []).compactMap { file in
            guard let id = file["id"]?.string, let name = file["fileName"]?.string else {
                return nil
            }
            return (id, name)
        }
    }

    @Test func `G-RES7 a backup copy gets the files of its item, and the item keeps its own`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            try await Self.collide(guest) { item, copy in
                let original = try #require(try await guest.get("/object/item/\(item)").data)
                for one in [original, copy] {
                    let files = Self.files(of: one)
                    #expect(files.map(\.name).sorted() == ["deed", "plan"])
                    let id = try #require(one["id"]?.string)
                    for file in files {
                        let path = "/object/attachment/\(file.id)?itemid=\(id)"
                        #expect(try await guest.get(path).body == Self.file)
                    }
                }
                // However often it is looked at, there are two.
                for _ in 0..<3 { _ = try await guest.post("/sync?force=true") }
                let id = try #require(copy["id"]?.string)
                let again = try #require(try await guest.get("/object/item/\(id)").data)
                #expect(Self.files(of: again).count == 2)
            }
        }
    }

    /// What becomes of a file that could not be copied, so many times in turn.
    private static let fates: [(refusal: DeskRefusal, rounds: Int, isKept: Bool)] = {
        let words = Rejection(status: 400, message: "no")
        return [
            (.locked, 3, true), (.noAccount, 3, true), (.busy, 3, true), (.noRoom("full"), 3, true),
            (.store(.queueFull(limit: 1)), 3, true),
            (.upstream(Setback(.unavailable(status: 502), operation: "upload")), 3, true),
            (.upstream(Setback(.rejected(words), operation: "upload")), 1, true),
            (.upstream(Setback(.rejected(words), operation: "upload")), 2, false),
            (.unfit(.unreadable(Flaw(.key(.notAuthentic)))), 3, true),
            (.notFound, 1, false), (.notAllowed("too large"), 1, false),
        ]
    }()

    @Test(arguments: fates.indices)
    func `G-RES7 a file is given up only for what will not pass`(_ index: Int) async throws {
        let fate = Self.fates[index]
        try await HostVenue().open { guest async throws in
            let account = try #require(guest.accounts?.everybody.first)
            let office = account.office
            let file = BackupFile(
                userID: account.id,
                backupID: "copy",
                attachmentID: "deed",
                sourceID: "item",
                // By a clock that was far ahead.
                due: office.surroundings.now.advanced(bySeconds: 31_536_000)
            )
            let _: Void = try await office.ask { .files(.note([file], $0)) }
            var wait: Duration?
            for _ in 0..<fate.rounds {
                let files = BackupFiles(of: account.id, office) { (_) async throws(DeskRefusal) in
                    throw fate.refusal
                }
                wait = await files.work()
                for file in try office.store.reader.backupFiles(of: account.id) {
                    let _: Void = try await office.ask {
                        .files(.postpone(file, until: Moment(ticks: 0), $0))
                    }
                }
            }
            let left = try office.store.reader.backupFiles(of: account.id)
            #expect(left.isEmpty != fate.isKept, "\(fate.refusal)")
            // What upstream kept from being copied, or a key, is tried again without anybody asking for a sync.
            let isTriedAgain =
                switch fate.refusal {
                case .upstream, .unfit: fate.isKept
                default: false
                }
            #expect((wait != nil) == isTriedAgain, "\(fate.refusal)")
        }
    }

    @Test(arguments: [Fault(.loseAnswer, on: .announceFile), Fault(.drop, on: .uploadFile)])
    func `G-RES7 a file that was announced and never came is not taken for the file`(
        _ fault: Fault
    ) async throws {
        try await HostVenue().open { guest, upstream in
            let account = try #require(guest.accounts?.everybody.first)
            let (item, copy) = (try await guest.login("house"), try await guest.login("copy"))
            let up = try await guest.upload(Self.file, "deed", "/attachment?itemid=\(item)")
            let deed = try #require(up.data.map(Self.files)?.first).id
            let due = account.office.surroundings.now
            let file = BackupFile(
                userID: account.id,
                backupID: copy,
                attachmentID: deed,
                sourceID: item,
                due: due
            )
            await upstream.inject(fault)
            // What was announced cannot be taken back at once either.
            let clearing = await upstream.inject(
                Fault(.answer(.badGateway, isCarriedOut: false), on: .deleteFile)
            )
            await #expect(throws: DeskRefusal.self) { try await account.copyFile(file) }
            await upstream.withdraw(clearing)
            for _ in 0..<2 {
                _ = try await guest.post("/sync?force=true")
                #expect(try await account.copyFile(file))
            }
            let shown = try #require(try await guest.get("/object/item/\(copy)").data)
            let files = Self.files(of: shown)
            #expect(files.map(\.name) == ["deed"])
            let path = "/object/attachment/\(try #require(files.first).id)?itemid=\(copy)"
            #expect(try await guest.get(path).body == Self.file)
        }
    }

    /// An item with a file, and a copy that is to have it.
    private static func lay(
        _ guest: Guest
    ) async throws -> (account: Account, item: String, copy: String, file: BackupFile) {
        let account = try #require(guest.accounts?.everybody.first)
        let (item, copy) = (try await guest.login("house"), try await guest.login("copy"))
        let up = try await guest.upload(file, "deed", "/attachment?itemid=\(item)")
        let deed = try #require(up.data.map(files)?.first).id
        let file = BackupFile(
            userID: account.id,
            backupID: copy,
            attachmentID: deed,
            sourceID: item,
            due: account.office.surroundings.now
        )
        return (account, item, copy, file)
    }

    @Test func `G-RES7 a file that went with its item is told as one that the copy does not get`()
        async throws
    {
        try await HostVenue().open { guest, _ in
            let stage = try #require(guest.stage as? HostStage)
            let (account, item, copy, file) = try await Self.lay(guest)
            let gone = try await guest.delete("/object/item/\(item)?permanent=true")
            #expect(gone.isSuccess, "\(gone.text)")
            let _: Void = try await account.office.ask { .files(.note([file], $0)) }
            let files = BackupFiles(of: account.id, account.office) {
                (file) async throws(DeskRefusal) in try await account.copyFile(file)
            }
            #expect(await files.work() == nil)
            #expect(try account.office.store.reader.backupFiles(of: account.id).isEmpty)
            let page = try await stage.client.send(Client.Request(.get, stage.ops + "/metrics"))
            let none = #"holdfast_backup_files_total{outcome="failed"} 0"#
            #expect(!String(decoding: page.body, as: UTF8.self).contains(none + "\n"))
            // Where the copy is gone as well, nobody misses anything.
            _ = try await guest.delete("/object/item/\(copy)?permanent=true")
            #expect(try await account.copyFile(file) == false)
        }
    }

    @Test func `G-RES7 a copy gets the files of an item whose deletion waits`() async throws {
        try await HostVenue().open { guest async throws in
            let (account, item, copy, file) = try await Self.lay(guest)
            let surroundings = account.office.surroundings
            let deletion = Edit(
                .hardDelete,
                at: surroundings.now,
                clock: surroundings.clockNote(offset: nil)
            )
            let lane = Lane(userID: account.id, cipherID: item)
            let _: Recording = try await account.office.ask {
                .change(.record(deletion, in: lane, as: .queued, expecting: nil, $0))
            }
            #expect(try await account.item(item) == nil)
            #expect(try await account.copyFile(file))
            let shown = try #require(try await guest.get("/object/item/\(copy)").data)
            #expect(Self.files(of: shown).map(\.name) == ["deed"])
        }
    }
}
