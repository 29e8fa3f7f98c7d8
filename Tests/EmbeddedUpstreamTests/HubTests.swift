import Bitwarden
import HTTP
import JSON
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

    @Test func `what is told too early is what is made then`() async throws {
        try await live(.vaultwarden) { guest, ear in
            await guest.upstream.inject(Fault(.tellEarly(.milliseconds(1)), on: .createCipher))
            let made = try await guest.make()
            #expect(try await ear.event().id == made)
            let next = try await guest.make()
            #expect(try await ear.event().id == next)
        }
    }

    @Test(arguments: [
        (Personality.bitwarden, false), (.bitwarden, true), (.vaultwarden, true),
    ])
    func `everybody is logged out, with a date or with a reason, or need not be`(
        _ personality: Personality,
        _ isSpared: Bool
    ) async throws {
        try await live(personality) { guest, ear in
            _ = try await guest.ask(
                .put,
                "/_faults/features",
                #"{"pm-23995-no-logout-on-kdf-change":\#(isSpared)}"#
            )
            let body = """
                {"masterPasswordHash":"hash","newMasterPasswordHash":"new","key":"2.a|b|c",
                "kdf":0,"kdfIterations":600000}
                """
            #expect(try await guest.ask(.post, "/api/accounts/kdf", body).status == .ok)
            let event = try await ear.event()
            #expect(event.kind == .loggedOut)
            var renewed = guest
            let isStrict = personality.name == .bitwarden
            #expect((event.date == nil) == isStrict)
            if isStrict, isSpared {
                #expect(event.reason == .derivationChanged)
                #expect(try await ear.event().kind == .settingsChanged)
                try await renewed.renew()
            } else {
                #expect(event.reason == nil)
                await #expect(throws: Unexpected.self) { try await renewed.renew() }
            }
        }
    }

    @Test func `whoever has no token is turned away`() async throws {
        let upstream = try await EmbeddedUpstream.start(EmbeddedUpstream.Settings(.vaultwarden))
        await withDiscardingTaskGroup { services in
            services.addTask { await upstream.run() }
            await #expect(throws: WebSocketError.self) {
                let client = try WebSocketClient()
                _ = try await client.connect(upstream.hubURL + "?access_token=x")
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

/// What a device does before it hears anything, byte by byte.
struct HubEntranceTests {
    private func live(_ body: (Guest) async throws -> Void) async throws {
        let upstream = try await EmbeddedUpstream.start(EmbeddedUpstream.Settings(.vaultwarden))
        let result = await Result { try await body(try await Guest(at: upstream)) }
        await upstream.stop(within: .zero)
        try result.get()
    }

    private func greeting(
        _ token: String?,
        _ headers: String = "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n",
        method: String = "GET",
        version: Int = 13
    ) -> String {
        """
        \(method) /notifications/hub\(token.map { "?access_token=" + $0 } ?? "") HTTP/1.1\r
        Host: x\r
        Sec-WebSocket-Version: \(version)\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        \(headers)\r

        """
    }

    private static let handshake =
        [0x81, UInt8(0x80) | UInt8(HubHandshake.request.count), 0, 0, 0, 0]
        + HubHandshake.request

    @Test func `what follows the request in one piece is heard`() async throws {
        try await live { guest in
            let wire = try Wire(guest.upstream)
            wire.send(Array(greeting(guest.token).utf8) + Self.handshake)
            let head = try wire.head()
            #expect(head.hasPrefix("HTTP/1.1 101 "))
            #expect(head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
            #expect(try wire.take(5) == [0x82, 3] + HubHandshake.answer)
        }
    }

    @Test func `the token may be in a header`() async throws {
        try await live { guest in
            let wire = try Wire(guest.upstream)
            let headers = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
            wire.send(greeting(nil, headers + "Authorization: Bearer \(guest.token)\r\n"))
            #expect(try wire.head().hasPrefix("HTTP/1.1 101 "))
        }
    }

    @Test(arguments: [
        ("", "GET", 13), ("Connection: Upgrade\r\n", "GET", 13),
        ("Upgrade: websocket\r\n", "GET", 13),
        ("Connection: Upgrade\r\nUpgrade: h2c\r\n", "GET", 13),
        ("Connection: Upgrade\r\nUpgrade: websocket\r\n", "GET", 8),
        ("Connection: Upgrade\r\nUpgrade: websocket\r\n", "HEAD", 13),
    ])
    func `what is no WebSocket is refused, and the connection goes on`(
        _ headers: String,
        _ method: String,
        _ version: Int
    ) async throws {
        try await live { guest in
            let wire = try Wire(guest.upstream)
            wire.send(greeting(guest.token, headers, method: method, version: version))
            #expect(try wire.head().hasPrefix("HTTP/1.1 400 "))
            wire.send("GET /api/alive HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(String(decoding: try wire.rest(), as: UTF8.self).contains("HTTP/1.1 200 "))
        }
    }

    @Test func `a token that is worth nothing is refused`() async throws {
        try await live { guest in
            for token in ["", "x"] {
                let wire = try Wire(guest.upstream)
                wire.send(greeting(token))
                #expect(try wire.head().hasPrefix("HTTP/1.1 401 "))
            }
        }
    }

    @Test func `at the same address there is nothing else`() async throws {
        try await live { guest in
            let other = try await guest.ask(.get, "/notifications/other")
            #expect(other.status == .notFound)
            let told = try await guest.ask(.get, "/api/config").json["environment"]
            #expect(told?["notifications"]?.string == "http://localhost/notifications")
        }
    }

    @Test func `a fault meets the hub as any other call, of that account`() async throws {
        try await live { guest in
            var fault = Fault(.drop, on: .hub)
            fault.account = guest.email
            await guest.upstream.inject(fault)
            let cut = try Wire(guest.upstream)
            cut.send(greeting(guest.token))
            #expect(try cut.rest().isEmpty)
            let wire = try Wire(guest.upstream)
            wire.send(greeting(guest.token))
            #expect(try wire.head().hasPrefix("HTTP/1.1 101 "))
        }
    }

    @Test(arguments: ["hang up", "stop"])
    func `devices are let go when all lines break and when the server ends`(
        _ way: String
    ) async throws {
        try await live { guest in
            let wires = try (0..<20).map { _ in try Wire(guest.upstream) }
            for wire in wires {
                // Who has been answered by the hub itself is known to it.
                wire.send(Array(greeting(guest.token).utf8) + Self.handshake)
                _ = try wire.head()
                _ = try wire.take(5)
            }
            if way == "stop" {
                await guest.upstream.stop(within: .seconds(10))
            } else {
                _ = try await guest.ask(.put, "/_faults/hub", #"{"hangUp":true}"#)
            }
            for wire in wires {
                #expect(try wire.rest().isEmpty)
                #expect(wire.ending == 0)
            }
        }
    }

    @Test func `what no client may send ends the line with a word`() async throws {
        try await live { guest in
            let wire = try Wire(guest.upstream)
            wire.send(Array(greeting(guest.token).utf8) + [0x82, 0x01, 0x00])
            _ = try wire.head()
            #expect(try wire.rest() == [0x88, 2, 3, 0xEA])
            #expect(wire.ending == 0)
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}

extension EmbeddedUpstream {
    /// As a client makes it of the base.
    fileprivate var hubURL: String { "ws" + url.dropFirst("http".count) + Routes.hubPath }
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
        let url = upstream.hubURL + "?access_token=" + guest.token
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
