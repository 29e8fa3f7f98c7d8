import EmbeddedUpstream
import HTTP
import Metrics
import JSON
import System
import TestSupport
import Testing
import Vault

@testable import Host

/// The client under every fault that there is.
@Suite(.timeLimit(.minutes(2))) struct UpstreamFaultTests {
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        let effect: Fault.Effect
        /// What a write comes to, by the name of its setback; nil where all is well in the end.
        let kind: String?
        let mayHaveLanded: Bool
        /// Whether the server did it.
        let landed: Bool

        init(
            _ description: String,
            _ effect: Fault.Effect,
            _ kind: String?,
            mayHaveLanded: Bool = false,
            landed: Bool = false
        ) {
            self.description = description
            self.effect = effect
            self.kind = kind
            self.mayHaveLanded = mayHaveLanded
            self.landed = landed
        }

        /// Whether only running out of time ends it.
        var isSilent: Bool {
            switch effect {
            case .delayAnswer, .hang, .stall: true
            default: false
            }
        }
    }

    static let cases: [Case] = [
        Case("F4 cut before", .drop, "unreachable", mayHaveLanded: true),
        Case("F5 answer lost", .loseAnswer, "unreachable", mayHaveLanded: true, landed: true),
        Case(
            "commit late",
            .commitLate(.milliseconds(1)),
            "unreachable",
            mayHaveLanded: true,
            landed: true
        ),
        Case("F7 delay", .delay(.milliseconds(20)), nil, landed: true),
        Case("F7 delayed answer", .delayAnswer(.milliseconds(20)), nil, landed: true),
        Case(
            "F7 too late",
            .delayAnswer(.seconds(30)),
            "unreachable",
            mayHaveLanded: true,
            landed: true
        ),
        Case("hang", .hang, "unreachable", mayHaveLanded: true),
        Case(
            "F9 500 before",
            .answer(.refusal(500, "x"), isCarriedOut: false),
            "unavailable",
            mayHaveLanded: true
        ),
        Case(
            "F9 500 after",
            .answer(.refusal(500, "x"), isCarriedOut: true),
            "unavailable",
            mayHaveLanded: true,
            landed: true
        ),
        Case(
            "502 page",
            .answer(.badGateway, isCarriedOut: false),
            "unavailable",
            mayHaveLanded: true
        ),
        Case("F10 400", .answer(.refusal(400, "No."), isCarriedOut: false), "rejected"),
        Case("F11 stale", .stale, "stale"),
        Case("F12 401 once", .unauthorized, nil, landed: true),
        Case("F13 403", .answer(.refusal(403, "No."), isCarriedOut: false), "rejected"),
        Case("F14 ban", .answer(.ban, isCarriedOut: false), "foreign"),
        Case("F15 404 page", .answer(.html(404, "<html>"), isCarriedOut: false), "foreign"),
        Case("F16 409", .answer(.refusal(409, "No."), isCarriedOut: false), "rejected"),
        Case("F17 413", .answer(.html(413, "<html>"), isCarriedOut: false), "rejected"),
        Case(
            "F18 429",
            .answer(.tooManyRequests(retryAfter: "1"), isCarriedOut: false),
            "throttled"
        ),
        Case(
            "F18 absurd",
            .answer(.tooManyRequests(retryAfter: "1e99"), isCarriedOut: false),
            "throttled"
        ),
        Case(
            "F3 portal",
            .answer(.captivePortal, isCarriedOut: false),
            "foreign",
            mayHaveLanded: true
        ),
        Case(
            "T-47 redirect",
            .answer(.redirect(302, to: "http://127.0.0.1:9/"), isCarriedOut: false),
            "foreign"
        ),
        Case(
            "T-47 307",
            .answer(.redirect(307, to: "/api/ciphers"), isCarriedOut: false),
            "foreign"
        ),
        Case("F19 truncated", .truncate(40), "unreachable", mayHaveLanded: true, landed: true),
        Case(
            "F20 stall",
            .stall(after: 40, .seconds(30)),
            "unreachable",
            mayHaveLanded: true,
            landed: true
        ),
        Case(
            "F21 wrong length",
            .wrongLength(100),
            "unreachable",
            mayHaveLanded: true,
            landed: true
        ),
        Case("F22 bomb", .bomb(12 << 20), "malformed", mayHaveLanded: true, landed: true),
        Case(
            "F23 no id",
            .reshape([Reshaping(["id"], .remove)]),
            "malformed",
            mayHaveLanded: true,
            landed: true
        ),
        Case(
            "F23 renamed",
            .reshape([Reshaping(["revisionDate"], .rename("changed"))]),
            "malformed",
            mayHaveLanded: true,
            landed: true
        ),
        Case(
            "F23 unknown",
            .reshape([Reshaping(["new"], .set(.object { _ in }))]),
            nil,
            landed: true
        ),
    ]

    @Test(arguments: cases)
    func `a write under a fault comes to what it is, in time`(_ one: Case) async throws {
        try await Site.open(.vaultwarden) {
            $0.bodyLimit = 64 << 10
        } story: { site in
            var account = try await site.account()
            let patient = account
            // What answers is not to be given up because the machine is slow.
            if one.isSilent { account.manner.deadline = .seconds(1) * Sanitizer.slowness }
            await site.server.inject(Fault(one.effect, on: .createCipher))
            let start = ContinuousClock.now
            let setback = await setback { [account] () async throws(Setback) in
                try await account.create(loginRequest(1))
            }
            #expect(ContinuousClock.now - start < .seconds(15) * Sanitizer.slowness, "\(one)")
            #expect(setback?.reason.kind == one.kind, "\(one): \(setback as Any)")
            #expect((setback?.mayHaveLanded ?? false) == one.mayHaveLanded, "\(one)")
            await site.server.withdrawAll()
            // It is there if and only if it was done, and who was told that it was not could not be.
            let insistent = patient.asking {
                $0.isForced = true; $0.patience = .seconds(5)
            }
            if one.kind == "throttled" { return }
            let count = try await settled(insistent, one.landed ? 1 : 0)
            #expect(count == (one.landed ? 1 : 0), "\(one)")
            #expect(one.kind == nil || one.mayHaveLanded || count == 0, "\(one)")
        }
    }

    @Test(arguments: [(Canned.captivePortal, "transport"), (.badGateway, "5xx"), (.ban, "4xx")])
    func `a portal's page is counted as no answer, and other refusals by their status`(
        _ answer: Canned,
        _ result: String
    ) async throws {
        try await Site.open(.vaultwarden) { site in
            let account = try await site.account()
            await site.server.inject(Fault(.answer(answer, isCarriedOut: false), on: .createCipher))
            _ = await setback { () async throws(Setback) in
                try await account.create(loginRequest(1))
            }
            let page = String(decoding: await site.registry.page(.prometheus), as: UTF8.self)
            let series = "holdfast_upstream_requests_total{operation=\"createCipher\",result="
            #expect(page.contains("\(series)\"\(result)\"} 1\n"))
            #expect(page.contains("\(series)\"2xx\"} 0\n") || !page.contains("\(series)\"2xx\"}"))
        }
    }

    /// How many ciphers there are; what is committed late is waited for.
    private func settled(_ account: UpstreamAccount, _ wanted: Int) async throws -> Int {
        var count = 0
        repeat {
            count = try await account.ciphers().count
        } while count != wanted
            && !Task.isCancelled
        return count
    }

    @Test func `F1 nobody there is unreachable, and it is tried again when somebody insists`()
        async throws
    {
        try await Site.open(.vaultwarden) { site in
            let account = try await site.account()
            await site.server.goAway()
            var kinds: [String] = []
            for seed in 0..<8 {
                let setback = await setback { () async throws(Setback) in
                    try await account.create(loginRequest(seed))
                }
                #expect(setback?.mayHaveLanded == false)
                kinds.append("\(setback?.reason.kind ?? "nil")")
            }
            #expect(kinds == Array(repeating: "unreachable", count: 8))
            let held = await setback { () async throws(Setback) in _ = try await account.revision()
            }
            guard case .unreachable(.held) = held?.reason else {
                throw Unexpected("the breaker is not open: \(held as Any)")
            }
            try site.server.comeBack()
            let insistent = account.asking { $0.isForced = true }
            _ = try await insistent.revision()
            _ = try await account.revision()
        }
    }

    /// Whoever refuses is there: were that a failure, one bad item would hold up all the others.
    @Test(arguments: [Fault.Effect.answer(.refusal(400, "No."), isCarriedOut: false), .stale])
    func `refusals do not open the breaker`(_ effect: Fault.Effect) async throws {
        try await Site.open(.vaultwarden) { site in
            let account = try await site.account()
            var fault = Fault(effect, on: .createCipher)
            fault.times = nil
            await site.server.inject(fault)
            for seed in 0..<8 {
                let setback = await setback { () async throws(Setback) in
                    try await account.create(loginRequest(seed))
                }
                #expect(["rejected", "stale"].contains(setback?.reason.kind), "\(setback as Any)")
            }
            _ = try await account.revision()
        }
    }

    @Test func `T-47 a read is not sent on, and the token with it`() async throws {
        try await Site.open(.vaultwarden) { site in
            let account = try await site.account()
            let elsewhere = Canned.redirect(302, to: "/api/now")
            await site.server.inject(
                Fault(.answer(elsewhere, isCarriedOut: false), on: .revisionDate)
            )
            let setback = await setback { () async throws(Setback) in
                _ = try await account.revision()
            }
            #expect(setback?.reason == .foreign(.redirect(to: nil)))
        }
    }

    @Test func `T-39 a revoked token is renewed once for all, and what it kept from is done`()
        async throws
    {
        try await Site.open(.vaultwarden) { site in
            let account = try await site.account()
            let number = await site.server.inject(Fault(.delay(.milliseconds(50)), on: .token))
            var fault = Fault(.unauthorized, on: .revisionDate)
            fault.times = 8
            await site.server.inject(fault)
            try await withThrowingTaskGroup { callers in
                for _ in 0..<8 { callers.addTask { _ = try await account.revision() } }
                try await callers.waitForAll()
            }
            #expect(await site.server.hits(number) == 1)
        }
    }

    @Test func `a token that is refused twice is unauthorised, and not signed out`() async throws {
        try await Site.open(.vaultwarden) { site in
            let account = try await site.account()
            var fault = Fault(.unauthorized, on: .profile)
            fault.times = nil
            await site.server.inject(fault)
            let setback = await setback { () async throws(Setback) in
                _ = try await account.profile()
            }
            #expect(setback?.reason == .unauthorised)
            #expect(!account.session.isSignedOut)
        }
    }

    @Test(arguments: [Personality.Name.bitwarden, .vaultwarden])
    func `a refresh that is refused signs out`(_ name: Personality.Name) async throws {
        try await Site.open(name) { site in
            let account = try await site.account()
            await site.server.inject(Fault(.unauthorized, on: .profile))
            await site.server.inject(Fault(.invalidGrant, on: .token))
            let setback = await setback { () async throws(Setback) in
                _ = try await account.profile()
            }
            #expect(setback?.reason == .signedOut)
            #expect(setback?.operation == "look at the account")
            #expect(account.session.isSignedOut)
        }
    }

    @Test func `a refresh that an older server refuses without a code signs out`() async throws {
        try await Site.open(.vaultwarden) { site in
            let account = try await site.account()
            let refusal = Canned.refusal(400, "Invalid refresh token")
            await site.server.inject(Fault(.unauthorized, on: .profile))
            await site.server.inject(Fault(.answer(refusal, isCarriedOut: false), on: .token))
            let setback = await setback { () async throws(Setback) in
                _ = try await account.profile()
            }
            #expect(setback?.reason == .signedOut)
            #expect(account.session.isSignedOut)
        }
    }

    @Test(arguments: [
        Fault.Effect.answer(.ban, isCarriedOut: false),
        .answer(.captivePortal, isCarriedOut: false), .answer(.badGateway, isCarriedOut: false),
        .answer(.html(401, "<html>"), isCarriedOut: false),
        .answer(.tooManyRequests(retryAfter: nil), isCarriedOut: false),
        .answer(.refusal(500, "x"), isCarriedOut: false), .drop, .loseAnswer, .truncate(30),
        .answer(.refusal(400, "Something else."), isCarriedOut: false),
        .answer(.html(405, "<html>"), isCarriedOut: false),
        .answer(.refusal(409, "x"), isCarriedOut: false),
        .answer(.refusal(404, "x"), isCarriedOut: false),
        .answer(.refusal(451, "x"), isCarriedOut: false),
    ])
    func `a refresh that fails otherwise does not`(_ effect: Fault.Effect) async throws {
        try await Site.open(.bitwarden) { site in
            let account = try await site.account()
            await site.server.inject(Fault(.unauthorized, on: .profile))
            await site.server.inject(Fault(effect, on: .token))
            let setback = await setback { () async throws(Setback) in
                _ = try await account.profile()
            }
            #expect(setback != nil && setback?.reason != .signedOut, "\(effect)")
            #expect(!account.session.isSignedOut, "\(effect)")
        }
    }

    @Test func `F26 F24 what is out of date is doubted`() async throws {
        try await Site.open(.vaultwarden) { site in
            let account = try await site.account()
            for seed in 0..<3 { _ = try await account.create(loginRequest(seed * 10)) }
            await site.server.remember()
            let id = try #require(try await account.create(loginRequest(90)).id)
            _ = try await account.update(id, loginRequest(95))
            let now = try await account.sync()
            let footing = SyncFooting(
                userID: account.session.userID,
                ciphers: try #require(now.picture.ciphers),
                accountRevision: now.revision.number
            )
            await site.server.rollBack()
            let before = try await account.sync()
            let moment = Moment(SystemTimekeeper().now)
            guard case .doubted(let doubt) = Belief(in: before.picture, on: footing, at: moment)
            else { throw Unexpected("an upstream that went back in time was believed") }
            #expect(doubt.kind == .regression)
        }
    }
}
