import EmbeddedUpstream
import HTTP
import JSON
import Testing

@testable import Host

/// What clients hear when the host ends while a server keeps it waiting.
@Suite(.timeLimit(.minutes(1)))
struct PartingTests {
    /// The server has the request and says nothing; then the host is told to end.
    private func part(
        from fault: Fault,
        with ask: @escaping @Sendable (Guest) async throws -> Guest.Reply,
        hearing check: @escaping @Sendable (Guest.Reply) throws -> Void
    ) async throws {
        var venue = HostVenue()
        venue.closing = HostServer.Closing(
            within: .seconds(20),
            answering: .milliseconds(19_500)
        )
        venue.parting = { guest, upstream, end in
            let number = await upstream.inject(fault)
            async let reply = ask(guest)
            while await upstream.hits(number) == 0 { await Task.yield() }
            end()
            try check(try await reply)
            await upstream.withdrawAll()
        }
        try await venue.open { _ in }
    }

    @Test func `an edit that the server does not answer is queued when the host ends`()
        async throws
    {
        try await part(from: Fault(.hang, on: .createCipher)) { guest in
            try await guest.post("/object/item", Sample.login)
        } hearing: { reply in
            #expect(reply.status == .ok)
            #expect(reply.headers["Holdfast-Disposition"] == "queued")
            #expect(reply.headers["Holdfast-Receipt"]?.isEmpty == false)
            #expect(reply.data?["sync"]?["state"]?.string == "pending")
        }
    }

    @Test func `a sync that the server does not answer has failed when the host ends`()
        async throws
    {
        try await part(from: Fault(.hang, on: .sync)) { guest in
            try await guest.post("/sync?force=true", "{}")
        } hearing: { reply in
            #expect(reply.status == .badRequest)
            #expect(reply.message?.isEmpty == false)
        }
    }

    @Test func `a folder that the server does not answer is not made when the host ends`()
        async throws
    {
        try await part(from: Fault(.hang, on: .createFolder)) { guest in
            try await guest.post("/object/folder", #"{"name":"Work"}"#)
        } hearing: { reply in
            #expect(reply.status == .badRequest)
            #expect(reply.json?["success"]?.bool == false)
            #expect(reply.message?.isEmpty == false)
        }
    }
}
