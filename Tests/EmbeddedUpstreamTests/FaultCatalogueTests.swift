import FoundationEssentials
import Glibc
import HTTP
import JSON
import System
import Testing

@testable import EmbeddedUpstream

/// Every fault that a server can make, by name, ordered over HTTP. What happens to names and
/// certificates on the way to it is the client's side.
struct FaultCatalogueTests {
    enum Outcome: Equatable {
        case cut
        case answered(Int)
    }

    private static let catalogue: [(String, String, Outcome)] = [
        ("F1 nobody there", #""goAway","seconds":1"#, .cut),
        ("F3 captive portal", #""captivePortal""#, .answered(200)),
        ("F4 dropped before", #""drop""#, .cut),
        ("F4 reset before", #""drop","reset":true"#, .cut),
        ("F5 done, answer lost", #""loseAnswer""#, .cut),
        ("F5 done late", #""commitLate","seconds":1"#, .cut),
        ("F6 twice", #""twice""#, .answered(200)),
        ("F7 delay before", #""delay","seconds":600"#, .answered(200)),
        ("F7 delay after", #""delayAnswer","seconds":600"#, .answered(200)),
        ("F8 overtaken", #""overtaken","seconds":1"#, .answered(200)),
        ("F9 error before", #""status","status":500"#, .answered(500)),
        ("F9 error after", #""status","status":503,"carriedOut":true"#, .answered(503)),
        ("F9 gateway", #""badGateway""#, .answered(502)),
        ("F10 validation", #""invalid""#, .answered(400)),
        ("F11 stale", #""stale""#, .answered(400)),
        ("F12 token refused", #""unauthorized""#, .answered(401)),
        ("F12 grant refused", #""invalidGrant""#, .answered(400)),
        ("F13 forbidden", #""forbidden""#, .answered(403)),
        ("F14 ban", #""ban""#, .answered(403)),
        ("F15 missing", #""missing""#, .answered(404)),
        ("F16 conflict", #""conflict""#, .answered(409)),
        ("F17 too large", #""tooLarge""#, .answered(413)),
        ("F18 seconds", #""throttled","retryAfter":7"#, .answered(429)),
        ("F18 date", #""throttled","retryAfter":"Sat, 21 Nov 2026 18:20:00 GMT""#, .answered(429)),
        ("F18 huge", #""throttled","retryAfter":"99999999999999999999""#, .answered(429)),
        ("F18 negative", #""throttled","retryAfter":-5"#, .answered(429)),
        ("F18 absent", #""throttled""#, .answered(429)),
        ("F19 truncated", #""truncate","bytes":9"#, .cut),
        ("F20 stalled", #""stall","bytes":9,"seconds":1"#, .answered(200)),
        ("F21 wrong length", #""wrongLength","bytes":9"#, .cut),
        ("F22 bomb", #""bomb","bytes":100000"#, .answered(200)),
        ("F23 reshaped", #""reshape","changes":[{"path":["object"],"set":7}]"#, .answered(200)),
        ("F24 out of date", #""outdated""#, .answered(200)),
        ("F25 partial", #""partial","items":1"#, .answered(200)),
        ("F25 empty", #""empty""#, .answered(200)),
        ("F26 rolled back", interlude("POST", "/_faults/rollback"), .answered(200)),
        ("F27 clock", interlude("PUT", "/_faults/clock", #"{"digits":0}"#), .answered(200)),
        ("F28 edited", interlude("POST", "/api/ciphers", Guest.login()), .answered(200)),
        ("F29 stamp", interlude("POST", "/api/accounts/security-stamp", proof), .answered(200)),
        ("F29 put out", interlude("DELETE", "/_faults/members/o/u"), .answered(200)),
        ("F30 lagging", #""outdated""#, .answered(200)),
    ]

    private static let proof = #"{"masterPasswordHash":"hash"}"#

    private static func interlude(_ method: String, _ path: String, _ body: String = "{}") -> String
    {
        #""interlude","calls":[{"method":"\#(method)","path":"\#(path)","body":\#(body)}]"#
    }

    private func sync(_ guest: Guest) async throws -> Outcome {
        do {
            return .answered(try await guest.ask(.get, "/api/sync").status.rawValue)
        } catch is ConnectionCut {
            return .cut
        }
    }

    @Test(arguments: catalogue.indices)
    func `each can be had for an operation, an account, a call of many`(_ index: Int) async throws {
        let (name, effect, outcome) = Self.catalogue[index]
        let guest = try await Guest(.bitwarden)
        let friend = try await guest.friend("friend@example.com")
        _ = try await guest.ask(.post, "/_faults/remember")
        let order = """
            {"operation":"sync","account":"\(guest.email)","first":2,"times":1,"probability":1,
            "effect":{"kind":\(effect)}}
            """
        #expect(try await guest.ask(.post, "/_faults", order).status == .ok, "\(name)")
        #expect(try await sync(guest) == .answered(200), "\(name)")
        #expect(try await sync(friend) == .answered(200), "\(name)")
        #expect(try await guest.ask(.get, "/api/accounts/profile").status == .ok, "\(name)")
        #expect(try await sync(guest) == outcome, "\(name)")
        #expect(try await sync(guest) == .answered(200), "\(name)")
        let met = try await guest.ask(.get, "/_faults").json["data"]?[0]
        #expect(met?["hits"]?.int == 1, "\(name)")
    }

    @Test(arguments: catalogue.indices)
    func `each hits as often as its probability says, and the same calls for a seed`(
        _ index: Int
    ) async throws {
        let (name, effect, outcome) = Self.catalogue[index]
        let seed = UInt64(index)
        let guest = try await Guest(.bitwarden)
        _ = try await guest.ask(.post, "/_faults/remember")
        _ = try await guest.ask(.put, "/_faults/seed", #"{"seed":\#(seed)}"#)
        let order = """
            {"operation":"sync","probability":0.3,"times":null,"effect":{"kind":\(effect)}}
            """
        #expect(try await guest.ask(.post, "/_faults", order).status == .ok, "\(name)")
        let chance = SeededChance(seed: seed)
        var hits = 0
        for number in 1...24 {
            let isHit = chance.fraction() < 0.3
            hits += isHit ? 1 : 0
            let came = try await sync(guest)
            #expect(came == (isHit ? outcome : .answered(200)), "\(name), call \(number)")
        }
        let met = try await guest.ask(.get, "/_faults").json["data"]?[0]
        #expect(met?["hits"]?.int == hits && (1..<24).contains(hits), "\(name)")
    }

    @Test func `what is missing is missed in the server's own words`() async throws {
        let guest = try await Guest(.vaultwarden)
        for (operation, words) in [
            (Operation.readCipher, "Cipher doesn't exist"),
            (.readFolder, "Invalid folder"), (.placeCipher, "Cipher does not exist"),
        ] {
            let id = try await guest.make()
            await guest.upstream.inject(Fault(.missing, on: operation))
            let (method, path): (HTTP.Method, String) =
                switch operation {
                case .readFolder: (.get, "/api/folders/\(id)")
                case .placeCipher: (.put, "/api/ciphers/\(id)/partial")
                default: (.get, "/api/ciphers/\(id)")
                }
            #expect(try await guest.ask(method, path, "{}").message == words)
        }
    }

    @Test func `the world goes back between two calls, and the clock with another`() async throws {
        let guest = try await Guest(.vaultwarden)
        await guest.upstream.remember()
        _ = try await guest.make()
        let back = ScriptedCall("POST", "/_faults/rollback")
        await guest.upstream.inject(Fault(.interlude([back]), on: .sync))
        #expect(try await guest.ask(.get, "/api/sync").json["ciphers"]?.array?.count == 0)
        let clock = ScriptedCall("PUT", "/_faults/clock", body: Array(#"{"digits":0}"#.utf8))
        await guest.upstream.inject(Fault(.interlude([clock]), on: .createCipher))
        let made = try await guest.ask(.post, "/api/ciphers", Guest.login())
        #expect(made.json["revisionDate"]?.string?.utf8.count == 20)
    }
}

/// What a client sees of a cut, byte by byte.
struct FaultLineTests {
    private func live(
        _ time: any Timekeeper = SystemTimekeeper(),
        _ body: (Guest) async throws -> Void
    ) async throws {
        let settings = EmbeddedUpstream.Settings(.vaultwarden)
        let upstream = try await EmbeddedUpstream.start(settings, time: time)
        try await withThrowingDiscardingTaskGroup { services in
            services.addTask { await upstream.run() }
            do {
                try await body(try await Guest(at: upstream))
            } catch {
                await upstream.stop(within: .zero)
                throw error
            }
            await upstream.stop(within: .zero)
            // What is late is not waited for.
            services.cancelAll()
        }
    }

    @Test(
        arguments: [
            ("drop", 0), ("loseAnswer", 1), ("commitLate", 0),
        ],
        [false, true]
    )
    func `nothing is sent before the connection is cut`(
        _ fault: (kind: String, count: Int),
        _ isReset: Bool
    ) async throws {
        try await live { guest in
            let order = """
                {"operation":"createCipher",
                "effect":{"kind":"\(fault.kind)","seconds":3600,"reset":\(isReset)}}
                """
            #expect(try await guest.ask(.post, "/_faults", order).status == .ok)
            let wire = try Wire(guest.upstream)
            wire.ask(guest, .post, "/api/ciphers", Guest.login())
            #expect(try wire.rest().isEmpty)
            #expect(wire.ending == (isReset ? ECONNRESET : 0))
            let sync = try await guest.ask(.get, "/api/sync").json
            #expect(sync["ciphers"]?.array?.count == fault.count)
        }
    }

    /// Rests of one length last until the test says otherwise.
    private final class GatedTime: Timekeeper {
        static let gated = Duration.seconds(77)
        private let real = SystemTimekeeper()
        private let (stream, gate) = AsyncStream.makeStream(of: Void.self)

        var now: Date { real.now }
        var elapsed: Duration { real.elapsed }
        func open() { gate.finish() }

        func sleep(for duration: Duration) async throws(CancellationError) {
            guard duration == Self.gated else { return try await real.sleep(for: duration) }
            for await _ in stream {}
        }
    }

    @Test func `a server is away for a while, for everybody, and comes back`() async throws {
        let time = GatedTime()
        try await live(time) { guest in
            await guest.upstream.inject(Fault(.goAway(GatedTime.gated), on: .sync))
            let (idle, wire) = (try Wire(guest.upstream), try Wire(guest.upstream))
            wire.ask(guest, .get, "/api/sync")
            #expect(try wire.rest().isEmpty)
            #expect(try idle.rest().isEmpty)
            #expect(throws: Wire.Silence.self) { try Wire(guest.upstream) }
            time.open()
            let deadline = time.elapsed + .seconds(10)
            var back: Wire?
            while back == nil, time.elapsed < deadline {
                back = try? Wire(guest.upstream)
                await Task.yield()
            }
            back?.ask(guest, .get, "/api/sync")
            let head = try back?.head()
            #expect(head?.hasPrefix("HTTP/1.1 200 ") == true)
        }
    }
}
