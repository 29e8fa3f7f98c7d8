import JSON
import Testing
import Vault

@testable import Bitwarden

struct VaultTests {
    private func sync(_ name: String) throws -> SyncAnswer {
        try SyncAnswer(Array(try Sample(name).body.raw.bytes))
    }

    @Test func `a sync is taken apart, and its ciphers stay the bytes they were`() throws {
        let sample = try Sample("sync")
        let sync = try sync("sync")
        let ciphers = try #require(sample.body["ciphers"]?.array)
        #expect(sync.ciphers.count == ciphers.count)
        #expect(sync.ciphers.map(\.raw) == ciphers.map(\.raw))
        #expect(sync.profile.id == "2ab013d2-157b-45b7-8d62-2dfae089e69b")
        #expect(sync.profile.memberships.map(\.opens) == [true])
        #expect(sync.unlock?.salt == sync.profile.email)
        #expect(sync.folders.first?["id"]?.string == "a08f3c1b-9fd2-4b34-9e6e-aa3982e5b0ca")
        #expect(sync.collections.count == 1)
    }

    @Test(arguments: [
        (#"{"object":"sync","ciphers":[]}"#, NotASync.missing("folders")),
        (#"{"object":"sync","folders":[]}"#, .missing("ciphers")),
        (#"{"object":"sync","ciphers":{},"folders":[]}"#, .missing("ciphers")),
        (#"{"object":"sync","ciphers":[],"folders":[]}"#, .missing("profile")),
        (#"{"object":"list","data":[]}"#, .otherObject),
        ("[]", .otherObject),
    ])
    func `what is only half a sync is none`(_ text: String, _ flaw: NotASync) {
        #expect(throws: flaw) { try SyncAnswer(Array(text.utf8)) }
    }

    @Test func `an old server's spelling is read, and what nobody needs may be odd`() throws {
        let answer = try SyncAnswer(
            Array(
                #"""
                {"Object":"sync","Profile":{"Id":"u","Email":"e","Name":7,"TwoFactorEnabled":"yes",
                "Organizations":[{"Id":3},{"Id":"o"}]},"Folders":[],
                "Ciphers":[{"Id":"c","RevisionDate":"2026-01-01T00:00:00Z"}]}
                """#.utf8
            )
        )
        let cipher = try #require(answer.ciphers.first)
        #expect(cipher["id"]?.string == "c")
        #expect(cipher["revisionDate"]?.string == "2026-01-01T00:00:00Z")
        #expect(answer.profile.id == "u")
        #expect(answer.profile.memberships.map(\.organizationID) == ["o"])
    }

    @Test func `a sync that was cut off is none`() throws {
        let body = Array(try Sample("sync").body.raw.bytes)
        #expect(throws: NotASync.self) { try SyncAnswer(Array(body.dropLast())) }
        #expect(throws: NotASync.self) { try SyncAnswer(Array("<html>".utf8)) }
    }

    @Test func `an item of an unknown type does not harm the others`() throws {
        let text = """
            {"object":"sync","ciphers":[{"id":"a","type":99,"what":[1]},7,{"id":"b"}],"folders":[],
            "profile":{"id":"p","email":"e"}}
            """
        let sync = try SyncAnswer(Array(text.utf8))
        #expect(sync.ciphers.map { $0["id"]?.string } == ["a", nil, "b"])
        #expect(sync.unlock == nil)
    }

    @Test func `folders and attachments are read and written`() throws {
        let folder = try FolderAnswer(json: try Sample("folder_create").body)
        #expect(try FolderAnswer(json: JSON.Document(JSON.Raw(folder)).root) == folder)
        let file = try AttachmentAnswer(json: try Sample("attachment_get").body)
        #expect(file.size == 81)
        let again = JSON.Raw(file)
        #expect(try AttachmentAnswer(json: JSON.Document(again).root) == file)
        #expect(try JSON.Document(again).root["sizeName"]?.string == "81.00 bytes")
        let upload = try AttachmentUpload(json: try Sample("attachment_create_v2").body)
        #expect(upload.way == .direct)
        #expect(try Cipher(upload.cipher).attachmentIDs == [upload.attachmentID])
    }

    @Test func `lists are unwrapped`() throws {
        let list = try ListAnswer<FolderAnswer>(json: try Sample("folder_list").body)
        #expect(list.elements.map(\.id) == ["ffda19ad-226c-4c04-b1b4-a88747baee44"])
    }

    @Test(arguments: [
        ("cipher_update_out_of_date", "out of date"), ("cipher_get_404", "doesn't exist"),
        ("cipher_delete_again", "doesn't exist"), ("folder_get_404", "invalid folder"),
    ])
    func `what a refusal means stands in its words`(_ name: String, _ words: String) throws {
        let envelope = ErrorEnvelope(json: try Sample(name).body)
        #expect(envelope.says(words))
        #expect(!envelope.says("other words"))
        #expect(envelope.isFromAPI)
    }

    @Test func `a refusal is known in every shape, and a stranger's answer is none`() throws {
        #expect(ErrorEnvelope(json: try Sample("api_404_unknown_route").body).isFromAPI)
        let bitwarden = """
            {"message":"The model state is invalid.","validationErrors":{"Name":["Too long."]},
            "object":"error"}
            """
        #expect(try envelope(bitwarden).message == "Too long.")
        #expect(try envelope(#"{"title":"Bad","status":400,"errors":{}}"#).isFromAPI)
        #expect(try !envelope(#"{"login":"please"}"#).isFromAPI)
        #expect(try envelope(#"{"error":"invalid_client"}"#).message == "invalid_client")
        #expect(try !envelope("[]").isFromAPI)
    }

    private func envelope(_ text: String) throws -> ErrorEnvelope {
        ErrorEnvelope(json: try JSON.Document(Array(text.utf8)).root)
    }

    @Test func `a server's switches are read, and unknown kinds of them kept`() throws {
        var configuration = try ServerConfiguration(json: try Sample("config").body)
        #expect(configuration.serverName == "Vaultwarden")
        #expect(configuration.isOn("pm-19148-innovation-archive"))
        #expect(configuration.environment.api == "http://127.0.0.1:8222/api")
        configuration.featureStates["number"] = 7
        let again = try ServerConfiguration(json: JSON.Document(JSON.Raw(configuration)).root)
        #expect(again.featureStates == configuration.featureStates)
        #expect(again.environment == configuration.environment)
        #expect(!again.isOn("number"))
    }

    @Test(arguments: [
        (0, 6, true, "2026-01-05T08:12:44.000000Z"), (0, 7, false, "2026-01-05T08:12:44Z"),
        (1_234_567, 6, true, "2026-01-05T08:12:44.123456Z"),
        (1_234_567, 7, false, "2026-01-05T08:12:44.1234567Z"),
        (1_200_000, 7, false, "2026-01-05T08:12:44.12Z"),
        (1_239_999, 3, true, "2026-01-05T08:12:44.123Z"),
    ])
    func `stamps are written as each server writes them`(
        _ ticks: Int64,
        _ digits: Int,
        _ padded: Bool,
        _ text: String
    ) throws {
        let second = try #require(Revision("2026-01-05T08:12:44Z")).moment.ticks
        let moment = Moment(ticks: second + ticks)
        #expect(Stamp.text(moment, digits: digits, padded: padded) == text)
    }

    @Test(
        arguments: [
            (.min, "0001-01-01T00:00:00.000Z"), (.min / 2, "0001-01-01T00:00:00.000Z"),
            (.max, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)]
    )
    func `F38 a moment of no year that servers know is written as the nearest that is`(
        _ ticks: Int64,
        _ text: String
    ) {
        #expect(Stamp.text(Moment(ticks: ticks), digits: 3, padded: true) == text)
    }

    @Test func `stamps before 1970 and their milliseconds are cut off downwards`() {
        let moment = Moment(ticks: -1)
        #expect(Stamp.text(moment, digits: 7, padded: true) == "1969-12-31T23:59:59.9999999Z")
        #expect(moment.milliseconds == -1)
        #expect(Moment(ticks: 19_999).milliseconds == 1)
    }
}
