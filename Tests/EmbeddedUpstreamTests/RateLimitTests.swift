import HTTP
import Testing

@testable import EmbeddedUpstream

struct RateLimitTests {
    private func statuses(_ count: Int, _ guest: Guest, _ path: String) async throws -> [Int] {
        var statuses: [Int] = []
        for _ in 0..<count {
            let answer = try await guest.ask(.post, path, Guest.login())
            statuses.append(answer.status.rawValue)
        }
        return statuses
    }

    @Test func `nobody is limited at first`() async throws {
        let guest = try await Guest(.bitwarden)
        #expect(try await statuses(100, guest, "/api/ciphers").allSatisfy { $0 == 200 })
    }

    @Test func `one server lets five calls a second pass, and says when to come back`() async throws
    {
        let guest = try await Guest(.bitwarden)
        await guest.upstream.setLimits(true)
        #expect(
            try await statuses(7, guest, "/api/ciphers") == [200, 200, 200, 200, 200, 429, 429]
        )
        let refused = try await guest.ask(.post, "/api/ciphers", Guest.login())
        #expect(refused.headers["Retry-After"] == "1")
        #expect(refused.message == "Slow down! Too many requests. Try again in 1s.")
        // Another path has its own count.
        #expect(try await guest.ask(.get, "/api/sync").status == .ok)
        guest.clock.advance(bySeconds: 1)
        #expect(try await statuses(1, guest, "/api/ciphers") == [200])
    }

    @Test func `after sixty calls a minute has to pass`() async throws {
        let guest = try await Guest(.bitwarden)
        await guest.upstream.setLimits(true)
        for _ in 0..<12 {
            #expect(try await statuses(5, guest, "/api/ciphers").allSatisfy { $0 == 200 })
            guest.clock.advance(bySeconds: 1)
        }
        let refused = try await guest.ask(.post, "/api/ciphers", Guest.login())
        #expect(refused.status == .tooManyRequests)
        #expect(refused.headers["Retry-After"] == "48")
        guest.clock.advance(bySeconds: 48)
        #expect(try await statuses(1, guest, "/api/ciphers") == [200])
    }

    @Test func `the other limits log-ins only, and says not when`() async throws {
        let guest = try await Guest(.vaultwarden)
        await guest.upstream.setLimits(true)
        #expect(try await statuses(50, guest, "/api/ciphers").allSatisfy { $0 == 200 })
        var last = try await guest.ask(.post, "/identity/connect/token", "grant_type=zzz")
        for _ in 0..<10 {
            last = try await guest.ask(.post, "/identity/connect/token", "grant_type=zzz")
        }
        #expect(last.status == .tooManyRequests)
        #expect(last.headers["Retry-After"] == nil)
        #expect(last.message == "Too many login requests")
    }

    @Test func `limits are set over HTTP as well`() async throws {
        let guest = try await Guest(.bitwarden)
        #expect(
            try await guest.ask(.put, "/_faults/limits", #"{"on":true}"#).status == .noContent
        )
        #expect(try await statuses(6, guest, "/api/ciphers").last == 429)
        #expect(
            try await guest.ask(.put, "/_faults/limits", #"{"on":false}"#).status == .noContent
        )
        #expect(try await statuses(6, guest, "/api/ciphers").last == 200)
    }

    @Test func `calls that were forgotten make no second busy, and are held against its limit`()
        async throws
    {
        let guest = try await Guest(.vaultwarden)
        guest.clock.advance(bySeconds: 1)
        #expect(try await statuses(5, guest, "/api/ciphers").allSatisfy { $0 == 200 })
        await guest.upstream.forgetTraffic()
        await guest.upstream.setTrafficLimit(7)
        #expect(try await statuses(3, guest, "/api/ciphers") == [200, 200, 429])
        #expect(await guest.upstream.traffic.busiestSecond == 3)
        guest.clock.advance(bySeconds: 1)
        #expect(try await statuses(4, guest, "/api/ciphers").allSatisfy { $0 == 200 })
        #expect(await guest.upstream.traffic.busiestSecond == 4)
    }

    @Test func `all clients together may be held to so many calls a second, and are counted`()
        async throws
    {
        let guest = try await Guest(.vaultwarden)
        // Signing in was in the second before.
        guest.clock.advance(bySeconds: 1)
        await guest.upstream.forgetTraffic()
        await guest.upstream.setTrafficLimit(3)
        #expect(try await statuses(5, guest, "/api/ciphers") == [200, 200, 200, 429, 429])
        let refused = try await guest.ask(.get, "/api/sync")
        #expect(refused.headers["Retry-After"] == "1")
        guest.clock.advance(bySeconds: 1)
        #expect(try await guest.ask(.get, "/api/sync").status == .ok)
        let traffic = await guest.upstream.traffic
        #expect(traffic.calls == ["createCipher": 5, "sync": 2])
        #expect(traffic.total == 7)
        #expect(traffic.refused == 3)
        #expect(traffic.busiestSecond == 6)
        await guest.upstream.setTrafficLimit(nil)
        #expect(try await statuses(5, guest, "/api/ciphers").allSatisfy { $0 == 200 })
    }

    @Test func `the limit of all clients together is set and looked at over HTTP`() async throws {
        let guest = try await Guest(.vaultwarden)
        let set = try await guest.ask(.put, "/_faults/traffic", #"{"perSecond":1}"#)
        #expect(set.status == .noContent)
        #expect(try await guest.ask(.delete, "/_faults/traffic").status == .noContent)
        _ = try await statuses(2, guest, "/api/ciphers")
        let page = try await guest.ask(.get, "/_faults/traffic")
        #expect(page.text.contains(#""perSecond":1"#))
        #expect(page.text.contains(#""createCipher":2"#))
        let wrong = try await guest.ask(.put, "/_faults/traffic", #"{"perSecond":0}"#)
        #expect(wrong.status == .badRequest)
    }
}
