import Crypto
import Messaging
import System
import Testing
import Vault

@testable import Sync

/// What is pending comes first: R-125 to R-132, and rows 104 to 110 of the test map.
@Suite struct PreSyncTests {
    @Test func `row 104 what is pending is resolved, then everything is fetched`() throws {
        try Stage.play { stage in
            try await stage.edit("a")
            try await stage.edit("b")
            #expect(try await stage.sync().outcome == .completed)
            #expect(stage.upstream.names == ["push", "push", "fetch"])
            #expect(try stage.live == 0)
        }
    }

    @Test func `while upstream seems to be away, the resolver is to look before it sends anything`()
        throws
    {
        try Stage.play { stage in
            stage.upstream.isDown(true)
            try await stage.edit("a")
            try await stage.sync()
            let report = try await stage.sync()
            #expect(report.outcome == .deferred)
            #expect(report.setback?.failureClass == .batch)
            #expect(stage.resolver.asks.map(\.unknown) == [.account, .presence])
            stage.upstream.isDown(false)
            #expect(try await stage.sync().outcome == .completed)
            #expect(try stage.live == 0)
        }
    }

    @Test func `what waits for upstream's list to be believed keeps nobody from asking for it`()
        throws
    {
        try Stage.play { stage in
            try await stage.edit("a")
            stage.resolver.edit {
                $0.answer = {
                    var report = RunReport()
                    report.tried = 1
                    report.isInDoubt = true
                    return .success(report)
                }
            }
            try await stage.sync()
            #expect(stage.upstream.names == ["fetch"])
            #expect(try stage.live == 1)
        }
    }

    @Test func `what is due and cannot be tried waits, whatever upstream shows meanwhile`() throws {
        try Stage.play { stage in
            stage.upstream.edit { $0.ciphers = ["a": 10] }
            try await stage.sync()
            try await stage.edit("a")
            stage.resolver.edit { $0.answer = { .failure(.queueFull(limit: 1)) } }
            stage.upstream.edit { $0.ciphers = ["a": 5_000] }
            try await stage.store.putBase(Shelf.base("a", ticks: 50_000_000))
            try await stage.sync(isFull: true)
            let asked = stage.upstream.names.count
            try await stage.pass(.seconds(2))
            #expect(stage.upstream.names.count <= asked + 2)
        }
    }

    @Test func `row 105, T-61 a locked vault is refreshed and drains nothing`() throws {
        try Stage.play { stage in
            try await stage.edit("a")
            stage.keys.lock()
            stage.upstream.edit { $0.ciphers["a"] = 20 }
            let report = try await stage.sync()
            #expect(report.outcome == .deferred)
            #expect(report.reason == "A change is still pending. The vault is locked.")
            #expect(stage.resolver.asks.isEmpty)
            #expect(stage.upstream.names == ["fetch"])
            #expect(try stage.live == 1)
            #expect(try stage.baseTicks() == 20)
        }
    }

    @Test func `row 106 with nothing pending the resolver is left alone`() throws {
        try Stage.play { stage in
            let report = try await stage.sync()
            #expect(report.outcome == .completed)
            #expect(stage.resolver.asks.isEmpty)
            #expect(stage.upstream.names == ["fetch"])
        }
    }

    @Test func `row 107, G-R4 what stays pending stops the sync, and it says so`() throws {
        try Stage.play { stage in
            try await stage.sync()
            let before = stage.scheduler.outlook.lastSync
            for id in ["a", "b"] { try await stage.edit(id) }
            stage.resolver.edit { $0.poison = ["a": .seconds(600), "b": .seconds(600)] }
            stage.upstream.edit { $0.ciphers["a"] = 99 }
            let calls = stage.upstream.calls.count
            let report = try await stage.sync(isFull: true)
            #expect(report.outcome == .deferred)
            #expect(report.reason == "2 changes are still pending.")
            #expect(Set(stage.upstream.names.dropFirst(calls)) == ["push"])
            #expect(stage.scheduler.outlook.lastSync == before)
            #expect(stage.scheduler.lastReport == report)
            #expect(try stage.baseTicks() == 10)
            #expect(await stage.figure("holdfast_sync_runs_total{outcome=\"deferred\"}") == 1)
            #expect(await stage.figure("holdfast_sync_aborts_total{reason=\"pending\"}") == 1)
            #expect(stage.lines.count("2 changes are still pending.") == 1)
        }
    }

    @Test func `row 108 a drain that fails itself fails the sync with its error`() throws {
        try Stage.play { stage in
            try await stage.edit()
            stage.resolver.edit { $0.isSilent = true }
            let report = try await stage.sync()
            #expect(report.outcome == .failed)
            #expect(report.reason == Undelivered.unanswered.description)
            #expect(stage.upstream.names.isEmpty)
            #expect(try stage.live == 1)
        }
    }

    @Test func `row 109 what was kept drains although nothing new is kept`() throws {
        let board = SwitchBoard(offlineChanges: .off, resolution: .on)
        try Stage.play(switches: board) { stage in
            try await stage.edit()
            #expect(try await stage.sync().outcome == .completed)
            #expect(stage.upstream.names == ["push", "fetch"])
        }
    }

    @Test func `row 110, T-62 with resolution off base is refreshed beneath what is pending`()
        throws
    {
        let board = SwitchBoard(offlineChanges: .on, resolution: .off)
        try Stage.play(switches: board) { stage in
            try await stage.edit()
            stage.upstream.edit { $0.ciphers["a"] = 20 }
            let report = try await stage.sync()
            #expect(report.outcome == .deferred)
            #expect(report.reason == "A change is still pending. Resolution is switched off.")
            #expect(stage.resolver.asks.isEmpty)
            #expect(stage.upstream.names == ["fetch"])
            #expect(try stage.live == 1)
            #expect(try stage.baseTicks() == 20)
        }
    }

    /// What the account is like whose key was changed elsewhere, once its owner has signed in again.
    private static func outlive(_ stage: Stage) async throws {
        let (present, former) = (SeededChance(seed: 5), SeededChance(seed: 6))
        let pair = try PrivateKey().pkcs8()
        func wrapped(by entropy: SeededChance) throws -> String {
            try Sealer(SymmetricKey(from: entropy), entropy: entropy).seal(pair)
        }
        let keys = WrappedKeys(privateKey: try wrapped(by: present))
        let user = SymmetricKey(from: SeededChance(seed: 5))
        stage.keys.unlock(try KeyRing(user: user, account: keys, entropy: present))
        let profile = Array(#"{"privateKey":"\#(try wrapped(by: former))"}"#.utf8)
        try await stage.store.putSlice(BaseSlice(.profile, json: profile), of: Shelf.user)
    }

    @Test func `T-57 what is under a key of yesterday is fetched anew beneath what stays pending`()
        throws
    {
        try Stage.play { stage in
            try await stage.sync()
            try await stage.edit("a")
            try await Self.outlive(stage)
            stage.resolver.edit { $0.poison = ["a": .seconds(600)] }
            stage.upstream.edit { $0.ciphers["a"] = 20 }
            let calls = stage.upstream.calls.count
            #expect(try await stage.sync().outcome == .deferred)
            #expect(stage.upstream.names.dropFirst(calls) == ["fetch", "push"])
            #expect(try stage.baseTicks() == 20)
            #expect(try stage.live == 1)
            #expect(try await stage.sync().outcome == .deferred)
            #expect(stage.upstream.names.dropFirst(calls) == ["fetch", "push", "push"])
        }
    }

    @Test func `T-57 what is pending is sent although what is under a key of yesterday stays so`()
        throws
    {
        try Stage.play { stage in
            try await stage.sync()
            try await stage.edit("a")
            try await Self.outlive(stage)
            stage.upstream.edit {
                $0.failure = { call, _ in call == "fetch" ? .unavailable(status: 502) : nil }
            }
            let calls = stage.upstream.calls.count
            #expect(try await stage.sync().outcome == .failed)
            let names = stage.upstream.names.dropFirst(calls)
            #expect(names.prefix(3) == ["fetch", "push", "fetch"])
            #expect(try stage.live == 0)
        }
    }
}
