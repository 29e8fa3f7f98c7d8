import HTTP
import JSON
import System
import Testing
import Vault

@testable import EmbeddedUpstream

/// Whatever can go wrong on request.
struct FaultTests {
    private func order(_ guest: Guest, _ fault: String) async throws -> Answer {
        try await guest.ask(.post, "/_faults", fault)
    }

    /// `nil` if the connection was cut.
    private func make(_ guest: Guest) async throws -> Answer? {
        do {
            return try await guest.ask(.post, "/api/ciphers", Guest.login())
        } catch is ConnectionCut {
            return nil
        }
    }

    private func count(_ guest: Guest) async throws -> Int {
        try await guest.ask(.get, "/api/sync").json["ciphers"]?.array?.count ?? -1
    }

    @Test func `a call is cut off before anything is done`() async throws {
        let guest = try await Guest(.vaultwarden)
        await guest.upstream.inject(Fault(.drop, on: .createCipher))
        #expect(try await make(guest) == nil)
        #expect(try await count(guest) == 0)
        #expect(try await make(guest)?.status == .ok)
    }

    @Test func `all is done, and nobody hears of it`() async throws {
        let guest = try await Guest(.vaultwarden)
        let number = await guest.upstream.inject(Fault(.loseAnswer, on: .createCipher))
        #expect(try await make(guest) == nil)
        #expect(try await count(guest) == 1)
        #expect(await guest.upstream.hits(number) == 1)
    }

    @Test func `a call is given up and done later`() async throws {
        let guest = try await Guest(.vaultwarden)
        await guest.upstream.inject(Fault(.commitLate(.seconds(30)), on: .createCipher))
        #expect(try await make(guest) == nil)
        #expect(try await count(guest) == 0)
        // What is late is done while the server runs; then it ends with nothing left to do.
        guest.upstream.close()
        await guest.upstream.run()
        #expect(try await count(guest) == 1)
    }

    @Test func `a call is delivered twice`() async throws {
        let guest = try await Guest(.bitwarden)
        await guest.upstream.inject(Fault(.twice, on: .createCipher))
        #expect(try await make(guest)?.status == .ok)
        #expect(try await count(guest) == 2)
    }

    @Test func `a fault begins with a call, ends after some, and knows its account`() async throws {
        let guest = try await Guest(.vaultwarden)
        let friend = try await guest.friend("friend@example.com")
        _ = try await order(
            guest,
            """
            {"operation":"sync","account":"GUEST@example.com","first":2,"times":2,
            "effect":{"kind":"status","status":503,"headers":{"Retry-After":"7"}}}
            """
        )
        var statuses: [Int] = []
        for _ in 0..<5 {
            statuses.append(try await guest.ask(.get, "/api/sync").status.rawValue)
            #expect(try await friend.ask(.get, "/api/sync").status == .ok)
        }
        #expect(statuses == [200, 503, 503, 200, 200])
        #expect(try await guest.ask(.get, "/api/alive").status == .ok)
    }

    @Test func `a fault knows its account where nobody says who asks`() async throws {
        let guest = try await Guest(.vaultwarden)
        let friend = try await guest.friend("friend@example.com")
        for operation in ["prelogin", "downloadFile"] {
            _ = try await order(
                guest,
                #"{"operation":"\#(operation)","account":"guest@example.com","times":null,"#
                    + #""effect":{"kind":"badGateway"}}"#
            )
        }
        for person in [guest, friend] {
            let isHit = person.email == guest.email
            let email = #"{"email":"\#(person.email)"}"#
            let prelogin = try await guest.ask(.post, "/identity/accounts/prelogin", email)
            #expect(prelogin.status.rawValue == (isHit ? 502 : 200))
            let id = try await person.make()
            let file = try await person.attach("content", to: id)
            let content = try await person.download(file, of: id)
            #expect((content == "content") == !isHit)
        }
    }

    @Test func `chance decides by its seed`() async throws {
        func run() async throws -> [Bool] {
            let guest = try await Guest(.vaultwarden)
            _ = try await guest.ask(.put, "/_faults/seed", #"{"seed":99}"#)
            let fault = #"{"probability":0.5,"times":null,"effect":{"kind":"unauthorized"}}"#
            _ = try await order(guest, fault)
            var hits: [Bool] = []
            for _ in 0..<64 {
                hits.append(try await guest.ask(.get, "/api/sync").status == .unauthorized)
            }
            return hits
        }
        let first = try await run()
        #expect(try await run() == first, "seed 99")
        #expect((10...54).contains(first.filter { $0 }.count), "seed 99")
    }

    @Test(arguments: [
        (#"{"kind":"captivePortal"}"#, 200, "text/html; charset=utf-8"),
        (#"{"kind":"ban"}"#, 403, "text/html; charset=utf-8"),
        (#"{"kind":"badGateway"}"#, 502, "text/html; charset=utf-8"),
        (#"{"kind":"status","status":400}"#, 400, "application/json"),
        (#"{"kind":"status","status":409}"#, 409, "application/json"),
        (#"{"kind":"status","status":413}"#, 413, "application/json"),
        (#"{"kind":"status","status":500,"carriedOut":true}"#, 500, "application/json"),
        (#"{"kind":"status","status":200,"json":{"object":"list"}}"#, 200, "application/json"),
        (#"{"kind":"stale"}"#, 400, "application/json"),
        (#"{"kind":"invalidGrant"}"#, 400, "application/json"),
    ])
    func `something else is answered`(
        _ effect: String,
        _ status: Int,
        _ type: String
    ) async throws {
        let guest = try await Guest(.vaultwarden)
        _ = try await order(guest, #"{"operation":"createCipher","effect":\#(effect)}"#)
        let answer = try #require(try await make(guest))
        #expect(answer.status.rawValue == status)
        #expect(answer.headers["Content-Type"] == type)
        #expect(try await count(guest) == (effect.contains("carriedOut") ? 1 : 0))
    }

    @Test(arguments: ["7", "Fri, 31 Dec 1999 23:59:59 GMT", "-5", "99999999999999999999", nil])
    func `a throttle says when to come back, in every way there is`(
        _ header: String?
    ) async throws {
        let guest = try await Guest(.bitwarden)
        let canned = Canned.tooManyRequests(retryAfter: header)
        await guest.upstream.inject(Fault(.answer(canned, isCarriedOut: false), on: .sync))
        let answer = try await guest.ask(.get, "/api/sync")
        #expect(answer.status == .tooManyRequests)
        #expect(answer.headers["Retry-After"] == header)
    }

    @Test func `a redirect leads away`() async throws {
        let guest = try await Guest(.bitwarden)
        let canned = Canned.redirect(302, to: "http://elsewhere.example/")
        await guest.upstream.inject(Fault(.answer(canned, isCarriedOut: false), on: .createCipher))
        let answer = try #require(try await make(guest))
        #expect(answer.status.rawValue == 302)
        #expect(answer.headers["Location"] == "http://elsewhere.example/")
    }

    @Test func `an answer is cut short, too long by its own word, or not what it seems`()
        async throws
    {
        let guest = try await Guest(.vaultwarden)
        for effect in [Fault.Effect.truncate(10), .wrongLength(5)] {
            await guest.upstream.inject(Fault(effect, on: .sync))
            await #expect(throws: ConnectionCut.self) { try await guest.ask(.get, "/api/sync") }
        }
        await guest.upstream.inject(Fault(.stall(after: 10, .seconds(5)), on: .sync))
        let stalled = try await guest.ask(.get, "/api/sync")
        #expect(stalled.json["object"]?.string == "sync")
        #expect(stalled.headers["Content-Length"] == nil)
        await guest.upstream.inject(Fault(.bomb(1_000_000), on: .sync))
        let bomb = try await guest.ask(.get, "/api/sync")
        #expect(bomb.headers["Content-Encoding"] == "gzip")
        #expect(bomb.body.count < 10_000)
    }

    @Test func `parts of an answer are renamed, missing, or of another kind`() async throws {
        let guest = try await Guest(.vaultwarden)
        _ = try await guest.make()
        _ = try await order(
            guest,
            """
            {"operation":"sync","effect":{"kind":"reshape","changes":[
              {"path":["ciphers",0,"data"],"set":"a text"},
              {"path":["ciphers",0,"type"],"set":99},
              {"path":["profile","name"]},
              {"path":["folders"],"rename":"Folders"},
              {"path":["nowhere",3,"at all"]}]}}
            """
        )
        let sync = try await guest.ask(.get, "/api/sync").json
        #expect(sync["ciphers"]?[0]?["data"]?.string == "a text")
        #expect(sync["ciphers"]?[0]?["type"]?.int == 99)
        #expect(sync["profile"]?["name"] == nil)
        #expect(sync["folders"] == nil)
        #expect(sync["Folders"]?.array?.count == 0)
    }

    @Test func `a sync lacks items, or is of yesterday`() async throws {
        let guest = try await Guest(.vaultwarden)
        for _ in 0..<3 { _ = try await guest.make() }
        _ = try await guest.ask(.post, "/_faults/remember")
        for _ in 0..<3 { _ = try await guest.make() }
        await guest.upstream.inject(Fault(.keepOnly(2), on: .sync))
        #expect(try await count(guest) == 2)
        await guest.upstream.inject(Fault(.keepOnly(0), on: .sync))
        #expect(try await count(guest) == 0)
        await guest.upstream.inject(Fault(.outdated, on: .sync))
        #expect(try await count(guest) == 3)
        #expect(try await count(guest) == 6)
    }

    @Test func `the world goes back to what it was`() async throws {
        let guest = try await Guest(.vaultwarden)
        let id = try await guest.make()
        await guest.upstream.remember()
        _ = try await guest.ask(.delete, "/api/ciphers/\(id)")
        #expect(try await count(guest) == 0)
        await guest.upstream.rollBack()
        #expect(try await guest.cipher(id)["id"]?.string == id)
    }

    @Test func `the clock goes wrong by years, and stamps lose their digits`() async throws {
        let guest = try await Guest(.vaultwarden)
        let year = Int64(31_536_000)
        for (offset, digits) in [(2 * year, 3), (-2 * year, 0), (0, 7)] {
            let body = #"{"offsetSeconds":\#(offset),"digits":\#(digits)}"#
            #expect(try await guest.ask(.put, "/_faults/clock", body).status == .noContent)
            // Who was logged in may no longer be, by this clock.
            var now = guest
            try await now.logIn()
            let id = try await now.make()
            let stamp = try #require(try await now.cipher(id)["revisionDate"]?.string)
            let origin = Moment(guest.clock.now).advanced(bySeconds: offset)
            let moment = try #require(Revision(stamp)).moment
            #expect((moment.ticks - origin.ticks).magnitude < 50_000_000, "\(stamp)")
            #expect(stamp.utf8.count == (digits == 0 ? 20 : 21 + digits), "\(stamp)")
            // What an answer is dated by is the same clock.
            let date = try await now.ask(.get, "/api/alive").headers["Date"]
            let isThatYear = date?.contains(" \(stamp.prefix(4)) ")
            #expect(isThatYear == (offset == 0 ? nil : true), "\(date ?? "none")")
        }
    }

    @Test(arguments: [
        (Personality.Name.vaultwarden, StampStore.mariaDB, "30.875001Z", "30.000000Z"),
        (.vaultwarden, .mySQL, "30.875001Z", "31.000000Z"),
        (.bitwarden, .sqlServer, "30.875Z", "30.8766667Z"),
    ])
    func `a write is answered with a stamp that the store does not keep`(
        _ personality: Personality.Name,
        _ store: StampStore,
        _ answered: String,
        _ kept: String
    ) async throws {
        let guest = try await Guest(Personality(personality))
        let order = #"{"store":"\#(store.rawValue)"}"#
        #expect(try await guest.ask(.put, "/_faults/clock", order).status == .noContent)
        let noStore = try await guest.ask(.put, "/_faults/clock", #"{"store":"none"}"#)
        #expect(noStore.status == .badRequest)
        guest.clock.advance(to: Moment(ticks: 17_000_000_108_750_000))
        let made = try await guest.ask(.post, "/api/ciphers", Guest.login()).json
        let id = try #require(made["id"]?.string)
        #expect(made["revisionDate"]?.string == "2023-11-14T22:13:" + answered)
        #expect(try await guest.cipher(id)["revisionDate"]?.string == "2023-11-14T22:13:" + kept)
    }

    @Test func `somebody else changes the item between reading and writing`() async throws {
        let guest = try await Guest(.bitwarden)
        let id = try await guest.make()
        let known = try #require(try await guest.cipher(id)["revisionDate"]?.string)
        guest.clock.advance(bySeconds: 5)
        await guest.upstream.inject(
            Fault(
                .interlude([
                    ScriptedCall("PUT", "/api/ciphers/\(id)", body: Array(Guest.login().utf8))
                ]),
                on: .updateCipher
            )
        )
        let more = #","lastKnownRevisionDate":"\#(known)""#
        let answer = try await guest.ask(.put, "/api/ciphers/\(id)", Guest.login(more: more))
        #expect(answer.status == .badRequest)
        #expect(answer.message?.contains("out of date") == true)
    }

    @Test func `the keys change under a call`() async throws {
        let guest = try await Guest(.vaultwarden)
        let body = #"{"masterPasswordHash":"hash"}"#
        await guest.upstream.inject(
            Fault(
                .interlude([
                    ScriptedCall("POST", "/api/accounts/security-stamp", body: Array(body.utf8))
                ]),
                on: .createCipher
            )
        )
        #expect(try await make(guest)?.status == .ok)
        #expect(try await make(guest)?.status == .unauthorized)
    }

    @Test func `faults are listed with how often they were met, and taken back`() async throws {
        let guest = try await Guest(.vaultwarden)
        let fault = #"{"operation":"sync","times":null,"effect":{"kind":"hang"}}"#
        let number = try #require(try await order(guest, fault).json["number"]?.int)
        let list = try await guest.ask(.get, "/_faults").json["data"]
        #expect(list?[0]?["effect"]?.string == "hang")
        #expect(list?[0]?["operation"]?.string == "sync")
        #expect(try await guest.ask(.delete, "/_faults/\(number)").status == .noContent)
        #expect(try await guest.ask(.delete, "/_faults/\(number)").status == .notFound)
        #expect(try await count(guest) == 0)
    }

    @Test(arguments: [
        "{}", "[", #"{"effect":{"kind":"nonsense"}}"#, #"{"effect":{"kind":"delay"}}"#,
        #"{"operation":"nothing","effect":{"kind":"drop"}}"#,
        #"{"first":0,"effect":{"kind":"drop"}}"#, #"{"probability":2,"effect":{"kind":"drop"}}"#,
        #"{"effect":{"kind":"status","status":99}}"#,
        #"{"effect":{"kind":"delay","seconds":1e9}}"#,
        #"{"effect":{"kind":"partial","items":-1}}"#,
        #"{"effect":{"kind":"truncate","bytes":-1}}"#,
        #"{"effect":{"kind":"stall","bytes":-1,"seconds":1}}"#,
        #"{"effect":{"kind":"wrongLength","bytes":9223372036854775807}}"#,
        #"{"effect":{"kind":"bomb","bytes":-9223372036854775808}}"#,
    ])
    func `a fault that makes no sense is refused`(_ fault: String) async throws {
        let guest = try await Guest(.vaultwarden)
        let answer = try await order(guest, fault)
        #expect(answer.status == .badRequest)
        #expect(!answer.text.isEmpty)
        #expect(try await guest.ask(.get, "/_faults").json["data"]?.array?.count == 0)
    }

    @Test(arguments: [
        #"{"offsetSeconds":9223372036854775807}"#, #"{"offsetSeconds":-99999999999}"#,
        #"{"digits":8}"#, #"{"digits":-1}"#,
    ])
    func `a clock that no server has is refused`(_ wish: String) async throws {
        let guest = try await Guest(.vaultwarden)
        #expect(try await guest.ask(.put, "/_faults/clock", wish).status == .badRequest)
        let now = try #require(Revision(try await guest.ask(.get, "/api/now").json.string ?? ""))
        #expect(now.moment == Moment(guest.clock.now))
    }

    private final class Caller: Sendable {
        let isBack = Lock(false)
    }

    @Test func `a call that hangs is over when its caller leaves, and nothing is done`()
        async throws
    {
        let guest = try await Guest(.vaultwarden)
        _ = try await order(guest, #"{"operation":"createCipher","effect":{"kind":"hang"}}"#)
        let caller = Caller()
        let hits = { try await guest.ask(.get, "/_faults").json["data"]?[0]?["hits"]?.int }
        try await withThrowingTaskGroup(of: Answer?.self) { callers in
            callers.addTask {
                defer { caller.isBack.withLock { $0 = true } }
                return try await make(guest)
            }
            while try await hits() == 0 { await Task.yield() }
            for _ in 0..<100 { _ = try await hits() }
            #expect(caller.isBack.withLock { $0 } == false)
            callers.cancelAll()
            #expect(try await callers.next() == .some(nil))
        }
        #expect(try await count(guest) == 0)
    }

    @Test(arguments: [
        "drop", "loseAnswer", "commitLate", "delay", "delayAnswer", "overtaken", "twice",
        "tellEarly", "loseEvents", "stall", "truncate", "wrongLength", "bomb", "partial", "empty",
        "reshape", "interlude", "outdated", "stale", "unauthorized", "invalidGrant", "goAway",
        "missing", "invalid", "forbidden", "conflict", "tooLarge", "throttled",
    ])
    func `every effect can be ordered over HTTP, and a call that meets it ends`(
        _ kind: String
    ) async throws {
        let guest = try await Guest(.vaultwarden)
        let effect = #"{"kind":"\#(kind)","seconds":1,"bytes":5,"items":1,"changes":[],"calls":[]}"#
        let answer = try await order(guest, #"{"operation":"sync","effect":\#(effect)}"#)
        #expect(answer.status == .ok)
        _ = try? await guest.ask(.get, "/api/sync")
        #expect(try await guest.ask(.get, "/_faults").json["data"]?[0]?["hits"]?.int == 1)
        #expect(try await count(guest) == 0)
    }
}
