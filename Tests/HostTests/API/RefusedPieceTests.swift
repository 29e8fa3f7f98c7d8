import Bitwarden
import Crypto
import EmbeddedUpstream
import HTTP
import JSON
import Testing

@testable import Host

/// What upstream says of one thing is the caller's to hear, and says nothing of anything else.
@Suite(.timeLimit(.minutes(1)))
struct RefusedPieceTests {
    @Test func `an item into a folder that is not there is refused in upstream's words`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let nowhere = "00000000-0000-4000-8000-000000000000"
            let body = #"{"type":1,"name":"x","folderId":"\#(nowhere)"}"#
            let made = try await guest.post("/object/item", body)
            #expect(made.status == .badRequest && made.message?.contains("Invalid folder") == true)
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let edited = try await guest.put("/object/item/\(id)", body)
            #expect(edited.status == .badRequest)
            #expect(edited.message?.contains("Invalid folder") == true)
            #expect(try await guest.get("/pending").elements.isEmpty)
            #expect(try await guest.get("/list/object/items").elements.count == 1)
        }
    }

    @Test func `an item of an organisation is made as one, in its collections`() async throws {
        try await HostVenue().open { guest async throws in
            let (organization, collection) = try await guest.stage.addOrganization()
            let made = try await guest.post(
                "/object/item",
                #"""
                {"type":1,"name":"shared","organizationId":"\#(organization)",
                "collectionIds":["\#(collection)"]}
                """#
            )
            #expect(made.isSuccess, "\(made.text)")
            #expect(made.data?["organizationId"]?.string == organization)
            #expect(made.data?["collectionIds"]?[0]?.string == collection)
            #expect(made.data?["name"]?.string == "shared")
            #expect(try await guest.post("/sync?force=true", "").isSuccess)
            let list = try await guest.get("/list/object/items?organizationid=\(organization)")
            #expect(list.names == ["shared"])
        }
    }

    @Test func `an organisation's item is not out of date by what was written from here`()
        async throws
    {
        try await HostVenue().open { guest async throws in
            let (organization, collection) = try await guest.stage.addOrganization()
            let made = try await guest.post(
                "/object/item",
                #"""
                {"type":1,"name":"shared","organizationId":"\#(organization)",
                "collectionIds":["\#(collection)"]}
                """#
            )
            let id = try #require(made.data?["id"]?.string)
            let seen = try #require(made.data?["revisionDate"]?.string)
            for number in 0..<3 {
                let body = #"{"type":1,"name":"\#(number)","revisionDate":"\#(seen)"}"#
                let put = try await guest.put("/object/item/\(id)", body)
                #expect(put.data?["name"]?.string == "\(number)", "\(put.text)")
            }
        }
    }

    @Test func `an account of version 2 is called that, and its password is not called wrong`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let stage = try #require(guest.stage as? HostStage)
            let master = try MasterKey(
                password: Secret(utf8: stage.password),
                salt: KeyDerivation.salt(server: nil, email: HostVenue.email),
                derivation: KeyDerivation(stage.newcomer.registration.settings)
            )
            let wrapped = JSON.Raw(
                try Sealer(master.stretched()).seal(String(repeating: "k", count: 70))
            )
            let unlock: JSON.Path = [
                "UserDecryptionOptions", "MasterPasswordUnlock", "MasterKeyEncryptedUserKey",
            ]
            let changes = [unlock, ["Key"]].map { Reshaping($0, .set(wrapped)) }
            await upstream.inject(Fault(.reshape(changes), on: .token))
            let body = """
                {"email":"\(HostVenue.email)","password":"\(stage.password)",\
                "server":"\(stage.server)"}
                """
            let refused = try await guest.post("/accounts", body)
            #expect(refused.status == .badRequest)
            #expect(refused.message?.contains("version 2 encryption") == true, "\(refused.text)")
            #expect(try await guest.post("/accounts", body).isSuccess)
        }
    }

    /// What a server says to whoever has to bring a second factor.
    private static func challenge(_ providers: [Int]) -> Fault.Effect {
        let names = providers.map { #""\#($0)":null"# }.joined(separator: ",")
        let body = """
            {"error":"invalid_grant","error_description":"Two factor required.",\
            "TwoFactorProviders2":{\(names)}}
            """
        return .answer(.json(400, body), isCarriedOut: false)
    }

    @Test(
        arguments: [
            ([1], "", 1), ([0, 1], "", 0), ([0, 1], #","twoFactorProvider":1"#, 1),
            ([1], #","twoFactorToken":"123456","twoFactorProvider":1"#, 0), ([0], "", 0),
        ]
    )
    func `the code that is mailed is asked for by whoever can do nothing else or has chosen it`(
        _ providers: [Int],
        _ choice: String,
        _ mails: Int
    ) async throws {
        try await HostVenue().open { guest, upstream in
            let stage = try #require(guest.stage as? HostStage)
            await upstream.inject(Fault(Self.challenge(providers), on: .token))
            let mail = Fault.Effect.answer(.json(200, "{}"), isCarriedOut: false)
            let number = await upstream.inject(Fault(mail, on: .secondFactor))
            let body = """
                {"email":"\(HostVenue.email)","password":"\(stage.password)",\
                "server":"\(stage.server)"\(choice)}
                """
            let refused = try await guest.post("/accounts", body)
            #expect(refused.status == .badRequest, "\(refused.text)")
            #expect(refused.message?.contains("Two-factor") == true, "\(refused.text)")
            #expect(await upstream.hits(number) == mails)
        }
    }

    @Test func `a file from before 2018 has no key of its own, and opens under its owner's`()
        async throws
    {
        try await HostVenue().open { guest, upstream in
            let stage = try #require(guest.stage as? HostStage)
            let id = try await guest.make(#"{"type":1,"name":"x"}"#)
            let file = try await stage.attachElsewhere([4, 5, 6], named: "old", to: id)
            let place: JSON.Path = ["ciphers", .element(0), "attachments", .element(0), "key"]
            await upstream.inject(Fault(.reshape([Reshaping(place, .remove)]), on: .sync))
            #expect(try await guest.post("/sync?force=true").isSuccess)
            let read = try await guest.get("/object/attachment/\(file)?itemid=\(id)")
            #expect(read.body == [4, 5, 6], "\(read.text)")
        }
    }

    /// - Returns: Where the file is read.
    private static func attach(_ bytes: [UInt8], _ guest: Guest) async throws -> String {
        let id = try await guest.make(#"{"type":1,"name":"x"}"#)
        let up = try await guest.upload(bytes, "f.txt", "/attachment?itemid=\(id)")
        let file = try #require(up.data?["attachments"]?[0]?["id"]?.string)
        return "/object/attachment/\(file)?itemid=\(id)"
    }

    @Test func `a file that came broken is fetched again`() async throws {
        try await HostVenue().open { guest, upstream in
            let path = try await Self.attach([1, 2, 3], guest)
            let portal = Fault.Effect.answer(.html(200, "<html>"), isCarriedOut: false)
            await upstream.inject(Fault(portal, on: .downloadFile))
            let broken = try await guest.get(path)
            #expect(broken.status != .ok, "\(broken.text)")
            #expect(try await guest.get(path).body == [1, 2, 3])
        }
    }

    @Test func `a Send that is put back as it was read keeps its password`() async throws {
        try await HostVenue().open { guest async throws in
            let made = try await guest.post("/object/send", Sample.send("2200-01-01T00:00:00Z"))
            let id = try #require(made.data?["id"]?.string, "\(made.text)")
            let read = try await guest.get("/object/send/\(id)")
            let body = try #require(read.data?.raw)
            let edited = try await guest.put(
                "/object/send/\(id)",
                String(decoding: body.bytes, as: UTF8.self)
            )
            #expect(edited.data?["passwordSet"]?.bool == true, "\(edited.text)")
            let bare = try await guest.post("/send/\(id)/remove-password")
            #expect(bare.data?["passwordSet"]?.bool == false)
        }
    }

    @Test(arguments: [
        (Fault.Effect.answer(.refusal(404, "no"), isCarriedOut: false), 404),
        (.answer(.badGateway, isCarriedOut: false), 502),
    ])
    func `a file that cannot be had is said in bw's words, and the network is as it was`(
        _ effect: Fault.Effect,
        _ status: Int
    ) async throws {
        try await HostVenue().open { guest, upstream in
            let path = try await Self.attach([1, 2, 3], guest)
            await upstream.inject(Fault(effect, on: .downloadFile))
            let down = try await guest.get(path)
            let words = "A \(status) error occurred while downloading the attachment."
            #expect(down.status == .badRequest && down.message == words, "\(down.text)")
            #expect(try await guest.get("/network").data?["state"]?.string == "online")
            let other = try await guest.post("/object/item", Sample.login)
            #expect(other.headers["Holdfast-Disposition"] == "saved")
            #expect(try await guest.get(path).body == [1, 2, 3])
        }
    }
}
