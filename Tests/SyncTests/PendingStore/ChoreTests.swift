import FoundationEssentials
import Glibc
import SQLite
import System
import TestSupport
import Testing
import Vault

@testable import Sync

@Suite struct ChoreTests {
    private static let hour: Duration = .seconds(3_600)

    private func with<Answer: Sendable>(
        _ shelf: Shelf,
        _ body: (PendingStore, Heard) async throws -> Answer
    ) async throws -> Answer {
        let heard = Heard()
        let service = PendingStore(shelf.store) { heard.reported.yield($0) }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await service.run() }
            let answer = try await body(service, heard)
            service.close()
            try await group.waitForAll()
            return answer
        }
    }

    @Test func `what is pending is copied at the start and every hour`() async throws {
        let (scratch, time) = (try Scratch(), SteadyTime())
        let shelf = try await Shelf(scratch, time: time)
        try await shelf.add("first")
        try await with(shelf) { _, heard in
            for _ in Chore.allCases { #expect(await heard.next()?.error == nil) }
            #expect(try await Self.copied(scratch) == ["first"])
            try await shelf.add("second")
            await time.pass(Self.hour)
            for _ in Chore.allCases { #expect(await heard.next()?.error == nil) }
            #expect(try await Self.copied(scratch) == ["first", "second"])
        }
        try await shelf.store.close()
    }

    @Test func `what is pending is copied once more at the end`() async throws {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch, time: SteadyTime())
        try await with(shelf) { _, heard in
            for _ in Chore.allCases { #expect(await heard.next()?.error == nil) }
            try await shelf.add("last")
            #expect(try await Self.copied(scratch).isEmpty)
        }
        #expect(try await Self.copied(scratch) == ["last"])
        try await shelf.store.close()
    }

    @Test func `whoever is stopped short makes no last copy`() async throws {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch, time: SteadyTime())
        let heard = Heard()
        let service = PendingStore(shelf.store) { heard.reported.yield($0) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await service.run() }
            for _ in Chore.allCases { #expect(await heard.next()?.error == nil) }
            StoreFile.remove(scratch.file(Store.copyName))
            group.cancelAll()
        }
        #expect(try !StoreFile.exists(scratch.file(Store.copyName)))
        try await shelf.store.close()
    }

    @Test func `copies that are asked for together are one, and whole`() async throws {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        for number in 0..<40 { try await shelf.add("item-\(number)") }
        try Files.replace(scratch.file(Store.copyName) + "-wal", with: Array("a log".utf8))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await shelf.store.copyPending() } }
            try await group.waitForAll()
        }
        #expect(try !StoreFile.exists(scratch.file(Store.copyName) + "-wal"))
        #expect(try await Self.copied(scratch) == (0..<40).map { "item-\($0)" })
        try await shelf.store.close()
    }

    @Test func `F44 a copy is not flushed step by step, for a slow disk would take too long`()
        async throws
    {
        let (shelf, disk) = (try await Shelf(), FaultyDisk(seed: 1))
        try await shelf.add("mine")
        var configuration = Store.draftConfiguration
        configuration.vfs = disk.vfs
        disk.count(.sync)
        try await shelf.store.writeDraft("draft.db", after: "none.db", configuration)
        #expect(disk.calls == 0)
        try await shelf.store.close()
    }

    @Test func `what is erased is gone from the copy too`() async throws {
        let scratch = try Scratch()
        let shelf = try await Shelf(scratch)
        try await shelf.add("mine")
        try await shelf.add("theirs", user: "two")
        try await shelf.store.copyPending()
        try await shelf.store.erase("two")
        #expect(try await Self.copied(scratch, of: "two").isEmpty)
        #expect(try await Self.copied(scratch) == ["mine"])
        try await shelf.store.close()
    }

    /// The ids in the copy, read from a copy of it.
    private static func copied(_ scratch: Scratch, of user: String = Shelf.user) async throws
        -> [String]
    {
        let other = try Scratch()
        try Files.replace(
            other.file(Store.fileName),
            with: Files.read(scratch.file(Store.copyName))
        )
        let shelf = try await Shelf(other)
        let ids = try shelf.changes(user).map(\.cipherID)
        try await shelf.store.close()
        return ids
    }

    @Test func `receipts are kept for seven days, those that wait for longer`() async throws {
        let time = SteadyTime()
        let shelf = try await Shelf(time: time)
        let reader = shelf.store.reader
        let now = shelf.store.now
        let waiting = try await shelf.receipt("waiting", at: now)
        let ended = try await shelf.receipt("ended", at: now)
        try await shelf.discard("ended")
        #expect(try reader.receipt(ended, of: Shelf.user)?.status == .discarded)
        try await with(shelf) { _, heard in
            for hour in 0...(7 * 24 + 1) {
                if hour > 0 { await time.pass(Self.hour) }
                for _ in Chore.allCases { #expect(await heard.next()?.error == nil) }
                let isThere = try reader.receipt(ended, of: Shelf.user) != nil
                #expect(isThere == (hour <= 7 * 24), "after \(hour) hours")
            }
        }
        #expect(try reader.receipt(waiting, of: Shelf.user)?.status == .queued)
        try await shelf.store.close()
    }

    @Test func `a receipt is kept for seven days after it has ended, however long its edit waited`()
        async throws
    {
        let shelf = try await Shelf()
        let now = shelf.store.now
        let week: Int64 = 7 * 24 * 3_600
        let id = try await shelf.receipt("late", at: now.advanced(bySeconds: -2 * week))
        let change = try #require(try shelf.change("late"))
        #expect(try await shelf.store.discard(change.id, expecting: change.version, at: now))
        // The past moves on by half a day at a time.
        for (age, isThere) in [(week, true), (-1, false)] {
            let moment = now.advanced(bySeconds: -age)
            for _ in 0..<40 { try await shelf.store.forgetReceipts(before: moment) }
            let kept = try shelf.store.reader.receipt(id, of: Shelf.user)
            #expect((kept != nil) == isThere, "\(age)")
        }
        try await shelf.store.close()
    }

    @Test func `G-CLOCK a clock that leaps by a month takes no receipt along`() async throws {
        let shelf = try await Shelf()
        let now = shelf.store.now
        let week: Int64 = 7 * 24 * 3_600
        let id = try await shelf.receipt("ended", at: now)
        try await shelf.discard("ended")
        func isThere(after seconds: Int64) async throws -> Bool {
            let moment = now.advanced(bySeconds: seconds - week)
            try await shelf.store.forgetReceipts(before: moment)
            return try shelf.store.reader.receipt(id, of: Shelf.user) != nil
        }
        #expect(try await isThere(after: 0))
        #expect(try await isThere(after: 4 * week))
        #expect(try await isThere(after: 60), "The clock is right again.")
        for _ in 0..<14 { _ = try await isThere(after: 4 * week) }
        #expect(try await !isThere(after: 4 * week), "It is a month later after all.")
        try await shelf.store.close()
    }

    @Test func `G-CLOCK what upstream took while the clock was ahead takes no older receipt along`()
        async throws
    {
        let shelf = try await Shelf()
        let now = shelf.store.now
        let week: Int64 = 7 * 24 * 3_600
        let id = try await shelf.receipt("ended", at: now)
        try await shelf.discard("ended")
        try await shelf.store.forgetReceipts(before: now.advanced(bySeconds: -week))
        let ahead = now.advanced(bySeconds: 4 * week)
        let stray = Stray([7], keeper: .item("kept"))
        try await shelf.store.watch([stray], of: Shelf.user, at: ahead)
        try await shelf.store.forgetReceipts(before: ahead.advanced(bySeconds: -week))
        #expect(try shelf.store.reader.receipt(id, of: Shelf.user)?.status == .discarded)
        try await shelf.store.close()
    }

    @Test func `a chore that fails says so, leaves no draft and is tried again`() async throws {
        let (scratch, time) = (try Scratch(), SteadyTime())
        let shelf = try await Shelf(scratch, time: time)
        try await shelf.add("first")
        // A directory in the copy's place: it cannot be replaced by a file.
        let obstacle = scratch.file(Store.copyName)
        try Files.makePrivateDirectory(obstacle + "/in-the-way")
        try await with(shelf) { _, heard in
            let copying = try await Self.report(of: .copyPending, heard)
            #expect("\(try #require(copying.error))".contains("directory"))
            #expect(try !StoreFile.exists(obstacle + ".draft"))
            #expect(rmdir(obstacle + "/in-the-way") == 0 && rmdir(obstacle) == 0)
            await time.pass(Self.hour)
            #expect(try await Self.report(of: .copyPending, heard).error == nil)
        }
        #expect(try await Self.copied(scratch) == ["first"])
        try await shelf.store.close()
    }

    /// The chore's next report, with those of the others around it.
    private static func report(
        of chore: Chore,
        _ heard: Heard
    ) async throws -> ChoreReport {
        var found: ChoreReport?
        for _ in Chore.allCases {
            let report = try #require(await heard.next())
            if report.chore == chore { found = report }
        }
        return try #require(found)
    }
}

extension Shelf {
    fileprivate func receipt(_ cipher: String, at moment: Moment) async throws -> String {
        let wish = Edit.Wish.add(Self.snapshot(cipher))
        let edit = Edit(wish, at: moment)
        let recorded = try await store.record(edit, in: Self.lane(cipher), as: .queued).made
        return recorded.receiptID ?? ""
    }
}

/// What the service reported, one after the other.
private struct Heard: Sendable {
    private let reports: AsyncStream<ChoreReport>
    let reported: AsyncStream<ChoreReport>.Continuation

    init() {
        (reports, reported) = AsyncStream.makeStream()
    }

    func next() async -> ChoreReport? {
        var reports = reports.makeAsyncIterator()
        return await reports.next()
    }
}

/// Time that stands still until the test lets some pass, and then wakes all who sleep.
private final class SteadyTime: Timekeeper {
    private struct State {
        var elapsed = Duration.zero
        var sleepers: [Int: CheckedContinuation<Bool, Never>] = [:]
        var nextTicket = 0
    }

    private let state = Lock(State())
    private let asleep: AsyncStream<Void>
    private let fellAsleep: AsyncStream<Void>.Continuation

    init() {
        (asleep, fellAsleep) = AsyncStream.makeStream()
    }

    var elapsed: Duration { state.withLock(\.elapsed) }
    var now: Date { Date(timeIntervalSince1970: 1_700_000_000 + elapsed / .seconds(1)) }

    func sleep(for duration: Duration) async throws(CancellationError) {
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        let hasSlept = await withTaskCancellationHandler {
            await withCheckedContinuation { lie(down: $0, ticket) }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: ticket) }?.resume(returning: false)
        }
        if !hasSlept { throw CancellationError() }
    }

    private func lie(down sleeper: CheckedContinuation<Bool, Never>, _ ticket: Int) {
        let isCancelled = state.withLock { state in
            if !Task.isCancelled { state.sleepers[ticket] = sleeper }
            return Task.isCancelled
        }
        if isCancelled { sleeper.resume(returning: false) } else { fellAsleep.yield() }
    }

    /// Lets time pass once every chore sleeps.
    func pass(_ duration: Duration) async {
        var sleepers = asleep.makeAsyncIterator()
        for _ in Chore.allCases { await sleepers.next() }
        let woken = state.withLock { state in
            state.elapsed += duration
            defer { state.sleepers = [:] }
            return Array(state.sleepers.values)
        }
        for sleeper in woken { sleeper.resume(returning: true) }
    }
}
