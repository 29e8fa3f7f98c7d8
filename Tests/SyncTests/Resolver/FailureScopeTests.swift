import EmbeddedUpstream
import JSON
import MeshSupport
import Metrics
import SQLite
import Testing
import Vault

@testable import Sync

/// Whose trouble a failure is: the run's, the change's for now, or the change's for good.
@Suite(.timeLimit(.minutes(2))) struct FailureScopeTests {
    static func refusal(
        _ status: Int,
        _ words: String = "no",
        on operation: Operation,
        times: Int? = nil
    ) -> Fault {
        var fault = Fault(.answer(.refusal(status, words), isCarriedOut: false), on: operation)
        fault.times = times
        return fault
    }

    @Test func `G-R3 what comes after what was set aside waits with it, and asks for nothing`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let made = try await ada.addUnheard(mail)
            try await ada.refresh()
            let id = try #require(try await ada.elsewhere.items.first?.id)
            try await ada.edit(id, password("second"))
            try await ada.edit(made, password("third"))
            await world.server.inject(Self.refusal(422, on: .updateCipher, times: 2))
            for _ in 0..<4 {
                world.time.pass(.seconds(901))
                try await ada.run()
            }
            let kinds = try ada.changes.map(\.lastFailure?.kind)
            #expect(Set(kinds) == [.rejected, .occupied])
            #expect(try ada.changes.allSatisfy { $0.state == .quarantined })
            world.wire.forget()
            for _ in 0..<50 {
                world.time.pass(.seconds(60))
                try await ada.run()
            }
            #expect(world.wire.requests.isEmpty)
        }
    }

    @Test func `G-R3 one poisonous change is in nobody's way and is asked for twice at most`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("poison"))
            for number in 1...9 { try await ada.add(#"{"type":1,"name":"\#(number)"}"#) }
            await world.server.inject(Self.refusal(422, on: .updateCipher))
            let content = try #require(try ada.change(id)).intent
            for _ in 0..<50 {
                try await ada.run()
                world.time.pass(.seconds(901))
            }
            #expect(try await ada.elsewhere.items.count == 10)
            #expect(world.wire.requests.count { $0.hasPrefix("PUT") } == 2)
            let change = try #require(try ada.change(id))
            #expect(change.state == .quarantined && change.intent == content)
            #expect(change.lastFailure?.kind == .rejected)
            #expect(world.log.lines.count { $0.contains("could not be brought") } == 1)
            #expect(world.log.lines.count { $0.contains("was set aside") } == 1)
        }
    }

    @Test func `G-R3 a change that fails for long is set aside after ten times in a day`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            await world.server.inject(Self.refusal(500, on: .updateCipher))
            for _ in 0..<12 {
                try await ada.run()
                world.time.pass(.seconds(901))
            }
            #expect(try ada.change(id)?.state != .quarantined, "Not within a day.")
            #expect(try ada.change(id)?.failures == 12)
            world.time.pass(.seconds(24 * 3_600))
            try await ada.run()
            #expect(try ada.change(id)?.state == .quarantined)
            #expect(try ada.change(id)?.lastFailure?.kind == .serverError)
        }
    }

    static let strangers: [Fault.Effect] = [
        .answer(.ban, isCarriedOut: false), .answer(.html(404, "<p>"), isCarriedOut: false),
        .answer(.redirect(302, to: "/login"), isCarriedOut: false),
        .answer(.refusal(408, "slow"), isCarriedOut: false),
        .answer(.badGateway, isCarriedOut: false), .answer(.captivePortal, isCarriedOut: false),
        .drop, .unauthorized,
    ]

    private static func always(_ effect: Fault.Effect, on operation: Operation) -> Fault {
        var fault = Fault(effect, on: operation)
        fault.times = nil
        return fault
    }

    /// Who is banned keeps still altogether.
    @Test(arguments: strangers.dropFirst())
    func
        `P10, G-R3 what alone is stopped on the way comes after all others, and is set aside in time`(
            _ effect: Fault.Effect
        ) async throws
    {
        try await withLogin { world, ada, id in
            // More than are tried side by side.
            let ids = try await [id] + ada.furnish(4)
            await world.server.inject(Self.always(effect, on: .updateCipher))
            for id in ids { try await ada.edit(id, password("poison")) }
            // One of them may end a run before the others are tried.
            for _ in ids { _ = try await ada.run() }
            // At most three of them wait by themselves at a time.
            for number in 1...40 {
                try await ada.add(#"{"type":1,"name":"\#(number)"}"#)
                world.time.pass(.seconds(10_000))
                _ = try await ada.run()
                #expect(try await ada.elsewhere.items.count == 5 + number)
                let isSpared = try ada.changes.allSatisfy { $0.state != .quarantined }
                #expect(number > 9 || isSpared)
            }
            #expect(try ada.changes.map(\.cipherID) == ids)
            #expect(try ada.changes.allSatisfy { $0.state == .quarantined })
        }
    }

    /// Whoever is online has their other edits taken at once.
    @Test
    func
        `P10, G-R3 what is stopped on the way while others are saved at once is set aside in time`()
        async throws
    {
        try await withLogin { world, ada, id in
            let other = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let fault = Self.always(.answer(.badGateway, isCarriedOut: false), on: .archiveCipher)
            await world.server.inject(fault)
            try await ada.wish(.archive, id)
            for number in 0..<12 {
                _ = try await ada.run()
                world.time.pass(.seconds(10_000))
                try await ada.save(other, password("\(number)"))
            }
            #expect(try ada.change(id)?.state == .quarantined)
        }
    }

    /// More wait than are read one by one where there is a list.
    @Test(
        arguments: strangers.dropFirst()
            + [500, 503, 400].map { .answer(.refusal($0, "no"), isCarriedOut: false) }
    )
    func `G-R3 while upstream fails over its list alone, what waits is brought up all the same`(
        _ effect: Fault.Effect
    ) async throws {
        try await withLogin { world, ada, id in
            let ids = try await [id] + ada.furnish(4)
            await world.server.inject(Self.always(effect, on: .sync))
            for id in ids { try await ada.edit(id, password("mine")) }
            _ = try await ada.run()
            #expect(try ada.changes.isEmpty)
            #expect(try await ada.elsewhere.passwords == ids.map { _ in "mine" })
        }
    }

    @Test(arguments: [503, 500])
    func
        `G-R3 while upstream answers nobody a run asks for one list, and tries nothing of what waits`(
            _ status: Int
        ) async throws
    {
        try await withLogin { world, ada, id in
            let ids = try await [id] + ada.furnish(4)
            for operation in [Operation.sync, .revisionDate, .updateCipher] {
                await world.server.inject(Self.refusal(status, on: operation))
            }
            for id in ids { try await ada.edit(id, password("mine")) }
            world.wire.forget()
            #expect(try await ada.run().stop != nil)
            #expect(world.wire.requests.count { $0.hasPrefix("GET /api/sync") } == 1)
            #expect(world.wire.requests.count { $0.hasPrefix("PUT") } == 0)
            #expect(try ada.changes.allSatisfy { $0.state == .ready && $0.lastFailure == nil })
        }
    }

    @Test(arguments: strangers.dropFirst())
    func `P10 what alone is stopped on the way ends no run, and is tried ever less often`(
        _ effect: Fault.Effect
    ) async throws {
        try await withLogin { world, ada, id in
            await world.server.inject(Self.always(effect, on: .updateCipher))
            try await ada.edit(id, password("poison"))
            #expect(try await ada.run().stop != nil)
            var waits: [Int64] = []
            world.time.pass(.seconds(60))
            for _ in 0..<12 {
                #expect(try await ada.run().stop == nil)
                let change = try #require(try ada.change(id))
                #expect(change.failures == 0 && change.lastFailure != nil)
                guard case .backingOff(let until) = change.state else {
                    throw Unexpected("\(change.state)")
                }
                let wait = (until.ticks - Moment(world.time.now).ticks) / Moment.ticksPerSecond
                waits.append(wait)
                world.time.pass(.seconds(wait + 1))
            }
            #expect(waits[0] <= 20 && waits.suffix(3).allSatisfy { (450...900).contains($0) })
        }
    }

    @Test
    func `what waits because its answer was lost is a retry that was scheduled, each time once`()
        async throws
    {
        try await withLogin { world, ada, id in
            await world.server.inject(Self.always(.drop, on: .updateCipher))
            try await ada.edit(id, password("mine"))
            let scheduler = try await ada.scheduler()
            #expect(try await scheduler.sync().outcome == .deferred)
            let change = try #require(try ada.change(id))
            guard case .backingOff = change.state else { throw Unexpected("It does not wait.") }
            let times = Double(change.attemptCount)
            #expect(times > 0)
            let retries = #"holdfast_retries_scheduled_total{cause="transport"}"#
            #expect(await world.registry.figure(retries) == times)
            #expect(await world.registry.figure("holdfast_retry_backoff_seconds_sum") == 20 * times)
        }
    }

    @Test func `P10 what was refused once waits as long when it is stopped on the way then`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            await world.server.inject(Self.refusal(422, on: .updateCipher, times: 1))
            _ = try await ada.run()
            let page = Fault.Effect.answer(.html(404, "<p>"), isCarriedOut: false)
            await world.server.inject(Self.always(page, on: .updateCipher))
            world.time.pass(.seconds(900))
            world.wire.forget()
            for _ in 0..<720 {
                _ = try await ada.run()
                world.time.pass(.seconds(5))
            }
            #expect(world.wire.requests.count { $0.hasPrefix("PUT") } < 15)
            #expect(try ada.change(id)?.lastFailure?.kind == .rejected)
        }
    }

    /// So many edits wait, each of another item, some of them begun later than others.
    @Test(arguments: strangers, [1, 2, 6])
    func `T-72 while upstream takes no writes at all nothing is held against anybody`(
        _ effect: Fault.Effect,
        _ count: Int
    ) async throws {
        try await World.open { world in
            let ada = try await world.person()
            await world.server.inject(Self.always(effect, on: .createCipher))
            for number in 0..<30 {
                if number < count { try await ada.add(#"{"type":1,"name":"\#(number)"}"#) }
                #expect(try await ada.run().settled == 0)
                world.time.pass(.seconds(10_000 + 7 * Int64(number)))
            }
            #expect(try ada.changes.count == count)
            #expect(try ada.changes.allSatisfy { $0.failures == 0 && $0.state != .quarantined })
        }
    }

    @Test func `P7 while upstream takes no writes a run asks for little, however much waits`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            for number in 1...40 { try await ada.add(#"{"type":1,"name":"\#(number)"}"#) }
            await world.server.inject(
                Self.always(.answer(.badGateway, isCarriedOut: false), on: .createCipher)
            )
            for _ in 0..<20 {
                world.wire.forget()
                _ = try await ada.run(.all)
                #expect(world.wire.requests.count <= 10)
                world.time.pass(.seconds(1_000))
            }
        }
    }

    @Test
    func `what ails the list is nobody's own trouble, and keeps what needs none from nothing`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            for number in 1...5 { try await ada.add(#"{"type":1,"name":"\#(number)"}"#) }
            var fault = Fault(.loseAnswer, on: .createCipher)
            fault.times = 5
            await world.server.inject(fault)
            try await ada.run()
            world.time.pass(.seconds(60))
            await world.server.inject(
                Self.always(.answer(.html(504, "<p>"), isCarriedOut: false), on: .sync)
            )
            for number in 6...9 {
                try await ada.run(.all)
                world.time.pass(.seconds(10_000))
                try await ada.add(#"{"type":1,"name":"\#(number)"}"#)
                try await ada.run(.all)
                #expect(try await ada.elsewhere.names.contains("\(number)"))
            }
            #expect(try !ada.changes.isEmpty)
            #expect(try ada.changes.allSatisfy { $0.failures == 0 && $0.state != .quarantined })
        }
    }

    @Test func `T-72 three days without an upstream are counted against nobody`() async throws {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.add(mail)
            world.wire.isCut = true
            for _ in 0..<500 {
                let report = try await ada.run()
                #expect(report.settled == 0 && report.stop != nil)
                world.time.pass(.seconds(500))
            }
            #expect(try ada.changes.allSatisfy { $0.failures == 0 && $0.state != .quarantined })
            world.wire.isCut = false
            world.time.pass(.seconds(60))
            #expect(try await ada.run().settled == 2)
        }
    }

    @Test
    func `T-72 what upstream's store cannot write is not refused, and goes there once it can`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            await world.server.inject(Self.refusal(400, "Error saving cipher", on: .updateCipher))
            for _ in 0..<4 {
                #expect(try await ada.run().settled == 0)
                let change = try #require(try ada.change(id))
                #expect(change.lastFailure?.kind == .serverError)
                #expect(change.state != .quarantined)
                world.time.pass(.seconds(901))
            }
            await world.server.withdrawAll()
            #expect(try await ada.run().settled == 1)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test
    func `T-72 what upstream's store never writes keeps nobody else, and is set aside in the end`()
        async throws
    {
        try await withLogin { world, ada, id in
            let other = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            for id in [id, other] { try await ada.edit(id, password("mine")) }
            try await ada.add(mail)
            await world.server.inject(Self.refusal(400, "Error saving cipher", on: .updateCipher))
            let report = try await ada.run()
            #expect(report.stop == nil && report.settled == 1)
            #expect(try ada.changes.count == 2)
            #expect(try ada.changes.allSatisfy { $0.state != .quarantined })
            for _ in 0..<12 {
                world.time.pass(.seconds(3 * 3_600))
                try await ada.run(.all)
            }
            #expect(try ada.changes.allSatisfy { $0.state == .quarantined })
        }
    }

    @Test func `R3 two items that fail alike are upstream's failure and count for nobody`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            for number in 1...6 { try await ada.add(#"{"type":1,"name":"\#(number)"}"#) }
            await world.server.inject(Self.refusal(500, on: .createCipher))
            let report = try await ada.run()
            #expect(report.stop != nil && report.settled == 0)
            #expect(try ada.changes.allSatisfy(\.isBlameless))
            let failures = try ada.changes.compactMap(\.lastFailure)
            #expect(!failures.isEmpty && failures.allSatisfy { $0.since == nil })
            #expect(world.wire.requests.count < 6)
        }
    }

    /// Two edits that upstream will not take, and twelve new items that it will.
    private static func openAmongOthers(
        refusing status: Int,
        _ body: @Sendable (World, Person) async throws -> Void
    ) async throws {
        try await World.open { world in
            let ada = try await world.person()
            var ids: [String] = []
            for number in 1...2 {
                ids.append(try await ada.elsewhere.add(#"{"type":1,"name":"\#(number)"}"#))
            }
            try await ada.refresh()
            for id in ids { try await ada.edit(id, password("mine")) }
            for number in 3...14 { try await ada.add(#"{"type":1,"name":"\#(number)"}"#) }
            await world.server.inject(refusal(status, on: .updateCipher))
            try await body(world, ada)
        }
    }

    /// Whatever comes first, and also once they are all that is left.
    @Test
    func `R3, P10 two items over which upstream fails while it takes others keep nobody back`()
        async throws
    {
        try await Self.openAmongOthers(refusing: 500) { world, ada in
            for _ in 0..<2 { try await ada.run(.all) }
            #expect(try await ada.elsewhere.items.count == 14)
            #expect(try ada.changes.allSatisfy { $0.failures > 0 })
            for _ in 0..<10 {
                world.time.pass(.seconds(3 * 3_600))
                #expect(try await ada.run(.all).stop == nil)
            }
            #expect(try ada.changes.map(\.state) == [.quarantined, .quarantined])
        }
    }

    @Test func `T-40 two items that are forbidden while others are taken are set aside together`()
        async throws
    {
        try await Self.openAmongOthers(refusing: 403) { world, ada in
            try await ada.run(.all)
            #expect(try await ada.elsewhere.items.count == 14)
            try await ada.run(.all)
            #expect(try ada.changes.map(\.state) == [.quarantined, .quarantined])
        }
    }

    @Test func `T-40 what is forbidden for every item is none's own, though one is known for it`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.add(#"{"type":1,"name":"taken"}"#)
            await world.server.inject(Self.refusal(403, on: .updateCipher))
            try await ada.run(.all)
            #expect(try ada.changes.map(\.lastFailure?.isRefusal) == [true])
            for number in 1...3 { try await ada.add(#"{"type":1,"name":"\#(number)"}"#) }
            await world.server.inject(Self.refusal(403, on: .createCipher))
            for _ in 0..<3 { try await ada.run(.all) }
            #expect(try ada.changes.map(\.state) == Array(repeating: .ready, count: 4))
        }
    }

    @Test func `T-72 what failed alone once is not set aside while upstream fails over everything`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            await world.server.inject(Self.refusal(500, on: .updateCipher))
            await world.server.inject(Self.refusal(500, on: .createCipher))
            try await ada.run(.all)
            #expect(try ada.changes.map(\.failures) == [1])
            try await ada.add(#"{"type":1,"name":"new"}"#)
            for _ in 0..<15 {
                world.time.pass(.seconds(3 * 3_600))
                #expect(try await ada.run(.all).stop != nil)
            }
            #expect(try ada.changes.map(\.failures).sorted() == [0, 1])
        }
    }

    @Test(
        arguments: [
            (Fault.Effect.drop, FailureNote.Kind.transport),
            (.answer(.tooManyRequests(retryAfter: "9"), isCarriedOut: false), .rateLimited),
            (.answer(.refusal(503, "busy"), isCarriedOut: false), .serverError),
        ]
    )
    func `what keeps everybody back is told of what was tried, and counts for nothing`(
        _ effect: Fault.Effect,
        _ kind: FailureNote.Kind
    ) async throws {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            await world.server.inject(Fault(effect, on: .updateCipher))
            _ = try await ada.run()
            let change = try #require(try ada.change(id))
            let failure = try #require(change.lastFailure)
            #expect(failure.kind == kind && !failure.message.isEmpty && failure.since == nil)
            #expect(change.failures == 0 && change.isBlameless)
        }
    }

    @Test func `what upstream has refused once is not forgotten for a trouble of everybody's`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            await world.server.inject(Self.refusal(422, on: .updateCipher, times: 1))
            _ = try await ada.run()
            #expect(try ada.change(id)?.lastFailure?.kind == .rejected)
            world.time.pass(.seconds(901))
            await world.server.inject(Self.refusal(503, on: .updateCipher, times: 1))
            _ = try await ada.run()
            #expect(try ada.change(id)?.lastFailure?.kind == .rejected)
            world.time.pass(.seconds(901))
            await world.server.inject(Self.refusal(422, on: .updateCipher, times: 1))
            _ = try await ada.run()
            #expect(try ada.change(id)?.state == .quarantined)
        }
    }

    @Test func `T-40 what is forbidden for every item is not about the items`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            for number in 1...3 { try await ada.add(#"{"type":1,"name":"\#(number)"}"#) }
            await world.server.inject(Self.refusal(403, on: .createCipher))
            for _ in 0..<4 {
                let report = try await ada.run(.all)
                #expect(report.stop != nil)
            }
            #expect(try ada.changes.allSatisfy { $0.failures == 0 && $0.state == .ready })
        }
    }

    @Test func `U8, T-40 a page that everybody gets is nobody's own, one that is too large is`()
        async throws
    {
        for (status, isShared) in [(400, true), (413, false)] {
            try await World.open { world in
                let ada = try await world.person()
                for number in 1...3 { try await ada.add(#"{"type":1,"name":"\#(number)"}"#) }
                let page = Canned.html(status, "\n<html><body>No.</body></html>")
                var fault = Fault(.answer(page, isCarriedOut: false), on: .createCipher)
                fault.times = nil
                await world.server.inject(fault)
                for _ in 0..<3 { #expect(try await (ada.run(.all).stop != nil) == isShared) }
                let states = try ada.changes.map(\.state)
                #expect(states == Array(repeating: isShared ? .ready : .quarantined, count: 3))
            }
        }
    }

    @Test func `T-40 what is forbidden for one item is set aside after the second time`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            await world.server.inject(Self.refusal(403, on: .updateCipher))
            for number in 1...3 {
                try await ada.add(#"{"type":1,"name":"\#(number)"}"#)
                try await ada.run(.all)
            }
            #expect(try ada.change(id)?.state == .quarantined)
            #expect(world.wire.requests.count { $0.hasPrefix("PUT") } == 2)
        }
    }

    /// Its framework says so without a word.
    @Test
    func `T-40 an archive that an older server does not know is set aside, and is in nobody's way`()
        async throws
    {
        try await withLogin { world, ada, id in
            let nothing = Canned(status: 404, contentType: nil)
            await world.server.inject(
                Self.always(.answer(nothing, isCarriedOut: false), on: .archiveCipher)
            )
            try await ada.wish(.archive, id)
            for number in 1...3 {
                try await ada.add(#"{"type":1,"name":"\#(number)"}"#)
                #expect(try await ada.run(.all).stop == nil)
            }
            #expect(try ada.change(id)?.state == .quarantined)
            #expect(try ada.change(id)?.lastFailure?.kind == .rejected)
            #expect(world.wire.requests.count { $0.hasSuffix("/archive") } == 2)
            #expect(try await ada.elsewhere.items.count == 4)
        }
    }

    @Test func `T-39 who is signed out keeps everything, uncounted`() async throws {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            for effect in [Fault.Effect.unauthorized, .invalidGrant] {
                var fault = Fault(effect)
                fault.times = nil
                await world.server.inject(fault)
            }
            let report = try await ada.run()
            let stop = try #require(report.stop)
            #expect([.signedOut, .unauthorised].contains(stop.reason), "\(stop)")
            let change = try #require(try ada.change(id))
            #expect(change.failures == 0 && change.state == .ready)
        }
    }

    @Test func `T-43 a request to wait ends the run, and nothing is asked before its time`()
        async throws
    {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            try await ada.add(mail)
            let canned = Canned.tooManyRequests(retryAfter: "37")
            await world.server.inject(Fault(.answer(canned, isCarriedOut: false)))
            let asked = world.surroundings.now
            let report = try await ada.run()
            guard case .throttled(let until, _)? = report.stop?.reason else {
                throw Unexpected("not throttled: \(report)")
            }
            #expect(until >= asked.advanced(bySeconds: 37))
            #expect(try ada.changes.allSatisfy { $0.failures == 0 })
            world.wire.forget()
            world.time.pass(.seconds(30))
            try await ada.run(.all, .insistent)
            #expect(world.wire.requests.isEmpty)
            world.time.pass(.seconds(15))
            // The other one may have been under way when the answer came.
            #expect(try await ada.run().settled == 2 - report.settled)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-42 a stale refusal is looked at anew, three times`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            try await ada.edit(id, password("mine"))
            var fault = Fault(.stale, on: .updateCipher)
            fault.times = 2
            await world.server.inject(fault)
            #expect(try await ada.run().settled == 1)
            try await ada.edit(id, password("more"))
            fault.times = nil
            await world.server.inject(fault)
            world.wire.forget()
            let report = try await ada.run()
            #expect(report.settled == 0 && report.stop == nil)
            #expect(world.wire.requests.count { $0.hasPrefix("PUT") } == 4)
            let change = try #require(try ada.change(id))
            #expect(change.failures == 1 && change.lastFailure?.kind == .stale)
            let retries = #"holdfast_retries_scheduled_total{cause="conflict"}"#
            #expect(await world.registry.figure(retries) == 1)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-41 an item that upstream only says is missing is neither made again nor removed`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let other = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            var fault = Fault(.missing, on: .readCipher)
            fault.times = nil
            await world.server.inject(fault)
            // One after the other: once there is a list, nothing else is asked about content.
            try await ada.edit(id, password("mine"))
            try await ada.run()
            try await ada.wish(.hardDelete, other)
            try await ada.run(.only(try #require(try ada.change(other)).id))
            #expect(!world.wire.requests.contains { $0.hasPrefix("POST") })
            #expect(try ada.changes.count == 2)
            #expect(try ada.changes.allSatisfy { $0.lastFailure?.kind == .unconfirmed })
            #expect(try ada.base(id) != nil && ada.base(other) != nil)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `P8, I4 on the word of a list that lacks nearly everything nothing is made twice`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, _ in
            let made = try await ada.addUnheard(mail)
            world.time.pass(.seconds(25))
            await world.server.inject(Fault(.keepOnly(0), on: .sync))
            world.wire.forget()
            #expect(try await ada.run().isInDoubt)
            #expect(world.wire.requests == ["GET /api/sync"])
            let change = try #require(try ada.change(made))
            #expect(change.failures == 0 && change.lastFailure?.kind == .behind)
            world.time.pass(.seconds(35))
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 2)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `what is made anew waits no longer than until such a list is believed`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            _ = try await ada.add(mail)
            await world.server.inject(Fault(.drop, on: .createCipher))
            try await ada.run()
            try await ada.elsewhere.delete(id)
            world.time.pass(.seconds(25))
            #expect(try await ada.run().isInDoubt)
            try await ada.refresh()
            world.time.pass(.seconds(35))
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 1)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `G-RES1 what was seen already is asked for by itself where an old list lacks it`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, _ in
            await world.server.remember()
            try await ada.add(mail)
            await world.server.inject(Fault(.loseAnswer, on: .createCipher))
            try await ada.run()
            try await ada.refresh()
            world.time.pass(.seconds(25))
            await world.server.inject(Fault(.outdated, on: .sync))
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 2)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `P7 what a list from an earlier time lacks is not made anew, and is not held against it`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, id in
            let there = try #require(try ada.base(id))
            let added = try await ada.add(mail)
            await world.server.inject(Fault(.drop, on: .createCipher))
            try await ada.run()
            let later = there.revision.moment.advanced(bySeconds: 3_600)
            try await world.store.putBase(
                BaseCipher(
                    lane: there.lane,
                    revision: Revision(text: "later", moment: later),
                    json: there.json
                )
            )
            world.time.pass(.seconds(60))
            world.wire.forget()
            var waits: [Int64] = []
            for _ in 0..<12 {
                try await ada.run()
                let change = try #require(try ada.change(added))
                #expect(change.failures == 0 && change.lastFailure?.kind == .behind)
                guard case .backingOff(let until) = change.state else { continue }
                let wait = (until.ticks - Moment(world.time.now).ticks) / Moment.ticksPerSecond
                waits.append(wait)
                world.time.pass(.seconds(wait))
            }
            #expect(waits.prefix(3) == [31, 31, 31])
            #expect(waits == waits.sorted() && waits.last == 450)
            #expect(!world.wire.requests.contains { $0.hasPrefix("POST") })
            try await world.store.putBase(there)
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 2)
            #expect(try ada.changes.isEmpty)
        }
    }

    /// Without it, a list from an earlier time looks as whole as any.
    @Test(arguments: Personality.Name.allCases)
    func `I2 while it cannot be read what upstream has shown before, no list is believed`(
        _ personality: Personality.Name
    ) async throws {
        try await withLogin(personality) { world, ada, _ in
            await world.server.remember()
            try await ada.add(mail)
            await world.server.inject(Fault(.loseAnswer, on: .createCipher))
            try await ada.run()
            try await ada.refresh()
            world.time.pass(.seconds(25))
            world.wire.forget()
            await world.server.inject(Fault(.outdated, on: .sync))
            let database = world.store.database
            try await database.execute("ALTER TABLE base_cipher RENAME TO unreadable")
            _ = try? await ada.run()
            #expect(!world.wire.requests.contains { $0.hasPrefix("POST") })
            try await database.execute("ALTER TABLE unreadable RENAME TO base_cipher")
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 2)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `T-41 T-46 a portal's page about an item is nobody's word`() async throws {
        try await withLogin { world, ada, id in
            try await ada.edit(id, password("mine"))
            let page = Canned.html(404, "<html>not here</html>")
            await world.server.inject(Fault(.answer(page, isCarriedOut: false), on: .readCipher))
            #expect(try await ada.run().stop != nil)
            #expect(world.wire.requests.count == 1)
            #expect(try ada.change(id)?.failures == 0)
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `T-46 a write that a portal answers may have landed, and is looked for`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            try await ada.add(mail)
            let portal = Fault.Effect.answer(.captivePortal, isCarriedOut: true)
            await world.server.inject(Fault(portal, on: .createCipher))
            #expect(try await ada.run().stop != nil)
            world.time.pass(.seconds(60))
            try await ada.run()
            #expect(try await ada.elsewhere.items.count == 1)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test func `T-70 a change of an unknown kind is set aside as it is`() async throws {
        try await withLogin { world, ada, id in
            try await ada.wish(.trash, id)
            let change = try #require(try ada.change(id))
            _ = try await world.store.update(change.id, expecting: change.version) {
                $0.foreignType = "teleport"
            }
            try await ada.run()
            #expect(world.wire.requests.isEmpty)
            let stored = try #require(try ada.change(id))
            #expect(stored.state == .quarantined && stored.foreignType == "teleport")
            #expect(stored.lastFailure?.kind == .unsupported)
        }
    }

    @Test func `what was set aside is tried no more, whatever is to be reached`() async throws {
        try await withLogin { world, ada, id in
            try await ada.wish(.trash, id)
            let change = try #require(try ada.change(id))
            _ = try await world.store.update(change.id, expecting: change.version) {
                $0.state = .quarantined
            }
            for reach in [Resolver.Run.Reach.due, .all, .only(change.id)] {
                let report = try await ada.run(reach)
                #expect(report == RunReport())
            }
            #expect(world.wire.requests.isEmpty)
        }
    }

    @Test func `a change that waits is tried by who insists on it alone`() async throws {
        try await withLogin { world, ada, id in
            try await ada.wish(.trash, id)
            let change = try #require(try ada.change(id))
            _ = try await world.store.update(change.id, expecting: change.version) {
                $0.state = .backingOff(until: world.surroundings.now.advanced(bySeconds: 600))
            }
            #expect(try await ada.run(.due).tried == 0)
            #expect(try await ada.run(.only("another")).tried == 0)
            #expect(try await ada.run(.only(change.id)).settled == 1)
        }
    }

    // MARK: Many

    @Test func `G-BATCH two hundred edits cost one list and a request each`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            let ids = try await ada.furnish(100)
            for id in ids { try await ada.edit(id, password("mine")) }
            for number in 0..<100 { try await ada.add(#"{"type":1,"name":"new \#(number)"}"#) }
            let report = try await ada.run()
            #expect(report.settled == 200)
            #expect(world.wire.requests.count == 201)
            #expect(world.wire.requests.first == "GET /api/sync")
            #expect(world.wire.revisionsAsked == 0, "A list that shows all is not dated.")
            #expect(try await ada.elsewhere.items.count == 200)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test(arguments: [1, 3])
    func `while upstream seems to be away, a run finds that out before it writes down any attempt`(
        _ count: Int
    ) async throws {
        try await World.open { world in
            let ada = try await world.person()
            let ids = try await ada.furnish(count)
            for id in ids { try await ada.edit(id, password("mine")) }
            world.wire.isCut = true
            let report = try await ada.run(unknown: .presence)
            #expect(report.stop?.failureClass == .batch)
            #expect(report.tried == 0)
            #expect(try ada.changes.allSatisfy { $0.attempts.isEmpty && $0.state == .ready })
            world.wire.isCut = false
            #expect(try await ada.run(unknown: .presence).settled == count)
            #expect(world.wire.revisionsAsked == 1)
        }
    }

    @Test
    func `T-57 before anything is sent it is asked whose account it is, whatever a list says`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let ids = try await ada.furnish(3)
            for id in ids { try await ada.edit(id, password("mine")) }
            try await ada.add(#"{"type":1,"name":"new"}"#)
            world.wire.accountRefusal = Setback(.signedOut, operation: "look at the account")
            let report = try await ada.run()
            #expect(report.stop?.reason == .signedOut)
            #expect(report.tried == 0 && world.wire.requests.isEmpty)
        }
    }

    @Test
    func `P13 an item deleted elsewhere is known as gone, though something in the list is no item`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let ids = try await ada.furnish(4)
            try await ada.edit(ids[3], password("mine"))
            try await ada.elsewhere.delete(ids[3])
            let nameless = Reshaping(["ciphers", 0, "id"], .set(.null))
            var fault = Fault(.reshape([nameless]), on: .sync)
            fault.times = nil
            await world.server.inject(fault)
            #expect(try await ada.run().settled == 1)
            #expect(try ada.changes.isEmpty)
        }
    }

    @Test
    func `a list in which something is missing is dated, to know whether it is one of yesterday`()
        async throws
    {
        try await World.open { world in
            let ada = try await world.person()
            let ids = try await ada.furnish(4)
            for id in ids.prefix(3) { try await ada.edit(id, password("mine")) }
            try await ada.elsewhere.delete(ids[3])
            #expect(try await ada.run().settled == 3)
            #expect(world.wire.revisionsAsked == 1)
        }
    }

    @Test func `G-BATCH each deletion reads its own item right before`() async throws {
        try await World.open { world in
            let ada = try await world.person()
            let ids = try await ada.furnish(8)
            for id in ids.prefix(4) { try await ada.edit(id, password("mine")) }
            for id in ids.suffix(4) { try await ada.wish(.hardDelete, id) }
            try await ada.run()
            #expect(world.wire.requests.count <= 8 + 4 + 1)
            for id in ids.suffix(4) {
                let own = world.wire.requests.filter { $0.contains(id) }
                #expect(own == ["GET /api/ciphers/\(id)/details", "DELETE /api/ciphers/\(id)"])
            }
        }
    }
}
