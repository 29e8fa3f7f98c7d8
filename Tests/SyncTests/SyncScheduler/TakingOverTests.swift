import Messaging
import SQLite
import TestSupport
import Testing
import Vault

@testable import Sync

/// What is asked of upstream, what is believed of the answer, and what is remembered.
@Suite struct TakingOverTests {
    @Test func `what has not changed upstream is not fetched again, and counts as looked at`()
        throws
    {
        try Stage.play { stage in
            try await stage.sync()
            let first = stage.scheduler.outlook.lastSync
            try await stage.pass(.seconds(10))
            #expect(try await stage.sync().outcome == .notNeeded)
            #expect(stage.upstream.names == ["fetch", "revision"])
            #expect(stage.scheduler.outlook.lastSync == first.map { $0 + .seconds(10) })
            #expect(try await stage.sync(isFull: true).outcome == .completed)
            #expect(stage.upstream.names == ["fetch", "revision", "fetch"])
            stage.upstream.edit { $0.revision = 2 }
            #expect(try await stage.sync().outcome == .completed)
        }
    }

    @Test func `upstream's word that nothing has changed is taken for a day`() throws {
        try Stage.play { stage in
            try await stage.sync()
            try await stage.pass(TakingOverTests.day + .seconds(2_000))
            #expect(stage.upstream.names.count { $0 == "fetch" } == 2)
        }
    }

    private static let day = SyncScheduler.longestTrust

    /// The number was another when the write had landed. Upstream was set back since.
    @Test func `A6-N3 upstream's word that nothing has changed is not taken after a write of ours`()
        throws
    {
        try Stage.play { stage in
            try await stage.sync()
            try await stage.store.putBase(Shelf.base("a", ticks: 50))
            try await stage.sync()
            #expect(stage.upstream.names == ["fetch", "fetch"])
            try await stage.restart()
            #expect(try await stage.sync().outcome == .notNeeded)
        }
    }

    @Test func `a base that was lost is fetched, whatever upstream says of changes`() throws {
        try Stage.play { stage in
            try await stage.sync()
            for sql: StaticString in ["DELETE FROM base_cipher", "DELETE FROM base_slice"] {
                try await stage.store.database.execute(sql)
            }
            try await stage.restart()
            #expect(try await stage.sync().outcome == .completed)
            #expect(try stage.baseTicks() == 10)
        }
    }

    @Test func `T-08, G-SS2 what is written while the answer is under way stays`() throws {
        try Stage.play { stage in
            let store = stage.store
            try await store.putBase(Shelf.base("gone", ticks: 10))
            try await store.putBase(Shelf.base("a", ticks: 10))
            stage.upstream.edit {
                $0.ciphers = ["a": 10, "gone": 10, "b": 10]
                $0.meanwhile = {
                    try? await store.putBase(Shelf.base("a", ticks: 50))
                    try? await store.putBase(Shelf.base("made", ticks: 50))
                    try? await store.removeBase(Shelf.lane("gone"))
                    _ = try? await stage.edit("b", number: 7)
                }
            }
            #expect(try await stage.sync().outcome == .completed)
            let layers = try store.reader.layers(of: Shelf.user)
            #expect(layers.base.map(\.lane.cipherID) == ["a", "b", "made"])
            #expect(try stage.baseTicks() == 50)
            #expect(layers.pending.map(\.summary.lane.cipherID) == ["b"])
            // What happens meanwhile has the stage, which has the upstream.
            stage.upstream.edit { $0.meanwhile = {} }
        }
    }

    @Test func `P19 what was not taken of an answer is asked for again, whatever its number`()
        throws
    {
        try Stage.play { stage in
            let store = stage.store
            try await store.putBase(Shelf.base("a", ticks: 10))
            stage.upstream.edit {
                $0.ciphers = ["a": 60]
                $0.meanwhile = { try? await store.putBase(Shelf.base("a", ticks: 50)) }
            }
            try await stage.sync()
            #expect(try stage.baseTicks() == 50)
            stage.upstream.edit { $0.meanwhile = {} }
            try await stage.sync()
            #expect(stage.upstream.names == ["fetch", "fetch"])
            #expect(try stage.baseTicks() == 60)
        }
    }

    @Test func `T-46, P8 a vault that is suddenly empty is not taken over before a second look`()
        throws
    {
        try Stage.play { stage in
            let ids = ["a"] + (0..<11).map { "b\($0)" }
            stage.upstream.edit { $0.ciphers = Dictionary(ids.map { ($0, 10) }) { $1 } }
            try await stage.sync()
            let last = stage.scheduler.outlook.lastSync
            stage.upstream.edit {
                $0.ciphers = [:]
                $0.revision = 2
            }
            let report = try await stage.sync()
            #expect(report.outcome == .failed)
            #expect(report.reason?.hasPrefix("Upstream shows nearly nothing") == true)
            #expect(try stage.baseTicks() == 10)
            #expect(stage.scheduler.outlook.lastSync == last)
            #expect(await stage.figure("holdfast_sync_aborts_total{reason=\"shrink\"}") == 1)
            // Asking again at once confirms nothing; a minute later it does, after a restart too.
            #expect(try await stage.sync().outcome == .failed)
            try await stage.restart()
            #expect(try stage.baseTicks() == 10)
            try await stage.pass(.seconds(70))
            #expect(try stage.baseTicks() == nil)
            #expect(stage.scheduler.lastReport?.outcome == .completed)
        }
    }

    @Test func `T-46 the last of a few is gone when upstream says so twice, and of each alone`()
        throws
    {
        try Stage.play { stage in
            stage.upstream.edit { $0.ciphers = ["a": 10, "b": 10] }
            try await stage.sync()
            stage.upstream.edit {
                $0.ciphers = [:]
                $0.revision = 2
            }
            let before = stage.upstream.names.count
            #expect(try await stage.sync().outcome == .completed)
            #expect(stage.upstream.names.dropFirst(before).count { $0 == "fetch" } == 2)
            #expect(try stage.baseTicks() == nil)
        }
    }

    @Test func `P7 an answer from an earlier time is not taken over, and a right one after it is`()
        throws
    {
        try Stage.play { stage in
            let now = ["a": 50_000_000, "b": 10]
            stage.upstream.edit { $0.ciphers = now }
            try await stage.sync()
            stage.upstream.edit {
                $0.ciphers = ["a": 20_000_000, "b": 10]
                $0.single = now
            }
            #expect(try await stage.sync(isFull: true).outcome == .failed)
            #expect(await stage.figure("holdfast_sync_aborts_total{reason=\"regression\"}") == 1)
            #expect(try stage.baseTicks() == 50_000_000)
            stage.upstream.edit {
                $0.ciphers = ["a": 60_000_000, "b": 10]
                $0.single = nil
            }
            #expect(try await stage.sync().outcome == .completed)
            #expect(try stage.baseTicks() == 60_000_000)
        }
    }

    @Test func `A6-N3 what is offered again is brought at once, though another change waits`()
        throws
    {
        try Stage.play(policy: SyncPolicy(abort: .item)) { stage in
            let before = ["a": 10, "b": 10, "c": 20_000_000]
            stage.upstream.edit { $0.ciphers = before }
            try await stage.sync()
            try await stage.delete("a")
            stage.upstream.edit { $0.ciphers = ["b": 10, "c": 50_000_000] }
            #expect(try await stage.sync(isFull: true).outcome == .completed)
            stage.resolver.edit { $0.poison["b"] = .seconds(600) }
            try await stage.edit("b")
            stage.upstream.edit { $0.ciphers = before }
            let doubted = try await stage.sync(isFull: true)
            #expect(
                doubted.outcome == .deferred && doubted.reason?.contains("earlier state") == true
            )
            #expect(await stage.figure("holdfast_sync_aborts_total{reason=\"regression\"}") == 1)
            try await stage.pass(.seconds(70))
            #expect(stage.scheduler.lastReport?.outcome == .deferred)
            #expect(try stage.live == 1, "The deletion is not pending any more.")
            let ends = stage.announced.reports.suffix(2).map(\.ended)
            #expect(ends.first == ends.last, "It has waited.")
        }
    }

    @Test(arguments: [["b": 10], ["a": 20_000_000, "b": 10], [:]])
    func `P7 an old answer is not believed however often it comes, while upstream says otherwise`(
        _ old: [String: Int]
    ) throws {
        try Stage.play { stage in
            let now = ["a": 50_000_000, "b": 10]
            stage.upstream.edit { $0.ciphers = now }
            try await stage.sync()
            stage.upstream.edit {
                $0.ciphers = old
                $0.single = now
                $0.revision = 0
            }
            #expect(try await stage.sync(isFull: true).outcome == .failed)
            try await stage.pass(.seconds(600))
            #expect(stage.upstream.names.contains("cipher"))
            #expect(stage.scheduler.lastReport?.outcome == .failed)
            #expect(try stage.baseTicks() == 50_000_000)
            // What it says of the one cipher, too, is really so.
            stage.upstream.edit { $0.single = nil }
            try await stage.pass(.seconds(600))
            #expect(stage.scheduler.lastReport?.outcome == .completed)
            #expect(try stage.baseTicks() == old["a"].map { Int64($0) })
        }
    }

    @Test(
        arguments: [
            .unavailable(status: 503), .unavailable(status: 500), .malformed("no cipher"),
            .rejected(Rejection(status: 403, message: "Not from here.")),
        ] as [Setback.Reason]
    )
    func `P7 while nobody can be asked for the one cipher, an old answer is not believed`(
        _ trouble: Setback.Reason
    ) throws {
        try Stage.play { stage in
            stage.upstream.edit { $0.ciphers = ["a": 50_000_000] }
            try await stage.sync()
            stage.upstream.edit {
                $0.ciphers = ["a": 20_000_000]
                $0.failure = { name, _ in name == "cipher" ? trouble : nil }
            }
            #expect(try await stage.sync(isFull: true).outcome == .failed)
            try await stage.pass(.seconds(600))
            #expect(try stage.baseTicks() == 50_000_000)
            // One that no client may read says nothing against it.
            stage.upstream.edit {
                $0.failure = { name, _ in
                    name == "cipher" ? .rejected(Rejection(status: 400, message: "No.")) : nil
                }
            }
            try await stage.pass(.seconds(1_200))
            #expect(try stage.baseTicks() == 20_000_000)
        }
    }

    @Test(arguments: ["another's", "no answer at all"])
    func `T-46 what is no sync answer of this account changes nothing`(_ flaw: String) throws {
        try Stage.play { stage in
            try await stage.sync()
            stage.upstream.edit {
                $0.ciphers["a"] = 20
                $0.revision = 2
                if flaw == "another's" {
                    $0.profileID = "user-2"
                } else {
                    $0.failure = { name, _ in name == "fetch" ? .malformed("html") : nil }
                }
            }
            let report = try await stage.sync(isFull: true)
            #expect(report.outcome == .failed)
            #expect(await stage.figure("holdfast_sync_aborts_total{reason=\"decode\"}") == 1)
            #expect(try stage.baseTicks() == 10)
            stage.upstream.edit {
                $0.profileID = Shelf.user
                $0.failure = { _, _ in nil }
            }
            try await stage.pass(.seconds(10))
            #expect(try stage.baseTicks() == 20, "It is not tried again by itself.")
        }
    }

    @Test
    func
        `G-SS1 what is pending cannot be read: base is refreshed, and nobody hears that all is well`()
        throws
    {
        try Stage.play { stage in
            try await stage.sync()
            let last = stage.scheduler.outlook.lastSync
            try await stage.edit()
            stage.resolver.edit {
                $0.answer = { .failure(.noAccount) }
            }
            stage.upstream.edit { $0.ciphers["a"] = 20 }
            try await stage.pass(.seconds(1))
            let report = try await stage.sync()
            #expect(report.outcome == .deferred)
            #expect(report.reason?.hasPrefix("What is pending cannot be read.") == true)
            #expect(try stage.baseTicks() == 20)
            #expect(stage.scheduler.outlook.lastSync == last)
        }
    }

    @Test
    func `how syncing stands outlives the process, and an erased account leaves nothing of it`()
        throws
    {
        try Stage.play { stage in
            try await stage.sync()
            stage.upstream.isDown(true)
            let report = try await stage.sync()
            let before = stage.scheduler.outlook.lastSync
            try await stage.restart()
            let after = stage.scheduler.outlook.lastSync
            #expect(after == before && after != nil)
            let kept = stage.scheduler.lastReport
            #expect(kept?.outcome == .failed)
            #expect(kept?.reason == report.reason)
            #expect(kept?.ended == report.ended)
            try await stage.store.erase(Shelf.user)
            try await stage.sync()
            #expect(try stage.store.reader.syncNote(of: Shelf.user) == nil)
        }
    }

    @Test func `P19 the number of upstream's state is kept only once the state is`() throws {
        try Stage.play { stage in
            try await stage.sync()
            stage.upstream.edit {
                $0.revision = 2
                $0.ciphers["a"] = 20
                $0.failure = { name, _ in name == "fetch" ? .unavailable(status: 502) : nil }
            }
            #expect(try await stage.sync().outcome == .failed)
            stage.upstream.edit { $0.failure = { _, _ in nil } }
            #expect(try await stage.sync().outcome == .completed)
            #expect(try stage.baseTicks() == 20)
        }
    }

    @Test func `every end of a run is counted, announced, timed and logged`() throws {
        try Stage.play { stage in
            stage.upstream.edit { $0.latency = .seconds(2) }
            try await stage.sync()
            try await stage.sync()
            stage.upstream.isDown(true)
            try await stage.sync()
            #expect(stage.announced.reports.map(\.outcome) == [.completed, .notNeeded, .failed])
            for outcome in ["completed", "notNeeded", "failed"] {
                let runs = await stage.figure("holdfast_sync_runs_total{outcome=\"\(outcome)\"}")
                #expect(runs == 1)
            }
            #expect(await stage.figure("holdfast_sync_duration_seconds_sum") == 6)
            #expect(stage.lines.count("A sync has ended.") == 3)
            let cause = "holdfast_retries_scheduled_total{cause=\"transport\"}"
            #expect(await stage.figure(cause) == 1)
            #expect(await stage.figure("holdfast_retry_backoff_seconds_count") == 1)
        }
    }
}

/// The switches of offline editing where upstream decides.
@Suite struct SwitchTests {
    private static func board() -> SwitchBoard {
        SwitchBoard(offlineChanges: .server, resolution: .server)
    }

    @Test
    func `G-S8 the switches are read at every sync, and a host that starts offline knows them`()
        throws
    {
        let board = Self.board()
        try Stage.play(switches: board) { stage in
            #expect(board.now == .off)
            try await stage.sync()
            #expect(board.now == .on)
            #expect(stage.upstream.names == ["switches", "fetch"])
            stage.upstream.isDown(true)
            let later = Self.board()
            try await stage.restart(switches: later)
            #expect(later.now == .on)
            try await stage.sync()
            #expect(later.now == .on)
        }
    }

    @Test
    func `T-62 switches that cannot be told just now stay as they were, and the sync goes on`()
        throws
    {
        let board = Self.board()
        try Stage.play(switches: board) { stage in
            try await stage.sync()
            try await stage.edit()
            stage.upstream.edit {
                $0.failure = { name, _ in name == "switches" ? .malformed("no JSON") : nil }
            }
            #expect(try await stage.sync().outcome == .completed)
            #expect(board.now == .on)
            #expect(try stage.live == 0)
        }
    }

    @Test func `R-039, R-040 what was left while resolution was off goes up when it is on again`()
        throws
    {
        let board = Self.board()
        try Stage.play(switches: board) { stage in
            stage.upstream.edit { $0.switches = .off }
            try await stage.edit()
            try await stage.sync()
            #expect(stage.resolver.asks.isEmpty)
            stage.upstream.edit { $0.switches = Switches(offlineChanges: false, resolution: true) }
            try await stage.sync()
            #expect(try stage.live == 0)
        }
    }
}

/// A receipt ends when a later answer of upstream's shows what was sent.
@Suite struct ObservationTests {
    @Test func `A6-N3 what was sent is observed by a refresh that began afterwards`() throws {
        try Stage.play { stage in
            let receipt = try #require(try await stage.edit().receiptID)
            try await stage.pass(.seconds(20))
            #expect(try await stage.sync().outcome == .completed)
            let read = { try stage.store.reader.receipt(receipt, of: Shelf.user) }
            #expect(try read()?.status == .observed)
            #expect(try read()?.observed == Moment(stage.time.now))
            #expect(await stage.figure("holdfast_edit_propagation_seconds_count") == 1)
            #expect(await stage.figure("holdfast_edit_propagation_seconds_sum") == 20)
            #expect(await stage.figure("holdfast_edit_delivery_seconds_sum") == 20)
        }
    }

    @Test(arguments: [false, true])
    func `an edit's delivery is counted from when nothing stood in its way`(
        _ isLocked: Bool
    ) throws {
        try Stage.play { stage in
            if isLocked { stage.keys.lock() } else { stage.upstream.isDown(true) }
            try await stage.edit()
            try await stage.trigger(.queued)
            try await stage.pass(.seconds(1_000))
            #expect(try stage.live == 1)
            if isLocked {
                try await Stage.unlock(stage.keys)
                try await stage.trigger(.unlocked)
            } else {
                stage.upstream.isDown(false)
            }
            try await stage.pass(.seconds(60))
            try await stage.sync()
            let whole = try #require(await stage.figure("holdfast_edit_propagation_seconds_sum"))
            let counted = try #require(await stage.figure("holdfast_edit_delivery_seconds_sum"))
            #expect(whole >= 1_000 && counted <= 60, "\(whole) s, of which \(counted) s")
            #expect(await stage.figure("holdfast_edit_delivery_seconds_count") == 1)
        }
    }

    @Test func `what was sent while the answer was under way is observed by the next`() throws {
        try Stage.play { stage in
            let receipt = try #require(try await stage.edit().receiptID)
            stage.keys.lock()
            let (resolver, time) = (stage.resolver, stage.time)
            stage.upstream.edit {
                $0.meanwhile = {
                    try? await time.sleep(for: .seconds(1))
                    _ = try? await resolver.address.ask { .run(Resolver.Run(.all, .patient), $0) }
                }
            }
            let read = { try stage.store.reader.receipt(receipt, of: Shelf.user)?.status }
            try await stage.sync()
            #expect(try read() == .sent)
            stage.upstream.edit { $0.meanwhile = {} }
            try await stage.pass(.seconds(1))
            try await stage.sync()
            #expect(try read() == .observed)
        }
    }

    @Test func `G-CLOCK what was sent is observed though the clock was set back since`() throws {
        try Stage.play { stage in
            let receipt = try #require(try await stage.edit().receiptID)
            stage.upstream.edit {
                $0.failure = { name, _ in name == "fetch" ? .malformed("") : nil }
            }
            try await stage.sync()
            let read = { try stage.store.reader.receipt(receipt, of: Shelf.user)?.status }
            #expect(try read() == .sent)
            // Of the clock as it is now, that was in an hour.
            try await stage.store.database.execute(
                "UPDATE receipt SET sent_ticks = sent_ticks + 36000000000"
            )
            stage.upstream.edit { $0.failure = { _, _ in nil } }
            try await stage.pass(.seconds(300))
            #expect(try read() == .observed)
        }
    }

    @Test func `what upstream took and shows no more is over without having been observed`() throws
    {
        try Stage.play { stage in
            let receipt = try #require(try await stage.edit().receiptID)
            stage.upstream.edit {
                $0.failure = { name, _ in name == "fetch" ? .malformed("") : nil }
            }
            try await stage.sync()
            stage.upstream.edit {
                $0.failure = { _, _ in nil }
                $0.ciphers = ["b": 10]
            }
            try await stage.pass(.seconds(300))
            let read = try stage.store.reader.receipt(receipt, of: Shelf.user)
            #expect(read?.status == .superseded)
            #expect(read?.observed == nil && read?.ended != nil)
            #expect(await stage.figure("holdfast_edit_propagation_seconds_count") == 0)
        }
    }

    @Test func `T-69 what the disk has not kept is fetched, though upstream has not changed`()
        throws
    {
        try Stage.play { stage in
            try await stage.sync()
            #expect(try await stage.sync().outcome == .notNeeded)
            let json: StaticString = "UPDATE base_cipher SET json = x'7b7d'"
            try await stage.store.database.execute(json)
            try await stage.trigger(.baseDamaged)
            try await stage.pass(.seconds(10))
            #expect(stage.upstream.names.last == "fetch")
            #expect(try stage.store.reader.base(Shelf.lane("a"))?.isDamaged == false)
        }
    }

    @Test func `T-73 a run that waits for upstream keeps nobody from saving`() throws {
        try Stage.play { stage in
            try await stage.edit("a")
            stage.upstream.edit { $0.latency = .seconds(100) }
            async let report = stage.sync()
            try await stage.pass(.seconds(1))
            let before = stage.time.elapsed
            for number in 0..<20 { try await stage.edit("c\(number)") }
            #expect(stage.time.elapsed == before)
            #expect(try stage.live == 21)
            stage.upstream.edit { $0.latency = .zero }
            _ = try await report
        }
    }

    @Test func `G-SS1 what is pending cannot be read: base is refreshed, and the run says so`()
        throws
    {
        try Stage.play { stage in
            try await stage.edit()
            let away: StaticString = "ALTER TABLE pending_change RENAME TO elsewhere"
            try await stage.store.database.execute(away)
            let tally: StaticString = "ALTER TABLE pending_tally RENAME TO far_away"
            try await stage.store.database.execute(tally)
            stage.upstream.edit { $0.ciphers["news"] = 50 }
            let report = try await stage.sync()
            #expect(report.outcome == .failed)
            #expect(report.reason?.contains("pending") == true)
            #expect(try stage.baseTicks("news") == 50)
            await #expect(throws: StoreError.self) { try await stage.edit("b") }
        }
    }
}
