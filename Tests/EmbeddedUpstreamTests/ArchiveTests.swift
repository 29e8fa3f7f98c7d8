import Crypto
import Glibc
import HTTP
import JSON
import TestSupport
import Testing

@testable import EmbeddedUpstream

struct ArchiveTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func start(_ personality: Personality = .vaultwarden) async throws -> EmbeddedUpstream {
        try await EmbeddedUpstream.start(
            EmbeddedUpstream.Settings(
                personality,
                address: nil,
                directory: scratch.file("kept")
            ),
            time: RecordedClock(),
            chance: SystemEntropy()
        )
    }

    @Test func `everything is there again after a restart`() async throws {
        let first = try await start()
        var guest = try await Guest(at: first)
        let folder = try #require(
            try await guest.ask(.post, "/api/folders", #"{"name":"f"}"#).json["id"]?.string
        )
        let id = try await guest.make(more: #","folderId":"\#(folder)","favorite":true"#)
        let gone = try await guest.make()
        _ = try await guest.ask(.delete, "/api/ciphers/\(gone)")
        let organization = try await guest.ask(
            .post,
            "/api/organizations",
            #"{"name":"o","key":"4.AAAA","collectionName":"c"}"#
        ).json["id"]?.string
        let send = #"{"type":0,"key":"k","name":"n","deletionDate":"2030-01-01T00:00:00Z"}"#
        #expect(try await guest.ask(.post, "/api/sends", send).status == .ok)
        let before = try await guest.ask(.get, "/api/sync").json.raw
        await first.stop(within: .zero)

        let second = try await start()
        guest = guest.moved(to: second)
        let after = try await guest.ask(.get, "/api/sync")
        #expect(after.json.raw == before, "sync is another")
        #expect(after.json["ciphers"]?[0]?["id"]?.string == id)
        #expect(after.json["profile"]?["organizations"]?[0]?["id"]?.string == organization)
        try await guest.renew()
        #expect(try await guest.ask(.get, "/api/sync").json.raw == before)
        await second.stop(within: .zero)
    }

    @Test func `a deleted account is gone after a restart as well`() async throws {
        let first = try await start()
        let guest = try await Guest(at: first)
        _ = try await guest.attach("content", to: try await guest.make())
        let proof = #"{"masterPasswordHash":"hash"}"#
        #expect(try await guest.ask(.post, "/api/accounts/delete", proof).status == .ok)
        await first.stop(within: .zero)
        let second = try await start()
        #expect(await second.accountCount == 0)
        let next = try await Guest(at: second)
        #expect(try await next.ask(.get, "/api/sync").json["ciphers"]?.array?.count == 0)
        await second.stop(within: .zero)
    }

    @Test func `a file's bytes are kept, and those of a deleted one are not`() async throws {
        let first = try await start()
        let guest = try await Guest(at: first)
        let id = try await guest.make()
        let kept = try await guest.attach("kept", to: id)
        let gone = try await guest.attach("gone", to: id)
        let path = "/api/ciphers/\(id)/attachment/"
        #expect(try await guest.ask(.delete, path + gone).status == .ok)
        await first.stop(within: .zero)
        let second = try await start()
        var other = guest.moved(to: second)
        try await other.renew()
        #expect(try await other.download(kept, of: id) == "kept")
        #expect(try await other.ask(.get, path + gone).status == .badRequest)
        await second.stop(within: .zero)
    }

    @Test(arguments: ["DELETE /api/ciphers/ID", "POST /api/ciphers/purge"])
    func `the bytes of a deleted item's files are not kept`(_ deed: String) async throws {
        let first = try await start()
        let guest = try await Guest(at: first)
        let id = try await guest.make()
        _ = try await guest.attach("gone", to: id)
        let words = deed.replacing("ID", with: id).split(separator: " ").map(String.init)
        let proof = #"{"masterPasswordHash":"hash"}"#
        let answer = try await guest.ask(Method(rawValue: words[0]), words[1], proof)
        #expect(answer.status == .ok)
        await first.stop(within: .zero)
        let archive = try await Archive.open(scratch.file("kept"), .vaultwarden)
        var found = World(.vaultwarden)
        try await archive.restore(&found)
        #expect(found.files.isEmpty)
        try await archive.close()
    }

    @Test func `a world that goes back does so on the disk as well`() async throws {
        let first = try await start()
        let guest = try await Guest(at: first)
        let id = try await guest.make()
        await first.remember()
        _ = try await guest.make()
        await first.rollBack()
        _ = try await guest.ask(.put, "/api/ciphers/\(id)/delete")
        await first.stop(within: .zero)
        let second = try await start()
        var other = guest.moved(to: second)
        try await other.renew()
        let ciphers = try await other.ask(.get, "/api/sync").json["ciphers"]
        #expect(ciphers?.array?.compactMap { $0["id"]?.string } == [id])
        await second.stop(within: .zero)
    }

    @Test func `what gets to the disk before an earlier state is not undone by that`() async throws
    {
        let directory = scratch.file("kept")
        var archive = try await Archive.open(directory, .vaultwarden)
        var (earlier, later) = (World(.vaultwarden), World(.vaultwarden))
        (earlier.files["written"], earlier.files["removed"]) = ([1], [1])
        (later.files["written"], later.files["empty"]) = ([2], [])
        let parts: Set<Change> = [.file("written"), .file("removed"), .file("empty")]
        try await archive.keep(parts, of: later, number: 2)
        try await archive.keep(parts, of: earlier, number: 1)
        try await archive.close()

        archive = try await Archive.open(directory, .vaultwarden)
        var found = World(.vaultwarden)
        try await archive.restore(&found)
        #expect(found.files == later.files)
        // Numbers begin anew with each process.
        try await archive.keep(parts, of: earlier, number: 1)
        var again = World(.vaultwarden)
        try await archive.restore(&again)
        #expect(again.files == earlier.files)
        try await archive.close()
    }

    @Test func `a second server at the same directory is told who holds it`() async throws {
        let first = try await start()
        let error = await #expect(throws: UpstreamError.self) { try await start() }
        let text = error?.description ?? ""
        #expect(text.contains(scratch.file("kept")) && text.contains("process \(getpid())"))
        await first.stop(within: .zero)
        let second = try await start()
        await second.stop(within: .zero)
    }

    @Test func `accounts of the other kind of server are refused`() async throws {
        let first = try await start(.bitwarden)
        await first.stop(within: .zero)
        await #expect(throws: UpstreamError.self) { try await start(.vaultwarden) }
    }
}
