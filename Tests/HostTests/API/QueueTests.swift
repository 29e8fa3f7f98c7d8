import EmbeddedUpstream
import Glibc
import HTTP
import JSON
import System
import Testing
import Vault

@testable import Host
@testable import Sync

/// What is pending, as clients see it.
@Suite(.timeLimit(.minutes(1)))
struct QueueTests {
    @Test(arguments: Venue.allCases)
    func `G-U3, G-VR4 an edit says where it is`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            let saved = try await guest.post("/object/item", #"{"type":1,"name":"one"}"#)
            #expect(saved.headers["Holdfast-Disposition"] == "saved")
            #expect(saved.headers["Holdfast-Receipt"] == nil)
            let id = try #require(saved.data?["id"]?.string)
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            let queued = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"two"}"#)
            #expect(queued.status == .ok)
            #expect(queued.headers["Holdfast-Disposition"] == "queued")
            let receipt = try #require(queued.headers["Holdfast-Receipt"])
            let sync = queued.data?["sync"]
            #expect(sync?["state"]?.string == "pending")
            #expect(sync?["changes"]?[0]?.string == "update")
            #expect(sync?["since"]?.string?.hasSuffix("Z") == true)
            let shown = try await guest.get("/receipts/\(receipt)").data
            #expect(shown?["object"]?.string == "receipt")
            #expect(shown?["itemId"]?.string == id)
            #expect(shown?["status"]?.string == "queued")
            #expect(shown?["resultItemId"]?.isNull == true)
            let removed = try await guest.delete("/object/item/\(id)")
            #expect(removed.text == #"{"success":true}"#)
            #expect(removed.headers["Holdfast-Disposition"] == "queued")
        }
    }

    @Test(arguments: Venue.allCases)
    func `a queue is shown, tried and given up without an unlocked vault`(
        _ venue: Venue
    ) async throws {
        try await venue.open { guest async throws in
            let id = try await guest.login("one")
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            _ = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"secret name"}"#)
            _ = try await guest.post("/lock")
            let list = try await guest.get("/pending")
            let change = try #require(list.elements.first)
            #expect(change["object"]?.string == "pendingChange")
            #expect(change["itemId"]?.string == id)
            #expect(change["changeType"]?.string == "update")
            #expect(change["state"]?.string != nil)
            #expect(change["version"]?.int != nil)
            #expect(!list.text.contains("secret name"))
            let changeID = try #require(change["id"]?.string)
            #expect(try await guest.get("/pending/\(changeID)").data?["id"]?.string == changeID)
            #expect(try await guest.post("/pending/\(changeID)/retry").isSuccess)
            let copy = try await guest.post("/pending/\(changeID)/save-copy")
            #expect(copy.message == "Vault is locked.")
            let gone = try await guest.delete("/pending/\(changeID)")
            #expect(gone.text == #"{"success":true}"#)
            #expect(try await guest.get("/pending").elements.isEmpty)
            for path in ["/pending/\(changeID)", "/receipts/none"] {
                let reply = try await guest.get(path)
                #expect(reply.text == #"{"success":false,"message":"Not found."}"#)
            }
        }
    }

    @Test(arguments: Venue.allCases)
    func `a sync that has to wait for changes says so`(_ venue: Venue) async throws {
        try await venue.open { guest async throws in
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            try await guest.login("one")
            let sync = try await guest.post("/sync")
            #expect(sync.isSuccess)
            #expect(sync.data?["title"]?.string == "Syncing complete.")
            #expect(sync.data?["outcome"]?.string == "deferred")
            #expect(sync.data?["reason"]?.string?.isEmpty == false)
            #expect(sync.data?["pending"]?["total"]?.int == 1)
            _ = try await guest.put("/network", #"{"mode":"auto"}"#)
        }
    }

    @Test func `a pending change has the members that are promised, and no other`() async throws {
        let venue = try StillVenue()
        let now = Moment(ticks: 17_681_155_649_012_345)
        let lane = Lane(userID: venue.userID, cipherID: "c")
        let change = StoredChange.still(.softDelete, "p", lane, now, .backingOff(until: now))
        venue.desk.change { $0.pending = [change] }
        try await venue.open { guest async throws in
            #expect(
                try await guest.get("/pending/P").text
                    == """
                    {"success":true,"data":{"object":"pendingChange","id":"p","itemId":"c",\
                    "changeType":"softDelete","state":"backingOff",\
                    "originalRevisionDate":"2026-01-05T08:12:44.901Z",\
                    "createdDate":"2026-01-11T07:12:44.901Z",\
                    "updatedDate":"2026-01-11T07:12:44.901Z","offlinePasswordChangeCount":2,\
                    "attempts":0,"nextAttemptDate":"2026-01-11T07:12:44.901Z",\
                    "lastError":{"kind":"rejected","message":"It will not have it."},"version":1}}
                    """
            )
        }
    }

    @Test func `a change that stands on nothing that upstream ever said has no original revision`()
        async throws
    {
        let venue = try StillVenue()
        let now = Moment(ticks: 17_681_155_649_012_345)
        let lane = Lane(userID: venue.userID, cipherID: "c")
        let change = StoredChange.still(.update, "p", lane, now, over: .beforeAll)
        venue.desk.change { $0.pending = [change] }
        try await venue.open { guest async throws in
            let shown = try #require(try await guest.get("/pending").elements.first)
            #expect(shown["originalRevisionDate"]?.isNull == true)
        }
    }

    @Test func `resolutions are listed as asked for, or refused`() async throws {
        let venue = try StillVenue()
        let entries = (1...3).map { number in
            let moment = Moment(ticks: 17_681_155_640_000_000).advanced(bySeconds: Int64(number))
            return ResolutionEntry(
                sequence: number,
                pendingID: "p\(number)",
                cipherID: "c",
                type: .update,
                note: ResolutionNote(
                    .backedUpServer,
                    at: moment,
                    winner: .upstream,
                    backupCipherID: "b"
                ),
                recorded: moment
            )
        }
        venue.desk.change { $0.resolutions = entries }
        try await venue.open { guest async throws in
            func ids(_ query: String) async throws -> [Int] {
                try await guest.get("/resolutions\(query)").elements.compactMap { $0["id"]?.int }
            }
            #expect(try await ids("") == [3, 2, 1])
            #expect(try await ids("?limit=2") == [3, 2])
            #expect(try await ids("?since=2026-01-11T07:12:46.000Z") == [3, 2])
            let first = try await guest.get("/resolutions?limit=1").elements.first
            #expect(first?["winner"]?.string == "server")
            #expect(first?["outcome"]?.string == "backedUpServer")
            #expect(first?["backupItemId"]?.string == "b")
            for query in ["?since=yesterday", "?since=", "?limit=0", "?limit=x", "?limit=1001"] {
                let reply = try await guest.get("/resolutions\(query)")
                #expect(reply.status == .badRequest && reply.message != nil, "\(query)")
            }
        }
    }

    @Test func `the copy of a change that was kept offline is called what it is called upstream`()
        async throws
    {
        try await HostVenue().open { guest, _ in
            let id = try await guest.login("ours")
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            let edited = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"new"}"#)
            let receipt = try #require(edited.headers["Holdfast-Receipt"])
            let change = try #require(try await guest.get("/pending").elements.first?["id"]?.string)
            #expect(try await guest.post("/pending/\(change)/save-copy").isSuccess)
            _ = try await guest.put("/network", #"{"mode":"auto"}"#)
            #expect(try await guest.post("/sync?force=true").isSuccess)
            let items = try await guest.get("/list/object/items").elements
            let copy = try #require(items.first { $0["id"]?.string != id }?["id"]?.string)
            let told = try await guest.get("/receipts/\(receipt)").data
            #expect(told?["backupItemId"]?.string == copy)
            let history = try await guest.get("/resolutions").elements
            let discarded = history.first { $0["outcome"]?.string == "discarded" }
            #expect(discarded?["backupItemId"]?.string == copy)
        }
    }

    @Test func `an item that is only put elsewhere or favoured offline is updated`() async throws {
        try await HostVenue().open { guest, _ in
            let id = try await guest.login("ours")
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            let place = #"{"type":1,"name":"ours","favorite":true,"login":{}}"#
            let edited = try await guest.put("/object/item/\(id)", place)
            #expect(edited.data?["sync"]?["changes"]?.array?.compactMap(\.string) == ["update"])
            let pending = try await guest.get("/pending").elements
            #expect(pending.map { $0["changeType"]?.string } == ["update"])
            _ = try await guest.put("/network", #"{"mode":"auto"}"#)
            #expect(try await guest.post("/sync?force=true").isSuccess)
            let history = try await guest.get("/resolutions").elements
            #expect(history.map { $0["changeType"]?.string } == ["update"])
        }
    }

    @Test func `while a server wants to be left alone, what waits says until when`() async throws {
        try await HostVenue().open { guest, upstream in
            var fault = Fault(.answer(.tooManyRequests(retryAfter: "120"), isCarriedOut: false))
            fault.times = nil
            await upstream.inject(fault)
            let now = Moment(SystemTimekeeper().now)
            let reply = try await guest.post("/object/item", Sample.login)
            #expect(reply.headers["Holdfast-Disposition"] == "queued")
            #expect(try await guest.post("/sync", "{}").isSuccess)
            let change = try #require(try await guest.get("/pending").elements.first)
            #expect(change["state"]?.string == "ready")
            let date = try #require(change["nextAttemptDate"]?.string, "\(change.raw)")
            let wait = try #require(Revision(date)?.moment).ticks - now.ticks
            #expect((119...180).contains(wait / Moment.ticksPerSecond))
        }
    }

    @Test func `what is recorded is not told as refused for want of room`() {
        let full = StoreError.system(SystemError("write", code: ENOSPC))
        for refusal in [Repository.Refusal.unsettled(full), .unsettled(nil)] {
            let response = Response.refusing(DeskRefusal(refusal))
            #expect(response.status.rawValue == 500)
            #expect(DeskRefusal(refusal).description.contains("is recorded and will be sent"))
        }
        #expect(Response.refusing(DeskRefusal(.store(full))).status.rawValue == 507)
    }

    @Test func `what there is no room for is refused so that clients can tell`() {
        let refusals: [(DeskRefusal, Int)] = [
            (.noRoom("Full."), 507), (.store(.queueFull(limit: 7)), 507), (.busy, 503),
            (.store(.noAccount), 400), (.notFound, 400), (.upstream(.outOfDate), 400),
        ]
        for (refusal, status) in refusals {
            let response = Response.refusing(refusal)
            #expect(response.status.rawValue == status)
            #expect((response.headers["Retry-After"] != nil) == (status == 503))
        }
    }
}
