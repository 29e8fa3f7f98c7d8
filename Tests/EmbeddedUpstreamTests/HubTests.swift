import Bitwarden
import HTTP
import JSON
import System
import Testing
import Vault

@testable import EmbeddedUpstream

/// What devices hear, over real sockets.
struct HubTests {
    /// A server that runs, and a user of it with two devices, one of which listens.
    private func live(
        _ personality: Personality,
        _ body: (Guest, inout Ear) async throws -> Void
    ) async throws {
        let upstream = try await EmbeddedUpstream.start(EmbeddedUpstream.Settings(personality))
        try await withThrowingDiscardingTaskGroup { services in
            services.addTask { await upstream.run() }
            do {
                let guest = try await Guest(at: upstream)
                let friend = try await guest.friend()
                var ear = try await Ear(at: upstream, friend)
                try await body(guest, &ear)
            } catch {
                await upstream.stop(within: .zero)
                throw error
            }
            await upstream.stop(within: .zero)
        }
    }

    @Test(arguments: [Personality.bitwarden, .vaultwarden])
    func `a device hears of every change by another`(_ personality: Personality) async throws {
        try await live(personality) { guest, ear in
            let id = try await guest.make()
            var event = try await ear.event()
            #expect(event.kind == .cipherCreated)
            #expect(event.id == id)
            #expect(event.contextID == "device")
            let revised = try await guest.cipher(id)["revisionDate"]?.string
            #expect(event.date == revised.flatMap { Revision($0) }?.moment)
            for (method, path, kind) in [
                (HTTP.Method.put, "/delete", HubEvent.Kind.cipherUpdated),
                (.put, "/restore", .cipherUpdated), (.delete, "", .cipherDeleted),
            ] {
                _ = try await guest.ask(method, "/api/ciphers/\(id)\(path)")
                event = try await ear.event()
                #expect(event.kind == kind)
                #expect(event.id == id)
            }
            _ = try await guest.ask(.post, "/api/folders", #"{"name":"\#(Guest.sealed)"}"#)
            event = try await ear.event()
            #expect(event.kind == .folderCreated)
            #expect(event.userID != nil)
        }
    }

    @Test func `one server tells of archiving with the old date, and of a new place not at all`()
        async throws
    {
        try await live(.vaultwarden) { guest, ear in
            let id = try await guest.make()
            let made = try await ear.event()
            _ = try await guest.ask(.put, "/api/ciphers/\(id)/partial", #"{"favorite":true}"#)
            _ = try await guest.ask(.put, "/api/ciphers/\(id)/archive")
            let event = try await ear.event()
            #expect(event.kind == .cipherUpdated)
            #expect(event.date == made.date)
        }
    }

    @Test func `many at once are told as such, by nobody; after a failure nothing is`() async throws
    {
        try await live(.vaultwarden) { guest, ear in
            let id = try await guest.make()
            _ = try await ear.event()
            let bad = #"{"ids":["\#(id)","00000000-0000-4000-8000-000000000000"]}"#
            #expect(try await guest.ask(.put, "/api/ciphers/delete", bad).status == .badRequest)
            _ = try await guest.ask(.put, "/api/ciphers/restore", #"{"ids":["\#(id)"]}"#)
            let event = try await ear.event()
            #expect(event.kind == .ciphersChanged)
            #expect(event.contextID == nil)
        }
    }

    @Test func `the handshake is answered in a text or in a binary message`() async throws {
        for (personality, isText) in [(Personality.bitwarden, true), (.vaultwarden, false)] {
            try await live(personality) { _, ear in #expect(ear.wasAnsweredInText == isText) }
        }
    }

    @Test(arguments: ["whole", "split", "merged"])
    func `messages may be cut and joined`(_ way: String) async throws {
        try await live(.vaultwarden) { guest, ear in
            _ = try await guest.ask(.put, "/_faults/hub", #"{"messages":"\#(way)"}"#)
            for _ in 0..<5 {
                let id = try await guest.make()
                #expect(try await ear.event().id == id)
            }
        }
    }

    @Test func `an event gets lost on request, and the change does not`() async throws {
        try await live(.bitwarden) { guest, ear in
            await guest.upstream.inject(Fault(.loseEvents, on: .createCipher))
            let lost = try await guest.make()
            let heard = try await guest.make()
            #expect(try await ear.event().id == heard)
            #expect(try await guest.cipher(lost)["id"]?.string == lost)
        }
    }

    @Test func `whoever has no token is turned away`() async throws {
        let upstream = try await EmbeddedUpstream.start(EmbeddedUpstream.Settings(.vaultwarden))
        await withDiscardingTaskGroup { services in
            services.addTask { await upstream.run() }
            await #expect(throws: WebSocketError.self) {
                let client = try WebSocketClient()
                _ = try await client.connect(try #require(upstream.hubURL) + "?access_token=x")
            }
            await upstream.stop(within: .zero)
        }
    }

    @Test func `a server that goes away breaks the line, and is there again at the same place`()
        async throws
    {
        try await live(.vaultwarden) { guest, ear in
            let client = try Client()
            let url = guest.upstream.url + "/api/alive"
            #expect(try await client.send(Client.Request(.get, url)).status == .ok)
            await guest.upstream.goAway()
            let silence = try? await ear.next()
            #expect(silence == nil)
            await #expect(throws: ClientError.self) {
                try await client.send(Client.Request(.get, url))
            }
            try guest.upstream.comeBack()
            #expect(try await client.send(Client.Request(.get, url)).status == .ok)
            var other = try await Ear(at: guest.upstream, guest)
            let id = try await guest.make()
            #expect(try await other.event().id == id)
            await client.close()
        }
    }
}

/// A device that listens.
private struct Ear {
    private let client: WebSocketClient
    private var iterator: WebSocket.AsyncIterator
    private var frames = HubFrames()
    private var pending: [HubMessage] = []
    private(set) var wasAnsweredInText = false

    init(at upstream: EmbeddedUpstream, _ guest: Guest) async throws {
        client = try WebSocketClient()
        let url = try #require(upstream.hubURL) + "?access_token=" + guest.token
        let socket = try await client.connect(url)
        try await socket.send(.text(String(decoding: HubHandshake.request, as: UTF8.self)))
        iterator = socket.makeAsyncIterator()
        switch try await iterator.next(isolation: #isolation) {
        case .text(let text):
            wasAnsweredInText = true
            #expect(Array(text.utf8) == HubHandshake.answer)
        case .binary(let bytes): #expect(bytes == HubHandshake.answer)
        case nil: Issue.record("The hub hung up.")
        }
    }

    mutating func next() async throws -> HubMessage? {
        while pending.isEmpty {
            guard let message = try await iterator.next(isolation: #isolation) else { return nil }
            guard case .binary(let bytes) = message else { continue }
            pending = try frames.take(bytes).map { try HubMessage($0) }
        }
        return pending.removeFirst()
    }

    /// The next event, whatever signs of life come before it.
    mutating func event() async throws -> HubEvent {
        while let message = try await next() {
            if case .event(let event) = message { return event }
        }
        throw Silence()
    }

    private struct Silence: Error {}
}
