import EmbeddedUpstream
import HTTP
import JSON
import Testing

/// Files and organisations are upstream's work, whatever waits of the item that they belong to.
@Suite(.timeLimit(.minutes(1)))
struct PendingFilesTests {
    @Test func `a file that comes while its item has an edit pending is shown and can be read`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let kept = try await guest.upload([1], "first", "/attachment?itemid=\(id)")
            #expect(kept.isSuccess, "\(kept.text)")
            var fault = Fault(.answer(.refusal(500, "no"), isCarriedOut: false), on: .updateCipher)
            fault.times = nil
            await upstream.inject(fault)
            let edited = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"y"}"#)
            #expect(edited.headers["Holdfast-Disposition"] == "queued")
            let up = try await guest.upload([1, 2, 3], "second", "/attachment?itemid=\(id)")
            #expect(up.data?["name"]?.string == "y", "\(up.text)")
            let files = up.data?["attachments"]?.array.map(Array.init) ?? []
            #expect(files.compactMap { $0["fileName"]?.string }.sorted() == ["first", "second"])
            let second = try #require(files.first { $0["fileName"]?.string == "second" })
            let path = "/object/attachment/\(try #require(second["id"]?.string))?itemid=\(id)"
            #expect(try await guest.get(path).body == [1, 2, 3])
            #expect(try await guest.delete(path).isSuccess)
            let left = try await guest.get("/object/item/\(id)").data
            #expect(left?["attachments"]?.array?.count == 1)
        }
    }

    @Test func `G-ATT offline a file opens that was fetched before, and none comes or goes`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            var paths: [String: String] = [:]
            for name in ["fetched", "other"] {
                let up = try await guest.upload([1, 2, 3], name, "/attachment?itemid=\(id)")
                for file in up.data?["attachments"]?.array.map(Array.init) ?? [] {
                    let (name, fileID) = (file["fileName"]?.string, file["id"]?.string)
                    paths[name ?? ""] = "/object/attachment/\(fileID ?? "")?itemid=\(id)"
                }
            }
            let (fetched, other) = (try #require(paths["fetched"]), try #require(paths["other"]))
            #expect(try await guest.get(fetched).body == [1, 2, 3])
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            #expect(try await guest.get(fetched).body == [1, 2, 3])
            #expect(try await !guest.get(other).isSuccess)
            #expect(try await !guest.delete(fetched).isSuccess)
            #expect(try await !guest.upload([4], "late", "/attachment?itemid=\(id)").isSuccess)
            #expect(try await guest.get("/pending").elements.isEmpty)
            _ = try await guest.put("/network", #"{"mode":"auto"}"#)
            let item = try await guest.get("/object/item/\(id)").data
            #expect(item?["attachments"]?.array?.count == 2)
            #expect(try await guest.get(other).body == [1, 2, 3])
        }
    }

    @Test func `what upstream has not got yet gets no file and goes to no organisation`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let (organization, collection) = try await guest.stage.addOrganization()
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let up = try await guest.upload([1], "f", "/attachment?itemid=\(id)")
            let moved = try await guest.post("/move/\(id)/\(organization)", "[\"\(collection)\"]")
            for reply in [up, moved] {
                #expect(reply.status == .badRequest)
                #expect(reply.message?.contains("not reached the server") == true)
            }
        }
    }

    @Test func `T-36 what goes to an organisation with its pending edit leaves no copy`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let (organization, collection) = try await guest.stage.addOrganization()
            _ = try await guest.post("/sync?force=true")
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let refusal = Fault.Effect.answer(.refusal(500, "no"), isCarriedOut: false)
            await upstream.inject(Fault(refusal, on: .updateCipher))
            let edited = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"y"}"#)
            #expect(edited.headers["Holdfast-Disposition"] == "queued")
            let moved = try await guest.post("/move/\(id)/\(organization)", "[\"\(collection)\"]")
            #expect(moved.data?["organizationId"]?.string == organization, "\(moved.text)")
            #expect(try await guest.get("/pending").elements.isEmpty)
            let items = try await guest.get("/list/object/items").elements
            #expect(items.map { $0["name"]?.string } == ["y"])
            #expect(items.first?["organizationId"]?.string == organization)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `an item stays in its collections, whatever upstream's answers leave out`(
        _ personality: Personality.Name
    ) async throws {
        var venue = HostVenue()
        venue.personality = personality
        try await venue.open { guest async throws in
            let (organization, collection) = try await guest.stage.addOrganization()
            _ = try await guest.post("/sync?force=true")
            let owner = organization.uppercased()
            let place = #""organizationId":"\#(owner)","collectionIds":["\#(collection)"]"#
            let made = try await guest.post("/object/item", #"{"type":1,"name":"x",\#(place)}"#)
            let id = try #require(made.data?["id"]?.string, "\(made.text)")
            func collections() async throws -> [String]? {
                let item = try await guest.get("/object/item/\(id)")
                return item.data?["collectionIds"]?.array?.compactMap(\.string)
            }
            #expect(try await collections() == [collection])
            _ = try await guest.put("/object/item/\(id)", #"{"type":1,"name":"y"}"#)
            #expect(try await collections() == [collection])
            #expect(try await guest.delete("/object/item/\(id)").isSuccess)
            #expect(try await guest.post("/restore/item/\(id)").isSuccess)
            #expect(try await collections() == [collection])
            let own = try await guest.make(#"{"type":1,"name":"z"}"#)
            let moved = try await guest.post("/move/\(own)/\(organization)", "[\"\(collection)\"]")
            #expect(moved.data?["collectionIds"]?.array?.compactMap(\.string) == [collection])
        }
    }

    @Test func `of a change without content no copy can be kept, and that is said`() async throws {
        try await HostVenue().open { guest async throws in
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            _ = try await guest.put("/network", #"{"mode":"offline"}"#)
            #expect(try await guest.delete("/object/item/\(id)").isSuccess)
            let change = try #require(try await guest.get("/pending").elements.first)
            let changeID = try #require(change["id"]?.string)
            let copy = try await guest.post("/pending/\(changeID)/save-copy")
            #expect(copy.status == .badRequest)
            #expect(copy.message == "This change has no content of which a copy could be kept.")
            #expect(try await guest.get("/pending").elements.count == 1)
        }
    }
}
